package apply

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

var (
	start  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	poolID = cluster.PoolID{Kind: "NodePool", Name: "default"}
)

func world(change ...func(*cluster.Snapshot)) *cluster.Snapshot {
	s := &cluster.Snapshot{Now: start, Pools: []cluster.Pool{{ID: poolID}}, Waiting: []cluster.Pod{{Name: "p", UID: "u"}}}
	for _, c := range change {
		c(s)
	}
	return s
}

func ordered() cluster.Instance {
	return cluster.Instance{
		Claim: "c", Pool: poolID, CreatedAt: start, Capacity: quantity.Resources{CPU: 2000},
		LaunchedFor: []cluster.Pod{{Name: "p", UID: "u"}},
	}
}

func claim(providerID string) *karpv1.NodeClaim {
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{api.LabelNodePool: "default"}}}
	c.Status.ProviderID = providerID
	return c
}

// TestAPoolRestsAfterSetbacks: the first claim that goes without an instance is followed by a new
// plan at once, each further one by a longer rest, and an instance launched ends it.
func TestAPoolRestsAfterSetbacks(t *testing.T) {
	l, now := &Ledger{}, start
	rest := func() time.Duration {
		for d := time.Duration(0); ; d += time.Second {
			s := world(func(s *cluster.Snapshot) { s.Now = now.Add(d) })
			if l.Project(s).Pools[0].NotReady == "" {
				return d
			}
		}
	}
	var rests []time.Duration
	for range 9 {
		l.Seen(claim(""), true, now)
		l.Seen(claim(""), true, now) // of the same batch
		rests = append(rests, rest())
		now = now.Add(rest() + time.Second)
	}
	want := []time.Duration{0, 1e9, 2e9, 4e9, 8e9, 16e9, 32e9, 60e9, 60e9}
	if !slices.Equal(rests, want) {
		t.Errorf("rests after setbacks = %v, want %v", rests, want)
	}
	l.Seen(claim("aws:///a/i-1"), false, now)
	l.Seen(claim(""), true, now)
	if rest() != 0 {
		t.Errorf("after a machine was bought a setback costs %v, want a new plan at once", rest())
	}
}

// TestAnOldInstanceEndsNoRest: changes of a claim that has long had its instance say nothing about
// what can be launched now.
func TestAnOldInstanceEndsNoRest(t *testing.T) {
	l, old := &Ledger{}, claim("aws:///a/i-1")
	old.Name = "old"
	l.Seen(old, false, start)
	l.Seen(claim(""), true, start)
	l.Seen(claim(""), true, start.Add(time.Second))
	l.Seen(old, false, start.Add(time.Second))
	why := func(d time.Duration) string {
		return l.Project(world(func(s *cluster.Snapshot) { s.Now = start.Add(time.Second + d) })).Pools[0].NotReady
	}
	if why(0) == "" {
		t.Error("a change of an older claim ended the pool's rest")
	}
	if why(0) != why(900*time.Millisecond) {
		t.Errorf("the reason changes while the pool rests, so it is told again and again: %q, then %q", why(0), why(900*time.Millisecond))
	}
}

func TestLedger(t *testing.T) {
	shown := func(s *cluster.Snapshot) { s.Instances = []cluster.Instance{{Claim: "c", Pool: poolID}} }
	tests := map[string]struct {
		do        func(l *Ledger)
		world     *cluster.Snapshot
		instances int
		launched  int // pods the first instance is listed with
	}{
		"an order counts before a watch shows it":          {func(*Ledger) {}, world(), 1, 1},
		"and only once when it does":                       {func(*Ledger) {}, world(shown), 1, 1},
		"an order that failed does not count":              {func(l *Ledger) { l.NotCreated("c") }, world(), 0, 0},
		"SC-12 a claim that came and went does not count":  {func(l *Ledger) { l.Seen(claim(""), true, start) }, world(), 0, 0},
		"a claim seen after the snapshot was taken counts": {func(l *Ledger) { l.Seen(claim(""), false, start) }, world(), 1, 1},
		"and only once in a later one":                     {func(l *Ledger) { l.Seen(claim(""), false, start) }, world(shown), 1, 1},
		"an order nobody shows is still there":             {func(*Ledger) {}, world(func(s *cluster.Snapshot) { s.Now = start.Add(2 * time.Minute) }), 1, 1},
		"a pod that landed elsewhere frees its share":      {func(*Ledger) {}, world(func(s *cluster.Snapshot) { s.Waiting = nil }), 1, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := &Ledger{}
			l.Ordered(ordered())
			tt.do(l)
			s := l.Project(tt.world)
			if len(s.Instances) != tt.instances {
				t.Fatalf("%d machines in the projection, want %d", len(s.Instances), tt.instances)
			}
			if tt.instances > 0 && len(s.Instances[0].LaunchedFor) != tt.launched {
				t.Errorf("the machine is listed with %d pods, want %d", len(s.Instances[0].LaunchedFor), tt.launched)
			}
		})
	}
}

func TestAnUnseenOrderUsesThePoolsLimit(t *testing.T) {
	l := &Ledger{}
	l.Ordered(ordered())
	before := world()
	if p := l.Project(before).Pools[0]; p.Used.Capacity.CPU != 2000 || p.Used.Nodes != 1 {
		t.Errorf("the pool owns %d nodes with %s, want the order counted", p.Used.Nodes, p.Used.Capacity)
	}
	if before.Pools[0].Used.Nodes != 0 {
		t.Error("projecting changed the snapshot it was made from")
	}
}

func TestALeavingNodeIsNoDestination(t *testing.T) {
	l := &Ledger{}
	here := world(func(s *cluster.Snapshot) { s.Nodes = []cluster.Node{{Name: "n"}} })
	move := &underWay{nodes: []string{"n"}}
	if !l.begins(move) || l.begins(&underWay{nodes: []string{"n"}}) {
		t.Error("a node should go with one move at a time")
	}
	if !l.Project(here).Nodes[0].Deleting {
		t.Error("a node that is being removed is shown as a destination")
	}
	l.Stays("n", start.Add(time.Second))
	l.ends(move)
	if n := l.Project(here).Nodes[0]; n.Deleting || n.Rests == "" {
		t.Error("a node whose removal was given up is still shown as leaving, or may be asked to leave at once")
	}
	later := world(func(s *cluster.Snapshot) { s.Nodes, s.Now = here.Nodes, start.Add(time.Second) })
	if n := l.Project(later).Nodes[0]; n.Rests != "" {
		t.Error("a node whose removal was given up is kept for ever")
	}
}

// A ledger that has made nothing itself reads from claims for which pods they were made.
func TestALedgerBeginsWithWhatClaimsSay(t *testing.T) {
	c := &karpv1.NodeClaim{}
	c.Name, c.Annotations = "c", map[string]string{api.AnnotationForPods: "u1,u2"}
	web := cluster.Pod{Namespace: "default", Name: "web", UID: "u2", Shape: &cluster.Shape{}}
	l := &Ledger{}
	l.Seen(c, false, start)
	s := &cluster.Snapshot{Now: start, Waiting: []cluster.Pod{web}, Instances: []cluster.Instance{{Claim: "c"}}}
	if got := l.Project(s).Instances[0].LaunchedFor; len(got) != 1 || got[0].UID != "u2" {
		t.Errorf("the machine is for %v, want the pod that waits", got)
	}
	l.Seen(c, true, start)
	if got := l.Project(&cluster.Snapshot{Now: start, Waiting: []cluster.Pod{web}}); len(got.Instances) != 0 || len(l.says)+len(l.launchedFor) != 0 {
		t.Errorf("after it went the ledger keeps %v and %v", l.says, l.launchedFor)
	}
}
