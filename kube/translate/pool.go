package translate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/fingerprint"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
)

// PoolObject is a pool as its API holds it, whatever the generation. Object
// is the resource itself, for ownership and events.
type PoolObject struct {
	ID          cluster.PoolID
	APIVersion  string
	Object      PoolResource
	Template    karpv1.NodeClaimTemplate
	Class       karpv1.NodeClassReference // whose settings its instances have: that of the template, or the pool itself
	Limits      corev1.ResourceList
	Weight      int
	Disruption  karpv1.Disruption
	Replicas    *int64 // of a static pool: how many nodes it keeps; nil: pods decide
	Hash        string // of what makes its nodes drift, taken from this very Template
	HashVersion string
	Made        string        // what its nodes are made from, by a fingerprint that they do not drift by: see OfOlderSpec; empty: not known
	ClassMade   string        // the same of its class
	Punctual    bool          // an empty node is gone when consolidateAfter is over, and not just closed to pods; it carries since when it is: see EmptySince
	Renew       time.Duration // the age at which its nodes are replaced gracefully; 0: they are not
	NotReady    string        // why nothing may be launched; empty if it may
	DeletedAt   time.Time     // since when all its nodes are to go, since it is being deleted; zero: they are not
	Annotations map[string]string
	PoolDefaults
}

// PoolDefaults are settings of pools whose annotations do not say otherwise.
type PoolDefaults struct {
	ClusterAutoscaler mark.ClusterAutoscaler   // whether what users wrote for it counts
	InstanceCost      quantity.MicroUSDPerHour // what each instance costs beside its type and volumes
	Room              cluster.Room             // what instances are to leave to pods
	Repair            cluster.Repair           // when unhealthy nodes are repaired: of these, and of nodes without a pool
}

// FromNodePool reads a NodePool. Its hash is worked out again, since the one in
// its annotations is that of an older template for a moment after every edit:
// a claim made then would count as drifted later.
func FromNodePool(p *karpv1.NodePool) PoolObject {
	o := PoolObject{
		ID:          cluster.PoolID{Kind: KindNodePool, Name: p.Name},
		APIVersion:  karpv1.GroupVersion.String(),
		Object:      p,
		Template:    p.Spec.Template,
		Class:       p.Spec.Template.Spec.NodeClassRef,
		Limits:      p.Spec.Limits,
		Disruption:  p.Spec.Disruption,
		Replicas:    p.Spec.Replicas,
		Hash:        fingerprint.NodePool(p),
		HashVersion: fingerprint.Version,
		NotReady:    NotReady(p),
		DeletedAt:   DeletedAt(p),
		Annotations: p.Annotations,
	}
	if p.Spec.Weight != nil {
		o.Weight = int(*p.Spec.Weight)
	}
	return o
}

// NotReady says why nothing may be launched for a pool, by what is written on it; empty: it may. It does not use what
// the pool's status says of its class: the code that lists the instance types asks the class itself, so that two pools of
// one class are ready in the same moment and the one with the greater weight is preferred.
func NotReady(p PoolResource) string {
	if p.GetDeletionTimestamp() != nil {
		return cluster.PoolDeleting
	}
	c := condition.Get(p, karpv1.NodePoolValidationSucceeded)
	if c == nil {
		return "its condition " + karpv1.NodePoolValidationSucceeded + " is not known yet"
	}
	if c.Status != "True" {
		return strings.TrimSuffix(fmt.Sprintf("%s: %s", c.Reason, condition.WithoutWarnings(c.Message)), ": ")
	}
	return ""
}

// ClassOf is the class whose settings the claim's instance has. A Provisioner says more of
// instances than the class that claims name: what their kubelets do.
func ClassOf(claim *karpv1.NodeClaim) karpv1.NodeClassReference {
	if pool := PoolOf(claim); pool.Kind == KindProvisioner {
		return ClassOfProvisioner(pool.Name)
	}
	return claim.Spec.NodeClassRef
}

// ClassOfProvisioner is a Provisioner as the class of its instances.
func ClassOfProvisioner(name string) karpv1.NodeClassReference {
	return karpv1.NodeClassReference{Group: api.GroupKarpenter, Kind: KindProvisioner, Name: name}
}

// ClassID names a class: its kind and name.
func ClassID(ref karpv1.NodeClassReference) string { return ref.Kind + "/" + ref.Name }

// IsForeign reports whether a class is another provider's. A group that is not
// written is taken for ours: the API server refuses objects without it. A Provisioner
// may be its own class.
func IsForeign(ref karpv1.NodeClassReference) bool {
	ownClass := ref.Group == api.GroupKarpenter && ref.Kind == KindProvisioner
	return ref.Group != "" && ref.Group != api.GroupAWS && !ownClass
}

// ClassLabel is the label that a node of the class carries.
func ClassLabel(ref karpv1.NodeClassReference) string {
	return ref.Group + "/" + strings.ToLower(ref.Kind)
}

// Pool converts a pool for the core. Usage, Nodes and Catalogue are filled in by the caller; nodes
// is how many of its nodes budgets in per cent are of.
func Pool(o PoolObject, nodes int64, now time.Time) (cluster.Pool, error) {
	requirements, err := PoolRequirements(o)
	if err != nil {
		return cluster.Pool{}, fmt.Errorf("%s: %w", o.ID, err)
	}
	cost, err := mark.InstanceCost(o.Annotations, o.InstanceCost)
	if err != nil {
		return cluster.Pool{}, fmt.Errorf("%s: %w", o.ID, err)
	}
	floor, err := mark.Floor(o.Annotations, o.Room)
	if err != nil {
		return cluster.Pool{}, fmt.Errorf("%s: %w", o.ID, err)
	}
	deleteFirst, err := mark.DeleteFirst(o.Annotations)
	if err != nil {
		return cluster.Pool{}, fmt.Errorf("%s: %w", o.ID, err)
	}
	uncommitted, err := mark.Uncommitted(o.Annotations)
	if err != nil {
		return cluster.Pool{}, fmt.Errorf("%s: %w", o.ID, err)
	}
	hours, err := mark.Hours(o.Annotations, now)
	if err != nil {
		return cluster.Pool{}, fmt.Errorf("%s: %w", o.ID, err)
	}
	limits, replicas := limits(o.Limits), o.Replicas
	if limits.Cost, err = mark.CostLimit(o.Annotations); err != nil {
		return cluster.Pool{}, fmt.Errorf("%s: %w", o.ID, err)
	}
	onDemand, err := mark.OnDemandMinimum(o.Annotations)
	if err != nil {
		return cluster.Pool{}, fmt.Errorf("%s: %w", o.ID, err)
	}
	switch {
	case hours.Nodes == nil:
	case replicas != nil:
		replicas = hours.Nodes
	case limits.Nodes == nil || *hours.Nodes < *limits.Nodes:
		limits.Nodes = hours.Nodes
	}
	rules := Policy(o, nodes, now)
	rules.DeleteFirst = deleteFirst
	lasting, starting := parted(o.Template.Spec.Taints, o.Template.Spec.StartupTaints, o.ClusterAutoscaler)
	return cluster.Pool{
		ID:            o.ID,
		Weight:        o.Weight,
		Labels:        PoolLabels(o),
		Requirements:  requirements,
		Floor:         floor,
		InstanceCost:  cost,
		Taints:        lasting,
		StartupTaints: starting,
		Limits:        limits,
		OnDemand:      onDemand,
		Replicas:      replicas,
		Hours:         hours,
		NotReady:      o.NotReady,
		Uncommitted:   uncommitted,
		Policy:        rules,
		Repair:        Repair(o),
	}, nil
}

// Unreadable is what the core knows of a pool that Pool cannot convert: it launches nothing and loses nothing.
func Unreadable(o PoolObject, err error) cluster.Pool {
	return cluster.Pool{ID: o.ID, Replicas: o.Replicas, Hours: cluster.Hours{Unknown: true},
		NotReady: cmp.Or(o.NotReady, err.Error()), Policy: cluster.Policy{Never: true}}
}

// parted divides the taints of a template into those that pods must tolerate and those that nodes lose while they
// start.
func parted(taints, startup []corev1.Taint, autoscaler mark.ClusterAutoscaler) (lasting, starting []constraint.Taint) {
	lasting, starting = make([]constraint.Taint, 0, len(taints)), Taints(startup)
	for _, t := range taints {
		one := constraint.Taint{Key: t.Key, Value: t.Value, Effect: constraint.Effect(t.Effect)}
		if autoscaler.Starts(t) {
			starting = append(starting, one)
		} else {
			lasting = append(lasting, one)
		}
	}
	return lasting, starting
}

// PoolLabels are the labels every node of the pool gets, those of the system
// included.
func PoolLabels(o PoolObject) constraint.Labels {
	labels := map[string]string{}
	for key, value := range o.Template.Metadata.Labels {
		labels[NormaliseKey(key)] = value
	}
	labels[PoolLabel(o.ID.Kind)] = o.ID.Name
	ref := o.Template.Spec.NodeClassRef
	labels[ClassLabel(ref)] = ref.Name
	return constraint.NewLabels(labels)
}

// PoolRequirements are those of the pool's template. A label of the template that
// instances define, such as their capacity type, is a requirement like any other.
func PoolRequirements(o PoolObject) (constraint.Requirements, error) {
	out, err := Requirements(o.Template.Spec.Requirements)
	if err != nil {
		return nil, fmt.Errorf("spec.template.spec.requirements: %w", err)
	}
	for key, value := range o.Template.Metadata.Labels {
		if api.IsOfInstances(key) {
			out = out.And(constraint.Requirement{Key: NormaliseKey(key), Set: constraint.Values(value)})
		}
	}
	return out, nil
}

// Unoffered says which label the pool requires that no instance type of its catalogue
// has, though instances alone define it; empty: there is none.
func Unoffered(p *cluster.Pool) string {
	for _, r := range p.Requirements {
		if api.IsOfInstances(r.Key) && !r.Set.AllowsAbsent() && p.Catalogue != nil && !p.Catalogue.Has(r.Key) {
			return fmt.Sprintf("no instance type of its node class has label %s, which the pool requires: %s", r.Key, r.Set)
		}
	}
	return ""
}

// Requirements converts a list of requirements; several on one key all hold,
// and the largest minValues counts.
func Requirements(list []karpv1.Requirement) (constraint.Requirements, error) {
	var out constraint.Requirements
	for _, r := range list {
		c, err := Requirement(r.Key, string(r.Operator), r.Values)
		if err != nil {
			return nil, err
		}
		if r.MinValues != nil {
			c.MinValues = *r.MinValues
		}
		out = out.And(c)
	}
	return out, nil
}

// RequirementList converts requirements back. MinValues stands on the first
// operator of its key.
func RequirementList(rs constraint.Requirements) []karpv1.Requirement {
	var out []karpv1.Requirement
	for _, r := range rs {
		for i, term := range r.Set.Terms() {
			one := karpv1.Requirement{Key: r.Key, Operator: corev1.NodeSelectorOperator(term.Op), Values: term.Values}
			if i == 0 && r.MinValues > 0 {
				one.MinValues = &r.MinValues
			}
			out = append(out, one)
		}
	}
	return out
}

func limits(list corev1.ResourceList) cluster.Limits {
	var out cluster.Limits
	for name, amount := range list {
		n := Amount(string(name), amount)
		if name == api.ResourceNodes {
			out.Nodes = &n
			continue
		}
		out.Amounts = append(out.Amounts, quantity.Extended{Name: string(name), Amount: n})
	}
	slices.SortFunc(out.Amounts, func(a, b quantity.Extended) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// ConsolidateAfter is how long a node must have been quiet before it is
// consolidated; ever is false where it never is. Nothing said is no time.
func ConsolidateAfter(d karpv1.Disruption) (after time.Duration, ever bool) {
	if d.ConsolidateAfter == "" {
		return 0, true
	}
	return d.ConsolidateAfter.Value()
}

// Policy is how nodes of a pool may be disrupted now, where it has so many.
func Policy(o PoolObject, nodes int64, now time.Time) cluster.Policy {
	d := o.Disruption
	after, ever := ConsolidateAfter(d)
	budgets := readBudgets(d.Budgets, now)
	out := cluster.Policy{Renew: o.Renew, After: after, Never: !ever, Empty: budgets.allow(karpv1.ReasonEmpty, nodes),
		Drifted: budgets.allow(karpv1.ReasonDrifted, nodes), Underutilized: budgets.allow(karpv1.ReasonUnderutilized, nodes), BudgetsChange: budgets.change(now)}
	if o.Punctual {
		out.Lead = StabilizeFor
	}
	if why := RollKeeps(o, ""); why != "" {
		out.Drifted = cluster.Allowance{Closed: why}
	}
	if policy := cluster.Consolidation(d.ConsolidationPolicy); policy == cluster.WhenEmpty || policy == cluster.Balanced {
		out.Consolidate = policy
	}
	return out
}
