package state

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/translate/podspec"
)

// byNode is the index of pods that PodsOn asks the store for.
const byNode = "spec.nodeName"

// PodsOn counts the pods on a node that have to leave it when it goes: not those of
// DaemonSets, static ones and those that have ended. The store answers from memory; where
// it cannot, none are counted.
func PodsOn(store client.Reader) func(node string) int {
	return func(node string) int {
		var list corev1.PodList
		if err := store.List(context.Background(), &list, client.MatchingFields{byNode: node}, client.UnsafeDisableDeepCopy); err != nil {
			return 0
		}
		n := 0
		for i := range list.Items {
			if p := &list.Items[i]; !podspec.IsDaemon(p) && !podspec.IsMirror(p) && !podspec.IsTerminal(p) {
				n++
			}
		}
		return n
	}
}
