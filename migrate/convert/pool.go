package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/translate/provisioner"
)

// pool is a NodePool that was made, and what its nodes need of a class.
type pool struct {
	from    *subject
	out     *karpv1.NodePool
	class   string         // by its name before classes are parted
	inline  bool           // the class was made of the pool's own manifest
	older   bool           // made of the oldest generation
	kubelet *awsv1.Kubelet // nil: nothing is said
	field   string         // where the kubelet's settings stand
}

// lastApplied is what kubectl remembers of an older manifest.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// written are annotations that a controller wrote.
var written = []string{lastApplied, api.AnnotationProvisionerHash, api.AnnotationNodeTemplateHash, api.AnnotationNodePoolHash, api.AnnotationNodePoolHashVersion,
	api.AnnotationNodeClassHash, api.AnnotationNodeClassHashVersion, api.AnnotationPlacementGroup, api.AnnotationDedicatedReservations, api.AnnotationLaunchForms}

// meta is what objects keep of their metadata.
func meta(from metav1.ObjectMeta, without ...string) metav1.ObjectMeta {
	out := metav1.ObjectMeta{Name: from.Name, Labels: maps.Clone(from.Labels), Annotations: maps.Clone(from.Annotations)}
	for _, key := range slices.Concat(without, written) {
		delete(out.Annotations, key)
	}
	if len(out.Annotations) == 0 {
		out.Annotations = nil
	}
	return out
}

// leftOut reports what objects do not keep of their metadata.
func leftOut(s *subject, m metav1.ObjectMeta) {
	ours := []string{api.FinalizerTermination, api.FinalizerPoolTermination}
	if others := slices.DeleteFunc(slices.Clone(m.Finalizers), func(f string) bool { return slices.Contains(ours, f) }); len(others) > 0 {
		s.note(Loses, "metadata.finalizers", "%s left out: what waits for the deletion of the old object does not know the new one", strings.Join(others, ", "))
	}
	if len(m.OwnerReferences) > 0 {
		s.note(Loses, "metadata.ownerReferences", "left out: have %s %s create the new object instead of the old one", m.OwnerReferences[0].Kind, m.OwnerReferences[0].Name)
	}
}

// provisioner makes a NodePool, and a class where the settings are inline.
func (c *converter) provisioner(s *subject, p *v1alpha5.Provisioner) {
	view := provisioner.Pool(p)
	out := &karpv1.NodePool{
		TypeMeta:   metav1.TypeMeta{APIVersion: karpv1.GroupVersion.String(), Kind: "NodePool"},
		ObjectMeta: meta(p.ObjectMeta, api.AnnotationBudgets, api.AnnotationRoll),
		Spec: karpv1.NodePoolSpec{
			Template: view.Template, Disruption: view.Disruption, Limits: view.Limits, Weight: p.Spec.Weight,
		},
	}
	if len(out.Spec.Limits) == 0 {
		out.Spec.Limits = nil
	}
	made := &pool{from: s, out: out, older: true, field: "spec.kubeletConfiguration"}
	leftOut(s, p.ObjectMeta)
	t := &out.Spec.Template
	reportWarnings(s, validate.Provisioner(p))
	if _, rolled := p.Annotations[api.AnnotationRoll]; rolled {
		s.note(Loses, "metadata.annotations["+api.AnnotationRoll+"]", "was of the Provisioner's nodes of that time, it is left out")
	}
	c.labels(s, p, t)
	requirements(s, p, t)
	ages(s, p, t)
	c.removal(s, p, out)
	if p.Spec.KubeletConfiguration != nil {
		made.kubelet = kubeletOf(s, made.field, p.Spec.KubeletConfiguration)
	}
	name, named := p.Spec.Template()
	made.class, made.inline = name, !named
	switch {
	case !named:
		made.class = p.Name
		c.inline(s, p)
	case p.Spec.ProviderRef == nil:
		s.note(Maps, "spec", "neither provider nor providerRef means the AWSNodeTemplate %s: spec.template.spec.nodeClassRef", name)
	default:
		s.note(Maps, "spec.providerRef", "spec.template.spec.nodeClassRef")
	}
	s.maps(p.Spec.Taints != nil, "spec.taints", "spec.template.spec.taints")
	s.maps(p.Spec.StartupTaints != nil, "spec.startupTaints", "spec.template.spec.startupTaints")
	s.maps(p.Spec.Limits != nil, "spec.limits", "spec.limits, without resources in between")
	s.maps(p.Spec.Weight != nil, "spec.weight", "spec.weight")
	c.pools = append(c.pools, made)
}

// maps notes that a field that is set has the same elsewhere.
func (s *subject) maps(set bool, field, to string) {
	if set {
		s.note(Maps, field, "%s", to)
	}
}

func reportWarnings(s *subject, found []validate.Finding) {
	for _, f := range validate.Warnings(found) {
		s.note(Changes, f.Field, "%s", f.Text)
	}
}

// labels drops what has no counterpart among those of nodes.
func (c *converter) labels(s *subject, p *v1alpha5.Provisioner, t *karpv1.NodeClaimTemplate) {
	s.maps(p.Spec.Labels != nil, "spec.labels", "spec.template.metadata.labels")
	s.maps(p.Spec.Label != nil, "spec.label", "spec.template.metadata.labels")
	for _, key := range slices.Sorted(maps.Keys(t.Metadata.Labels)) {
		if noLabel(key) {
			delete(t.Metadata.Labels, key)
			s.note(Loses, "spec.labels["+key+"]", "nodes of NodePools do not have this label, it is left out")
		}
	}
	s.maps(p.Spec.Annotations != nil, "spec.annotations", "spec.template.metadata.annotations")
	if value, said := t.Metadata.Annotations[api.AnnotationDoNotConsolidate]; said {
		delete(t.Metadata.Annotations, api.AnnotationDoNotConsolidate)
		field := "spec.annotations[" + api.AnnotationDoNotConsolidate + "]"
		if value == "true" {
			t.Metadata.Annotations[api.AnnotationDoNotDisrupt] = "true"
			s.note(Changes, field, "becomes %s, which keeps nodes from drift too", api.AnnotationDoNotDisrupt)
		} else {
			s.note(Loses, field, "%q did nothing, it is left out", value)
		}
	}
	for _, key := range ofOlderNodes {
		if _, said := t.Metadata.Annotations[key]; said {
			delete(t.Metadata.Annotations, key)
			s.note(Loses, "spec.annotations["+key+"]", "says nothing of nodes of NodePools, it is left out")
		}
	}
	if len(t.Metadata.Labels) == 0 {
		t.Metadata.Labels = nil
	}
	if len(t.Metadata.Annotations) == 0 {
		t.Metadata.Annotations = nil
	}
}

// ofOlderNodes are annotations that controllers of the v1alpha5 API read or wrote on
// nodes.
var ofOlderNodes = []string{api.AnnotationEmptinessTimestamp, api.AnnotationVoluntaryDisruption}

// noLabel reports whether the newest generation has no such label.
func noLabel(key string) bool { return api.IsOfOlderAPI(key) || api.IsRestricted(key) }

// requirements drops what has no counterpart among the labels of instances.
func requirements(s *subject, p *v1alpha5.Provisioner, t *karpv1.NodeClaimTemplate) {
	s.maps(p.Spec.Requirements != nil, "spec.requirements", "spec.template.spec.requirements")
	for i, r := range p.Spec.Requirements {
		if noLabel(api.Normalise(r.Key)) {
			s.note(Loses, fmt.Sprintf("spec.requirements[%d]", i), "no NodePool may require %s: it is left out, require types or families instead", r.Key)
		}
		if (r.Operator == corev1.NodeSelectorOpExists || r.Operator == corev1.NodeSelectorOpDoesNotExist) && len(r.Values) > 0 {
			s.note(Loses, fmt.Sprintf("spec.requirements[%d].values", i), "operator %s has no use for values, they are left out", r.Operator)
		}
	}
	all := []karpv1.Requirement{}
	for _, r := range t.Spec.Requirements {
		if r.Operator == corev1.NodeSelectorOpExists || r.Operator == corev1.NodeSelectorOpDoesNotExist {
			r.Values = nil
		}
		if !noLabel(r.Key) {
			all = append(all, r)
		}
	}
	t.Spec.Requirements = all
	if usual := p.Spec.Effective()[len(p.Spec.Requirements):]; len(usual) > 0 {
		var words []string
		for _, r := range usual {
			words = append(words, fmt.Sprintf("%s %s %s", r.Key, r.Operator, strings.Join(r.Values, ", ")))
		}
		s.note(Maps, "spec", "what was filled in is written out as spec.template.spec.requirements: %s", strings.Join(words, "; "))
	}
}

// ages turns the time to live.
func ages(s *subject, p *v1alpha5.Provisioner, t *karpv1.NodeClaimTemplate) {
	t.Spec.ExpireAfter = karpv1.Never
	after, expires := p.Spec.ExpireAfter()
	if !expires && p.Spec.TTLSecondsUntilExpired != nil {
		s.note(Maps, "spec.ttlSecondsUntilExpired", "spec.template.spec.expireAfter Never, as no node was replaced")
		return
	}
	if !expires {
		s.note(Maps, "spec", "no ttlSecondsUntilExpired: spec.template.spec.expireAfter Never, which is not the default")
		return
	}
	t.Spec.ExpireAfter = karpv1.DurationOrNever(fmt.Sprintf("%ds", int64(after.Seconds())))
	s.note(Changes, "spec.ttlSecondsUntilExpired", "becomes spec.template.spec.expireAfter %s: then nodes go whatever runs on them, "+
		"where PodDisruptionBudgets and do-not-evict held them up; set terminationGracePeriod only if pods may be cut off", t.Spec.ExpireAfter)
}

// removal turns what says when nodes go by choice.
func (c *converter) removal(s *subject, p *v1alpha5.Provisioner, out *karpv1.NodePool) {
	d := &out.Spec.Disruption
	_, emptied := p.Spec.EmptyFor()
	s.maps(p.Spec.Consolidation != nil, "spec.consolidation", fmt.Sprintf("spec.disruption.consolidationPolicy %s, consolidateAfter %s", d.ConsolidationPolicy, d.ConsolidateAfter))
	switch {
	case emptied:
		s.note(Maps, "spec.ttlSecondsAfterEmpty", "spec.disruption.consolidateAfter %s with consolidationPolicy WhenEmpty; it counts from the last pod that went", d.ConsolidateAfter)
	case !p.Spec.Consolidates():
		s.note(Maps, "spec", "neither ttlSecondsAfterEmpty nor consolidation: spec.disruption.consolidateAfter Never, so that no node is consolidated")
	}
	if _, own := p.Annotations[api.AnnotationBudgets]; own {
		s.note(Maps, "metadata.annotations["+api.AnnotationBudgets+"]", "spec.disruption.budgets")
	} else {
		reasons := "Underutilized and Drifted"
		if c.driftOff() {
			reasons = "Underutilized"
		}
		s.note(Maps, "spec", "one node went at a time, empty ones aside: spec.disruption.budgets 1 for %s, 100%% for Empty", reasons)
	}
	if c.driftOff() {
		s.note(Maps, "spec", "no node was replaced for being outdated: spec.disruption.budgets 0 for Drifted; take it out for nodes that follow edits and newer images")
		for i := range d.Budgets {
			d.Budgets[i].Reasons = slices.DeleteFunc(slices.Clone(d.Budgets[i].Reasons), func(r karpv1.DisruptionReason) bool {
				return r == karpv1.ReasonDrifted && len(d.Budgets[i].Reasons) > 1
			})
		}
		d.Budgets = append(d.Budgets, karpv1.Budget{Nodes: "0", Reasons: []karpv1.DisruptionReason{karpv1.ReasonDrifted}})
		return
	}
	s.note(Changes, "spec", "an edit of a NodePool or its class replaces its nodes, one at a time; to keep them, set a budget of 0 nodes for the reason Drifted")
}
