package stories_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// EKS moves the control plane one minor version up: what the alias of the class stands for moves with it, nodes are
// replaced one at a time, and no kubelet is ever newer than what EKS says. The lab's API server is one binary and stays
// as it is: EKS's word stands for it, and the controller goes by that.
func TestAfterMinutesOfAnUpdate(t *testing.T) {
	aboutMinutes(t)
	t.Parallel()
	s := begin(t, ownLabWith(t, []string{"EKS_CONTROL_PLANE=true"}, "--eks-version=1.35"))
	s.pool(moving("1"))
	old := s.oneEach(3)
	s.kubelets("v1.35")
	most := s.watchGoing(old)
	began := time.Now()
	s.account("update-cluster", "1.36")
	s.awaitFor(20*limit, "all nodes to be replaced", claims, left(old, none))
	s.awaitFor(3*limit, "all pods to run", "v1/Pod", of("apart", running(3)))
	s.kubelets("v1.36")
	if got := most(); got > 1 {
		s.Errorf("%d nodes went at once, and one may", got)
	}
	s.Logf("three nodes have the new version %.0f s after the control plane", time.Since(began).Seconds())
	s.nothingTwice()
}

// kubelets fails unless all nodes that the story's pods are on have kubelets of a version.
func (s *story) kubelets(version string) {
	s.Helper()
	for _, name := range s.nodesOfPods() {
		var node corev1.Node
		if err := s.client.Get(s.Context(), client.ObjectKey{Name: name}, &node); err != nil {
			s.Fatal(err)
		}
		if got := node.Status.NodeInfo.KubeletVersion; !strings.HasPrefix(got, version+".") {
			s.Errorf("node %s has kubelet %s, want %s", name, got, version)
		}
	}
}
