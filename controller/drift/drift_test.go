package drift

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// Each case changes one thing of an instance that is just as it should be.
func TestAInstanceDrifts(t *testing.T) {
	template := func(y *yard) *karpv1.NodeClaimTemplate { return &y.pool.Spec.Template }
	tests := map[string]struct {
		change func(*yard)
		want   string
	}{
		"not while nothing differs": {func(*yard) {}, ""},

		"SC-340 by a label of its pool": {func(y *yard) { template(y).Metadata.Labels["team"] = "bakery" },
			"NodePoolDrifted: the template of NodePool/default was changed: label team was shop and is bakery"},
		"SC-340 by a label that is gone": {func(y *yard) { template(y).Metadata.Labels = nil },
			"NodePoolDrifted: the template of NodePool/default was changed: a label or an annotation that the node still has is gone"},
		"SC-340 by an annotation": {func(y *yard) { template(y).Metadata.Annotations = map[string]string{"note": "x"} },
			"NodePoolDrifted: the template of NodePool/default was changed: annotation note was none and is x"},
		"SC-340 by taints": {func(y *yard) { template(y).Spec.Taints = nil },
			"NodePoolDrifted: the template of NodePool/default was changed: taints was dedicated=shop:NoSchedule and is none"},
		"SC-340 by startup taints": {func(y *yard) {
			template(y).Spec.StartupTaints = []corev1.Taint{{Key: "agent", Effect: "NoExecute"}}
		}, "NodePoolDrifted: the template of NodePool/default was changed: startupTaints was none and is agent:NoExecute"},
		"SC-340 by another class": {func(y *yard) { template(y).Spec.NodeClassRef.Name = "gpu" },
			"NodePoolDrifted: the template of NodePool/default was changed: nodeClassRef was EC2NodeClass/default and is EC2NodeClass/gpu"},
		"SC-340 by its term": {func(y *yard) { template(y).Spec.TerminationGracePeriod = "5m" },
			"NodePoolDrifted: the template of NodePool/default was changed: terminationGracePeriod was none and is 5m0s"},
		"SC-340 by its life": {func(y *yard) { template(y).Spec.ExpireAfter = karpv1.Never },
			"NodePoolDrifted: the template of NodePool/default was changed: expireAfter was 720h0m0s and is Never"},
		"not by another spelling": {func(y *yard) { template(y).Spec.ExpireAfter = "43200m" }, ""},
		"SC-341 not by how its pool behaves": {func(y *yard) {
			weight := int32(7)
			y.pool.Spec.Weight, y.pool.Spec.Disruption = &weight, karpv1.Disruption{ConsolidateAfter: "Never"}
			y.pool.Spec.Limits = corev1.ResourceList{}
		}, ""},

		"SC-344 by narrower requirements": {func(y *yard) { template(y).Spec.Requirements[0].Values = []string{"b"} },
			"RequirementsDrifted: label topology.kubernetes.io/zone is a; NodePool/default asks for in b"},
		"SC-344 not by wider ones": {func(y *yard) {
			template(y).Spec.Requirements[0].Values = []string{"a", "b",
				"c"}
		}, ""},
		"SC-344 by an operator": {func(y *yard) { template(y).Spec.Requirements[0].Operator = "NotIn" },
			"RequirementsDrifted: label topology.kubernetes.io/zone is a; NodePool/default asks for notin a,b"},
		"SC-344 by a label that it lacks": {func(y *yard) { template(y).Spec.Requirements[1].Operator = "Exists" },
			"RequirementsDrifted: label karpenter.k8s.aws/instance-gpu-count is missing; NodePool/default asks for exists"},
		"SC-344 by what it was ordered with": {func(y *yard) { template(y).Spec.Requirements[2].Values = []string{"r3"} },
			"RequirementsDrifted: label example.com/rack was to be in r1,r2; NodePool/default asks for in r3"},

		"by its class": {func(y *yard) { y.class.Hash = "made-anew" },
			"NodeClassDrift: EC2NodeClass/default was changed: the instance was launched from its form made-so, which is made-anew now"},
		"by its image": {func(y *yard) { y.instances[0].Image = "ami-old" },
			"AMIDrift: image is ami-old; EC2NodeClass/default selects ami-new"},
		"by an image for others": {func(y *yard) { y.instances[0].Image = "ami-arm" },
			"AMIDrift: image is ami-arm; EC2NodeClass/default selects ami-new"},
		"where no image is for it any more": {func(y *yard) { y.class.Selected.Images = y.class.Selected.Images[:1] },
			"AMIDrift: image ami-new is not selected by EC2NodeClass/default any more, and no other image for such instances is"},
		"by a group that was added": {func(y *yard) { y.class.Selected.Groups = []string{"sg-1", "sg-2", "sg-3"} },
			"SecurityGroupDrift: security groups are sg-1, sg-2; EC2NodeClass/default selects sg-1, sg-2, sg-3"},
		"by a group that was taken from it": {func(y *yard) { y.instances[0].Groups = []string{"sg-1"} },
			"SecurityGroupDrift: security groups are sg-1; EC2NodeClass/default selects sg-1, sg-2"},
		"by its subnet": {func(y *yard) { y.class.Selected.Subnets = []string{"subnet-b"} },
			"SubnetDrift: subnet is subnet-a; EC2NodeClass/default selects subnet-b"},

		"SC-346 by its pool before its class": {func(y *yard) {
			template(y).Metadata.Labels["team"] = "bakery"
			template(y).Spec.Requirements[0].Values = []string{"b"}
			y.class.Hash = "made-anew"
		}, "NodePoolDrifted: the template of NodePool/default was changed: label team was shop and is bakery"},
		"SC-346 by requirements before its class": {func(y *yard) {
			template(y).Spec.Requirements[0].Values = []string{"b"}
			y.class.Hash, y.instances[0].Image = "made-anew", "ami-old"
		}, "RequirementsDrifted: label topology.kubernetes.io/zone is a; NodePool/default asks for in b"},
		"SC-346 by its class before its image": {func(y *yard) {
			y.class.Hash, y.instances[0].Image = "made-anew", "ami-old"
		}, "NodeClassDrift: EC2NodeClass/default was changed: the instance was launched from its form made-so, which is made-anew now"},
		"not by a reservation that is selected": {func(y *yard) { y.reserved("cr-1") }, ""},
		"not by its reservation before it is told again to be in it": {func(y *yard) {
			y.reserved("cr-1")
			y.class.Selected.Reservations = nil
		}, ""},
		"by its placement group, which is another": {func(y *yard) {
			y.class.Selected.Placement,
				y.instances[0].Placement = []string{"pg-2", "web"}, "pg-1"
		},
			"PlacementGroupDrift: placement group is pg-1; EC2NodeClass/default selects pg-2, web"},
		"by a placement group that is asked for now": {func(y *yard) {
			y.class.Selected.Placement = []string{"pg-1",
				"web"}
		},
			"PlacementGroupDrift: placement group is none; EC2NodeClass/default selects pg-1, web"},
		"not in the placement group that is asked for": {func(y *yard) {
			y.class.Selected.Placement, y.instances[0].Placement = []string{"pg-1", "web"}, "pg-1"
		}, ""},
		"by a placement group where none is asked for now": {func(y *yard) { y.instances[0].Placement = "pg-1" },
			"PlacementGroupDrift: placement group is pg-1; EC2NodeClass/default selects none"},
		"by its image before its groups, and by those before its subnet": {func(y *yard) {
			y.instances[0] = cloud.Instance{ID: "i-1", Image: "ami-old", State: cloud.Running}
		}, "AMIDrift: image is ami-old; EC2NodeClass/default selects ami-new"},

		"SC-347 no longer, when all is as it was": {func(y *yard) { y.drifted(karpv1.ReasonAMIDrift) }, ""},
		"SC-347 not before it is launched": {func(y *yard) {
			y.drifted(karpv1.ReasonAMIDrift)
			condition.SetUnknown(y.claim, karpv1.ClaimLaunched, "", "", y.now)
			template(y).Metadata.Labels["team"] = "bakery"
		}, ""},
		"SC-300 not where it has no pool": {func(y *yard) { y.noPool, y.class.Hash = true, "made-anew" }, ""},

		"not because the class is not ready": {func(y *yard) {
			y.class.Selected, y.instances[0].Image = nil,
				"ami-old"
		}, ""},
		"still, while the class is not ready": {func(y *yard) {
			y.drifted(karpv1.ReasonAMIDrift)
			y.class.Selected = nil
		}, "AMIDrift: as before"},
		"not because the class selects nothing": {func(y *yard) { y.class.Selected = &Selected{} }, ""},
		"not before the cloud tells of it": {func(y *yard) {
			y.class.Selected.Subnets,
				y.instances = []string{"subnet-b"}, nil
		}, ""},
		"still, while the cloud does not answer": {func(y *yard) {
			y.drifted(karpv1.ReasonSubnetDrift)
			y.listing = errors.New("throttled")
		}, "SubnetDrift: as before"},
		"not while it is ending": {func(y *yard) {
			y.instances[0] = cloud.Instance{ID: "i-1", State: cloud.ShuttingDown}
		}, ""},
		"not for a class that is gone": {func(y *yard) { y.class, y.instanceTypes = Class{}, nil }, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			y := newYard()
			tt.change(y)
			y.open(t)
			c := y.look(t)
			if got := verdict(c); got != tt.want {
				t.Errorf("drifted: %q, want %q", got, tt.want)
			}
			stable := y.writes
			if y.look(t); y.writes != stable {
				t.Errorf("the second look wrote again, after %d writes", stable)
			}
			reported := 0
			if tt.want != "" && tt.want != verdict(y.claim) {
				reported = 1
			}
			if len(y.events) != reported || reported == 1 && y.events[0].Message != tt.want {
				t.Errorf("events: %+v, want %d about %q", y.events, reported, tt.want)
			}
		})
	}
}

// SC-345: a type must be missing for half an hour without a break.
func TestATypeThatIsNoLongerOffered(t *testing.T) {
	elsewhere := []cluster.InstanceType{{Name: "m5.large",
		Offerings: []cluster.Offering{{Zone: "b", Option: cluster.OnDemand}, {Zone: "a", Option: cluster.Spot}}}}
	others := []cluster.InstanceType{{Name: "m7.large"}}
	reserved := []cluster.InstanceType{{Name: "m5.large",
		Offerings: []cluster.Offering{{Zone: "a", Option: cluster.Reserved}}}}
	tenanted := func(tenancy string) []cluster.InstanceType {
		return []cluster.InstanceType{{Name: "m5.large",
			Offerings: []cluster.Offering{{Zone: "a", Option: cluster.OnDemand,
				Labels: constraint.Labels{{Key: api.LabelTenancy, Value: tenancy}}}}}}
	}
	usual, alone := tenanted(api.TenancyDefault), tenanted(api.TenancyDedicated)
	type step struct {
		after         time.Duration
		instanceTypes []cluster.InstanceType // none: not known
		want          string
	}
	const gone = "InstanceTypeNotFound: EC2NodeClass/default does not offer type m5.large any more"
	offered := newYard().instanceTypes
	tests := map[string]struct {
		age   time.Duration
		steps []step
	}{
		"SC-345 the type": {3 * time.Hour,
			[]step{{0, others, ""}, {29 * time.Minute, others, ""}, {time.Minute, others, gone},
				{time.Minute, offered, ""}}},
		"SC-345 its offer": {3 * time.Hour, []step{{0, elsewhere, ""}, {30 * time.Minute, elsewhere,
			"InstanceTypeNotFound: EC2NodeClass/default does not offer type m5.large in a, on-demand, any more"}}},
		"SC-207 a reserved machine is one on demand": {3 * time.Hour,
			[]step{{0, reserved, ""}, {40 * time.Minute, reserved, ""}}},
		"its tenancy": {3 * time.Hour,
			[]step{{0, usual, ""}, {40 * time.Minute, usual, ""}, {time.Minute, alone, ""}, {30 * time.Minute, alone,
				"InstanceTypeNotFound: EC2NodeClass/default does not offer type m5.large in a, on-demand, any more"}}},
		"for a while only": {3 * time.Hour,
			[]step{{0, others, ""}, {20 * time.Minute, offered, ""}, {20 * time.Minute, others, ""},
				{20 * time.Minute, others, ""}}},
		"a young machine": {time.Minute,
			[]step{{0, others, ""}, {40 * time.Minute, others, ""}, {20 * time.Minute, others, gone}}},
		"not known what is sold": {3 * time.Hour,
			[]step{{0, nil, ""}, {40 * time.Minute, nil, ""}, {0, others, ""}}},
		"still, while that is not known": {3 * time.Hour,
			[]step{{0, others, ""}, {30 * time.Minute, others, gone}, {time.Minute, nil, gone}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			y := newYard()
			y.claim.CreationTimestamp.Time = y.now.Add(-tt.age)
			y.open(t)
			for i, s := range tt.steps {
				y.now, y.instanceTypes = y.now.Add(s.after), s.instanceTypes
				if got := verdict(y.look(t)); got != s.want {
					t.Errorf("look %d: %q, want %q", i+1, got, s.want)
				}
			}
		})
	}
}

// A reservation that ends is selected no more, as one that its class's users have taken
// from it. The cloud's next list of the instance says which it is: it is in it still, or
// has left it and goes on as one on demand.
func TestAReservationThatIsSelectedNoMore(t *testing.T) {
	tests := map[string]struct {
		change func(*yard)
		want   string
	}{
		"SC-501 its class does not select it any more": {func(*yard) {},
			"CapacityReservationDrift: capacity reservation is cr-1, which EC2NodeClass/default selects no more"},
		"it has ended":                                {func(y *yard) { y.instances[0].ReservedCapacity = "" }, ""},
		"it is selected again":                        {func(y *yard) { y.class.Selected.Reservations = []string{"cr-1"} }, ""},
		"EC2 put a machine on demand into it":         {func(y *yard) { y.claim.Labels[api.LabelCapacityType] = api.CapacityTypeOnDemand }, ""},
		"its class does not select it, and is no use": {func(y *yard) { y.class.Selected = nil }, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			y := newYard()
			y.reserved("cr-1")
			y.open(t)
			y.look(t)
			y.class.Selected.Reservations = nil
			for range 2 {
				y.now = y.now.Add(time.Second)
				y.finder.ClassChanged()
				if got := verdict(y.look(t)); got != "" {
					t.Errorf("drifted: %q, before the cloud has told of it again", got)
				}
			}
			tt.change(y)
			if err := y.hand.Update(t.Context(), y.claim); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				y.now = y.now.Add(instancesEvery)
				if got := verdict(y.look(t)); got != tt.want {
					t.Errorf("drifted: %q, want %q", got, tt.want)
				}
			}
		})
	}
}

// The moment of the condition is when the instance drifted first, whatever else differs
// later: those that drifted first go first.
func TestTheMomentOfDriftStays(t *testing.T) {
	y := newYard()
	y.open(t)
	y.instances[0].Image = "ami-old"
	first := condition.Get(y.look(t), karpv1.ClaimDrifted).LastTransitionTime
	y.now = y.now.Add(time.Hour)
	y.class.Hash = "made-anew"
	c := y.look(t)
	if now := condition.Get(c,
		karpv1.ClaimDrifted); now.Reason != karpv1.ReasonNodeClassDrift || !now.LastTransitionTime.Equal(&first) {
		t.Errorf("drifted since %v with %s, want since %v with %s", now.LastTransitionTime, now.Reason, first,
			karpv1.ReasonNodeClassDrift)
	}
	if len(y.events) != 2 {
		t.Errorf("told %d times of two ways to drift", len(y.events))
	}
}

// A claim that another writer changed meanwhile is checked again at once, and not when a
// check is due anyway.
func TestAClaimThatWasWrittenMeanwhileIsLookedAtAgain(t *testing.T) {
	y := newYard()
	y.class.Hash = "otherwise"
	y.first = apierrors.NewConflict(schema.GroupResource{Resource: "nodeclaims"}, y.claim.Name,
		errors.New("it was changed"))
	y.open(t)
	if again, err := y.finder.Round(t.Context()); again != recheck || err != nil {
		t.Errorf("looks again in %v, %v; want %v", again, err, recheck)
	}
	if got := verdict(y.look(t)); !strings.HasPrefix(got, karpv1.ReasonNodeClassDrift) {
		t.Errorf("the look after it says %q", got)
	}
}

// The cloud is asked once in a while for all instances, not for each.
func TestTheCloudIsSeldomAsked(t *testing.T) {
	y := newYard()
	y.open(t)
	for range 12 {
		y.look(t)
		y.now = y.now.Add(time.Minute)
	}
	if y.lists != 3 { // after 0, 5 and 10 minutes
		t.Errorf("listed machines %d times in 12 minutes, want 3", y.lists)
	}
}

// An instance that is younger than the cloud's last list is asked for once its class is
// another, and for nothing else; where none is, nothing is asked.
func TestYoungInstancesOfAClassThatChangedAreAskedFor(t *testing.T) {
	y := newYard()
	reported := y.instances
	y.instances = nil
	y.open(t)
	y.look(t) // the cloud reports nothing yet

	launch := y.claim.DeepCopy()
	y.now = y.now.Add(time.Minute)
	condition.Clear(launch, karpv1.ClaimLaunched)
	condition.SetTrue(launch, karpv1.ClaimLaunched, y.now)
	if err := y.hand.Status().Update(t.Context(), launch); err != nil {
		t.Fatal(err)
	}
	y.instances, y.class.Selected.Images = reported, []Image{imageFor("ami-newer", "amd64")}
	if got := verdict(y.look(t)); got != "" || y.lists != 1 {
		t.Errorf("before anybody says that the class changed: %q after %d lists, want none after 1", got, y.lists)
	}
	const want = "AMIDrift: image is ami-new; EC2NodeClass/default selects ami-newer"
	for range 3 {
		y.now = y.now.Add(time.Second)
		y.finder.ClassChanged()
		if got := verdict(y.look(t)); got != want || y.lists != 2 {
			t.Errorf("after the class changed: %q after %d lists, want %q after 2", got, y.lists, want)
		}
	}
}

// SC-342: fingerprints of another version, or none, say nothing and are replaced.
func TestFingerprintsOfAnotherVersionAreReplaced(t *testing.T) {
	const old = "v3"
	tests := map[string]struct {
		change func(*yard)
		want   string // of the condition
		pool   string // the fingerprint left; empty: that of now
		class  string
	}{
		"SC-342 another version": {func(y *yard) {
			y.claim.Annotations[api.AnnotationNodePoolHash], y.claim.Annotations[api.AnnotationNodePoolHashVersion] = "123", old
			y.claim.Annotations[api.AnnotationNodeClassHash], y.claim.Annotations[api.AnnotationNodeClassHashVersion] = "456", old
		}, "", "", ""},
		"SC-342 none": {func(y *yard) { y.claim.Annotations = nil }, "", "", ""},
		"not where it has drifted by it": {func(y *yard) {
			y.drifted(karpv1.ReasonNodeClassDrift)
			y.claim.Annotations[api.AnnotationNodeClassHash], y.claim.Annotations[api.AnnotationNodeClassHashVersion] = "456", old
		}, "NodeClassDrift: EC2NodeClass/default was changed: the instance was launched from its form 456, which is made-so now", "", "456"},
		"where it has drifted by something else": {func(y *yard) {
			y.drifted(karpv1.ReasonSubnetDrift)
			y.claim.Annotations[api.AnnotationNodePoolHash], y.claim.Annotations[api.AnnotationNodePoolHashVersion] = "123", old
		}, "", "", ""},
		"not while the class is not known": {func(y *yard) {
			y.class = Class{}
			y.claim.Annotations[api.AnnotationNodeClassHash], y.claim.Annotations[api.AnnotationNodeClassHashVersion] = "456", old
		}, "", "", "456"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			y := newYard()
			if tt.pool == "" {
				tt.pool = y.claim.Annotations[api.AnnotationNodePoolHash]
			}
			if tt.class == "" {
				tt.class = y.class.Hash
			}
			tt.change(y)
			y.open(t)
			c := y.look(t)
			if got := verdict(c); got != tt.want {
				t.Errorf("drifted: %q, want %q", got, tt.want)
			}
			if pool, class := c.Annotations[api.AnnotationNodePoolHash], c.Annotations[api.AnnotationNodeClassHash]; pool != tt.pool || class != tt.class {
				t.Errorf("fingerprints are %s and %s, want %s and %s", pool, class, tt.pool, tt.class)
			}
			stable := y.writes
			if y.look(t); y.writes != stable {
				t.Errorf("the second look wrote again, after %d writes", stable)
			}
		})
	}
}
