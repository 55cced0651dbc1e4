package planner

import (
	"cmp"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/observe/trace"
)

type publisher interface{ Publish(observe.Event) }

// Recorder reports plans to operators: one log line an outcome, events on the objects
// concerned, metrics. It says nothing about a plan that changes nothing, but for the first.
type Recorder struct {
	Log     *slog.Logger
	Events  publisher
	Metrics *observe.Metrics
	// Nominations limits how many pods a second get an event that says where they should
	// go; nil: no limit.
	Nominations interface{ TryAccept() bool }
	// Pods receives which pods a plan says something about, and for which of them a claim
	// was made; it may be nil.
	Pods interface {
		Decided(p plan.Plan)
		Ordered(claim string, pods []cluster.Pod)
	}

	// Failures limits how many events a second say to pods why they have no place, and to
	// nodes why they stay; nil: no limit.
	Failures interface{ TryAccept() bool }
	// Workloads publishes events about pods on their workloads; nil: a pod gets them in
	// their place.
	Workloads *Workloads

	Traces *trace.Tracer // has heard of each plan before; nil: there are none

	// Becoming reports whether the class of a pool is new and becomes ready, so that
	// its pool says all there is to say; nil: none does.
	Becoming func(cluster.PoolID) bool

	First func() // called once the first plan is made; may be nil

	hasPlanned     bool                         // a plan was reported
	unplaced       map[string]bool              // what the last plan said of pods without a place
	ownersReported map[string]time.Time         // what was reported on workloads lately
	nominations    map[string]string            // by pod: the claim or node that was reported to it last
	openSince      map[cluster.PoolID]time.Time // pools from which nothing can be launched
}

// Planned reports a new plan, before it is carried out.
func (t *Recorder) Planned(s *cluster.Snapshot, p plan.Plan, took time.Duration) {
	if t.Pods != nil {
		t.Pods.Decided(p)
	}
	observe.InTrace(t.Metrics.PlanSeconds, took.Seconds(), t.Traces.OfPlan())
	t.Metrics.StateNodes.Set(float64(len(s.Nodes)))
	unplaced := p.PodsUnplaced()
	t.measurePods(s, p.Unplaced, unplaced)
	if !t.hasPlanned {
		t.hasPlanned = true
		if t.First != nil {
			t.First()
		}
		t.Log.Info("made the first plan", "nodes", len(s.Nodes), "waiting", len(s.Waiting), "tookSeconds", took.Seconds())
	}
	if p.IsEmpty() {
		return
	}
	t.sayPlanned(s, p)
	said := []any{"basis", p.Basis, "waiting", len(s.Waiting), "launches", len(p.Launches),
		"withdrawals", len(p.Withdrawals), "removals", len(p.Removals()), "unplaced", unplaced, "tookSeconds", took.Seconds(), "costUSDPerHour", p.CostAfter.Dollars()}
	if len(p.Launches) > 0 {
		said = append(said, "launchCostUSDPerHour", p.LaunchCost().Dollars(), "likelyCostUSDPerHour", p.Promise().Dollars())
		t.measureCost(p)
	}
	if gap, ok := p.Gap(); ok {
		said = append(said, "boundUSDPerHour", p.Bound.Dollars(), "gapPercent", math.Round(1000*max(0, gap))/10)
	}
	t.Log.Info("made a plan", said...)
}

// Sought measures a search for nodes that may go.
func (t *Recorder) Sought(took time.Duration) { t.Metrics.SearchSeconds.Observe(took.Seconds()) }

// measureCost sets the gauges of what launches cost and of what binds.
func (t *Recorder) measureCost(p plan.Plan) {
	gap, ok := p.Gap()
	if !ok {
		gap = math.NaN()
	}
	t.Metrics.PlanCost.Set(float64(p.LaunchCost()) / 1e6)
	t.Metrics.PlanBound.Set(float64(p.Bound) / 1e6)
	t.Metrics.PlanGap.Set(gap)
	t.Metrics.PlanMargin.Reset()
	for _, m := range p.Margins {
		t.Metrics.PlanMargin.WithLabelValues(m.Resource, m.Zone).Set(float64(m.Price) / 1e6)
	}
}

// Explain reports to pods what a plan has for them, once its launches are being launched:
// no instance waits for that.
func (t *Recorder) Explain(s *cluster.Snapshot, p plan.Plan) {
	t.recordPools(s)
	unplaced := t.withoutNew(s.Now, p.Unplaced)
	t.reportUnplaced(s.Now, unplaced)
	t.reportMinValues(unplaced)
	t.reportLimits(unplaced)
	for i := range p.Short {
		if text := missing(s, &p.Short[i]); text != "" {
			t.warnPool(p.Short[i].Pool, "NodesMissing", text, "missing")
		}
	}
	t.reportPlaced(s, p.Placements)
	t.reportKept(s, p.Kept)
	t.measureKept(s, &p)
	t.reportDropped(&p)
}

// reportPlaced reports to pods the node or the instance being launched that they are
// expected on, once: a node is the same place as the claim it was launched by.
func (t *Recorder) reportPlaced(s *cluster.Snapshot, list []plan.Placement) {
	claims := map[string]string{}
	for i := range s.Nodes {
		claims[s.Nodes[i].Name] = s.Nodes[i].Claim
	}
	instances := make(map[string]*cluster.Instance, len(s.Instances))
	for i := range s.Instances {
		instances[s.Instances[i].Claim] = &s.Instances[i]
	}
	before := t.nominations
	t.nominations = make(map[string]string, len(list))
	for _, pl := range list {
		if known, ok := before[pl.Pod.UID]; ok {
			t.nominations[pl.Pod.UID] = known
		}
		switch pl.On {
		case plan.OnNode:
			t.nominated(pl.Pod, cmp.Or(claims[pl.Target], pl.Target), "node/"+pl.Target)
		case plan.OnInstance:
			t.nominated(pl.Pod, pl.Target, "nodeclaim/"+pl.Target+coming(instances[pl.Target]))
		case plan.OnLaunch: // reported when the claim is there
		}
	}
}

// coming says of an instance that is no node yet what it is, and how far; nil: nothing.
func coming(m *cluster.Instance) string {
	if m == nil {
		return ""
	}
	kind, _ := m.Labels.Get(cluster.LabelInstanceType)
	zone, _ := m.Labels.Get(cluster.LabelZone)
	option, _ := m.Labels.Get(cluster.LabelCapacityType)
	if m.Launched {
		return offered(kind, zone, option, "has not joined the cluster yet")
	}
	return offered(kind, zone, option, "is launched now")
}

// offered is a part of a sentence about an instance.
func offered(kind, zone, option, state string) string {
	words := slices.DeleteFunc([]string{option, kind}, func(w string) bool { return w == "" })
	if zone != "" {
		words = append(words, "in "+zone)
	}
	return " (" + strings.Join(append(words, state), " ") + ")"
}

// nominated reports to a pod where it is expected, unless the place is the same as before.
func (t *Recorder) nominated(p cluster.Pod, place, words string) {
	if t.nominations[p.UID] == place || t.Nominations != nil && !t.Nominations.TryAccept() {
		return
	}
	if t.nominations == nil {
		t.nominations = map[string]string{}
	}
	t.nominations[p.UID] = place
	t.Events.Publish(observe.Event{About: podRef(p), Key: "Pod/" + p.UID, Reason: "Nominated",
		Message: "Pod should schedule on: " + words})
}

// quietFor is how long no event is published about pods that only wait for pools which are
// not ready: that is how every pool begins.
const quietFor = 10 * time.Second

// recordPools keeps since when nothing can be launched from a pool.
func (t *Recorder) recordPools(s *cluster.Snapshot) {
	before := t.openSince
	t.openSince = map[cluster.PoolID]time.Time{}
	for i := range s.Pools {
		if p := &s.Pools[i]; p.NotReady != "" {
			since, known := before[p.ID]
			if !known {
				since = s.Now
			}
			t.openSince[p.ID] = since
		}
	}
}

// withoutNew leaves out pods that wait for nothing but pools which are not
// ready and may be so any moment: those of every reason that names a pool. What
// sums up pools farther away, and names none, does not count beside them.
func (t *Recorder) withoutNew(now time.Time, list []plan.Unplaced) []plan.Unplaced {
	onlyNew := func(u plan.Unplaced) bool {
		found := false
		for _, r := range u.Reasons {
			if r.Pool == (cluster.PoolID{}) {
				continue
			}
			since, open := t.openSince[r.Pool]
			if !open {
				return false
			}
			found = found || now.Sub(since) < quietFor || t.becoming(r.Pool)
		}
		return found
	}
	return slices.DeleteFunc(slices.Clone(list), onlyNew)
}

func (t *Recorder) becoming(pool cluster.PoolID) bool { return t.Becoming != nil && t.Becoming(pool) }

// Gathered reports that claims could not be made to wait for each other; the consequence is
// that kube-scheduler may crowd pods on the first of their nodes.
func (t *Recorder) Gathered(err error) {
	if err != nil {
		t.Log.Warn("not all nodeclaims are annotated with the pods that they are for; the next plan tries again", "error", err)
	}
}

// Launched reports claims that were created, or could not be.
func (t *Recorder) Launched(list []apply.Launched) {
	for _, l := range list {
		if errors.Is(l.Err, apply.ErrPoolChanged) {
			t.Log.Info("created no nodeclaim: the cluster has changed since the plan", "pool", translate.Called(l.Launch.Pool), "reason", l.Err.Error())
			continue
		}
		if l.Err != nil {
			t.Log.Error("could not create a nodeclaim", "pool", translate.Called(l.Launch.Pool), "error", l.Err.Error())
			t.reportRefusal(l.Launch, l.Err)
			continue
		}
		t.Metrics.ClaimsCreated.WithLabelValues("provisioned", translate.Called(l.Launch.Pool), relaxed(l.Launch)).Inc()
		c := l.Launch.Choice
		said := []any{"claim", l.Claim.Name, "pool", translate.Called(l.Launch.Pool), "pods", len(l.Launch.Pods),
			"type", c.Kind, "zone", c.Zone, "capacityType", string(c.Option)}
		said = append(said, priceOf(c)...)
		if len(l.Launch.Notes) > 0 {
			said = append(said, "notes", strings.Join(l.Launch.Notes, "; "))
		}
		t.Log.Info("created nodeclaim", said...)
		t.sayLaunching(&l.Launch)
		if t.Pods != nil {
			t.Pods.Ordered(l.Claim.Name, l.Launch.Pods)
		}
		for _, p := range l.Launch.Pods {
			t.nominated(p, l.Claim.Name, "nodeclaim/"+l.Claim.Name+offered(c.Kind, c.Zone, string(c.Option), "is launched now"))
		}
	}
}

// Withdrawn reports launches that were withdrawn, or could not be.
func (t *Recorder) Withdrawn(list []apply.Withdrawn) {
	for _, w := range list {
		said := []any{"claim", w.Claim, "pool", translate.Called(w.Pool)}
		switch {
		case w.Err == nil:
			t.Log.Info("withdrew a nodeclaim", append(said, "reason", w.Note)...)
			t.Events.Publish(observe.Event{About: w.Object, Key: "NodeClaim/" + w.Claim, Reason: "Withdrawn",
				Message: "No longer needed: " + w.Note + "; no instance is launched for it, unless the launch is already under way"})
		case errors.Is(w.Err, apply.ErrOrderChanged):
			t.Log.Info("did not withdraw a nodeclaim: the cluster has changed since the plan", append(said, "reason", w.Err.Error())...)
		default:
			t.Log.Error("could not withdraw a nodeclaim", append(said, "error", w.Err.Error())...)
		}
	}
}

// inWords names what the plan would like best; what is launched may be another.
// priceOf is the field of a log line with the price, where it is known.
func priceOf(c plan.Choice) []any {
	if !c.Priced {
		return nil
	}
	return []any{"priceUSDPerHour", c.Price.Dollars()}
}

func relaxed(l plan.Launch) string {
	if l.Relaxed {
		return "true"
	}
	return "false"
}

// podRef is enough of a pod to hang an event on.
func podRef(p cluster.Pod) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: types.UID(p.UID)},
	}
}
