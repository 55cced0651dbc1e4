package snapshot

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func nothingOffered(karpv1.NodeClassReference) (*cluster.Catalogue, string) {
	return nil, "no class in this test"
}

func newClusterState() *ClusterState { return New(nothingOffered, func() time.Time { return start }) }

func pod(name, cpu, node string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name)},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
		}}}},
	}
	if node == "" {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func node(name string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{api.LabelNodePool: "default", api.LabelInitialized: "true"}},
		Spec:       corev1.NodeSpec{ProviderID: "aws:///a/i-" + name},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("110")},
			Capacity:    corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("110")},
		},
	}
}

func claimOf(node string, conditions ...string) *karpv1.NodeClaim {
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim-" + node, Labels: map[string]string{api.LabelNodePool: "default"}}}
	if node != "" {
		c.Status.ProviderID = "aws:///a/i-" + node
	}
	for _, kind := range conditions {
		condition.SetTrue(c, kind, start.Add(-time.Minute))
	}
	return c
}

func pool(name string) translate.PoolObject {
	return translate.PoolObject{ID: cluster.PoolID{Kind: translate.KindNodePool, Name: name}}
}

func TestWhoWaits(t *testing.T) {
	owned := func(kind string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "o"}} }
	}
	tests := map[string]struct {
		pod   *corev1.Pod
		waits bool
	}{
		"a pod the scheduler found no place for":   {pod("p", "1", ""), true},
		"a pod the scheduler could not bind":       {pod("p", "1", "", func(p *corev1.Pod) { p.Status.Conditions[0].Reason = corev1.PodReasonSchedulerError }), true},
		"a pod the scheduler may be looking at":    {pod("p", "1", "", func(p *corev1.Pod) { p.Status.Conditions = nil }), false},
		"SC-6 a gated pod":                         {pod("p", "1", "", func(p *corev1.Pod) { p.Status.Conditions[0].Reason = corev1.PodReasonSchedulingGated }), false},
		"SC-6 a bound pod":                         {pod("p", "1", "n"), false},
		"SC-6 a finished pod":                      {pod("p", "1", "", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), false},
		"SC-6 a dying pod":                         {pod("p", "1", "", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} }), false},
		"SC-6 a daemon pod":                        {pod("p", "1", "", owned("DaemonSet")), false},
		"SC-6 a mirror pod":                        {pod("p", "1", "", owned("Node")), false},
		"a pod of a ReplicaSet":                    {pod("p", "1", "", owned("ReplicaSet")), true},
		"SC-7 a pod that was promised a live node": {pod("p", "1", "", func(p *corev1.Pod) { p.Status.NominatedNodeName = "n" }), false},
		"a pod that was promised a node long gone": {pod("p", "1", "", func(p *corev1.Pod) { p.Status.NominatedNodeName = "gone" }), true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k := newClusterState()
			k.Seen(node("n"))
			k.Seen(tt.pod)
			if s := k.Snapshot(); (len(s.Waiting) == 1) != tt.waits {
				t.Errorf("waiting = %+v; want the pod among them: %v", s.Waiting, tt.waits)
			}
		})
	}
}

// TestAPodThatStandsInTheSchedulersQueueWaits: after a moment a pod counts as
// waiting though the scheduler has said nothing, so that a backlog of pods is
// planned for at once, and is expected until then, so that room that it would
// need is not given up; pods of other schedulers do neither.
func TestAPodThatStandsInTheSchedulersQueueWaits(t *testing.T) {
	unjudged := func(p *corev1.Pod) { p.Status.Conditions = nil }
	tests := map[string]struct {
		pod   *corev1.Pod
		waits bool
	}{
		"a pod of the default scheduler":                {pod("p", "1", "", unjudged), true},
		"a pod of another scheduler, which may hold it": {pod("p", "1", "", unjudged, func(p *corev1.Pod) { p.Spec.SchedulerName = "volcano" }), false},
		"a gated pod":  {pod("p", "1", "", unjudged, func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} }), false},
		"a daemon pod": {pod("p", "1", "", unjudged, func(p *corev1.Pod) { p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "d"}} }), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			now := start
			k := New(nothingOffered, func() time.Time { return now })
			k.Seen(tt.pod)
			if list, next, _ := k.Arrivals(); len(list) != 0 || next.IsZero() == tt.waits {
				t.Errorf("at once: %v wait, the next at %v", list, next)
			}
			if s := k.Snapshot(); (len(s.Expected) == 1) != tt.waits || len(s.Waiting) != 0 {
				t.Errorf("at once: expected %+v and waiting %+v; want the pod expected: %v", s.Expected, s.Waiting, tt.waits)
			}
			now = start.Add(200 * time.Millisecond)
			k.Seen(tt.pod) // a change meanwhile does not start its time again
			list, _, _ := k.Arrivals()
			if (len(list) == 1) != tt.waits || tt.waits && !list[0].At.Equal(start) {
				t.Errorf("a moment later: %v wait; want the pod among them: %v, since it was first seen", list, tt.waits)
			}
			if s := k.Snapshot(); (len(s.Waiting) == 1) != tt.waits || len(s.Expected) != 0 {
				t.Errorf("the snapshot shows %d waiting and %d expected", len(s.Waiting), len(s.Expected))
			}
		})
	}
}

func TestAClaimIsAInstanceUntilItsNodeRegisters(t *testing.T) {
	k := newClusterState()
	k.PoolSeen(pool("default"))
	k.Seen(claimOf("n"))
	k.Seen(node("n"))
	if s := k.Snapshot(); len(s.Instances) != 1 || len(s.Nodes) != 0 {
		t.Errorf("before registration: %d machines and %d nodes, want 1 and 0", len(s.Instances), len(s.Nodes))
	}
	k.Seen(claimOf("n", karpv1.ClaimRegistered))
	s := k.Snapshot()
	if len(s.Instances) != 0 || len(s.Nodes) != 1 || s.Nodes[0].Claim != "claim-n" {
		t.Errorf("after registration: %d machines and nodes %+v", len(s.Instances), s.Nodes)
	}
	if p, _ := s.Pool(pool("default").ID); p.Used.Nodes != 1 || p.Used.Capacity.CPU != 4000 {
		t.Errorf("the pool owns %d nodes with %s, want 1 with 4 cores", p.Used.Nodes, p.Used.Capacity)
	}
}

// Watches of claims and of nodes keep no order between them: that a node is initialised
// may be heard before its last start-up taint is seen to go.
func TestANodeIsNotInitialisedBeforeItIsSeenSo(t *testing.T) {
	k, starting := newClusterState(), node("n")
	delete(starting.Labels, api.LabelInitialized)
	starting.Spec.Taints = []corev1.Taint{{Key: "setup", Effect: corev1.TaintEffectNoSchedule}}
	k.PoolSeen(pool("default"))
	k.Seen(starting)
	k.Seen(claimOf("n", karpv1.ClaimRegistered, karpv1.ClaimInitialized))
	if s := k.Snapshot(); s.Nodes[0].Initialized {
		t.Error("a node counts as initialised that is seen as it was before")
	}
	k.Seen(node("n"))
	if s := k.Snapshot(); !s.Nodes[0].Initialized || len(s.Nodes[0].Taints) > 0 {
		t.Errorf("the node is %+v, want it initialised and without taints", s.Nodes[0])
	}
}

// A claim that takes over the instance of another brings no instance of its own; from the
// moment that the node is registered as its own the node is its, and the other shows as
// nothing.
func TestAInstanceIsHandedFromClaimToClaim(t *testing.T) {
	k := newClusterState()
	k.PoolSeen(pool("default"))
	k.Seen(claimOf("n", karpv1.ClaimRegistered, karpv1.ClaimInitialized))
	k.Seen(node("n"))
	replacement := func(conditions ...string) *karpv1.NodeClaim {
		c := claimOf("n", conditions...)
		c.Name, c.Annotations = "another", map[string]string{api.AnnotationAdopt: c.Status.ProviderID, api.AnnotationAdoptFrom: "claim-n"}
		return c
	}
	for _, step := range []struct {
		what  string
		claim *karpv1.NodeClaim
		has   string
	}{
		{"before it has the machine", func() *karpv1.NodeClaim { c := replacement(); c.Status.ProviderID = ""; return c }(), "claim-n"},
		{"before the node is registered", replacement(), "claim-n"},
		{"after that", replacement(karpv1.ClaimRegistered, karpv1.ClaimInitialized), "another"},
	} {
		k.Seen(step.claim)
		s := k.Snapshot()
		if len(s.Instances) != 0 || len(s.Nodes) != 1 || s.Nodes[0].Claim != step.has {
			t.Errorf("%s: machines %+v, nodes %+v; want the node of %s alone", step.what, s.Instances, s.Nodes, step.has)
		}
		if p, _ := s.Pool(pool("default").ID); p.Used.Nodes != 1 {
			t.Errorf("%s: the pool owns %d nodes, want 1", step.what, p.Used.Nodes)
		}
	}
	released := claimOf("n", karpv1.ClaimRegistered)
	released.Annotations = map[string]string{api.AnnotationAdoptedBy: "another"}
	k.Seen(released)
	k.Gone(&karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim-n"}})
	if s := k.Snapshot(); len(s.Nodes) != 1 || s.Nodes[0].Claim != "another" || len(k.tables.claims.Memory(start)) != 0 {
		t.Errorf("at the end: nodes %+v, departed %v; want the node of another, and nothing departed", s.Nodes, k.tables.claims.Memory(start))
	}
}

func TestEmptiness(t *testing.T) {
	full := []string{karpv1.ClaimRegistered, karpv1.ClaimInitialized}
	daemon := func(p *corev1.Pod) { p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "d"}} }
	tests := map[string]struct {
		do   func(k *ClusterState)
		want time.Time
	}{
		"counts from initialisation where no pod ever came": {func(*ClusterState) {}, start.Add(-time.Minute)},
		"SC-294 daemon pods leave a node empty":             {func(k *ClusterState) { k.Seen(pod("d", "1", "n", daemon)) }, start.Add(-time.Minute)},
		"a pod keeps it":                                    {func(k *ClusterState) { k.Seen(pod("p", "1", "n")) }, time.Time{}},
		"counts from the moment the last pod left": {func(k *ClusterState) {
			k.Listed(pod("p", "1", "n"))
			k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}})
		}, start},
		"SC-295 a dying pod of a Deployment does not keep it": {func(k *ClusterState) {
			k.Seen(pod("p", "1", "n", func(p *corev1.Pod) {
				p.DeletionTimestamp = &metav1.Time{Time: start}
				p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "r"}}
			}))
		}, start},
		"SC-295 a dying pod of a StatefulSet does": {func(k *ClusterState) {
			k.Seen(pod("p", "1", "n", func(p *corev1.Pod) {
				p.DeletionTimestamp = &metav1.Time{Time: start}
				p.OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", Name: "r", Controller: new(true)}}
			}))
		}, time.Time{}},
		"a finished pod does not keep it": {func(k *ClusterState) {
			k.Listed(pod("p", "1", "n", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }))
		}, start.Add(-time.Minute)},
		"one that had finished is cleared away": {func(k *ClusterState) {
			k.Listed(pod("p", "1", "n", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }))
			k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}})
		}, start.Add(-time.Minute)},
		"one that was ending stops": {func(k *ClusterState) {
			ending := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} }
			k.Listed(pod("p", "1", "n", ending))
			k.Seen(pod("p", "1", "n", ending, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }))
		}, start},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k := newClusterState()
			k.Seen(claimOf("n", full...))
			k.Seen(node("n"))
			tt.do(k)
			n := &k.Snapshot().Nodes[0]
			got := n.QuietSince
			if !disruption.IsEmpty(n) {
				got = time.Time{}
			}
			if !got.Equal(tt.want) {
				t.Errorf("the node is empty since %v, want %v", got, tt.want)
			}
		})
	}
}

func TestALeavingNodeIsShownAsSuch(t *testing.T) {
	k := newClusterState()
	leaving := node("n")
	leaving.DeletionTimestamp = &metav1.Time{Time: start}
	k.Seen(leaving)
	wanting(1)(k)
	k.Seen(pod("web-0", "1", "n", by("apps/v1", "StatefulSet")))
	s := k.Snapshot()
	if !s.Nodes[0].Deleting || len(s.Nodes[0].Pods) != 1 || !s.Nodes[0].Pods[0].Returns {
		t.Errorf("node = %+v, want it deleting with a pod that returns, so that the plan finds it a place", s.Nodes[0])
	}
}

// TestPodsThatComeUpAskForNoPlan: it would be two plans more for every pod; the
// next one shows them as they are.
func TestPodsThatComeUpAskForNoPlan(t *testing.T) {
	k := newClusterState()
	k.Seen(node("n"))
	k.Seen(pod("p", "1", "n"))
	asked := func() bool {
		select {
		case <-k.Changed():
			return true
		default:
			return false
		}
	}
	before := k.Snapshot()
	asked()
	k.Seen(pod("p", "1", "n", func(p *corev1.Pod) {
		p.Status.StartTime = &metav1.Time{Time: start}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
	}))
	if asked() {
		t.Error("a pod that starts asks for a plan")
	}
	after := k.Snapshot()
	if p := after.Nodes[0].Pods[0]; after.Revision == before.Revision || !p.Unready || !p.StartedAt.Equal(start) {
		t.Errorf("revision %d shows %+v, want a new one with the pod as it is", after.Revision, p)
	}
	k.Seen(pod("p", "2", "n"))
	if !asked() {
		t.Error("a pod that is larger asks for none")
	}
}

// TestOurOwnNotesAskForNoPlan: what loops write on claims of what is known
// already changes no snapshot; what another process saw of pods does.
func TestOurOwnNotesAskForNoPlan(t *testing.T) {
	tests := map[string]struct {
		note func(*karpv1.NodeClaim)
		same bool
	}{
		"the node may be consolidated": {func(c *karpv1.NodeClaim) { condition.SetTrue(c, karpv1.ClaimConsolidatable, start) }, true},
		"the pod event that we saw":    {func(c *karpv1.NodeClaim) { c.Status.LastPodEventTime = metav1.NewTime(start) }, true},
		"a later one":                  {func(c *karpv1.NodeClaim) { c.Status.LastPodEventTime = metav1.NewTime(start.Add(time.Second)) }, false},
		"the node has drifted":         {func(c *karpv1.NodeClaim) { condition.SetTrue(c, karpv1.ClaimDrifted, start) }, false},
		"an annotation":                {func(c *karpv1.NodeClaim) { c.Annotations = map[string]string{api.AnnotationWithdrawn: "x"} }, false},
		"it ends":                      {func(c *karpv1.NodeClaim) { c.DeletionTimestamp = &metav1.Time{Time: start} }, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k := newClusterState()
			k.Seen(node("n"))
			c := claimOf("n", karpv1.ClaimRegistered, karpv1.ClaimInitialized)
			c.Status.NodeName = "n"
			k.Seen(c)
			k.Seen(pod("p", "1", "n"))
			before := k.revision
			noted := c.DeepCopy()
			tt.note(noted)
			noted.ResourceVersion = "2"
			k.Seen(noted)
			if (k.revision == before) != tt.same {
				t.Errorf("the revision went from %d to %d, want it the same: %v", before, k.revision, tt.same)
			}
		})
	}
}

// TestKeptEqualsRebuilt: after any sequence of changes the snapshot kept by
// increments equals one built from the objects that are left.
func TestKeptEqualsRebuilt(t *testing.T) {
	for seed := range uint64(50) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			kept := newClusterState()
			pods, nodes, claims, daemons := map[string]*corev1.Pod{}, map[string]*corev1.Node{}, map[string]*karpv1.NodeClaim{}, map[string]*appsv1.DaemonSet{}
			for range 200 {
				name := fmt.Sprint("x", rng.IntN(8))
				switch rng.IntN(8) {
				case 0, 1, 2:
					where := ""
					if rng.IntN(2) == 0 {
						where = fmt.Sprint("x", rng.IntN(8))
					}
					pods[name] = pod(name, fmt.Sprint(1+rng.IntN(3)), where)
					kept.Listed(pods[name])
				case 3:
					delete(pods, name)
					kept.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
				case 4:
					nodes[name] = node(name)
					kept.Seen(nodes[name])
				case 5:
					delete(nodes, name)
					kept.Gone(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
				case 6:
					claims[name] = claimOf(name, karpv1.ClaimRegistered)
					kept.Seen(claims[name])
				case 7:
					daemons[name] = &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
					kept.Seen(daemons[name])
				}
			}
			rebuilt := newClusterState()
			for _, o := range daemons {
				rebuilt.Seen(o)
			}
			for _, o := range nodes {
				rebuilt.Seen(o)
			}
			for _, o := range claims {
				rebuilt.Seen(o)
			}
			for _, o := range pods {
				rebuilt.Listed(o)
			}
			got, want := kept.Snapshot(), rebuilt.Snapshot()
			got.Revision, want.Revision = 0, 0
			for i := range got.Nodes {
				got.Nodes[i].QuietSince, got.Nodes[i].ChangedAt = time.Time{}, time.Time{} // the moment of the last pod event is history, not state
			}
			for i := range want.Nodes {
				want.Nodes[i].QuietSince, want.Nodes[i].ChangedAt = time.Time{}, time.Time{}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("kept snapshot differs from the rebuilt one\n got: %+v\nwant: %+v", got, want)
			}
		})
	}
}

// A node changes when it opens to pods, and when one comes to it or goes.
func TestWhenANodeChanged(t *testing.T) {
	k := newClusterState()
	n := node("n")
	n.Labels[api.LabelRegistered] = "true"
	claim := claimOf("n", karpv1.ClaimRegistered)
	opened := start.Add(-time.Minute)
	condition.Get(claim, karpv1.ClaimRegistered).LastTransitionTime = metav1.NewTime(opened)
	at := func(want time.Time, when string) {
		t.Helper()
		if s := k.Snapshot(); len(s.Nodes) != 1 || !s.Nodes[0].ChangedAt.Equal(want) {
			t.Errorf("%s: %+v, want it changed at %s", when, s.Nodes, want)
		}
	}
	k.Seen(n)
	k.Seen(claimOf("n"))
	at(start, "its claim does not say so yet")
	k.Seen(claim)
	at(opened, "it has opened")
	k.Seen(pod("web-1", "1", "n"))
	at(start, "a pod came")
}

// A watch of pods may be ahead of those of nodes and claims: a pod on a node that is not seen to be open has its room on
// the instance on order, and no other pod is planned into it.
func TestPodsTakeRoomOnAInstanceBeforeItsNodeIsSeenOpen(t *testing.T) {
	k := newClusterState()
	claim, closed := claimOf("n"), node("n")
	claim.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3"), corev1.ResourcePods: resource.MustParse("10")}
	closed.Spec.Taints = []corev1.Taint{{Key: api.TaintUnregistered, Effect: corev1.TaintEffectNoExecute}}
	k.Seen(claim)
	k.Seen(closed)
	for pods := range int64(3) {
		if pods > 0 {
			k.Seen(pod(fmt.Sprint("web-", pods), "1", "n"))
		}
		s := k.Snapshot()
		if len(s.Instances) != 1 {
			t.Fatalf("machines are %+v", s.Instances)
		}
		if left := s.Instances[0].Allocatable; int64(left.CPU) != 3000-1000*pods {
			t.Errorf("with %d pods on its node the machine has %+v", pods, left)
		}
	}
}

// A node is opened to pods, with the labels that they ask for, just before its claim says
// that it has registered, and watches show the two in any order. With the pods that come
// between it is no instance on order any more, which would have room for others; and without
// those labels it is no node yet, which would have room for none.
func TestANodeThatIsOpenHasJoined(t *testing.T) {
	closed, open := node("n"), node("n")
	closed.Spec.Taints = []corev1.Taint{{Key: api.TaintUnregistered, Effect: corev1.TaintEffectNoExecute}}
	open.Labels[api.LabelRegistered] = "true"
	unlabelled := node("n") // a user took it off
	registered := claimOf("n", karpv1.ClaimRegistered)
	for name, tt := range map[string]struct {
		claim  *karpv1.NodeClaim
		node   *corev1.Node
		joined bool
	}{
		"neither":                          {claimOf("n"), closed, false},
		"the node is seen first":           {claimOf("n"), open, true},
		"the claim is seen first":          {registered, closed, false},
		"both":                             {registered, open, true},
		"the node says nothing, but is so": {registered, unlabelled, true},
	} {
		t.Run(name, func(t *testing.T) {
			k := newClusterState()
			k.Seen(claimOf("n"))
			k.Seen(closed)
			k.Snapshot()
			k.Seen(tt.claim)
			k.Seen(tt.node)
			k.Seen(pod("web", "1", "n"))
			s := k.Snapshot()
			if nodes, instances := len(s.Nodes), len(s.Instances); nodes+instances != 1 || (nodes == 1) != tt.joined {
				t.Fatalf("nodes are %+v and machines %+v; want a node %v", s.Nodes, s.Instances, tt.joined)
			}
			if tt.joined && (s.Nodes[0].Claim != "claim-n" || len(s.Nodes[0].Pods) != 1) {
				t.Errorf("the node is %+v; want it of its claim, with its pod", s.Nodes[0])
			}
		})
	}
}
