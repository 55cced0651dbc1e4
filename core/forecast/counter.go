package forecast

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
)

// counter counts chosen pods by the value that their node has for a key.
type counter struct {
	key        string
	namespaces []string // sorted
	anywhere   bool     // in all namespaces
	selector   cluster.Selector
	owner      string // instead of a selector: the owner of the pods
	at         int    // of the key among those of the world
}

// soft is a spread that scores.
type soft struct {
	counter int
	maxSkew int32
}

// preferred is a preference to be near pods, or not to be.
type preferred struct {
	counter int
	weight  int64
}

// The spreads that the scheduler adds to pods that have none of their own and
// belong to something.
const (
	defaultHostSkew = 3
	defaultZoneSkew = 5
)

func (w *World) counter(c counter) int {
	text := fmt.Sprint(c.key, "|", c.namespaces, c.anywhere, "|", c.selector, "|", c.owner)
	at, known := w.byText[text]
	if !known {
		if c.at = slices.Index(w.keys, c.key); c.at < 0 {
			c.at, w.keys = len(w.keys), append(w.keys, c.key)
		}
		at = len(w.counters)
		w.byText[text], w.counters = at, append(w.counters, c)
	}
	return at
}

func (w *World) soft(s *cluster.Shape, x *cluster.Spread) soft {
	return soft{w.counter(counter{key: x.Key, namespaces: []string{s.Namespace}, selector: x.Selector}), x.MaxSkew}
}

func (w *World) preferred(n *cluster.Neighbours) preferred {
	weight := int64(n.Weight)
	if n.Apart {
		weight = -weight
	}
	return preferred{w.counter(counter{key: n.Key, namespaces: n.Namespaces, anywhere: n.AllNamespaces, selector: n.Selector}), weight}
}

func (w *World) defaultsOf(p *cluster.Pod) []soft {
	if p.Owner == "" || len(p.Shape.Spread) > 0 {
		return nil
	}
	of := counter{namespaces: []string{p.Namespace}, owner: p.Owner}
	of.key = cluster.LabelHostname
	host := w.counter(of)
	of.key = cluster.LabelZone
	return []soft{{host, defaultHostSkew}, {w.counter(of), defaultZoneSkew}}
}

func (c *counter) chooses(s *cluster.Shape) bool {
	if c.owner != "" || !c.anywhere && !slices.Contains(c.namespaces, s.Namespace) {
		return false
	}
	return c.selector.Matches(s.Labels)
}

// countersOf lists the counters that count pods of the shape for their labels.
func (w *World) countersOf(s *cluster.Shape) []int {
	var out []int
	for i := range w.counters {
		if w.counters[i].chooses(s) {
			out = append(out, i)
		}
	}
	return out
}

// countersFor lists the counters that count a pod that runs.
func (w *World) countersFor(p *cluster.Pod) []int {
	if len(w.counters) == 0 || p.Ending {
		return nil
	}
	out := w.countersOf(p.Shape)
	if p.Owner == "" {
		return out
	}
	for i := range w.counters {
		if c := &w.counters[i]; c.owner == p.Owner && c.namespaces[0] == p.Namespace {
			out = append(out, i)
		}
	}
	return out
}
