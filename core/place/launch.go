package place

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/supply"
)

// lister says what a launch leaves open: its offerings in order, within minValues and what EC2 takes.
type lister struct {
	pr *provisioner
}

// listing is what instances with one load leave open, and how that is written
// down.
type listing struct {
	plan.Launch                         // without name and pods
	*supply.Choices                     // that are left open
	option          int                 // launched first
	options         bitset.Set          // that are left open
	ways            []constraint.Labels // that it may have, as far as rules about other pods look at them
	due supply.Due
}

// list decides what an instance with the load may be.
func (li *lister) list(b *supply.Candidate, l *supply.Load) listing {
	options, kinds := b.WithoutExpensiveSpot(b.WithCredits(l))
	if b.Parted {
		options, kinds = b.Closed(options, kinds)
	}
	options, kinds = b.OnlyReservedCapacities(options, kinds)
	open := b.ChoicesOf(options, kinds)
	out := listing{Choices: open, option: options.Next(0), Launch: plan.Launch{
		Pool:      b.ID,
		Choice:    b.ChoiceFor(options.Next(0), l.Sum),
		RunnersUp: b.RunnersUpFor(open, options, l.Sum),
		Relaxed:   l.Relaxed,
		Requests:  open.Daemons,
		Reason:    waitText(int(l.Pods())),
	}}
	for _, p := range l.Parts {
		out.Requests = out.Requests.Add(li.pr.groups[p.Group].Shape.Requests.Times(p.N))
	}
	out.Requirements, out.Labels = b.RequirementsFor(l, open)
	out.Requirements = b.Keepable(out.Requirements, l.Relaxed, options, kinds)
	out.Notes = li.notes(b, l, open, out.option)
	out.options = options
	if li.pr.values.Counted {
		out.ways, out.due = li.outlook(b, out.Labels, options)
	}
	return out
}

// outlook is the labels that an instance may have, and the daemon pods that it
// may bring, as far as rules look at them.
func (li *lister) outlook(b *supply.Candidate, labels constraint.Labels, options bitset.Set) ([]constraint.Labels, supply.Due) {
	return b.Ways(options, promised(b.Labels.Merge(labels)), li.pr.values.Labels),
		li.pr.values.DueAt(func(s *cluster.Shape) (bool, bool) { return b.Brings(s, options) })
}

// launch orders one instance with this load.
func (pr *provisioner) launch(b *supply.Candidate, l *supply.Load, as *listing) {
	out := as.Launch
	out.Name = pr.lister.nextName()
	out.Pods = make([]cluster.Pod, 0, l.Pods())
	taken := make([]taking, 0, len(l.Parts))
	for _, p := range l.Parts {
		g := pr.groups[p.Group]
		pods := g.Next(p.N)
		pr.outstanding.take(g, p.N)
		g.Touch()
		for _, w := range pods {
			out.Pods = append(out.Pods, *w.Pod)
		}
		taken = append(taken, taking{g, pods})
		pr.board.PutSomewhere(g.Level.Rules, p.N)
	}
	slices.SortFunc(out.Pods, byName)
	at := launched{candidate: b, ways: as.ways, due: as.due, options: as.options, taken: taken, free: slices.Clone(as.Free),
		reservedCapacities: b.ReservedCapacitiesOf(as.option)}
	at.cost, at.unpriced = pr.lister.bill(b, b.LeastInterrupted(as.options, l.Sum), l)
	at.risk = b.RiskOf(as.option)
	at.cost += at.risk
	amount.Take(at.free, l.Sum, 1)
	at.free[amount.CPU] = max(0, at.free[amount.CPU]) // less than nothing where surplus credits are used
	if b.Remaining != nil {
		at.limited = b.Largest(as.Kinds)
		b.Remaining.Use(at.limited)
		b.Narrow()
	}
	pr.reserved.take(at.reservedCapacities)
	pr.launched = append(pr.launched, at)
	pr.launches = append(pr.launches, out)
}

// bill is what an instance with the load costs or, where its price is not known,
// what it has in prices that are the same in every answer.
func (li *lister) bill(b *supply.Candidate, option int, l *supply.Load) (cost, unpriced float64) {
	if !b.Offering(b.Options[option]).Priced {
		return 0, amount.Value(li.pr.values.usual(), b.Free[b.Options[option].Kind])
	}
	return b.CostFor(option, l.Sum), 0
}

// nextName is the name of the instance that is ordered next.
func (li *lister) nextName() string { return fmt.Sprintf("new-%d", len(li.pr.launched)+1) }

func byName(a, b cluster.Pod) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func waitText(pods int) string {
	if pods == 1 {
		return "1 pod waits"
	}
	return fmt.Sprintf("%d pods wait", pods)
}
