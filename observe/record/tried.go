package record

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/daemok/daemok/core/explanation"
)

// looksMax is how many checks of pods of one shape on one node are made with one plan to find what
// keeps pods from other nodes: about a hundredth of a second, so that nothing waits for it. What
// there was no time for comes with later plans.
const looksMax = 10_000

// triedMax is for how many shapes of pods of one node that is reported.
const triedMax = 20

// owe notes that the destinations of the pods of a node are to be recorded.
func (m *minutes) owe(node string) {
	if m.owed == nil {
		m.owed = map[string]time.Time{}
	}
	m.owed[node] = m.s.Now
}

// tried reports nodes that stay, since their pods have no better place, what keeps each shape of
// these from the other nodes: of those first that have waited longest for that.
func (m *minutes) tried() {
	if len(m.owed) == 0 {
		return
	}
	at := make(map[string]int, len(m.s.Nodes))
	for i := range m.s.Nodes {
		at[m.s.Nodes[i].Name] = i
	}
	elsewhere, left := explanation.NewElsewhere(m.s), looksMax
	for _, name := range slices.SortedFunc(maps.Keys(m.owed), func(a, b string) int { return cmp.Or(m.owed[a].Compare(m.owed[b]), cmp.Compare(a, b)) }) {
		i, there := at[name]
		if there {
			looks := elsewhere.Looks(i)
			if looks > left && left < looksMax {
				return // with the next plan
			}
			left -= looks
			m.Record.Add(Object{Node, name}, TopicStay, words(elsewhere.Of(i)))
		}
		delete(m.owed, name)
	}
}

func words(list []explanation.Tried) []string {
	var out []string
	for i := range list[:min(len(list), triedMax)] {
		out = append(out, "pod "+list[i].String())
	}
	if len(list) > triedMax {
		out = append(out, "and of other pod groups")
	}
	return out
}
