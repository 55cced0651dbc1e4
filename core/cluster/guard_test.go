package cluster

import (
	"testing"
	"time"
)

// TestPodsThatNoEvictionEverRemoves: they keep their nodes, and need no other place.
func TestPodsThatNoEvictionEverRemoves(t *testing.T) {
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
		"a pod that has not started":             {never, Pod{Guards: "web", Pending: true}, Node{}, false},
		"a pod that ends":                        {never, Pod{Guards: "web", Ending: true}, Node{}, false},
		"a machine that the cloud takes away":    {never, Pod{Guards: "web"}, Node{EndsAt: time.Unix(1, 0)}, false},
		"a machine that is drained and goes now": {never, Pod{Guards: "web"}, Node{MachineEnds: true}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.pod.Namespace, tt.pod.Returns = "default", true
			tt.node.Deleting, tt.node.Pods = true, []Pod{tt.pod}
			s := Snapshot{Guards: []Guard{tt.guard}, Nodes: []Node{tt.node}}
			s.Keep()
			n := &s.Nodes[0]
			if n.Pods[0].Kept != tt.want || n.Pods[0].Moves() == tt.want || n.Goes() != (!tt.want || tt.pod.Ending) {
				t.Errorf("kept: %v, moves: %v, its node goes: %v", n.Pods[0].Kept, n.Pods[0].Moves(), n.Goes())
			}
		})
	}
}
