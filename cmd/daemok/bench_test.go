package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// keysOf returns the names in the one JSON object that the command prints.
func keysOf(t *testing.T, args ...string) map[string]any {
	t.Helper()
	out, err := run(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]any{}
	if err := json.Unmarshal([]byte(out), &keys); err != nil {
		t.Fatalf("%v prints %s: %v", args, out, err)
	}
	return keys
}

func TestBenchPlaceKeepsItsKeysForAnyNumberOfSeeds(t *testing.T) {
	args := []string{"bench", "place", "--mix", "diverse", "--pods", "60", "--runs", "1"}
	always := strings.Fields(`mix pods seconds podsPerSecond nodes costPerHour lowerBoundPerHour gap boundConstrainedPerHour
		gapConstrained boundWholePerHour gapWhole allocatedMiB peakRSSMiB unplaced`)
	one, many := keysOf(t, args...), keysOf(t, append(args, "--seeds", "3")...)
	for _, key := range always {
		if _, ok := one[key]; !ok {
			t.Errorf("one seed prints no %s: %v", key, one)
		}
		if _, ok := many[key]; !ok {
			t.Errorf("three seeds print no %s: %v", key, many)
		}
	}
	for _, key := range []string{"secondsWorst", "gapWorst", "gapConstrainedWorst", "gapWholeWorst"} {
		if _, ok := many[key].(float64); !ok {
			t.Errorf("three seeds print %s as %v, want a number", key, many[key])
		}
	}
	if many["seeds"] != 3.0 {
		t.Errorf("seeds = %v, want 3", many["seeds"])
	}
}

func TestBenchTraceKeepsItsKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.csv")
	if err := os.WriteFile(path, []byte("cpu_milli,memory_mib,creation_time,deletion_time\n900,1000,10,3610\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := keysOf(t, "bench", "trace", "--trace", path, "--from", "0", "--to", "3600", "--budget", "10%")
	for _, key := range strings.Fields("costDollars boundDollars gap evictions pendingP50Seconds pendingP99Seconds machines seconds") {
		if _, ok := got[key]; !ok {
			t.Errorf("it prints no %s: %v", key, got)
		}
	}
	if got["machines"] != 1.0 {
		t.Errorf("machines = %v for one pod, want 1", got["machines"])
	}
}

func TestBenchRefusesWhatItCannotMeasure(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"less than no seeds": {[]string{"place", "--mix", "plain", "--seeds", "-1"}, "--seeds is -1"},
		"less than no types": {[]string{"place", "--mix", "plain", "--types", "-1"}, "--types is -1"},
		"growth of nothing":  {[]string{"growth", "--of", "clouds"}, "use one of"},
		"no round":           {[]string{"takeover", "--rounds", "0"}, "--rounds is 0"},
		"no Deployment":      {[]string{"wave", "--deployments", "0"}, "--deployments"},
		"time backwards":     {[]string{"wave", "--time-scale", "-1"}, "--time-scale is -1"},
		"growth without run": {[]string{"growth", "--runs", "0"}, "--runs is 0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := run(t, append([]string{"bench"}, tt.args...)...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("bench %v = %v; want %q", tt.args, err, tt.want)
			}
		})
	}
}
