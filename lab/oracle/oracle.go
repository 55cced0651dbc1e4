// Package oracle asks the real kube-scheduler whether it agrees with a plan.
//
// It makes random clusters, as Kubernetes objects, has the core plan for them, and replays the plan
// through the filter plugins of kube-scheduler's default profile: they must accept every pod that the
// plan places on the node where it is placed, and must refuse every pod that the plan leaves on every
// node. It reduces a disagreement to a small cluster that still shows it.
//
// It promises that a seed always gives the same cluster. It runs the plugins in this process, without
// an API server; it does not judge preferences, preemption or prices.
package oracle

import (
	"context"
	"fmt"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
)

// Kind is what a disagreement is about.
type Kind string

// The kinds of disagreement.
const (
	Refused Kind = "refused" // the plan places a pod where the scheduler would not
	Left    Kind = "left"    // the plan leaves a pod that the scheduler would place on what is there
	Unsold  Kind = "unsold"  // the plan leaves a pod that an instance of some pool would take
	Broken  Kind = "broken"  // there was no plan to judge
)

// Disagreement is one thing that the plan and the scheduler see differently.
type Disagreement struct {
	Kind   Kind
	Pod    string // namespace/name
	Node   string
	Plugin string // that refused; empty where nothing did
	Reason string // of the plugin, or of the plan
}

// String prints "refused: default/web-1 on new-1: NodePorts: node(s) ...".
func (d Disagreement) String() string {
	return fmt.Sprintf("%s: %s on %s: %s: %s", d.Kind, d.Pod, d.Node, d.Plugin, d.Reason)
}

// Like reports whether both are about the same rule.
func (d Disagreement) Like(e Disagreement) bool { return d.Kind == e.Kind && d.Plugin == e.Plugin }

// effort is that of a controller with its default settings.
var effort = decide.Effort{Place: 200_000_000, Pack: 20_000, Simulation: 1_000_000}

// Check has the core plan for the world and the scheduler judge the plan. It
// returns every disagreement, in the order of the plan.
func Check(ctx context.Context, w *World) ([]Disagreement, error) {
	s, err := w.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	p, trouble := decided(s)
	if trouble != nil {
		return []Disagreement{*trouble}, nil
	}
	for _, d := range []delivery{asChosen, byChance} {
		found, err := replay(ctx, w, s, p, d)
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	return nil, nil
}

// decided makes the plan; a panic on the way is a disagreement too, so that
// the world which leads there is cut down as any other.
func decided(s *cluster.Snapshot) (p *plan.Plan, trouble *Disagreement) {
	defer func() {
		if r := recover(); r != nil {
			p, trouble = nil, &Disagreement{Kind: Broken, Plugin: "core", Reason: fmt.Sprint(r)}
		}
	}()
	made := decide.Decide(s, decide.Policy{}, effort)
	return &made, nil
}
