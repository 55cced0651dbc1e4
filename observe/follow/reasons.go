package follow

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/observe"
)

const (
	waitingPods    = "daemok_pods_waiting"
	waitingLongest = "daemok_pods_waiting_longest_seconds"
)

// reasonOf is what pods without a place wait for, in the words of metrics: of reasons about
// several pools the nearest counts.
func reasonOf(u *plan.Unplaced) string {
	switch {
	case u.Early:
		return observe.WaitsForTime
	case u.Declined():
		return observe.WaitsOutside
	case len(u.Reasons) > 0 && u.Reasons[0].Rule != "":
		return u.Reasons[0].Rule
	}
	return observe.WaitsForOther
}

// collectReasons reports, by what pods wait for, how many do, and how long the one that has waited
// longest has. Every reason has a series, so that one that comes up is a change.
func collectReasons(to chan<- prometheus.Metric, pods []waiting, now time.Time) {
	number, longest := map[string]int{}, map[string]time.Duration{}
	for i := range pods {
		w := &pods[i]
		if w.waitsFor == "" || !w.boundAt.IsZero() {
			continue
		}
		number[w.waitsFor]++
		longest[w.waitsFor] = max(longest[w.waitsFor], now.Sub(w.decidedAt))
	}
	many, long := observe.Define(waitingPods).Desc(), observe.Define(waitingLongest).Desc()
	for _, reason := range observe.WaitReasons() {
		to <- prometheus.MustNewConstMetric(many, prometheus.GaugeValue, float64(number[reason]), reason)
		to <- prometheus.MustNewConstMetric(long, prometheus.GaugeValue, longest[reason].Seconds(), reason)
	}
}
