package drift

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/store"
)

// yard is one claim that is just what its pool and class ask for, and all that
// it is compared with.
type yard struct {
	claim         *karpv1.NodeClaim
	pool          *karpv1.NodePool
	class         Class
	instanceTypes []cluster.InstanceType // none: not known
	instances     []cloud.Instance
	listing       error
	noPool        bool
	older         bool         // its pool is a Provisioner
	node          *corev1.Node // of the claim; nil: none is seen
	sets          []appsv1.DaemonSet
	pods          []corev1.Pod

	now    time.Time
	hand   *store.Connection
	writes int
	lists  int
	first  error // of the first write; nil: it is done
	events []observe.Event
	finder *Finder
}

const classVersion = "v9"

func newYard() *yard {
	y := &yard{now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
	y.pool = &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	y.pool.Spec.Template.Metadata.Labels = map[string]string{"team": "shop"}
	spec := &y.pool.Spec.Template.Spec
	spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: "default"}
	spec.ExpireAfter = "720h"
	spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "shop", Effect: "NoSchedule"}}
	spec.Requirements = []karpv1.Requirement{
		{Key: api.LabelZone, Operator: "In", Values: []string{"a", "b"}},
		{Key: api.LabelGPUCount, Operator: "DoesNotExist"},
		{Key: "example.com/rack", Operator: "In", Values: []string{"r1", "r2"}},
	}
	y.claim = &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "default-1",
		CreationTimestamp: metav1.NewTime(y.now.Add(-3 * time.Hour)), Labels: map[string]string{
			api.LabelNodePool: "default", "team": "shop", api.LabelZone: "a", api.LabelInstanceType: "m5.large", api.LabelCapacityType: "on-demand", api.LabelArch: "amd64", api.LabelTenancy: api.TenancyDefault,
		}}}
	y.claim.Spec.NodeClassRef, y.claim.Spec.ExpireAfter, y.claim.Spec.Taints = spec.NodeClassRef, spec.ExpireAfter, spec.Taints
	y.claim.Spec.Requirements = []karpv1.Requirement{{Key: "example.com/rack", Operator: "In",
		Values: []string{"r1", "r2"}}}
	y.claim.Status.ProviderID, y.claim.Status.NodeName = "aws:///a/i-1", "node-1"
	condition.SetTrue(y.claim, karpv1.ClaimLaunched, y.now.Add(-3*time.Hour))
	hash := translate.FromNodePool(y.pool)
	y.claim.Annotations = map[string]string{
		api.AnnotationNodePoolHash: hash.Hash, api.AnnotationNodePoolHashVersion: hash.HashVersion,
		api.AnnotationNodeClassHash: "made-so", api.AnnotationNodeClassHashVersion: classVersion,
	}
	y.class = Class{Hash: "made-so", HashVersion: classVersion, Selected: &Selected{
		Images:  []Image{imageFor("ami-arm", "arm64"), imageFor("ami-new", "amd64")},
		Subnets: []string{"subnet-a", "subnet-b"}, Groups: []string{"sg-2", "sg-1"},
	}}
	y.instanceTypes = []cluster.InstanceType{{Name: "m5.large",
		Offerings: []cluster.Offering{{Zone: "a", Option: cluster.OnDemand}, {Zone: "b", Option: cluster.Spot}}}}
	y.instances = []cloud.Instance{{ID: "i-1", Image: "ami-new", Subnet: "subnet-a", Groups: []string{"sg-1", "sg-2"},
		State: cloud.Running}}
	return y
}

// reserved has the instance be launched from a reservation that its class selects.
func (y *yard) reserved(id string) {
	y.claim.Labels[api.LabelCapacityType] = api.CapacityTypeReserved
	y.instances[0].ReservedCapacity, y.class.Selected.Reservations = id, []string{id}
}

func imageFor(id, arch string) Image {
	return Image{id,
		constraint.NewRequirements(constraint.Requirement{Key: api.LabelArch, Set: constraint.Values(arch)})}
}

// drifted puts the condition on the claim, as found an hour ago.
func (y *yard) drifted(reason string) {
	condition.Set(y.claim, karpv1.ClaimDrifted, "True", reason, "as before", y.now.Add(-time.Hour))
}

func (y *yard) Pool(cluster.PoolID) (translate.PoolObject, bool) {
	o := translate.FromNodePool(y.pool)
	if y.older {
		o.ID.Kind, o.Hash = translate.KindProvisioner, ""
	}
	return o, !y.noPool
}
func (y *yard) Form(context.Context, karpv1.NodeClassReference) (Class, error) { return y.class, nil }
func (y *yard) Kinds(karpv1.NodeClassReference) (*cluster.Catalogue, string) {
	if len(y.instanceTypes) == 0 {
		return nil, "not known"
	}
	return &cluster.Catalogue{InstanceTypes: y.instanceTypes}, ""
}
func (y *yard) List(context.Context, cloud.Filter) ([]cloud.Instance, error) {
	y.lists++
	return y.instances, y.listing
}
func (y *yard) Publish(e observe.Event) { y.events = append(y.events, e) }

// open puts the claim on a server, with a finder that remembers nothing.
func (y *yard) open(t *testing.T) {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{karpv1.AddToScheme, corev1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	born := y.claim.CreationTimestamp.Time
	server := store.New(s, func() time.Time { return born })
	y.hand = server.Connect(nil)
	status := y.claim.DeepCopy().Status
	if err := y.hand.Create(t.Context(), y.claim); err != nil {
		t.Fatal(err)
	}
	y.claim.Status = status
	if err := y.hand.Status().Update(t.Context(), y.claim); err != nil {
		t.Fatal(err)
	}
	if y.node != nil {
		if err := y.hand.Create(t.Context(), y.node); err != nil {
			t.Fatal(err)
		}
	}
	counted := server.Connect(func(c store.Call) (before, after error) {
		if c.Writes() {
			if y.writes++; y.writes == 1 {
				return y.first, nil
			}
		}
		return nil, nil
	})
	y.finder = &Finder{Store: beside{counted, y}, Pools: y, Classes: y, Instances: y, Events: y,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: func() time.Time { return y.now }}
}

// beside is a client that lists DaemonSets and pods of the yard.
type beside struct {
	client.Client
	yard *yard
}

func (b beside) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	switch l := list.(type) {
	case *appsv1.DaemonSetList:
		l.Items = b.yard.sets
	case *corev1.PodList:
		l.Items = b.yard.pods
	default:
		return b.Client.List(ctx, list, options...)
	}
	return nil
}

// look checks once and returns the claim after it.
func (y *yard) look(t *testing.T) *karpv1.NodeClaim {
	t.Helper()
	if again, err := y.finder.Round(t.Context()); again != checkEvery || !errors.Is(err, y.listing) {
		t.Fatalf("looks again in %v, %v; want %v, %v", again, err, checkEvery, y.listing)
	}
	c := &karpv1.NodeClaim{}
	if err := y.hand.Get(t.Context(), client.ObjectKeyFromObject(y.claim), c); err != nil {
		t.Fatal(err)
	}
	return c
}

// verdict is the condition in words; empty where there is none.
func verdict(c *karpv1.NodeClaim) string {
	got := condition.Get(c, karpv1.ClaimDrifted)
	if got == nil {
		return ""
	}
	if got.Status != metav1.ConditionTrue {
		return "not true: " + got.Reason
	}
	return got.Reason + ": " + got.Message
}
