package provisioning

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/supply"
)

// lister says what a launch leaves open: its offerings in order, within minValues and what EC2 takes.
type lister struct {
	pr *Provisioner
}

// Listing is what the launch of instances with one load leaves open, as a plan has it.
type Listing struct {
	plan.Launch                         // without name and pods
	*supply.Choices                     // that are left open
	option          int                 // launched first
	options         bitset.Set          // that are left open
	Ways            []constraint.Labels // the labels that it may have, as far as rules about other pods look at them
	Due             supply.Due
}

// List decides what an instance with the load may be.
func (li *lister) List(b *supply.Candidate, l *supply.Load) Listing {
	options, kinds := b.WithoutExpensiveSpot(b.WithCredits(l))
	options, kinds = b.Closed(options, kinds)
	options, kinds = b.OnlyReservedCapacities(options, kinds)
	open := b.ChoicesOf(options, kinds)
	out := Listing{Choices: open, option: options.Next(0), Launch: plan.Launch{
		Pool:      b.ID,
		Choice:    b.ChoiceFor(options.Next(0), l.Sum),
		RunnersUp: b.RunnersUpFor(open, options, l.Sum),
		Relaxed:   l.Relaxed,
		Requests:  open.Daemons,
		Reason:    plan.WaitText(int(l.Pods())),
	}}
	for _, p := range l.Parts {
		out.Requests = out.Requests.Add(li.pr.Groups[p.Group].Shape.Requests.Times(p.N))
	}
	out.Requirements, out.Labels = b.RequirementsFor(l, open)
	out.Requirements = b.Keepable(out.Requirements, l.Relaxed, options, kinds)
	out.Notes = li.notes(b, l, open, out.option)
	out.options = options
	if li.pr.Values.Counted {
		out.Ways, out.Due = li.Outlook(b, out.Labels, options)
	}
	return out
}

// instanceOf is an instance whose launch leaves these options open.
type instanceOf struct {
	pool    *supply.Candidate
	options bitset.Set
}

// Brings reports whether it may have such daemon pods, and surely has them.
func (i instanceOf) Brings(s *cluster.Shape) (may, sure bool) { return i.pool.Brings(s, i.options) }

// Outlook returns the labels that an instance may have, and the daemon pods that it may bring, as far as rules look at
// them.
func (li *lister) Outlook(b *supply.Candidate, labels constraint.Labels, options bitset.Set) ([]constraint.Labels, supply.Due) {
	return b.Ways(options, promised(b.Labels.Merge(labels)), li.pr.Values.Labels),
		li.pr.Values.DueAt(instanceOf{b, options})
}

// Launch launches one instance with this load.
func (pr *Provisioner) Launch(b *supply.Candidate, l *supply.Load, as *Listing) {
	out := as.Launch
	out.Name = pr.Lister.NextName()
	out.Pods = make([]cluster.Pod, 0, l.Pods())
	taken := make([]Taking, 0, len(l.Parts))
	for _, p := range l.Parts {
		g := pr.Groups[p.Group]
		pods := g.Next(p.N)
		pr.outstanding.take(g, p.N)
		g.Touch()
		for _, w := range pods {
			out.Pods = append(out.Pods, *w.Pod)
		}
		taken = append(taken, Taking{g, pods})
		pr.Board.PutSomewhere(g.Level.Rules, p.N)
	}
	slices.SortFunc(out.Pods, plan.ByName)
	at := Launched{Candidate: b, Ways: as.Ways, Due: as.Due, Options: as.options, Taken: taken, Free: slices.Clone(as.Free),
		ReservedCapacities: b.ReservedCapacitiesOf(as.option)}
	at.Cost, at.Unpriced = pr.Lister.bill(b, b.LeastInterrupted(as.options, l.Sum), l)
	at.Risk = b.RiskOf(as.option)
	at.Cost += at.Risk
	amount.Take(at.Free, l.Sum, 1)
	at.Free[amount.CPU] = max(0, at.Free[amount.CPU]) // negative where surplus credits are used
	if b.Remaining != nil {
		at.Limited = b.Remaining.Largest(as.options)
		b.Remaining.Use(at.Limited)
		pr.Narrow(b)
	}
	pr.Reserved.Take(at.ReservedCapacities)
	pr.Launched = append(pr.Launched, at)
	pr.Launches = append(pr.Launches, &out)
}

// Narrow keeps the options of the pool that limits still allow, and of others that share limits with it.
func (pr *Provisioner) Narrow(b *supply.Candidate) {
	for _, other := range pr.Candidates {
		if other == b || other.Shares(b) {
			other.Narrow()
		}
	}
}

// bill is what an instance with the load costs. Where its price is not known, it is what its resources are worth at
// prices that are the same in every answer.
func (li *lister) bill(b *supply.Candidate, option int, l *supply.Load) (cost, unpriced float64) {
	if !b.Offering(b.Options[option]).Priced {
		return 0, amount.Value(li.pr.Values.Usual(), b.Free[b.Options[option].Kind])
	}
	return b.CostFor(option, l.Sum), 0
}

// NextName is the name of the instance that is launched next.
func (li *lister) NextName() string { return fmt.Sprintf("new-%d", len(li.pr.Launched)+1) }

// Taking is pods of a group that an instance is launched for.
type Taking struct {
	Group *demand.Group
	Pods  []demand.WaitingPod
}

// Launched is an instance of this plan, with what rules about other pods and further pods need to know of it.
type Launched struct {
	Candidate          *supply.Candidate
	Ways               []constraint.Labels // the labels that it may have; see Listing
	Due                supply.Due
	Cost               float64                    // what counts when instances are compared; 0 where the price is not known
	Risk               float64                    // of that: what interruptions are likely to cost
	Unpriced           float64                    // see place.Result
	Free               []int64                    // left for pods, whichever instance type it becomes
	Place              int                        // on the board
	Options            bitset.Set                 // that it may become
	Limited            []supply.Take              // what limits set aside for it
	ReservedCapacities []cluster.ReservedCapacity // what it is taken from
	Taken              []Taking                   // pods that it was launched for
	Gone               bool                       // it is not launched after all
}

// promised adds the labels that every node gets which Daemok launches.
func promised(labels constraint.Labels) constraint.Labels {
	var more constraint.Labels
	for _, key := range feasibility.Promised() {
		more = more.With(key, "true")
	}
	return labels.Merge(more)
}
