package termination

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/serving"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// surged is how many replicas a workload has for a while that wants one.
const surged = 2

// workload is a Deployment or a StatefulSet, read live.
type workload struct {
	client.Object
	kind string
}

func (w *workload) spec() (replicas **int32, selector *metav1.LabelSelector) {
	switch o := w.Object.(type) {
	case *appsv1.Deployment:
		return &o.Spec.Replicas, o.Spec.Selector
	case *appsv1.StatefulSet:
		return &o.Spec.Replicas, o.Spec.Selector
	}
	panic("a workload is a Deployment or a StatefulSet")
}

func (w *workload) replicas() int32 {
	if n, _ := w.spec(); *n != nil {
		return **n
	}
	return 1 // as the API server fills it in
}

func (w *workload) selector() labels.Selector {
	_, s := w.spec()
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing()
	}
	return selector
}

// workloadOf reads the Deployment or StatefulSet of a pod; nil where it has
// none.
func (r *Reconciler) workloadOf(ctx context.Context, p *corev1.Pod) (*workload, error) {
	owner, err := serving.OwnerOf(ctx, r.Live, p)
	if err != nil {
		return nil, err
	}
	switch o := owner.(type) {
	case *appsv1.StatefulSet:
		return &workload{o, "StatefulSet"}, nil
	case *appsv1.ReplicaSet:
		of := metav1.GetControllerOf(o)
		if of == nil || of.Kind != "Deployment" {
			return nil, nil
		}
		deployment, err := serving.ReadOwner(ctx, r.Live, &appsv1.Deployment{}, p.Namespace, of)
		if err != nil || deployment == nil {
			return nil, err
		}
		return &workload{deployment, of.Kind}, nil
	}
	return nil, nil
}

// unsuited says why a workload must not, or cannot, have a second replica for a
// while; empty: it can.
func (r *Reconciler) unsuited(ctx context.Context, w *workload, p *corev1.Pod) (string, error) {
	if why := unsuited(w); why != "" {
		return why, nil
	}
	var scalers autoscalingv2.HorizontalPodAutoscalerList
	if err := r.Live.List(ctx, &scalers, client.InNamespace(w.GetNamespace())); err != nil {
		return "", fmt.Errorf("look for what scales %s %s/%s: %w", w.kind, w.GetNamespace(), w.GetName(), err)
	}
	for i := range scalers.Items {
		if of := scalers.Items[i].Spec.ScaleTargetRef; of.Kind == w.kind && of.Name == w.GetName() {
			return "HorizontalPodAutoscaler " + scalers.Items[i].Name + " sets its replicas; set its minReplicas to 2", nil
		}
	}
	for _, use := range podspec.VolumeUses(p) {
		if use.Claim.Name == "" || use.Pod != "" {
			continue // of the pod alone
		}
		claim := &corev1.PersistentVolumeClaim{}
		if err := r.Live.Get(ctx, use.Claim, claim); client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("read volume claim %s: %w", use.Claim, err)
		}
		if !onManyNodes(claim) {
			return fmt.Sprintf("the volume of PersistentVolumeClaim %s can be on one node alone", claim.Name), nil
		}
	}
	return "", nil
}

// unsuited says what of the workload itself is in the way.
func unsuited(w *workload) string {
	if w.GetDeletionTimestamp() != nil {
		return "it is being deleted"
	}
	for _, m := range w.GetManagedFields() {
		if m.Operation == metav1.ManagedFieldsOperationApply && m.FieldsV1 != nil && ownsReplicas(m.FieldsV1.GetRawBytes()) {
			return fmt.Sprintf("field manager %s owns spec.replicas by server-side apply, and would set it back",
				m.Manager)
		}
	}
	switch o := w.Object.(type) {
	case *appsv1.Deployment:
		if o.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
			return "its strategy is Recreate, so that two of its pods must not run at once"
		}
	case *appsv1.StatefulSet:
		if len(o.Spec.VolumeClaimTemplates) > 0 {
			return "each of its pods has volumes of its own, so that a second would begin with empty ones"
		}
	}
	return ""
}

func ownsReplicas(raw []byte) bool {
	var fields struct {
		Spec map[string]json.RawMessage `json:"f:spec"`
	}
	if json.Unmarshal(raw, &fields) != nil {
		return false
	}
	_, owned := fields.Spec["f:replicas"]
	return owned
}

func onManyNodes(c *corev1.PersistentVolumeClaim) bool {
	for _, mode := range c.Spec.AccessModes {
		if mode == corev1.ReadWriteMany || mode == corev1.ReadOnlyMany {
			return true
		}
	}
	return false
}

// firstReady reports whether the first pod of a StatefulSet is ready.
func firstReady(w *workload, pods []corev1.Pod) bool {
	set := w.Object.(*appsv1.StatefulSet)
	first := int32(0)
	if set.Spec.Ordinals != nil {
		first = set.Spec.Ordinals.Start
	}
	name := fmt.Sprintf("%s-%d", set.Name, first)
	for i := range pods {
		if pods[i].Name == name {
			return podspec.IsUp(&pods[i])
		}
	}
	return false
}
