// Package trace records OpenTelemetry spans: how long each step from pending pods to an initialized
// node took. A batch of pods is a trace.
//
// It gets what metrics and events get: rounds and plans from the planner, calls from the launcher,
// NodeClaims from the watches. It joins the steps of one NodeClaim by its name, whichever loop does
// them.
//
// It promises that a nil *Tracer costs nothing, that spans carry names, counts, types and zones but no
// text of users or of AWS, and that it keeps nothing of what has ended. It sends no span anywhere, and
// it does not know what an earlier process began.
package trace

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/translate"
)

// Tracer makes the spans. Spans and Now must be set; it is safe for concurrent use, and every
// method of a nil one does nothing.
type Tracer struct {
	Spans trace.Tracer
	Now   func() time.Time

	mu       sync.Mutex
	round    Round             // reported, and its plan not yet
	last     *batch            // of the last round; nil: that was none of a batch
	searched *batch            // whose round began the search for nodes that may go
	open     map[*batch]bool   // that have not ended
	claims   map[string]*claim // by name, those that are not initialized yet
}

// openFor is how long a trace may be under way: a NodeClaim that has not registered after 15 minutes is deleted. What
// is longer is of a NodeClaim whose end was not seen, as when it went before it was known for which batch it was.
const openFor = time.Hour

// Round is when the parts of a round of the planner were.
type Round struct {
	OpenedAt time.Time     // the batch window; zero: none was open
	BeganAt  time.Time     // the round, with which the window closed
	PlanAt   time.Time     // the decision, which may have been made ahead, while the window was open
	PlanFor  time.Duration // how long the decision took
}

// batch is a trace that is under way: pods that are planned together, and the NodeClaims for
// them.
type batch struct {
	ctx       context.Context // of the root
	span      trace.Span
	plannedAt time.Time
	claims    int  // that are not initialized
	reported  bool // no further NodeClaim is created for it
}

// Round records when the parts of a round were. Its plan is reported next.
func (t *Tracer) Round(r Round) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.round = r
}

// Planned begins a trace where the plan is that of a batch of pods, or launches anything.
func (t *Tracer) Planned(s *cluster.Snapshot, p plan.Plan, _ time.Duration) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.round
	t.round, t.last = Round{}, nil
	if r.OpenedAt.IsZero() && len(p.Launches) == 0 {
		return
	}
	now := t.Now()
	t.expire(now)
	ahead := r.PlanAt.Before(r.BeganAt)
	began := r.BeganAt
	if ahead {
		began = r.PlanAt
	}
	first := began
	if !r.OpenedAt.IsZero() && r.OpenedAt.Before(first) {
		first = r.OpenedAt
	}
	b := t.begin("provisioning", first, pods(len(s.Waiting)), nodeClaims(len(p.Launches)))
	b.plannedAt, t.last = now, b
	if !r.OpenedAt.IsZero() {
		t.span(b.ctx, "batch window", r.OpenedAt, r.BeganAt)
	}
	ctx, planning := t.Spans.Start(b.ctx, "plan", trace.WithTimestamp(began), trace.WithAttributes(
		attribute.Int64("daemok.plan.basis", int64(p.Basis)), pods(len(s.Waiting)), nodeClaims(len(p.Launches)), attribute.Int("daemok.nodes", len(s.Nodes)),
		attribute.Int("daemok.pods.unplaced", p.PodsUnplaced()), attribute.Int64("daemok.plan.steps", p.Steps), attribute.Bool("daemok.plan.exhausted", p.Exhausted),
		attribute.Bool("daemok.plan.ahead", ahead)))
	t.span(ctx, "scheduling", r.PlanAt, r.PlanAt.Add(r.PlanFor))
	planning.End(trace.WithTimestamp(now))
}

// Searching notes that the search for nodes that may go begins after the last plan.
func (t *Tracer) Searching() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.searched = t.last
}

// Sought reports that this search took so long.
func (t *Tracer) Sought(took time.Duration) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.searched != nil {
		now := t.Now()
		t.span(t.searched.ctx, "search", now.Add(-took), now)
		t.searched = nil
	}
}

// Launched takes in the NodeClaims that were created for the last plan.
func (t *Tracer) Launched(list []apply.Launched) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		return
	}
	for i := range list {
		if list[i].Err != nil {
			t.last.span.AddEvent("NodeClaim not created", trace.WithTimestamp(t.Now()), trace.WithAttributes(nodePool(translate.Called(list[i].Launch.Pool))))
			continue
		}
		t.adopt(t.last, &list[i])
	}
}

// Replacing begins a trace of a NodeClaim that takes the place of nodes.
func (t *Tracer) Replacing(m plan.Move, l apply.Launched) {
	if t == nil || l.Err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.Now()
	if c := t.claims[l.Claim.Name]; c != nil {
		now = c.at[created]
	}
	b := t.begin("replacement", now, attribute.Int("daemok.nodes.removed", len(m.Removals)), nodeClaims(1))
	if len(m.Removals) > 0 {
		b.span.SetAttributes(attribute.String("daemok.disruption.reason", string(m.Removals[0].Reason)))
	}
	b.plannedAt, b.reported = now, true
	t.adopt(b, &l)
	t.finish(b)
}

// Explain reports that a plan is carried out: no NodeClaim is created for it any more.
func (t *Tracer) Explain(*cluster.Snapshot, plan.Plan) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last != nil {
		t.last.reported = true
		t.finish(t.last)
	}
}

// Gathered is no part of a trace.
func (t *Tracer) Gathered(error) {}

// Withdrawn is no part of a trace: a NodeClaim that was withdrawn ends with its deletion.
func (t *Tracer) Withdrawn([]apply.Withdrawn) {}

// Stuck is no part of a trace.
func (t *Tracer) Stuck(plan.Move, error) {}

// Moved is no part of a trace.
func (t *Tracer) Moved(apply.Ended) {}

// OfPlan is the ID of the trace of the last plan; empty: it has none, or is not sampled.
func (t *Tracer) OfPlan() string {
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last.id()
}

// OfClaim is the ID of the trace of a NodeClaim that is not initialized yet; empty likewise.
func (t *Tracer) OfClaim(name string) string {
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.claims[name]; c != nil {
		return c.batch.id()
	}
	return ""
}

// handedOver says of what is under way when a controller ends that it goes on: another controller took over, whose traces it is no part of.
var handedOver = attribute.String("daemok.end", "another controller took over")

// End ends all spans that are under way, as the process does. What they are of goes on, so that is no error.
func (t *Tracer) End() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.Now()
	for name, c := range t.claims {
		c.leaveOpen(now)
		delete(t.claims, name)
	}
	for b := range t.open {
		b.span.SetAttributes(handedOver)
		b.span.End(trace.WithTimestamp(now))
		delete(t.open, b)
	}
}

// begin begins a trace.
func (t *Tracer) begin(name string, at time.Time, about ...attribute.KeyValue) *batch {
	b := &batch{}
	b.ctx, b.span = t.Spans.Start(context.Background(), name, trace.WithNewRoot(), trace.WithTimestamp(at), trace.WithAttributes(about...))
	if t.open == nil {
		t.open = map[*batch]bool{}
	}
	t.open[b] = true
	return b
}

// expire ends what has been under way for too long.
func (t *Tracer) expire(now time.Time) {
	for name, c := range t.claims {
		if now.Sub(c.at[created]) > openFor {
			c.fail("its end was not seen", now)
			t.drop(name, c)
		}
	}
}

// finish ends a trace that nothing is to come of any more.
func (t *Tracer) finish(b *batch) {
	if b.reported && b.claims == 0 && t.open[b] {
		b.span.End(trace.WithTimestamp(t.Now()))
		delete(t.open, b)
	}
}

// span is one that is over.
func (t *Tracer) span(ctx context.Context, name string, from, to time.Time, about ...attribute.KeyValue) trace.Span {
	_, s := t.Spans.Start(ctx, name, trace.WithTimestamp(from), trace.WithAttributes(about...))
	s.End(trace.WithTimestamp(to))
	return s
}

// id is that of the trace; empty where there is none, or nothing of it is sent.
func (b *batch) id() string {
	if b == nil || !b.span.SpanContext().IsSampled() {
		return ""
	}
	return b.span.SpanContext().TraceID().String()
}

func pods(n int) attribute.KeyValue           { return attribute.Int("daemok.pods", n) }
func nodeClaims(n int) attribute.KeyValue     { return attribute.Int("daemok.nodeclaims", n) }
func nodePool(name string) attribute.KeyValue { return attribute.String("daemok.nodepool", name) }
func choice(kind, zone, option string) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("host.type", kind), attribute.String("cloud.availability_zone", zone), attribute.String("daemok.capacity_type", option)}
}
