package handback

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/fingerprint"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/store"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func cluster(t *testing.T, objects ...client.Object) (Handback, *store.Server) {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme, awsv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	server := store.New(s, func() time.Time { return noon })
	hand := server.Connect(nil)
	for _, o := range objects {
		if err := hand.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return Handback{Store: hand, Namespace: "kube-system"}, server
}

func claim(name string, change ...func(*karpv1.NodeClaim)) *karpv1.NodeClaim {
	c := &karpv1.NodeClaim{Spec: store.ClaimSpec(), ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{api.LabelNodePool: "web"}, Finalizers: []string{api.FinalizerTermination},
		Annotations: map[string]string{api.AnnotationNodePoolHash: "1", api.AnnotationNodePoolHashVersion: fingerprint.Version, api.AnnotationDecision: "{}", api.AnnotationLaunchAttempt: "b/1"},
	}}
	for _, kind := range []string{karpv1.ClaimLaunched, karpv1.ClaimRegistered, karpv1.ClaimInitialized} {
		condition.SetTrue(c, kind, noon)
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func noted(key, value string) func(*karpv1.NodeClaim) {
	return func(c *karpv1.NodeClaim) { c.Annotations[key] = value }
}

func TestWhatHasToBeOver(t *testing.T) {
	tests := map[string]struct {
		object client.Object
		waits  string
		never  bool
	}{
		"a node that rests":                         {claim("c"), "", false},
		"a machine that is not bought yet":          {claim("c", func(c *karpv1.NodeClaim) { condition.Clear(c, karpv1.ClaimLaunched) }), "is not launched yet", false},
		"a node that has not joined":                {claim("c", func(c *karpv1.NodeClaim) { condition.Clear(c, karpv1.ClaimRegistered) }), "is not registered yet", false},
		"a node that is about to go":                {claim("c", func(c *karpv1.NodeClaim) { condition.SetTrue(c, karpv1.ClaimDisruptionReason, noon) }), "is about to go", false},
		"a replacement that waits for its turn":     {claim("c", noted(api.AnnotationStage, "waiting/2")), "waits for nodes", false},
		"one whose turn has been":                   {claim("c", noted(api.AnnotationStage, "done")), "", false},
		"a machine taken over that has no tags yet": {claim("c", noted(api.AnnotationAdopt, "aws:///a/i-1")), "without its tags", false},
		"a node of a Provisioner": {claim("c", func(c *karpv1.NodeClaim) {
			c.Labels = map[string]string{api.LabelProvisioner: "web"}
			c.Spec.NodeClassRef.Kind = "AWSNodeTemplate"
		}), "move it to a NodePool first", true},
		"a node of another provider": {claim("c", func(c *karpv1.NodeClaim) {
			c.Spec.NodeClassRef.Group = "karpenter.azure.com"
			c.Status.Conditions = nil
		}), "", false},
		"a workload with a replica more": {&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: api.ConfigMapSurges},
			Data: map[string]string{"pod": `{"kind": "Deployment", "namespace": "default", "name": "d"}`}}, "Deployment default/d", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h, _ := cluster(t, tt.object)
			s, err := h.Look(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := s.Waits
			if tt.never {
				got = s.Refuses
			}
			if all := len(s.Waits) + len(s.Refuses); tt.waits == "" && all != 0 || tt.waits != "" && (all != 1 || len(got) != 1 || !strings.Contains(got[0], tt.waits)) {
				t.Errorf("waits %q, refuses %q; want %q", s.Waits, s.Refuses, tt.waits)
			}
		})
	}
}

// objects are those of a cluster that Daemok has run.
func objects() []client.Object {
	pool := &karpv1.NodePool{Spec: store.PoolSpec(), ObjectMeta: metav1.ObjectMeta{
		Name: "web", Finalizers: []string{api.FinalizerPoolTermination}, Annotations: map[string]string{api.AnnotationInstanceCost: "0.01", api.AnnotationRoll: "{}"},
	}}
	condition.Set(pool, karpv1.NodePoolDisruptionBlocked, "True", karpv1.ReasonAtLimit, "x", noon)
	condition.SetTrue(pool, karpv1.NodePoolValidationSucceeded, noon)
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default", Annotations: map[string]string{api.AnnotationPodDensity: api.PrefixDelegation, api.AnnotationPlacementGroup: "{}"}}}
	tags := map[string]string{"a": "b"}
	class.Spec.Role, class.Spec.AMISelectorTerms = "nodes", []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}
	class.Spec.SubnetSelectorTerms, class.Spec.SecurityGroupSelectorTerms = []awsv1.SubnetSelectorTerm{{Tags: tags}}, []awsv1.SecurityGroupSelectorTerm{{Tags: tags}}
	condition.Set(class, awsv1.ClassPodDensity, "True", "x", "x", noon)
	condition.SetTrue(class, awsv1.ClassSubnetsReady, noon)
	inNamespace := func(name string, data map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name}, Data: data}
	}
	return []client.Object{
		pool, class, claim("c", func(c *karpv1.NodeClaim) {
			condition.Set(c, karpv1.ClaimDrifted, "True", karpv1.ReasonDaemonSetUnplaced, "x", noon)
		}), claim("drifted", func(c *karpv1.NodeClaim) {
			condition.Set(c, karpv1.ClaimDrifted, "True", karpv1.ReasonAMIDrift, "x", noon)
		}),
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: map[string]string{api.AnnotationDecision: "{}", "node.alpha.kubernetes.io/ttl": "0"}},
			Spec: corev1.NodeSpec{Taints: []corev1.Taint{
				{Key: api.TaintEmptying, Effect: corev1.TaintEffectPreferNoSchedule}, {Key: api.TaintEmptying, Value: "users", Effect: corev1.TaintEffectNoSchedule},
			}}},
		pod("cheap", map[string]string{api.AnnotationPodDeletionCost: "-9", api.AnnotationDeletionCost: "-9"}),
		pod("users", map[string]string{api.AnnotationPodDeletionCost: "5", api.AnnotationDeletionCost: "-9"}),
		pod("other", map[string]string{api.AnnotationPodDeletionCost: "-5"}),
		inNamespace(api.ConfigMapRecord+"-0", nil), inNamespace(api.ConfigMapMemory, nil), inNamespace(api.ConfigMapSurges, nil), inNamespace("other", nil),
		inNamespace(api.ConfigMapFreeze, map[string]string{api.FreezeReason: frozenFor}),
	}
}

func pod(name string, annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: annotations}}
}

// left lists what the cluster still has of Daemok's.
func (h Handback) left(t *testing.T) (out []string) {
	t.Helper()
	for _, list := range []client.ObjectList{&karpv1.NodeClaimList{}, &corev1.NodeList{}, &karpv1.NodePoolList{}, &awsv1.EC2NodeClassList{}, &corev1.PodList{}, &corev1.ConfigMapList{}} {
		if err := h.Store.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		switch l := list.(type) {
		case *karpv1.NodeClaimList:
			for _, c := range l.Items {
				out = append(out, marksOf(&c, c.Status.Conditions)...)
			}
		case *corev1.NodeList:
			for _, n := range l.Items {
				out = append(out, marksOf(&n, nil)...)
				for _, taint := range n.Spec.Taints {
					out = append(out, n.Name+" "+taint.ToString())
				}
			}
		case *corev1.PodList:
			for _, p := range l.Items {
				out = append(out, marksOf(&p, nil)...)
				if cost, is := p.Annotations[api.AnnotationPodDeletionCost]; is {
					out = append(out, p.Name+" costs "+cost)
				}
			}
		case *karpv1.NodePoolList:
			for _, p := range l.Items {
				out = append(out, marksOf(&p, p.Status.Conditions)...)
			}
		case *awsv1.EC2NodeClassList:
			for _, c := range l.Items {
				out = append(out, marksOf(&c, c.Status.Conditions)...)
			}
		case *corev1.ConfigMapList:
			for _, c := range l.Items {
				out = append(out, c.Name)
			}
		}
	}
	slices.Sort(out)
	return out
}

func marksOf(o client.Object, conditions []metav1.Condition) (out []string) {
	for key := range o.GetAnnotations() {
		if isOurs(key) {
			out = append(out, o.GetName()+" "+key)
		}
	}
	for _, f := range o.GetFinalizers() {
		out = append(out, o.GetName()+" "+f)
	}
	for _, c := range conditions {
		out = append(out, o.GetName()+" "+c.Type)
	}
	return out
}

// What is Daemok's alone goes; what is Karpenter's stays, and so does what users wrote.
func TestWhatIsDaemoksGoes(t *testing.T) {
	want := []string{
		"c Initialized", "c Launched", "c Registered", "c karpenter.sh/termination",
		"default SubnetsReady", "default daemok.sh/pod-density",
		"drifted Drifted", "drifted Initialized", "drifted Launched", "drifted Registered", "drifted karpenter.sh/termination",
		"n daemok.sh/emptying=users:NoSchedule", "other", "other costs -5", "users costs 5", "web ValidationSucceeded", "web daemok.sh/machine-cost",
	}
	h, _ := cluster(t, objects()...)
	done, err := h.Clean(t.Context())
	if err != nil || done != (Cleaned{Claims: 2, Nodes: 1, Pods: 2, Pools: 1, Classes: 1, ConfigMaps: 4}) {
		t.Errorf("Clean = %v, %v", done, err)
	}
	if got := h.left(t); !slices.Equal(got, want) {
		t.Errorf("left: %q\nwant: %q", got, want)
	}
	c := &karpv1.NodeClaim{}
	if err := h.Store.Get(t.Context(), client.ObjectKey{Name: "c"}, c); err != nil || c.Annotations[api.AnnotationNodePoolHashVersion] != fingerprint.Version {
		t.Errorf("claim c has the annotations %v (%v), want the fingerprints kept, whose version Karpenter does not know", c.Annotations, err)
	}
	if again, err := h.Clean(t.Context()); err != nil || again != (Cleaned{}) {
		t.Errorf("Clean again = %v, %v; want nothing done", again, err)
	}
}

// Stopped at any of its writes it goes on from there when it is done again, and a freeze
// of its own goes with the last.
func TestCleaningIsDoneAgainWhereItWasStopped(t *testing.T) {
	h, _ := cluster(t, objects()...)
	if _, err := h.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := h.left(t)
	for n := 1; ; n++ {
		h, server := cluster(t, objects()...)
		writes := 0
		stopped := Handback{Namespace: h.Namespace, Store: server.Connect(func(c store.Call) (before, after error) {
			if c.Writes() {
				if writes++; writes >= n {
					return errors.New("the connection is gone"), nil
				}
			}
			return nil, nil
		})}
		_, err := stopped.Clean(t.Context())
		if err == nil {
			if n < 8 {
				t.Errorf("it took %d writes only", n-1)
			}
			return
		}
		if !slices.Contains(h.left(t), api.ConfigMapFreeze) {
			t.Errorf("stopped at write %d the freeze is gone", n)
		}
		if _, err := h.Clean(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := h.left(t); !slices.Equal(got, want) {
			t.Errorf("stopped at write %d and done again: left %q, want %q", n, got, want)
		}
	}
}

// A freeze by another user is neither written over nor taken away.
func TestAFreezeOfAnotherUserStays(t *testing.T) {
	other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: api.ConfigMapFreeze}, Data: map[string]string{api.FreezeReason: "audit"}}
	h, _ := cluster(t, other)
	if err := h.Freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := &corev1.ConfigMap{}
	if err := h.Store.Get(t.Context(), client.ObjectKeyFromObject(other), now); err != nil || now.Data[api.FreezeReason] != "audit" {
		t.Errorf("the freeze is %v, %v", now.Data, err)
	}
}

// What a controller writes while it is cleaned up after is not deleted unseen.
func TestNotesThatAreWrittenMeanwhileStay(t *testing.T) {
	h, server := cluster(t, objects()...)
	memory := client.ObjectKey{Namespace: h.Namespace, Name: api.ConfigMapMemory}
	written := false
	beside := Handback{Namespace: h.Namespace, Store: server.Connect(func(c store.Call) (before, after error) {
		if c.Verb == store.Delete && c.Name == memory.Name && !written {
			written = true
			var now corev1.ConfigMap
			if err := h.Store.Get(t.Context(), memory, &now); err != nil {
				return err, nil
			}
			now.Data = map[string]string{"more": "is known"}
			return h.Store.Update(t.Context(), &now), nil
		}
		return nil, nil
	})}
	if _, err := beside.Clean(t.Context()); err == nil || !strings.Contains(err.Error(), memory.Name+": it was changed meanwhile") {
		t.Errorf("Clean = %v, want that %s was changed", err, memory.Name)
	}
	if !slices.Contains(h.left(t), api.ConfigMapFreeze) || !slices.Contains(h.left(t), memory.Name) {
		t.Errorf("left: %q, want the freeze and %s", h.left(t), memory.Name)
	}
	if _, err := beside.Clean(t.Context()); err != nil || slices.Contains(h.left(t), memory.Name) {
		t.Errorf("again: %v, left: %q", err, h.left(t))
	}
}
