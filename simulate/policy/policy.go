// Package policy lists the policies that simulations compare, by name.
//
// Each is a decider over snapshots; simulate/rules has the rules by which other autoscalers decide.
package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/simulate/rules"
	"github.com/daemok/daemok/test/sim"
)

// Policy is a way to decide.
type Policy struct {
	Name    string
	Summary string // for people, a clause
	// decider makes one without any memory yet.
	decider   func() func(*cluster.Snapshot) plan.Plan
	forgetful bool          // it knows nothing of moves that were made
	every     time.Duration // it has to be asked so often; 0: when something changes
	taintOnly bool          // it does not choose which pods a Deployment deletes first
	variant   bool          // of another one: it is run only if it is named
}

// loopEvery is how often Karpenter and Cluster Autoscaler check the cluster.
const loopEvery = 10 * time.Second

// All returns every policy: this product's first.
func All() []Policy {
	return []Policy{
		{Name: "ours", Summary: "Daemok, as the controller decides", decider: func() func(*cluster.Snapshot) plan.Plan { return ours }},
		{Name: "uncommitted", Summary: "Daemok without knowledge of commitments", variant: true,
			decider: func() func(*cluster.Snapshot) plan.Plan { return uncommitted }},
		{Name: "plain", Summary: "a node goes if its pods fit on others, or if a cheaper instance holds them", decider: plainly, forgetful: true},
		{Name: "karpenter", Summary: "Karpenter, as its documentation says", decider: rules.Karpenter, forgetful: true, every: loopEvery, taintOnly: true},
		{Name: "karpenter-spot-to-spot", Summary: "Karpenter with its feature gate SpotToSpotConsolidation", decider: spotToSpot, forgetful: true, every: loopEvery, taintOnly: true, variant: true},
		{Name: "cluster-autoscaler", Summary: "Cluster Autoscaler, as its FAQ says", decider: rules.ClusterAutoscaler, forgetful: true, every: loopEvery, taintOnly: true},
		{Name: "untouched", Summary: "only empty nodes go", decider: func() func(*cluster.Snapshot) plan.Plan { return untouched }},
	}
}

func spotToSpot() func(*cluster.Snapshot) plan.Plan {
	return rules.KarpenterWith(rules.KarpenterOptions{SpotToSpot: true})
}

// Names lists the names of all policies.
func Names() []string { return namesOf(All()) }

// Usual lists the names of those that are run where none is named: all but variants of others.
func Usual() []string {
	return namesOf(slices.DeleteFunc(All(), func(p Policy) bool { return p.variant }))
}

func namesOf(list []Policy) (out []string) {
	for _, p := range list {
		out = append(out, p.Name)
	}
	return out
}

// Named returns policies by their names, once each, in the order given; the usual ones where none is. An error suggests
// what was probably meant.
func Named(names []string) ([]Policy, error) {
	all := All()
	if len(names) == 0 {
		names = Usual()
	}
	var out []Policy
	for _, name := range names {
		name = strings.TrimSpace(name)
		at := slices.IndexFunc(all, func(p Policy) bool { return p.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("there is no policy %q: use some of %s%s", name, strings.Join(Names(), ", "), nearest.DidYouMean(name, Names()))
		}
		if !slices.ContainsFunc(out, func(p Policy) bool { return p.Name == name }) {
			out = append(out, all[at])
		}
	}
	return out, nil
}

// World says how a virtual world is run in which the policy decides, with a new memory.
func (p Policy) World(seed uint64) sim.Options {
	return sim.Options{Seed: seed, Decide: p.decider(), Forgetful: p.forgetful, AskEvery: p.every, TaintOnly: p.taintOnly}
}

// uncommitted decides as the controller does where no commitments are listed.
func uncommitted(s *cluster.Snapshot) plan.Plan {
	without := *s
	without.Commitments = commitment.Commitments{}
	return ours(&without)
}

// ours decides as the controller does.
func ours(s *cluster.Snapshot) plan.Plan { return decide.Decide(s, decide.Policy{}, decide.Usual(s)) }
