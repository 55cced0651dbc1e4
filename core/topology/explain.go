package topology

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
)

// namesMax is how many domains a reason names.
const namesMax = 6

// Obstacle is one rule about other pods that stands in the way.
type Obstacle struct {
	Key  string
	Text string // lower case, no full stop; says which pods are meant, not where they are
	// Open lists the domains in which the rule alone would have one more pod.
	Open []string
	// Chooses reports whether pods of the shape are those that the rule is
	// about; nil for a spread, whose text counts them.
	Chooses func(*cluster.Shape) bool
	// Away: the pod must not be where these pods are, rather than be there.
	Away bool
}

// Obstacles reports which of the rules refuse at least one of the spots.
func (b *Board) Obstacles(r *Rules, spots []Spot) []Obstacle {
	var out []Obstacle
	refuses := func(by func(Spot) bool) bool { return slices.ContainsFunc(spots, by) }
	for i := range r.spreads {
		s := &r.spreads[i]
		if refuses(func(at Spot) bool { return b.roomInSpread(s, at) <= 0 }) {
			out = append(out, b.spreadObstacle(s))
		}
	}
	for i := range r.near {
		for _, n := range r.near[i].tallies {
			if refuses(func(at Spot) bool { return !b.isNear(&r.near[i], n, at) }) {
				if o := b.nearObstacle(r, n); !slices.ContainsFunc(out, func(x Obstacle) bool { return x.Text == o.Text }) {
					out = append(out, o)
				}
			}
		}
	}
	for _, a := range r.apart {
		if refuses(func(at Spot) bool { return b.has(a.tally, at) }) {
			out = append(out, b.awayObstacle(r, a.tally, "anti-affinity over "+b.keys[b.tallies[a.tally].key]+" to "+b.tallies[a.tally].words(r)))
		}
	}
	for _, k := range r.keptOff {
		if refuses(func(at Spot) bool { return b.has(k, at) }) && !b.said(out, k) {
			out = append(out, b.awayObstacle(r, k, "other pods whose anti-affinity over "+b.keys[b.tallies[k].key]+" keeps it off"))
		}
	}
	return out
}

func (b *Board) has(tally int, at Spot) bool {
	t := &b.tallies[tally]
	return t.count(at[t.key]) > 0
}

// isNear reports whether the pods of one rule are at the spot, or may follow.
func (b *Board) isNear(rule *nearRule, near int, at Spot) bool {
	t := &b.tallies[near]
	if at[t.key] == None || at[t.key] <= Unknown {
		return false
	}
	return t.count(at[t.key]) > 0 || rule.selfish && b.nearBy(rule, at)
}

// said reports whether what keeps off is nothing but the other side of what
// the pod's own anti-affinity says.
func (b *Board) said(list []Obstacle, owners int) bool {
	t := &b.tallies[owners]
	return slices.ContainsFunc(list, func(o Obstacle) bool {
		return o.Away && o.Key == b.keys[t.key] && slices.Equal(o.Open, b.domainsWith(t, free))
	})
}

func free(count int64) bool { return count == 0 }
func used(count int64) bool { return count > 0 }

// domainsWith lists the known domains whose count is accepted.
func (b *Board) domainsWith(t *tally, accepted func(int64) bool) []string {
	var out []string
	for d, name := range b.names[t.key] {
		if accepted(int64(t.count(int32(d)))) {
			out = append(out, shown(name))
		}
	}
	slices.Sort(out)
	return out
}

// shown is a domain as people know it: hosts to come have names of ours.
func shown(name string) string { return strings.TrimPrefix(name, "/") }

func (b *Board) spreadObstacle(s *spreadRule) Obstacle {
	t := &b.tallies[s.tally]
	out := Obstacle{Key: b.keys[t.key]}
	if t.domains == 0 {
		out.Text = "it is to be spread over " + out.Key + ", a label that no node and no offered instance type has"
		return out
	}
	least := t.minimum(s.minDomains)
	self := int64(0)
	if s.self {
		self = 1
	}
	for d, eligible := range t.eligible {
		if eligible && int64(t.counts[d])+self-least <= s.maxSkew {
			out.Open = append(out.Open, shown(b.names[t.key][d]))
		}
	}
	slices.Sort(out.Open)
	out.Text = fmt.Sprintf("spread over %s with maxSkew %d (pods there: %s)", out.Key, s.maxSkew, b.counts(t))
	if t.domains < int(s.minDomains) {
		out.Text += fmt.Sprintf(" and only %d of %d minDomains", t.domains, s.minDomains)
	}
	switch n := len(out.Open); {
	case n == 0:
		out.Text += ": none may have one more"
	case n <= namesMax:
		out.Text += ": only " + strings.Join(out.Open, ", ") + " may have one more"
	}
	return out
}

func (b *Board) nearObstacle(r *Rules, near int) Obstacle {
	t := &b.tallies[near]
	out := Obstacle{Key: b.keys[t.key], Open: b.domainsWith(t, used), Chooses: t.chooses()}
	out.Text = fmt.Sprintf("affinity over %s to %s", out.Key, t.words(r))
	if t.total == 0 {
		out.Text += ", of which none has a place"
	}
	return out
}

func (b *Board) awayObstacle(r *Rules, tally int, text string) Obstacle {
	t := &b.tallies[tally]
	out := Obstacle{Key: b.keys[t.key], Text: text, Open: b.domainsWith(t, free), Chooses: t.chooses(), Away: true}
	if t.owners {
		out.Chooses = func(s *cluster.Shape) bool { return t.ownedBy(s, b.keys[t.key]) }
	}
	return out
}

// chooses reports which shapes a tally is about.
func (t *tally) chooses() func(*cluster.Shape) bool {
	return func(s *cluster.Shape) bool {
		return allMatch(t.who, &class{namespace: s.Namespace, labels: s.Labels, virtual: s.Virtual})
	}
}

// ownedBy reports whether pods of the shape keep the chosen ones away.
func (t *tally) ownedBy(s *cluster.Shape, key string) bool {
	return slices.ContainsFunc(s.Neighbours, func(n cluster.Neighbours) bool {
		if !n.Apart || n.Weight > 0 || n.Key != key {
			return false
		}
		who := awayFrom(s, &n)
		return who.text() == t.who[0].text()
	})
}

// counts lists the domains with their pods, the fewest first.
func (b *Board) counts(t *tally) string {
	var at []int
	for d, c := range t.counts {
		if c > 0 || t.eligible[d] {
			at = append(at, d)
		}
	}
	slices.SortStableFunc(at, func(x, y int) int {
		if t.counts[x] != t.counts[y] {
			return int(t.counts[x]) - int(t.counts[y])
		}
		return strings.Compare(b.names[t.key][x], b.names[t.key][y])
	})
	var words []string
	for _, d := range at[:min(len(at), namesMax)] {
		words = append(words, fmt.Sprintf("%s=%d", shown(b.names[t.key][d]), t.counts[d]))
	}
	if more := len(at) - namesMax; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, " ")
}

// words says which pods are chosen, for pods of the class.
func (t *tally) words(r *Rules) string {
	words := make([]string, len(t.who))
	for i := range t.who {
		words[i] = t.who[i].words(r.class.namespace)
	}
	return strings.Join(words, " and ")
}

func (c *chosen) words(own string) string {
	out := "pods with " + c.selector.Requirements.String()
	switch {
	case c.selector.Nothing:
		return "no pods at all"
	case len(c.selector.Requirements) == 0:
		out = "any pods"
	}
	switch {
	case c.everywhere:
		return out + " of all namespaces"
	case len(c.namespaces) == 0:
		return out + " of no namespace"
	case !slices.Equal(c.namespaces, []string{own}):
		return out + " of " + strings.Join(c.namespaces, ", ")
	}
	return out
}

// Adrift says which pods may turn up in any domain, because their instance is not decided yet, and
// stand in the way of the rules; empty if none do.
func (b *Board) Adrift(r *Rules) string {
	say := func(at int) string {
		t := &b.tallies[at]
		if t.adrift == 0 {
			return ""
		}
		if t.adrift == 1 {
			return "an instance being launched may still turn up in any " + b.keys[t.key] + " with one pod that counts"
		}
		return fmt.Sprintf("an instance being launched may still turn up in any %s with %d pods that count", b.keys[t.key], t.adrift)
	}
	for _, a := range r.apart {
		if text := say(a.tally); text != "" {
			return text
		}
	}
	for _, at := range r.keptOff {
		if text := say(at); text != "" {
			return text
		}
	}
	for _, s := range r.spreads {
		if text := say(s.tally); text != "" {
			return text
		}
	}
	return ""
}
