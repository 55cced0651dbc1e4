package nodepool

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// listener keeps the reasons of events.
type listener struct{ reasons []string }

func (l *listener) Publish(e observe.Event) { l.reasons = append(l.reasons, e.Reason) }

// generation reads and writes NodePools of the first version.
func generation() Generation {
	return Generation{
		Generation: translate.NodePools(),
		Validate:   func(o Object) []validate.Finding { return validate.NodePool(o.(*karpv1.NodePool)) },
		Hash:       func(Object) (string, string) { return "hash", "v" },
		SetStatus: func(o Object, s Status) {
			p := o.(*karpv1.NodePool)
			p.Status.Resources, p.Status.Nodes, p.Status.NodeClassObservedGeneration = s.Resources, s.Nodes, s.ClassGeneration
		},
	}
}

// reconcile runs one check of a pool in a world of the given objects.
func reconcile(t *testing.T, p *karpv1.NodePool, class ClassState, offered Offered, others ...client.Object) (*karpv1.NodePool, *listener) {
	t.Helper()
	return reconcileBy(t, func(*Generation) {}, p, class, offered, others...)
}

// reconcileBy does so for pools that a generation reads otherwise.
func reconcileBy(t *testing.T, change func(*Generation), p *karpv1.NodePool, class ClassState, offered Offered, others ...client.Object) (*karpv1.NodePool, *listener) {
	t.Helper()
	g := generation()
	change(&g)
	return reconcileOf(t, func(r *Reconciler) { r.Generation = g }, p, class, offered, others...)
}

// unknown is the catalogue of a class about which nothing is known.
func unknown(karpv1.NodeClassReference) *cluster.Catalogue { return nil }

// reconcileOf does so with a reconciler that is set up otherwise.
func reconcileOf(t *testing.T, change func(*Reconciler), p *karpv1.NodePool, class ClassState, offered Offered, others ...client.Object) (*karpv1.NodePool, *listener) {
	t.Helper()
	s := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(s)
	_ = karpv1.AddToScheme(s)
	store := fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(&karpv1.NodePool{}).WithObjects(append(others, p)...).Build()
	events := &listener{}
	r := &Reconciler{
		Generation: generation(),
		Store:      store,
		ClassState: func(context.Context, karpv1.NodeClassReference) (ClassState, error) { return class, nil },
		Offered:    func(karpv1.NodeClassReference) Offered { return offered },
		Catalogue:  unknown,
		Health:     &Health{}, Events: events,
		Metrics: observe.NewMetrics(prometheus.NewRegistry(), "", "", "", ""),
		Now:     func() time.Time { return start },
	}
	change(r)
	for range 2 { // a second check must find nothing to change
		if _, err := r.Reconcile(t.Context(), p.Name); err != nil {
			t.Fatal(err)
		}
	}
	got := &karpv1.NodePool{}
	if err := store.Get(t.Context(), client.ObjectKeyFromObject(p), got); err != nil {
		t.Fatal(err)
	}
	return got, events
}

func pool(requirements ...karpv1.Requirement) *karpv1.NodePool {
	p := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	p.Spec.Template.Spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: "main"}
	p.Spec.Template.Spec.Requirements = requirements
	return p
}

var ready = ClassState{Found: true, Generation: 1, Status: metav1.ConditionTrue}

func TestReadiness(t *testing.T) {
	tests := map[string]struct {
		class  ClassState
		status metav1.ConditionStatus
		reason string
		says   string
	}{
		"SC-394 a class that does not exist":         {ClassState{}, metav1.ConditionFalse, karpv1.ReasonNodeClassNotFound, "EC2NodeClass main does not exist; create it or name another in spec.template.spec.nodeClassRef"},
		"SC-394 a class that is being deleted":       {ClassState{Found: true, Terminating: true}, metav1.ConditionFalse, karpv1.ReasonNodeClassTerminating, "being deleted"},
		"SC-394 a class that is not ready says why":  {ClassState{Found: true, Status: metav1.ConditionFalse, Reason: "SubnetsNotFound", Message: "no subnet"}, metav1.ConditionFalse, "SubnetsNotFound", "no subnet"},
		"SC-394 a class without a word about itself": {ClassState{Found: true, Status: metav1.ConditionUnknown}, metav1.ConditionFalse, karpv1.ReasonNodeClassReadinessUnknown, "does not say yet"},
		"a class that is ready":                      {ready, metav1.ConditionTrue, karpv1.NodePoolClassReady, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, events := reconcile(t, pool(), tt.class, nil)
			c := condition.Get(got, karpv1.NodePoolClassReady)
			if c.Status != tt.status || c.Reason != tt.reason || !strings.Contains(c.Message, tt.says) {
				t.Errorf("condition = %s %s %q; want %s %s saying %q", c.Status, c.Reason, c.Message, tt.status, tt.reason, tt.says)
			}
			if isReady := condition.IsTrue(got, karpv1.NodePoolReady); isReady != (tt.status == metav1.ConditionTrue) {
				t.Errorf("Ready = %v", isReady)
			}
			if warned := len(events.reasons) > 0; warned != (tt.status != metav1.ConditionTrue) {
				t.Errorf("events = %v", events.reasons)
			}
		})
	}
}

func TestAProvisionerNamesItsClassElsewhere(t *testing.T) {
	if got := nameOfClassIn(translate.PoolObject{ID: cluster.PoolID{Kind: translate.KindProvisioner, Name: "default"}}); got != "spec.providerRef" {
		t.Errorf("the class of a Provisioner is named in %s", got)
	}
}

func TestWhatItsClassDoesNotOffer(t *testing.T) {
	offered := Offered{
		api.LabelInstanceType: {"m5.large": true}, api.LabelZone: {"us-west-2a": true, "us-west-2b": true}, api.LabelRegion: {"us-west-2": true},
	}
	tests := map[string]struct {
		requirement karpv1.Requirement
		valid       bool
		reason      string // of the event; empty for none
		says        string
	}{
		"all types are offered":        {in(api.LabelInstanceType, "m5.large"), true, "", ""},
		"some types lacking":           {in(api.LabelInstanceType, "m5.large", "m99.metal"), true, "InstanceTypesNotOffered", `instance type not offered: "m99.metal"; EC2NodeClass/main offers 1 type in us-west-2; they are left out`},
		"all types lacking":            {in(api.LabelInstanceType, "m5.larg", "m98.large"), false, karpv1.ReasonNodePoolValidationFailed, `requirements[0]: instance type not offered: "m5.larg" (did you mean m5.large?), "m98.large"`},
		"a zone of another region":     {in(api.LabelZone, "eu-west-1a"), false, karpv1.ReasonNodePoolValidationFailed, `zone not offered: "eu-west-1a"; EC2NodeClass/main offers us-west-2a, us-west-2b; nothing else`},
		"one zone too many":            {in(api.LabelZone, "us-west-2a", "us-west-2c"), true, "NotOffered", `"us-west-2c" (did you mean us-west-2a?)`},
		"a zone under its old name":    {in("failure-domain.beta.kubernetes.io/zone", "eu-west-1a"), false, karpv1.ReasonNodePoolValidationFailed, "eu-west-1a"},
		"another region":               {in(api.LabelRegion, "eu-west-1"), false, karpv1.ReasonNodePoolValidationFailed, `region not offered: "eu-west-1"`},
		"a capacity type that is none": {in(api.LabelCapacityType, "spott"), false, karpv1.ReasonNodePoolValidationFailed, `"spott" is no value of karpenter.sh/capacity-type, did you mean spot? It can only be`},
		"labels that users make up":    {in("team", "a"), true, "", ""},
		"a label with bad letters":     {in("team", "a b"), false, karpv1.ReasonNodePoolValidationFailed, `"a b" is no value of a label`},
		"what is said by exclusion":    {karpv1.Requirement{Key: api.LabelZone, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"eu-west-1a"}}, true, "", ""},
		"a zone beside what is none":   {in(api.LabelZone, "us-west-2b"), true, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, events := reconcile(t, pool(tt.requirement), ready, offered)
			c := condition.Get(got, karpv1.NodePoolValidationSucceeded)
			if (c.Status == metav1.ConditionTrue) != tt.valid || !strings.Contains(c.Message, tt.says) {
				t.Errorf("condition = %s %q; want valid %v saying %q", c.Status, c.Message, tt.valid, tt.says)
			}
			if reasons := strings.Join(events.reasons, " "); reasons != tt.reason {
				t.Errorf("events %q, want %q, once", reasons, tt.reason)
			}
		})
	}
}

// A pool whose requirements leave no type of its class says so by itself, and names
// those that exclude each other.
func TestRequirementsThatLeaveNoType(t *testing.T) {
	instanceType := func(family, generation string) cluster.InstanceType {
		return cluster.InstanceType{Name: family + ".large", Labels: constraint.NewLabels(map[string]string{api.LabelFamily: family, api.LabelGeneration: generation, api.LabelArch: "amd64"}),
			Offerings: []cluster.Offering{{Zone: "us-west-2a", Option: cluster.OnDemand}}}
	}
	catalogue := &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{instanceType("c5", "5"), instanceType("m5", "5"), instanceType("m7i", "7")}}
	newer := karpv1.Requirement{Key: api.LabelGeneration, Operator: corev1.NodeSelectorOpGt, Values: []string{"6"}}
	tests := map[string]struct {
		requirements []karpv1.Requirement
		says         string // empty: the pool is right
	}{
		"two that exclude each other": {[]karpv1.Requirement{in(api.LabelArch, "amd64"), in(api.LabelFamily, "m5", "c5"), newer},
			"spec.template.spec.requirements: the pool's requirements leave no instance type: none has karpenter.k8s.aws/instance-family in c5, m5 and karpenter.k8s.aws/instance-generation gte 7 together" +
				"; EC2NodeClass/main offers no such type, so nothing is launched: change one of them"},
		"one that nothing has":    {[]karpv1.Requirement{in(api.LabelFamily, "m9")}, "leave no instance type: none has karpenter.k8s.aws/instance-family=m9; EC2NodeClass/main"},
		"those that leave a type": {[]karpv1.Requirement{in(api.LabelFamily, "m5", "m7i"), newer}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, events := reconcileOf(t, func(r *Reconciler) {
				r.Catalogue = func(karpv1.NodeClassReference) *cluster.Catalogue { return catalogue }
			}, pool(tt.requirements...), ready, nil)
			c := condition.Get(got, karpv1.NodePoolValidationSucceeded)
			if valid := c.Status == metav1.ConditionTrue; valid != (tt.says == "") || !strings.Contains(c.Message, tt.says) {
				t.Errorf("condition = %s %q, want %q", c.Status, c.Message, tt.says)
			}
			if reported := strings.Join(events.reasons, " "); (reported == "") != (tt.says == "") {
				t.Errorf("events %q, want one where the condition is False", reported)
			}
		})
	}
}

// A static pool says by a condition that it has no effect while its feature gate is off.
func TestAStaticPoolWhoseFeatureGateIsOffSaysSo(t *testing.T) {
	static := pool()
	static.Spec.Replicas = new(int64(3))
	off := func(r *Reconciler) { r.IgnoreReplicas = true }
	got, _ := reconcileOf(t, off, static, ready, nil)
	c := condition.Get(got, karpv1.NodePoolNotInEffect)
	if c == nil || c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, "the feature gate StaticCapacity is off") {
		t.Errorf("condition %s", condition.Describe(c))
	}
	got.ResourceVersion = ""
	if got, _ = reconcile(t, got, ready, nil); condition.Get(got, karpv1.NodePoolNotInEffect) != nil {
		t.Error("the condition stays when the gate is on")
	}
}

// in requires one of the values.
func in(key string, values ...string) karpv1.Requirement {
	return karpv1.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

// A pool with several mistakes can be put right in one go.
func TestEveryMistakeOfAPoolIsNamed(t *testing.T) {
	offered := Offered{api.LabelInstanceType: {"m5.large": true}, api.LabelZone: {"us-west-2a": true}}
	tests := map[string]struct {
		requirements []karpv1.Requirement
		says         []string
	}{
		"what cannot be read":     {[]karpv1.Requirement{in("team", "a b"), in("shop", "c d")}, []string{`requirements[0].values[0]: "a b"`, `; spec.template.spec.requirements[1].values[0]: "c d"`}},
		"what is offered nowhere": {[]karpv1.Requirement{in(api.LabelInstanceType, "m98.large"), in(api.LabelZone, "eu-west-1a")}, []string{`instance type not offered: "m98.large"`, `zone not offered: "eu-west-1a"`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, _ := reconcile(t, pool(tt.requirements...), ready, offered)
			c := condition.Get(got, karpv1.NodePoolValidationSucceeded)
			for _, want := range tt.says {
				if c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, want) {
					t.Errorf("condition = %s %q; want False saying %q", c.Status, c.Message, want)
				}
			}
		})
	}
}

// What is only warned of stands in the condition beside what the pool is refused for, and is
// no reason that pods hear.
func TestAMisspeltLimitIsNamedBesideWhatAPoolIsRefusedFor(t *testing.T) {
	for wrong, requirement := range map[string]karpv1.Requirement{`"m98.large"`: in(api.LabelInstanceType, "m98.large"), `"a b"`: in("team", "a b")} {
		t.Run(wrong, func(t *testing.T) {
			p := pool(requirement)
			p.Spec.Limits = corev1.ResourceList{"cpus": resource.MustParse("10")}
			got, events := reconcile(t, p, ready, Offered{api.LabelInstanceType: {"m5.large": true}})
			c := condition.Get(got, karpv1.NodePoolValidationSucceeded)
			const warning = "did you mean cpu?"
			if c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, wrong) || !strings.HasSuffix(c.Message, warning) {
				t.Errorf("condition = %s %q; want False saying %s and %q", c.Status, c.Message, wrong, warning)
			}
			if reported := translate.NotReady(got); !strings.Contains(reported, wrong) || strings.Contains(reported, warning) {
				t.Errorf("pods hear %q; want %s, and no warning", reported, wrong)
			}
			if reasons := strings.Join(events.reasons, " "); reasons != karpv1.ReasonNodePoolValidationFailed+" SpecWarning" {
				t.Errorf("events %q, want one of each", reasons)
			}
		})
	}
}

// Settings that instances of the class's family do not take are reported, and the pool is
// used.
func TestAFamilySettingWithoutEffectIsReported(t *testing.T) {
	class := ready
	class.Family = "Bottlerocket"
	for name, fits := range map[string]func(Object, string) []validate.Finding{
		"it fits": nil,
		"it does not": func(_ Object, family string) []validate.Finding {
			return []validate.Finding{{Field: "spec.a", Text: "is ignored by " + family, Warning: true}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, events := reconcileBy(t, func(g *Generation) { g.Fits = fits }, pool(), class, nil)
			c := condition.Get(got, karpv1.NodePoolValidationSucceeded)
			if reported := strings.Contains(c.Message, "spec.a: is ignored by Bottlerocket"); c.Status != metav1.ConditionTrue || reported != (fits != nil) || slices.Contains(events.reasons, "SpecWarning") != (fits != nil) {
				t.Errorf("condition %s %q, events %v", c.Status, c.Message, events.reasons)
			}
		})
	}
}

// A pool that is applied together with its class, or before it, is nothing to
// be warned of.
func TestANewPoolIsQuiet(t *testing.T) {
	open := ClassState{Found: true, Status: metav1.ConditionUnknown}
	tests := map[string]struct {
		class ClassState
		age   time.Duration
		want  string
	}{
		"a class not looked at yet":       {open, 9 * time.Second, ""},
		"a class not there yet":           {ClassState{}, 9 * time.Second, ""},
		"a class that stays unknown":      {open, 10 * time.Second, karpv1.ReasonNodeClassReadinessUnknown},
		"a new class":                     {ClassState{Found: true, Status: metav1.ConditionUnknown, CreatedAt: start}, time.Hour, ""},
		"a class that is sure to be none": {ClassState{Found: true, Status: metav1.ConditionFalse, Reason: "SubnetsNotFound", Message: "no subnet"}, 0, "SubnetsNotFound"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := pool()
			p.CreationTimestamp = metav1.NewTime(start.Add(-tt.age))
			if _, events := reconcile(t, p, tt.class, nil); strings.Join(events.reasons, " ") != tt.want {
				t.Errorf("events %v, want %q", events.reasons, tt.want)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	claim := func(name, cpu string, registered bool) *karpv1.NodeClaim {
		c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{api.LabelNodePool: "default"}}}
		c.Status.ProviderID = "aws:///a/i-" + name
		c.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
		if registered {
			condition.SetTrue(c, karpv1.ClaimRegistered, start)
		}
		return c
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{api.LabelNodePool: "default"}},
		Spec:       corev1.NodeSpec{ProviderID: "aws:///a/i-b"},
		Status:     corev1.NodeStatus{Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8")}},
	}
	got, _ := reconcile(t, pool(), ready, nil, claim("a", "2", false), claim("b", "4", true), node)
	if cpu := got.Status.Resources[corev1.ResourceCPU]; cpu.String() != "10" {
		t.Errorf("the pool owns %s cores, want 2 of the machine on its way and 8 of the node", cpu.String())
	}
	if nodes := got.Status.Resources[api.ResourceNodes]; nodes.String() != "2" || got.Status.Nodes != 2 {
		t.Errorf("the pool owns %s nodes and status.nodes is %d, want 2", nodes.String(), got.Status.Nodes)
	}
	if got.Annotations[api.AnnotationNodePoolHash] != "hash" {
		t.Error("the hash was not written")
	}
}

func TestHealth(t *testing.T) {
	web := translate.NodePools().ID("web")
	tests := map[string]struct {
		do   func(h *Health)
		want Verdict
	}{
		"nothing is known at first":           {func(*Health) {}, Unknown},
		"SC-239 one failure of four is borne": {func(h *Health) { h.Note(web, false); h.Note(web, true) }, Healthy},
		"SC-239 two of the last four are not": {func(h *Health) { h.Note(web, false); h.Note(web, true); h.Note(web, false) }, Unhealthy},
		"SC-239 older failures are forgotten": {func(h *Health) {
			h.Note(web, false)
			h.Note(web, false)
			for range 4 {
				h.Note(web, true)
			}
		}, Healthy},
		"SC-395 a change of the pool starts afresh": {func(h *Health) { h.Of(web, 1, 1); h.Note(web, false); h.Note(web, false); h.Of(web, 2, 1) }, Unknown},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := &Health{}
			tt.do(h)
			generation := int64(1)
			if strings.Contains(name, "SC-395") {
				generation = 2
			}
			if got := h.Of(web, generation, 1); got != tt.want {
				t.Errorf("verdict = %v, want %v", got, tt.want)
			}
		})
	}
}
