package planner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/observe"
)

const (
	// podEventsMax is how many pods of one shape hear by themselves why they
	// have no place. If there are more, the workload that owns them does.
	podEventsMax = 100
	// failuresEvery is how long the same is not said again to the same pod.
	failuresEvery = 5 * time.Minute
)

// reportUnplaced logs why pods have no place, once for each shape and change, and publishes
// events on the pods: first on those that wait longest.
func (t *Recorder) reportUnplaced(now time.Time, list []plan.Unplaced) {
	before := t.unplaced
	t.unplaced = make(map[string]bool, len(list))
	var pods []failure
	for _, u := range list {
		if u.Early || u.Declined() {
			continue
		}
		text, topic := u.Why(), u.Topic()
		key := whose(u) + ": " + topic
		if !before[key] && !t.unplaced[key] {
			t.Log.Warn("found no place for pods", "reason", firstPod(u)+": "+text)
		}
		t.unplaced[key] = true
		pods = append(pods, t.audience(now, u, text, topic)...)
	}
	slices.SortStableFunc(pods, func(a, b failure) int {
		return cmp.Or(a.pod.CreatedAt.Compare(b.pod.CreatedAt), cmp.Compare(a.event.Key, b.event.Key))
	})
	for _, f := range pods {
		t.send(now, f)
	}
}

// failure is one event to be sent about pods without a place: to the pod or,
// where workload is set, to the workload of that key.
type failure struct {
	pod      cluster.Pod
	workload string
	event    observe.Event
}

func (t *Recorder) failure(p cluster.Pod, workload, text, topic string) failure {
	return failure{p, workload, observe.Event{About: podRef(p), Key: "Pod/" + p.UID, Warning: true, Reason: "FailedScheduling", Message: text, Topic: topic,
		DedupeFor: failuresEvery, Pace: t.Failures}}
}

// send publishes an event on a pod at once. That of a workload waits for Run; if too many
// wait, it comes with a later plan.
func (t *Recorder) send(now time.Time, f failure) {
	switch {
	case f.workload == "" || t.Workloads == nil:
		t.Events.Publish(f.event)
	case !t.Workloads.report(reported{f.pod.Namespace, f.pod.Owner, f.workload, f.event}):
		return
	}
	if f.workload == "" {
		return
	}
	if t.ownersReported == nil {
		t.ownersReported = map[string]time.Time{}
	}
	t.ownersReported[f.workload+" "+f.event.Topic] = now
}

// audience lists the objects that get an event: each pod of a few; of many the workloads
// that own them, and the oldest of those without an owner.
func (t *Recorder) audience(now time.Time, u plan.Unplaced, text, topic string) []failure {
	var out []failure
	asked := map[string]bool{}
	alone := 0
	for _, p := range u.Pods {
		if len(u.Pods) > podEventsMax && p.Owner != "" {
			if key := p.Namespace + "/" + p.Owner; !asked[key] {
				asked[key] = true
				out = append(out, t.toOwner(now, key, p, text, topic)...)
			}
			continue
		}
		if alone++; alone <= podEventsMax {
			out = append(out, t.failure(p, "", text, topic))
		}
	}
	return out
}

// toOwner is the event for the workload of a pod, if the same was not reported lately.
func (t *Recorder) toOwner(now time.Time, key string, p cluster.Pod, text, topic string) []failure {
	maps.DeleteFunc(t.ownersReported, func(_ string, at time.Time) bool { return now.Sub(at) >= failuresEvery })
	if _, lately := t.ownersReported[key+" "+topic]; lately {
		return nil
	}
	return []failure{t.failure(p, key, text, topic)}
}

// whose names the pods in a way that stays the same while their number
// changes.
func whose(u plan.Unplaced) string {
	if len(u.Pods) == 0 {
		return ""
	}
	p := u.Pods[0]
	return p.Namespace + "/" + cmp.Or(p.Owner, p.Name)
}

func firstPod(u plan.Unplaced) string {
	if len(u.Pods) == 0 {
		return "no pods"
	}
	name := u.Pods[0].Namespace + "/" + u.Pods[0].Name
	if len(u.Pods) > 1 {
		return fmt.Sprintf("%s and %d more like it", name, len(u.Pods)-1)
	}
	return name
}
