package class

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/observe"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// account is a cloud in which everything is found unless an error says not.
type account struct {
	subnets, groups, images, profile, verify error
	reservations                             error

	reserved    []nodeclass.Reservation
	group       *nodeclass.PlacementGroup
	ungrouped   error
	taken       bool              // its subnet has no free address
	owned       []nodeclass.Group // found beside those that every account has
	named       string            // the image; empty for one whose name says no version
	version     string            // of the API server
	versionless error
	unsized     nodeclass.Unsized
	crowded     nodeclass.Crowded
	userData    int   // bytes
	unmerged    error // why there is none
	forgotten   []string
	dropped     []string // IDs of classes whose catalogues were freed
	verifies    int
	looks       map[string]int // for what
}

func (a *account) look(what string) {
	if a.looks != nil {
		a.looks[what]++
	}
}

func (a *account) Subnets(context.Context, nodeclass.Class) ([]nodeclass.Subnet, error) {
	a.look("subnets")
	if a.subnets != nil {
		return nil, a.subnets
	}
	found := nodeclass.Subnet{ID: "subnet-1", Zone: "us-east-1a", ZoneID: "use1-az1", Free: 200}
	if a.taken {
		found.Free = 0
	}
	return []nodeclass.Subnet{found}, nil
}

func (a *account) Groups(context.Context, nodeclass.Class) ([]nodeclass.Group, error) {
	if a.groups != nil {
		return nil, a.groups
	}
	return append([]nodeclass.Group{{ID: "sg-1", Name: "nodes"}}, a.owned...), nil
}

func (a *account) Reservations(context.Context, nodeclass.Class) ([]nodeclass.Reservation, error) {
	return a.reserved, a.reservations
}

func (a *account) Placement(_ context.Context, c nodeclass.Class) (*nodeclass.PlacementGroup, error) {
	if c.Spec.Placement == nil {
		return nil, nil
	}
	return a.group, a.ungrouped
}

func (a *account) Images(context.Context, nodeclass.Class) ([]nodeclass.Image, error) {
	a.look("images")
	if a.images != nil {
		return nil, a.images
	}
	amd64 := constraint.NewRequirements(constraint.Requirement{Key: api.LabelArch, Set: constraint.Values("amd64")})
	return []nodeclass.Image{{ID: "ami-1", Name: cmp.Or(a.named, "al2023"), Requirements: amd64}}, nil
}

func (a *account) KubernetesVersion(context.Context) (string, error) { return a.version, a.versionless }

func (a *account) Profile(context.Context, nodeclass.Class) (string, error) {
	return "lab_profile", a.profile
}

func (a *account) Unsized(context.Context, nodeclass.Class) (nodeclass.Unsized, error) {
	return a.unsized, nil
}

func (a *account) Crowded(context.Context, nodeclass.Class) (nodeclass.Crowded, error) {
	return a.crowded, nil
}

func (a *account) UserDataBytes(context.Context, nodeclass.Class) (int, error) {
	return a.userData, a.unmerged
}

func (a *account) Verify(context.Context, nodeclass.Class) error {
	a.verifies++
	return a.verify
}

func (a *account) Forget(_ context.Context, c nodeclass.Class) error {
	a.forgotten = append(a.forgotten, c.Name)
	return nil
}

func (a *account) Drop(id string) { a.dropped = append(a.dropped, id) }

type silent struct{}

func (silent) Publish(observe.Event) {}

var unheard = slog.New(slog.DiscardHandler)

// reconciler is the loop over a store with these objects.
// measured are metrics of a program of their own.
func measured() *observe.Metrics { return observe.NewMetrics(prometheus.NewRegistry(), "", "", "", "") }

func reconciler(f finder, objects ...client.Object) *Reconciler {
	s := runtime.NewScheme()
	_ = corev1.AddToScheme(s)
	_ = appsv1.AddToScheme(s)
	_ = karpv1.AddToScheme(s)
	_ = awsv1.AddToScheme(s)
	store := fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(&awsv1.EC2NodeClass{}).WithObjects(objects...).Build()
	return &Reconciler{
		Kind: hashed("hash"), Store: store, Live: store, Finder: f, Events: silent{}, Metrics: measured(), Log: unheard, DryRun: true, Verified: time.Hour, Now: func() time.Time { return start },
	}
}

// hashed is the Kind EC2NodeClass, with the same fingerprint for all classes.
func hashed(hash string) Kind {
	kind := NodeClasses("", validate.ClassOptions{})
	kind.Hash = func(client.Object) (string, string) { return hash, "v" }
	return kind
}

func subject(c *awsv1.EC2NodeClass) *Subject {
	kind := hashed("hash")
	return kind.Of(c)
}

// look runs one check of the class named main and returns what it left.
func look(t *testing.T, r *Reconciler) (*awsv1.EC2NodeClass, time.Duration) {
	t.Helper()
	again, err := r.Reconcile(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	got := &awsv1.EC2NodeClass{}
	if err := r.Store.Get(t.Context(), client.ObjectKey{Name: "main"}, got); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return got, again
}

// reconcile runs checks the class named main until nothing changes.
func reconcile(t *testing.T, a *account, objects ...client.Object) (*awsv1.EC2NodeClass, time.Duration) {
	t.Helper()
	r := reconciler(a, objects...)
	look(t, r)
	return look(t, r)
}

func class(change ...func(*awsv1.EC2NodeClass)) *awsv1.EC2NodeClass {
	c := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "main"}}
	c.Spec.Role = "KarpenterNodeRole-lab"
	c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}
	c.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"karpenter.sh/discovery": "lab"}}}
	c.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{Tags: map[string]string{"karpenter.sh/discovery": "lab"}}}
	for _, f := range change {
		f(c)
	}
	return c
}

func TestWhatIsFoundIsInTheStatus(t *testing.T) {
	got, again := reconcile(t, &account{}, class())
	if !condition.IsTrue(got, awsv1.ClassReady) {
		t.Fatalf("conditions = %+v, want Ready", got.Status.Conditions)
	}
	if got.Status.Subnets[0].ID != "subnet-1" || got.Status.SecurityGroups[0].ID != "sg-1" || got.Status.InstanceProfile != "lab_profile" {
		t.Errorf("status = %+v", got.Status)
	}
	if ami := got.Status.AMIs[0]; ami.ID != "ami-1" || ami.Requirements[0].Key != api.LabelArch {
		t.Errorf("image = %+v", ami)
	}
	if again != RefreshEvery {
		t.Errorf("looks again after %v, want %v", again, RefreshEvery)
	}
	settings, err := Settings(subject(got))
	if err != nil || settings.Resolved.Images[0].Requirements.Get(api.LabelArch).String() != "in amd64" {
		t.Errorf("the status read back gives %+v, %v", settings.Resolved, err)
	}
}

// What a class says of its instances' memory counts where it is a share, and nothing of it
// otherwise.
func TestAClassMaySayWhatMemoryIsKept(t *testing.T) {
	for text, want := range map[string]string{"0.03": "0.03", "0": "0", "3%": "none", "1": "none", "": "none"} {
		got := class(func(c *awsv1.EC2NodeClass) {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, "daemok.sh/memory-overhead", text)
		})
		settings, err := Settings(subject(got))
		if err != nil {
			t.Fatal(err)
		}
		said := "none"
		if share := settings.Spec.MemoryOverhead; share != nil {
			said = fmt.Sprint(*share)
		}
		if said != want {
			t.Errorf("annotation %q: the share is %s, want %s", text, said, want)
		}
	}
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	missing := func(reason string) error { return &nodeclass.MissingError{Reason: reason, Text: "nothing matches"} }
	tests := map[string]struct {
		account account
		kind    string
		status  metav1.ConditionStatus
		reason  string
	}{
		"SC-480 no subnet":        {account{subnets: missing(nodeclass.SubnetsNotFound)}, awsv1.ClassSubnetsReady, metav1.ConditionFalse, awsv1.ReasonSubnetsNotFound},
		"SC-480 no group":         {account{groups: missing(nodeclass.SecurityGroupsNotFound)}, awsv1.ClassSecurityGroupsReady, metav1.ConditionFalse, awsv1.ReasonSecurityGroupsNotFound},
		"SC-480 no image":         {account{images: missing(nodeclass.AMINotFound)}, awsv1.ClassAMIsReady, metav1.ConditionFalse, awsv1.ReasonAMINotFound},
		"a right that is missing": {account{profile: &cloud.RefusedError{Reason: "Unauthorized", Cause: "iam:CreateInstanceProfile"}}, awsv1.ClassInstanceProfileReady, metav1.ConditionUnknown, "Unauthorized"},
		"no answer at all":        {account{groups: errors.New("connection reset")}, awsv1.ClassSecurityGroupsReady, metav1.ConditionUnknown, condition.ReasonAwaiting},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, again := reconcile(t, &tt.account, class())
			c := condition.Get(got, tt.kind)
			if c.Status != tt.status || c.Reason != tt.reason || c.Message == "" {
				t.Errorf("condition %s = %s %s %q; want %s %s with a message", tt.kind, c.Status, c.Reason, c.Message, tt.status, tt.reason)
			}
			if condition.IsTrue(got, awsv1.ClassReady) {
				t.Error("the class is ready nevertheless")
			}
			if v := condition.Get(got, awsv1.ClassValidationSucceeded); v.Reason != awsv1.ReasonDependenciesNotReady || !strings.Contains(v.Message, tt.kind) {
				t.Errorf("validation says %s %q, want it to wait for %s", v.Reason, v.Message, tt.kind)
			}
			if again != retryFirst {
				t.Errorf("looks again after %v, want %v", again, retryFirst)
			}
		})
	}
}

func TestAClassThatCannotLaunchIsNotReady(t *testing.T) {
	tests := map[string]struct {
		err    error
		status metav1.ConditionStatus
		reason string
	}{
		"SC-481 a right that is missing is named":    {&cloud.RefusedError{Reason: awsv1.ReasonRunInstancesAuthCheckFailed, Cause: "may not"}, metav1.ConditionFalse, awsv1.ReasonRunInstancesAuthCheckFailed},
		"throttling is no fault of the class":        {&cloud.ThrottledError{Call: "ec2:CreateFleet (dry run)"}, metav1.ConditionUnknown, condition.ReasonAwaiting},
		"a profile that EC2 does not know yet waits": {errors.New("EC2 does not know the instance profile yet"), metav1.ConditionUnknown, condition.ReasonAwaiting},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, again := reconcile(t, &account{verify: tt.err}, class())
			c := condition.Get(got, awsv1.ClassValidationSucceeded)
			if c.Status != tt.status || c.Reason != tt.reason || condition.IsTrue(got, awsv1.ClassReady) {
				t.Errorf("validation = %s %s, ready %v; want %s %s, not ready", c.Status, c.Reason, condition.IsTrue(got, awsv1.ClassReady), tt.status, tt.reason)
			}
			if again != retryFirst {
				t.Errorf("looks again after %v, want %v", again, retryFirst)
			}
		})
	}
}

// Images and subnets are looked up as seldom as was asked for, but at once for another
// spec, and again soon where they were not found.
func TestImagesAndSubnetsAreLookedUpAtTheirIntervals(t *testing.T) {
	a, now := &account{}, start
	r := reconciler(a, class())
	r.ImagesEvery, r.SubnetsEvery, r.Now = time.Hour, 5*time.Minute, func() time.Time { return now }
	looks := func(after time.Duration, images, subnets int) {
		t.Helper()
		now = now.Add(after)
		a.looks = map[string]int{}
		if got, _ := look(t, r); a.looks["images"] != images || a.looks["subnets"] != subnets {
			t.Errorf("at %v: looked for images %d times and for subnets %d times, want %d and %d (%s)", now.Sub(start), a.looks["images"], a.looks["subnets"], images, subnets,
				condition.Describe(condition.Get(got, awsv1.ClassAMIsReady)))
		}
	}
	looks(0, 1, 1)
	looks(time.Minute, 0, 0)
	looks(4*time.Minute, 0, 1)
	looks(55*time.Minute, 1, 1)

	got, _ := look(t, r)
	got.Generation, got.Spec.AMISelectorTerms = 2, []awsv1.AMISelectorTerm{{Alias: "bottlerocket@latest"}}
	if err := r.Store.Update(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	a.images = &nodeclass.MissingError{Reason: nodeclass.AMINotFound, Text: "nothing matches"}
	looks(time.Second, 1, 1)
	a.images = nil
	looks(retryFirst, 1, 0)
	if got, _ := look(t, r); !condition.IsTrue(got, awsv1.ClassReady) || condition.Get(got, awsv1.ClassSubnetsReady).ObservedGeneration != 2 {
		t.Errorf("conditions = %+v, want Ready, and all about the new spec", got.Status.Conditions)
	}
}

func TestALookUpWithoutAnswerKeepsWhatWasKnown(t *testing.T) {
	known, _ := reconcile(t, &account{}, class())
	known.ResourceVersion = ""
	got, _ := reconcile(t, &account{subnets: errors.New("connection reset")}, known)
	if !condition.IsTrue(got, awsv1.ClassReady) || len(got.Status.Subnets) != 1 {
		t.Errorf("after a failed look-up: ready %v, subnets %v; want what was known", condition.IsTrue(got, awsv1.ClassReady), got.Status.Subnets)
	}
}

// What was found for a class as it was says nothing of the class as it is: no instance is
// launched from the new spec and what the old one selected.
func TestALookUpWithoutAnswerSaysNothingOfAChangedSpec(t *testing.T) {
	reset := errors.New("connection reset")
	for what, a := range map[string]*account{
		"subnets": {subnets: reset}, "groups": {groups: reset}, "images": {images: reset}, "profile": {profile: reset},
		"dry runs": {verify: reset}, "a profile that was just made": {verify: &nodeclass.NotYetError{Reason: "InstanceProfileNotFound"}},
	} {
		r := reconciler(&account{}, class())
		look(t, r)
		known, _ := look(t, r)
		known.Generation++
		known.Spec.Role = "another"
		if err := r.Store.Update(t.Context(), known); err != nil {
			t.Fatal(err)
		}
		r.Finder, r.Kind = a, hashed("another")
		got, _ := look(t, r)
		if WhyNot(subject(known)) == "" || WhyNot(subject(got)) == "" || condition.IsTrue(got, awsv1.ClassReady) {
			t.Errorf("%s: no answer about a changed spec, and the class is ready: %+v", what, got.Status.Conditions)
		}
		r.Finder = &account{}
		r.Now = func() time.Time { return start.Add(retryMax) }
		if got, _ = look(t, r); WhyNot(subject(got)) != "" {
			t.Errorf("%s: after an answer the class is not ready: %s", what, WhyNot(subject(got)))
		}
	}
}

// The cache does not show a claim yet that was made a moment ago.
func TestAClassStaysForAClaimThatOnlyTheServerKnows(t *testing.T) {
	a := &account{}
	r := reconciler(a, class(func(c *awsv1.EC2NodeClass) {
		c.DeletionTimestamp = &metav1.Time{Time: start}
		c.Finalizers = []string{api.FinalizerClassTermination}
	}))
	user := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	user.Spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: "main"}
	r.Live = reconciler(a, user).Store
	if got, again := look(t, r); got.Name == "" || again != waitForUsers || len(a.forgotten) > 0 {
		t.Errorf("the class is %q and looked at again after %v; forgotten: %v", got.Name, again, a.forgotten)
	}
}

// A class may vanish without its finalizer being handled, as where a user removes it.
func TestTheCatalogueOfAClassThatIsGoneIsFreed(t *testing.T) {
	a := &account{}
	look(t, reconciler(a))
	if want := []string{"EC2NodeClass/main"}; !slices.Equal(a.dropped, want) {
		t.Errorf("freed the catalogues of %q, want %q", a.dropped, want)
	}
}

func TestAClassGoesAfterItsClaims(t *testing.T) {
	leaving := func(c *awsv1.EC2NodeClass) {
		c.DeletionTimestamp = &metav1.Time{Time: start}
		c.Finalizers = []string{api.FinalizerClassTermination}
	}
	user := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	user.Spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: "main"}
	a := &account{}
	if got, again := reconcile(t, a, class(leaving), user); got.Name == "" || again != waitForUsers || len(a.forgotten) > 0 {
		t.Errorf("SC-482: with a claim in use the class is %q and looked at again after %v; forgotten: %v", got.Name, again, a.forgotten)
	}
	if got, _ := reconcile(t, a, class(leaving)); got.Name != "" || len(a.forgotten) != 1 {
		t.Errorf("SC-482: without claims the class is still there: %q; forgotten: %v", got.Name, a.forgotten)
	}
}
