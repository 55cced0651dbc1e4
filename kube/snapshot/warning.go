package snapshot

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
)

// Warning is something that users wrote and that is not understood.
type Warning struct {
	About  corev1.ObjectReference
	Reason string // in the words of events
	Text   string
}

// Reasons of warnings, beside those of pods.
const (
	ReasonInvalidFreeze      = "InvalidFreeze"
	ReasonInvalidCommitments = "InvalidCommitments"
	ReasonInvalidConsolidate = "InvalidDoNotConsolidate"
)

// Warnings lists what is not understood now, sorted: of the pods of one owner
// that say the same the first by name. Cost: linear in the objects concerned.
func (k *ClusterState) Warnings() []Warning {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []Warning
	for _, p := range k.tables.pods.Misread() {
		out = append(out, Warning{
			About:  corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: p.Name.Namespace, Name: p.Name.Name, UID: p.UID},
			Reason: p.Reason, Text: p.Text,
		})
	}
	for n := range k.tables.nodes.All() {
		if value, said := n.Annotations[api.AnnotationDoNotConsolidate]; said && value != "true" && translate.PoolOfNode(n).Kind == translate.KindProvisioner {
			out = append(out, Warning{
				About:  corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: types.UID(n.Name)},
				Reason: ReasonInvalidConsolidate,
				Text:   fmt.Sprintf(`metadata.annotations[%s]: %q is not "true", so the node may be consolidated`, api.AnnotationDoNotConsolidate, value),
			})
		}
	}
	if odd := k.tables.freeze.Odd(); odd != "" {
		out = append(out, Warning{
			About:  corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: k.settings.FreezeIn, Name: api.ConfigMapFreeze},
			Reason: ReasonInvalidFreeze, Text: odd,
		})
	}
	if odd := k.tables.commitments.Odd(); odd != "" {
		about := corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: k.settings.CommitmentsIn}
		about.Name = api.ConfigMapCommitments
		out = append(out, Warning{About: about, Reason: ReasonInvalidCommitments, Text: odd})
	}
	slices.SortFunc(out, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.About.Kind, b.About.Kind), cmp.Compare(a.About.Namespace, b.About.Namespace), cmp.Compare(a.About.Name, b.About.Name))
	})
	return out
}
