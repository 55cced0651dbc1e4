package topology

import (
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// chosen is a selector with the namespaces it examines.
type chosen struct {
	selector   cluster.Selector
	namespaces []string
	everywhere bool
	virtual    bool // a rule of virtual pods
	away       bool // it keeps the chosen pods away from the pods whose rule it is
}

func (c *chosen) matches(k *class) bool {
	return c.sees(k) && (c.everywhere || slices.Contains(c.namespaces, k.namespace)) && c.selector.Matches(k.labels)
}

// sees reports whether pods of the class exist for the rule: kube-scheduler knows no virtual pods. Rules of virtual pods
// count all pods, and keep no real ones away.
func (c *chosen) sees(k *class) bool {
	if c.away {
		return k.virtual || !c.virtual
	}
	return c.virtual || !k.virtual
}

func (c *chosen) text() string {
	var b strings.Builder
	if c.virtual {
		b.WriteString("virtual ")
	}
	if c.everywhere {
		b.WriteString("*")
	}
	for _, n := range c.namespaces {
		b.WriteString(n)
		b.WriteString(",")
	}
	if c.selector.Nothing {
		b.WriteString("|nothing")
	}
	b.WriteString("|")
	b.WriteString(c.selector.Requirements.String())
	return b.String()
}

// ofNeighbours is the pods that the shape wants near, or not near.
func ofNeighbours(s *cluster.Shape, n *cluster.Neighbours) chosen {
	return chosen{selector: n.Selector, namespaces: n.Namespaces, everywhere: n.AllNamespaces, virtual: s.Virtual}
}

// awayFrom is the pods that pods of the shape keep away, wherever they are.
func awayFrom(s *cluster.Shape, n *cluster.Neighbours) chosen {
	out := ofNeighbours(s, n)
	out.away = true
	return out
}

// class is all shapes that selectors do not distinguish.
type class struct {
	namespace string
	labels    constraint.Labels
	virtual   bool
	counted   []int // tallies that count its pods, once asked for
	asked     bool
}

func (b *Board) classOf(s *cluster.Shape) *class {
	if k, seen := b.classes[s]; seen {
		return k
	}
	var text strings.Builder
	text.WriteString(s.Namespace)
	if s.Virtual {
		text.WriteString("\x00virtual")
	}
	for _, l := range s.Labels {
		text.WriteString("\x00" + l.Key + "\x00" + l.Value)
	}
	k, known := b.byClass[text.String()]
	if !known {
		k = &class{namespace: s.Namespace, labels: s.Labels, virtual: s.Virtual}
		b.byClass[text.String()] = k
	}
	b.classes[s] = k
	return k
}

// countedBy returns the tallies that choose pods of the class, whatever they
// do with them.
func (b *Board) countedBy(k *class) []int {
	if !k.asked {
		k.counted, k.asked = b.index.of(b.tallies, k), true
	}
	return k.counted
}

// chosenIndex finds the tallies that choose a pod without asking each of them.
type chosenIndex struct {
	byLabel map[constraint.Label][]int // those that want one of a few values of a label
	others  []int
}

func newChosenIndex(tallies []tally) *chosenIndex {
	x := &chosenIndex{byLabel: map[constraint.Label][]int{}}
	for at := range tallies {
		if !x.addByLabel(at, &tallies[at].who[0]) {
			x.others = append(x.others, at)
		}
	}
	return x
}

func (x *chosenIndex) addByLabel(at int, c *chosen) bool {
	if c.selector.Nothing {
		return true
	}
	for _, r := range c.selector.Requirements {
		values, finite := r.Set.Finite()
		if !finite || r.Set.AllowsAbsent() {
			continue
		}
		for _, v := range values {
			label := constraint.Label{Key: r.Key, Value: v}
			x.byLabel[label] = append(x.byLabel[label], at)
		}
		return true
	}
	return false
}

func (x *chosenIndex) of(tallies []tally, k *class) []int {
	var out []int
	consider := func(list []int) {
		for _, at := range list {
			if allMatch(tallies[at].who, k) {
				out = append(out, at)
			}
		}
	}
	consider(x.others)
	for _, l := range k.labels {
		consider(x.byLabel[l])
	}
	slices.Sort(out)
	return out
}

func allMatch(who []chosen, k *class) bool {
	for i := range who {
		if !who[i].matches(k) {
			return false
		}
	}
	return true
}
