package snapshot

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
)

// replica is a pod of the controller; it is ready unless something changes that.
func replica(name, node, hash string, change ...func(*corev1.Pod)) *corev1.Pod {
	return pod(name, "1", node, append([]func(*corev1.Pod){func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "daemok", "pod-template-hash": hash}
		p.Status.StartTime = &metav1.Time{Time: start}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}}, change...)...)
}

func TestNodesOfTheControllerAreKnown(t *testing.T) {
	unready := func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }
	tests := map[string]struct {
		self string
		pods []*corev1.Pod
		want [2]cluster.Replica // of nodes a and b
	}{
		"one replica":                           {"me", []*corev1.Pod{replica("me", "a", "1")}, [2]cluster.Replica{cluster.OnlyReplica, ""}},
		"two that are ready":                    {"me", []*corev1.Pod{replica("me", "a", "1"), replica("other", "b", "1")}, [2]cluster.Replica{cluster.OneReplica, cluster.OneReplica}},
		"one of another revision":               {"me", []*corev1.Pod{replica("me", "a", "1"), replica("other", "b", "2")}, [2]cluster.Replica{cluster.OneReplica, cluster.OneReplica}},
		"the other is not ready":                {"me", []*corev1.Pod{replica("me", "a", "1"), replica("other", "b", "1", unready)}, [2]cluster.Replica{cluster.OneReplica, ""}},
		"the other has no node":                 {"me", []*corev1.Pod{replica("me", "a", "1"), replica("other", "", "1")}, [2]cluster.Replica{cluster.OneReplica, ""}},
		"the other is ending":                   {"me", []*corev1.Pod{replica("me", "a", "1"), replica("other", "b", "1", ending)}, [2]cluster.Replica{cluster.OneReplica, ""}},
		"this one acts, whatever is said of it": {"me", []*corev1.Pod{replica("me", "a", "1", unready)}, [2]cluster.Replica{cluster.OnlyReplica, ""}},
		"pods of another workload":              {"me", []*corev1.Pod{replica("me", "a", "1"), replica("dns", "b", "1", labelledDNS)}, [2]cluster.Replica{cluster.OnlyReplica, ""}},
		"a process outside the cluster":         {"laptop", []*corev1.Pod{replica("me", "a", "1")}, [2]cluster.Replica{}},
		"a process that does not know itself":   {"", []*corev1.Pod{replica("me", "a", "1")}, [2]cluster.Replica{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k := newClusterState()
			k.Configure(func(s *Settings) { s.Self = types.NamespacedName{Namespace: "default", Name: tt.self} })
			for _, n := range []string{"a", "b"} {
				up := node(n)
				up.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
				k.Seen(up)
			}
			for _, p := range tt.pods {
				k.Listed(p)
			}
			nodes := k.Snapshot().Nodes
			if got := [2]cluster.Replica{nodes[0].Controller, nodes[1].Controller}; got != tt.want {
				t.Errorf("seats %q, want %q", fmt.Sprint(got), fmt.Sprint(tt.want))
			}
		})
	}
}

func ending(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} }

func labelledDNS(p *corev1.Pod) { p.Labels["app"] = "dns" }

// A node that is kept for lack of a standby is thought of again when one is up.
func TestAStandbyThatComesUpAsksForAPlan(t *testing.T) {
	k := newClusterState()
	k.Configure(func(s *Settings) { s.Self = types.NamespacedName{Namespace: "default", Name: "me"} })
	starting := func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }
	for _, p := range []*corev1.Pod{replica("me", "a", "1"), replica("other", "b", "1", starting)} {
		k.Listed(p)
	}
	<-k.Changed()
	k.Seen(replica("other", "b", "1"))
	select {
	case <-k.Changed():
	default:
		t.Error("nobody is told")
	}
}
