package topology

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// filter tells which nodes a spread looks at.
type filter struct {
	keys        []int // all must be present: the keys of all hard spreads of the pod
	terms       []constraint.Requirements
	honour      bool // taints count
	tolerations []constraint.Toleration
	tallies     []int
	at          []bool // by place
}

// filterFor returns the number of the filter for one spread of a pod whose
// hard spreads have these keys.
func (b *Board) filterFor(s *cluster.Shape, spread *cluster.Spread, keys []int) int {
	f := &filter{keys: keys, honour: spread.HonourTaints}
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

func (f *filter) admits(p *place) bool {
	for _, k := range f.keys {
		if p.spot[k] == None {
			return false
		}
	}
	if f.honour {
		if _, found := constraint.Untolerated(p.taints, f.tolerations); found {
			return false
		}
	}
	if len(f.terms) == 0 {
		return true
	}
	return slices.ContainsFunc(f.terms, func(t constraint.Requirements) bool { return p.mayBe(t) })
}

// mayBe reports whether the place has what is wanted, or may have it when all
// its labels are decided.
func (p *place) mayBe(term constraint.Requirements) bool {
	for _, r := range term {
		value, known := p.labels.Get(r.Key)
		switch {
		case known && r.Set.Allows(value), !known && r.Set.AllowsAbsent():
		case !known && p.open != nil && p.open(r.Key):
		default:
			return false
		}
	}
	return true
}
