package spend

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/observe/record"
)

// Saving is what one decision was to save, and what it saves now that its nodes have gone, in US dollars an hour.
type Saving struct {
	At       time.Time `json:"at"`
	Nodes    []string  `json:"nodes"` // that went with it, by name
	Promised float64   `json:"promised"`
	Realised float64   `json:"realised"` // below zero: what came in their place costs more
}

// The forms of what Savings notes.
const (
	asPlanned = "its disruption saves $%f/h, as planned"
	otherwise = "its disruption saves $%f/h: $%f/h was planned"
	overrun   = "its disruption costs $%f/h: its replacements cost more than planned, and $%f/h was to be saved"
)

// Noted are the savings that are on record, the newest first.
func Noted(list []record.Statement) []Saving {
	type decision struct {
		at   time.Time
		said string
	}
	at, out := map[decision]int{}, []Saving{}
	for i := range list {
		s := &list[i]
		saving, is := savingOf(s)
		if !is {
			continue
		}
		of := decision{s.From, s.Said + strings.Join(s.More, "")}
		n, known := at[of]
		if !known || len(s.More) == 0 { // a node that went by itself
			n = len(out)
			at[of], out = n, append(out, saving)
		}
		out[n].Nodes = append(out[n].Nodes, s.About.Name)
	}
	for i := range out {
		slices.Sort(out[i].Nodes)
	}
	slices.SortStableFunc(out, func(a, b Saving) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Nodes[0], b.Nodes[0]))
	})
	return out
}

func savingOf(s *record.Statement) (out Saving, is bool) {
	if s.About.Kind != record.Node || !strings.HasPrefix(s.Said, "its disruption ") {
		return out, false
	}
	out.At = s.From
	for _, form := range []string{asPlanned, otherwise, overrun} {
		amounts := []any{&out.Realised, &out.Promised}
		if form == asPlanned {
			amounts = amounts[:1]
		}
		if _, err := fmt.Sscanf(s.Said, form, amounts...); err != nil {
			continue
		}
		switch form {
		case asPlanned:
			out.Promised = out.Realised
		case overrun:
			out.Realised = -out.Realised
		}
		return out, true
	}
	return out, false
}
