package machine

import (
	"context"
	"fmt"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Published is the devices of a node that a driver of dynamic resource allocation (DRA) publishes.
type Published struct {
	Driver  string
	Devices []resourcev1.Device
}

// driversAfter is when the pods of DRA drivers run on the node after it is ready, as those of a DaemonSet do; negative
// where there are none.
func (a *agent) driversAfter() time.Duration {
	if !a.options.DRADrivers || len(a.facts.Published) == 0 || a.reported.neverReady {
		return -1
	}
	return a.options.DevicesAfter
}

// publishDevices has the drivers publish the devices of the node, and returns after what time they have to try again;
// negative: never.
func (a *agent) publishDevices(ctx context.Context) time.Duration {
	if a.isSilent() {
		return retryMax
	}
	node, err := a.client.CoreV1().Nodes().Get(ctx, a.instance.PrivateDNS, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return -1 // deleted meanwhile: its devices are of no use any more
	}
	for _, p := range a.facts.Published {
		if err == nil {
			err = a.publish(ctx, resourceSlice(node.Name, node.UID, p))
		}
	}
	if err != nil {
		a.log.Warn("devices not published, trying again", "error", err)
		return retryMax
	}
	a.console.printf("DRA drivers have published %d ResourceSlices", len(a.facts.Published))
	return -1
}

// publish creates a slice, in place of what an earlier node of the same name has left.
func (a *agent) publish(ctx context.Context, want *resourcev1.ResourceSlice) error {
	all := a.options.Admin.ResourceV1().ResourceSlices()
	_, err := all.Create(ctx, want, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	left, err := all.Get(ctx, want.Name, metav1.GetOptions{})
	switch {
	case err != nil:
		return err
	case left.OwnerReferences[0].UID == want.OwnerReferences[0].UID:
		return nil
	}
	only := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &left.UID}}
	if err := all.Delete(ctx, want.Name, only); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	_, err = all.Create(ctx, want, metav1.CreateOptions{})
	return err
}

// resourceSlice is the whole pool of a driver's devices on a node. It goes with the node.
func resourceSlice(node string, uid types.UID, p Published) *resourcev1.ResourceSlice {
	return &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{
			Name:            fmt.Sprintf("%s-%s", node, p.Driver),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node, UID: uid}},
		},
		Spec: resourcev1.ResourceSliceSpec{
			Driver: p.Driver, NodeName: &node, Devices: p.Devices,
			Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
		},
	}
}
