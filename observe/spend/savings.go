package spend

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/coverage"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/observe/record"
)

// promisesFor is how long a promise is kept whose move is not heard of: longer than any move takes.
const promisesFor = 2 * time.Hour

// Savings follows decisions that are to save money, from the plan until their nodes have gone. What a decision has
// realised is what these nodes cost when it was planned, less what the instances cost that were launched in their
// place, as they are then: their type and capacity type are AWS's choice. What commitments pay more or less counts too,
// as it was planned. What pods cost that start elsewhere later is not in it. Decisions of an earlier process do not
// count. It listens to the planner and is a prometheus.Collector.
type Savings struct {
	Snapshot func() *cluster.Snapshot
	Record   *record.Record
	Now      func() time.Time

	promised, realised, overruns *prometheus.CounterVec

	mu       sync.Mutex
	promises map[string]promise          // by node that is to go
	ordered  map[string][]apply.Launched // by the first node that goes: what is launched in its place
}

// promise is what one node that goes is to save.
type promise struct {
	price quantity.MicroUSDPerHour // of the node; 0: it is not known
	saves quantity.MicroUSDPerHour // of a move with replacements its first node has all of it
	pays  quantity.MicroUSDPerHour // what commitments pay more once it is gone; negative: less
	comes quantity.MicroUSDPerHour // what they pay for what is launched instead; of a move its first node has all of it
	at    time.Time
}

// NewSavings returns savings of which none is counted yet.
func NewSavings(snapshot func() *cluster.Snapshot, kept *record.Record, now func() time.Time) *Savings {
	counter := func(name string) *prometheus.CounterVec {
		d := observe.Define(name)
		options := prometheus.CounterOpts{Name: d.Name, Help: d.Help}
		return prometheus.NewCounterVec(options, d.Labels)
	}
	return &Savings{
		Snapshot: snapshot, Record: kept, Now: now,
		promises: map[string]promise{}, ordered: map[string][]apply.Launched{},
		promised: counter("daemok_savings_promised_total"), realised: counter("daemok_savings_realised_total"),
		overruns: counter("daemok_savings_overruns_total"),
	}
}

// Describe implements prometheus.Collector.
func (v *Savings) Describe(to chan<- *prometheus.Desc) {
	for _, c := range []*prometheus.CounterVec{v.promised, v.realised, v.overruns} {
		c.Describe(to)
	}
}

// Collect implements prometheus.Collector.
func (v *Savings) Collect(to chan<- prometheus.Metric) {
	for _, c := range []*prometheus.CounterVec{v.promised, v.realised, v.overruns} {
		c.Collect(to)
	}
}

// Planned notes what the moves of a plan are to save.
func (v *Savings) Planned(s *cluster.Snapshot, p plan.Plan, _ time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.forget(s.Now)
	if len(p.Moves) == 0 {
		return
	}
	prices, bill := pricesOf(s, func(n *cluster.Node) string { return n.Name }), coverage.BillOf(s)
	bill.Carry(coverage.Change{Launches: p.Launches})
	for i := range p.Moves {
		m := &p.Moves[i]
		left := m.Saves
		for j, r := range m.Removals {
			goes := coverage.Change{Nodes: []string{r.Node}}
			one := promise{price: prices[r.Node], saves: left, pays: bill.Pays(goes), at: s.Now}
			bill.Carry(goes)
			if len(m.Launches) == 0 && j < len(m.Removals)-1 { // each goes by itself
				one.saves = min(left, one.price+one.pays)
			}
			left -= one.saves
			v.promises[r.Node] = one
		}
		if len(m.Launches) > 0 && len(m.Removals) > 0 {
			comes, first := coverage.Change{Launches: m.Launches}, m.Removals[0].Node
			one := v.promises[first]
			one.comes = bill.Pays(comes)
			bill.Carry(comes)
			v.promises[first] = one
		}
	}
}

// forget drops promises of moves that were never begun.
func (v *Savings) forget(now time.Time) {
	for node, p := range v.promises {
		if now.Sub(p.at) > promisesFor {
			delete(v.promises, node)
			delete(v.ordered, node)
		}
	}
}

// pricesOf is what nodes cost, by a name of theirs, where that is known.
func pricesOf(s *cluster.Snapshot, name func(*cluster.Node) string) map[string]quantity.MicroUSDPerHour {
	pools, out := map[cluster.PoolID]*cluster.Pool{}, map[string]quantity.MicroUSDPerHour{}
	for i := range s.Pools {
		pools[s.Pools[i].ID] = &s.Pools[i]
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		price := n.Price
		if pool := pools[n.Pool]; pool != nil {
			price = pool.CostOf(n)
		}
		if price > 0 {
			out[name(n)] = price
		}
	}
	return out
}

// Replacing notes an instance that is launched in place of nodes.
func (v *Savings) Replacing(m plan.Move, l apply.Launched) {
	if l.Err != nil || len(m.Removals) == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	first := m.Removals[0].Node
	v.ordered[first] = append(v.ordered[first], l)
}

// Moved counts what a move has saved whose nodes have gone.
func (v *Savings) Moved(e apply.Ended) {
	v.mu.Lock()
	defer v.mu.Unlock()
	first := e.Removals[0]
	launched := v.ordered[first.Node]
	delete(v.ordered, first.Node)
	var promised, realised quantity.MicroUSDPerHour
	known, gone := true, false
	for i, r := range e.Removals {
		p, has := v.promises[r.Node]
		delete(v.promises, r.Node)
		promised += p.saves
		if len(launched) > 0 {
			realised += p.comes
		}
		if e.Gone[i] {
			gone = true
			realised += p.price + p.pays
		}
		known = known && has && p.price > 0
	}
	if !gone || !known || !disruption.SavesMoney(first.Reason) {
		return
	}
	realised -= v.costOf(launched)
	labels := []string{translate.Called(first.Pool), string(first.Reason)}
	v.promised.WithLabelValues(labels...).Add(max(0, promised.Dollars()))
	v.realised.WithLabelValues(labels...).Add(max(0, realised.Dollars()))
	v.overruns.WithLabelValues(labels...).Add(max(0, -realised.Dollars()))
	v.note(e, promised, realised)
}

// costOf is what instances cost that were launched in place of nodes: those that have joined as they are, others as
// they were chosen.
func (v *Savings) costOf(launched []apply.Launched) (sum quantity.MicroUSDPerHour) {
	if len(launched) == 0 {
		return 0
	}
	prices := pricesOf(v.Snapshot(), func(n *cluster.Node) string { return n.Claim })
	for _, l := range launched {
		price, joined := prices[l.Claim.Name]
		if !joined {
			price = l.Launch.Choice.ListCost()
		}
		sum += price
	}
	return sum
}

// note puts it on record, of every node that has gone.
func (v *Savings) note(e apply.Ended, promised, realised quantity.MicroUSDPerHour) {
	said := fmt.Sprintf("its disruption saves %s, as planned", realised)
	switch {
	case realised < 0:
		said = fmt.Sprintf("its disruption costs %s: its replacements cost more than planned, and %s was to be saved",
			-realised, promised)
	case realised != promised:
		said = fmt.Sprintf("its disruption saves %s: %s was planned", realised, promised)
	}
	at := v.Now().UTC()
	saved := &record.Saved{Decision: e.Removals[0].Node, Promised: promised.Dollars(), Realised: realised.Dollars()}
	for i, r := range e.Removals {
		if e.Gone[i] {
			about := record.Object{Kind: record.Node, Name: r.Node}
			v.Record.Note(record.Statement{About: about, Claim: r.Claim, Said: said, More: together(e), From: at, Saved: saved})
		}
	}
}

// together says which nodes a saving is of, where they are several.
func together(e apply.Ended) []string {
	gone := slices.DeleteFunc(slices.Clone(e.Gone), func(gone bool) bool { return !gone })
	if len(gone) < 2 {
		return nil
	}
	return []string{fmt.Sprintf("%d nodes together", len(gone))}
}

// Gathered is nothing to count, as are Launched, Withdrawn, Explain, Stuck and Sought.
func (v *Savings) Gathered(error) {}

// Launched is nothing to count.
func (v *Savings) Launched([]apply.Launched) {}

// Withdrawn is nothing to count.
func (v *Savings) Withdrawn([]apply.Withdrawn) {}

// Explain is nothing to count.
func (v *Savings) Explain(*cluster.Snapshot, plan.Plan) {}

// Stuck is nothing to count.
func (v *Savings) Stuck(plan.Move, error) {}

// Sought is nothing to count.
func (v *Savings) Sought(time.Duration) {}
