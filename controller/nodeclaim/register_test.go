package nodeclaim

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/store"
)

func taint(key string, effect corev1.TaintEffect) corev1.Taint {
	return corev1.Taint{Key: key, Effect: effect}
}

var (
	team    = taint("team", corev1.TaintEffectNoSchedule)
	startup = taint("example.com/starting", corev1.TaintEffectNoExecute)
	fresh   = taint(api.TaintUnregistered, corev1.TaintEffectNoExecute)
)

func TestRegistrationSyncsTheNode(t *testing.T) {
	tests := map[string]struct {
		labels map[string]string // of the node as its kubelet made it
		taints []corev1.Taint
		want   []corev1.Taint
	}{
		"SC-232 taints are added where the kubelet was not told them": {nil, []corev1.Taint{fresh},
			[]corev1.Taint{team, startup}},
		"SC-232 a startup taint that somebody removed does not come back": {map[string]string{api.LabelDoNotSyncTaints: "true"}, []corev1.Taint{team, fresh}, []corev1.Taint{team}},
		"SC-232 any other value of the label means that taints are added": {map[string]string{api.LabelDoNotSyncTaints: "false"}, []corev1.Taint{fresh}, []corev1.Taint{team, startup}},
		"a taint that is there already is not doubled": {nil, []corev1.Taint{team, fresh},
			[]corev1.Taint{team, startup}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
				Name: "c", UID: "uid", Labels: map[string]string{api.LabelNodePool: "default"},
				Annotations: map[string]string{"example.com/note": "kept", api.AnnotationLaunchAttempt: "b/1"},
			}}
			c.Spec.Taints, c.Spec.StartupTaints = []corev1.Taint{team}, []corev1.Taint{startup}
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: tt.labels},
				Spec: corev1.NodeSpec{Taints: tt.taints}}
			for range 2 { // a second time changes nothing
				syncNode(c, node)
				openNode(node)
			}
			if !slices.Equal(node.Spec.Taints, tt.want) {
				t.Errorf("taints = %v, want %v", node.Spec.Taints, tt.want)
			}
			if node.Labels[api.LabelNodePool] != "default" || node.Labels[api.LabelRegistered] != "true" {
				t.Errorf("labels = %v", node.Labels)
			}
			if node.Annotations["example.com/note"] != "kept" || node.Annotations[api.AnnotationLaunchAttempt] != "" {
				t.Errorf("annotations = %v, want the user's and not the claim's own notes", node.Annotations)
			}
			if !slices.Contains(node.Finalizers, api.FinalizerTermination) || len(node.OwnerReferences) != 1 {
				t.Errorf("finalizers %v and owners %v; want ours, once", node.Finalizers, node.OwnerReferences)
			}
		})
	}
}

func TestNotInitialised(t *testing.T) {
	gpu := corev1.ResourceName("nvidia.com/gpu")
	ready := func(change ...func(*corev1.Node)) *corev1.Node {
		n := &corev1.Node{Status: corev1.NodeStatus{
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			Allocatable: corev1.ResourceList{gpu: resource.MustParse("1")},
		}}
		for _, c := range change {
			c(n)
		}
		return n
	}
	tainted := func(taints ...corev1.Taint) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Spec.Taints = taints }
	}
	tests := map[string]struct {
		node   *corev1.Node
		reason string
	}{
		"a ready node with everything it was bought for": {ready(), ""},
		"SC-235 a node whose kubelet is not ready":       {ready(func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }), karpv1.ReasonNodeNotReady},
		"SC-235 a startup taint that is still there":     {ready(tainted(startup)), karpv1.ReasonStartupTaintsExist},
		"SC-235 the taint of a node that is not ready": {ready(tainted(taint(corev1.TaintNodeNotReady,
			corev1.TaintEffectNoSchedule))), karpv1.ReasonKnownEphemeralTaintsExist},
		"SC-235 a readiness gate that is still shut": {ready(tainted(taint("readiness.k8s.io/network",
			corev1.TaintEffectNoSchedule))), karpv1.ReasonKnownEphemeralTaintsExist},
		"SC-235 a GPU that its plugin has not published": {ready(func(n *corev1.Node) { n.Status.Allocatable = nil }),
			karpv1.ReasonResourceNotRegistered},
		"SC-235 a GPU of which there are none":     {ready(func(n *corev1.Node) { n.Status.Allocatable[gpu] = resource.MustParse("0") }), karpv1.ReasonResourceNotRegistered},
		"a taint of the pool's own is no obstacle": {ready(tainted(team)), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := &karpv1.NodeClaim{}
			c.Spec.StartupTaints = []corev1.Taint{startup}
			c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"),
				gpu: resource.MustParse("1")}
			reason, message := (initialization{}).lacks(c, tt.node)
			if reason != tt.reason || (message == "") != (reason == "") {
				t.Errorf("lacks = %q, %q; want %q", reason, message, tt.reason)
			}
		})
	}
}

// A node that is made again starts again: it counts as ready for what it was launched for once it is.
func TestANodeThatIsMadeAgainStartsAgain(t *testing.T) {
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"},
		Spec: karpv1.NodeClaimSpec{StartupTaints: []corev1.Taint{startup}}}
	condition.SetTrue(c, karpv1.ClaimInitialized, noon)
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	store := store.New(s, func() time.Time { return noon }).Connect(nil)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"},
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{startup}},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady,
			Status: corev1.ConditionTrue}}}}
	if err := store.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	r := &Reconciler{Store: store, Now: func() time.Time { return noon }}
	for _, tt := range []struct {
		taints  []corev1.Taint
		started bool
	}{{[]corev1.Taint{startup}, false}, {nil, true}} {
		node.Spec.Taints = tt.taints
		if err := store.Update(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		starts := initialization{r.Store, r.Now, r.Autoscaler, nil}
		if err := starts.initialise(t.Context(), c, node.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		if err := store.Get(t.Context(), client.ObjectKeyFromObject(node), node); err != nil {
			t.Fatal(err)
		}
		if started := node.Labels[api.LabelInitialized] == "true"; started != tt.started || !condition.IsTrue(c,
			karpv1.ClaimInitialized) {
			t.Errorf("with taints %v its labels are %v; want it initialised: %v", tt.taints, node.Labels, tt.started)
		}
	}
}

// SC-245: two nodes that say they are the same instance are neither of them taken
// for its node.
func TestTwoNodesOfOneInstance(t *testing.T) {
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	r := &Reconciler{Now: func() time.Time { return noon }}
	if _, err := r.registration().register(t.Context(), c, make([]corev1.Node, 2), ""); err != nil {
		t.Fatal(err)
	}
	if is := condition.Get(c,
		karpv1.ClaimRegistered); is.Status != metav1.ConditionFalse || is.Reason != karpv1.ReasonMultipleNodesFound || c.Status.NodeName != "" {
		t.Errorf("condition %+v, node %q", is, c.Status.NodeName)
	}
}

// A Node object that a user deleted by force comes back as its kubelet makes it, and takes
// pods again. One that a watch shows late, as it was before it registered, is let alone.
func TestANodeThatIsMadeAgainTakesPodsAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		made   time.Duration // after the claim has registered
		taints []corev1.Taint
		want   []corev1.Taint
		ours   bool // it has the labels of its claim
	}{
		"made again": {time.Minute, []corev1.Taint{fresh, team}, []corev1.Taint{team, startup},
			true},
		"made again by other user data": {time.Minute, []corev1.Taint{team}, []corev1.Taint{team, startup}, true},
		"as it was before it joined": {-time.Minute, []corev1.Taint{fresh, team}, []corev1.Taint{fresh, team},
			false},
		"somebody took its labels away": {-time.Minute, []corev1.Taint{team}, []corev1.Taint{team}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "uid",
				Labels: map[string]string{api.LabelNodePool: "default"}},
				Spec: karpv1.NodeClaimSpec{StartupTaints: []corev1.Taint{startup}}}
			condition.SetTrue(c, karpv1.ClaimRegistered, noon)
			s := runtime.NewScheme()
			if err := corev1.AddToScheme(s); err != nil {
				t.Fatal(err)
			}
			now := noon.Add(tt.made)
			store := store.New(s, func() time.Time { return now }).Connect(nil)
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{Taints: tt.taints}}
			if err := store.Create(t.Context(), node); err != nil {
				t.Fatal(err)
			}
			r := &Reconciler{Store: store, Now: func() time.Time { return now }}
			if _, err := r.registration().register(t.Context(), c, []corev1.Node{*node},
				"what it waited for is over"); err != nil {
				t.Fatal(err)
			}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(node), node); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(node.Spec.Taints, tt.want) {
				t.Errorf("taints %v, want %v", node.Spec.Taints, tt.want)
			}
			if ours := node.Labels[api.LabelNodePool] == "default"; ours != tt.ours {
				t.Errorf("labels %v; want those of its claim: %v", node.Labels, tt.ours)
			}
			if drains := slices.Contains(node.Finalizers, api.FinalizerTermination); drains != tt.ours {
				t.Errorf("finalizers %v; want it drained before it goes: %v", node.Finalizers, tt.ours)
			}
		})
	}
}

// drivers publish devices of nodes: true where they have.
type drivers map[string]bool

func (d drivers) Serves(_, resource string) bool { return d[resource] }

func (d drivers) Unpublished(_ string, of []string) (out []string) {
	for _, driver := range of {
		if !d[driver] {
			out = append(out, driver)
		}
	}
	return out
}

// A node counts as initialized once DRA drivers have published what its pods request: by ResourceClaims, or as an
// extended resource that no device plugin registers.
func TestANodeIsInitializedOnceDriversPublishItsDevices(t *testing.T) {
	const gpu = corev1.ResourceName("nvidia.com/gpu")
	node := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady,
		Status: corev1.ConditionTrue}}}}
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		api.AnnotationRequestedDRADrivers: "gpu.example.com, nic.example.com"}}}
	c.Spec.Resources.Requests = corev1.ResourceList{gpu: resource.MustParse("1")}
	for _, tt := range []struct {
		published drivers
		want      string
	}{
		{drivers{}, karpv1.ReasonResourceNotRegistered},
		{drivers{string(gpu): true, "gpu.example.com": true}, karpv1.ReasonDRAPoolsNotPublished},
		{drivers{string(gpu): true, "gpu.example.com": true, "nic.example.com": true}, ""},
	} {
		if reason, message := (initialization{devices: tt.published}).lacks(c, node); reason != tt.want {
			t.Errorf("with %v published it lacks %q (%s), want %q", tt.published, reason, message, tt.want)
		}
		condition.SetUnknown(c, karpv1.ClaimInitialized, tt.want, "", time.Time{})
		if polls := (initialization{devices: tt.published}).awaitsDevices(c); polls != (tt.want != "") {
			t.Errorf("it is looked again after %q: %v", tt.want, polls)
		}
		if (initialization{}).awaitsDevices(c) {
			t.Errorf("it is looked again after %q, where devices are not planned for", tt.want)
		}
	}
}
