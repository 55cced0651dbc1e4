package state

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/coverage"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// microUSD is how many millionths make a dollar.
const microUSD = 1e6

// poolBudgets reports what budgets allow and what they are used up by, and how many nodes could go.
func (w *world) poolBudgets(s *cluster.Snapshot) {
	shares := disruption.Shares(s.Nodes)
	for i := range s.Pools {
		p := &s.Pools[i]
		for _, reason := range []plan.RemovalReason{plan.Empty, plan.Drifted, plan.Underutilized} {
			w.set("karpenter_nodepools_allowed_disruptions", float64(disruption.Allowance(&p.Policy, reason).Most), translate.Called(p.ID), string(reason))
			w.set("karpenter_nodepools_nodes_consuming_budgets", float64(shares[p.ID].Used), translate.Called(p.ID), string(reason))
		}
	}
	for reason, n := range disruption.Due(s) {
		w.set("karpenter_voluntary_disruption_eligible_nodes", float64(n), strings.ToLower(string(reason)))
	}
}

// utilization compares what pods ask for with what nodes have for them.
func (w *world) utilization(s *cluster.Snapshot) {
	var have, asked quantity.Resources
	for i := range s.Nodes {
		have = have.Add(s.Nodes[i].Allocatable)
		for _, p := range s.Nodes[i].Pods {
			asked = asked.Add(p.Takes())
		}
	}
	for _, name := range []string{quantity.NameCPU, quantity.NameMemory, quantity.NameEphemeralStorage, quantity.NamePods} {
		if of := have.Get(name); of > 0 {
			w.set("karpenter_cluster_utilization_percent", 100*float64(asked.Get(name))/float64(of), name)
		}
	}
}

// quotas reports what CapacityQuotas allow, and what counts against them.
func (w *world) quotas(s *cluster.Snapshot) {
	for i := range s.Quotas {
		q := &s.Quotas[i]
		for _, l := range q.Limits.List() {
			w.set("daemok_capacityquotas_limit", inUnits(l.Name, l.Amount), l.Name, q.Name)
			w.set("daemok_capacityquotas_usage", inUnits(l.Name, q.Used.Of(l.Name)), l.Name, q.Name)
		}
	}
}

// commitments reports what Reserved Instances and Savings Plans pay, and how much of each is unused.
func (w *world) commitments(s *cluster.Snapshot) {
	if !s.Commitments.Any() {
		return
	}
	w.set("daemok_commitments_pay", coverage.PaidFor(s).Dollars())
	for _, room := range coverage.FleetOf(s).Rooms() {
		if room.All > 0 {
			w.set("daemok_commitments_unused_percent", 100*float64(room.Left)/float64(room.All), room.ID)
		}
	}
}

// inUnits is an amount of what a limit is of in cores, bytes, pieces or dollars an hour.
func inUnits(name string, amount int64) float64 {
	switch name {
	case quantity.NameCPU:
		return float64(amount) / 1000
	case cluster.LimitCost:
		return float64(amount) / microUSD
	}
	return float64(amount)
}

// Offerings says which instance types and offerings have series: there are thousands.
type Offerings string

// The choices.
const (
	AllOfferings  Offerings = "all"  // of the classes in use
	UsedOfferings Offerings = "used" // that a pool allows, or an instance has
	NoOfferings   Offerings = "none"
)

// offerings exports the offerings of the classes in use, and what the pools' instances cost. What
// two classes have in common is exported once: available if it is for any of them.
func (w *world) offerings(s *cluster.Snapshot, kinds func(karpv1.NodeClassReference) (*cluster.Catalogue, string), which Offerings) {
	catalogues := w.catalogues(kinds)
	w.costs(s, catalogues)
	used := w.used(s, which)
	seen := map[*cluster.Catalogue]bool{}
	types, open := map[string]quantity.Resources{}, map[offering]bool{}
	prices := map[offering]quantity.MicroUSDPerHour{}
	idle := map[string]reservation{}
	for _, c := range catalogues {
		if c == nil || seen[c] {
			continue
		}
		seen[c] = true
		for i := range c.InstanceTypes {
			k := &c.InstanceTypes[i]
			for j := range k.Offerings {
				o := &k.Offerings[j]
				if id := o.Reservation(); id != "" {
					idle[id] = reservation{k.Name, o.Zone, o.LeftOf(id)}
				}
				if !o.Asked(nil) {
					continue // what few ask for says nothing of the usual
				}
				at := offering{k.Name, string(o.Option), o.Zone}
				if which == NoOfferings || which == UsedOfferings && !used[at] {
					continue
				}
				types[k.Name] = k.Capacity
				open[at] = open[at] || o.Available
				if o.Priced {
					prices[at] = o.Price
				}
			}
		}
	}
	for id, r := range idle {
		w.set("daemok_capacity_reservations_idle_instances", float64(r.left), id, r.kind, r.zone)
	}
	for name, capacity := range types {
		w.set("karpenter_cloudprovider_instance_type_cpu_cores", float64(capacity.CPU)/1000, name)
		w.set("karpenter_cloudprovider_instance_type_memory_bytes", float64(capacity.Memory), name)
	}
	for at, available := range open {
		value := 0.0
		if available {
			value = 1
		}
		w.set("karpenter_cloudprovider_instance_type_offering_available", value, at.kind, at.option, at.zone)
	}
	for at, price := range prices {
		w.set("karpenter_cloudprovider_instance_type_offering_price_estimate", float64(price)/microUSD, at.kind, at.option, at.zone)
	}
}

type offering struct{ kind, option, zone string }

// used are the offerings that pools allow or instances have. Without a catalogue a
// pool, whose class is not ready, allows none.
func (w *world) used(s *cluster.Snapshot, which Offerings) map[offering]bool {
	if which != UsedOfferings {
		return nil
	}
	out := map[offering]bool{}
	for _, p := range feasibility.ForPools(s.Pools, nil) {
		for _, o := range p.Options {
			out[offering{p.InstanceType(o).Name, string(p.Offering(o).Option), p.Offering(o).Zone}] = true
		}
	}
	for i := range w.claims {
		l := w.claims[i].Labels
		out[offering{l[api.LabelInstanceType], l[api.LabelCapacityType], l[api.LabelZone]}] = true
	}
	return out
}

// reservation is what one is for, and how many instances it has room for.
type reservation struct {
	kind, zone string
	left       int64
}

func (w *world) catalogues(kinds func(karpv1.NodeClassReference) (*cluster.Catalogue, string)) map[karpv1.NodeClassReference]*cluster.Catalogue {
	out := map[karpv1.NodeClassReference]*cluster.Catalogue{}
	ask := func(ref karpv1.NodeClassReference) {
		if _, asked := out[ref]; !asked {
			out[ref], _ = kinds(ref) // a class that is not ready has no offerings, and says so in its conditions
		}
	}
	for i := range w.pools {
		ask(w.pools[i].Class)
	}
	for i := range w.claims {
		ask(translate.ClassOf(&w.claims[i]))
	}
	return out
}

// costs adds up what the instances of each pool cost now: their types, by NodeOverlays where these say so, their
// volumes and what is declared for each. A pool without instances costs nothing; one of whose instances no price is
// known says nothing.
func (w *world) costs(s *cluster.Snapshot, catalogues map[karpv1.NodeClassReference]*cluster.Catalogue) {
	beside := map[string]quantity.MicroUSDPerHour{}
	overlaid := map[string]*cluster.Catalogue{}
	for i := range s.Pools {
		p := &s.Pools[i]
		beside[translate.Called(p.ID)] = p.PerInstance()
		if p.Catalogue != p.Catalogue.Listed() {
			overlaid[translate.Called(p.ID)] = p.Catalogue
		}
	}
	sum, unknown := map[string]quantity.MicroUSDPerHour{}, map[string]bool{}
	for i := range w.pools {
		sum[translate.Called(w.pools[i].ID)] = 0
	}
	now := map[string]quantity.MicroUSDPerHour{}
	for i := range w.claims {
		c := &w.claims[i]
		pool := translate.PoolCalled(c.Labels)
		if c.Status.ProviderID == "" || pool == "" {
			continue
		}
		offered := catalogues[translate.ClassOf(c)]
		if by := overlaid[pool]; by != nil && by.Base == offered {
			offered = by
		}
		price, known := priceOf(offered, c.Labels)
		price += beside[pool]
		if !known {
			price, known = w.priced.before(c.Status.ProviderID)
		}
		if known {
			sum[pool] += price
			now[c.Status.ProviderID] = price
		} else if sum[pool] == 0 {
			unknown[pool] = true
		}
	}
	w.priced.keep(now)
	for pool, price := range sum {
		if price > 0 || !unknown[pool] {
			w.set("karpenter_nodepools_cost_total", float64(price)/microUSD, pool)
		}
	}
}

// priced is what instances cost at the scrape before. The offerings of a class that is not ready
// are not known, but its instances cost what they did.
type priced struct {
	mu   sync.Mutex
	each map[string]quantity.MicroUSDPerHour // by provider ID; replaced and never changed
}

func (p *priced) before(providerID string) (price quantity.MicroUSDPerHour, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	price, known = p.each[providerID]
	return price, known
}

func (p *priced) keep(each map[string]quantity.MicroUSDPerHour) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.each = each
}

// priceOf is the price of an instance with these labels.
func priceOf(c *cluster.Catalogue, labels map[string]string) (quantity.MicroUSDPerHour, bool) {
	if c == nil {
		return 0, false
	}
	i, found := slices.BinarySearchFunc(c.InstanceTypes, labels[api.LabelInstanceType], func(k cluster.InstanceType, name string) int {
		return cmp.Compare(k.Name, name)
	})
	if !found {
		return 0, false
	}
	if o := c.InstanceTypes[i].Offering(labels); o != nil {
		return o.Price, o.Priced
	}
	return 0, false
}
