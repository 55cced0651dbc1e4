package bench_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/daemok/daemok/bench"
)

// recorded writes a trace: of each pod cores in thousandths, MiB, and from when
// to when it was there.
func recorded(t *testing.T, pods ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.csv")
	text := "name,cpu_milli,memory_mib,num_gpu,creation_time,deletion_time\n"
	for _, p := range pods {
		text += "pod," + strings.Join(strings.Fields(p), ",") + "\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A pod of nine cores shares a machine of ten with one of 0.9 for an hour and
// leaves. For the ten hours that the small one stays, a machine of one core does,
// at 0.30 dollars instead of 3 an hour. Both rules find that, for one eviction.
func TestTraceComesToWhatMachinesCost(t *testing.T) {
	const untouched, moved = 3.0 * 11, 3.0 + 0.3*10
	o := bench.TraceOptions{Budget: "10%", Seed: 1, To: 11 * 3600, Trace: recorded(t,
		"9000 1000 0 0 3600",
		"900  1000 0 0 90000",
		"900000 1000 0 60 120")} // on no machine
	got, err := bench.Trace(o)
	if err != nil {
		t.Fatal(err)
	}
	if got.Pods != 2 || got.TooLarge != 1 || got.Hours != 11 {
		t.Errorf("%d pods, %d too large, in %g hours; want 2, 1 and 11", got.Pods, got.TooLarge, got.Hours)
	}
	// 120 dollars an hour for 399.9 cores, for 9.9 cores in one hour and 0.9 in ten.
	if want := 120 / 399.9 * (9.9 + 0.9*10); math.Abs(got.BoundDollars-want) > 1e-6 {
		t.Errorf("bound is %g, want %g", got.BoundDollars, want)
	}
	for name, is := range map[string]struct {
		course             bench.Course
		dollars            float64
		machines, evicted  int
		savesMost, savesAt float64
	}{
		"untouched":  {got.Untouched, untouched, 1, 0, 0, 0},
		"plain":      {got.Plain, moved, 2, 1, untouched - moved, 0.9},
		"controller": {got.Course, moved, 2, 1, untouched - moved, 0.9},
	} {
		c := is.course
		if c.Machines != is.machines || c.Evictions != is.evicted {
			t.Errorf("%s: %d machines and %d evictions, want %d and %d", name, c.Machines, c.Evictions, is.machines, is.evicted)
		}
		if c.CostDollars > is.dollars*1.1 || c.CostDollars < is.dollars*0.99 || c.SavedDollars > is.savesMost || c.SavedDollars < is.savesMost*is.savesAt {
			t.Errorf("%s: cost $%.2f, saved $%.2f; want about $%.2f and $%.2f", name, c.CostDollars, c.SavedDollars, is.dollars, is.savesMost)
		}
		if *c.Gap < 0 || c.PendingP50Seconds < 15 || c.PendingP99Seconds > 120 {
			t.Errorf("%s: gap %g, pods waited %g and %g s; machines boot within two minutes", name, *c.Gap, c.PendingP50Seconds, c.PendingP99Seconds)
		}
	}
	again, err := bench.Trace(o)
	if err != nil || again.CostDollars != got.CostDollars || again.PendingP99Seconds != got.PendingP99Seconds || again.Plain.CostDollars != got.Plain.CostDollars {
		t.Errorf("the same again comes to %+v, %v; want %+v", again, err, got)
	}
}

func TestTraceRefusesWhatItCannotRun(t *testing.T) {
	path := recorded(t, "900 1000 0 0 60")
	for name, tt := range map[string]struct {
		o    bench.TraceOptions
		want string
	}{
		"no pods in the span":      {bench.TraceOptions{Trace: path, Budget: "1", From: 100}, "no pod was there"},
		"a span that ends before":  {bench.TraceOptions{Trace: path, Budget: "1", From: 100, To: 50}, "want the latter to be more"},
		"a budget of none":         {bench.TraceOptions{Trace: path, Budget: "0%"}, "want a number"},
		"a budget that is no such": {bench.TraceOptions{Trace: path, Budget: "all"}, "want a number"},
		"no trace":                 {bench.TraceOptions{Budget: "1"}, "read trace"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := bench.Trace(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Trace(%+v) = %v, want %q", tt.o, err, tt.want)
			}
		})
	}
}
