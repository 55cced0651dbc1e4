package demand

import (
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
)

// Preferences says which preferences of pods count. Those that do are kept until a pod cannot be placed with them.
// The preference to stay away from PreferNoSchedule taints always counts, because the owner of the node has it.
type Preferences uint8

// The zero value is AllPreferences. Preferences about hosts usually cost most: an instance for each few pods.
const (
	AllPreferences Preferences = iota
	NotOfHosts                 // only those that are not about hosts
	NoPreferences
)

// Count reports whether a preference counts.
func (x Preferences) Count(w Preference) bool {
	return x == AllPreferences || w.Avoid || x == NotOfHosts && !w.OfHosts()
}

// Of lists those that count.
func (x Preferences) Of(list []Preference) []Preference {
	return slices.DeleteFunc(slices.Clone(list), func(w Preference) bool { return !x.Count(w) })
}

// Preference is one preference of a pod.
type Preference struct {
	// Part is its weight as a part of the heaviest weight among preferences like it: kube-scheduler scales
	// scores so, and a weight alone says nothing. 0: it counts only where a heavier one was dropped.
	Part       float64
	Neighbours *cluster.Neighbours
	Term       constraint.Requirements
	Spread     *cluster.Spread
	Avoid      bool
}

// OfHosts reports whether it is a preference to be with or apart from pods on a host.
func (w Preference) OfHosts() bool {
	return w.Neighbours != nil && w.Neighbours.Key == cluster.LabelHostname || w.Spread != nil && w.Spread.Key == cluster.LabelHostname
}

// PreferencesOf lists the preferences of pods of the shape in the order in which they are dropped: pods to be near,
// pods to be apart from, and nodes, the heaviest first of each; then spreads.
func PreferencesOf(s *cluster.Shape) []Preference {
	var out []Preference
	out = append(out, neighbourPreferences(s, false)...)
	out = append(out, neighbourPreferences(s, true)...)
	out = append(out, nodePreferences(s)...)
	for i := range s.Spread {
		if s.Spread[i].Soft {
			out = append(out, Preference{Part: 1, Spread: &s.Spread[i]})
		}
	}
	return out
}

// Crowded reports whether the node of the pod does not meet its preference to be apart from others on a host, or
// meets one for a spread over hosts less well than a host without such pods.
func Crowded(n *cluster.Node, p *cluster.Pod) bool {
	for i := range p.Shape.Neighbours {
		x := &p.Shape.Neighbours[i]
		if x.Weight > 0 && x.Apart && x.Key == cluster.LabelHostname && others(n, p, x.Selector, x.Namespaces, x.AllNamespaces) > 0 {
			return true
		}
	}
	for i := range p.Shape.Spread {
		x := &p.Shape.Spread[i]
		if x.Soft && x.Key == cluster.LabelHostname && others(n, p, x.Selector, []string{p.Namespace}, false) >= int(x.MaxSkew) {
			return true
		}
	}
	return false
}

// others counts the chosen pods on the node, without the pod.
func others(n *cluster.Node, p *cluster.Pod, chosen cluster.Selector, namespaces []string, all bool) int {
	count := 0
	for i := range n.Pods {
		other := &n.Pods[i]
		if (all || slices.Contains(namespaces, other.Namespace)) && chosen.Matches(other.Shape.Labels) &&
			(other.Namespace != p.Namespace || other.Name != p.Name) {
			count++
		}
	}
	return count
}

func neighbourPreferences(s *cluster.Shape, apart bool) []Preference {
	var out []Preference
	heaviest := int32(1)
	for i := range s.Neighbours {
		n := &s.Neighbours[i]
		heaviest = max(heaviest, n.Weight)
		if n.Weight > 0 && n.Apart == apart {
			out = append(out, Preference{Neighbours: n})
		}
	}
	for i := range out {
		out[i].Part = float64(out[i].Neighbours.Weight) / float64(heaviest)
	}
	slices.SortStableFunc(out, func(a, b Preference) int { return int(b.Neighbours.Weight) - int(a.Neighbours.Weight) })
	return out
}

// nodePreferences leaves out what the pod's own requirements rule out. Only one of them holds at a time.
func nodePreferences(s *cluster.Shape) []Preference {
	list := slices.Clone(s.Preferences)
	slices.SortStableFunc(list, func(a, b cluster.Preference) int { return int(b.Weight) - int(a.Weight) })
	var out []Preference
	for _, p := range list {
		if _, conflict := feasibility.Cross(feasibility.Alternatives(s), []constraint.Requirements{p.Term})[0].Conflict(p.Term); !conflict {
			out = append(out, Preference{Term: p.Term})
		}
	}
	if len(out) > 0 {
		out[0].Part = 1
	}
	return out
}

// String says what is preferred.
func (w Preference) String() string {
	switch {
	case w.Neighbours != nil && w.Neighbours.Apart:
		return "to be apart from " + chosenWords(w.Neighbours.Selector) + " over " + w.Neighbours.Key
	case w.Neighbours != nil:
		return "to be near " + chosenWords(w.Neighbours.Selector) + " over " + w.Neighbours.Key
	case w.Spread != nil:
		return "an even spread over " + w.Spread.Key
	case w.Avoid:
		return "to keep off NodePools with a PreferNoSchedule taint"
	}
	words := make([]string, len(w.Term))
	for i, r := range w.Term {
		words[i] = feasibility.WantWord(r)
	}
	return "the preferred " + strings.Join(words, " and ")
}

func chosenWords(s cluster.Selector) string {
	if len(s.Requirements) == 0 {
		return "any pods"
	}
	return "pods with " + s.Requirements.String()
}
