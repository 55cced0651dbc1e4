package oracle

import (
	"context"
	"fmt"
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/snapshot"
)

// began is when the story of every world plays.
var began = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// World is a cluster as the API server holds it, and what the cloud offers.
// All pools have one class, which offers the whole catalogue.
type World struct {
	Seed       uint64                          `json:"seed"`
	Catalogue  *cluster.Catalogue              `json:"catalogue"`
	Namespaces []*corev1.Namespace             `json:"namespaces,omitempty"`
	Pools      []*karpv1.NodePool              `json:"pools,omitempty"`
	Claims     []*karpv1.NodeClaim             `json:"claims,omitempty"`
	Nodes      []*corev1.Node                  `json:"nodes,omitempty"`
	CSINodes   []*storagev1.CSINode            `json:"csiNodes,omitempty"`
	Daemons    []*appsv1.DaemonSet             `json:"daemons,omitempty"`
	Pods       []*corev1.Pod                   `json:"pods,omitempty"`
	Classes    []*storagev1.StorageClass       `json:"classes,omitempty"`
	Volumes    []*corev1.PersistentVolume      `json:"volumes,omitempty"`
	Requests   []*corev1.PersistentVolumeClaim `json:"requests,omitempty"`
	Templates  []*corev1.PodTemplate           `json:"templates,omitempty"`
	Buffers    []*v1beta1.CapacityBuffer       `json:"buffers,omitempty"`

	DeviceClasses  []*resourcev1.DeviceClass           `json:"deviceClasses,omitempty"`
	Slices         []*resourcev1.ResourceSlice         `json:"slices,omitempty"`
	ClaimTemplates []*resourcev1.ResourceClaimTemplate `json:"claimTemplates,omitempty"`
	ResourceClaims []*resourcev1.ResourceClaim         `json:"resourceClaims,omitempty"`
}

// Snapshot reads the world as the controller reads a live cluster.
func (w *World) Snapshot(ctx context.Context) (*cluster.Snapshot, error) {
	offered := func(karpv1.NodeClassReference) (*cluster.Catalogue, string) { return w.Catalogue, "" }
	k := snapshot.New(offered, func() time.Time { return began })
	k.Configure(func(s *snapshot.Settings) { s.PlanDevices = true })
	s, err := k.Read(ctx, reader{w})
	if err != nil {
		return nil, fmt.Errorf("take a snapshot of world %d: %w", w.Seed, err)
	}
	return s, nil
}

// objects lists everything the API server would.
func (w *World) objects() []runtime.Object {
	var out []runtime.Object
	v := reflect.ValueOf(w).Elem()
	for i := range v.NumField() {
		if list := v.Field(i); list.Kind() == reflect.Slice {
			for j := range list.Len() {
				out = append(out, list.Index(j).Interface().(runtime.Object))
			}
		}
	}
	return out
}

// replicaSets are the owners of the world's pods, that want as many as there are. They
// select nothing.
func (w *World) replicaSets() (out []runtime.Object) {
	pods := map[types.NamespacedName]int32{}
	uids := map[types.NamespacedName]types.UID{}
	for _, p := range w.Pods {
		if of := metav1.GetControllerOf(p); of != nil && of.Kind == "ReplicaSet" {
			key := types.NamespacedName{Namespace: p.Namespace, Name: of.Name}
			pods[key]++
			uids[key] = of.UID
		}
	}
	for key, n := range pods {
		out = append(out, &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: uids[key]}, Spec: appsv1.ReplicaSetSpec{Replicas: &n},
		})
	}
	return out
}

// reader answers as an API server that holds the world's objects.
type reader struct{ world *World }

// Get returns the PodTemplate of that name; of other kinds there are lists alone.
func (r reader) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	for _, t := range r.world.Templates {
		if into, asked := obj.(*corev1.PodTemplate); asked && client.ObjectKeyFromObject(t) == key {
			t.DeepCopyInto(into)
			return nil
		}
	}
	return fmt.Errorf("world %d has no %T %s", r.world.Seed, obj, key)
}

// List returns all objects of the list's Kind on one page; Kinds that the world does not
// know have none.
func (r reader) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	items, found := reflect.TypeOf(list).Elem().FieldByName("Items")
	if !found {
		return fmt.Errorf("world %d: %T has no items", r.world.Seed, list)
	}
	var out []runtime.Object
	for _, o := range append(r.world.objects(), r.world.replicaSets()...) {
		if reflect.TypeOf(o).Elem() == items.Type.Elem() {
			out = append(out, o.DeepCopyObject())
		}
	}
	return meta.SetList(list, out)
}
