package apply

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/translate"
)

// has gives a node room for so many pods.
func (y *yard) has(node string, pods string) {
	n := &corev1.Node{}
	n.Name = node
	y.status(n, func() { n.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse(pods)} })
}

// TestPodsMustHavePlacesWhenTheirNodesGo: what had room for them when the plan was
// made may be taken since; any other place will do.
func TestPodsMustHavePlacesWhenTheirNodesGo(t *testing.T) {
	tests := map[string]struct {
		instances int
		meanwhile func(y *yard)
		late      time.Duration // by which watches show what happens meanwhile
		want      string
	}{
		"where they were planned": {want: "old-1 old-2"},
		"elsewhere": {meanwhile: func(y *yard) {
			y.pod("other", "n-1", nil)
			y.has("n-2", "4")
		}, want: "old-1 old-2"},
		"nowhere, since others came": {meanwhile: func(y *yard) { y.pod("other", "n-1", nil) }, want: "old-0 old-1 old-2"},
		"nowhere, since the node was closed by hand": {meanwhile: func(y *yard) {
			edited(y, "", "n-1", &corev1.Node{}, func(n *corev1.Node) { n.Spec.Unschedulable = true })
		}, want: "old-0 old-1 old-2"},
		"nowhere, and the watches are late":                 {meanwhile: func(y *yard) { y.pod("other", "n-1", nil) }, late: time.Minute, want: "old-0 old-1 old-2"},
		"on the machine that came":                          {instances: 1, want: "default-new-1 old-1 old-2"},
		"on the machine that came, which watches show late": {instances: 1, late: time.Minute, want: "default-new-1 old-1 old-2"},
		"nowhere, since others are on the machine that came": {instances: 1, meanwhile: func(y *yard) {
			time.Sleep(translate.StabilizeFor + startsAfter - time.Second)
			y.has("n-default-new-1", "1")
		}, want: "old-0 old-1 old-2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			report(t, 3, func(t *testing.T, y *yard) {
				y.has("n-1", "4")
				y.has("n-2", "2")
				if tt.instances > 0 {
					y.has("n-1", "2")
				}
				before := y.view()
				a := y.applier(nil)
				a.View = func() *cluster.Snapshot {
					if time.Since(before.Now) < tt.late {
						return before
					}
					return y.view()
				}
				a.Move(context.Background(), y.snapshot(), y.move(plan.Underutilized, 1, tt.instances), y)
				if tt.meanwhile != nil {
					tt.meanwhile(y)
				}
				a.Wait()
				time.Sleep(5 * time.Second)
				stays := tt.want == "old-0 old-1 old-2"
				if got := y.state(); got != tt.want || stays != errors.Is(y.ended[0].Err, ErrChanged) {
					t.Errorf("in the end: %s, want %s; told of %v", got, tt.want, y.ended[0].Err)
				}
			})
		})
	}
}

// A view may be old: the nodes that pods are to move to are read once more before theirs
// goes, and one that takes none any more has it stay.
func TestNodesThatPodsMoveToAreReadOnceMore(t *testing.T) {
	report(t, 2, func(t *testing.T, y *yard) {
		a, old := y.applier(nil), y.view()
		a.View = func() *cluster.Snapshot { return old }
		edited(y, "", "n-1", &corev1.Node{}, func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "closed", Effect: corev1.TaintEffectNoSchedule}}
		})
		a.Move(context.Background(), y.snapshot(), y.move(plan.Underutilized, 1, 0), y)
		a.Wait()
		if got, want := y.state(), "old-0 old-1"; got != want {
			t.Errorf("in the end: %s, want %s; told of %+v", got, want, y.ended)
		}
	})
}
