package snapshot

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/store"
)

// A pod that was evicted counts where it was until its owner has made another, as long
// as that one wants more than it has.
func TestAnEvictedPodCountsUntilAnotherHasCome(t *testing.T) {
	yes := true
	ofWeb := func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: &yes}}
	}
	ends := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} }
	wants := func(k *ClusterState, pods int32) {
		k.Seen(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: appsv1.ReplicaSetSpec{
			Replicas: &pods, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}})
	}
	for what, tt := range map[string]struct {
		then     func(*ClusterState)
		counted  bool
		expected []string
	}{
		"it ends": {func(*ClusterState) {}, true, nil},
		"it has ended": {func(k *ClusterState) {
			k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1"}})
		}, true, nil},
		"another has come":        {func(k *ClusterState) { k.Seen(pod("web-3", "1", "", ofWeb)) }, false, nil},
		"its owner wants no more": {func(k *ClusterState) { wants(k, 1) }, false, nil},
		"its owner is gone": {func(k *ClusterState) {
			k.Gone(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}})
		}, false, nil},
		"its node is gone as it is": {func(k *ClusterState) {
			k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1"}})
			k.Gone(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "closed"}})
		}, false, []string{"web-1"}},
		"another has come then": {func(k *ClusterState) {
			k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1"}})
			k.Gone(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "closed"}})
			k.Seen(pod("web-3", "1", "", ofWeb))
		}, false, nil},
		"one that was there ends":    {func(k *ClusterState) { k.Seen(pod("web-2", "1", "open", ofWeb, ends)) }, true, nil},
		"more are wanted than ended": {func(k *ClusterState) { wants(k, 5) }, true, nil},
	} {
		t.Run(what, func(t *testing.T) {
			k := newClusterState()
			wants(k, 2)
			leaving, closed := claimOf("closed", karpv1.ClaimRegistered, karpv1.ClaimInitialized), node("closed")
			leaving.DeletionTimestamp = &metav1.Time{Time: start}
			k.Seen(leaving)
			closed.Spec.Taints = []corev1.Taint{{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule}}
			k.Seen(closed)
			k.Seen(node("open"))
			k.Listed(pod("web-1", "1", "closed", ofWeb))
			k.Listed(pod("web-2", "1", "open", ofWeb))
			k.Snapshot()

			k.Seen(pod("web-1", "1", "closed", ofWeb, ends))
			tt.then(k)
			counted := 0
			now := k.Snapshot()
			var expected []string
			for _, p := range now.Expected {
				expected = append(expected, p.Name)
			}
			if !slices.Equal(expected, tt.expected) {
				t.Errorf("expected is %v, want %v", expected, tt.expected)
			}
			for _, n := range now.Nodes {
				for _, p := range n.Pods {
					if p.Ending && p.Returns && n.Name == "closed" && p.Name == "web-1" && p.Shape != nil {
						counted++
					} else if p.Ending && p.Returns {
						t.Errorf("pod %s on node %s is counted, too", p.Name, n.Name)
					}
				}
			}
			if want := map[bool]int{true: 1}[tt.counted]; counted != want {
				t.Errorf("web-1 is counted %d times on its node, want %d", counted, want)
			}
		})
	}
}

// An instance is taken away with a pod on it, and the garbage collector ends the pod some
// time after its node: another is expected, and has the place that was launched for it.
func TestAPodThatWentWithItsNodeIsExpected(t *testing.T) {
	yes := true
	ofWeb := func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: &yes}}
	}
	wants := func(k *ClusterState, pods int32) {
		k.Seen(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: appsv1.ReplicaSetSpec{
			Replicas: &pods, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}})
	}
	tests := map[string]struct {
		goes     bool // the node was to go
		gone     func(k *ClusterState)
		expected int
	}{
		"its node is gone, and so is the pod": {true, func(k *ClusterState) {
			k.Gone(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
			k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1"}})
		}, 1},
		"its node is gone, the pod not yet":    {true, func(k *ClusterState) { k.Gone(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}) }, 1},
		"and its owner wants it no more":       {true, func(k *ClusterState) { k.Gone(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}); wants(k, 0) }, 0},
		"no node is there, and it was to stay": {false, func(k *ClusterState) { k.Gone(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}) }, 0},
		"its node is back, and lets nobody go": {true, func(k *ClusterState) {
			k.Gone(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
			k.Seen(node("n"))
			k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1"}})
		}, 0},
		"its node is gone, and was to stay": {false, func(k *ClusterState) {
			k.Gone(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
			k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1"}})
		}, 0},
		"the pod was deleted, and its node not": {false, func(k *ClusterState) {
			k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1"}})
		}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k := newClusterState()
			wants(k, 1)
			n := node("n")
			if tt.goes {
				n.Spec.Taints = []corev1.Taint{{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule}}
			}
			k.Seen(n)
			k.Listed(pod("web-1", "1", "n", ofWeb))
			k.Snapshot()
			tt.gone(k)
			if s := k.Snapshot(); len(s.Expected) != tt.expected {
				t.Errorf("expected are %+v, want %d", s.Expected, tt.expected)
			}
		})
	}
}

// A process that begins when a node has gone and its pod is not collected yet expects another, as the one before it did.
func TestAPodWhoseNodeWentBeforeTheStartIsExpected(t *testing.T) {
	yes, one := true, int32(1)
	ofWeb := func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: &yes}}
	}
	for name, tt := range map[string]struct {
		there    bool // the node is
		expected int
	}{"its node has gone": {false, 1}, "its node is there": {true, 0}} {
		t.Run(name, func(t *testing.T) {
			k := newClusterState()
			k.Seen(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: appsv1.ReplicaSetSpec{
				Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}})
			k.Listed(pod("web-1", "1", "n", ofWeb))
			if tt.there {
				k.Seen(node("n"))
			}
			s := runtime.NewScheme()
			_ = clientgoscheme.AddToScheme(s)
			_ = karpv1.AddToScheme(s)
			if err := k.CatchUp(t.Context(), store.New(s, time.Now).Connect(nil), nil); err != nil {
				t.Fatal(err)
			}
			if now := k.Snapshot(); len(now.Expected) != tt.expected {
				t.Errorf("expected are %+v, want %d", now.Expected, tt.expected)
			}
		})
	}
}

// Of pods that went with their nodes no more are expected than their owner wants, also when
// it comes to want fewer; which of them is settled by the names of nodes and pods.
func TestNoMorePodsAreExpectedThanTheirOwnerWants(t *testing.T) {
	yes := true
	wants := func(k *ClusterState, pods int32) {
		k.Seen(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: appsv1.ReplicaSetSpec{
			Replicas: &pods, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}})
	}
	k := newClusterState()
	wants(k, 3)
	for _, at := range []struct{ pod, node string }{{"web-3", "a"}, {"web-1", "b"}, {"web-2", "a"}} {
		n := node(at.node)
		n.Spec.Taints = []corev1.Taint{{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule}}
		k.Seen(n)
		k.Listed(pod(at.pod, "1", at.node, func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: &yes}}
		}))
	}
	k.Snapshot()
	k.Gone(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	k.Gone(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}})
	for _, tt := range []struct {
		wanted   int32
		expected []string
	}{{3, []string{"web-1", "web-2", "web-3"}}, {2, []string{"web-1", "web-3"}}, {1, []string{"web-1"}}, {0, nil}} {
		was := k.Snapshot().Revision
		wants(k, tt.wanted)
		var expected []string
		s := k.Snapshot()
		for _, p := range s.Expected {
			expected = append(expected, p.Name)
		}
		slices.Sort(expected)
		if !slices.Equal(expected, tt.expected) {
			t.Errorf("of three, where %d are wanted, %q are expected; want %q", tt.wanted, expected, tt.expected)
		}
		if again := s.Revision != was; again != (tt.wanted != 3) {
			t.Errorf("where %d are wanted, it is looked at again: %v", tt.wanted, again)
		}
	}
}

// What comes in place of an evicted pod waits for a node before a scheduler has looked
// at it; other pods do not.
func TestWhatComesInPlaceOfAnEvictedPodWaitsAtOnce(t *testing.T) {
	yes := true
	ofWeb := func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: &yes}}
	}
	unjudged := func(p *corev1.Pod) { p.Status.Conditions = nil }
	k := newClusterState()
	closed := node("closed")
	closed.Spec.Taints = []corev1.Taint{{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule}}
	k.Seen(closed)
	k.Listed(pod("web-1", "1", "closed", ofWeb))
	k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1"}})

	k.Seen(pod("web-2", "1", "", ofWeb, unjudged))
	k.Seen(pod("web-3", "1", "", ofWeb, unjudged)) // the workload grows
	var waiting []string
	for _, p := range k.Snapshot().Waiting {
		waiting = append(waiting, p.Name)
	}
	if want := []string{"web-2"}; !slices.Equal(waiting, want) {
		t.Errorf("%v wait, want %v", waiting, want)
	}
}

// A node is deleted, and a pod of it evicted the moment that it is tainted: the watch of pods shows
// that before the watch of nodes shows the taint, and the pod counts all the same.
func TestAPodEvictedFromADeletedNodeCountsThoughNoTaintIsShownYet(t *testing.T) {
	yes, one := true, int32(1)
	ofWeb := func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: &yes}}
	}
	deleted, tainted := node("n"), node("n")
	deleted.DeletionTimestamp, tainted.DeletionTimestamp = &metav1.Time{Time: start}, &metav1.Time{Time: start}
	tainted.Spec.Taints = []corev1.Taint{{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule}}
	k := newClusterState()
	k.Seen(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: appsv1.ReplicaSetSpec{
		Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}})
	k.Seen(deleted)
	k.Listed(pod("web-1", "1", "n", ofWeb))
	k.Seen(pod("web-1", "1", "n", ofWeb, func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} }))
	for _, shown := range []*corev1.Node{deleted, tainted} {
		k.Seen(shown)
		if pods := k.Snapshot().Nodes[0].Pods; len(pods) != 1 || !pods[0].Returns {
			t.Errorf("with taints %v the node has %+v, want web-1, which returns", shown.Spec.Taints, pods)
		}
	}
}
