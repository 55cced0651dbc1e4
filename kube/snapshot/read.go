package snapshot

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/translate"
)

// Read makes one snapshot of a live cluster, without watching it.
func Read(ctx context.Context, from client.Reader, kinds Kinds, now func() time.Time) (*cluster.Snapshot, error) {
	return New(kinds, now).Read(ctx, from)
}

// Read makes one snapshot of a live cluster, without watching it, for a cluster state
// that has seen nothing. It does not see pods come and go, so emptiness counts
// from what claims say of it.
func (k *ClusterState) Read(ctx context.Context, from client.Reader) (*cluster.Snapshot, error) {
	for _, read := range []func() error{
		all(ctx, from, &appsv1.ReplicaSetList{}, func(l *appsv1.ReplicaSetList) []appsv1.ReplicaSet { return l.Items }, k.ReplicaSetSeen),
		all(ctx, from, &appsv1.StatefulSetList{}, func(l *appsv1.StatefulSetList) []appsv1.StatefulSet { return l.Items }, k.StatefulSetSeen),
		all(ctx, from, &corev1.ReplicationControllerList{},
			func(l *corev1.ReplicationControllerList) []corev1.ReplicationController { return l.Items }, k.ReplicationControllerSeen),
		all(ctx, from, &batchv1.JobList{}, func(l *batchv1.JobList) []batchv1.Job { return l.Items }, k.JobSeen),
		k.poolsOf(ctx, from), k.claimsOf(ctx, from), k.nodesOf(ctx, from),
		all(ctx, from, &corev1.ServiceList{}, func(l *corev1.ServiceList) []corev1.Service { return l.Items }, k.ServiceSeen),
		all(ctx, from, &corev1.NamespaceList{}, func(l *corev1.NamespaceList) []corev1.Namespace { return l.Items }, k.NamespaceSeen),
		all(ctx, from, &corev1.LimitRangeList{}, func(l *corev1.LimitRangeList) []corev1.LimitRange { return l.Items }, k.LimitRangeSeen),
		all(ctx, from, &nodev1.RuntimeClassList{}, func(l *nodev1.RuntimeClassList) []nodev1.RuntimeClass { return l.Items }, k.RuntimeClassSeen),
		all(ctx, from, &storagev1.StorageClassList{}, func(l *storagev1.StorageClassList) []storagev1.StorageClass { return l.Items }, k.StorageClassSeen),
		all(ctx, from, &storagev1.CSINodeList{}, func(l *storagev1.CSINodeList) []storagev1.CSINode { return l.Items }, k.CSINodeSeen),
		all(ctx, from, &storagev1.VolumeAttachmentList{},
			func(l *storagev1.VolumeAttachmentList) []storagev1.VolumeAttachment { return l.Items }, k.AttachmentSeen),
		all(ctx, from, &corev1.PersistentVolumeList{}, func(l *corev1.PersistentVolumeList) []corev1.PersistentVolume { return l.Items }, k.VolumeSeen),
		all(ctx, from, &corev1.PersistentVolumeClaimList{},
			func(l *corev1.PersistentVolumeClaimList) []corev1.PersistentVolumeClaim { return l.Items }, k.ClaimOfVolumeSeen),
		all(ctx, from, &policyv1.PodDisruptionBudgetList{},
			func(l *policyv1.PodDisruptionBudgetList) []policyv1.PodDisruptionBudget { return l.Items }, k.PDBSeen),
		all(ctx, from, &appsv1.DaemonSetList{}, func(l *appsv1.DaemonSetList) []appsv1.DaemonSet { return l.Items }, k.DaemonSetSeen),
		all(ctx, from, &corev1.PodList{}, func(l *corev1.PodList) []corev1.Pod { return l.Items }, func(p *corev1.Pod) { k.PodSeen(p, true) }),
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	if err := k.readHolds(ctx, from); err != nil {
		return nil, err
	}
	return k.Snapshot(), nil
}

// ReadNodes makes one snapshot of the nodes of some pools and of what says how
// many of them may go, for a cluster state that has seen nothing. Nodes of other pools are
// there as far as breakers count them too. No plan can be made of it: pods, and what
// concerns them, are not read.
func (k *ClusterState) ReadNodes(ctx context.Context, from client.Reader, pools ...cluster.PoolID) (*cluster.Snapshot, error) {
	if err := k.poolsOf(ctx, from)(); err != nil {
		return nil, err
	}
	if err := k.readHolds(ctx, from); err != nil {
		return nil, err
	}
	for kind, names := range k.countedWith(pools) {
		of, err := labels.NewRequirement(translate.PoolLabel(kind), selection.In, names)
		if err != nil {
			return nil, fmt.Errorf("select the nodes of pools: %w", err)
		}
		selected := client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*of)}
		for _, read := range []func() error{k.claimsOf(ctx, from, selected), k.nodesOf(ctx, from, selected)} {
			if err := read(); err != nil {
				return nil, err
			}
		}
	}
	return k.Snapshot(), nil
}

// countedWith names the pools and those that a breaker counts together with one of
// them, by their kinds.
func (k *ClusterState) countedWith(pools []cluster.PoolID) map[string][]string {
	names := map[string][]string{}
	add := func(ids []cluster.PoolID) {
		for _, id := range ids {
			names[id.Kind] = append(names[id.Kind], id.Name)
		}
	}
	add(pools)
	for _, p := range k.Policies() {
		if p.Object.Spec.Breaker != nil && slices.ContainsFunc(pools, func(id cluster.PoolID) bool { return slices.Contains(p.Pools, id) }) {
			add(p.Pools)
		}
	}
	return names
}

func (k *ClusterState) poolsOf(ctx context.Context, from client.Reader) func() error {
	return func() error {
		for _, g := range k.generations {
			err := pages.EachList(ctx, from, g.NewList, func(l client.ObjectList) {
				for _, o := range g.Items(l) {
					k.PoolSeen(g.View(o))
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func (k *ClusterState) claimsOf(ctx context.Context, from client.Reader, options ...client.ListOption) func() error {
	return all(ctx, from, &karpv1.NodeClaimList{}, func(l *karpv1.NodeClaimList) []karpv1.NodeClaim { return l.Items }, k.ClaimSeen, options...)
}

func (k *ClusterState) nodesOf(ctx context.Context, from client.Reader, options ...client.ListOption) func() error {
	return all(ctx, from, &corev1.NodeList{}, func(l *corev1.NodeList) []corev1.Node { return l.Items }, k.NodeSeen, options...)
}

// readHolds reads what keeps nodes from going whatever their pools say.
func (k *ClusterState) readHolds(ctx context.Context, from client.Reader) error {
	if err := k.readFreeze(ctx, from); err != nil {
		return err
	}
	policies, err := ReadPolicies(ctx, from)
	if err != nil {
		return err
	}
	k.PoliciesAre(policies)
	return nil
}

// all reads every object of a kind and lets the cluster state see it.
func all[O, L any, P interface {
	*L
	client.ObjectList
}](ctx context.Context, from client.Reader, first P, items func(P) []O, seen func(*O), options ...client.ListOption) func() error {
	return func() error {
		return pages.Each(ctx, from, first, func(l P) {
			list := items(l)
			for i := range list {
				seen(&list[i])
			}
		}, options...)
	}
}
