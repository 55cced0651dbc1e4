package snapshot

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// manyPods are pods of 500 deployments in 20 namespaces, each spread over
// zones by its own label, with labels that none reads.
func manyPods(n int) []*corev1.Pod {
	out := make([]*corev1.Pod, n)
	for i := range out {
		app, name := fmt.Sprint("app-", i%500), fmt.Sprint("pod-", i)
		p := pod(name, "100m", fmt.Sprint("n", i%3000))
		p.Namespace = fmt.Sprint("ns-", i%20)
		p.Labels = map[string]string{"app": app, "pod-template-hash": app + "-1", "index": name, "team": "one"}
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			TopologyKey: api.LabelZone, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}}
		out[i] = p
	}
	return out
}

// BenchmarkClusterState measures a cluster state of 100,000 pods: hearing of them all, one
// pod more, a selector that reads a new label of one namespace, and of all.
func BenchmarkClusterState(b *testing.B) {
	pods := manyPods(100_000)
	filled := func() *ClusterState {
		k := newClusterState()
		for _, p := range pods {
			k.Listed(p)
		}
		return k
	}
	b.Run("all heard of", func(b *testing.B) {
		for b.Loop() {
			filled()
		}
	})
	b.Run("first snapshot", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			k := filled()
			b.StartTimer()
			k.Snapshot()
		}
	})
	k := filled()
	k.Snapshot()
	for i := range 3000 {
		k.Seen(node(fmt.Sprint("n", i)))
	}
	b.Run("the same pod again", func(b *testing.B) {
		for b.Loop() {
			k.Seen(pods[0])
		}
	})
	b.Run("arrivals", func(b *testing.B) {
		for b.Loop() {
			k.Arrivals()
		}
	})
	reader := func(all bool) *corev1.Pod {
		p := pod("reader", "1", "")
		p.Namespace = "ns-1"
		term := corev1.PodAffinityTerm{TopologyKey: api.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "one"}}}
		if all {
			term.NamespaceSelector = &metav1.LabelSelector{}
		}
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
		return p
	}
	for _, tt := range []struct {
		name string
		pod  *corev1.Pod
	}{{"one pod more", pod("reader", "1", "")}, {"a new label read in one namespace", reader(false)}, {"a new label read in all", reader(true)}} {
		b.Run(tt.name+", shapes alone", func(b *testing.B) {
			for b.Loop() {
				k.Seen(tt.pod)
				k.tables.shapes.Refresh()
				k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: tt.pod.Namespace, Name: tt.pod.Name}})
				k.tables.shapes.Refresh()
			}
		})
	}
	b.Run("a snapshot", func(b *testing.B) {
		for b.Loop() {
			k.Snapshot()
		}
		b.ReportMetric(float64(len(k.Snapshot().Shapes())), "shapes")
	})
}

// BenchmarkChange measures a snapshot after one of 20,000 pods on 1,000 nodes of a pool
// has changed.
func BenchmarkChange(b *testing.B) {
	k, pods := newClusterState(), manyPods(20_000)
	k.PoolSeen(pool("default"))
	for i := range 1000 {
		name := fmt.Sprint("n", i)
		k.Seen(claimOf(name, karpv1.ClaimRegistered, karpv1.ClaimInitialized))
		k.Seen(node(name))
	}
	for i, p := range pods {
		p.Spec.NodeName = fmt.Sprint("n", i%1000)
		k.Listed(p)
	}
	k.Snapshot()
	less := pods[0].DeepCopy()
	less.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("50m")
	for i := 0; b.Loop(); i++ {
		k.Seen([]*corev1.Pod{less, pods[0]}[i%2])
		k.Snapshot()
	}
}
