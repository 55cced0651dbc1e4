package sim

import (
	"slices"
	"testing"

	"github.com/daemok/daemok/core/constraint"
)

// Nodes, and instances that have not joined, have the taints of their pool.
func TestNodesCarryTheTaintsOfTheirPool(t *testing.T) {
	c := newScene()
	c.instances = append(c.instances, c.more)
	taint := constraint.Taint{Key: "team", Value: "a", Effect: constraint.PreferNoSchedule}
	c.pool.Taints = []constraint.Taint{taint}
	s := c.photo()
	if n, m := s.Nodes[0].Taints, s.Instances[0].Taints; !slices.Equal(n, c.pool.Taints) || !slices.Equal(m, c.pool.Taints) {
		t.Errorf("a node has the taints %v and an instance on its way %v, want %v", n, m, taint)
	}
	c.a.ready = false
	if n := c.photo().Nodes[0].Taints; len(n) != 2 || len(c.pool.Taints) != 1 {
		t.Errorf("a node that is not ready has the taints %v", n)
	}
}
