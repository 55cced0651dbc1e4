package retire

import "github.com/daemok/daemok/core/cluster"

// Due counts the nodes that are empty for long enough to go now, whatever
// budgets and pods that wait say.
func Due(s *cluster.Snapshot) int {
	due := 0
	for i := range s.Nodes {
		if _, at, may := dueAt(s, &s.Nodes[i]); may && !at.After(s.Now) {
			due++
		}
	}
	return due
}
