package state

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/observe"
)

// eachObject reports the conditions of claims, pools, overlays, classes, buffers, requests and nodes, and how long
// those that are being deleted have been.
func (w *world) eachObject() {
	claims, nodes := w.newKind("nodeclaim"), w.newKind("node")
	for i := range w.claims {
		claims.object(&w.claims[i], w.claims[i].Status.Conditions)
	}
	for i := range w.pools {
		p := &w.pools[i]
		w.newKind(strings.ToLower(p.ID.Kind)).object(p.Object, p.Object.GetConditions())
	}
	if nodes.wanted() {
		for i := range w.nodes {
			nodes.object(&w.nodes[i], condition.OfNode(w.nodes[i].Status.Conditions))
		}
	}
	overlays := w.newKind("nodeoverlay")
	for _, o := range w.overlays {
		overlays.object(o.Object, o.Object.Status.Conditions)
	}
	classes, templates := w.newKind("ec2nodeclass"), w.newKind("awsnodetemplate")
	for i := range w.classes {
		classes.object(&w.classes[i], w.classes[i].Status.Conditions)
	}
	for i := range w.templates {
		templates.object(&w.templates[i], w.templates[i].Status.Conditions)
	}
	buffers := w.newKind("capacitybuffer")
	for _, b := range w.buffers {
		buffers.object(b, b.Status.Conditions)
	}
	requests := w.newKind("provisioningrequest")
	for i := range w.requests {
		requests.object(w.requests[i].Object, w.requests[i].Object.Status.Conditions)
	}
}

// form is the names of the metrics of conditions: those of a kind, or of all.
type form struct{ count, seconds, termination string }

func newForm(prefix string) form {
	n := conditionNames(prefix)
	return form{n[0], n[1], n[2]}
}

// kind reports objects of one kind in both forms: by it, and among all.
type kind struct {
	*world
	group, called string
	one, all      form
}

func (w *world) newKind(name string) kind {
	group, called := observe.GroupKind(name)
	return kind{w, group, called, newForm("operator_" + name), newForm("operator")}
}

// wanted reports whether any of its metrics is.
func (k kind) wanted() bool {
	for _, f := range []form{k.one, k.all} {
		if k.shown.wants(f.count) || k.shown.wants(f.seconds) || k.shown.wants(f.termination) {
			return true
		}
	}
	return false
}

// object reports the conditions of one.
func (k kind) object(o client.Object, conditions []metav1.Condition) {
	if !k.wanted() {
		return
	}
	labels := []string{k.group, k.called, o.GetNamespace(), o.GetName(), "", "", ""}
	for _, c := range conditions {
		labels[4], labels[5], labels[6] = c.Type, string(c.Status), c.Reason
		lasts := k.now.Sub(c.LastTransitionTime.Time).Seconds()
		k.shown.add(k.one.count, 1, labels[2:])
		k.shown.add(k.all.count, 1, labels)
		k.shown.add(k.one.seconds, lasts, labels[2:])
		k.shown.add(k.all.seconds, lasts, labels)
	}
	if at := o.GetDeletionTimestamp(); at != nil {
		lasts := k.now.Sub(at.Time).Seconds()
		k.shown.add(k.one.termination, lasts, labels[2:4])
		k.shown.add(k.all.termination, lasts, labels[:4])
	}
}
