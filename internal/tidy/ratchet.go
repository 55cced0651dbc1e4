package tidy

import (
	"fmt"
	"maps"
	"slices"
)

// Ratchet limits a figure of many things, such as the methods of types. Things above the limit are known by name, each
// with a limit of its own that may only fall.
type Ratchet struct {
	Of     string         // what is counted: "methods"
	Most   int            // what is not in Known may have so many
	Known  map[string]int // by name, each a multiple of Step
	Step   int            // known limits fall in such steps, so that not every commit has to change one; 0 is 1
	Table  string         // where Known stands, for who is to change it
	Advice string         // what to do instead of adding one more
}

// Check compares figures, by name, with the limits. It reports what is above its limit, and every entry of Known that
// is higher than it has to be, with the line that is right.
func (r Ratchet) Check(figures map[string]int) (found []Violation) {
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		most := max(r.Most, r.Known[name])
		if has := figures[name]; has > most {
			found = append(found, Violation{name, fmt.Sprintf("has %d %s, and may have %d", has, r.Of, most), r.Advice})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Known)) {
		if reason := r.stale(name, figures); reason != "" {
			found = append(found, Violation{r.Table, fmt.Sprintf("allows %s %d %s", name, r.Known[name], r.Of), reason})
		}
	}
	return found
}

// stale says how an entry of Known is to change; "" where it is right.
func (r Ratchet) stale(name string, figures map[string]int) string {
	has, exists := figures[name]
	step := max(r.Step, 1)
	rounded := (has + step - 1) / step * step
	switch {
	case !exists:
		return "there is none: delete its line, or give it the new name"
	case has <= r.Most:
		return fmt.Sprintf("it has %d, which all may have: delete its line", has)
	case rounded < r.Known[name]:
		return fmt.Sprintf("it has %d: write %q: %d,", has, name, rounded)
	}
	return ""
}
