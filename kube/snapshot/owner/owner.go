// Package owner identifies the controllers of watched pods, and holds their settings for these pods.
// Tables of package snapshot refer to owners by it.
package owner

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// ID names a controller of pods that is watched; the zero value is any other, or none.
type ID struct{ Namespace, Kind, Name string }

// String is the form that Parse reads, such as default/ReplicaSet/web-5d9c.
func (id ID) String() string { return id.Namespace + "/" + id.Kind + "/" + id.Name }

// Parse reads what String writes.
func Parse(text string) ID {
	namespace, rest, _ := strings.Cut(text, "/")
	kind, name, _ := strings.Cut(rest, "/")
	return ID{namespace, kind, name}
}

// Of names the controller of a pod, if it is watched.
func Of(pod *corev1.Pod) ID {
	o := metav1.GetControllerOfNoCopy(pod)
	if o == nil {
		return ID{}
	}
	switch o.APIVersion + "/" + o.Kind {
	case "apps/v1/ReplicaSet", "apps/v1/StatefulSet", "v1/ReplicationController", "batch/v1/Job":
		return ID{pod.Namespace, o.Kind, o.Name}
	}
	return ID{}
}

// Workload is what an owner says of its pods; the zero value is one that is not there.
type Workload struct {
	Selector *metav1.LabelSelector
	Asks     quantity.Resources // by its template

	// Recommended is what VerticalPodAutoscalers have its new pods request, where that is more than Asks for a
	// resource; zero: nothing.
	Recommended quantity.Resources

	podspec.Workload
}

// Change is what an owner says now, and what it said before.
type Change struct {
	ID             ID
	Before, Now    Workload
	Known, IsThere bool // it was there before, and is there now
}

// SelectsOthers reports whether its selector is another one.
func (c *Change) SelectsOthers() bool {
	return c.Known != c.IsThere || metav1.FormatLabelSelector(c.Before.Selector) != metav1.FormatLabelSelector(c.Now.Selector)
}

// AsksOtherwise reports whether new pods of it ask for something else.
func (c *Change) AsksOtherwise() bool {
	return !c.Before.Asks.Equal(c.Now.Asks) || !c.Before.Recommended.Equal(c.Now.Recommended)
}

// IsNone reports whether it says the same as before.
func (c *Change) IsNone() bool {
	return !c.SelectsOthers() && !c.AsksOtherwise() && c.Before.Workload == c.Now.Workload
}

// ReturnsOthers reports whether other pods of it may be created again than before.
func (c *Change) ReturnsOthers() bool {
	return c.Known != c.IsThere || !c.Before.Alike(&c.Now.Workload)
}
