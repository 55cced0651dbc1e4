package machine

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// devicesAfter is when the device plugin registers with the kubelet after the
// node is ready; negative where there is none.
func (a *agent) devicesAfter() time.Duration {
	if len(a.devices) == 0 || a.reported.neverReady {
		return -1
	}
	return a.options.DevicesAfter
}

// offeringDevices is the device plugin's registration: from now on the node has
// devices for pods.
func (a *agent) offeringDevices() {
	a.mu.Lock()
	a.plugged = true
	silent := a.silent
	a.mu.Unlock()
	a.console.printf("kubelet: device plugin registered: %v", a.devices)
	if !silent {
		a.join() // before the scheduler can send pods that want them
	}
	a.wake()
}

// resources returns what the node has now, and what of it pods may have.
func (a *agent) resources() (capacity, allocatable corev1.ResourceList) {
	a.mu.Lock()
	defer a.mu.Unlock()
	capacity, allocatable = maps.Clone(a.capacity), maps.Clone(a.allocatable)
	if !a.plugged {
		return capacity, allocatable
	}
	for name, count := range a.devices {
		amount := *resource.NewQuantity(count, resource.DecimalSI)
		capacity[corev1.ResourceName(name)], allocatable[corev1.ResourceName(name)] = amount, amount
	}
	return capacity, allocatable
}

// withoutDevices has a node say that it has none of the devices that it may have had before
// its instance booted again.
func (a *agent) withoutDevices(node *corev1.Node) {
	node.Status.Capacity, node.Status.Allocatable = maps.Clone(node.Status.Capacity), maps.Clone(node.Status.Allocatable)
	for name := range a.devices {
		node.Status.Capacity[corev1.ResourceName(name)] = resource.Quantity{}
		node.Status.Allocatable[corev1.ResourceName(name)] = resource.Quantity{}
	}
}
