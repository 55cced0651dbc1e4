package place

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// usualArch is what images run on where nothing is said.
const usualArch = "amd64"

// notes lists what users should know of an instance beside what it is: preferences of
// its pods that gave way, what would cost less if it could be had, and processors that
// none asked for.
func (li *lister) notes(b *candidate, l *load, open *choices, launched int) []string {
	var out []string
	for _, p := range l.parts {
		g := li.run.groups[p.group]
		if len(g.level.gone) == 0 {
			continue
		}
		words := make([]string, len(g.level.gone))
		for i, w := range g.level.gone {
			words[i] = w.String()
		}
		if text := "could not be had: " + strings.Join(words, ", "); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if len(l.parts) > 0 {
		out = append(out, li.passedOver(b, li.run.groups[l.parts[0].group])...)
	}
	for _, text := range []string{b.unavailableNote(l, launched), b.crampedNote(open.kinds[0]), b.archNote(l, open)} {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

// passedOver names the heavier pools that have instances for the group and may
// launch no more of them: weight is an order, and a pool is filled up to its
// limits before the next one is used.
func (li *lister) passedOver(b *candidate, g *group) []string {
	var out []string
	for _, heavier := range li.run.candidates {
		if heavier.Weight <= b.Weight {
			break
		}
		a := li.run.provisioner.ask(heavier, g)
		if len(a.ways) == 0 {
			continue
		}
		full := !slices.ContainsFunc(a.ways, func(w way) bool { return heavier.firstWithin(&w, g.need) >= 0 })
		if full {
			out = append(out, heavier.ID.String()+", of weight "+strconv.Itoa(heavier.Weight)+", is filled up to its limits")
		}
	}
	return out
}

// archNote says on which processors images must run, where neither the pods
// nor the pool name one and it need not be the usual one.
func (b *candidate) archNote(l *load, open *choices) string {
	named := func(rs constraint.Requirements) bool { return rs.Has(cluster.LabelArch) }
	_, labelled := b.Labels.Get(cluster.LabelArch)
	if labelled || named(b.Requirements) || slices.ContainsFunc(l.parts, func(p part) bool { return named(p.way.term.Requirements) }) {
		return ""
	}
	archs := slices.Clone(open.archs)
	if len(archs) == 0 || len(archs) == 1 && archs[0] == usualArch {
		return ""
	}
	slices.Sort(archs)
	return "images must run on " + strings.Join(archs, " and ") + ": neither the pods nor the pool name an architecture"
}

// unavailableNote names what the load would fit, and costs less than what is launched, and
// cannot be had; empty where there is nothing like that. The cheapest stands for all.
func (b *candidate) unavailableNote(l *load, launched int) string {
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
	text := "cannot be had now, and would cost less: " + b.choiceFor(cheapest, l.sum).String()
	if n > 1 {
		text += fmt.Sprintf(", and %d more", n-1)
	}
	return text + ": " + cmp.Or(b.Offering(b.Options[cheapest]).Why, "insufficient capacity")
}

// isMissed reports whether the option cannot be had, and costs less for the load.
func (b *candidate) isMissed(l *load, option, launched int) bool {
	offering, free := b.Offering(b.Options[option]), b.free[b.Options[option].Kind]
	if offering.Available || !offering.Priced || free == nil || !l.fitsIn(free) || b.limits != nil && !b.limits.allow(b.InstanceType(b.Options[option]).Capacity) {
		return false
	}
	for _, p := range l.parts {
		if !p.way.term.Options.Has(option) {
			return false
		}
	}
	moreExpensive := b.choiceFor(launched, l.sum)
	return moreExpensive.Priced && b.choiceFor(option, l.sum).Cost() < moreExpensive.Cost()
}
