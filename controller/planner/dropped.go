package planner

import (
	"cmp"
	"strings"
	"time"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/observe"
)

const (
	// droppedEvery is how long no second event says on a workload that preferences of its
	// pods are not followed: they are written once, and hold for all of its pods.
	droppedEvery = 24 * time.Hour
	// droppedMax is how many workloads get an event of one plan.
	droppedMax = 100
)

// reportDropped counts pods that get instances without some of their preferences, and says
// on one pod of each workload which these are.
func (t *Recorder) reportDropped(p *plan.Plan) {
	if len(p.Launches) == 0 {
		return
	}
	reported := map[string]bool{}
	for i := range p.Dropped {
		d := &p.Dropped[i]
		t.Metrics.Dropped.Add(float64(len(d.Pods)))
		preferences := strings.Join(d.Preferences, ", ")
		for _, pod := range d.Pods {
			workload := pod.Namespace + "/" + cmp.Or(pod.Owner, pod.Name)
			if reported[workload] || len(reported) == droppedMax {
				continue
			}
			reported[workload] = true
			t.publishPaced(observe.Event{About: podRef(pod), Key: "Workload/" + workload, Reason: "PreferencesDropped", Topic: preferences, DedupeFor: droppedEvery,
				Message: "Instances are launched without preferences of the pod that would cost more than they are worth: " + preferences})
		}
	}
}
