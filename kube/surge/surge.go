// Package surge records the workloads that have, or are to have, a second replica until a pod has left
// its node. The records are in the ConfigMap daemok-surges.
//
// It promises that a record exists before the workload is scaled, so that a controller that takes over
// knows what to scale back, and that it needs no permission to write workloads, only their scale. It
// scales nothing itself.
package surge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
)

// Record is about one workload.
type Record struct {
	Kind       string    `json:"kind"` // Deployment or StatefulSet
	Namespace  string    `json:"namespace"`
	Name       string    `json:"name"`
	PodUID     types.UID `json:"-"`          // the pod that is to leave; the key of the record
	Generation int64     `json:"generation"` // of the workload before it was scaled
	Since      time.Time `json:"since"`
}

// String is "Deployment default/web".
func (r Record) String() string { return r.Kind + " " + r.Namespace + "/" + r.Name }

// Records are all records of a cluster.
type Records struct {
	Store     client.Client
	Live      client.Reader // reads past every cache
	Namespace string        // where the controller runs; empty: nothing is recorded
}

// ErrNoNamespace says why nothing can be recorded.
var ErrNoNamespace = errors.New("the controller does not know its own namespace, where it would record it: set SYSTEM_NAMESPACE")

// All reads the records, in the order of the pods' UIDs. One that cannot be read is
// left out.
func (s Records) All(ctx context.Context) (out []Record, err error) {
	if s.Namespace == "" {
		return nil, nil
	}
	c := &corev1.ConfigMap{}
	if err := s.Live.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: api.ConfigMapSurges}, c); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("read ConfigMap %s/%s, which lists second replicas: %w", s.Namespace, api.ConfigMapSurges, err)
	}
	for _, uid := range slices.Sorted(maps.Keys(c.Data)) {
		var one Record
		if json.Unmarshal([]byte(c.Data[uid]), &one) == nil {
			one.PodUID = types.UID(uid)
			out = append(out, one)
		}
	}
	return out, nil
}

// Of finds the record of a workload; nil where there is none.
func (s Records) Of(ctx context.Context, kind string, workload client.Object) (*Record, error) {
	all, err := s.All(ctx)
	i := slices.IndexFunc(all, func(r Record) bool {
		return r.Kind == kind && r.Namespace == workload.GetNamespace() && r.Name == workload.GetName()
	})
	if i >= 0 {
		return &all[i], nil
	}
	return nil, err
}

// Add writes a record.
func (s Records) Add(ctx context.Context, one Record) error {
	if s.Namespace == "" {
		return ErrNoNamespace
	}
	text, err := json.Marshal(one)
	if err != nil {
		return err
	}
	err = s.write(ctx, one.PodUID, string(text))
	if !apierrors.IsNotFound(err) {
		return err
	}
	c := s.configMap()
	c.Data = map[string]string{string(one.PodUID): string(text)}
	err = s.Store.Create(ctx, c)
	if apierrors.IsAlreadyExists(err) {
		return s.write(ctx, one.PodUID, string(text)) // made by another drain in between
	}
	return err
}

// Remove takes a record out.
func (s Records) Remove(ctx context.Context, one Record) error {
	return client.IgnoreNotFound(s.write(ctx, one.PodUID, nil))
}

func (s Records) write(ctx context.Context, uid types.UID, value any) error {
	patch, err := json.Marshal(map[string]any{"data": map[string]any{string(uid): value}})
	if err != nil {
		return err
	}
	return s.Store.Patch(ctx, s.configMap(), client.RawPatch(types.MergePatchType, patch))
}

func (s Records) configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: api.ConfigMapSurges}}
}
