package shadow

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe/comparison"
)

// unknown are pools of which no object is known.
type unknown struct{}

func (unknown) Pool(cluster.PoolID) (translate.PoolObject, bool) {
	return translate.PoolObject{}, false
}

// ofPool is a node of NodePool default with so many pods that come again.
func ofPool(name string, pods int, state string) string {
	var b strings.Builder
	fmt.Fprintf(&b,
		"node %s claim=%[1]s-c pool=NodePool/default ready initialized price=0.08 created=2026-11-20T04:00:00Z quiet-since=2026-11-21T03:00:00Z %s\n", name, state)
	fmt.Fprintf(&b,
		"  labels karpenter.sh/nodepool=default topology.kubernetes.io/zone=a karpenter.sh/capacity-type=on-demand node.kubernetes.io/instance-type=c.small kubernetes.io/arch=amd64 kubernetes.io/hostname=%s\n", name)
	b.WriteString("  allocatable cpu=1900m memory=3Gi pods=20\n")
	for i := range pods {
		fmt.Fprintf(&b, "  pod default/%s-%d uid=%s-%d shape=web returns started=2026-11-20T05:00:00Z\n", name, i,
			name, i)
	}
	return b.String()
}

// watching is a world, and what it has noted.
func watching() (*World, func() comparison.History) {
	book := &comparison.Book{}
	book.Begin("test", time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC))
	return &World{Pools: unknown{}, Book: book}, func() comparison.History { h, _ := book.History(); return h }
}

// Pods on nodes that are deleted, or vanish, count as evicted on the side of the actual cluster, once, and nodes that
// come as launched. What goes already at the start does not count.
func TestNodesAndEvictionsOfTheOtherAreCountedOnce(t *testing.T) {
	w, noted := watching()
	for _, s := range []string{
		ofPool("a", 1, "") + ofPool("b", 2, "") + ofPool("going", 3, "deleting"),
		ofPool("a", 1, "deleting") + ofPool("b", 2, ""), // going has gone
		ofPool("a", 1, "deleting") + ofPool("b", 2, "") + ofPool("c", 0, ""),
		ofPool("c", 0, ""), // a has gone, and b vanished
		ofPool("c", 0, ""),
	} {
		w.Project(parsed(t, pool("default")+s))
	}
	if a := noted().Actual; a.Launched != 1 || a.Terminated != 2 || a.Evicted != 3 {
		t.Errorf("launched %d, terminated %d, evicted %d; want 1, 2 and 3", a.Launched, a.Terminated, a.Evicted)
	}
	if s := noted().Shadow; s.Launched+s.Terminated+s.Evicted != 0 {
		t.Errorf("without a plan Daemok would have done %+v", s)
	}
}

// A move counts each pod that it evicts on Daemok's side. The node is paid for until its pods would have ended, its
// pods are where the plan expects them, and the actual cluster is as it was.
func TestEvictionsOfAPlanAreCounted(t *testing.T) {
	w, noted := watching()
	both := pool("default") + ofPool("a", 1, "") + ofPool("b", 1, "")
	s := parsed(t, both)
	seen := w.Project(s)
	from := seen.Nodes[0].Pods[0]
	w.Move(t.Context(), seen, plan.Plan{Moves: []plan.Move{{
		Removals: []plan.Removal{{Node: "a", Reason: plan.Underutilized, Note: "its pod finds room on another",
			Pods: []cluster.Pod{from}}},
		Placements: []plan.Placement{{Pod: from, On: plan.OnNode, Target: "b"}},
	}}}, nil)
	at := func(passed time.Duration) *cluster.Snapshot {
		later := parsed(t, both)
		later.Now = later.Now.Add(passed)
		return w.Project(later)
	}
	soon := at(time.Second)
	if len(soon.Nodes) != 2 || !soon.Nodes[0].Deleting || len(soon.Nodes[1].Pods) != 2 {
		t.Errorf("a second later there are %d nodes, and the other has %d pods; want 2, of which one goes, and 2",
			len(soon.Nodes), len(soon.Nodes[1].Pods))
	}
	if w.Due(s.Now) || !w.Due(s.Now.Add(drainFor)) {
		t.Error("the node is gone when its pods would have ended, and not before")
	}
	if late := at(2 * drainFor); len(late.Nodes) != 1 || late.Nodes[0].Name != "b" || len(late.Nodes[0].Pods) != 2 {
		t.Errorf("when its pods would have ended the nodes are %+v, want b with both pods", late.Nodes)
	}
	h := noted()
	if h.Shadow.Evicted != 1 || h.Shadow.Terminated != 1 || h.Actual.Evicted != 0 || len(h.Latest) != 1 ||
		h.Latest[0].Kind != comparison.Terminate {
		t.Errorf("noted are %+v and %+v, by %+v", h.Shadow, h.Actual, h.Latest)
	}
}

// Names of nodes come from IP addresses, and come again: a new instance of a name is not the one that shadow mode has
// kept, which stays with its pods. The other autoscaler has terminated one node and launched another.
func TestANodeOfANameThatComesAgainIsAnotherNode(t *testing.T) {
	instance := func(id, text string) string {
		return strings.Replace(text, "claim=n1-c", "claim="+id+" machine="+id, 1)
	}
	outside := "node n1 machine=i-2 ready initialized\n  allocatable cpu=1 memory=1Gi pods=10\n"
	elsewhere := ofPool("other", 0, "") + "  pod default/n1-0 uid=n1-0 shape=web returns started=2026-11-20T05:00:00Z\n"
	tests := map[string]struct {
		again              string
		launched           int
		want               []string
		actual, withDaemok int
	}{
		"of the NodePool":  {instance("i-2", ofPool("n1", 0, "")), 1, []string{"i-1", "other"}, 2, 2},
		"of no NodePool":   {outside, 0, []string{"i-1", "n1", "other"}, 2, 3},
		"of none, drained": {strings.Replace(outside, "ready", "ready deleting", 1), 0, []string{"i-1", "n1", "other"}, 2, 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, noted := watching()
			w.Project(parsed(t, pool("default")+ofPool("other", 0, "")+instance("i-1", ofPool("n1", 1, ""))))
			var seen *cluster.Snapshot
			for range 2 {
				seen = w.Project(parsed(t, pool("default")+elsewhere+tt.again))
			}
			var names []string
			for _, n := range seen.Nodes {
				names = append(names, n.Name)
			}
			if !slices.Equal(names, tt.want) {
				t.Fatalf("the nodes are %v, want %v", names, tt.want)
			}
			kept := seen.Nodes[0]
			if host, _ := kept.Labels.Get(cluster.LabelHostname); kept.InstanceID != "i-1" || host != "i-1" ||
				len(kept.Pods) != 1 || len(seen.Waiting) != 0 {
				t.Errorf("the node that was kept is %s, host %s, with %d pods; want i-1 with its pod", kept.InstanceID, host,
					len(kept.Pods))
			}
			if a := noted().Actual; a.Launched != tt.launched || a.Terminated != 1 || a.Evicted != 1 {
				t.Errorf("launched %d, terminated %d, evicted %d; want %d, 1 and 1", a.Launched, a.Terminated, a.Evicted,
					tt.launched)
			}
			if actual, here := w.levels(parsed(t, pool("default")+elsewhere+tt.again)); actual.Nodes != tt.actual ||
				here.Nodes != tt.withDaemok {
				t.Errorf("%d and %d nodes, want %d and %d", actual.Nodes, here.Nodes, tt.actual, tt.withDaemok)
			}
		})
	}
}

// A node that is of no NodePool any more, such as that of a node group whose labels change, is there once.
func TestANodeThatLeavesItsNodePoolIsThereOnce(t *testing.T) {
	w, _ := watching()
	w.Project(parsed(t, pool("default")+ofPool("a", 1, "")))
	s := parsed(t, pool("default")+strings.Replace(ofPool("a", 1, ""), "claim=a-c pool=NodePool/default", "", 1))
	if seen := w.Project(s); len(seen.Nodes) != 1 || len(seen.Nodes[0].Pods) != 1 {
		t.Errorf("there are %d nodes, want one with its pod", len(seen.Nodes))
	}
	if actual, here := w.levels(s); actual.Nodes != 1 || here.Nodes != 1 {
		t.Errorf("%d and %d nodes, want 1 on both sides", actual.Nodes, here.Nodes)
	}
}
