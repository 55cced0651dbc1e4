package retire

import "github.com/daemok/daemok/core/cluster"

// Due counts the nodes that are empty for long enough to go now, whatever
// budgets and pods that wait say.
func Due(s *cluster.Snapshot) int {
	due := 0
	for _, c := range candidates(s) {
		if at, may := emptyDue(c); may && !at.After(s.Now) && !c.DoNotDisrupt && c.Rests == "" {
			due++
		}
	}
	return due
}
