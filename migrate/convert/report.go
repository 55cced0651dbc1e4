package convert

import (
	"fmt"
)

// Weight is what a finding means for the user who migrates.
type Weight string

// The weights, lightest first.
const (
	Maps    Weight = "maps"           // there is the same
	Changes Weight = "changes"        // there is something like it
	Loses   Weight = "no counterpart" // there is nothing like it
	Refuses Weight = "error"          // the object is not made
)

// Finding is what becomes of one field.
type Finding struct {
	Weight Weight `json:"weight"`
	At     string `json:"at"` // file and line
	Field  string `json:"field,omitempty"`
	Text   string `json:"text"`
}

// String is the finding as one line.
func (f Finding) String() string {
	if f.Field == "" {
		return fmt.Sprintf("%s: %s: %s", f.At, f.Weight, f.Text)
	}
	return fmt.Sprintf("%s: %s: %s: %s", f.At, f.Weight, f.Field, f.Text)
}

// Entry is the report on one manifest.
type Entry struct {
	Object   string    `json:"object"` // kind and name
	At       string    `json:"at"`
	Made     []string  `json:"made"`
	Findings []Finding `json:"findings"`
}

// subject is a document while it is turned.
type subject struct {
	Document
	entry Entry
}

func (s *subject) note(w Weight, field, format string, args ...any) {
	s.entry.Findings = append(s.entry.Findings, Finding{w, s.At(field), field, fmt.Sprintf(format, args...)})
}

func (s *subject) refused() bool {
	for _, f := range s.entry.Findings {
		if f.Weight == Refuses {
			return true
		}
	}
	return false
}

// reported is the entry in the words of the file.
func (s *subject) reported() Entry {
	e := s.entry
	e.Object = s.hidden.restore(e.Object)
	if e.Made == nil {
		e.Made = []string{}
	}
	for i := range e.Findings {
		e.Findings[i].Field, e.Findings[i].Text = s.hidden.restore(e.Findings[i].Field), s.hidden.restore(e.Findings[i].Text)
	}
	return e
}
