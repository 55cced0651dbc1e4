package class

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/scraped"
)

const secret = "hunter2"

// builtWith renders each class with a secret of the user's, and hops.
func builtWith(hops string) func(nodeclass.Spec) (*nodeclass.LaunchForm, error) {
	return func(s nodeclass.Spec) (*nodeclass.LaunchForm, error) {
		return &nodeclass.LaunchForm{Base: map[string]string{"MetadataOptions.HttpPutResponseHopLimit": hops, "UserData script 1": "TOKEN=" + secret + s.UserData}}, nil
	}
}

// led is the loop of a build that leads from now on, over what builds before it left.
func (s *story) led(build string, form func(nodeclass.Spec) (*nodeclass.LaunchForm, error)) {
	s.t.Helper()
	before := s.r
	s.r = reconciler(s.account)
	s.r.Store, s.r.Live, s.r.Events, s.r.Now = before.Store, before.Live, s, before.Now
	s.r.Build, s.r.Form = build, form
}

// launched has an instance of the class be launched, as the controller that leads does it.
func (s *story) launched(name string) *karpv1.NodeClaim {
	s.t.Helper()
	got, _ := look(s.t, s.r)
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: KindEC2NodeClass, Name: "main"}
	if digest := FormsOf(subject(got)).Digest(s.r.Build); digest != "" {
		c.Annotations = map[string]string{api.AnnotationLaunchForm: digest}
	}
	if err := s.r.Store.Create(s.t.Context(), c); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// says is what the class warns of, and the metric.
func (s *story) says() (warning *metav1.Condition, nodes float64) {
	s.t.Helper()
	got, _ := look(s.t, s.r)
	if !condition.IsTrue(got, awsv1.ClassReady) {
		s.t.Errorf("the class is not ready: %s", condition.Describe(condition.Get(got, awsv1.ClassReady)))
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(s.r.Metrics.OtherForms)
	lines, err := scraped.Lines(registry)
	if err != nil || len(lines) != 1 {
		s.t.Fatalf("the metric says %v, %v", lines, err)
	}
	if _, err := fmt.Sscanf(lines[0], "daemok_nodeclass_changed_launch_template_nodes nodeclass=main %g", &nodes); err != nil {
		s.t.Fatalf("the metric says %v: %v", lines, err)
	}
	return condition.Get(got, awsv1.ClassLaunchTemplateChanged), nodes
}

// A new build renders a class otherwise than the one by which its nodes were launched: that is reported until the
// last of these nodes is gone, with names of settings and without values, and the class stays ready.
func TestABuildThatRendersAClassOtherwiseSaysSo(t *testing.T) {
	s := begin(t)
	s.led("v1", builtWith("1"))
	look(t, s.r)
	old := s.launched("old")
	if warning, nodes := s.says(); warning != nil || nodes != 0 {
		t.Errorf("with one build it warns: %s", condition.Describe(warning))
	}

	s.led("v2", builtWith("2"))
	warning, nodes := s.says()
	if warning == nil || nodes != 1 {
		t.Fatalf("after the upgrade the warning is %v, of %v nodes", warning, nodes)
	}
	for _, word := range []string{"build v1", "build v2", "MetadataOptions.HttpPutResponseHopLimit", "daemok plan --upgrade"} {
		if !strings.Contains(warning.Message, word) {
			t.Errorf("the warning says nothing of %q: %s", word, warning.Message)
		}
	}
	if strings.Contains(warning.Message, secret) || strings.Contains(warning.Message, "UserData") {
		t.Errorf("the warning names what is equal, or a value: %s", warning.Message)
	}
	s.launched("new")
	if _, nodes := s.says(); nodes != 1 {
		t.Errorf("a node that the new build launched counts: %v nodes", nodes)
	}
	if err := s.r.Store.Delete(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if warning, nodes := s.says(); warning != nil || nodes != 0 {
		t.Errorf("without nodes of the old build it warns: %s, %v nodes", condition.Describe(warning), nodes)
	}
}

// onSpot makes launch templates of spot instances, and of those alone, with these hops.
func onSpot(hops string) func(nodeclass.Spec) (*nodeclass.LaunchForm, error) {
	return func(s nodeclass.Spec) (*nodeclass.LaunchForm, error) {
		f, err := builtWith("1")(s)
		f.Vary(nodeclass.VariantSpot, map[string]string{"MetadataOptions.HttpPutResponseHopLimit": hops, "UserData script 1": f.Base["UserData script 1"]})
		return f, err
	}
}

// A build that makes launch templates of spot instances otherwise is reported where spot instances run, and it counts
// those alone.
func TestNodesCountWhoseOwnVariantIsMadeOtherwise(t *testing.T) {
	s := begin(t)
	s.led("v1", onSpot("1"))
	look(t, s.r)
	s.launched("on-demand")
	s.led("v2", onSpot("2"))
	if warning, nodes := s.says(); warning != nil || nodes != 0 {
		t.Errorf("without spot instances it warns: %s, of %v nodes", condition.Describe(warning), nodes)
	}
	s.led("v1", onSpot("1"))
	look(t, s.r)
	spot := s.launched("spot")
	spot.Labels = map[string]string{api.LabelCapacityType: api.CapacityTypeSpot}
	if err := s.r.Store.Update(t.Context(), spot); err != nil {
		t.Fatal(err)
	}
	s.led("v2", onSpot("2"))
	if warning, nodes := s.says(); warning == nil || nodes != 1 || !strings.Contains(warning.Message, "MetadataOptions.HttpPutResponseHopLimit (spot);") {
		t.Errorf("with a spot instance it says %s, of %v nodes", condition.Describe(warning), nodes)
	}
}

// What a NodeClaim says of its instance says which launch template a new one like it gets.
func TestVariantsOfNodeClaims(t *testing.T) {
	amount := func(name corev1.ResourceName, n int64) corev1.ResourceList {
		return corev1.ResourceList{name: *resource.NewQuantity(n, resource.DecimalSI)}
	}
	labelled := func(pairs ...string) func(*karpv1.NodeClaim) {
		return func(c *karpv1.NodeClaim) {
			c.Labels = map[string]string{}
			for i := 0; i < len(pairs); i += 2 {
				c.Labels[pairs[i]] = pairs[i+1]
			}
		}
	}
	has := func(name corev1.ResourceName, n int64) func(*karpv1.NodeClaim) {
		return func(c *karpv1.NodeClaim) { c.Status.Capacity = amount(name, n) }
	}
	c := subject(class(func(c *awsv1.EC2NodeClass) {
		c.Status.AMIs = []awsv1.AMI{{ID: "ami-1", Name: "bottlerocket-aws-k8s-1.36-x86_64-v1.50.0-5d2a1b8c"}, {ID: "ami-2", Name: "mine"}}
	}))
	for want, change := range map[string]func(*karpv1.NodeClaim){
		"":                                   labelled(api.LabelCapacityType, "on-demand", api.LabelArch, "amd64", api.LabelTenancy, "default"),
		"arm64 spot":                         labelled(api.LabelCapacityType, "spot", api.LabelArch, "arm64"),
		"capacity reservation":               labelled(api.LabelCapacityType, "reserved", api.LabelReservationType, "default"),
		"capacity block":                     labelled(api.LabelCapacityType, "reserved", api.LabelReservationType, "capacity-block"),
		"interruptible capacity reservation": labelled(api.LabelCapacityType, "reserved", api.LabelReservationType, "default", api.LabelReservationInterruptible, "true"),
		"dedicated partition":                labelled(api.LabelTenancy, "dedicated", api.LabelPlacementGroupPartition, "2"),
		"few pods":                           has("pods", 29),
		"many pods":                          has("pods", 234),
		"GPU":                                has("nvidia.com/gpu", 1),
		"Neuron":                             has("aws.amazon.com/neuron", 1),
		"image release":                      func(c *karpv1.NodeClaim) { c.Status.ImageID = "ami-1" },
		"Nitro Enclaves": func(c *karpv1.NodeClaim) {
			c.Spec.Resources.Requests = amount("aws.ec2.nitro/nitro_enclaves", 1)
		},
		"EFA": func(c *karpv1.NodeClaim) {
			c.Spec.Resources.Requests, c.Status.Capacity = amount("vpc.amazonaws.com/efa", 1), amount("vpc.amazonaws.com/efa", 1)
		},
		"EFAs": func(c *karpv1.NodeClaim) {
			c.Spec.Resources.Requests, c.Status.Capacity = amount("vpc.amazonaws.com/efa", 1), amount("vpc.amazonaws.com/efa", 4)
		},
	} {
		claim := &karpv1.NodeClaim{}
		change(claim)
		if got := strings.Join(variantsOf(c, claim), " "); got != want {
			t.Errorf("variants %q, want %q", got, want)
		}
	}
}

// Forms that builds noted which knew no variants are read, and compared as far as they go.
func TestFormsWithoutVariantsAreCompared(t *testing.T) {
	s := begin(t)
	s.led("v1", builtWith("1"))
	look(t, s.r)
	s.launched("old")
	s.edit(func(c *awsv1.EC2NodeClass) {
		f := FormsOf(subject(c))
		form, err := f.Built[0].Form()
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(form.Base)
		if err != nil {
			t.Fatal(err)
		}
		f.Built[0].Packed = packed(t, text)
		if text, err = json.Marshal(f); err != nil {
			t.Fatal(err)
		}
		c.Annotations[api.AnnotationLaunchForms] = string(text)
	})
	s.led("v2", onSpot("2"))
	if warning, nodes := s.says(); warning != nil || nodes != 0 {
		t.Errorf("it warns of a variant that is new: %s, %v nodes", condition.Describe(warning), nodes)
	}
	s.led("v3", builtWith("3"))
	if warning, nodes := s.says(); warning == nil || nodes != 1 {
		t.Errorf("it says %s, of %v nodes", condition.Describe(warning), nodes)
	}
}

func packed(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// onCheck runs something when subnets are looked up, which is the first that AWS is asked.
type onCheck struct {
	*account
	do func()
}

func (o onCheck) Subnets(ctx context.Context, c nodeclass.Class) ([]nodeclass.Subnet, error) {
	o.do()
	return o.account.Subnets(ctx, c)
}

// A class is compared, and what came of it is written, before AWS is asked anything: launches that wait for it wait for no
// answer of AWS.
func TestAClassIsComparedBeforeAWSIsAsked(t *testing.T) {
	s := begin(t)
	s.led("v1", builtWith("1"))
	look(t, s.r)
	s.launched("old")
	s.led("v2", builtWith("2"))
	s.r.Compared = &Comparisons{}
	asked := 0
	s.r.Finder = onCheck{s.account, func() {
		asked++
		written := class()
		if err := s.r.Store.Get(t.Context(), client.ObjectKeyFromObject(written), written); err != nil {
			t.Fatal(err)
		}
		if !condition.IsTrue(written, awsv1.ClassLaunchTemplateChanged) || !s.r.Compared.has(subject(written)) {
			t.Errorf("AWS is asked before the class is compared: %+v", written.Status.Conditions)
		}
	}}
	if s.says(); asked != 1 {
		t.Errorf("AWS was asked %d times", asked)
	}
}

// What changes nothing of new nodes is not reported: a build that renders the same, one before which nothing was
// recorded, and an edit of the class, by which its nodes drift.
func TestWhatIsNoChangeOfTheBuild(t *testing.T) {
	tests := map[string]func(s *story){
		"the same form": func(s *story) { s.led("v2", builtWith("1")) },
		"no form":       func(s *story) { s.led("v2", func(nodeclass.Spec) (*nodeclass.LaunchForm, error) { return nil, nil }) },
		"a spec that cannot be rendered": func(s *story) {
			s.led("v2", func(nodeclass.Spec) (*nodeclass.LaunchForm, error) { return nil, fmt.Errorf("no such family") })
		},
		"there and back": func(s *story) {
			s.led("v2", builtWith("2"))
			look(s.t, s.r)
			s.led("v1", builtWith("1"))
		},
		"an edited class": func(s *story) {
			s.led("v2", builtWith("2"))
			s.r.Kind = hashed("other")
			s.edit(func(c *awsv1.EC2NodeClass) { c.Generation = 7; c.Spec.UserData = new("#!/bin/sh") })
		},
	}
	for name, upgrade := range tests {
		t.Run(name, func(t *testing.T) {
			s := begin(t)
			s.led("v1", builtWith("1"))
			look(t, s.r)
			s.launched("old")
			upgrade(s)
			if warning, nodes := s.says(); warning != nil || nodes != 0 {
				t.Errorf("it warns: %s, %v nodes", condition.Describe(warning), nodes)
			}
		})
	}
	t.Run("nodes from before anything was noted", func(t *testing.T) {
		s := begin(t)
		s.launched("old")
		s.led("v1", builtWith("1"))
		if warning, nodes := s.says(); warning != nil || nodes != 0 {
			t.Errorf("it warns: %s, %v nodes", condition.Describe(warning), nodes)
		}
	})
}

// An annotation that another client broke is written again, and keeps nothing from being checked.
func TestAFormThatCannotBeReadIsDropped(t *testing.T) {
	s := begin(t)
	s.led("v1", builtWith("1"))
	look(t, s.r)
	s.launched("old")
	s.edit(func(c *awsv1.EC2NodeClass) {
		f := FormsOf(subject(c))
		f.Built[0].Packed = []byte("no archive")
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		c.Annotations[api.AnnotationLaunchForms] = string(text)
	})
	s.led("v2", builtWith("2"))
	if warning, nodes := s.says(); warning != nil || nodes != 0 {
		t.Errorf("it warns: %s, %v nodes", condition.Describe(warning), nodes)
	}
}

// The event is one for each change, however often nodes are counted.
func TestAChangedLaunchTemplateIsReportedOnce(t *testing.T) {
	s := begin(t)
	s.led("v1", builtWith("1"))
	s.reports(0)
	one := s.launched("one")
	s.launched("two")
	s.led("v2", builtWith("2"))
	s.reports(time.Minute, awsv1.ReasonRenderedOtherwise)
	if err := s.r.Store.Delete(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	s.reports(time.Minute)
}

// Of many builds only so many are kept, those that nodes are of.
func TestNotesDoNotGrow(t *testing.T) {
	c := subject(class(func(c *awsv1.EC2NodeClass) { c.UID, c.Generation = "uid", 1 }))
	f, launched := Forms{}, Launched{}
	for n := range 10 {
		form, err := builtWith(fmt.Sprint(n))(nodeclass.Spec{})
		if err != nil {
			t.Fatal(err)
		}
		for _, build := range []string{"a", "b", "c"} { // three builds of each form
			if f, err = f.With(c, fmt.Sprint(build, n), *form, launched); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := f.Built[0].Form(); err != nil || !maps.Equal(got.Base, form.Base) || f.Digest(fmt.Sprint("a", n)) == "" || len(f.Built[0].Builds) != 3 {
			t.Fatalf("the form of build %d reads back as %v, %v, of builds %v", n, got, err, f.Built[0].Builds)
		}
		launched[f.Built[0].Digest] = map[string]int{"": 1}
	}
	if len(f.Built) != formsMost {
		t.Errorf("%d forms are kept, want %d", len(f.Built), formsMost)
	}
	clear(launched)
	next, err := f.With(c, "last", nodeclass.LaunchForm{}, launched)
	if err != nil || len(next.Built) != 1 {
		t.Errorf("without nodes %d forms are kept, %v", len(next.Built), err)
	}
}

// What is made of an AWSNodeTemplate without a family depends on the version of Kubernetes. While that is not known, the
// template says that it is not compared, and why; launches do not wait, and what else is wrong with it is said as before.
func TestATemplateIsNotComparedBeforeTheVersionIsKnown(t *testing.T) {
	kind := NodeTemplates(&Account{})
	o := template()
	o.SetName("main")
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, karpv1.AddToScheme, awsv1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	store := fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(o).WithObjects(o).Build()
	a := &account{versionless: errors.New("EKS does not answer"), profile: &nodeclass.MissingError{Reason: "InstanceProfileNotFound", Text: "none"}}
	r := &Reconciler{Kind: kind, Store: store, Live: store, Finder: a, Events: &heard{}, Metrics: measured(), Log: unheard, Now: func() time.Time { return start },
		Build: "v1", Form: builtWith("1"), Compared: &Comparisons{}}
	look := func() *Subject {
		r.records.forget("main") // it is due
		if _, err := r.Reconcile(t.Context(), "main"); err != nil {
			t.Fatal(err)
		}
		got, err := kind.ByName(t.Context(), store, "main")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	c := look()
	is := condition.Get(c, awsv1.ClassLaunchTemplateChanged)
	if is == nil || is.Status != metav1.ConditionUnknown || is.Reason != awsv1.ReasonNotCompared || !strings.Contains(is.Message, "EKS does not answer") {
		t.Errorf("it says %s", condition.Describe(is))
	}
	if len(FormsOf(c).Built) > 0 || !r.Compared.has(c) {
		t.Errorf("forms %v are noted, or launches wait", FormsOf(c))
	}
	if why := WhyNot(c); strings.Contains(why, awsv1.ReasonNotCompared) || !strings.Contains(why, "spec.instanceProfile") {
		t.Errorf("it is not ready because %s", why)
	}
	a.versionless, a.version = nil, "1.36"
	if c = look(); condition.Get(c, awsv1.ClassLaunchTemplateChanged) != nil || FormsOf(c).Digest("v1") == "" {
		t.Errorf("once the version is known it says %s, with forms %v", condition.Describe(condition.Get(c, awsv1.ClassLaunchTemplateChanged)), FormsOf(c))
	}
}
