package cluster

import (
	"testing"
	"time"
)

// TestPodsThatNoEvictionEverRemoves: they keep their nodes, and need no other place, until the
// instance is about to be taken away.
func TestPodsThatNoEvictionEverRemoves(t *testing.T) {
	kept := Protection{DoNotDisrupt: true}
	now := time.Unix(0, 0)
	soon := now.Add(uprootsFor)
	never := PodDisruptionBudget{Namespace: "default", Name: "web", Never: true}
	tests := map[string]struct {
		pdb  PodDisruptionBudget
		pod  Pod
		node Node
		want bool
	}{
		"a budget that never allows one": {never, Pod{PDBs: "web"}, Node{}, true},
		"one of another namespace":       {PodDisruptionBudget{Namespace: "shop", Name: "web", Never: true}, Pod{PDBs: "web"}, Node{}, false},
		"one that allows none now":       {PodDisruptionBudget{Namespace: "default", Name: "web"}, Pod{PDBs: "web"}, Node{}, false},
		"one that changed and allows one": {PodDisruptionBudget{Namespace: "default", Name: "web", Never: true, Allowed: 1},
			Pod{PDBs: "web"}, Node{}, false},
		"several budgets, with which each eviction is refused": {PodDisruptionBudget{Namespace: "default", Name: "web"}, Pod{PDBs: "front,web"}, Node{}, true},
		"a pod that is not ready, and need not be": {PodDisruptionBudget{Namespace: "default", Name: "web", Never: true, UnreadyToo: true},
			Pod{PDBs: "web", Unready: true}, Node{}, false},
		"a pod that has not started":                    {never, Pod{PDBs: "web", Pending: true}, Node{}, false},
		"a pod that ends":                               {never, Pod{PDBs: "web", Ending: true}, Node{}, false},
		"a machine that is about to be taken away":      {never, Pod{PDBs: "web"}, Node{EndsAt: soon}, false},
		"a machine that is taken away in days":          {never, Pod{PDBs: "web"}, Node{EndsAt: now.Add(48 * time.Hour)}, true},
		"a machine that is drained and goes now":        {never, Pod{PDBs: "web"}, Node{InstanceEnds: true}, false},
		"do-not-disrupt":                                {PodDisruptionBudget{}, Pod{Protection: kept}, Node{}, true},
		"the same, on a machine about to be taken away": {PodDisruptionBudget{}, Pod{Protection: kept}, Node{EndsAt: soon}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.pod.Namespace, tt.pod.Returns = "default", true
			tt.node.Deleting, tt.node.Pods = true, []Pod{tt.pod}
			s := Snapshot{Now: now, PDBs: []PodDisruptionBudget{tt.pdb}, Nodes: []Node{tt.node}}
			s.Keep()
			n := &s.Nodes[0]
			if n.Pods[0].Moves() == tt.want || n.Goes() != (!tt.want || tt.pod.Ending) {
				t.Errorf("moves: %v, its node goes: %v", n.Pods[0].Moves(), n.Goes())
			}
		})
	}
}
