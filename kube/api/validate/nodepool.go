package validate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
)

// NodePool checks a pool.
func NodePool(p *karpv1.NodePool) []Finding {
	var f findings
	f.name("metadata.name", p.Name, api.LabelNodePool)
	f.marks(p.Annotations)
	const template = "spec.template.spec"
	f.labels("spec.template.metadata.labels", p.Spec.Template.Metadata.Labels, badKey)
	for i, r := range p.Spec.Template.Spec.Requirements {
		f.requirement(fmt.Sprintf("%s.requirements[%d]", template, i), r, badKey)
	}
	f.contradictions("spec.template.metadata.labels", p.Spec.Template.Metadata.Labels, template+".requirements", p.Spec.Template.Spec.Requirements)
	f.name(template+".nodeClassRef.name", p.Spec.Template.Spec.NodeClassRef.Name, api.LabelNodeClass)
	f.onDemand(p)
	f.taints(template, p.Spec.Template.Spec.Taints, p.Spec.Template.Spec.StartupTaints)
	f.length(template+".expireAfter", p.Spec.Template.Spec.ExpireAfter.Check())
	f.length(template+".terminationGracePeriod", p.Spec.Template.Spec.TerminationGracePeriod.Check())
	f.length("spec.disruption.consolidateAfter", p.Spec.Disruption.ConsolidateAfter.Check())
	for i, b := range p.Spec.Disruption.Budgets {
		f.budget(fmt.Sprintf("spec.disruption.budgets[%d]", i), b)
	}
	f.limits("spec.limits", p.Spec.Limits)
	if most, limited := p.Spec.Limits["nodes"]; limited && p.Spec.Replicas != nil && most.Value() < *p.Spec.Replicas {
		f.warn("spec.replicas", "%d is more than spec.limits.nodes allows (%s): the pool gets no more nodes than that; raise the limit, or lower the number",
			*p.Spec.Replicas, &most)
	}
	return f.all
}

// name checks that nodes can carry the name of an object as the value of a label:
// names may have 253 characters and values 63.
func (f *findings) name(field, name, label string) {
	if len(name) > content.LabelValueMaxLength {
		f.refuse(field, "%q has %d characters, and nodes carry it as label %s, which may have %d: make one with a shorter name in its place",
			name, len(name), label, content.LabelValueMaxLength)
	}
}

// marks checks what annotations of Daemok's own say about a pool.
func (f *findings) marks(annotations map[string]string) {
	_, cost := mark.InstanceCost(annotations, 0)
	_, floor := mark.Floor(annotations, cluster.Room{})
	_, first := mark.DeleteFirst(annotations)
	_, fast := mark.DeleteFast(annotations)
	_, rebalance := mark.Rebalance(annotations)
	_, repair := mark.Repair(annotations, mark.UsualRepair())
	_, hours := mark.Hours(annotations, time.Unix(0, 0))
	_, most := mark.CostLimit(annotations)
	_, onDemand := mark.OnDemandMinimum(annotations)
	_, uncommitted := mark.Uncommitted(annotations)
	for _, err := range append(mark.Misread(annotations), cost, most, onDemand, floor, first, fast, rebalance, repair, hours,
		uncommitted) {
		if wrong, ok := errors.AsType[*mark.Error](err); ok {
			f.refuse(wrong.Field(), "%s", wrong.Err)
		}
	}
	f.unknownAnnotations(annotations)
}

// onDemand warns of a pool that is to have on-demand nodes and allows none.
func (f *findings) onDemand(p *karpv1.NodePool) {
	least, err := mark.OnDemandMinimum(p.Annotations)
	if err != nil || !least.Any() {
		return
	}
	lasting := []string{string(cluster.OnDemand), string(cluster.Reserved)}
	forbids := func(r karpv1.Requirement) bool {
		allows := func(option string) bool {
			return slices.Contains(r.Values, option) == (r.Operator == corev1.NodeSelectorOpIn)
		}
		return api.Normalise(r.Key) == api.LabelCapacityType && !slices.ContainsFunc(lasting, allows)
	}
	if slices.ContainsFunc(p.Spec.Template.Spec.Requirements, forbids) {
		f.warn("metadata.annotations["+api.AnnotationOnDemandMinimum+"]",
			"%s of its nodes are to be on demand, and its requirements allow spot alone: nothing is launched; "+
				"allow on-demand in spec.template.spec.requirements, or remove the annotation", least)
	}
}

// NodeClaim checks a claim, as one made by hand must be.
func NodeClaim(c *karpv1.NodeClaim) []Finding {
	var f findings
	for i, r := range c.Spec.Requirements {
		f.requirement(fmt.Sprintf("spec.requirements[%d]", i), r, badClaimKey)
	}
	f.contradictions("", nil, "spec.requirements", c.Spec.Requirements)
	f.taints("spec", c.Spec.Taints, c.Spec.StartupTaints)
	f.length("spec.expireAfter", c.Spec.ExpireAfter.Check())
	f.length("spec.terminationGracePeriod", c.Spec.TerminationGracePeriod.Check())
	return f.all
}

func (f *findings) labels(field string, labels map[string]string, bad func(key string) string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		at := field + "[" + key + "]"
		stable := api.Normalise(key)
		if text := bad(stable); text != "" {
			f.refuse(at, "%s", text)
			continue
		}
		if problems := validation.IsValidLabelValue(labels[key]); len(problems) > 0 {
			f.refuse(at, "%q is no value of a label: %s", labels[key], strings.Join(problems, ", "))
			continue
		}
		f.fixed(at, stable, labels[key])
		if value, both := labels[stable]; both && stable != key && value != labels[key] {
			f.refuse(at, "is an older name of %s, which has another value; keep only the newer one", stable)
		}
	}
}

func (f *findings) fixed(field, key, value string) {
	if allowed := api.AllowedValues(key); allowed != nil && !slices.Contains(allowed, value) {
		f.refuse(field, "%s can only be %s", key, strings.Join(allowed, ", "))
	}
}

// taints checks both lists of an object together, since a node has both.
func (f *findings) taints(field string, taints, startup []corev1.Taint) {
	seen := map[string]string{}
	for _, list := range []struct {
		name   string
		taints []corev1.Taint
	}{{"taints", taints}, {"startupTaints", startup}} {
		for i, t := range list.taints {
			f.taint(fmt.Sprintf("%s.%s[%d]", field, list.name, i), t, seen)
		}
	}
}

func (f *findings) taint(at string, t corev1.Taint, seen map[string]string) {
	if problems := validation.IsQualifiedName(t.Key); len(problems) > 0 {
		f.refuse(at+".key", "%q is no key of a taint: %s", t.Key, strings.Join(problems, ", "))
	}
	if problems := validation.IsValidLabelValue(t.Value); len(problems) > 0 {
		f.refuse(at+".value", "%q is no value of a taint: %s", t.Value, strings.Join(problems, ", "))
	}
	switch t.Effect {
	case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
	default:
		f.refuse(at+".effect", "%q is unknown, use NoSchedule, PreferNoSchedule or NoExecute", t.Effect)
	}
	switch t.Key {
	case api.TaintDisrupted, api.TaintDisruption:
		f.refuse(at+".key", "%s is what Daemok puts on nodes that are about to go, so no pod would ever run there: remove it", t.Key)
	case api.TaintUnregistered:
		f.warn(at, "Daemok puts %s on every node and takes it off by itself: remove it", t.Key)
	}
	id := t.Key + ":" + string(t.Effect)
	if first, again := seen[id]; again {
		f.refuse(at, "%s is already in %s, a node can have it only once", id, first)
		return
	}
	seen[id] = at
}

func (f *findings) length(field string, err error) {
	if err != nil {
		f.refuse(field, "%s", err)
	}
}

// someDay begins the years in which a schedule is tried: every day that there
// is comes within the next five, 29 February included.
var someDay = time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)

// budget warns of windows that never open or mean something else than meant:
// such a budget allows no disruption at all.
func (f *findings) budget(field string, b karpv1.Budget) {
	if b.Schedule == nil {
		return
	}
	if strings.HasPrefix(*b.Schedule, "TZ=") || strings.HasPrefix(*b.Schedule, "CRON_TZ=") {
		f.warn(field+".schedule", "a time zone may not be named, the schedule is in UTC; until it is corrected the budget allows no disruption")
		return
	}
	schedule, err := cron.ParseStandard(*b.Schedule)
	switch {
	case err != nil:
		f.warn(field+".schedule", "%q is no schedule (%s); until it is corrected the budget allows no disruption", *b.Schedule, err)
	case schedule.Next(someDay).IsZero():
		f.warn(field+".schedule", "%q names a day that no calendar has; until it is corrected the budget allows no disruption", *b.Schedule)
	}
}

func (f *findings) limits(field string, limits corev1.ResourceList) {
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		if q := limits[name]; q.Sign() < 0 {
			f.warn(field+"."+string(name), "%s is less than nothing, so the pool launches no node that has %s",
				q.String(), name)
		}
		if f.refusedLimit(field+"."+string(name), name) {
			continue
		}
		if text := unknownResource(string(name)); text != "" {
			f.warn(field+"."+string(name), "%s", text)
		}
	}
}

// refusedLimit refuses a limit on "cost", which is no resource, but what plans call the limit on the cost.
func (f *findings) refusedLimit(field string, name corev1.ResourceName) bool {
	if name != cluster.LimitCost {
		return false
	}
	f.refuse(field, "%s is no resource, remove it: the annotation %s limits the cost, in dollars an hour", name,
		api.AnnotationCostLimit)
	return true
}

// Resources that limits may name: those of Kubernetes, nodes, and those that usual
// device plugins give to nodes. There may be others, in domains of their own.
var (
	nativeResources   = []string{"cpu", "memory", "nodes", "ephemeral-storage", "pods"}
	extendedResources = []string{
		"nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "aws.amazon.com/neurondevice",
		"vpc.amazonaws.com/efa", "vpc.amazonaws.com/pod-eni", "vpc.amazonaws.com/PrivateIPv4Address",
		"aws.ec2.nitro/nitro_enclaves",
	}
)

// unknownResource says that a limit is on what no node has, or probably has not;
// empty otherwise.
func unknownResource(name string) string {
	known := nativeResources
	if strings.Contains(name, "/") {
		known = extendedResources
	}
	near := nearest.DidYouMean(name, known)
	switch {
	case slices.Contains(known, name), strings.HasPrefix(name, "hugepages-"), strings.Contains(name, "/") && near == "":
		return ""
	case near == "":
		return "limits nothing, no node has a resource of this name: use one of " + strings.Join(known, ", ") + ", or the full name of an extended resource"
	}
	return "limits nothing unless nodes have a resource of this name" + near
}
