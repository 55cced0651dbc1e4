package bench_test

import (
	"encoding/json"
	"testing"

	"github.com/daemok/daemok/bench"
	"github.com/daemok/daemok/core/cluster"
)

// The entries of catalogue and workload files.
type (
	offering struct {
		Zone         string  `json:"zone"`
		CapacityType string  `json:"capacityType"`
		Price        float64 `json:"price"` // dollars an hour
	}
	kind struct {
		Name      string     `json:"name"`
		Arch      string     `json:"arch"`
		CPUMilli  int        `json:"cpuMilli"`
		MemMi     int        `json:"memMi"`
		Pods      int        `json:"pods"`
		Offerings []offering `json:"offerings"`
	}
	pod struct {
		CPUMilli    int    `json:"cpuMilli"`
		MemMi       int    `json:"memMi"`
		App         string `json:"app,omitempty"`
		ZoneSpread  bool   `json:"zoneSpread,omitempty"`
		HostAntiAff bool   `json:"hostAntiAff,omitempty"`
	}
)

// small reads such entries as a benchmark does.
func small(t *testing.T, kinds []kind, pods []pod) *cluster.Snapshot {
	t.Helper()
	s, _, err := bench.Snapshot(bench.Options{Catalog: write(t, "catalog.json", asJSON(t, kinds)), Workload: write(t, "pods.json", asJSON(t, pods))})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
