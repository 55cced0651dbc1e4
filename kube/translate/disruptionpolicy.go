package translate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	"github.com/daemok/daemok/kube/api/validate"
)

// DisruptionPolicy is what a DisruptionPolicy asks for, read once.
type DisruptionPolicy struct {
	Object  *v1alpha1.DisruptionPolicy
	Wrong   string // why it is not understood; then nothing goes by choice
	Payback cluster.Payback

	selects func(PoolObject) bool
	windows []dayWindow
}

// ReadDisruptionPolicy reads a policy, which must not be written any more. One
// that is not understood keeps the nodes of every pool that it selects, and those
// of all pools where even that is not understood: a slip of the pen never costs a
// node.
func ReadDisruptionPolicy(o *v1alpha1.DisruptionPolicy) DisruptionPolicy {
	p := DisruptionPolicy{Object: o, selects: selectedBy(o.Spec.NodePools)}
	if p.Wrong = validate.Refusal(validate.DisruptionPolicy(o)); p.Wrong != "" {
		return p
	}
	for _, w := range o.Spec.Windows {
		p.windows = append(p.windows, readDayWindow(w))
	}
	p.Payback = readPayback(o.Spec.Payback)
	return p
}

func selectedBy(s *v1alpha1.NodePoolSelection) func(PoolObject) bool {
	switch {
	case s == nil:
		return func(PoolObject) bool { return true }
	case s.Selector == nil:
		return func(o PoolObject) bool { return o.ID.Kind == KindNodePool && slices.Contains(s.Names, o.ID.Name) }
	}
	selector, err := metav1.LabelSelectorAsSelector(s.Selector)
	if err != nil {
		return func(PoolObject) bool { return true }
	}
	return func(o PoolObject) bool { return selector.Matches(labels.Set(o.Object.GetLabels())) }
}

func readPayback(p *v1alpha1.Payback) cluster.Payback {
	if p == nil {
		return cluster.Payback{}
	}
	out := cluster.Payback{Off: p.Disabled}
	out.PodDollars, _ = strconv.ParseFloat(p.PodCost, 64) // admission has examined both
	percent, _ := strconv.ParseFloat(strings.TrimSuffix(p.MinSavings, "%"), 64)
	out.LeastShare = percent / 100
	return out
}

// Name names the policy for people.
func (p *DisruptionPolicy) Name() string { return "DisruptionPolicy " + p.Object.Name }

// Selects reports whether the policy is about the pool.
func (p *DisruptionPolicy) Selects(o PoolObject) bool { return p.selects(o) }

// Closed says why no node of the policy's pools may go by choice at a moment, as
// far as the policy itself says so; empty: they may. The moment at which that
// changes by the clock is zero where it does not.
func (p *DisruptionPolicy) Closed(now time.Time) (why string, changes time.Time) {
	if p.Wrong != "" {
		return fmt.Sprintf("%s is not understood: %s", p.Name(), p.Wrong), time.Time{}
	}
	if at := p.trippedAt(); !at.IsZero() {
		return fmt.Sprintf("the breaker of %s tripped: %s; to close it: %s", p.Name(), p.Object.Status.Breaker.Why, p.Acknowledge(at)), time.Time{}
	}
	open, changes := openAt(p.windows, now)
	if !open {
		return fmt.Sprintf("no window of %s is open, the next opens %s", p.Name(), changes.Format(time.RFC3339)), changes
	}
	return "", changes
}

// NextOpens is when the next window opens; zero: one is open, or there are none.
func (p *DisruptionPolicy) NextOpens(now time.Time) time.Time {
	if open, opens := openAt(p.windows, now); !open {
		return opens
	}
	return time.Time{}
}

// trippedAt is since when the breaker keeps every node; zero: it does not, or
// that was acknowledged.
func (p *DisruptionPolicy) trippedAt() time.Time {
	b := p.Object.Status.Breaker
	if b == nil || b.TrippedAt == nil || p.Object.Spec.Breaker == nil || p.Acknowledged() {
		return time.Time{}
	}
	return b.TrippedAt.Time
}

// Acknowledged reports whether a user has acknowledged that the breaker tripped: this very time, so
// that an old acknowledgement closes no breaker.
func (p *DisruptionPolicy) Acknowledged() bool {
	b := p.Object.Status.Breaker
	at, err := time.Parse(time.RFC3339, p.Object.Annotations[api.AnnotationAcknowledged])
	return err == nil && b != nil && b.TrippedAt != nil && at.Equal(b.TrippedAt.Time)
}

// Acknowledge is the command that closes the breaker again.
func (p *DisruptionPolicy) Acknowledge(tripped time.Time) string {
	return fmt.Sprintf("kubectl annotate --overwrite disruptionpolicy %s %s=%s", p.Object.Name, api.AnnotationAcknowledged, tripped.UTC().Format(time.RFC3339))
}

// Hold is what all policies together say of one pool.
type Hold struct {
	Why     string    // no node goes by choice; empty: nodes may go
	Changes time.Time // when that, or that they may, changes by the clock; zero: never
	Payback cluster.Payback
}

// HoldOn sums up what policies say of a pool, of which each must be kept. The
// first that keeps its nodes is named.
func HoldOn(o PoolObject, policies []DisruptionPolicy, now time.Time) Hold {
	var out Hold
	for i := range policies {
		p := &policies[i]
		if !p.Selects(o) {
			continue
		}
		why, changes := p.Closed(now)
		if out.Why == "" {
			out.Why = why
		}
		out.Changes = sooner(out.Changes, changes)
		out.Payback = out.Payback.Stricter(p.Payback)
	}
	return out
}

// On is how a pool wants its nodes disrupted where policies hold as well.
func (h Hold) On(p cluster.Policy) cluster.Policy {
	p.Payback = p.Payback.Stricter(h.Payback)
	p.BudgetsChange = sooner(p.BudgetsChange, h.Changes)
	if h.Why != "" {
		none := cluster.Allowance{Closed: h.Why}
		p.Empty, p.Drifted, p.Underutilized = none, none, none
	}
	return p
}

// sooner is the earlier of two moments, where zero is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
