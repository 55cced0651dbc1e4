package observe

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A plan that takes long is seen while it does, and the one that began first counts.
func TestPlansThatAreBeingMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewPedanticRegistry()
		m := NewMetrics(registry, "", "", "", "")
		says := func(when string, want float64) {
			t.Helper()
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range families {
				if f.GetName() == "karpenter_scheduler_unfinished_work_seconds" && f.GetMetric()[0].GetGauge().GetValue() != want {
					t.Errorf("%s: %v, want %v seconds", when, f.GetMetric()[0].GetGauge().GetValue(), want)
				}
			}
		}
		says("before any plan", 0)
		first := m.Planning()
		time.Sleep(2 * time.Second)
		second := m.Planning()
		time.Sleep(time.Second)
		says("while two are made", 3)
		first()
		says("once the first is made", 1)
		second()
		says("once both are", 0)
	})
}

// Whether a process leads is reported as it is at the scrape.
func TestTheLeaderIsReported(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	m, leads := NewMetrics(registry, "", "", "", ""), false
	says := func(when string, want float64) {
		t.Helper()
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "daemok_leader" && f.GetMetric()[0].GetGauge().GetValue() != want {
				t.Errorf("%s: %v, want %v", when, f.GetMetric()[0].GetGauge().GetValue(), want)
			}
		}
	}
	says("before it is known", 0)
	m.LeadsBy(func() bool { return leads })
	says("while it stands by", 0)
	leads = true
	says("once it leads", 1)
}
