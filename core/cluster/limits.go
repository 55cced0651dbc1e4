package cluster

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// What may be limited beside resources, as lists of limits name it.
const (
	LimitNodes = "nodes"
	LimitCost  = "cost" // in millionths of a dollar an hour
)

// Limits bounds what nodes may come to together. Only what is named is limited.
type Limits struct {
	Amounts []quantity.Extended       // any resource by its Kubernetes name, sorted by name, zero amounts kept
	Nodes   *int64                    // nil: any number
	Cost    *quantity.MicroUSDPerHour // nil: any; otherwise nothing is launched whose price is not known
}

// Any reports whether something is limited.
func (l *Limits) Any() bool { return len(l.Amounts) > 0 || l.Nodes != nil || l.Cost != nil }

// List is all that is limited: the number of nodes, then resources, then the cost.
func (l *Limits) List() []quantity.Extended {
	var out []quantity.Extended
	if l.Nodes != nil {
		out = append(out, quantity.Extended{Name: LimitNodes, Amount: *l.Nodes})
	}
	out = append(out, l.Amounts...)
	if l.Cost != nil {
		out = append(out, quantity.Extended{Name: LimitCost, Amount: int64(*l.Cost)})
	}
	return out
}

// FormatLimit is an amount of what a limit is of: "16", "64Gi", "$12.500/h". A cost has three places, and six where it
// would be zero by these.
func FormatLimit(name string, amount int64) string {
	switch {
	case name != LimitCost:
		return quantity.FormatAmount(name, amount)
	case amount > 0 && amount < 500 || amount < 0:
		return quantity.MicroUSDPerHour(amount).String()
	}
	mills := (amount + 500) / 1000
	return fmt.Sprintf("$%d.%03d/h", mills/1000, mills%1000)
}

// Used is what counts against limits: nodes, also those that are going, and instances being launched.
type Used struct {
	Capacity quantity.Resources
	Nodes    int64                    // how many they are
	Cost     quantity.MicroUSDPerHour // an hour, without those whose price is not known
	Unpriced string                   // one of these, the first by name; empty: there is none
}

// Add counts one more.
func (u *Used) Add(t *Taking) {
	u.Capacity, u.Nodes = u.Capacity.Add(t.Capacity), u.Nodes+1
	u.addCost(t)
}

func (u *Used) addCost(t *Taking) {
	u.Cost += t.Cost
	if t.Unpriced && (u.Unpriced == "" || t.Name < u.Unpriced) {
		u.Unpriced = t.Name
	}
}

// Of is how much of what a limit is of is used.
func (u *Used) Of(name string) int64 {
	switch name {
	case LimitNodes:
		return u.Nodes
	case LimitCost:
		return int64(u.Cost)
	}
	return u.Capacity.Get(name)
}

// Taking is what one node takes of limits, or an instance being launched whatever it becomes.
type Taking struct {
	Name     string // of the node, or of the claim
	Capacity quantity.Resources
	Cost     quantity.MicroUSDPerHour
	Unpriced bool // what it costs is not known
	Spot     bool // it is a spot instance, or may become one
}

// Of is how much it takes of what a limit is of.
func (t *Taking) Of(name string) int64 {
	switch name {
	case LimitNodes:
		return 1
	case LimitCost:
		return int64(t.Cost)
	}
	return t.Capacity.Get(name)
}

// Quota limits nodes together that its selector selects, of whichever pools and of none: a CapacityQuota.
type Quota struct {
	Name       string
	Selector   constraint.Requirements // of labels of nodes; none: all nodes
	Limits     Limits
	Used       Used
	Unreadable string // what is wrong with it, so that no node is launched that it may select; empty: nothing
}

// String prints "CapacityQuota/team-a".
func (q *Quota) String() string { return "CapacityQuota/" + q.Name }

// Selects reports whether a node with exactly these labels counts.
func (q *Quota) Selects(labels constraint.Labels) bool {
	_, all := q.Selector.Allow(labels)
	return all
}

// NewNode is a node that is not there yet.
type NewNode interface {
	MayHave(key string) constraint.Set // which values the label may have
}

// MaySelect reports whether the node may count once it is there.
func (q *Quota) MaySelect(n NewNode) bool {
	return !slices.ContainsFunc(q.Selector, func(r constraint.Requirement) bool { return !r.Set.Intersects(n.MayHave(r.Key)) })
}

// CountQuota makes what counts against a quota what the nodes and instances of the snapshot are that it selects.
//
// Cost: linear in nodes and instances.
func (s *Snapshot) CountQuota(q *Quota) {
	q.Used = Used{}
	costs := q.Limits.Cost != nil
	for i := range s.Nodes {
		if n := &s.Nodes[i]; q.Selects(n.Labels) {
			t := s.takenBy(n, costs)
			q.Used.Add(&t)
		}
	}
	for i := range s.Instances {
		if m := &s.Instances[i]; s.MayCount(q, m) {
			t := s.takenByInstance(m, costs)
			q.Used.Add(&t)
		}
	}
}

// CountCost makes what the nodes of a pool cost what those of the snapshot do, where that is limited.
//
// Cost: linear in nodes and instances.
func (s *Snapshot) CountCost(p *Pool) {
	if p.Limits.Cost == nil {
		return
	}
	p.Used.Cost, p.Used.Unpriced = 0, ""
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Claim != "" && n.Pool == p.ID {
			t := s.takenBy(n, true)
			p.Used.addCost(&t)
		}
	}
	for i := range s.Instances {
		if m := &s.Instances[i]; m.Pool == p.ID {
			t := s.takenByInstance(m, true)
			p.Used.addCost(&t)
		}
	}
}

// Charge counts an instance being launched against the limits of its pool and the quotas that may select it. The lists of
// pools and quotas must be the snapshot's own.
func (s *Snapshot) Charge(m *Instance) {
	if p, known := s.Pool(m.Pool); known {
		t := s.TakenByInstance(m)
		p.Used.Add(&t)
	}
	s.chargeQuotas(m)
}

func (s *Snapshot) chargeQuotas(m *Instance) {
	if len(s.Quotas) == 0 {
		return
	}
	p, t := s.poolOf(m), s.TakenByInstance(m)
	for i := range s.Quotas {
		if q := &s.Quotas[i]; p.maySelect(q, m) {
			q.Used.Add(&t)
		}
	}
}

// MayCount reports whether the quota counts the instance, or may count the node that it becomes.
func (s *Snapshot) MayCount(q *Quota, m *Instance) bool { return s.poolOf(m).maySelect(q, m) }

// poolOf is the pool of the instance, or one that offers nothing.
func (s *Snapshot) poolOf(m *Instance) *Pool {
	if p, known := s.Pool(m.Pool); known {
		return p
	}
	return &Pool{ID: m.Pool}
}

// costsAreLimited reports whether something limits what nodes cost; else that is not worked out.
func (s *Snapshot) costsAreLimited() bool {
	return slices.ContainsFunc(s.Quotas, func(q Quota) bool { return q.Limits.Cost != nil }) ||
		slices.ContainsFunc(s.Pools, func(p Pool) bool { return p.Limits.Cost != nil })
}

// TakenBy is what the node takes of limits. A node without a price of its own, such as one that is not ours, costs what
// pools pay for its instance type; it is unpriced where none may have it.
func (s *Snapshot) TakenBy(n *Node) Taking { return s.takenBy(n, s.costsAreLimited()) }

func (s *Snapshot) takenBy(n *Node, costs bool) Taking {
	t := Taking{Name: n.Name, Capacity: n.Capacity, Spot: n.IsSpot()}
	if !costs {
		return t
	}
	if t.Cost = n.Price; n.Price == 0 && !isReserved(n.Labels) {
		t.Unpriced = true
		for i := 0; i < len(s.Pools) && t.Unpriced; i++ {
			if price, listed := s.Pools[i].Catalogue.listPrice(n.Labels); listed {
				t.Cost, t.Unpriced = price, false
			}
		}
	}
	if p, known := s.Pool(n.Pool); known && !t.Unpriced {
		t.Cost += p.PerInstance()
	}
	return t
}

func isReserved(labels constraint.Labels) bool {
	return OptionOf(labels) == Reserved
}

// listPrice is the price of an instance with these labels: on demand, where they do not say that it is a spot instance.
func (c *Catalogue) listPrice(labels constraint.Labels) (price quantity.MicroUSDPerHour, known bool) {
	name, _ := labels.Get(LabelInstanceType)
	t := c.InstanceType(name)
	if t == nil {
		return 0, false
	}
	zone, _ := labels.Get(LabelZone)
	option := cmp.Or(OptionOf(labels), OnDemand)
	for i := range t.Offerings {
		if o := &t.Offerings[i]; o.Priced && o.Zone == zone && o.Option == option && o.ListPrice() >= price {
			price, known = o.ListPrice(), true
		}
	}
	return price, known
}

// TakenByInstance is what an instance being launched takes of limits, whatever it becomes.
func (s *Snapshot) TakenByInstance(m *Instance) Taking {
	return s.takenByInstance(m, s.costsAreLimited())
}

func (s *Snapshot) takenByInstance(m *Instance, costs bool) Taking {
	t := Taking{Name: m.Claim, Capacity: m.Capacity, Spot: m.MayBeSpot()}
	if !costs {
		return t
	}
	t.Unpriced = true
	p := s.poolOf(m)
	for _, o := range p.mayBecome(m) {
		switch {
		case o.Priced:
			t.Cost, t.Unpriced = max(t.Cost, o.ListPrice()+p.PerInstance()), false
		case o.Available:
			t.Cost, t.Unpriced = 0, true
			return t
		}
	}
	return t
}

// maySelect reports whether the quota counts the instance, or may count the node that it becomes.
func (p *Pool) maySelect(q *Quota, m *Instance) bool {
	found := false
	for t, o := range p.mayBecome(m) {
		if found = true; q.MaySelect(becoming{p, m, t.Labels, o.Labels}) {
			return true
		}
	}
	return !found && q.MaySelect(becoming{Pool: p, instance: m})
}

// becoming is the node that an instance becomes, with the labels of its type and its offering, where they are known.
type becoming struct {
	*Pool
	instance         *Instance
	ofType, offering constraint.Labels
}

// MayHave implements NewNode.
func (n becoming) MayHave(key string) constraint.Set {
	for _, labels := range []constraint.Labels{n.instance.Labels, n.offering, n.ofType} {
		if value, known := labels.Get(key); known {
			return constraint.Values(value)
		}
	}
	return n.MayLabel(key, n.instance.Requirements)
}

// MayLabel is the values that a label of a new node of the pool may have which neither the instance type nor the offering
// decides: the pool's, or those that requirements allow which name it.
func (p *Pool) MayLabel(key string, requirements constraint.Requirements) constraint.Set {
	if value, known := p.Labels.Get(key); known {
		return constraint.Values(value)
	}
	switch key {
	case LabelHostname:
		return constraint.Values("\x00") // a name that no node has yet
	case LabelRegistered, LabelInitialized:
		return constraint.Values("true")
	}
	if requirements.Has(key) {
		return requirements.Get(key)
	}
	return constraint.Absent()
}

// Balance counts the nodes of the pool and its instances being launched, without those that are going. An instance
// that may yet be a spot instance counts as one.
//
// Cost: linear in nodes and instances.
func (s *Snapshot) Balance(id PoolID) (out Balance) {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Pool == id && n.Claim != "" && !n.Deleting && !n.Closed {
			out.Count(n.IsSpot(), 1)
		}
	}
	for i := range s.Instances {
		if m := &s.Instances[i]; m.Pool == id && !m.Deleting {
			out.Count(m.MayBeSpot(), 1)
		}
	}
	return out
}
