package whole_test

import (
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

type limits = map[corev1.ResourceName]resource.Quantity

// amounts are resources by name and amount in turn.
func amounts(pairs ...string) limits {
	out := limits{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

// quota makes a CapacityQuota of the nodes of a pool, or of all nodes.
func (w *world) quota(name, pool string, most limits) *v1beta1.CapacityQuota {
	q := &v1beta1.CapacityQuota{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if pool != "" {
		q.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{api.LabelNodePool: pool}}
	}
	q.Spec.Limits.Resources = most
	w.create(q)
	return q
}

// raise gives a CapacityQuota other limits.
func (w *world) raise(name string, most limits) {
	edit(w, w.quotaNow(name), func(q *v1beta1.CapacityQuota) { q.Spec.Limits.Resources = most })
}

func (w *world) quotaNow(name string) *v1beta1.CapacityQuota {
	w.t.Helper()
	q := &v1beta1.CapacityQuota{}
	if err := w.hand.Get(w.t.Context(), client.ObjectKey{Name: name}, q); err != nil {
		w.t.Fatal(err)
	}
	return q
}

// used is what the status of a CapacityQuota says of a resource.
func (w *world) used(name string, of corev1.ResourceName) string {
	q := w.quotaNow(name)
	if q.Status.Used == nil {
		return ""
	}
	n, has := q.Status.Used.Resources[of]
	if !has {
		return ""
	}
	return n.String()
}

// ofPool has pods run on nodes of a pool.
func ofPool(pool string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{api.LabelNodePool: pool} }
}

// someRun reports whether so many pods run, whatever becomes of the others.
func (w *world) someRun(n int) bool {
	running, _ := w.podsRunning()
	return running == n
}

// aWhile is long enough for whatever is to be launched, and more.
const aWhile = 10 * time.Minute

// SC-600: A quota limits pools together, nodes that are not ours count, and what is missing comes once it allows
// that. Its status says what is used, and events of pods name it.
func TestAQuotaLimitsPoolsTogether(t *testing.T) {
	report(t, fakecloud.Options{Seed: 140}, func(t *testing.T, w *world) {
		w.pool("red", nil)
		w.pool("blue", nil)
		has := corev1.ResourceList(amounts("cpu", "2", "memory", "8Gi", "pods", "10"))
		w.create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "stranger"}, Status: corev1.NodeStatus{Capacity: has}})
		w.quota("all", "", amounts("nodes", "3", "cpu", "64"))
		w.start(setup{})
		w.deploy("web", 3, ofPool("red"))
		w.deploy("db", 3, ofPool("blue"))
		w.until(5*time.Minute, "two nodes", func() bool { return w.someRun(2) })
		time.Sleep(aWhile)
		if n := w.launched(); n != 2 {
			t.Fatalf("%d instances were launched, where a quota allows 3 nodes and one is there; %s", n, w.state())
		}
		if nodes, cpu := w.used("all", "nodes"), w.used("all", "cpu"); nodes != "3" || cpu != "6" {
			t.Errorf("the status says %q nodes and %q CPU, want 3 and 6", nodes, cpu)
		}
		if want := "CapacityQuota/all: nodes limit reached: 3 of 3 used"; !w.story.reports(want) {
			t.Errorf("no event says %q", want)
		}
		w.raise("all", amounts("nodes", "5"))
		w.until(5*time.Minute, "two more", func() bool { return w.someRun(4) })
		time.Sleep(aWhile)
		if n := w.launched(); n != 4 {
			t.Fatalf("%d instances were launched, want 4; %s", n, w.state())
		}
		w.delete(w.quotaNow("all"))
		w.until(5*time.Minute, "all pods running", func() bool { return w.run(6) })
	})
}

// SC-601: A quota holds for a pool alone where it selects that, beside the limits of pools, and for static pools too.
func TestAQuotaLimitsWhatItSelects(t *testing.T) {
	report(t, fakecloud.Options{Seed: 141}, func(t *testing.T, w *world) {
		w.pool("red", keeps(4, 0))
		w.pool("blue", nil)
		w.quota("few", "red", amounts("cpu", "5"))
		w.start(setup{})
		w.deploy("db", 3, ofPool("blue"))
		w.until(5*time.Minute, "nodes of both pools", func() bool { return w.run(3) && len(w.nodes()) == 5 })
		time.Sleep(aWhile)
		if n := w.launched(); n != 5 {
			t.Fatalf("%d instances were launched, want 3 for pods, and 2 of 2 CPU each for the static pool; %s",
				n, w.state())
		}
	})
}

// SC-605: A drifted node waits where its replacement does not fit beside it, and is replaced once it does.
func TestADriftedNodeWaitsAtAQuota(t *testing.T) {
	report(t, fakecloud.Options{Seed: 142}, func(t *testing.T, w *world) {
		w.classes.change(form{"one", fakecloud.Settings{Image: "ami-one", Groups: []string{"sg-one"}}})
		w.pool("default", nil)
		w.quota("all", "", amounts("nodes", "2"))
		w.start(setup{})
		w.scale("web", 2)
		w.until(5*time.Minute, "two nodes", func() bool { return w.run(2) })
		old := w.claimNames()
		w.classes.change(form{"one", fakecloud.Settings{Image: "ami-two", Groups: []string{"sg-one"}}})
		time.Sleep(aWhile)
		if n := w.launched(); n != 2 {
			t.Fatalf("%d instances were launched where a quota is for 2 nodes; %s", n, w.state())
		}
		w.raise("all", amounts("nodes", "3"))
		w.until(40*time.Minute, "two other nodes", func() bool {
			if n := len(w.liveInstances()); n > 3 {
				t.Errorf("%d instances where a quota is for 3 nodes; %s", n, w.state())
			}
			return w.renewed(old) && w.run(2) && len(w.nodes()) == 2
		})
	})
}

// SC-604: What nodes cost an hour is limited for a pool and for all nodes by an annotation, exactly.
func TestDollarsAnHourAreLimited(t *testing.T) {
	report(t, fakecloud.Options{Seed: 143}, func(t *testing.T, w *world) {
		price := w.cost("m5.large")
		w.pool("default", func(p *karpv1.NodePool) {
			p.Annotations = map[string]string{api.AnnotationCostLimit: dollars(2.5 * price)}
		})
		w.start(setup{})
		w.scale("web", 5)
		w.until(5*time.Minute, "two nodes", func() bool { return w.someRun(2) })
		time.Sleep(aWhile)
		if n := w.launched(); n != 2 {
			t.Fatalf("%d instances were launched for $%g each, where $%g are allowed; %s",
				n, price, 2.5*price, w.state())
		}
		if !w.story.reports("cost limit reached") {
			t.Error("no event says that the limit on the cost is reached")
		}
		q := w.quota("money", "", limits{})
		edit(w, q, func(q *v1beta1.CapacityQuota) {
			q.Annotations = map[string]string{api.AnnotationCostLimit: dollars(3 * price)}
		})
		edit(w, w.defaultPool(), func(p *karpv1.NodePool) { delete(p.Annotations, api.AnnotationCostLimit) })
		w.until(5*time.Minute, "a third node", func() bool { return w.someRun(3) })
		time.Sleep(aWhile)
		if n := w.launched(); n != 3 {
			t.Fatalf("%d instances were launched, where a quota allows the price of 3; %s", n, w.state())
		}
	})
}

// SC-606: A quota that cannot be read lets nothing be launched that it may select, and says which field is wrong.
func TestAQuotaThatCannotBeReadSaysSo(t *testing.T) {
	report(t, fakecloud.Options{Seed: 144}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		q := w.quota("money", "", limits{})
		edit(w, q, func(q *v1beta1.CapacityQuota) { q.Annotations = map[string]string{api.AnnotationCostLimit: "ten"} })
		w.start(setup{})
		w.scale("web", 1)
		time.Sleep(aWhile)
		if n := w.launched(); n != 0 {
			t.Fatalf("%d instances were launched, where it is not known what they may cost", n)
		}
		for _, want := range []string{"SpecWarning", api.AnnotationCostLimit, "12.50"} {
			if !w.story.reports(want) {
				t.Errorf("no event says %q", want)
			}
		}
		edit(w, w.quotaNow("money"), func(q *v1beta1.CapacityQuota) { q.Annotations[api.AnnotationCostLimit] = "10" })
		w.until(5*time.Minute, "the pod running", func() bool { return w.run(1) })
	})
}

// With its gate off a quota limits nothing, and an event says so.
func TestAQuotaWithoutItsGateSaysSo(t *testing.T) {
	report(t, fakecloud.Options{Seed: 145}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.quota("none", "", amounts("nodes", "0"))
		w.start(setup{noQuotas: true})
		w.scale("web", 1)
		w.until(5*time.Minute, "the pod running", func() bool { return w.run(1) })
		time.Sleep(time.Minute)
		if !w.story.reports("NotInEffect") || !w.story.reports("CapacityQuota") {
			t.Error("no event says that the quota has no effect")
		}
	})
}

// SC-607: A controller that takes over knows what quotas allow before it launches anything.
func TestAQuotaHoldsAcrossARestart(t *testing.T) {
	report(t, fakecloud.Options{Seed: 146}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.quota("all", "", amounts("nodes", "1"))
		first := w.start(setup{})
		w.scale("web", 3)
		w.until(5*time.Minute, "one node", func() bool { return w.someRun(1) })
		first.stop()
		w.start(setup{})
		time.Sleep(aWhile)
		if n := w.launched(); n != 1 {
			t.Fatalf("%d instances were launched where a quota is for one node; %s", n, w.state())
		}
	})
}

// cost is what an instance of the type costs an hour on demand, in the most expensive zone, with its volumes.
func (w *world) cost(instanceType string) float64 {
	w.t.Helper()
	c, why := w.classes.Kinds(karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: "default"})
	t := c.InstanceType(instanceType)
	if t == nil {
		w.t.Fatalf("no %s is offered: %s", instanceType, why)
	}
	var most quantity.MicroUSDPerHour
	for i := range t.Offerings {
		if o := &t.Offerings[i]; o.Option == cluster.OnDemand {
			most = max(most, o.Price)
		}
	}
	return (most + c.Disk).Dollars()
}

func dollars(n float64) string { return strconv.FormatFloat(n, 'f', 6, 64) }
