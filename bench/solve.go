package bench

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/pack"
	"github.com/daemok/daemok/core/plan"
)

// measured is what solving took, run by run.
type measured struct {
	seconds      []float64
	cpuSeconds   []float64
	allocatedMiB []float64
	peakRSSMiB   float64 // of all runs
}

// solve decides about the snapshot a number of times; 0 means 5.
func solve(s *cluster.Snapshot, o Options) (made plan.Plan, took measured) {
	runs, effort := o.Runs, decide.Quick()
	if runs == 0 {
		runs = 5
	}
	if o.Pack {
		effort = decide.Usual(s)
		effort.Disruption = 0
		effort.Pack *= pack.Effort(max(1, o.Effort))
		if !o.Simulated {
			effort.Simulation = 0
		}
	}
	return repeat(runs, func() plan.Plan { return decide.Decide(s, decide.Policy{}, effort) })
}

// repeat decides a number of times. Memory that was needed before is returned to the system
// first.
func repeat(runs int, decision func() plan.Plan) (made plan.Plan, took measured) {
	debug.FreeOSMemory()
	forgetPeak()
	for left := runs; left > 0; left-- {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		cpu, start := CPUSeconds(), time.Now()
		one := decision()
		took.seconds = append(took.seconds, time.Since(start).Seconds())
		took.cpuSeconds = append(took.cpuSeconds, CPUSeconds()-cpu)
		runtime.ReadMemStats(&after)
		took.allocatedMiB = append(took.allocatedMiB, float64(after.TotalAlloc-before.TotalAlloc)/(1<<20))
		if left == 1 {
			made = one // the others are forgotten, so that memory holds one plan at a time
		}
	}
	took.peakRSSMiB = peakRSS()
	return made, took
}

// forgetPeak makes the kernel measure the peak of resident memory again. Where
// it cannot, the peak is that since the process started.
func forgetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peakRSS is the largest resident size of the process, in MiB, since forgetPeak where the
// kernel says, else since it started.
func peakRSS() float64 {
	if kiB, ok := statusKiB("VmHWM:"); ok {
		return kiB / 1024
	}
	return float64(usage().Maxrss) / 1024
}

func statusKiB(field string) (float64, bool) {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, false
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, found := strings.CutPrefix(lines.Text(), field); found {
			value, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 64)
			return value, err == nil
		}
	}
	return 0, false
}

// CPUSeconds is what all threads of the process have used so far.
func CPUSeconds() float64 {
	u := usage()
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(u.Utime) + seconds(u.Stime)
}

// usage is empty where the system does not report it.
func usage() (out syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &out); err != nil {
		return syscall.Rusage{}
	}
	return out
}
