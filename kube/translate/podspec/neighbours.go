package podspec

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/translate"
)

// neighbour is a term of pod affinity whose namespaces are not looked up yet.
type neighbour struct {
	term       cluster.Neighbours
	namespaces labels.Selector // chooses further namespaces; nil: those listed are all
	selector   string          // as it prints, to compare by
}

// neighbours converts the pod's affinity to other pods: required terms first,
// affinity before anti-affinity, each in its order.
func neighbours(pod *corev1.Pod) ([]neighbour, error) {
	a := pod.Spec.Affinity
	if a == nil {
		return nil, nil
	}
	r := neighbourReader{pod: pod}
	if a.PodAffinity != nil {
		r.required(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, false)
	}
	if a.PodAntiAffinity != nil {
		r.required(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, true)
	}
	if a.PodAffinity != nil {
		r.preferred(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution, false)
	}
	if a.PodAntiAffinity != nil {
		r.preferred(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution, true)
	}
	return r.out, r.err
}

type neighbourReader struct {
	pod *corev1.Pod
	out []neighbour
	err error // the first term that cannot be read
}

func (r *neighbourReader) required(terms []corev1.PodAffinityTerm, apart bool) {
	for i := range terms {
		r.add(&terms[i], apart, 0)
	}
}

func (r *neighbourReader) preferred(terms []corev1.WeightedPodAffinityTerm, apart bool) {
	for i := range terms {
		if terms[i].Weight > 0 {
			r.add(&terms[i].PodAffinityTerm, apart, terms[i].Weight)
		}
	}
}

func (r *neighbourReader) add(t *corev1.PodAffinityTerm, apart bool, weight int32) {
	n, err := readNeighbour(t, r.pod)
	if err != nil {
		if r.err == nil {
			r.err = err
		}
		return
	}
	n.term.Apart, n.term.Weight = apart, weight
	r.out = append(r.out, n)
}

func readNeighbour(t *corev1.PodAffinityTerm, pod *corev1.Pod) (neighbour, error) {
	chosen, err := selector(t.LabelSelector)
	if err != nil {
		return neighbour{}, fmt.Errorf("labelSelector of pod affinity on %s: %w", t.TopologyKey, err)
	}
	chosen = withLabels(chosen, t.MatchLabelKeys, pod.Labels, constraint.In)
	chosen = withLabels(chosen, t.MismatchLabelKeys, pod.Labels, constraint.NotIn)
	n := neighbour{term: cluster.Neighbours{Key: translate.NormaliseKey(t.TopologyKey), Selector: chosen}}
	if t.NamespaceSelector == nil {
		n.term.Namespaces = distinct(t.Namespaces)
		if len(n.term.Namespaces) == 0 {
			n.term.Namespaces = []string{pod.Namespace}
		}
		return n, nil
	}
	among, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector)
	if err != nil {
		return neighbour{}, fmt.Errorf("namespaceSelector of pod affinity on %s: %w", t.TopologyKey, err)
	}
	if among.Empty() {
		n.term.AllNamespaces = true
		return n, nil
	}
	n.term.Namespaces, n.namespaces, n.selector = distinct(t.Namespaces), among, among.String()
	return n, nil
}

func distinct(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}
