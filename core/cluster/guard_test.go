package cluster

import (
	"testing"
	"time"
)

// TestPodsThatNoEvictionEverRemoves: they keep their nodes, and need no other place,
// until the machine is about to be taken away.
func TestPodsThatNoEvictionEverRemoves(t *testing.T) {
	now := time.Unix(0, 0)
	soon := now.Add(uprootsFor)
	never := Guard{Namespace: "default", Name: "web", Never: true}
	tests := map[string]struct {
		guard Guard
		pod   Pod
		node  Node
		want  bool
	}{
		"a budget that never allows one": {never, Pod{Guards: "web"}, Node{}, true},
		"one of another namespace":       {Guard{Namespace: "shop", Name: "web", Never: true}, Pod{Guards: "web"}, Node{}, false},
		"one that allows none now":       {Guard{Namespace: "default", Name: "web"}, Pod{Guards: "web"}, Node{}, false},
		"one that changed and allows one": {Guard{Namespace: "default", Name: "web", Never: true, Allowed: 1},
			Pod{Guards: "web"}, Node{}, false},
		"several budgets, with which each eviction is refused": {Guard{Namespace: "default", Name: "web"}, Pod{Guards: "front,web"}, Node{}, true},
		"a pod that is not ready, and need not be": {Guard{Namespace: "default", Name: "web", Never: true, UnreadyToo: true},
			Pod{Guards: "web", Unready: true}, Node{}, false},
		"a pod that has not started":                    {never, Pod{Guards: "web", Pending: true}, Node{}, false},
		"a pod that ends":                               {never, Pod{Guards: "web", Ending: true}, Node{}, false},
		"a machine that is about to be taken away":      {never, Pod{Guards: "web"}, Node{EndsAt: soon}, false},
		"a machine that is taken away in days":          {never, Pod{Guards: "web"}, Node{EndsAt: now.Add(48 * time.Hour)}, true},
		"a machine that is drained and goes now":        {never, Pod{Guards: "web"}, Node{MachineEnds: true}, false},
		"do-not-disrupt":                                {Guard{}, Pod{DoNotDisrupt: true}, Node{}, true},
		"the same, on a machine about to be taken away": {Guard{}, Pod{DoNotDisrupt: true}, Node{EndsAt: soon}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.pod.Namespace, tt.pod.Returns = "default", true
			tt.node.Deleting, tt.node.Pods = true, []Pod{tt.pod}
			s := Snapshot{Now: now, Guards: []Guard{tt.guard}, Nodes: []Node{tt.node}}
			s.Keep()
			n := &s.Nodes[0]
			if n.Pods[0].Moves() == tt.want || n.Goes() != (!tt.want || tt.pod.Ending) {
				t.Errorf("moves: %v, its node goes: %v", n.Pods[0].Moves(), n.Goes())
			}
		})
	}
}
