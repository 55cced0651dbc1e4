package snapshot

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// Follow lets the cluster state hear of everything the cache's informers see.
// claimSeen is told of every change of a claim, after the cluster state. It is called
// once, before anything else uses the cluster state.
func (k *ClusterState) Follow(ctx context.Context, informers cache.Informers, claimSeen func(c *karpv1.NodeClaim, gone bool)) error {
	seenClaim := func(c *karpv1.NodeClaim) { k.ClaimSeen(c); claimSeen(c, false) }
	goneClaim := func(c *karpv1.NodeClaim) { k.ClaimGone(c.Name); claimSeen(c, true) }
	followed := []watch{
		{&appsv1.ReplicaSet{}, handler(ignoreFirst(k.ReplicaSetSeen), func(o *appsv1.ReplicaSet) { k.ReplicaSetGone(o.Namespace, o.Name) })},
		{&appsv1.StatefulSet{}, handler(ignoreFirst(k.StatefulSetSeen), func(o *appsv1.StatefulSet) { k.StatefulSetGone(o.Namespace, o.Name) })},
		{&corev1.ReplicationController{}, handler(ignoreFirst(k.ReplicationControllerSeen),
			func(o *corev1.ReplicationController) { k.ReplicationControllerGone(o.Namespace, o.Name) })},
		{&batchv1.Job{}, handler(ignoreFirst(k.JobSeen), func(o *batchv1.Job) { k.JobGone(o.Namespace, o.Name) })},
		{&corev1.Pod{}, k.sight.noting(sightPods, handler(k.PodSeen, func(p *corev1.Pod) { k.PodGone(p.Namespace, p.Name) }))},
		{&corev1.Service{}, handler(ignoreFirst(k.ServiceSeen), func(s *corev1.Service) { k.ServiceGone(s.Namespace, s.Name) })},
		{&corev1.Namespace{}, handler(ignoreFirst(k.NamespaceSeen), func(n *corev1.Namespace) { k.NamespaceGone(n.Name) })},
		{&corev1.PersistentVolumeClaim{}, handler(ignoreFirst(k.ClaimOfVolumeSeen),
			func(c *corev1.PersistentVolumeClaim) { k.ClaimOfVolumeGone(c.Namespace, c.Name) })},
		{&corev1.PersistentVolume{}, handler(ignoreFirst(k.VolumeSeen), func(v *corev1.PersistentVolume) { k.VolumeGone(v.Name) })},
		{&storagev1.StorageClass{}, handler(ignoreFirst(k.StorageClassSeen), func(c *storagev1.StorageClass) { k.StorageClassGone(c.Name) })},
		{&storagev1.CSINode{}, handler(ignoreFirst(k.CSINodeSeen), func(n *storagev1.CSINode) { k.CSINodeGone(n.Name) })},
		{&storagev1.VolumeAttachment{}, handler(ignoreFirst(k.AttachmentSeen),
			func(a *storagev1.VolumeAttachment) { k.AttachmentGone(a.Spec.NodeName, a.Name) })},
		{&policyv1.PodDisruptionBudget{}, handler(ignoreFirst(k.PDBSeen), func(b *policyv1.PodDisruptionBudget) { k.PDBGone(b.Namespace, b.Name) })},
		{&corev1.LimitRange{}, handler(ignoreFirst(k.LimitRangeSeen), func(r *corev1.LimitRange) { k.LimitRangeGone(r.Namespace, r.Name) })},
		{&nodev1.RuntimeClass{}, handler(ignoreFirst(k.RuntimeClassSeen), func(c *nodev1.RuntimeClass) { k.RuntimeClassGone(c.Name) })},
		{&corev1.Node{}, k.sight.noting(sightNodes, handler(ignoreFirst(k.NodeSeen), func(n *corev1.Node) { k.NodeGone(n.Name) }))},
		{&appsv1.DaemonSet{}, handler(ignoreFirst(k.DaemonSetSeen), func(d *appsv1.DaemonSet) { k.DaemonSetGone(d.Namespace, d.Name) })},
		{&karpv1.NodeClaim{}, k.sight.noting(sightClaims, handler(ignoreFirst(seenClaim), goneClaim))},
	}
	for _, g := range k.generations {
		followed = append(followed, watch{g.New(), handlerOf(
			func(o client.Object, _ bool) { k.PoolSeen(g.View(o.(translate.PoolResource))) },
			func(o client.Object) { k.PoolGone(g.ID(o.GetName())) })})
	}
	if k.freezeIn != "" {
		followed = append(followed, watch{&corev1.ConfigMap{}, handler(ignoreFirst(k.FreezeSeen), func(c *corev1.ConfigMap) { k.FreezeGone(c.Namespace, c.Name) })})
	}
	for _, f := range followed {
		informer, err := informers.GetInformer(ctx, f.kind)
		if err != nil {
			return fmt.Errorf("watch %T: %w", f.kind, err)
		}
		registration, err := informer.AddEventHandler(f.handler)
		if err != nil {
			return fmt.Errorf("follow %T: %w", f.kind, err)
		}
		if registration != nil { // a store in memory tells at once and has none
			k.followed = append(k.followed, registration.HasSynced)
		}
	}
	return nil
}

type watch struct {
	kind    client.Object
	handler toolscache.ResourceEventHandler
}

// WaitForFirst waits until the cluster state has heard of everything that there was
// when its watches began; it reports false when ctx ended first. A filled
// cache is not enough: it tells its followers a moment later, and a plan made
// from claims without pods, or pods without claims, would be wrong.
func (k *ClusterState) WaitForFirst(ctx context.Context) bool {
	return toolscache.WaitForCacheSync(ctx.Done(), k.followed...)
}

func ignoreFirst[T any](seen func(*T)) func(*T, bool) { return func(o *T, _ bool) { seen(o) } }

func handler[T any](seen func(o *T, first bool), gone func(*T)) toolscache.ResourceEventHandler {
	return handlerOf(seen, gone)
}

func handlerOf[O any](seen func(o O, first bool), gone func(O)) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(o any, first bool) {
			if object, ok := o.(O); ok {
				seen(object, first)
			}
		},
		UpdateFunc: func(_, o any) {
			if object, ok := o.(O); ok {
				seen(object, false)
			}
		},
		DeleteFunc: func(o any) {
			if tomb, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = tomb.Obj
			}
			if object, ok := o.(O); ok {
				gone(object)
			}
		},
	}
}
