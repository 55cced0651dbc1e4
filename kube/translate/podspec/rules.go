package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api/mark"
)

// Rules are what a pod itself says about how it is scheduled. What other objects add is not in
// them: the labels that selectors read, the namespaces that a selector chooses, and the volumes
// behind the pod's claims. Many pods have the same rules.
type Rules struct {
	shape      cluster.Shape // its Neighbours are those below
	neighbours []neighbour
}

// RulesOf reads the rules of a pod.
func RulesOf(pod *corev1.Pod) Rules {
	spec := &pod.Spec
	r := Rules{shape: cluster.Shape{
		Namespace:   pod.Namespace,
		Requests:    PodRequests(pod),
		Tolerations: tolerations(spec.Tolerations),
		NodeTerms:   NodeTerms(spec),
		Preferences: preferences(spec),
		Ports:       ports(spec),
		Priority:    priority(pod),
		Unable:      unable(spec),
		OnDemand:    onDemand(pod),
	}}
	var err error
	if r.shape.Spread, err = spreads(spec.TopologySpreadConstraints, pod.Labels); err != nil {
		r.unreadable(err)
	}
	if r.neighbours, err = neighbours(pod); err != nil {
		r.unreadable(err)
	}
	return r
}

// onDemand is how many pods of the pod's owner are to run on demand. One that cannot be read asks for all: none of
// them is to be interrupted by mistake.
func onDemand(pod *corev1.Pod) cluster.Minimum {
	out, err := mark.OnDemandMinimum(pod.Annotations)
	if err != nil {
		return cluster.Minimum{Least: 100, Percent: true}
	}
	return out
}

// RulesOfShape are the rules that a shape shows. What other objects added to
// them is taken as the pod's own word; labels are not in them.
func RulesOfShape(s *cluster.Shape) Rules {
	r := Rules{shape: *s}
	r.shape.Labels = nil
	return r
}

// unreadable notes a rule that the scheduler cannot read either, so that it
// refuses the pod everywhere.
func (r *Rules) unreadable(err error) {
	r.shape.Unable = "kube-scheduler cannot read the pod's " + err.Error() + "; correct it and create the pod again"
}

// ForEveryNode turns a daemon pod's rules into those of the pods that its
// DaemonSet will make on new nodes: the name of the node that the DaemonSet's
// controller writes into each pod's affinity, and preferences, do not count.
func ForEveryNode(pod *corev1.Pod) Rules {
	spec := *pod.Spec.DeepCopy()
	if required := requiredNodeAffinity(&spec); required != nil {
		if required.NodeSelectorTerms = withoutFields(required.NodeSelectorTerms); len(required.NodeSelectorTerms) == 0 {
			spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
		}
	}
	r := RulesOf(&corev1.Pod{ObjectMeta: pod.ObjectMeta, Spec: spec})
	r.shape.Unable, r.shape.Preferences = "", nil
	r.shape.Spread = slices.DeleteFunc(r.shape.Spread, func(s cluster.Spread) bool { return s.Soft })
	r.neighbours = slices.DeleteFunc(r.neighbours, func(n neighbour) bool { return n.term.Weight > 0 })
	return r
}

// withoutFields drops the fields of the alternatives; none are left where one
// then admits every node.
func withoutFields(terms []corev1.NodeSelectorTerm) []corev1.NodeSelectorTerm {
	var out []corev1.NodeSelectorTerm
	for _, t := range terms {
		if len(t.MatchExpressions) == 0 && len(t.MatchFields) > 0 {
			return nil
		}
		t.MatchFields = nil
		out = append(out, t)
	}
	return out
}

// Key is equal for two rules exactly when their content is.
func (r *Rules) Key() string {
	k := key{[]byte(ShapeKey(&r.shape))}
	for _, n := range r.neighbours {
		k.neighbours([]cluster.Neighbours{n.term})
		k.text(n.selector)
	}
	return string(k.b)
}

// LookUpNamespaces reports whether the rules choose namespaces by their
// labels, so that Shape depends on which there are.
func (r *Rules) LookUpNamespaces() bool {
	return slices.ContainsFunc(r.neighbours, func(n neighbour) bool { return n.namespaces != nil })
}

// Shape is the shape of the pods with these rules, without labels and volumes.
// chosen lists the namespaces that a selector chooses, in any order.
func (r *Rules) Shape(chosen func(labels.Selector) []string) cluster.Shape {
	out := r.shape
	for _, n := range r.neighbours {
		if n.namespaces != nil {
			n.term.Namespaces = distinct(slices.Concat(n.term.Namespaces, chosen(n.namespaces)))
		}
		out.Neighbours = append(out.Neighbours, n.term)
	}
	return out
}

// Reads reports which labels of pods the selectors of a shape read: of every namespace where all is
// true.
func Reads(s *cluster.Shape, read func(namespace string, all bool, key string)) {
	each := func(keys constraint.Requirements, namespace string, all bool) {
		for _, r := range keys {
			read(namespace, all, r.Key)
		}
	}
	for _, c := range s.Spread {
		each(c.Selector.Requirements, s.Namespace, false)
	}
	for _, n := range s.Neighbours {
		if n.AllNamespaces {
			each(n.Selector.Requirements, "", true)
			continue
		}
		for _, namespace := range n.Namespaces {
			each(n.Selector.Requirements, namespace, false)
		}
	}
}
