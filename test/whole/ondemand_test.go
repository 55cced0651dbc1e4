package whole_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

// onDemand gives a pool, which may launch spot instances too, a minimum of on-demand nodes.
func onDemand(minimum string) func(*karpv1.NodePool) {
	return func(p *karpv1.NodePool) {
		p.Annotations = map[string]string{api.AnnotationOnDemandMinimum: minimum}
		p.Spec.Template.Spec.Requirements[1].Values = []string{"spot", "on-demand"}
	}
}

// balance counts the claims that stay, by what was launched for them.
func (w *world) balance() (out cluster.Balance) {
	for _, c := range w.claims() {
		if c.DeletionTimestamp == nil {
			out.Count(c.Labels[api.LabelCapacityType] == "spot", 1)
		}
	}
	return out
}

// Half of the nodes are on demand from the beginning: more come as the pool grows, one that is lost is replaced by
// one, and the spot instances go first as it shrinks.
func TestAShareOfThePoolIsOnDemand(t *testing.T) {
	report(t, fakecloud.Options{Seed: 141}, func(t *testing.T, w *world) {
		w.up(4, onDemand("50%"), plain)
		if got, want := w.balance(), (cluster.Balance{OnDemand: 2, Spot: 2}); got != want {
			t.Fatalf("four nodes are %+v, want %+v; %s", got, want, w.state())
		}
		w.scale("web", 7)
		w.until(5*time.Minute, "seven pods", func() bool { return w.run(7) })
		if got, want := w.balance(), (cluster.Balance{OnDemand: 4, Spot: 3}); got != want {
			t.Fatalf("seven nodes are %+v, want %+v; %s", got, want, w.state())
		}
		for _, c := range w.claims() {
			if c.Labels[api.LabelCapacityType] == "on-demand" {
				w.delete(&c)
				break
			}
		}
		w.until(10*time.Minute, "another on-demand node", func() bool {
			return w.run(7) && w.balance() == cluster.Balance{OnDemand: 4, Spot: 3}
		})
		w.scale("web", 1)
		w.until(20*time.Minute, "one node, which is on demand", func() bool {
			return w.run(1) && w.balance() == cluster.Balance{OnDemand: 1}
		})
		w.sound()
	})
}

// A minimum that cannot be read launches nothing and removes nothing, and the pool says why.
func TestAMinimumThatCannotBeReadKeepsWhatThereIs(t *testing.T) {
	report(t, fakecloud.Options{Seed: 142}, func(t *testing.T, w *world) {
		w.up(1, onDemand("1"), plain)
		edit(w, w.defaultPool(), onDemand("few"))
		w.scale("more", 2)
		time.Sleep(time.Hour)
		if running, _ := w.podsRunning(); running != 1 || len(w.nodes()) != 1 {
			t.Errorf("%d nodes of a pool whose minimum cannot be read, want the one it had; %s", len(w.nodes()), w.state())
		}
		if !w.story.reports(api.AnnotationOnDemandMinimum) {
			t.Errorf("nothing says that the minimum cannot be read; %s", w.state())
		}
		edit(w, w.defaultPool(), onDemand("1"))
		w.until(10*time.Minute, "all pods", func() bool { return w.run(3) })
	})
}

// asking gives the pods of a workload a minimum of pods that run on demand.
func asking(minimum string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationOnDemandMinimum: minimum} }
}

// spotToo has the pool launch spot instances and on-demand instances.
func spotToo(p *karpv1.NodePool) {
	p.Spec.Template.Spec.Requirements[1].Values = []string{"spot", "on-demand"}
}

// A workload asks for on-demand nodes for half of its pods: they are launched with the others, and again once one is
// lost. Another workload of the pool is on spot nodes alone.
func TestAShareOfAWorkloadRunsOnDemand(t *testing.T) {
	report(t, fakecloud.Options{Seed: 143}, func(t *testing.T, w *world) {
		w.up(4, spotToo, asking("50%"))
		if got, want := w.balance(), (cluster.Balance{OnDemand: 2, Spot: 2}); got != want {
			t.Fatalf("four nodes are %+v, want %+v; %s", got, want, w.state())
		}
		w.scale("batch", 2)
		w.until(5*time.Minute, "six pods", func() bool { return w.runs("batch", 2) && w.runs("web", 4) })
		if got, want := w.balance(), (cluster.Balance{OnDemand: 2, Spot: 4}); got != want {
			t.Fatalf("six nodes are %+v, want %+v; %s", got, want, w.state())
		}
		for _, c := range w.claims() {
			if c.Labels[api.LabelCapacityType] == "on-demand" {
				w.delete(&c)
				break
			}
		}
		w.until(10*time.Minute, "another on-demand node", func() bool {
			return w.runs("web", 4) && w.balance() == cluster.Balance{OnDemand: 2, Spot: 4}
		})
		w.sound()
	})
}

// A minimum of a workload that cannot be read has all of its pods run on demand, and an event says so.
func TestAMinimumOfAWorkloadThatCannotBeReadIsOfAllPods(t *testing.T) {
	report(t, fakecloud.Options{Seed: 144}, func(t *testing.T, w *world) {
		w.up(2, spotToo, asking("most"))
		if got, want := w.balance(), (cluster.Balance{OnDemand: 2}); got != want {
			t.Errorf("two nodes are %+v, want %+v; %s", got, want, w.state())
		}
		if !w.events.said("InvalidOnDemandMinimum") {
			t.Errorf("no event says that the minimum cannot be read; %s", w.state())
		}
	})
}
