package planner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

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

// tellUnplaced logs why pods have no place, once for each shape and change,
// and tells the pods: those first that wait longest.
func (t *Teller) tellUnplaced(now time.Time, list []plan.Unplaced) {
	before := t.unplaced
	t.unplaced = make(map[string]bool, len(list))
	var pods []failure
	for _, u := range list {
		text := u.Why()
		key := whose(u) + ": " + text
		if !before[key] && !t.unplaced[key] {
			t.Log.Warn("found no place for pods", "reason", firstPod(u)+": "+text)
		}
		t.unplaced[key] = true
		pods = append(pods, t.audience(now, u, text)...)
	}
	slices.SortStableFunc(pods, func(a, b failure) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.event.Key, b.event.Key))
	})
	for _, f := range pods {
		t.Events.Publish(f.event)
	}
}

// failure is one event to be sent about pods without a place.
type failure struct {
	since time.Time
	event observe.Event
}

func (t *Teller) failure(about runtime.Object, key, text string, since time.Time) failure {
	return failure{since, observe.Event{About: about, Key: key, Warning: true, Reason: "FailedScheduling", Message: text,
		DedupeFor: failuresEvery, Pace: t.Failures}}
}

// audience lists who is told: each pod of a few; of many the workloads that
// own them, and the oldest of those that nobody owns.
func (t *Teller) audience(now time.Time, u plan.Unplaced, text string) []failure {
	var out []failure
	asked := map[string]bool{}
	alone := 0
	for _, p := range u.Pods {
		if len(u.Pods) > podEventsMax && p.Owner != "" {
			if key := p.Namespace + "/" + p.Owner; !asked[key] {
				asked[key] = true
				out = append(out, t.toOwner(now, key, p, text)...)
			}
			continue
		}
		if alone++; alone <= podEventsMax {
			out = append(out, t.failure(podRef(p), "Pod/"+p.UID, text, p.CreatedAt))
		}
	}
	return out
}

// toOwner is the event for the workload of a pod, or for the pod where the
// workload is not known. It is looked up only if it was not told the same
// lately.
func (t *Teller) toOwner(now time.Time, key string, p cluster.Pod, text string) []failure {
	maps.DeleteFunc(t.ownersTold, func(_ string, at time.Time) bool { return now.Sub(at) >= failuresEvery })
	if _, lately := t.ownersTold[key+" "+text]; lately {
		return nil
	}
	if t.ownersTold == nil {
		t.ownersTold = map[string]time.Time{}
	}
	t.ownersTold[key+" "+text] = now
	if t.Owner != nil {
		if object, ok := t.Owner(p.Namespace, p.Owner); ok {
			return []failure{t.failure(object, key, text, p.CreatedAt)}
		}
	}
	return []failure{t.failure(podRef(p), "Pod/"+p.UID, text, p.CreatedAt)}
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
