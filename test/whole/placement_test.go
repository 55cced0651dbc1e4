package whole_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
)

// inPartitions has the class put its instances into a group of three partitions.
func (w *world) inPartitions() {
	id := w.aws.server.AddPlacementGroup("web", nodeclass.Partition, 3)
	edit(w, w.nodeClass(), func(c *awsv1.EC2NodeClass) { c.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{ID: id} })
}

// partitions are those of the nodes that take pods, sorted.
func (w *world) partitions() (out []string) {
	for _, n := range w.nodes() {
		if n.Labels[api.LabelRegistered] == "true" {
			out = append(out, n.Labels[api.LabelPlacementGroupPartition])
		}
	}
	slices.Sort(out)
	return out
}

// Pods that are to be spread over the partitions of a placement group get an instance in
// each, two of which EC2 would else have put anywhere.
func TestPodsAreSpreadOverPartitions(t *testing.T) {
	reportAWS(t, 1, func(_ *testing.T, w *world) {
		w.inPartitions()
		w.mu.Lock()
		w.schedules = false
		w.mu.Unlock()
		w.pool("default", nil)
		w.deploy("kafka", 6, func(p *corev1.Pod) {
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: api.LabelPlacementGroupPartition, WhenUnsatisfiable: corev1.DoNotSchedule,
				LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels},
			}}
		})
		w.start(setup{})
		w.until(8*time.Minute, "two nodes in each partition", func() bool { return slices.Equal(w.partitions(), []string{"1", "1", "2", "2", "3", "3"}) })
		if w.launched() != 6 {
			w.t.Errorf("bought %d machines for 6 pods; %s", w.launched(), w.state())
		}
	})
}

// Where none asks for a partition EC2 chooses, and nodes say which it was before they
// take pods.
func TestNodesSayWhichPartitionEC2Chose(t *testing.T) {
	reportAWS(t, 1, func(_ *testing.T, w *world) {
		w.inPartitions()
		w.pool("default", nil)
		w.start(setup{})
		w.scale("web", 3)
		w.until(8*time.Minute, "three pods running", func() bool {
			for _, n := range w.nodes() {
				if n.Labels[api.LabelRegistered] == "true" && n.Labels[api.LabelPlacementGroupPartition] == "" {
					w.t.Errorf("node %s takes pods, and nobody knows its partition", n.Name)
				}
			}
			return w.run(3)
		})
		if got := w.partitions(); !slices.Equal(got, []string{"1", "2", "3"}) {
			w.t.Errorf("nodes are in partitions %v, want one in each", got)
		}
	})
}
