package snapshot

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/translate"
)

// Warning is something that users wrote and that is not understood.
type Warning struct {
	About  corev1.ObjectReference
	Reason string // in the words of events
	Text   string
}

// Reasons of warnings.
const (
	ReasonInvalidDoNotDisrupt = "InvalidDoNotDisrupt"
	ReasonInvalidLeave        = "InvalidLeaveAnnotation"
	ReasonInvalidFreeze       = "InvalidFreeze"
	ReasonInvalidConsolidate  = "InvalidDoNotConsolidate"
)

// misread is what a pod says and is not understood; the zero value is nothing.
type misread struct{ reason, text string }

func misreadOf(pod *corev1.Pod) misread {
	if value := translate.Misprotected(pod); value != "" {
		return misread{ReasonInvalidDoNotDisrupt, fmt.Sprintf(`metadata.annotations[%s]: %s is neither "true" nor a length of time such as 30m or 2h, so it does not protect the pod`,
			api.AnnotationDoNotDisrupt, value)}
	}
	if wrong := mark.Misread(pod.Annotations); len(wrong) > 0 {
		return misread{ReasonInvalidLeave, wrong[0].Error() + ", so it does nothing"}
	}
	return misread{}
}

// Warnings lists what is not understood now, sorted: of the pods of one owner
// that say the same the first by name. Cost: linear in the objects concerned.
func (k *ClusterState) Warnings() []Warning {
	k.mu.Lock()
	defer k.mu.Unlock()
	type sort struct {
		namespace, owner string
		misread
	}
	first := map[sort]types.NamespacedName{}
	for name, what := range k.misread {
		of := sort{name.Namespace, cmp.Or(k.pods[name].pod.Owner, name.Name), what}
		if known, there := first[of]; !there || name.Name < known.Name {
			first[of] = name
		}
	}
	var out []Warning
	for of, name := range first {
		out = append(out, Warning{
			About:  corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: name.Namespace, Name: name.Name, UID: types.UID(k.pods[name].pod.UID)},
			Reason: of.reason, Text: of.text,
		})
	}
	for name, n := range k.nodes {
		if value, said := n.Annotations[api.AnnotationDoNotConsolidate]; said && value != "true" && translate.PoolOfNode(n).Kind == translate.KindProvisioner {
			out = append(out, Warning{
				About:  corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: name, UID: types.UID(name)},
				Reason: ReasonInvalidConsolidate,
				Text:   fmt.Sprintf(`metadata.annotations[%s]: %q is not "true", so the node may go to save money`, api.AnnotationDoNotConsolidate, value),
			})
		}
	}
	if k.freeze.Odd != "" {
		out = append(out, Warning{
			About:  corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: k.freezeIn, Name: api.ConfigMapFreeze},
			Reason: ReasonInvalidFreeze, Text: k.freeze.Odd,
		})
	}
	slices.SortFunc(out, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.About.Kind, b.About.Kind), cmp.Compare(a.About.Namespace, b.About.Namespace), cmp.Compare(a.About.Name, b.About.Name))
	})
	return out
}

// recordMisread keeps what a pod says and is not understood.
func (k *ClusterState) recordMisread(name types.NamespacedName, pod *corev1.Pod) {
	if what := misreadOf(pod); what != (misread{}) && !translate.IsTerminal(pod) {
		k.misread[name] = what
		return
	}
	delete(k.misread, name)
}
