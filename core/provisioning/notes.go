package provisioning

import (
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/supply"
)

// notes lists what users should know of an instance besides what it is: preferences of its pods that were dropped,
// heavier pools at their limits, cheaper offerings that are unavailable or that a minimum of on-demand nodes forbids,
// too little room for pods, and architectures that were not asked for.
func (li *lister) notes(b *supply.Candidate, l *supply.Load, open *supply.Choices, launched int) []string {
	var out []string
	for _, p := range l.Parts {
		g := li.pr.Groups[p.Group]
		if len(g.Level.Gone) == 0 {
			continue
		}
		words := make([]string, len(g.Level.Gone))
		for i, w := range g.Level.Gone {
			words[i] = w.String()
		}
		if text := "could not be had: " + strings.Join(words, ", "); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if len(l.Parts) > 0 {
		out = append(out, li.passedOver(b, li.pr.Groups[l.Parts[0].Group])...)
	}
	for _, text := range []string{
		b.UnavailableNote(l, launched), supply.MinimumNote(b, l, launched),
		b.CrampedNote(open.Kinds[0]), b.ArchNote(l, open),
	} {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

// passedOver names the heavier pools that have offerings for the group and may launch no more of them. Pools are used
// by weight: one is filled up to its limits before the next one is used.
func (li *lister) passedOver(b *supply.Candidate, g *demand.Group) []string {
	var out []string
	for _, heavier := range li.pr.Candidates {
		if heavier.Weight <= b.Weight {
			break
		}
		a := li.pr.Ask(heavier, g)
		if len(a.Ways) == 0 {
			continue
		}
		full := !slices.ContainsFunc(a.Ways, func(w supply.Way) bool { return heavier.FirstWithin(&w, g.Need) >= 0 })
		if full {
			out = append(out, heavier.ID.String()+", of weight "+strconv.Itoa(heavier.Weight)+", is filled up to its limits")
		}
	}
	return out
}
