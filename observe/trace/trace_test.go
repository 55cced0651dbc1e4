package trace_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/observe/trace"
)

var start = time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)

// story is a tracer whose clock stands at so many seconds after the start.
type story struct {
	*trace.Tracer
	t     *testing.T
	now   time.Time
	spans *tracetest.InMemoryExporter
}

func begin(t *testing.T, options ...sdktrace.TracerProviderOption) *story {
	s := &story{t: t, now: start, spans: tracetest.NewInMemoryExporter()}
	provider := sdktrace.NewTracerProvider(append(options, sdktrace.WithSyncer(s.spans))...)
	t.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	s.Tracer = &trace.Tracer{Spans: provider.Tracer("daemok"), Now: func() time.Time { return s.now }}
	return s
}

func (s *story) at(seconds int) { s.now = start.Add(time.Duration(seconds) * time.Second) }

func second(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }

// batch is planned: pods came from 0 on, the window closed at 2, the plan took a second.
func (s *story) batch(pods, launches int) {
	s.at(3)
	s.Round(trace.Round{OpenedAt: second(0), BeganAt: second(2), PlanAt: second(2), PlanFor: time.Second})
	s.Planned(&cluster.Snapshot{Waiting: make([]cluster.Pod, pods)}, plan.Plan{Basis: 7, Launches: make([]plan.Launch, launches)}, time.Second)
}

// ordered is a NodeClaim that was created for a launch.
func ordered(name string) apply.Launched {
	return apply.Launched{
		Launch: plan.Launch{Pool: cluster.PoolID{Kind: "NodePool", Name: "web"}, Choice: plan.Choice{Kind: "m5.large", Zone: "z1", Option: cluster.OnDemand}, Pods: make([]cluster.Pod, 2)},
		Claim:  &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}},
	}
}

// claim is a NodeClaim of which these conditions hold.
func claim(name string, holds ...string) *karpv1.NodeClaim {
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		api.LabelNodePool: "web", api.LabelInstanceType: "m5.xlarge", api.LabelZone: "z2", api.LabelCapacityType: "spot",
	}}}
	for _, kind := range holds {
		condition.SetTrue(c, kind, start)
		if kind == karpv1.ClaimRegistered {
			c.Status.NodeName = "node-" + name
		}
	}
	return c
}

// says compares the spans that have ended, each below its parent and with seconds, and the
// attributes asked for.
func (s *story) says(want string, attributes ...attribute.Key) {
	s.t.Helper()
	if got := tree(s.spans.GetSpans(), attributes); got != strings.TrimLeft(want, "\n") {
		s.t.Errorf("the spans are\n%swant\n%s", got, strings.TrimLeft(want, "\n"))
	}
}

func tree(spans tracetest.SpanStubs, attributes []attribute.Key) string {
	slices.SortStableFunc(spans, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	var b strings.Builder
	var write func(parent [8]byte, indent string)
	write = func(parent [8]byte, indent string) {
		for _, x := range spans {
			if x.Parent.SpanID() != parent {
				continue
			}
			fmt.Fprintf(&b, "%s%s %v-%v", indent, x.Name, x.StartTime.Sub(start).Seconds(), x.EndTime.Sub(start).Seconds())
			for _, key := range attributes {
				for _, a := range x.Attributes {
					if a.Key == key {
						b.WriteString(" " + a.Value.Emit())
					}
				}
			}
			if x.Status.Code == codes.Error {
				b.WriteString(" error: " + x.Status.Description)
			}
			b.WriteString("\n")
			write(x.SpanContext.SpanID(), indent+"  ")
		}
	}
	write([8]byte{}, "")
	return b.String()
}

func TestFromPodsThatWaitToANode(t *testing.T) {
	s := begin(t)
	s.batch(5, 2)
	s.at(4)
	s.Seen(claim("a"), true)
	s.Launched([]apply.Launched{ordered("a"), ordered("b")})
	s.Explain(nil, plan.Plan{})
	s.Searching()
	s.at(5)
	s.Seen(claim("b"), true) // as the watch shows it, later than it was created
	s.Sought(time.Second)
	s.at(7)
	s.Called([]string{"a", "b"}, second(5), 1, &cloud.NoCapacityError{})
	s.Seen(claim("a", karpv1.ClaimLaunched), false)
	s.at(9)
	s.Called([]string{"b"}, second(8), 1, nil)
	s.Seen(claim("b", karpv1.ClaimLaunched), false)
	s.at(30)
	s.Seen(claim("a", karpv1.ClaimLaunched, karpv1.ClaimRegistered), false)
	s.at(31)
	s.Seen(claim("b", karpv1.ClaimLaunched, karpv1.ClaimRegistered), false)
	s.at(40)
	s.Seen(claim("b", karpv1.ClaimLaunched, karpv1.ClaimRegistered, karpv1.ClaimInitialized), false)
	s.at(50)
	s.Seen(claim("a", karpv1.ClaimLaunched, karpv1.ClaimRegistered, karpv1.ClaimInitialized), false)
	s.Seen(claim("a", karpv1.ClaimLaunched, karpv1.ClaimRegistered, karpv1.ClaimInitialized), false)
	s.says(`
provisioning 0-50 5 2
  batch window 0-2
  plan 2-3 5 2
    scheduling 2-3
  nodeclaim 3-40 2 b web m5.xlarge z2 spot node-b
    create 3-4
    launch 4-9
      CreateFleet 5-7 1 error: InsufficientCapacityError
      CreateFleet 8-9 1
    registration 9-31
    initialization 31-40
  nodeclaim 3-50 2 a web m5.xlarge z2 spot node-a
    create 3-4
    launch 4-7
      CreateFleet 5-7 1 error: InsufficientCapacityError
    registration 7-30
    initialization 30-50
  search 4-5
`, "daemok.pods", "daemok.nodeclaims", "daemok.nodeclaim", "daemok.nodepool", "host.type", "cloud.availability_zone", "daemok.capacity_type", "k8s.node.name", "daemok.instances")
}

// The loops are not in step: an instance may be there before the planner says for which pods.
func TestANodeClaimThatIsAheadOfItsPlan(t *testing.T) {
	s := begin(t)
	s.batch(2, 1)
	s.at(4)
	s.Seen(claim("a"), true)
	s.at(6)
	s.Called([]string{"a"}, second(5), 1, nil)
	s.Seen(claim("a", karpv1.ClaimLaunched), false)
	s.at(7)
	s.Launched([]apply.Launched{ordered("a")})
	s.at(8)
	s.Seen(claim("a", karpv1.ClaimLaunched, karpv1.ClaimRegistered, karpv1.ClaimInitialized), false)
	s.at(9)
	s.Explain(nil, plan.Plan{})
	s.says(`
provisioning 0-9
  batch window 0-2
  plan 2-3
    scheduling 2-3
  nodeclaim 3-8 m5.xlarge
    create 3-4
    launch 4-6
      CreateFleet 5-6
    registration 6-8
    initialization 8-8
`, "host.type")
}

func TestTheEndOfATrace(t *testing.T) {
	deleted := func(c *karpv1.NodeClaim) *karpv1.NodeClaim {
		c.DeletionTimestamp = &metav1.Time{Time: start}
		return c
	}
	for what, report := range map[string]struct {
		happens func(s *story)
		want    string
	}{
		"pods fit on nodes": {func(s *story) { s.batch(1, 0); s.Explain(nil, plan.Plan{}) }, `
provisioning 0-3
  batch window 0-2
  plan 2-3
    scheduling 2-3
`},
		"nothing waits, nothing is launched": {func(s *story) {
			s.Round(trace.Round{BeganAt: second(0), PlanAt: second(0)})
			s.Planned(&cluster.Snapshot{}, plan.Plan{}, 0)
			s.Explain(nil, plan.Plan{})
			s.Searching()
			s.Sought(time.Second)
		}, ""},
		"a plan was made while the window was open": {func(s *story) {
			s.at(5)
			s.Round(trace.Round{OpenedAt: second(0), BeganAt: second(4), PlanAt: second(1), PlanFor: time.Second})
			s.Planned(&cluster.Snapshot{}, plan.Plan{}, 0)
			s.Explain(nil, plan.Plan{})
		}, `
provisioning 0-5
  batch window 0-4
  plan 1-5
    scheduling 1-2
`},
		"a NodeClaim is deleted before it has an instance": {func(s *story) {
			s.batch(1, 1)
			s.Launched([]apply.Launched{ordered("a"), {Err: context.Canceled}})
			s.Explain(nil, plan.Plan{})
			s.at(20)
			s.Seen(deleted(claim("a")), false)
			s.Gone("a")
		}, `
provisioning 0-20
  batch window 0-2
  plan 2-3
    scheduling 2-3
  nodeclaim 3-20 error: deleted before it was initialized
    create 3-3
    launch 3-20
`},
		"nodes are replaced": {func(s *story) {
			s.at(1)
			s.Seen(claim("a"), true)
			s.at(2)
			s.Replacing(plan.Move{Removals: []plan.Removal{{Reason: plan.Underutilized}}}, ordered("a"))
			s.Replacing(plan.Move{}, apply.Launched{Err: context.Canceled})
			s.at(9)
			s.Seen(claim("a", karpv1.ClaimLaunched, karpv1.ClaimRegistered, karpv1.ClaimInitialized), false)
		}, `
replacement 1-9
  nodeclaim 1-9
    create 1-1
    launch 1-9
    registration 9-9
    initialization 9-9
`},
		"the controller ends, and what it began goes on": {func(s *story) {
			s.batch(1, 1)
			s.Launched([]apply.Launched{ordered("a")})
			s.at(10)
			s.End()
			s.Gone("a")
		}, `
provisioning 0-10 another controller took over
  batch window 0-2
  plan 2-3
    scheduling 2-3
  nodeclaim 3-10 another controller took over
    create 3-3
    launch 3-10
`},
		"a NodeClaim is of no batch": {func(s *story) {
			s.Seen(claim("a"), true)
			s.Called([]string{"a", "b"}, second(0), 1, nil)
			s.Seen(claim("a", karpv1.ClaimLaunched, karpv1.ClaimRegistered, karpv1.ClaimInitialized), false)
			s.Launched([]apply.Launched{ordered("a")})
		}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			s := begin(t)
			report.happens(s)
			s.says(report.want, "daemok.end")
		})
	}
}

// Exemplars name a trace for as long as it may be looked up: none that is not sampled.
func TestTheIDOfATrace(t *testing.T) {
	s := begin(t)
	if id := s.OfPlan() + s.OfClaim("a"); id != "" {
		t.Errorf("there is a trace %s of nothing", id)
	}
	s.batch(1, 1)
	s.Launched([]apply.Launched{ordered("a")})
	id := s.OfPlan()
	if len(id) != 32 || s.OfClaim("a") != id {
		t.Errorf("the plan's trace is %q, the NodeClaim's %q", id, s.OfClaim("a"))
	}
	s.Gone("a")
	if s.OfClaim("a") != "" {
		t.Error("a NodeClaim that is gone has a trace")
	}

	s = begin(t, sdktrace.WithSampler(sdktrace.NeverSample()))
	s.batch(1, 1)
	if s.OfPlan() != "" {
		t.Error("a trace that is not sampled is named")
	}
}

// Most controllers trace nothing: then nothing is made, and nothing is kept.
func TestWithoutTracesNothingHappens(t *testing.T) {
	var none *trace.Tracer
	s, c, l, names := &cluster.Snapshot{}, claim("a"), []apply.Launched{ordered("a")}, []string{"a"}
	cost := testing.AllocsPerRun(10, func() {
		none.Round(trace.Round{})
		none.Planned(s, plan.Plan{}, 0)
		none.Launched(l)
		none.Replacing(plan.Move{}, l[0])
		none.Explain(s, plan.Plan{})
		none.Searching()
		none.Sought(0)
		none.Called(names, start, 1, nil)
		none.Seen(c, true)
		none.Gone("a")
		none.End()
		if none.OfPlan()+none.OfClaim("a") != "" {
			t.Error("there is a trace")
		}
	})
	if cost != 0 {
		t.Errorf("it costs %v allocations", cost)
	}
}

// A NodeClaim may be created and deleted before it is known for which batch it was. Its end never comes again, and what
// is kept of it goes after a while.
func TestWhatEndedUnseenIsNotKept(t *testing.T) {
	s := begin(t)
	s.batch(2, 1)
	s.Seen(claim("web-1"), true)
	s.Gone("web-1")
	s.Launched([]apply.Launched{ordered("web-1")})
	s.Explain(nil, plan.Plan{})
	if s.OfClaim("web-1") == "" {
		t.Fatal("the story is another: the NodeClaim is known to have ended")
	}
	s.at(3700)
	s.Planned(&cluster.Snapshot{}, plan.Plan{}, 0)
	s.Round(trace.Round{OpenedAt: s.now, BeganAt: s.now, PlanAt: s.now})
	s.Planned(&cluster.Snapshot{}, plan.Plan{}, 0)
	if s.OfClaim("web-1") != "" {
		t.Error("it is kept after an hour")
	}
	for _, span := range s.spans.GetSpans() {
		if span.Name == "provisioning" && span.EndTime.Equal(s.now) {
			return
		}
	}
	t.Error("its trace has not ended")
}
