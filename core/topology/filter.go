package topology

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// filter reports which nodes a spread examines.
type filter struct {
	keys        []int // all must be present: the keys of all hard spreads of the pod
	terms       []constraint.Requirements
	honour      bool // taints count
	tolerations []constraint.Toleration
	tallies     []int
	number      int    // of a view: its number on the other board
	at          []bool // by place: it is examined, or may be when it is decided what it is
	sure        []bool // by place: it is examined whatever it turns out to be
}

// filterFor returns the number of the filter for one spread of a pod whose
// hard spreads have these keys.
func (b *Board) filterFor(s *cluster.Shape, spread *cluster.Spread, keys []int) int {
	f := &filter{keys: keys, honour: spread.HonourTaints, terms: spread.Among}
	if !spread.IgnoreNodeTerms {
		f.terms = s.NodeTerms
	}
	if f.honour {
		f.tolerations = s.Tolerations
	}
	text := f.text()
	at, known := b.byText[text]
	if !known {
		at = len(b.filters)
		b.byText[text] = at
		b.filters = append(b.filters, f)
	}
	return at
}

func (f *filter) text() string {
	var b strings.Builder
	fmt.Fprint(&b, f.keys, f.honour, f.tolerations)
	for _, t := range f.terms {
		b.WriteString(" or " + t.String())
	}
	return b.String()
}

// looks reports whether the rule counts the place, and whether it is whatever it turns out to be.
func (f *filter) looks(b *Board, p *place) (may, sure bool) {
	if p.goes {
		return false, false
	}
	if f.honour {
		if _, found := constraint.Untolerated(p.taints, f.tolerations); found {
			return false, false
		}
	}
	sure = true
	for way := range p.Ways {
		admitted := f.admits(b, p, way)
		may, sure = may || admitted != no, sure && admitted == yes
	}
	return may, may && sure
}

// answer is whether something holds of a place that may not be decided yet.
type answer int8

const (
	no answer = iota
	perhaps
	yes
)

func (f *filter) admits(b *Board, p *place, way int) answer {
	out := yes
	for _, k := range f.keys {
		if _, has := p.label(way, b.keys[k]); has {
			continue
		}
		if !slices.Contains(p.Open, b.keys[k]) {
			return no
		}
		out = perhaps
	}
	if len(f.terms) == 0 {
		return out
	}
	best := no
	for _, t := range f.terms {
		best = max(best, p.is(way, t))
	}
	return min(out, best)
}

// is reports whether the place has what is wanted.
func (p *place) is(way int, term constraint.Requirements) answer {
	out := yes
	for _, r := range term {
		value, known := p.label(way, r.Key)
		switch {
		case known && r.Set.Allows(value), !known && r.Set.AllowsAbsent() && !slices.Contains(p.Open, r.Key):
		case !known && slices.Contains(p.Open, r.Key):
			out = perhaps
		default:
			return no
		}
	}
	return out
}
