package feasibility

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// OnNew reports whether one pod of the shape may run alone on a new instance of the pool, limits
// aside, and if not, what would have to change.
func (p *Pool) OnNew(s *cluster.Shape) Reason {
	terms, _ := p.Terms(s)
	if slices.ContainsFunc(terms, func(t Term) bool { return p.hasRoom(t, s) }) {
		return Reason{}
	}
	changes := p.Nearest(s)
	if len(changes) == 0 {
		return Reason{}
	}
	return Reason{changes[0].Rule, changes[0].Key, changes.String()}
}

// hasRoom reports whether an option of the term that can be had now has the
// amounts that the shape asks for.
func (p *Pool) hasRoom(t Term, s *cluster.Shape) bool {
	for i := t.Options.Next(0); i >= 0; i = t.Options.Next(i + 1) {
		if o := p.Options[i]; p.Offering(o).Available && s.Requests.FitsIn(p.Kinds[o.Kind].Free) {
			return true
		}
	}
	return false
}

func lacks(name string, need, most int64) string {
	if most == 0 {
		return "no type has " + name
	}
	text := fmt.Sprintf("no type has room for %s %s (most: %s)", name, quantity.FormatAmount(name, need), quantity.FormatAmount(name, most))
	if name == quantity.NameEphemeralStorage {
		text += ": raise volumeSize in the class's blockDeviceMappings" // which decides it, whatever the type
	}
	return text
}

// capacity is the most that any option has of a resource, daemon pods aside.
func (p *Pool) capacity(name string) int64 {
	var most int64
	for _, o := range p.Options {
		most = max(most, p.InstanceType(o).Allocatable.Get(name))
	}
	return most
}

// WantWord prints a preference for a label: "zone=a", "zone in a, b", "family exists".
func WantWord(r constraint.Requirement) string {
	values, finite := r.Set.Finite()
	switch {
	case finite && len(values) == 1 && !r.Set.AllowsAbsent():
		return r.Key + "=" + values[0]
	case finite && len(values) > 1 && !r.Set.AllowsAbsent():
		return r.Key + " in " + listed(values)
	}
	return r.Key + " " + r.Set.String()
}

// spoken prints the values of a set.
func spoken(s constraint.Set) string {
	if values, finite := s.Finite(); finite && len(values) > 0 {
		return listed(values)
	}
	return s.String()
}

// listed names values, the first few of many.
func listed(values []string) string {
	if more := len(values) - valuesNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(values[:valuesNamed], ", "), more)
	}
	return strings.Join(values, ", ")
}

// together says that preferences, each of which can be met, cannot all be.
func together(list []*Constraint) string {
	words := make([]string, len(list))
	for i, h := range list {
		words[i] = h.Word
	}
	return "no type has " + join(words) + " together"
}

func join(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// NearValue finds a value that the user probably meant: one that differs in
// two letters at most, and in a third of them at most; or the few that are equally
// near.
func NearValue(value string, known []string) (string, bool) {
	var best []string
	least := 3
	for _, k := range known {
		switch d := distance(k, value); {
		case d == 0 || 3*d > len(value) || d > least || d == 3:
		case d < least:
			best, least = []string{k}, d
		default:
			best = append(best, k)
		}
	}
	if len(best) == 0 || len(best) > nearMax {
		return "", false
	}
	return strings.Join(best, " or "), true
}

// nearMax is how many values that are equally near are listed: of more, none is likelier than
// another.
const nearMax = 3

// valuesNamed is how many values of a label a reason names at most.
const valuesNamed = 8

// hint says which values of a label can be had, or which was probably meant. The place of a volume
// is never misspelt.
func (p *Pool) hint(r constraint.Requirement, w preferences) string {
	wanted, _ := r.Set.Finite()
	known := p.valuesOf(r.Key)
	for _, v := range wanted {
		if near, ok := NearValue(v, known); ok && !slices.Contains(known, v) && !w.volume.Has(r.Key) {
			return " (did you mean " + near + "?)"
		}
	}
	switch {
	case !p.Defines(r.Key):
		return ""
	case p.floored(r):
		return " (the pool's minimum instance size leaves it out: " + p.floorText() + ")"
	case p.rules.Has(r.Key):
		return " (the pool allows " + spoken(p.rules.Get(r.Key)) + ")"
	case len(known) > 0 && len(known) <= valuesNamed:
		return " (there are " + strings.Join(known, ", ") + ")"
	}
	return ""
}

// floored reports whether it is the floor that leaves out what the requirement
// asks for.
func (p *Pool) floored(r constraint.Requirement) bool {
	if len(p.Floor.Size) == 0 {
		return false
	}
	for range p.within(p.rules, constraint.Requirements{r}).Difference(p.within(p.Floor.Size)) {
		return true
	}
	return false
}

// floorLeavesNone reports whether there would be instance types without it.
func (p *Pool) floorLeavesNone() bool {
	return len(p.Floor.Size) > 0 && p.within(p.rules).Count() > 0
}

func (p *Pool) floorText() string {
	words := make([]string, len(p.Floor.Size))
	for i, r := range p.Floor.Size {
		words[i] = r.Key + " " + r.Set.String()
	}
	return join(words)
}

// nearKey finds a key that the user probably meant: one that differs in two
// letters at most, or of which the given key is the last part.
func (p *Pool) nearKey(key string) (string, bool) {
	near, known := p.nearKeys[key]
	if !known {
		near = p.findNearKey(key)
		p.nearKeys[key] = near
	}
	return near, near != ""
}

func (p *Pool) findNearKey(key string) string {
	known := slices.Clone(p.defined)
	for _, l := range p.Labels {
		known = append(known, l.Key)
	}
	for _, r := range p.Requirements {
		known = append(known, r.Key)
	}
	slices.Sort(known)
	for _, k := range known {
		if strings.HasSuffix(k, "/"+key) || distance(k, key) <= 2 {
			return k
		}
	}
	return ""
}

// distance counts the letters to insert, delete or change, and neighbours to
// swap, to get from a to b.
func distance(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
