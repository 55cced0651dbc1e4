package planner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// Decisions about nodes, in the words of Karpenter's metrics.
const (
	decisionDelete  = "delete"  // needs no other instance
	decisionReplace = "replace" // once instances in its place have started
)

// Moved says how letting nodes go ended.
func (t *Recorder) Moved(e apply.Ended) {
	for i := range e.Removals {
		if e.Gone[i] {
			t.gone(e.Removals[i], e.Claims[i], e.Policies[i])
		} else if e.Err != nil && !errors.Is(e.Err, context.Canceled) {
			t.kept(e.Removals[i], e.Err)
		}
	}
	t.countMove(e)
}

// gone reports a node that goes.
func (t *Recorder) gone(r plan.Removal, c *karpv1.NodeClaim, policy karpv1.ConsolidationPolicy) {
	d := observe.Disruption{Reason: reasonOf(r), Pool: translate.Called(r.Pool), Policy: string(policy), Node: r.Node}
	if c != nil {
		d.Option, d.Mode = c.Labels[api.LabelCapacityType], translate.TerminationMode(c)
	}
	t.Metrics.Disrupted(d)
	t.Log.Info("disrupting node(s)", "node", r.Node, "claim", r.Claim, "reason", string(r.Reason), "note", r.Note)
	t.Events.Publish(observe.Event{About: claimRef(r.Claim), Key: "NodeClaim/" + r.Claim, Reason: "DisruptionTerminating",
		Message: fmt.Sprintf("Disrupting NodeClaim: %s: %s", r.Reason, r.Note)})
}

// kept reports a node that stays after all. What has merely changed since the plan is for
// the log; what went wrong users should know.
func (t *Recorder) kept(r plan.Removal, err error) {
	said := []any{"node", r.Node, "claim", r.Claim, "reason", string(r.Reason)}
	if changed(err) {
		t.Log.Info("did not disrupt a node: the cluster has changed since the plan", append(said, "why", err.Error())...)
		return
	}
	t.Log.Error("could not disrupt a node", append(said, "error", err.Error())...)
	t.Events.Publish(observe.Event{About: claimRef(r.Claim), Key: "NodeClaim/" + r.Claim, Warning: true, Reason: "DisruptionBlocked",
		Message: fmt.Sprintf("Cannot disrupt NodeClaim: %s: %v", r.Reason, err), Topic: "blocked " + string(r.Reason)})
}

// changed reports whether the world was another when a move was carried out.
func changed(err error) bool {
	return errors.Is(err, apply.ErrChanged) || errors.Is(err, apply.ErrPoolChanged)
}

func (t *Recorder) countMove(e apply.Ended) {
	decision, reason, kind := decisionDelete, reasonOf(e.Removals[0]), consolidationType(e)
	if e.Replaces {
		decision = decisionReplace
	}
	switch {
	case e.Err == nil:
		t.Metrics.Decisions.WithLabelValues(decision, reason, kind).Inc()
		reported := map[cluster.PoolID]bool{}
		for i, r := range e.Removals {
			if reported[r.Pool] {
				continue
			}
			reported[r.Pool] = true
			t.Metrics.DecisionsByPool.WithLabelValues(translate.Called(r.Pool), decision, reason, kind).Inc()
			if e.Policies[i] != "" {
				labels := []string{decision, translate.Called(r.Pool), string(e.Policies[i])}
				t.Metrics.SavingMoves.WithLabelValues(labels...).Inc()
				t.Metrics.MoveScores.WithLabelValues(labels...) // a series without scores
			}
		}
	case errors.Is(e.Err, context.Canceled):
	case changed(e.Err):
		t.Metrics.FailedValidations.WithLabelValues(kind).Inc()
	default:
		t.Metrics.FailedRemovals.WithLabelValues(decision, reason, kind).Inc()
	}
}

// consolidationType is how Karpenter calls the search that finds such a move;
// empty for what saves no money.
func consolidationType(e apply.Ended) string {
	switch {
	case e.Removals[0].Reason == plan.Empty:
		return "empty"
	case e.Removals[0].Reason != plan.Underutilized:
		return ""
	case e.Together > 1:
		return "multi"
	}
	return "single"
}

func reasonOf(r plan.Removal) string { return strings.ToLower(string(r.Reason)) }

// Replacing reports a replacement that is being launched for nodes, or could not be.
func (t *Recorder) Replacing(m plan.Move, l apply.Launched) {
	nodes := make([]string, len(m.Removals))
	for i, r := range m.Removals {
		nodes[i] = r.Node
	}
	said := []any{"pool", translate.Called(l.Launch.Pool), "replaces", strings.Join(nodes, ","), "reason", string(m.Removals[0].Reason)}
	if l.Err != nil {
		t.Log.Error("could not create a replacement nodeclaim", append(said, "error", l.Err.Error())...)
		t.reportRefusal(l.Launch, l.Err)
		return
	}
	t.Metrics.ClaimsCreated.WithLabelValues(reasonOf(m.Removals[0]), translate.Called(l.Launch.Pool), relaxed(l.Launch)).Inc()
	c := l.Launch.Choice
	said = append(append(said, "claim", l.Claim.Name, "type", c.Kind, "zone", c.Zone, "capacityType", string(c.Option)), priceOf(c)...)
	t.Log.Info("created nodeclaim", said...)
	event := observe.Event{About: l.Claim, Key: "NodeClaim/" + l.Claim.Name, Reason: "DisruptionLaunching",
		Message: fmt.Sprintf("Launching NodeClaim: %s: in place of %s", m.Removals[0].Reason, strings.Join(nodes, ", "))}
	t.Events.Publish(event)
	event.Reason, event.Message = "DisruptionWaitingReadiness", "Waiting on readiness to continue disruption"
	t.Events.Publish(event)
}

// Stuck says that a move cannot go on, since it is not known whether what it depends on
// still holds.
func (t *Recorder) Stuck(m plan.Move, err error) {
	for _, r := range m.Removals {
		t.Log.Warn("nodes stay while the live state cannot be read", "node", r.Node, "claim", r.Claim, "error", err.Error())
		t.Events.Publish(observe.Event{About: claimRef(r.Claim), Key: "NodeClaim/" + r.Claim, Warning: true, Reason: "DisruptionBlocked",
			Message: fmt.Sprintf("Nothing is disrupted while the live state cannot be read: %v", err), Topic: "unread"})
	}
}

// claimRef is enough of a claim to hang an event on.
func claimRef(name string) *karpv1.NodeClaim {
	return &karpv1.NodeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: karpv1.GroupVersion.String(), Kind: "NodeClaim"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
	}
}
