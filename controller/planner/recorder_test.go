package planner

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
)

// heard collects the events that users see.
type heard struct{ messages []string }

func (h *heard) Publish(e observe.Event) {
	h.messages = append(h.messages, e.Reason+": "+e.Message)
}

func (h *heard) since() string {
	out := strings.Join(h.messages, "\n")
	h.messages = nil
	return out
}

func recorder() (*Recorder, *heard, *strings.Builder) {
	events, lines := &heard{}, &strings.Builder{}
	return &Recorder{
		Log: slog.New(slog.NewTextHandler(lines, nil)), Events: events, Metrics: observe.NewMetrics(prometheus.NewRegistry(), "", "", "", ""),
	}, events, lines
}

var web = cluster.Pod{Namespace: "default", Name: "web", UID: "1"}

func placed(on plan.Destination, target string) plan.Plan {
	return plan.Plan{Placements: []plan.Placement{{Pod: web, On: on, Target: target}}}
}

// From the decision to the node a pod hears of one place, in words it knows.
func TestAPodHearsOnceOfEachPlace(t *testing.T) {
	reported, events, lines := recorder()
	say := func(what string, s *cluster.Snapshot, p plan.Plan, want string) {
		t.Helper()
		reported.Explain(s, p)
		if got := events.since(); got != want {
			t.Errorf("%s: told %q, want %q", what, got, want)
		}
	}
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "default-x"}}
	choice := plan.Choice{Kind: "m5.large", Zone: "a", Option: cluster.Spot}
	reported.Launched([]apply.Launched{{Launch: plan.Launch{Pods: []cluster.Pod{web}, Choice: choice, Notes: []string{"images must run on arm64"}}, Claim: claim}})
	if got, want := events.since(), "Nominated: Pod should schedule on: nodeclaim/default-x (spot m5.large in a is launched now)"; got != want {
		t.Errorf("ordered: told %q, want %q", got, want)
	}
	if want := `type=m5.large zone=a capacityType=spot notes="images must run on arm64"`; !strings.Contains(lines.String(), want) {
		t.Errorf("the log says\n%s\nwant %s", lines, want)
	}
	say("planned", &cluster.Snapshot{}, placed(plan.OnLaunch, "new-1"), "")
	say("on order", &cluster.Snapshot{}, placed(plan.OnInstance, "default-x"), "")
	joined := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "ip-1", Claim: "default-x"}, {Name: "ip-2"}}}
	say("joined", joined, placed(plan.OnNode, "ip-1"), "")
	say("another node", joined, placed(plan.OnNode, "ip-2"), "Nominated: Pod should schedule on: node/ip-2")
	say("the same", joined, placed(plan.OnNode, "ip-2"), "")
	joined.Instances = []cluster.Instance{{Claim: "default-y", Launched: true, Labels: constraint.NewLabels(map[string]string{
		cluster.LabelInstanceType: "m5.large", cluster.LabelZone: "a", cluster.LabelCapacityType: "on-demand",
	})}}
	say("another instance", joined, placed(plan.OnInstance, "default-y"),
		"Nominated: Pod should schedule on: nodeclaim/default-y (on-demand m5.large in a has not joined the cluster yet)")
}

// A pool that was just made is not ready for some seconds, and no pod need
// hear of that.
func TestPodsDoNotHearOfPoolsThatAreBeingLookedAt(t *testing.T) {
	reported, events, lines := recorder()
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	id := cluster.PoolID{Kind: "NodePool", Name: "default"}
	after := func(d time.Duration, notReady string) string {
		s := &cluster.Snapshot{Now: began.Add(d), Pools: []cluster.Pool{{ID: id, NotReady: notReady}}}
		reported.Explain(s, plan.Plan{Unplaced: []plan.Unplaced{{Pods: []cluster.Pod{web}, Reasons: []plan.Reason{{Pool: id, Text: "why"}}}}})
		return events.since()
	}
	if got := after(0, "its condition is not known yet"); got != "" || lines.Len() > 0 {
		t.Errorf("at once: told %q and logged %q, want nothing", got, lines)
	}
	if got := after(9*time.Second, "it was not reconciled yet"); got != "" {
		t.Errorf("after 9 s: told %q, want nothing", got)
	}
	if got, want := after(10*time.Second, "it was not reconciled yet"), "FailedScheduling: NodePool/default: why"; got != want {
		t.Errorf("after 10 s: told %q, want %q", got, want)
	}
	if got, want := after(11*time.Second, ""), "FailedScheduling: NodePool/default: why"; got != want {
		t.Errorf("a pool that is ready and does not fit: told %q, want %q", got, want)
	}
	if got := after(12*time.Second, "its condition is not known yet"); got != "" {
		t.Errorf("not ready anew: told %q, want nothing", got)
	}
}

// While the class of a pool is new and becomes ready, the pool's condition says so, and
// pods hear nothing of it; when it takes too long they do.
func TestPodsDoNotHearOfClassesThatBecomeReady(t *testing.T) {
	reported, events, lines := recorder()
	becoming := true
	reported.Becoming = func(cluster.PoolID) bool { return becoming }
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	id := cluster.PoolID{Kind: "NodePool", Name: "default"}
	after := func(d time.Duration) string {
		s := &cluster.Snapshot{Now: began.Add(d), Pools: []cluster.Pool{{ID: id, NotReady: "EC2NodeClass/default is not ready"}}}
		reported.Explain(s, plan.Plan{Unplaced: []plan.Unplaced{{Pods: []cluster.Pod{web}, Reasons: []plan.Reason{{Pool: id, Text: "why"}}}}})
		return events.since()
	}
	for _, d := range []time.Duration{0, time.Minute, 10 * time.Minute} {
		if got := after(d); got != "" || lines.Len() > 0 {
			t.Errorf("after %v: told %q and logged %q, want nothing", d, got, lines)
		}
	}
	becoming = false
	if got := after(16 * time.Minute); got == "" {
		t.Error("when the class has taken too long nothing is told")
	}
}

// Pods that ask for nodes of no pool get no event that none is launched: explain says so.
func TestPodsThatWantNoPoolAreNotReported(t *testing.T) {
	reported, events, lines := recorder()
	reported.Explain(&cluster.Snapshot{}, plan.Plan{Unplaced: []plan.Unplaced{{Pods: []cluster.Pod{web}, Reasons: []plan.Reason{{Text: plan.Outside + " (karpenter.sh/nodepool doesnotexist)"}}}}})
	if got := events.since(); got != "" || lines.Len() > 0 {
		t.Errorf("told %q and logged %q, want nothing", got, lines)
	}
}

// A pod is quiet about pools that were just made if nothing else keeps it
// waiting.
func TestAPoolThatIsNewHidesNoOtherReason(t *testing.T) {
	broken := cluster.PoolID{Kind: "NodePool", Name: "broken"}
	fresh, other, old := cluster.PoolID{Kind: "NodePool", Name: "fresh"}, cluster.PoolID{Kind: "NodePool", Name: "other"}, cluster.PoolID{Kind: "NodePool", Name: "old"}
	why := func(pools ...cluster.PoolID) (out []plan.Reason) {
		for _, id := range pools {
			out = append(out, plan.Reason{Pool: id, Text: "why"})
		}
		return out
	}
	farther := plan.Reason{Text: "one more pool is farther from it: x"}
	tests := map[string]struct {
		reasons  []plan.Reason
		reported bool
	}{
		"one new pool":                   {why(fresh), false},
		"two new pools":                  {why(fresh, other), false},
		"a new pool, and others farther": {append(why(fresh), farther), false},
		"a new pool and one that is not": {why(fresh, old), true},
		"a new pool and a broken one":    {why(fresh, broken), false},
		"a broken pool alone":            {why(broken), true},
		"the other way round":            {why(old, fresh), true},
		"something about the pod itself": {[]plan.Reason{{Text: "its volume claim is missing"}}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			reported, events, _ := recorder()
			s := &cluster.Snapshot{Pools: []cluster.Pool{{ID: fresh, NotReady: "new"}, {ID: other, NotReady: "new"}, {ID: old}, {ID: broken, NotReady: "its class does not exist"}}}
			reported.openSince = map[cluster.PoolID]time.Time{broken: s.Now.Add(-time.Hour)}
			reported.Explain(s, plan.Plan{Unplaced: []plan.Unplaced{{Pods: []cluster.Pod{web}, Reasons: tt.reasons}}})
			if got := events.since(); (got != "") != tt.reported {
				t.Errorf("told %q, want something: %v", got, tt.reported)
			}
		})
	}
}

// The cost of launches, the bound and what binds are reported in the log and as gauges, and
// stay until the next launches.
func TestPlansReportWhatLaunchesCost(t *testing.T) {
	reported, _, lines := recorder()
	registry := prometheus.NewRegistry()
	reported.Metrics = observe.NewMetrics(registry, "", "", "", "")
	measured := func() string {
		t.Helper()
		lines, err := scraped.Lines(registry, "daemok_plan_cost", "daemok_plan_cost_bound", "daemok_plan_cost_gap", "daemok_plan_margin")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(lines, ", ")
	}
	launched := plan.Plan{Launches: []plan.Launch{{Choice: plan.Choice{Price: 220_000, Priced: true}}}, Bound: 200_000,
		Margins: []plan.Margin{{Resource: "cpu", Price: 30_000}, {Resource: "memory", Zone: "b", Price: 6_000}}}
	reported.Planned(&cluster.Snapshot{}, launched, time.Second)
	reported.Planned(&cluster.Snapshot{}, plan.Plan{}, time.Second)
	if got, want := lines.String(), "launchCostUSDPerHour=0.22 likelyCostUSDPerHour=0.22 boundUSDPerHour=0.2 gapPercent=10\n"; !strings.HasSuffix(got, want) {
		t.Errorf("the log says %q, want %q at its end", got, want)
	}
	want := "daemok_plan_cost 0.22, daemok_plan_cost_bound 0.2, daemok_plan_cost_gap 0.1, " +
		"daemok_plan_margin resource_type=cpu 0.03, daemok_plan_margin resource_type=memory zone=b 0.006"
	if got := measured(); got != want {
		t.Errorf("measured %s, want %s", got, want)
	}
	reported.Planned(&cluster.Snapshot{}, plan.Plan{Launches: launched.Launches}, time.Second)
	if got, want := measured(), "daemok_plan_cost 0.22, daemok_plan_cost_bound 0, daemok_plan_cost_gap NaN"; got != want {
		t.Errorf("without a bound: measured %s, want %s", got, want)
	}
}
