package apply

import (
	"fmt"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scenario"
)

// leaving is a cluster whose node old, with pod web of one core, is to go. Node other has room for
// it, as has an instance being launched; one more pod of a core waits.
const leaving = `snapshot 7 2026-11-21T04:00:00Z
shape web namespace=default cpu=1 memory=1Gi
waiting default/more shape=web
catalogue c1 1
kind m5.large cpu=1500m memory=8Gi pods=29
  offer us-west-2a on-demand 0.096
pool NodePool/default catalogue=c1
  limit nodes=4
node old claim=c-old pool=NodePool/default price=0.096 ready initialized
  allocatable cpu=1500m memory=8Gi pods=29
  labels node.kubernetes.io/instance-type=m5.large topology.kubernetes.io/zone=us-west-2a
  pod default/web shape=web returns
`

const (
	otherNode = `node other claim=c-other pool=NodePool/default price=0.096 ready initialized
  allocatable cpu=1500m memory=8Gi pods=29
  labels node.kubernetes.io/instance-type=m5.large topology.kubernetes.io/zone=us-west-2a
`
	onOrder = `machine c-new pool=NodePool/default launched
  allocatable cpu=1500m memory=8Gi pods=29
  labels node.kubernetes.io/instance-type=m5.large topology.kubernetes.io/zone=us-west-2a karpenter.sh/capacity-type=on-demand
`
	joined = `node new claim=c-new pool=NodePool/default price=0.096 ready initialized
  allocatable cpu=1500m memory=8Gi pods=29
  labels node.kubernetes.io/instance-type=m5.large topology.kubernetes.io/zone=us-west-2a
`
)

// SC-324: TestWhatAMoveNeedsIsNotGivenAway: while a move is under way nothing is launched for its
// pods, and pods that wait get no room that is meant for these, whether that is on a node, on an
// instance being launched or on one that is still to be launched. Once the node is deleted its pods
// count like others.
func TestWhatAMoveNeedsIsNotGivenAway(t *testing.T) {
	web := func(to target) map[string]target { return map[string]target{"default/web": to} }
	tests := map[string]struct {
		world  string
		move   underWay
		shown  string // where pods are shown, and which are expected
		placed string // where the waiting pod goes
	}{
		"a pod on its way to a node": {
			leaving + otherNode, underWay{targets: web(target{plan.OnNode, "other"})},
			"old: ; other: web, expects web", "more on launch new-1",
		},
		"a pod on its way to a machine on order": {
			leaving + onOrder, underWay{claims: []string{"c-new"}, targets: web(target{plan.OnInstance, "c-new"})},
			"old: ; c-new: 500m left, expects web", "more on launch new-1",
		},
		"a pod on its way to a machine that has joined": {
			leaving + joined, underWay{claims: []string{"c-new"}, targets: web(target{plan.OnInstance, "c-new"})},
			"new: web, expects web; old: ", "more on launch new-1",
		},
		"a pod that another process was to move": {
			leaving + otherNode + joined, underWay{claims: []string{"c-new"}},
			"new: web, expects web; old: ; other: ", "more on node other",
		},
		"a pod whose machine is still to be ordered": {
			leaving + otherNode, underWay{claims: []string{"c-new"}, targets: web(target{plan.OnInstance, "c-new"})},
			"old: web; other: ", "more on node other",
		},
		"a pod whose place is gone": {
			leaving, underWay{targets: web(target{plan.OnNode, "other"})},
			"old: web", "more on launch new-1",
		},
		"a machine still to be ordered, with the last place that the pool has": {
			leaving + onOrder, underWay{claims: []string{"c-new"}, targets: web(target{plan.OnInstance, "c-new"}),
				orders: []cluster.Instance{{Claim: "c-next", Pool: poolID}, {Claim: "c-last", Pool: poolID}}},
			"old: ; c-new: 500m left, expects web", "",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := &Ledger{}
			tt.move.nodes = []string{"old"}
			l.begins(&tt.move)
			s := l.Project(parsed(t, tt.world))
			if got := show(s); got != tt.shown {
				t.Errorf("shown as %q, want %q", got, tt.shown)
			}
			if got := placements(decide.Decide(s, decide.Policy{}, decide.Effort{})); got != tt.placed {
				t.Errorf("the plan puts %q, want %q", got, tt.placed)
			}
		})
	}
}

func TestOnceANodeIsDeletedItsPodsAreForEveryPlan(t *testing.T) {
	l := &Ledger{}
	l.begins(&underWay{nodes: []string{"old"}, targets: map[string]target{"default/web": {plan.OnNode, "other"}}})
	s := l.Project(parsed(t, strings.Replace(leaving, "ready initialized", "ready initialized deleting", 1)+otherNode))
	if got, want := show(s), "old: web; other: "; got != want {
		t.Errorf("shown as %q, want %q", got, want)
	}
	if got := placements(decide.Decide(s, decide.Policy{}, decide.Effort{})); !strings.Contains(got, "web on") || !strings.Contains(got, "more on") {
		t.Errorf("the plan puts %q, want both pods somewhere", got)
	}
}

// TestAnOrderCountsOnce: what a move is to launch counts for limits before it is launched, and not
// twice after.
func TestAnOrderOfAMoveCountsOnce(t *testing.T) {
	l := &Ledger{}
	l.begins(&underWay{nodes: []string{"n"}, orders: []cluster.Instance{ordered()}})
	usage := func() string {
		p := l.Project(world()).Pools[0]
		return fmt.Sprintf("%d nodes with %s cpu", p.Used.Nodes, p.Used.Capacity.CPU)
	}
	before := usage()
	l.Ordered(ordered())
	if after := usage(); before != after || !strings.HasPrefix(before, "1 nodes") {
		t.Errorf("the pool owns %s before the order and %s after", before, after)
	}
}

// TestANodeOfAMoveCountsForBreakersOnce: before a watch has shown that it is
// closed, and no more after.
func TestANodeOfAMoveCountsForBreakersOnce(t *testing.T) {
	l := &Ledger{}
	l.begins(&underWay{nodes: []string{"old"}})
	for what, world := range map[string]string{
		"not shown yet": leaving + "breaker night most=3 gone=1 pool=NodePool/default\n",
		"shown":         strings.Replace(leaving, "ready initialized", "ready initialized deleting", 1) + "breaker night most=3 gone=2 pool=NodePool/default\n",
	} {
		s := parsed(t, world)
		before := s.Breakers[0].Gone
		if got := l.Project(s).Breakers[0].Gone; got != 2 || s.Breakers[0].Gone != before {
			t.Errorf("%s: %d count, want 2; the snapshot itself says %d, before %d", what, got, s.Breakers[0].Gone, before)
		}
	}
}

func parsed(t *testing.T, text string) *cluster.Snapshot {
	t.Helper()
	s, err := scenario.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s.Pools[0].Used.Nodes = int64(len(s.Nodes) + len(s.Instances))
	for i := range s.Nodes {
		for j := range s.Nodes[i].Pods {
			p := &s.Nodes[i].Pods[j]
			p.UID = p.Namespace + "/" + p.Name
		}
	}
	return s
}

// show prints where pods are and where they are expected.
func show(s *cluster.Snapshot) string {
	var out []string
	names := func(pods []cluster.Pod) (list []string) {
		for _, p := range pods {
			list = append(list, p.Name)
		}
		return list
	}
	add := func(name string, is string, expects []cluster.Pod) {
		if len(expects) > 0 {
			is += ", expects " + strings.Join(names(expects), " ")
		}
		out = append(out, name+": "+is)
	}
	for i := range s.Nodes {
		add(s.Nodes[i].Name, strings.Join(names(s.Nodes[i].Pods), " "), s.Nodes[i].LaunchedFor)
	}
	for i := range s.Instances {
		add(s.Instances[i].Claim, fmt.Sprintf("%v left", s.Instances[i].Allocatable.CPU), s.Instances[i].LaunchedFor)
	}
	return strings.Join(out, "; ")
}

func placements(p plan.Plan) string {
	var out []string
	for _, at := range p.Placements {
		out = append(out, fmt.Sprintf("%s on %s %s", at.Pod.Name, at.On, at.Target))
	}
	return strings.Join(out, "; ")
}
