package state

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// eachObject tells the conditions of claims, pools, classes and nodes, and
// how long those that are being deleted have been.
func (c *Collector) eachObject(w *world) error {
	for i := range w.claims {
		w.object("nodeclaim", &w.claims[i], w.claims[i].Status.Conditions)
	}
	for i := range w.pools {
		p := &w.pools[i]
		w.object(strings.ToLower(p.ID.Kind), p.Object, p.Object.GetConditions())
	}
	for i := range w.nodes {
		w.object("node", &w.nodes[i], condition.OfNode(w.nodes[i].Status.Conditions))
	}
	var classes awsv1.EC2NodeClassList
	if err := c.Store.List(context.Background(), &classes, client.UnsafeDisableDeepCopy); err != nil { // answered from memory
		return fmt.Errorf("read classes for a scrape: %w", err)
	}
	for i := range classes.Items {
		w.object("ec2nodeclass", &classes.Items[i], classes.Items[i].Status.Conditions)
	}
	if _, older := c.Serves.Of(translate.KindProvisioner); !older {
		return nil
	}
	var templates awsv1alpha1.AWSNodeTemplateList
	if err := c.Store.List(context.Background(), &templates, client.UnsafeDisableDeepCopy); err != nil { // answered from memory
		return fmt.Errorf("read templates for a scrape: %w", err)
	}
	for i := range templates.Items {
		w.object("awsnodetemplate", &templates.Items[i], templates.Items[i].Status.Conditions)
	}
	return nil
}

// object tells the conditions of one in both forms: by its kind, and among all.
func (w *world) object(kind string, o client.Object, conditions []metav1.Condition) {
	const count, seconds, termination = "_status_condition_count", "_status_condition_current_status_seconds", "_termination_current_time_seconds"
	group, called := observe.GroupKind(kind)
	one, all := "operator_"+kind, "operator"
	for _, c := range conditions {
		labels := []string{group, called, o.GetNamespace(), o.GetName(), c.Type, string(c.Status), c.Reason}
		ofOne, ofAll := w.labels.of(one+count, labels[2:]), w.labels.of(all+count, labels) // both metrics have the same labels
		lasts := w.now.Sub(c.LastTransitionTime.Time).Seconds()
		w.shown.add(one+count, 1, ofOne)
		w.shown.add(all+count, 1, ofAll)
		w.shown.add(one+seconds, lasts, ofOne)
		w.shown.add(all+seconds, lasts, ofAll)
	}
	if at := o.GetDeletionTimestamp(); at != nil {
		lasts := w.now.Sub(at.Time).Seconds()
		w.set(one+termination, lasts, o.GetNamespace(), o.GetName())
		w.set(all+termination, lasts, group, called, o.GetNamespace(), o.GetName())
	}
}
