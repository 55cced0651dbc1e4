// Package costs reports what a cluster costs, as screens, CSV and JSON show it.
//
// It promises that rows add up to the total, that what is not known is said, and that no text from a cluster becomes a
// formula of a spreadsheet. It computes no costs: core/cost does.
package costs

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/core/quantity"
)

// HoursAMonth is how many hours a month has, as AWS counts them in prices.
const HoursAMonth = 730

// Input is what a report is made from.
type Input struct {
	At         time.Time
	Allocation *cost.Allocation // of the whole cluster
	Only       map[cost.PodID]bool
	Of         string       // in words, which pods Only are; empty: all
	By         [][]cost.Key // a group of rows for each
	Labels     cost.Labels
	Usage      map[cost.PodID]cost.Used // nil: usage is not known
	NoUsage    string                   // why that is
	Troubles   []string                 // what could not be read, a sentence each

	Commitments *commitment.Commitments // nil: none are given
}

// Report is what a cluster costs. Costs are in US dollars an hour; lists are never null.
type Report struct {
	At       time.Time `json:"at"`
	Of       string    `json:"of,omitempty"` // which pods, where they are not all
	Cost     Dollars   `json:"cost"`
	Cluster  Dollars   `json:"cluster"`            // with all pods
	Listed   Dollars   `json:"listed"`             // the part of Cost that is by list prices
	Nodes    int       `json:"nodes"`              // instances that have not joined yet are among them
	Unpriced []string  `json:"unpriced"`           // nodes whose price is not known, and NodeClaims
	Groups   []Group   `json:"groups"`             // each adds up to Cost
	Pods     Dollars   `json:"pods"`               // but for DaemonSets and static pods
	Idle     []Idle    `json:"idle"`               // by cause, the most expensive first
	Over     []Over    `json:"overRequested"`      // by workload, the most expensive first
	Samples  int       `json:"samples"`            // of usage, of each pod at least; 0: usage is not known
	NoUsage  string    `json:"noUsage,omitempty"`  // why usage is not known
	Troubles []string  `json:"troubles,omitempty"` // what could not be read

	Commitments *Committed `json:"commitments,omitempty"` // what they leave to pay; null where none are given
}

// Dollars are US dollars an hour.
type Dollars float64

// Month is what that comes to in a month.
func (d Dollars) Month() float64 { return float64(d) * HoursAMonth }

// Group is rows by the same keys.
type Group struct {
	By   []string `json:"by"`
	Rows []Row    `json:"rows"`
}

// Row is what is alike by the keys.
type Row struct {
	Values   []string               `json:"values"`
	NoPods   bool                   `json:"idleOnly,omitempty"` // what no pod has requested
	Cost     Dollars                `json:"cost"`
	Pods     Dollars                `json:"pods"`
	Daemons  Dollars                `json:"daemons"`
	Unused   Dollars                `json:"idle"`
	ByCause  map[cost.Cause]Dollars `json:"idleByCause,omitempty"`
	PodCount int                    `json:"podCount"`
	Nodes    int                    `json:"nodes"`
	Unpriced int                    `json:"unpricedNodes"`
}

// Daemons stands among the causes for what DaemonSets and static pods request.
const Daemons cost.Cause = "daemons"

// Idle is what is paid for without a workload, for one cause.
type Idle struct {
	Cause    cost.Cause `json:"cause"`
	Cost     Dollars    `json:"cost"`
	Nodes    int        `json:"nodes"`
	Most     []Held     `json:"most,omitempty"` // the nodes that most of it is on
	Meaning  string     `json:"meaning"`
	WhatToDo string     `json:"whatToDo"`
}

// Held is the idle part of one node.
type Held struct {
	Node string  `json:"node"`
	Cost Dollars `json:"cost"`
	Why  string  `json:"why,omitempty"`
}

// Over is what pods of a workload request and do not use.
type Over struct {
	Workload        string  `json:"workload"`
	Pods            int     `json:"pods"` // that were measured
	CPURequested    string  `json:"cpuRequested"`
	CPUUsed         string  `json:"cpuUsed"`
	MemoryRequested string  `json:"memoryRequested"`
	MemoryUsed      string  `json:"memoryUsed"`
	CPU             Dollars `json:"cpuCost"`
	Memory          Dollars `json:"memoryCost"`
	UnderCPU        int     `json:"podsAboveCPURequest"`
	UnderMemory     int     `json:"podsAboveMemoryRequest"`
}

// Cost is what the workload does not use.
func (o *Over) Cost() Dollars { return o.CPU + o.Memory }

// heldMost is how many nodes are named for each cause.
const heldMost = 5

// Of makes a report.
func Of(in Input) Report {
	whole, shown := in.Allocation, in.Allocation
	if in.Only != nil {
		shown = whole.Only(in.Only)
	}
	out := Report{
		At: in.At, Of: in.Of, Cost: dollars(shown.Total), Cluster: dollars(whole.Total), Listed: dollars(shown.Listed),
		Nodes: len(shown.Nodes), Unpriced: append([]string{}, shown.Unpriced...), Troubles: in.Troubles,
		Idle: []Idle{}, Over: []Over{}, NoUsage: in.NoUsage,
	}
	for _, keys := range in.By {
		out.Groups = append(out.Groups, group(shown, keys, in.Labels))
	}
	if in.Only == nil {
		out.Idle = idle(whole)
		out.Commitments = committed(whole, in.Commitments)
	}
	for _, r := range shown.By(nil, nil) {
		out.Pods = dollars(r.Pods)
		if in.Only != nil {
			out.Pods = out.Cost
		}
	}
	out.over(shown, in.Usage)
	return out
}

func dollars(p quantity.MicroUSDPerHour) Dollars { return Dollars(p.Dollars()) }

func group(a *cost.Allocation, keys []cost.Key, labels cost.Labels) Group {
	out := Group{By: []string{}, Rows: []Row{}}
	for _, k := range keys {
		out.By = append(out.By, k.String())
	}
	for _, r := range a.By(keys, labels) {
		row := Row{
			Values: r.Values, NoPods: r.Idle, PodCount: r.PodCount, Nodes: r.Nodes, Unpriced: r.Unpriced,
			Cost: dollars(r.Total()), Pods: dollars(r.Pods), Daemons: dollars(r.Daemons), Unused: dollars(r.Waste()),
		}
		if len(r.Unused) > 0 {
			row.ByCause = map[cost.Cause]Dollars{}
		}
		for cause, price := range r.Unused {
			row.ByCause[cause] = dollars(price)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// idle is what no workload has requested, by cause.
func idle(a *cost.Allocation) []Idle {
	sums, held := map[cost.Cause]quantity.MicroUSDPerHour{}, map[cost.Cause][]Held{}
	add := func(cause cost.Cause, price quantity.MicroUSDPerHour, node, why string) {
		if price > 0 {
			sums[cause] += price
			held[cause] = append(held[cause], Held{node, dollars(price), why})
		}
	}
	for i := range a.Nodes {
		n := &a.Nodes[i]
		var daemons quantity.MicroUSDPerHour
		for _, share := range n.Pods {
			if share.Pod.Daemon || share.Pod.Mirror {
				daemons += share.Cost
			}
		}
		add(Daemons, daemons, n.Name, "")
		for _, x := range n.Idle {
			add(x.Cause, x.Cost, n.Name, x.Why)
		}
	}
	out := []Idle{}
	for _, cause := range append([]cost.Cause{Daemons}, cost.Causes()...) {
		if sums[cause] == 0 {
			continue
		}
		most := held[cause]
		slices.SortStableFunc(most, func(a, b Held) int { return cmp.Compare(b.Cost, a.Cost) })
		named := most[:min(len(most), heldMost)]
		out = append(out, Idle{cause, dollars(sums[cause]), len(most), named, meaning[cause], whatToDo[cause]})
	}
	slices.SortStableFunc(out, func(a, b Idle) int { return cmp.Compare(b.Cost, a.Cost) })
	return out
}

// meaning is what each cause is, for people.
var meaning = map[cost.Cause]string{
	Daemons:            "requests of DaemonSets and static pods",
	cost.Headroom:      "room of launches under way",
	cost.Leaving:       "nodes that are being drained or terminated",
	cost.Unmanaged:     "nodes of no NodePool",
	cost.DoNotDisrupt:  "nodes held by an annotation",
	cost.PDB:           "nodes held by a PodDisruptionBudget",
	cost.Work:          "nodes held by pods that would not come back",
	cost.Policy:        "nodes held by their NodePool",
	cost.Fragmentation: "free room in pieces",
}

// whatToDo is the way out for each cause.
var whatToDo = map[cost.Cause]string{
	Daemons: "every node runs these pods: larger nodes need fewer of them " +
		"(daemok.sh/min-machine-cpu at the NodePool), and lower requests of DaemonSets save on every node",
	cost.Headroom: "nothing: instances were just launched, and are filled or removed within minutes",
	cost.Leaving:  "nothing: these nodes are going; daemok explain node NAME says what a drain waits for",
	cost.Unmanaged: "Daemok does not consolidate nodes outside its NodePools: " +
		"move their pods to a NodePool (daemok migrate)",
	cost.DoNotDisrupt: "remove the annotation where it is not needed any more",
	cost.PDB:          "have the PodDisruptionBudget allow one eviction: more replicas, or maxUnavailable: 1",
	cost.Work: "run these pods under a controller that creates them again, " +
		"with two replicas where a Service needs one, or wait until their work is done",
	cost.Policy: "change spec.disruption of the NodePool: consolidationPolicy, consolidateAfter or budgets",
	cost.Fragmentation: "requests that fit nodes better, fewer scheduling constraints, " +
		"or more instance types in the NodePool; daemok plan prints what consolidation would do now",
}

// over compares requests with usage.
func (r *Report) over(a *cost.Allocation, usage map[cost.PodID]cost.Used) {
	for i, o := range a.OverRequested(usage, []cost.Key{{Dimension: cost.Owner}}, nil) {
		if i == 0 || o.SamplesLeast < r.Samples {
			r.Samples = o.SamplesLeast
		}
		r.Over = append(r.Over, Over{
			Workload: o.Values[0], Pods: o.Pods, CPU: dollars(o.CPU), Memory: dollars(o.Memory),
			CPURequested: cores(o.Requested.CPU), CPUUsed: cores(o.Used.CPU),
			MemoryRequested: gib(o.Requested.Memory), MemoryUsed: gib(o.Used.Memory),
			UnderCPU: o.UnderCPU, UnderMemory: o.UnderMemory,
		})
	}
}

func cores(c quantity.MilliCPU) string { return fmt.Sprintf("%.2f", float64(c)/1000) }

func gib(b quantity.Bytes) string { return fmt.Sprintf("%.2fGi", float64(b)/float64(quantity.GiB)) }

// prices are list prices in dollars an hour by instance type, zone and capacity type.
type prices interface {
	Price(instanceType, zone, capacityType string) (dollars float64, ok bool)
}

// Listed are the list prices of nodes and instances that the snapshot has no price of, or none but that of reserved
// capacity, by their names and claims.
func Listed(s *cluster.Snapshot, by prices) map[string]quantity.MicroUSDPerHour {
	out := map[string]quantity.MicroUSDPerHour{}
	add := func(name string, of constraint.Labels) {
		is := of.Map()
		option := string(cluster.OptionOf(of))
		dollars, known := by.Price(is[cluster.LabelInstanceType], is[cluster.LabelZone], option)
		if known {
			out[name] = overlay.ListPrice(s, quantity.USDPerHour(dollars), of)
		}
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Price == 0 || cost.Reserved(n.Labels) {
			add(n.Name, n.Labels)
		}
	}
	for i := range s.Instances {
		add(s.Instances[i].Claim, s.Instances[i].Labels)
	}
	return out
}
