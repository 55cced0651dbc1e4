package spend

import (
	"cmp"
	"slices"
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

// Noted are the savings that are on record, the newest first.
func Noted(list []record.Statement) []Saving {
	type decision struct {
		at   time.Time
		node string
	}
	at, out := map[decision]int{}, []Saving{}
	for i := range list {
		s := &list[i]
		if s.Saved == nil {
			continue
		}
		of := decision{s.From, s.Saved.Decision}
		n, known := at[of]
		if !known {
			n = len(out)
			at[of], out = n, append(out, Saving{At: s.From, Promised: s.Saved.Promised, Realised: s.Saved.Realised})
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
