package pods

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// Reasons of events about pods that say what is not understood.
const (
	ReasonInvalidDoNotDisrupt    = "InvalidDoNotDisrupt"
	ReasonInvalidLeave           = "InvalidLeaveAnnotation"
	ReasonInvalidOnDemandMinimum = "InvalidOnDemandMinimum"
)

// misread is what a pod says and is not understood; the zero value is nothing.
type misread struct{ reason, text string }

// Misread is a pod that says something that is not understood.
type Misread struct {
	Name         types.NamespacedName
	UID          types.UID
	Reason, Text string // of an event
}

func misreadOf(pod *corev1.Pod) misread {
	if value := podspec.Misprotected(pod); value != "" {
		return misread{ReasonInvalidDoNotDisrupt, fmt.Sprintf(`metadata.annotations[%s]: %s is neither "true" nor a length of time such as 30m or 2h, so it does not protect the pod`,
			api.AnnotationDoNotDisrupt, value)}
	}
	if wrong := mark.Misread(pod.Annotations); len(wrong) > 0 {
		return misread{ReasonInvalidLeave, wrong[0].Error() + ", so it does nothing"}
	}
	if _, err := mark.OnDemandMinimum(pod.Annotations); err != nil {
		return misread{ReasonInvalidOnDemandMinimum, err.Error() + ", so all pods of its owner are to run on demand"}
	}
	return misread{}
}

// recordMisread keeps what a pod says and is not understood.
func (t *Table) recordMisread(name types.NamespacedName, pod *corev1.Pod) {
	if what := misreadOf(pod); what != (misread{}) && !podspec.IsTerminal(pod) {
		t.misread[name] = what
		return
	}
	delete(t.misread, name)
}

// Misread lists the pods that say something that is not understood, in no order: of those of one owner
// that say the same the first by name.
func (t *Table) Misread() (out []Misread) {
	type sort struct {
		namespace, owner string
		misread
	}
	first := map[sort]types.NamespacedName{}
	for name, what := range t.misread {
		of := sort{name.Namespace, cmp.Or(t.pods[name].pod.Owner, name.Name), what}
		if known, there := first[of]; !there || name.Name < known.Name {
			first[of] = name
		}
	}
	for of, name := range first {
		out = append(out, Misread{Name: name, UID: types.UID(t.pods[name].pod.UID), Reason: of.reason, Text: of.text})
	}
	return out
}
