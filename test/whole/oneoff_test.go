package whole_test

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

// lone makes a pod of one core without a controller.
func (w *world) lone(name string, change func(*corev1.Pod)) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": name}}}
	p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: cores(1), corev1.ResourceMemory: resource.MustParse("256Mi")}}}}
	p.Spec.TerminationGracePeriodSeconds = new(int64(5))
	change(p)
	w.create(p)
}

// job runs one pod of a Job of which so many may fail, and another in place of one that
// is evicted.
func (w *world) job(name string, limit int32) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: batchv1.JobSpec{BackoffLimit: &limit}}
	w.create(j)
	w.deploy(name, 0, func(*corev1.Pod) {}) // its ReplicaSet wants none
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.deployments[name]
	d.replicas, d.template.OwnerReferences = 1, []metav1.OwnerReference{*metav1.NewControllerRef(j, batchv1.SchemeGroupVersion.WithKind("Job"))}
	w.deployments[name] = d
	return j
}

// sizes has a pool launch two types, of which one is four times as large.
func sizes(p *karpv1.NodePool) {
	p.Spec.Template.Spec.Requirements[0].Values = []string{"m5.large", "m5.2xlarge"}
}

// aloneOnALargeNode brings something up beside a large pod, on one node, and takes that
// pod away: the node is too large from then on.
func (w *world) aloneOnALargeNode(small func()) {
	w.t.Helper()
	w.aloneOnALargeNodeOf(setup{}, small)
}

func (w *world) aloneOnALargeNodeOf(s setup, small func()) {
	w.t.Helper()
	w.pool("default", sizes)
	w.start(s)
	w.deploy("large", 1, func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = cores(5) })
	small()
	w.until(5*time.Minute, "two pods on one node", func() bool { return w.run(2) && len(w.nodes()) == 1 })
	w.scale("large", 0)
	w.until(time.Minute, "one pod", func() bool { return w.run(1) })
}

// typesNow are the types of all instances.
func (w *world) typesNow() (out []string) {
	for _, m := range w.liveInstances() {
		out = append(out, m.Kind)
	}
	slices.Sort(out)
	return out
}

// To save money no pod is evicted that nothing creates again: one without a controller, one
// of a Job that fails with it. Where another comes in its place, or its user lets it end, it
// is.
func TestMoneyAloneEndsNoWorkThatIsNotDoneAgain(t *testing.T) {
	const stays = "m5.2xlarge"
	for what, tt := range map[string]struct {
		small    func(w *world)
		want     []string
		reported string
	}{
		"a pod without a controller":        {func(w *world) { w.lone("small", plain) }, []string{stays}, "pod default/small would not be created again: it has no controller"},
		"a pod of a Job that fails with it": {func(w *world) { w.job("small", 0) }, []string{stays}, "its Job fails with one more failed pod: 0 failed, and its backoffLimit is 0"},
		"a pod of a Job that does not":      {func(w *world) { w.job("small", 6) }, []string{"m5.large"}, ""},
		"a pod that its user lets end for good": {func(w *world) {
			w.lone("small", func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "false"} })
		}, nil, ""},
	} {
		t.Run(what, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 81}, func(t *testing.T, w *world) {
				w.aloneOnALargeNode(func() { tt.small(w) })
				time.Sleep(20 * time.Minute)
				if got := w.typesNow(); !slices.Equal(got, tt.want) || len(w.allPods()) != len(tt.want) {
					t.Errorf("instances %v with %d pods, want %v with a pod each; %s",
						got, len(w.allPods()), tt.want, w.state())
				}
				if !w.events.said(tt.reported) {
					t.Errorf("no event says %q", tt.reported)
				}
				w.sound()
			})
		})
	}
}

// What people ask for ends such a pod, and nothing is launched for it: neither in another
// pool when its own is deleted, nor in place of a node that has drifted.
func TestNothingIsLaunchedForPodsThatNothingCreatesAgain(t *testing.T) {
	one := form{"one", fakecloud.Settings{Image: "ami-one", Groups: []string{"sg-one"}}}
	for what, ask := range map[string]func(w *world){
		"its pool is deleted": func(w *world) { w.delete(w.defaultPool()) },
		"its node drifts": func(w *world) {
			w.classes.change(form{"one", fakecloud.Settings{Image: "ami-two", Groups: one.settings.Groups}})
		},
		"its node is deleted by hand":  func(w *world) { w.delete(&w.nodes()[0]) },
		"its claim is deleted by hand": func(w *world) { w.delete(&w.claims()[0]) },
	} {
		t.Run(what, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 82}, func(t *testing.T, w *world) {
				w.classes.change(one)
				w.pool("default", nil)
				w.pool("other", func(p *karpv1.NodePool) { p.Spec.Weight = nil })
				w.start(setup{})
				w.lone("one-off", plain)
				w.until(5*time.Minute, "the pod", func() bool { return w.run(1) })
				w.until(time.Minute, "an initialised node", func() bool { return w.nodes()[0].Labels[api.LabelInitialized] == "true" })
				ask(w)
				w.until(30*time.Minute, "an empty cluster", func() bool { return w.empty() && len(w.allPods()) == 0 })
				if w.launched() != 1 {
					t.Errorf("%d instances were launched for one pod that is gone for good", w.launched())
				}
			})
		})
	}
}

// An instance that the cloud takes back keeps such a pod for as long as there is time, and
// nothing is launched for it.
func TestAPodThatNothingCreatesAgainRunsAsLongAsItsInstance(t *testing.T) {
	report(t, fakecloud.Options{Seed: 83}, func(t *testing.T, w *world) {
		w.pool("default", onSpot)
		w.start(setup{})
		w.lone("one-off", plain)
		w.until(5*time.Minute, "the pod", func() bool { return w.run(1) })
		w.until(time.Minute, "an initialised node", func() bool { return w.nodes()[0].Labels[api.LabelInitialized] == "true" })
		w.takeBack()
		began := time.Now()
		w.until(3*time.Minute, "its end", func() bool { return len(w.allPods()) == 0 })
		if took := time.Since(began); took < 99*time.Second || took > 105*time.Second {
			t.Errorf("the pod was evicted after %v, want 100 s: 120 less 5 that it may take to end and 15", took)
		}
		if !w.events.said("DrainWaiting: 1 pod that is not created again stays as long as it can, at the latest until ") {
			t.Error("no event says why the pod stays")
		}
		w.until(5*time.Minute, "an empty cluster", w.empty)
		if w.launched() != 1 {
			t.Errorf("%d instances were launched, want one", w.launched())
		}
	})
}

// A PodDisruptionBudget over the pods of a Job allows no eviction, ever: its controller
// cannot work out how many pods there are to be. No instance is launched for such a pod
// while it keeps its node, and the drain says why it does not end; it is once the pod is
// deleted since its term is over.
func TestNothingIsLaunchedWhereNoEvictionIsEverAllowed(t *testing.T) {
	report(t, fakecloud.Options{Seed: 84}, func(t *testing.T, w *world) {
		w.pool("default", func(p *karpv1.NodePool) { p.Spec.Template.Spec.TerminationGracePeriod = "1h" })
		w.start(setup{})
		w.job("batch", 6)
		w.until(5*time.Minute, "the pod", func() bool { return w.run(1) })
		w.until(time.Minute, "an initialised node", func() bool { return w.nodes()[0].Labels[api.LabelInitialized] == "true" })
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "batch", Generation: 1}, Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "batch"}}}}
		w.create(budget)
		budget.Status.Conditions = []metav1.Condition{{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.SyncFailedReason, Message: "jobs.batch does not implement the scale subresource"}}
		if err := w.hand.Status().Update(t.Context(), budget); err != nil {
			t.Fatal(err)
		}
		w.server.BlockEvictions(func(*corev1.Pod) bool { return true })
		w.delete(&w.claims()[0])
		time.Sleep(50 * time.Minute)
		if w.launched() != 1 || !w.run(1) {
			t.Errorf("%d instances were launched, want one; %s", w.launched(), w.state())
		}
		if !w.events.said("is never evicted: PodDisruptionBudget default/batch never allows an eviction: its condition DisruptionAllowed says that the sync failed") {
			t.Error("no event says why the drain does not end")
		}
		w.until(20*time.Minute, "the pod on another node", func() bool { return w.run(1) && len(w.nodes()) == 1 && len(w.claims()) == 1 && w.launched() == 2 })
		w.sound()
	})
}
