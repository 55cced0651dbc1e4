package class

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	karpv1alpha5 "github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
)

// reported is a cloud that notes which profiles are said to be in use.
type reported struct {
	used map[string]bool
	err  error
}

func (c *reported) CollectProfiles(_ context.Context, used map[string]bool) ([]string, error) {
	c.used = maps.Clone(used)
	return nil, c.err
}

// SC-479: what classes name and what claims were launched with is in use.
func TestProfilesInUseAreThoseOfClassesAndClaims(t *testing.T) {
	made := class(func(c *awsv1.EC2NodeClass) { c.Status.InstanceProfile = "of-the-role" })
	given := class(func(c *awsv1.EC2NodeClass) {
		c.Name, c.Spec.Role, c.Spec.InstanceProfile = "given", "", new("the-users-own")
	})
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{api.AnnotationInstanceProfileName: "of-an-earlier-role"}}}
	c := &reported{}
	p := &Profiles{Live: reconciler(&account{}, made, given, claim).Store, Kinds: []Kind{hashed("")}, Cloud: c, Every: time.Minute, Log: unheard}
	if after, err := p.Round(t.Context()); err != nil || after != time.Minute {
		t.Fatalf("Round = %v, %v", after, err)
	}
	delete(c.used, "")
	if got := strings.Join(slices.Sorted(maps.Keys(c.used)), " "); got != "of-an-earlier-role of-the-role the-users-own" {
		t.Errorf("in use: %s", got)
	}
}

// Who names no role need not grant rights on profiles.
func TestRightsOnProfilesAreMissedWhereRolesAreNamed(t *testing.T) {
	given := class(func(c *awsv1.EC2NodeClass) { c.Spec.Role, c.Spec.InstanceProfile = "", new("the-users-own") })
	for name, tt := range map[string]struct {
		class  client.Object
		missed bool
	}{"a class with a role": {class(), true}, "one with a profile of the user's own": {given, false}} {
		t.Run(name, func(t *testing.T) {
			p := &Profiles{Live: reconciler(&account{}, tt.class).Store, Kinds: []Kind{hashed("")}, Every: time.Minute, Log: unheard,
				Cloud: &reported{err: &cloud.RefusedError{Reason: "Unauthorized", Cause: "iam:ListInstanceProfiles"}}}
			if after, err := p.Round(t.Context()); (err != nil) != tt.missed || after != time.Minute {
				t.Errorf("Round = %v, %v; want an error: %v", after, err, tt.missed)
			}
		})
	}
}

// So is what templates and settings inline name, and what those mean that name none.
func TestProfilesInUseAreThoseOfTheOlderGenerationToo(t *testing.T) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{karpv1.AddToScheme, karpv1alpha5.AddToScheme, awsv1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	usual, own := template(), template(func(s *awsv1alpha1.AWSNodeTemplateSpec) { s.InstanceProfile = new("of-a-template") })
	usual.Name, own.Name = "usual", "own"
	inline, named := &karpv1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: "inline"}}, &karpv1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: "named"}}
	inline.Spec.Provider = &awsv1alpha1.Provider{AWS: awsv1alpha1.AWS{InstanceProfile: new("inline")}}
	known := &Account{}
	known.Set(Usual{InstanceProfile: "of-the-account"})
	c := &reported{}
	p := &Profiles{Live: fake.NewClientBuilder().WithScheme(s).WithObjects(usual, own, inline, named).Build(), Kinds: []Kind{NodeTemplates(known), Provisioners(known)}, Cloud: c, Log: unheard}
	if _, err := p.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	delete(c.used, "")
	if got := strings.Join(slices.Sorted(maps.Keys(c.used)), " "); got != "inline of-a-template of-the-account" {
		t.Errorf("in use: %s", got)
	}
}
