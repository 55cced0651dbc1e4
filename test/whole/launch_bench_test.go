package whole_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	emulated "github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/fakecloud"
)

// Pods come and nothing has room for them: by the clock, when is EC2 asked for
// instances, and what was done until then? It prints when each call was made first and
// last, from the end of the batch window on, of a second. The API server and AWS are in memory and
// answer at once: what takes time is the controller's own work, and what it waits for.
//
// Pods of several sizes share few instances. Where an instance has room for one pod alone,
// as many are launched as there are pods.
func BenchmarkFromUnschedulableToCreateFleet(b *testing.B) {
	asIfAtAWS(b)
	for _, work := range []struct {
		name        string
		pods, sizes int
		pool        func(*karpv1.NodePool)
	}{
		{"500 pods of 5 sizes", 500, 5, ofAnyType},
		{"1000 pods of 5 sizes", 1000, 5, ofAnyType},
		{"1000 pods of 40 sizes", 1000, 40, ofAnyType},
		{"200 pods on 200 machines", 200, 1, nil},
		{"1000 pods on 1000 machines", 1000, 1, nil},
		{"200 nodes of a static pool", 0, 0, keeps(200, 0)},
	} {
		b.Run(work.name, func(b *testing.B) {
			for b.Loop() {
				w := newWorld(b, fakecloud.Options{Seed: 1, Types: fakecloud.AllTypes("us-east-1")})
				w.timeLaunch(b, work.pods, work.sizes, work.pool)
			}
		})
	}
}

func ofAnyType(p *karpv1.NodePool) { p.Spec.Template.Spec.Requirements = []karpv1.Requirement{} }

// timeLaunch has a controller begin and pods come once it can launch.
func (w *world) timeLaunch(b *testing.B, pods, sizes int, pool func(*karpv1.NodePool)) {
	log := &callLog{at: map[string][]time.Time{}, times: map[string]int{}}
	w.log = slog.New(log)
	w.lags = &emulated.Lags{TemplateMost: emulated.DefaultLags().TemplateMost}
	w.openAccount(1)
	w.pool("default", pool)
	c := w.start(setup{usual: true, heard: log.heard})
	defer func() {
		c.stop()
		w.aws.server.Close()
		w.everybody.Wait()
	}()
	w.await("a pool that is ready", w.poolIsReady)
	if pods > 0 {
		log.clear() // a static pool launches as soon as it is ready
	}
	for i := range pods {
		w.create(waitingPod(i, i%sizes))
	}
	closes := time.Now().Add(time.Second)
	time.Sleep(time.Until(closes))
	used := cpuTime()
	w.await("a call of CreateFleet", func() bool { return log.count("AWS CreateFleet") > 0 })
	used = cpuTime() - used
	w.await("machines for all claims", func() bool {
		return len(w.claims()) > 0 && !slices.ContainsFunc(w.claims(), func(c karpv1.NodeClaim) bool { return c.Status.ProviderID == "" })
	})
	first, last := log.span("AWS CreateFleet")
	b.ReportMetric(first.Sub(closes).Seconds()*1000, "ms-to-first-fleet")
	b.ReportMetric(last.Sub(closes).Seconds()*1000, "ms-to-last-fleet")
	b.ReportMetric(used.Seconds()*1000, "cpu-ms")
	b.ReportMetric(float64(len(w.claims())), "machines")
	// Each is one fleet, whose call is repeated while EC2 does not see the launch template.
	b.ReportMetric(float64(log.count("log: launching nodeclaim(s)")), "fleets")
	b.Log(log.table(closes))
}

// waitingPod is one that the scheduler has found no place for, of one of the sizes.
func waitingPod(i, size int) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("web-%04d", i), Labels: map[string]string{"app": fmt.Sprint(size)}}}
	p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(1000+150*size%3000), resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(int64(256+320*size%5000)<<20, resource.BinarySI),
	}}}}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	return p
}

// await is until where time is real.
func (w *world) await(what string, holds func() bool) {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%s did not come: %s", what, w.state())
		}
	}
}

func (w *world) poolIsReady() bool {
	var pools karpv1.NodePoolList
	w.list(&pools)
	return condition.IsTrue(&pools.Items[0], karpv1.NodePoolReady)
}

// cpuTime is what this process has used of processors.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// callLog keeps when a controller called whom, and when it logged what. Calls about one object
// are told apart by their number.
type callLog struct {
	mu    sync.Mutex
	at    map[string][]time.Time
	times map[string]int // by call and object
}

func (l *callLog) note(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at[what] = append(l.at[what], time.Now())
}

// heard notes a call, such as "patch NodeClaim/default-abcde status".
func (l *callLog) heard(call string) {
	subject, name, _ := strings.Cut(call, "/")
	_, status, _ := strings.Cut(name, " ")
	l.mu.Lock()
	l.times[call]++
	nth := l.times[call]
	l.mu.Unlock()
	switch {
	case name == "", strings.HasPrefix(call, "list"):
		l.note(subject)
	default:
		l.note(fmt.Sprintf("%s %s %d", subject, status, nth))
	}
}

func (l *callLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.at)
	clear(l.times)
}

func (l *callLog) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.at[what])
}

func (l *callLog) span(what string) (first, last time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at[what][0], l.at[what][len(l.at[what])-1]
}

// table lists what was done, in the order of its beginning.
func (l *callLog) table(from time.Time) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := fmt.Sprintf("\n%9s %9s %6s  from the end of the window, in ms\n", "first", "last", "times")
	for _, what := range slices.SortedFunc(maps.Keys(l.at), func(a, b string) int {
		return cmp.Or(l.at[a][0].Compare(l.at[b][0]), strings.Compare(a, b))
	}) {
		at := l.at[what]
		out += fmt.Sprintf("%9.1f %9.1f %6d  %s\n", at[0].Sub(from).Seconds()*1000, at[len(at)-1].Sub(from).Seconds()*1000, len(at), what)
	}
	return out
}

// Handle implements slog.Handler.
func (l *callLog) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "tookSeconds" || a.Key == "error" {
			text += ", " + a.String()
		}
		return true
	})
	l.note("log: " + text)
	return nil
}

// Enabled implements slog.Handler.
func (l *callLog) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (l *callLog) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements slog.Handler.
func (l *callLog) WithGroup(string) slog.Handler { return l }
