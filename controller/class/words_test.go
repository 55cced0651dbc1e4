package class

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cloud/aws/image"
	"github.com/daemok/daemok/cloud/aws/network"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	karpv1alpha5 "github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/observe"
)

// bare is an account in which there is nothing, and which says so as AWS's adapter does.
type bare struct{ account }

func (b *bare) Subnets(ctx context.Context, c nodeclass.Class) ([]nodeclass.Subnet, error) {
	return network.Finder{API: &asked{}}.Subnets(ctx, c.Spec.Subnets)
}

func (b *bare) Groups(ctx context.Context, c nodeclass.Class) ([]nodeclass.Group, error) {
	return network.Finder{API: &asked{}}.Groups(ctx, c.Spec.Groups)
}

func (b *bare) Images(ctx context.Context, c nodeclass.Class) ([]nodeclass.Image, error) {
	return image.Finder{API: &asked{}, Now: time.Now}.Find(ctx, c.Spec, b.version)
}

// heard keeps the reasons and messages of events.
type heard struct{ reasons, messages []string }

func (h *heard) Publish(e observe.Event) {
	h.reasons, h.messages = append(h.reasons, e.Reason), append(h.messages, e.Message)
}

// lookAtOlder checks an object of the v1alpha5 API named main, and returns its status as
// that of a class, and the reasons of events.
func lookAtOlder(t *testing.T, f finder, o client.Object) (*Subject, []string) {
	t.Helper()
	s := runtime.NewScheme()
	_ = karpv1.AddToScheme(s)
	_ = awsv1alpha1.AddToScheme(s)
	_ = karpv1alpha5.AddToScheme(s)
	account := &Account{}
	kind := NodeTemplates(account)
	if _, inline := o.(*karpv1alpha5.Provisioner); inline {
		kind = Provisioners(account)
	}
	o.SetName("main")
	store := fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(&awsv1alpha1.AWSNodeTemplate{}, &karpv1alpha5.Provisioner{}).WithObjects(o).Build()
	events := &heard{}
	r := &Reconciler{Kind: kind, Store: store, Live: store, Finder: f, Events: events, Metrics: measured(), Log: unheard, DryRun: true, Verified: time.Hour, Now: func() time.Time { return start }}
	if _, err := r.Reconcile(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	got := kind.New()
	if err := store.Get(t.Context(), client.ObjectKeyFromObject(o), got); err != nil {
		t.Fatal(err)
	}
	return kind.Of(got), events.reasons
}

func template(change ...func(*awsv1alpha1.AWSNodeTemplateSpec)) *awsv1alpha1.AWSNodeTemplate {
	o := &awsv1alpha1.AWSNodeTemplate{}
	o.Spec.SubnetSelector, o.Spec.SecurityGroupSelector = selector("team", "web"), selector("team", "web")
	for _, f := range change {
		f(&o.Spec)
	}
	return o
}

func inlined() *karpv1alpha5.Provisioner {
	p := &karpv1alpha5.Provisioner{}
	p.Spec.Provider = &awsv1alpha1.Provider{AWS: template().Spec.AWS}
	p.Spec.Provider.AMIFamily = new(awsv1alpha1.FamilyAL2)
	return p
}

// What a condition asks a user to change is a field of the object that the user wrote,
// whatever API version it is of.
func TestConditionsNameTheFieldsOfTheObjectAtHand(t *testing.T) {
	selected := template(func(s *awsv1alpha1.AWSNodeTemplateSpec) { s.AMISelector = selector("team", "web") })
	writtenAL2 := template(func(s *awsv1alpha1.AWSNodeTemplateSpec) { s.AMIFamily = new(awsv1alpha1.FamilyAL2) })
	tests := map[string]struct {
		object client.Object
		kind   string
		says   []string
	}{
		"a template's subnets":       {selected, awsv1.ClassSubnetsReady, []string{"spec.subnetSelector "}},
		"a template's groups":        {selected, awsv1.ClassSecurityGroupsReady, []string{"spec.securityGroupSelector "}},
		"a template's images":        {selected, awsv1.ClassAMIsReady, []string{"spec.amiSelector "}},
		"AL2 where it has ended":     {writtenAL2, awsv1.ClassAMIsReady, []string{"spec.amiFamily AL2 has no images for Kubernetes 1.36", "EC2NodeClass", "AL2023", "daemok migrate"}},
		"a template without profile": {selected, awsv1.ClassInstanceProfileReady, []string{"spec.instanceProfile", "aws.defaultInstanceProfile"}},
		"subnets inline":             {inlined(), awsv1.ClassSubnetsReady, []string{"spec.provider.subnetSelector "}},
		"groups inline":              {inlined(), awsv1.ClassSecurityGroupsReady, []string{"spec.provider.securityGroupSelector "}},
		"images inline":              {inlined(), awsv1.ClassAMIsReady, []string{"spec.provider.amiFamily AL2 has no images"}},
		"no profile inline":          {inlined(), awsv1.ClassInstanceProfileReady, []string{"spec.provider.instanceProfile", "aws.defaultInstanceProfile"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, _ := lookAtOlder(t, &bare{account{version: "1.36"}}, tt.object.DeepCopyObject().(client.Object))
			is := condition.Get(got, tt.kind)
			if is == nil || is.Status != metav1.ConditionFalse || condition.IsTrue(got, awsv1.ClassReady) {
				t.Fatalf("%s; want false, and the class not ready", condition.Describe(is))
			}
			for _, words := range tt.says {
				if !strings.Contains(is.Message, words) {
					t.Errorf("%q does not say %q", is.Message, words)
				}
			}
			for _, newer := range []string{"SelectorTerms", "spec.role", "al2023@"} {
				if strings.Contains(is.Message, newer) {
					t.Errorf("%q speaks of %q, which the object has not", is.Message, newer)
				}
			}
		})
	}
}

// That several groups carry the cluster's tag is reported on templates too, in their words.
func TestSeveralGroupsOfTheClusterAreReportedTemplates(t *testing.T) {
	a := &account{version: "1.30", owned: []nodeclass.Group{{ID: "sg-7", Owned: true}, {ID: "sg-9", Owned: true}}}
	got, _ := lookAtOlder(t, a, template(func(s *awsv1alpha1.AWSNodeTemplateSpec) { s.InstanceProfile = new("nodes") }))
	warning := condition.Get(got, awsv1.ClassGroupsOwnedTwice)
	if warning == nil || !strings.HasPrefix(warning.Message, "spec.securityGroupSelector selects") || !condition.IsTrue(got, awsv1.ClassReady) {
		t.Errorf("%s, ready %v; want the field named, and the class ready", condition.Describe(warning), condition.IsTrue(got, awsv1.ClassReady))
	}
}

// A template that names no family means AL2. Where there is no AL2 its instances are of
// AL2023 and run its user data beside their own; it is reported, and the template is used.
func TestAFamilyThatIsReplacedIsReported(t *testing.T) {
	usual := func(s *awsv1alpha1.AWSNodeTemplateSpec) {
		s.InstanceProfile, s.UserData = new("nodes"), new("#!/bin/bash\necho hello\n")
	}
	tests := map[string]struct {
		version  string
		change   func(*awsv1alpha1.AWSNodeTemplateSpec)
		reported bool
	}{
		"nothing is said and there is no AL2": {"1.33", usual, true},
		"nothing is said and there is AL2":    {"1.32", usual, false},
		"Bottlerocket": {"1.33", func(s *awsv1alpha1.AWSNodeTemplateSpec) {
			s.InstanceProfile, s.AMIFamily = new("nodes"), new(awsv1alpha1.FamilyBottlerocket)
		}, false},
		"images of the user's own": {"1.33", func(s *awsv1alpha1.AWSNodeTemplateSpec) {
			s.InstanceProfile, s.AMISelector = new("nodes"), selector("team", "web")
		}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, events := lookAtOlder(t, &account{version: tt.version}, template(tt.change))
			warning := condition.Get(got, awsv1.ClassFamilyReplaced)
			if (warning != nil) != tt.reported || (len(events) > 0) != tt.reported || !condition.IsTrue(got, awsv1.ClassReady) {
				t.Fatalf("%s, events %v, ready %v", condition.Describe(warning), events, condition.IsTrue(got, awsv1.ClassReady))
			}
			if tt.reported && (!strings.Contains(warning.Message, "sets no amiFamily, which means AL2, and") || !strings.Contains(warning.Message, "nodes get images of AL2023, which run what spec.userData has") || !strings.Contains(warning.Message, "EC2NodeClass")) {
				t.Errorf("it says %q", warning.Message)
			}
		})
	}
}

// A launch template of the user's own names images, groups and profile: nothing of them is
// looked up, and nothing of them keeps the template from being ready.
func TestALaunchTemplateOfTheUsersOwnBringsTheRest(t *testing.T) {
	nothing := &nodeclass.MissingError{Reason: "NotFound", Text: "nothing matches"}
	a := &account{version: "1.36", groups: nothing, images: nothing, profile: nothing}
	own := template(func(s *awsv1alpha1.AWSNodeTemplateSpec) {
		s.SecurityGroupSelector, s.LaunchTemplate = nil, new("golden")
	})
	own.Status.AMIs = []awsv1.AMI{{ID: "ami-before"}}
	got, _ := lookAtOlder(t, a, own)
	if !condition.IsTrue(got, awsv1.ClassReady) || len(got.Status.Conditions) != 3 || len(got.Status.AMIs) != 0 || got.Spec.LaunchTemplate != "golden" {
		t.Errorf("the status is %+v", got.Status)
	}
	a.subnets = nothing
	if got, _ := lookAtOlder(t, a, own); condition.IsTrue(got, awsv1.ClassReady) {
		t.Error("it is ready without a subnet")
	}
}

// A good answer about what a template was says nothing of it after an edit.
func TestAnEditedTemplateIsVerifiedAgain(t *testing.T) {
	a := &account{version: "1.30"}
	r := &Reconciler{Finder: a, Metrics: measured(), DryRun: true, Verified: time.Hour, Now: func() time.Time { return start }}
	kind := NodeTemplates(&Account{})
	for _, look := range []struct {
		generation int64
		asked      int // so far
	}{{1, 1}, {1, 1}, {2, 2}} {
		c := template()
		c.Generation = look.generation
		if r.verify(t.Context(), kind.Of(c), nodeclass.Class{}); a.verifies != look.asked {
			t.Errorf("generation %d: asked %d times so far, want %d", look.generation, a.verifies, look.asked)
		}
	}
}
