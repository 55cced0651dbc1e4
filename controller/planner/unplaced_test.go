package planner

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/observe"
)

// few accepts so many and then no more.
type few struct{ left int }

func (f *few) TryAccept() bool {
	f.left--
	return f.left >= 0
}

// failing is a recorder whose events go through the real filter, with the clock
// in the test's hands.
func failing(pace int) (*Recorder, *record.FakeRecorder, *strings.Builder, *time.Time) {
	reported, _, lines := recorder()
	now := new(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	recorder := &record.FakeRecorder{Events: make(chan string, 10_000), IncludeObject: true}
	reported.Events = &observe.Events{Recorder: recorder, Now: func() time.Time { return *now }}
	reported.Failures = &few{pace}
	return reported, recorder, lines, now
}

func heardBy(r *record.FakeRecorder) []string {
	var out []string
	for len(r.Events) > 0 {
		out = append(out, <-r.Events)
	}
	return out
}

func left(owner, text string, pods int, since time.Time) plan.Unplaced {
	out := plan.Unplaced{Reasons: []plan.Reason{{Text: text}}}
	for i := range pods {
		name := fmt.Sprintf("%s-%d", strings.ToLower(strings.ReplaceAll(owner, "/", "-")), i)
		out.Pods = append(out.Pods, cluster.Pod{Namespace: "default", Name: name, UID: name, Owner: owner, CreatedAt: since.Add(time.Duration(i) * time.Second)})
	}
	return out
}

func (t *Recorder) at(now time.Time, list ...plan.Unplaced) {
	t.Explain(&cluster.Snapshot{Now: now}, plan.Plan{Unplaced: list})
}

func TestAReasonIsReportedToItsPodsOnceInFiveMinutes(t *testing.T) {
	reported, recorder, lines, now := failing(1000)
	short, other := left("Deployment/web", "limit cpu is 4 short", 2, *now), left("Deployment/web", "limit cpu is 2 short", 2, *now)
	reported.at(*now, short)
	if got := heardBy(recorder); len(got) != 2 || !strings.HasPrefix(got[0], "Warning FailedScheduling limit cpu is 4 short") {
		t.Errorf("at first: told %q, want each of the two pods", got)
	}
	*now = now.Add(4 * time.Minute)
	if reported.at(*now, short); len(recorder.Events) > 0 {
		t.Errorf("after 4 minutes: told again %q", heardBy(recorder))
	}
	if reported.at(*now, other); len(heardBy(recorder)) != 2 {
		t.Error("another reason was not told at once")
	}
	*now = now.Add(time.Minute)
	if reported.at(*now, short); len(heardBy(recorder)) != 2 {
		t.Error("after 5 minutes the first reason was not told again")
	}
	if got := strings.Count(lines.String(), "found no place for pods"); got != 3 {
		t.Errorf("logged %d lines, want one for each change:\n%s", got, lines)
	}
}

func TestPoolsThatAreOnlySummedUpDoNotRepeatAReason(t *testing.T) {
	for name, pods := range map[string]int{"to pods": 2, "to their workload": podEventsMax + 1} {
		t.Run(name, func(t *testing.T) {
			reported, recorder, lines, now := failing(1000)
			with := func(others string) plan.Unplaced {
				u := left("Deployment/web", "limit cpu is 4 short", pods, *now)
				u.Reasons = append(u.Reasons, plan.Reason{Text: others, Others: true})
				return u
			}
			reported.at(*now, with("2 more pools need more changes: a, b"))
			if got := heardBy(recorder); len(got) == 0 || !strings.Contains(got[0], "limit cpu is 4 short; 2 more pools need more changes: a, b") {
				t.Errorf("at first: told %q, want all reasons", got)
			}
			if reported.at(*now, with("3 more pools need more changes: a, b, c")); len(recorder.Events) > 0 || strings.Count(lines.String(), "\n") != 1 {
				t.Errorf("once there is another pool: told again %q, logged\n%s", heardBy(recorder), lines)
			}
		})
	}
}

func TestAChangeOfOneShapeDoesNotRepeatTheOthersInTheLog(t *testing.T) {
	reported, _, lines, now := failing(1000)
	web := left("Deployment/web", "sold out", 2, *now)
	reported.at(*now, web, left("Deployment/db", "limit cpu is 4 short", 3, *now))
	lines.Reset()
	reported.at(*now, web, left("Deployment/db", "limit cpu is 2 short", 3, *now))
	reported.at(*now, left("Deployment/web", "sold out", 1, *now), left("Deployment/db", "limit cpu is 2 short", 9, *now))
	if got := lines.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "default/deployment-db-0 and 2 more like it: limit cpu is 2 short") {
		t.Errorf("logged\n%swant one line about db", got)
	}
}

func TestThoseThatWaitLongestHearFirst(t *testing.T) {
	reported, recorder, _, now := failing(3)
	young, old := left("Deployment/young", "why", 2, *now), left("Deployment/old", "why", 2, now.Add(-time.Hour))
	reported.at(*now, young, old)
	if got := heardBy(recorder); len(got) != 3 {
		t.Fatalf("told %d pods, want as many as may be told: %q", len(got), got)
	}
	reported.Failures = &few{3}
	reported.at(now.Add(time.Second), young, old)
	if got := heardBy(recorder); len(got) != 1 {
		t.Errorf("a second later told %q, want the one that is left", got)
	}
}

func TestOfManyPodsTheirWorkloadHears(t *testing.T) {
	tests := map[string]struct {
		owner string
		pods  int
		want  string // how many objects of each Kind get an event
	}{
		"a hundred hear themselves":            {"Deployment/web", 100, "map[v1 Pod:100]"},
		"of more the deployment does":          {"Deployment/web", 101, "map[apps/v1 Deployment:1]"},
		"pods that nobody owns hear in part":   {"", 250, "map[v1 Pod:100]"},
		"an unknown owner's oldest pod stands": {"Rollout/web", 300, "map[v1 Pod:1]"},
		"and that of an owner that is gone":    {"Deployment/gone", 300, "map[v1 Pod:1]"},
	}
	for name, tt := range tests {
		t.Run(name, inVirtualTime(func(t *testing.T) {
			reported, _, _, now := failing(1000)
			hearers := kinds{}
			reported.Events = hearers
			reported.Workloads = NewWorkloads(fake.NewClientBuilder().WithObjects(
				&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}).Build(), hearers)
			for range 3 {
				reported.at(*now, left(tt.owner, "why", tt.pods, *now))
			}
			reported.runWorkloads(t)
			of := map[string]int{}
			for _, kind := range hearers {
				of[kind]++
			}
			if got := fmt.Sprint(of); got != tt.want {
				t.Errorf("told %s, want %s", got, tt.want)
			}
		}))
	}
}

func inVirtualTime(test func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) { synctest.Test(t, test) }
}

// runWorkloads publishes the messages of workloads until none is left.
func (t *Recorder) runWorkloads(test *testing.T) {
	ctx, cancel := context.WithTimeout(test.Context(), time.Hour) // of virtual time
	defer cancel()
	t.Workloads.Run(ctx)
}

// mute is an API server that does not answer.
type mute struct{ client.Reader }

func (mute) Get(ctx context.Context, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	<-ctx.Done()
	return ctx.Err()
}

// No plan waits for workloads to be looked up, however slow the API server is. What does
// not fit in the queue is reported with a later plan.
func TestNoPlanWaitsForEventsOfWorkloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reported, _, _, now := failing(1000)
		hearers := kinds{}
		reported.Events, reported.Workloads = hearers, NewWorkloads(mute{}, hearers)
		var list []plan.Unplaced
		for i := range ownersMax + 8 {
			list = append(list, left(fmt.Sprint("Deployment/web-", i), "why", podEventsMax+1, *now))
		}
		for _, want := range []int{ownersMax, ownersMax + 8} {
			began := time.Now()
			if reported.at(*now, list...); time.Since(began) > 0 {
				t.Errorf("the plan waited %v", time.Since(began))
			}
			reported.runWorkloads(t)
			if len(hearers) != want {
				t.Errorf("%d workloads heard, want %d", len(hearers), want)
			}
		}
	})
}

// kinds lists the objects that get an event.
type kinds map[string]string

func (k kinds) Publish(e observe.Event) {
	gvk := e.About.GetObjectKind().GroupVersionKind()
	k[e.Key] = gvk.GroupVersion().String() + " " + gvk.Kind
}
