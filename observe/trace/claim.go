package trace

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// What a NodeClaim goes through, in order.
const (
	created = iota
	launched
	registered
	initialized
	stages
)

// spanOf names the span that ends with each. It is never written.
var spanOf = [stages]string{"create", "launch", "registration", "initialization"}

// conditionOf is the condition that says so. It is never written.
var conditionOf = [stages]string{launched: karpv1.ClaimLaunched, registered: karpv1.ClaimRegistered, initialized: karpv1.ClaimInitialized}

// claim is a NodeClaim on its way. It may be seen before it is known for which batch it was
// created, and a call may be made for it: until then times and calls are kept.
type claim struct {
	batch *batch // nil: that is not known yet
	ctx   context.Context
	span  trace.Span
	at    [stages]time.Time // zero until it comes

	ended  int                  // stages whose spans have ended
	about  []attribute.KeyValue // what it has become, before it is known for which batch it was created
	launch trace.Span           // is under way from created to launched, so that calls are parts of it
	inside context.Context
	calls  []call
}

// call is one that launched instances, or was to.
type call struct {
	from, to  time.Time
	instances int
	err       error
}

// Seen takes in a NodeClaim as a watch shows it; isNew: it was not there before.
func (t *Tracer) Seen(c *karpv1.NodeClaim, isNew bool) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.Now()
	if isNew && t.claims[c.Name] == nil {
		t.track(c.Name, now)
	}
	on := t.claims[c.Name]
	if on == nil {
		return
	}
	if c.DeletionTimestamp != nil {
		t.leave(c.Name, now)
		return
	}
	for stage := launched; stage < stages && condition.IsTrue(c, conditionOf[stage]); stage++ {
		if on.at[stage].IsZero() {
			on.at[stage] = now
			on.describe(stage, c)
		}
	}
	t.proceed(c.Name, on)
}

// Gone takes in that a NodeClaim is there no more.
func (t *Tracer) Gone(name string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leave(name, t.Now())
}

// Called takes in a call that has been made since then for the instances of these NodeClaims:
// so many came, and err says why not all.
func (t *Tracer) Called(names []string, from time.Time, instances int, err error) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range names {
		if on := t.claims[name]; on != nil {
			on.calls = append(on.calls, call{from, t.Now(), instances, err})
			t.proceed(name, on)
		}
	}
}

// track begins to follow a NodeClaim that was created.
func (t *Tracer) track(name string, at time.Time) *claim {
	if t.claims == nil {
		t.claims = map[string]*claim{}
	}
	on := &claim{}
	on.at[created] = at
	t.claims[name] = on
	return on
}

// adopt takes in for which batch a NodeClaim was created.
func (t *Tracer) adopt(b *batch, l *apply.Launched) {
	name, p := l.Claim.Name, l.Launch
	on := t.claims[name]
	if on == nil {
		on = t.track(name, t.Now())
	}
	on.batch = b
	b.claims++
	about := append(choice(p.Choice.Kind, p.Choice.Zone, string(p.Choice.Option)),
		attribute.String("daemok.nodeclaim", name), nodePool(translate.Called(p.Pool)), pods(len(p.Pods)))
	on.ctx, on.span = t.Spans.Start(b.ctx, "nodeclaim", trace.WithTimestamp(b.plannedAt), trace.WithAttributes(append(about, on.about...)...))
	on.about = nil
	t.proceed(name, on)
}

// describe says what a NodeClaim has become.
func (on *claim) describe(stage int, c *karpv1.NodeClaim) {
	var about []attribute.KeyValue
	switch stage {
	case launched:
		about = choice(c.Labels[api.LabelInstanceType], c.Labels[api.LabelZone], c.Labels[api.LabelCapacityType])
	case registered:
		about = []attribute.KeyValue{attribute.String("k8s.node.name", c.Status.NodeName)}
	}
	if on.span == nil {
		on.about = append(on.about, about...)
		return
	}
	on.span.SetAttributes(about...)
}

// proceed ends the spans of what has come, in order.
func (t *Tracer) proceed(name string, on *claim) {
	if on.batch == nil {
		if !on.at[initialized].IsZero() {
			delete(t.claims, name) // of no batch
		}
		return
	}
	for ; on.ended < stages; on.ended++ {
		from := on.batch.plannedAt
		if on.ended > created {
			from = on.at[on.ended-1]
		}
		if on.ended == launched {
			t.launching(on, from)
		}
		to := on.at[on.ended]
		switch {
		case to.IsZero():
			return
		case on.ended == launched:
			on.launch.End(trace.WithTimestamp(to))
		default:
			t.span(on.ctx, spanOf[on.ended], from, to)
		}
	}
	on.span.End(trace.WithTimestamp(on.at[initialized]))
	t.drop(name, on)
}

// launching begins the span of the launch, with the calls that were made.
func (t *Tracer) launching(on *claim, from time.Time) {
	if on.launch == nil {
		on.inside, on.launch = t.Spans.Start(on.ctx, spanOf[launched], trace.WithTimestamp(from))
	}
	for _, made := range on.calls {
		_, s := t.Spans.Start(on.inside, "CreateFleet", trace.WithTimestamp(made.from), trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(attribute.Int("daemok.instances", made.instances)))
		if made.err != nil {
			s.SetStatus(codes.Error, observe.CloudError(made.err))
		}
		s.End(trace.WithTimestamp(made.to))
	}
	on.calls = nil
}

// leave ends the spans of a NodeClaim that goes before it is initialized.
func (t *Tracer) leave(name string, now time.Time) {
	on := t.claims[name]
	if on == nil {
		return
	}
	on.fail("deleted before it was initialized", now)
	t.drop(name, on)
}

// fail ends what is under way of a NodeClaim.
func (on *claim) fail(why string, now time.Time) {
	if on.batch == nil {
		return
	}
	on.span.SetStatus(codes.Error, why)
	on.end(now)
}

// leaveOpen ends the spans of a claim that goes on, and that another controller manages from now on.
func (on *claim) leaveOpen(now time.Time) {
	if on.batch == nil {
		return
	}
	on.span.SetAttributes(handedOver)
	on.end(now)
}

// end ends the spans of a claim that are under way.
func (on *claim) end(now time.Time) {
	if on.launch != nil && on.ended == launched {
		on.launch.End(trace.WithTimestamp(now))
	}
	on.span.End(trace.WithTimestamp(now))
}

// drop forgets a NodeClaim, and ends its trace where it was the last.
func (t *Tracer) drop(name string, on *claim) {
	delete(t.claims, name)
	if on.batch != nil {
		on.batch.claims--
		t.finish(on.batch)
	}
}
