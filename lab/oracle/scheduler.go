package oracle

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"github.com/daemok/daemok/kube/api"
)

// scheduler is the filter plugins of kube-scheduler's default profile over
// nodes and objects that the caller changes step by step. Its informers are
// never started: their stores hold what the world does.
type scheduler struct {
	framework framework.Framework
	nodes     *nodeList
	factory   informers.SharedInformerFactory
	made      map[string]string // claims, as namespace/name, whose volume is made for a pod: on which node
	devices   *devices
}

// verdict is what the plugins say of one pod on one node.
type verdict struct {
	accepted bool
	plugin   string
	reason   string
}

// profile is the scheduler's default one.
var profile = sync.OnceValues(func() (*config.KubeSchedulerProfile, error) {
	metrics.Register()
	defaults, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("read the scheduler's default configuration: %w", err)
	}
	return &defaults.Profiles[0], nil
})

// newScheduler returns a scheduler that knows the world's storage and
// namespaces but no nodes. It ends with the context.
func newScheduler(ctx context.Context, w *World) (*scheduler, error) {
	p, err := profile()
	if err != nil {
		return nil, err
	}
	client := fake.NewClientset()
	s := &scheduler{nodes: newNodeList(), made: map[string]string{},
		factory: informers.NewSharedInformerFactory(client, 0), devices: newDevices(w)}
	for _, o := range w.objects() {
		if store := s.store(o); store != nil {
			if err := store.Add(o); err != nil {
				return nil, fmt.Errorf("show %T to the scheduler: %w", o, err)
			}
		}
	}
	s.framework, err = frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), p,
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(s.factory),
		frameworkruntime.WithSnapshotSharedLister(s.nodes),
		frameworkruntime.WithSharedDRAManager(draManager{s.devices}),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(s.factory.Storage().V1().CSINodes().Lister())))
	if err != nil {
		return nil, fmt.Errorf("build kube-scheduler's plugins: %w", err)
	}
	return s, nil
}

// store is where plugins read objects of this type; nil if they do not.
func (s *scheduler) store(o any) cache.Indexer {
	core, storage := s.factory.Core().V1(), s.factory.Storage().V1()
	switch o.(type) {
	case *corev1.Namespace:
		return core.Namespaces().Informer().GetIndexer()
	case *corev1.PersistentVolume:
		return core.PersistentVolumes().Informer().GetIndexer()
	case *corev1.PersistentVolumeClaim:
		return core.PersistentVolumeClaims().Informer().GetIndexer()
	case *storagev1.StorageClass:
		return storage.StorageClasses().Informer().GetIndexer()
	case *storagev1.CSINode:
		return storage.CSINodes().Informer().GetIndexer()
	}
	return nil
}

// add shows a node to the scheduler, with how many volumes it takes.
func (s *scheduler) add(n *corev1.Node, limits *storagev1.CSINode) error {
	s.nodes.add(n)
	if limits == nil {
		return nil
	}
	return s.store(limits).Add(limits)
}

// judge says whether the pod may run on each of the nodes, in their order.
func (s *scheduler) judge(ctx context.Context, pod *corev1.Pod, nodes ...string) []verdict {
	out := make([]verdict, len(nodes))
	state := framework.NewCycleState()
	narrowed, status, _ := s.framework.RunPreFilterPlugins(ctx, state, pod)
	for i, name := range nodes {
		switch {
		case !status.IsSuccess():
			out[i] = verdictOf(status)
		case !narrowed.AllNodes() && !narrowed.NodeNames.Has(name):
			out[i] = verdict{plugin: "PreFilter", reason: "the node is not among those that the pod names"}
		default:
			out[i] = verdictOf(s.framework.RunFilterPlugins(ctx, state, pod, s.nodes.byName[name]))
		}
	}
	return out
}

func verdictOf(status *fwk.Status) verdict {
	if status.IsSuccess() {
		return verdict{accepted: true}
	}
	return verdict{plugin: status.Plugin(), reason: status.Message()}
}

// bind puts the pod on the node. Its volumes that waited for that are made
// there, as the provisioner would.
func (s *scheduler) bind(pod *corev1.Pod, node string) error {
	bound := pod.DeepCopy()
	bound.Spec.NodeName = node
	s.nodes.target(bound)
	for _, name := range claimsOf(bound) {
		if err := s.provision(bound.Namespace, name, s.nodes.byName[node].Node()); err != nil {
			return err
		}
	}
	return nil
}

// provision makes the volume of a claim that has none, within reach of the
// node alone: in its zone.
func (s *scheduler) provision(namespace, name string, node *corev1.Node) error {
	stored, found, err := s.store(&corev1.PersistentVolumeClaim{}).GetByKey(namespace + "/" + name)
	if err != nil || !found {
		return err
	}
	claim := stored.(*corev1.PersistentVolumeClaim)
	if claim.Spec.VolumeName != "" || claim.Spec.StorageClassName == nil {
		return nil
	}
	class, found, err := s.store(&storagev1.StorageClass{}).GetByKey(*claim.Spec.StorageClassName)
	if err != nil || !found {
		return err
	}
	bound := claim.DeepCopy()
	volume := volumeFor(bound, class.(*storagev1.StorageClass), reachFrom(class.(*storagev1.StorageClass), node))
	if err := s.store(volume).Add(volume); err != nil {
		return fmt.Errorf("make the volume of claim %s/%s: %w", namespace, name, err)
	}
	s.made[namespace+"/"+name] = node.Name
	return s.store(bound).Update(bound)
}

// zoneTerms is the reach of a volume that lives in one of the zones.
func zoneTerms(zones ...string) *corev1.VolumeNodeAffinity {
	for _, zone := range zones {
		if zone == "" {
			return nil
		}
	}
	return only(api.LabelZone, zones...)
}

// only is the reach of a volume from nodes with one of the values.
func only(key string, values ...string) *corev1.VolumeNodeAffinity {
	out := &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}}
	for _, value := range values {
		out.Required.NodeSelectorTerms = append(out.Required.NodeSelectorTerms, corev1.NodeSelectorTerm{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}},
		})
	}
	return out
}

// volumeFor makes a volume and binds the claim to it.
func volumeFor(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, reach *corev1.VolumeNodeAffinity) *corev1.PersistentVolume {
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv-" + claim.Namespace + "-" + claim.Name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:         claim.Spec.Resources.Requests,
			AccessModes:      claim.Spec.AccessModes,
			StorageClassName: class.Name,
			ClaimRef: &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace,
				Name: claim.Name, UID: claim.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: class.Provisioner, VolumeHandle: "vol-" + claim.Namespace + "-" + claim.Name}},
			NodeAffinity: reach,
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
	}
	claim.Spec.VolumeName = volume.Name
	claim.Status.Phase = corev1.ClaimBound
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, "pv.kubernetes.io/bind-completed", "yes")
	return volume
}

// leave takes a node away again, and what drivers publish of it.
func (s *scheduler) leave(name string) {
	s.nodes.remove(name)
	delete(s.devices.slices, name)
	if stored, found, _ := s.store(&storagev1.CSINode{}).GetByKey(name); found {
		_ = s.store(&storagev1.CSINode{}).Delete(stored)
	}
}
