package whole_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

// committed is a ConfigMap that lists commitments.
func committed(w *world, file string) *corev1.ConfigMap {
	c := &corev1.ConfigMap{}
	c.Namespace, c.Name = "kube-system", api.ConfigMapCommitments
	c.Data = map[string]string{api.CommitmentsFile: file}
	w.create(c)
	return c
}

// orLarger lets a pool have r5.large too, which costs more than m5.large.
func orLarger(p *karpv1.NodePool) {
	p.Spec.Template.Spec.Requirements[0].Values = []string{"m5.large", "r5.large"}
}

// paid counts nodes by type and capacity type.
func (w *world) paid() map[string]int {
	out := map[string]int{}
	for _, n := range w.nodes() {
		out[n.Labels[api.LabelInstanceType]+" "+n.Labels[api.LabelCapacityType]]++
	}
	return out
}

// SC-656: Reserved Instances that nothing uses are used first, then what is cheapest, and nodes that they pay for stay.
// A ConfigMap that cannot be read is reported, and changes nothing.
func TestReservedInstancesAreUsedFirst(t *testing.T) {
	report(t, fakecloud.Options{Seed: 150}, func(t *testing.T, w *world) {
		w.pool("default", orLarger)
		c := committed(w, "reservedInstances: [{id: web, instanceType: r5.large, count: 2}]")
		w.start(setup{})
		time.Sleep(2 * time.Minute)
		w.scale("web", 3)
		w.until(10*time.Minute, "all pods run", func() bool { return w.run(3) })
		if got := w.paid(); got["r5.large on-demand"] != 2 {
			t.Errorf("nodes are %v, want two r5.large on demand; %s", got, w.state())
		}
		edit(w, c, func(c *corev1.ConfigMap) {
			c.Data[api.CommitmentsFile] = "reservedInstances: [{id: web, count: 2}]"
		})
		w.until(5*time.Minute, "a report", func() bool { return w.story.reports("event InvalidCommitments") })
		time.Sleep(time.Hour)
		if got := w.paid(); got["r5.large on-demand"] != 2 {
			t.Errorf("nodes are %v, want the r5.large to stay; %s", got, w.state())
		}
		w.sound()
	})
}

// Without the gate nothing is planned with commitments, and the ConfigMap says so by an event; a pool with the
// annotation plans without them too.
func TestCommitmentsAreIgnored(t *testing.T) {
	for name, tt := range map[string]struct {
		off    bool
		change func(*karpv1.NodePool)
	}{
		"by the gate": {true, orLarger},
		"by the pool": {false, func(p *karpv1.NodePool) {
			orLarger(p)
			p.Annotations = map[string]string{api.AnnotationCommitments: api.CommitmentsIgnore}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 151}, func(t *testing.T, w *world) {
				w.pool("default", tt.change)
				committed(w, "reservedInstances: [{id: web, instanceType: r5.large, count: 2}]")
				w.start(setup{noCommitments: tt.off})
				time.Sleep(2 * time.Minute)
				w.scale("web", 2)
				w.until(10*time.Minute, "all pods run", func() bool { return w.run(2) })
				if got := w.paid(); got["r5.large on-demand"] != 0 {
					t.Errorf("nodes are %v, want no r5.large on demand; %s", got, w.state())
				}
				if tt.off != w.story.reports("event NotInEffect") {
					t.Errorf("the gate is off: %v, and the ConfigMap is reported: %v", tt.off, !tt.off)
				}
			})
		})
	}
}
