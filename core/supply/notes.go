package supply

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// usualArch is the architecture that images run on unless they say otherwise.
const usualArch = "amd64"

// ArchNote says which architectures images must run on, where neither the pods nor the pool name one and it may
// be another than the usual one.
func (b *poolOptions) ArchNote(l *Load, open *Choices) string {
	named := func(rs constraint.Requirements) bool { return rs.Has(cluster.LabelArch) }
	_, labelled := b.Labels.Get(cluster.LabelArch)
	if labelled || named(b.Requirements) || slices.ContainsFunc(l.Parts, func(p Part) bool { return named(p.Way.Term.Requirements) }) {
		return ""
	}
	archs := slices.Clone(open.Archs)
	if len(archs) == 0 || len(archs) == 1 && archs[0] == usualArch {
		return ""
	}
	slices.Sort(archs)
	return "images must run on " + strings.Join(archs, " and ") + ": neither the pods nor the pool name an architecture"
}

// UnavailableNote names the cheapest offering that has room for the load, costs less than what is launched, and is
// unavailable. It counts the others, and is empty where there is none.
func (b *obtainable) UnavailableNote(l *Load, launched int) string {
	cheapest, n := -1, 0
	for i := range launched { // they are in the order of prices
		if b.isMissed(l, i, launched) {
			n++
			if cheapest < 0 {
				cheapest = i
			}
		}
	}
	if n == 0 {
		return ""
	}
	text := "cannot be had now, and would cost less: " + b.ChoiceFor(cheapest, l.Sum).String()
	if n > 1 {
		text += fmt.Sprintf(", and %d more", n-1)
	}
	return text + ": " + cmp.Or(b.Offering(b.Options[cheapest]).Why, "insufficient capacity")
}

// MinimumNote says that the instance is on demand because of the pool's minimum, where a spot option that has room for
// the load would cost less; else it is empty.
func MinimumNote(b *Candidate, l *Load, launched int) string {
	if !b.OnDemand.Gives() || b.IsSpot(launched) {
		return ""
	}
	within := b.withinAmounts()
	for i := range launched { // they are in the order of prices
		wanted := !slices.ContainsFunc(l.Parts, func(p Part) bool { return !p.Way.Options.Has(i) })
		barred := b.IsSpot(i) && within.Has(i) && !b.WithinLimits.Has(i)
		if wanted && barred && l.fitsIn(b.Free[b.Options[i].Kind]) {
			return fmt.Sprintf("on demand for the %s of %s: %s", cluster.LimitOnDemand, b.ID, b.OnDemand)
		}
	}
	return ""
}

// isMissed reports whether the option is unavailable, has room for the load, and costs less for it.
func (b *obtainable) isMissed(l *Load, option, launched int) bool {
	offering, free := b.Offering(b.Options[option]), b.Free[b.Options[option].Kind]
	if offering.Available || !offering.Priced || free == nil || !l.fitsIn(free) {
		return false
	}
	if b.Remaining != nil && !b.Remaining.allows(b.Remaining.of(option)) {
		return false
	}
	for _, p := range l.Parts {
		if !p.Way.Term.Options.Has(option) {
			return false
		}
	}
	moreExpensive := b.ChoiceFor(launched, l.Sum)
	return moreExpensive.Priced && b.ChoiceFor(option, l.Sum).Cost() < moreExpensive.Cost()
}
