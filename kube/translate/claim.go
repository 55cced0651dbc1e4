package translate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/device"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// ClaimName is the name of a claim of the pool that id, five characters, makes its own.
func ClaimName(pool cluster.PoolID, id string) string { return pool.Name + "-" + id }

// Claim turns one launch of a plan into the claim that asks for its instance. id ends its name.
func Claim(pool PoolObject, l plan.Launch, id string) (*karpv1.NodeClaim, error) {
	decision, err := json.Marshal(decisionOf(l))
	if err != nil {
		return nil, fmt.Errorf("describe the decision for %s: %w", l.Name, err)
	}
	annotations := maps.Clone(pool.Template.Metadata.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	recordMaking(annotations, pool)
	annotations[api.AnnotationDecision] = string(decision)
	annotations[api.AnnotationForPods] = forPods(l.Pods)
	if drivers := driversOf(l); len(drivers) > 0 {
		annotations[api.AnnotationRequestedDRADrivers] = strings.Join(drivers, ",")
	}
	if requests := forRequests(l.Virtual); requests != "" {
		annotations[api.AnnotationForRequests] = requests
	}
	if err := SetJoins(annotations, l.Joins); err != nil {
		return nil, fmt.Errorf("describe whom %s waits for: %w", l.Name, err)
	}
	if l.Relaxed || slices.ContainsFunc(l.Requirements, func(r constraint.Requirement) bool { return r.MinValues > 0 }) {
		annotations[api.AnnotationMinValuesRelaxed] = strconv.FormatBool(l.Relaxed)
	}
	template := pool.Template.Spec
	return &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name:            ClaimName(pool.ID, id),
			Labels:          PoolLabels(pool).Merge(l.Labels).Map(),
			Annotations:     annotations,
			Finalizers:      []string{api.FinalizerTermination},
			OwnerReferences: []metav1.OwnerReference{ownedByPool(pool)},
		},
		Spec: karpv1.NodeClaimSpec{
			Taints:                 template.Taints,
			StartupTaints:          template.StartupTaints,
			Requirements:           claimRequirements(pool, l),
			Resources:              karpv1.ResourceRequirements{Requests: ResourceList(device.Without(l.Requests))},
			NodeClassRef:           template.NodeClassRef,
			ExpireAfter:            template.ExpireAfter,
			TerminationGracePeriod: template.TerminationGracePeriod,
		},
	}, nil
}

// driversOf names the drivers of dynamic resource allocation whose devices pods of a launch request, sorted.
func driversOf(l plan.Launch) (out []string) {
	for i := range l.Pods {
		out = append(out, l.Pods[i].Shape.Drivers...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// RequestedDrivers names the drivers that have to publish devices of the claim's node before it is initialized.
func RequestedDrivers(c *karpv1.NodeClaim) (out []string) {
	for _, driver := range strings.Split(c.Annotations[api.AnnotationRequestedDRADrivers], ",") {
		if driver = strings.TrimSpace(driver); driver != "" {
			out = append(out, driver)
		}
	}
	return out
}

// KnownLabels are the labels of the claim's node, as far as they are certain. Those that
// the instance decides are not before it is known, but for values that the claim's
// requirements leave no choice about: an attempt whose instance is gone may have left its own.
func KnownLabels(claim *karpv1.NodeClaim, requirements constraint.Requirements) map[string]string {
	if claim.Status.ProviderID != "" {
		return claim.Labels
	}
	out := maps.Clone(claim.Labels)
	maps.DeleteFunc(out, func(key, value string) bool {
		only, finite := requirements.Get(key).Finite()
		return api.IsOfInstances(key) && !(finite && slices.Equal(only, []string{value}))
	})
	return out
}

// claimRequirements are what the plan asks of the instance, and the pool's name, without what only
// the pods of this moment meant and without labels that claims cannot speak of: the types that the
// plan names meet those.
func claimRequirements(pool PoolObject, l plan.Launch) []karpv1.Requirement {
	var kept constraint.Requirements
	for _, r := range l.Requirements {
		if r.Key != cluster.LabelHostname && r.Key != FieldName && !api.IsOfOlderAPI(r.Key) {
			kept = append(kept, r)
		}
	}
	return withPool(pool, kept)
}

func withPool(pool PoolObject, kept constraint.Requirements) []karpv1.Requirement {
	if pool.ID.Kind == KindNodePool && !kept.Has(api.LabelNodePool) {
		kept = kept.And(constraint.Requirement{Key: api.LabelNodePool, Set: constraint.Values(pool.ID.Name)})
	}
	return RequirementList(kept)
}

func ownedByPool(pool PoolObject) metav1.OwnerReference {
	block := true
	return metav1.OwnerReference{
		APIVersion: pool.APIVersion, Kind: pool.ID.Kind,
		Name: pool.ID.Name, UID: pool.Object.GetUID(), BlockOwnerDeletion: &block,
	}
}

// Decision is why an instance was chosen, as the annotation daemok.sh/decision has it in JSON.
// Prices are in dollars per hour, absent where unknown.
type Decision struct {
	Type      string     `json:"type"`
	Zone      string     `json:"zone"`
	Option    string     `json:"option"`
	Price     *float64   `json:"price,omitempty"`
	Cost      *float64   `json:"cost,omitempty"` // with what comes beside the price; absent where nothing does
	WhyNot    string     `json:"whyNot,omitempty"`
	Reason    string     `json:"reason,omitempty"`
	RunnersUp []Decision `json:"runnersUp,omitempty"`
}

func decisionOf(l plan.Launch) Decision {
	d := choiceOf(l.Choice)
	d.Reason = l.Reason
	for _, c := range l.RunnersUp {
		d.RunnersUp = append(d.RunnersUp, choiceOf(c))
	}
	return d
}

func choiceOf(c plan.Choice) Decision {
	d := Decision{Type: c.Kind, Zone: c.Zone, Option: string(c.Option), WhyNot: c.WhyNot}
	if c.Priced {
		dollars := float64(c.Price) / 1e6
		d.Price = &dollars
		if c.Beside != 0 {
			cost := float64(c.Cost()) / 1e6
			d.Cost = &cost
		}
	}
	return d
}

// Forceful is the termination mode of a claim whose pods hold nothing up.
const Forceful = "forceful"

// TerminationMode is how pods may hold up the end of the claim's node, in the
// words of Karpenter's metrics.
func TerminationMode(claim *karpv1.NodeClaim) string {
	grace, set := claim.Spec.TerminationGracePeriod.Value()
	switch {
	case !set:
		return "graceful"
	case grace <= 0:
		return Forceful
	}
	return "eventual"
}
