package machine_test

import (
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/lab/machine"
)

// slices lists what DRA drivers have published.
func (l lab) slices() []resourcev1.ResourceSlice {
	l.t.Helper()
	list, err := l.client.ResourceV1().ResourceSlices().List(l.t.Context(), metav1.ListOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	return list.Items
}

// A DRA driver publishes the devices of a node some time after that is ready, in place of what an earlier node of its
// name has left; nodes without devices publish nothing.
func TestADRADriverPublishesDevices(t *testing.T) {
	inLab(t, func(l lab) {
		left := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name + "-gpu.nvidia.com",
			OwnerReferences: []metav1.OwnerReference{{Kind: "Node", Name: name, UID: "another"}}}}
		all := l.client.ResourceV1().ResourceSlices()
		if _, err := all.Create(t.Context(), left, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		l.Handle(instance(func(i *machine.Instance) { i.ImageName += "-nvidia" }))
		pass(36 * time.Second)
		if got := l.slices(); len(got) != 1 || len(got[0].Spec.Devices) != 0 {
			t.Errorf("before the driver's time: %v, want what was left", got)
		}
		pass(20 * time.Second)
		got := l.slices()
		if len(got) != 1 || got[0].OwnerReferences[0].UID != l.node().UID || *got[0].Spec.NodeName != name {
			t.Fatalf("published %v, want one slice of the node", got)
		}
		if s := got[0].Spec; len(s.Devices) != 4 || s.Pool.ResourceSliceCount != 1 || s.Driver != "gpu.nvidia.com" {
			t.Errorf("published %+v, want a complete pool of 4 GPUs", s)
		}
		l.Handle(instance(func(i *machine.Instance) { i.ID, i.PrivateDNS = "i-2", "ip-10-0-0-2.ec2.internal" }))
		pass(time.Minute)
		if got := l.slices(); len(got) != 1 {
			t.Errorf("a node without devices published %v", got)
		}
	})
}
