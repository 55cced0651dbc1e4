package machine

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/lab/event"
)

// reportStart says what a kubelet reports its node when it has registered.
func (a *agent) reportStart() {
	a.reportNode("Starting", "Starting kubelet.")
	for _, state := range []string{"NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"} {
		a.reportNode(state, statusIsNow(a.instance.PrivateDNS, state))
	}
	a.reportNode("NodeAllocatableEnforced", "Updated Node Allocatable limit across pods")
}

func (a *agent) reportNode(reason, message string) {
	name := a.instance.PrivateDNS
	a.options.Events.Report(a.client.CoreV1(), event.Reported{
		// A kubelet names its node by name where other objects have a UID.
		About: corev1.ObjectReference{Kind: "Node", Name: name, UID: types.UID(name)},
		Node:  name, Reason: reason, Message: message,
	})
}

func statusIsNow(node, state string) string {
	return fmt.Sprintf("Node %s status is now: %s", node, state)
}
