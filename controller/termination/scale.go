package termination

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/surge"
)

// surgedWorkload reads the workload of a record; nil where it is gone.
func (r *Reconciler) surgedWorkload(ctx context.Context, one surge.Record) (*workload, error) {
	var o client.Object = &appsv1.Deployment{}
	if one.Kind == "StatefulSet" {
		o = &appsv1.StatefulSet{}
	}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: one.Namespace, Name: one.Name}, o)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s, which has a second replica: %w", one, err)
	}
	return &workload{o, one.Kind}, nil
}

// scale sets the replicas of a workload as it was read, through its scale
// subresource: who may write that alone cannot change what runs.
func (r *Reconciler) scale(ctx context.Context, w *workload, replicas int32) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": w.GetResourceVersion()},
		"spec":     map[string]any{"replicas": replicas},
	})
	if err != nil {
		return err
	}
	body := client.WithSubResourceBody(&autoscalingv1.Scale{})
	if err := r.Store.SubResource("scale").Patch(ctx, w.Object, client.RawPatch(types.MergePatchType, patch),
		body); err != nil {
		return fmt.Errorf("scale %s %s/%s to %d: %w", w.kind, w.GetNamespace(), w.GetName(), replicas, err)
	}
	return nil
}
