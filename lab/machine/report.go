package machine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"github.com/daemok/daemok/internal/pause"
)

// register creates the Node object, or takes over one that an earlier boot of the same
// instance left, as a kubelet does.
func (a *agent) register(ctx context.Context) (node *corev1.Node, ok bool) {
	want := a.node(time.Now())
	ok = a.retry(ctx, "register node", func() (err error) {
		node, err = a.client.CoreV1().Nodes().Create(ctx, want, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			node, err = a.takeOver(ctx, want)
		}
		return err
	})
	return node, ok
}

func (a *agent) takeOver(ctx context.Context, want *corev1.Node) (*corev1.Node, error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": want.Labels}})
	if err != nil {
		return nil, err
	}
	nodes := a.client.CoreV1().Nodes()
	if _, err := nodes.Patch(ctx, want.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return nil, fmt.Errorf("take over node %s: %w", want.Name, err)
	}
	a.withoutDevices(want) // until their plugin is back
	status, err := json.Marshal(map[string]any{"status": map[string]any{
		"capacity": want.Status.Capacity, "allocatable": want.Status.Allocatable,
		"nodeInfo": want.Status.NodeInfo, "conditions": want.Status.Conditions,
	}})
	if err != nil {
		return nil, err
	}
	node, err := nodes.Patch(ctx, want.Name, types.StrategicMergePatchType, status, metav1.PatchOptions{}, "status")
	if err != nil {
		return nil, fmt.Errorf("take over node %s: %w", want.Name, err)
	}
	return node, nil
}

// initialize does what the cloud's node controller does for a new node: gives
// the labels of its place and takes its taint away.
func initialize(ctx context.Context, admin kubernetes.Interface, i Instance) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node, err := admin.CoreV1().Nodes().Get(ctx, i.PrivateDNS, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for key, value := range cloudLabels(i) {
			node.Labels[key] = value
		}
		var taints []corev1.Taint
		for _, t := range node.Spec.Taints {
			if t.Key != taintUninitialized {
				taints = append(taints, t)
			}
		}
		node.Spec.Taints = taints
		_, err = admin.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{})
		return err
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("initialise node %s: %w", i.PrivateDNS, err)
	}
	return nil
}

// registerDriver publishes the EBS driver and the node's zone for it.
func (a *agent) registerDriver(ctx context.Context, node *corev1.Node) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"labels": map[string]string{labelEBSZone: a.instance.Zone},
	}})
	if err != nil {
		return err
	}
	_, err = a.client.CoreV1().Nodes().Patch(ctx, node.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil // deleted meanwhile: the kubelet goes on without
	}
	if err != nil {
		return fmt.Errorf("label node %s with its zone: %w", node.Name, err)
	}
	want := csiNode(node, a.instance.ID, a.facts.VolumesMax)
	drivers := a.client.StorageV1().CSINodes()
	_, err = drivers.Create(ctx, want, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		err = a.replaceDriver(ctx, want)
	}
	if err != nil {
		return fmt.Errorf("publish CSINode %s: %w", node.Name, err)
	}
	return nil
}

// replaceDriver takes the place of what an instance of the same name has left, which would be collected with its
// node, and the limits of this one with it. What this one has published before stays.
func (a *agent) replaceDriver(ctx context.Context, want *storagev1.CSINode) error {
	drivers := a.client.StorageV1().CSINodes()
	left, err := drivers.Get(ctx, want.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return err
	case slices.EqualFunc(left.OwnerReferences, want.OwnerReferences, func(x, y metav1.OwnerReference) bool { return x.UID == y.UID }):
		return nil
	default:
		only := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &left.UID}}
		if err := drivers.Delete(ctx, want.Name, only); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	_, err = drivers.Create(ctx, want, metav1.CreateOptions{})
	return err
}

// patchStatus writes the status of the node. That the node's object is gone is no error.
func (a *agent) patchStatus(ctx context.Context) error {
	status := a.status()
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	name := a.instance.PrivateDNS
	_, err = a.client.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// status is what the node says of itself now, as a patch.
func (a *agent) status() map[string]any {
	capacity, allocatable := a.resources()
	a.mu.Lock()
	defer a.mu.Unlock()
	said := []any{}
	for _, c := range conditions(time.Now(), a.ready, a.since, a.extra) {
		said = append(said, c)
	}
	for _, kind := range a.gone {
		if _, again := a.extra[kind]; !again && !ownCondition(kind) {
			said = append(said, map[string]any{"type": kind, "$patch": "delete"})
		}
	}
	return map[string]any{
		"conditions": said, "volumesInUse": a.volumes, "capacity": capacity, "allocatable": allocatable,
	}
}

// reportOne reports the status once; a failure is reported again a little later.
func (a *agent) reportOne(ctx context.Context) {
	if a.isSilent() {
		return
	}
	if err := a.patchStatus(ctx); err != nil && ctx.Err() == nil {
		a.log.Warn("node status not written, trying again", "error", err)
		if pause.For(ctx, retryMin) == nil {
			a.wake()
		}
	}
}

// beat renews the node's lease. It is not made again for a node whose object
// was deleted. Once the lease had run out the node controller has called the node's
// conditions unknown, or will by what it saw: they are reported again, with more than one
// renewal, as by a kubelet, which compares them with the node every ten seconds.
func (a *agent) beat(ctx context.Context) {
	if a.isSilent() {
		return
	}
	if err := a.renew(ctx); err != nil {
		if ctx.Err() == nil {
			a.log.Warn("lease not renewed, trying again", "error", err)
		}
		return
	}
	at := time.Now().Round(0)
	if !a.renewed.IsZero() && at.Sub(a.renewed) > leaseSeconds*time.Second {
		a.overdue = afterGap
	}
	a.renewed = at
	if a.overdue > 0 {
		a.overdue--
		a.reportOne(ctx)
	}
}

func (a *agent) renew(ctx context.Context) error {
	name := a.instance.PrivateDNS
	leases := a.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	if a.lease != nil {
		next := a.lease.DeepCopy()
		next.Spec.RenewTime = now()
		updated, err := leases.Update(ctx, next, metav1.UpdateOptions{})
		if err == nil {
			a.lease = updated
		}
		if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return err
		}
	}
	node, err := a.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		a.lease = nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("read node %s: %w", name, err)
	}
	a.lease, err = leases.Create(ctx, leaseOf(node), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		a.lease, err = leases.Get(ctx, name, metav1.GetOptions{})
	}
	if err != nil {
		a.lease = nil
		return fmt.Errorf("make lease of node %s: %w", name, err)
	}
	return nil
}

func leaseOf(node *corev1.Node) *coordinationv1.Lease {
	seconds := int32(leaseSeconds)
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: node.Name, Namespace: corev1.NamespaceNodeLease,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &node.Name, LeaseDurationSeconds: &seconds, RenewTime: now()},
	}
}

func now() *metav1.MicroTime { t := metav1.NowMicro(); return &t }
