package topology

import (
	"fmt"
	"strings"
)

// namesMax is how many domains a reason names.
const namesMax = 6

// Explain tells which rules about other pods stand in the way, for a pod that
// finds no place although machines could be had: lower case, no full stop.
func (b *Board) Explain(r *Rules) string {
	var words []string
	for i := range r.spreads {
		s := &r.spreads[i]
		t := &b.tallies[s.tally]
		words = append(words, fmt.Sprintf("a spread over %s with maxSkew %d (pods now: %s)", b.keys[t.key], s.maxSkew, b.counts(t)))
	}
	for _, n := range r.near {
		t := &b.tallies[n]
		if t.total == 0 {
			words = append(words, fmt.Sprintf("affinity over %s to %s, of which none has a place", b.keys[t.key], t.who[0].words()))
			continue
		}
		words = append(words, fmt.Sprintf("affinity over %s to %s (there now: %s)", b.keys[t.key], t.who[0].words(), b.counts(t)))
	}
	for _, a := range r.apart {
		if t := &b.tallies[a.tally]; t.total > 0 {
			words = append(words, fmt.Sprintf("anti-affinity over %s to %s (there now: %s)", b.keys[t.key], t.who[0].words(), b.counts(t)))
		}
	}
	for _, k := range r.keptOff {
		if t := &b.tallies[k]; t.total > 0 {
			words = append(words, fmt.Sprintf("anti-affinity over %s of other pods (there now: %s)", b.keys[t.key], b.counts(t)))
		}
	}
	if len(words) == 0 {
		return "pods on the same host keep it away"
	}
	return "no domain is left by " + strings.Join(words, ", ")
}

func (b *Board) counts(t *tally) string {
	var words []string
	more := 0
	for d, c := range t.counts {
		switch {
		case c == 0 && !t.eligible[d]:
		case len(words) == namesMax:
			more++
		default:
			words = append(words, fmt.Sprintf("%s=%d", strings.TrimPrefix(b.names[t.key][d], "/"), c))
		}
	}
	if len(words) == 0 {
		return "none"
	}
	if more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, " ")
}

func (c *chosen) words() string {
	switch {
	case c.selector.Nothing:
		return "no pods at all"
	case len(c.selector.Requirements) == 0:
		return "any pods"
	}
	return "pods with " + c.selector.Requirements.String()
}
