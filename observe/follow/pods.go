package follow

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/observe"
)

// waiting is a pod that has not started yet. Moments are zero until they come.
type waiting struct {
	name, namespace string
	createdAt       time.Time
	seenAt          time.Time
	older           bool      // seen while this process did not lead: another may have planned for it
	decidedAt       time.Time // a plan first said something about it
	placedAt        time.Time // a plan first had a place for it
	boundAt         time.Time
	target          target // where the last plan expects it
	traceID         string // of the batch that first had a place for it, or launched its instance last; empty: of none
	waitsFor        string // what the last plan says that it waits for, in the words of metrics
}

// podSeen takes in a pod as a watch shows it.
func (f *Follower) podSeen(before, after *corev1.Pod) {
	now := f.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pods == nil {
		f.pods = map[types.UID]*waiting{}
	}
	if before != nil && before.UID != after.UID { // it has gone unseen
		delete(f.pods, before.UID)
		before = nil
	}
	w, known := f.pods[after.UID]
	if !known {
		first := before == after // there when the watch began
		if podspec.IsTerminal(after) || first && started(after) || before != nil && !first {
			return // it has started before, or ended
		}
		w = &waiting{name: after.Name, namespace: after.Namespace, createdAt: after.CreationTimestamp.Time, seenAt: now, older: !f.Leading()}
		if first && after.Spec.NodeName != "" {
			w.boundAt = now // when is not known: not counted
		}
		f.pods[after.UID] = w
	}
	if after.Spec.NodeName != "" && w.boundAt.IsZero() {
		w.boundAt = now
		f.bound(w)
		f.landed(w, after.Spec.NodeName)
	}
	switch {
	case started(after):
		f.begun(w, now)
		delete(f.pods, after.UID)
	case podspec.IsTerminal(after):
		delete(f.pods, after.UID)
	}
}

func (f *Follower) podGone(p *corev1.Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.pods, p.UID)
}

func (f *Follower) bound(w *waiting) {
	if !f.Leading() {
		return
	}
	observe.InTrace(f.Metrics.PodBoundSeconds, w.boundAt.Sub(w.createdAt).Seconds(), w.traceID)
	if !w.placedAt.IsZero() {
		observe.InTrace(f.Metrics.PlannedBoundSecs, w.boundAt.Sub(w.placedAt).Seconds(), w.traceID)
	}
}

func (f *Follower) begun(w *waiting, now time.Time) {
	if !f.Leading() {
		return
	}
	f.Metrics.PodStartSeconds.Observe(now.Sub(w.createdAt).Seconds())
	if !w.placedAt.IsZero() {
		observe.InTrace(f.Metrics.PlannedStartSecs, now.Sub(w.placedAt).Seconds(), w.traceID)
	}
}

// Decided takes in a plan: which pods it has a place for, and which not.
func (f *Follower) Decided(p plan.Plan) {
	now, traceID := f.Now(), f.Traces.OfPlan()
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range p.Placements {
		if w := f.pods[types.UID(p.Placements[i].Pod.UID)]; w != nil {
			f.decided(w, now)
			if w.placedAt.IsZero() {
				w.placedAt = now
			}
			w.traceID = cmp.Or(w.traceID, traceID)
			f.expect(w, p.Placements[i].On, p.Placements[i].Target)
			w.waitsFor = observe.WaitsForInstance
			if p.Placements[i].On == plan.OnNode {
				w.waitsFor = observe.WaitsForScheduler
			}
		}
	}
	for i := range p.Unplaced {
		for _, pod := range p.Unplaced[i].Pods {
			if w := f.pods[types.UID(pod.UID)]; w != nil {
				f.decided(w, now)
				w.target, w.waitsFor = target{}, reasonOf(&p.Unplaced[i])
			}
		}
	}
}

func (f *Follower) decided(w *waiting, now time.Time) {
	if w.decidedAt.IsZero() {
		w.decidedAt = now
		if !w.older {
			f.Metrics.DecisionSeconds.Observe(now.Sub(w.seenAt).Seconds())
		}
	}
}

// started reports whether a pod runs and is ready.
func started(p *corev1.Pod) bool {
	if p.Status.Phase != corev1.PodRunning {
		return false
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// names are the series of pods that wait. It is never written.
var names = []string{unbound, unstarted, planUnbound, planUnstarted, undecided}

const (
	unbound       = "karpenter_pods_unbound_time_seconds"
	unstarted     = "karpenter_pods_unstarted_time_seconds"
	planUnbound   = "karpenter_pods_provisioning_unbound_time_seconds"
	planUnstarted = "karpenter_pods_provisioning_unstarted_time_seconds"
	undecided     = "karpenter_pods_provisioning_scheduling_undecided_time_seconds"
)

// Describe makes the follower a collector of what pods wait for.
func (f *Follower) Describe(to chan<- *prometheus.Desc) {
	for _, name := range slices.Concat(names, []string{waitingPods, waitingLongest}) {
		to <- observe.Define(name).Desc()
	}
}

// Collect reports what pods that are not bound wait for and, where series of single pods are
// wanted, how long each that has not started has waited.
func (f *Follower) Collect(to chan<- prometheus.Metric) {
	if !f.Leading() {
		return
	}
	pods, now := f.snapshot(), f.Now()
	collectReasons(to, pods, now)
	if !f.Objects {
		return
	}
	descs := map[string]*prometheus.Desc{}
	for _, name := range names {
		descs[name] = observe.Define(name).Desc()
	}
	for _, w := range pods {
		for name, since := range w.waits() {
			to <- prometheus.MustNewConstMetric(descs[name], prometheus.GaugeValue, now.Sub(since).Seconds(), w.name, w.namespace)
		}
	}
}

// snapshot copies what is known, so that a slow scrape holds nothing up.
func (f *Follower) snapshot() []waiting {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]waiting, 0, len(f.pods))
	for _, w := range f.pods {
		out = append(out, *w)
	}
	return out
}

// waits lists what a pod waits for, and since when.
func (w *waiting) waits() map[string]time.Time {
	out := map[string]time.Time{unstarted: w.createdAt}
	if !w.placedAt.IsZero() {
		out[planUnstarted] = w.placedAt
	}
	if !w.boundAt.IsZero() {
		return out
	}
	out[unbound] = w.createdAt
	if !w.placedAt.IsZero() {
		out[planUnbound] = w.placedAt
	}
	if w.decidedAt.IsZero() {
		out[undecided] = w.seenAt
	}
	return out
}
