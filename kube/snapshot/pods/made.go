package pods

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/snapshot/owner"
	"github.com/daemok/daemok/kube/snapshot/shapes"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// made is what the newest pod of an owner asked for when it was made. What a pod asks for may be
// changed later while it runs, as when a boost for its start ends; the pod that comes in
// its place is made again.
type made struct {
	requests quantity.Resources
	at       time.Time
}

// Made is that, for those who come after.
type Made struct {
	Requests corev1.ResourceList `json:"requests"`
	At       time.Time           `json:"at"`
}

// ComesBack is what the pod asks for that comes in the place of one that asks for now. This is the one
// rule for that: what the newest pod of its owner asked for when it was made or, where that
// was not seen, what the template of the owner says; and never less than it asks for now,
// since what raised that may raise the next one as well, nor than what a VerticalPodAutoscaler recommends, which is set
// when a pod is made.
func (o *owners) ComesBack(of owner.ID, now quantity.Resources) quantity.Resources {
	is, _ := o.Workloads.Workload(of)
	next := is.Asks
	if m, known := o.made[of]; known {
		next = m.requests
	}
	return now.Max(next).Max(is.Recommended)
}

// recordMade takes in what a pod asked for when it was made, where it still says that. Of
// several that were made in the same second it is the most of each resource.
func (o *owners) recordMade(e *shapes.Entry, pod *corev1.Pod) {
	if e.Owner == (owner.ID{}) || !podspec.IsAsMade(pod) {
		return
	}
	before, known := o.made[e.Owner]
	is := made{e.Requests(), pod.CreationTimestamp.UTC()}
	if known && is.at.Before(before.at) {
		return
	}
	if known && is.at.Equal(before.at) {
		is.requests = is.requests.Max(before.requests)
	}
	o.setMade(e.Owner, is)
}

func (o *owners) setMade(id owner.ID, is made) {
	before, known := o.made[id]
	o.made[id] = is
	if !known || !is.requests.Equal(before.requests) {
		o.askAgain(id)
	}
}

// askAgain has the pods of an owner looked at again, where it has others than one that is
// new.
func (o *owners) askAgain(of owner.ID) {
	if o.alive[of] > 0 {
		o.Shapes.RequestsChanged(of)
	}
}

// forgetMade forgets what pods of an owner asked for that has none any more.
func (o *owners) forgetMade(id owner.ID) {
	if o.alive[id] == 0 {
		delete(o.made, id)
	}
}

// MadeMatters lists what no pod says any more, by owner, such as default/ReplicaSet/web-5d9c: of owners with a pod that
// asks for less by now.
func (t *Table) MadeMatters() map[string]Made {
	out := map[string]Made{}
	for _, p := range t.pods {
		if !p.lives() {
			continue
		}
		id, now := p.shaped.Owner, p.shaped.Requests()
		if m, known := t.made[id]; known && p.shaped.Node != "" && !now.Equal(t.ComesBack(id, now)) {
			out[id.String()] = Made{translate.ResourceList(m.requests), m.at}
		}
	}
	return out
}

// RememberMade takes in what pods asked for that are newer than those that this process
// has seen as they were made.
func (o *owners) RememberMade(list map[string]Made) {
	for name, m := range list {
		id := owner.Parse(name)
		if before, known := o.made[id]; o.alive[id] > 0 && (!known || before.at.Before(m.At)) {
			o.setMade(id, made{translate.Resources(m.Requests), m.At})
		}
	}
}
