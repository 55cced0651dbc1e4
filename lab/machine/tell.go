package machine

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/lab/event"
)

// tellOfStart tells what a kubelet tells of its node when it has registered.
func (a *agent) tellOfStart() {
	a.tellOfNode("Starting", "Starting kubelet.")
	for _, state := range []string{"NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"} {
		a.tellOfNode(state, statusIsNow(a.instance.PrivateDNS, state))
	}
	a.tellOfNode("NodeAllocatableEnforced", "Updated Node Allocatable limit across pods")
}

func (a *agent) tellOfNode(reason, message string) {
	name := a.instance.PrivateDNS
	a.options.Events.Tell(a.client.CoreV1(), event.Told{
		// A kubelet names its node by name where other objects have a UID.
		About: corev1.ObjectReference{Kind: "Node", Name: name, UID: types.UID(name)},
		Node:  name, Reason: reason, Message: message,
	})
}

func statusIsNow(node, state string) string {
	return fmt.Sprintf("Node %s status is now: %s", node, state)
}
