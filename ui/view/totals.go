package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// Totals are sums over a cluster.
type Totals struct {
	Nodes    int            `json:"nodes"`          // and instances that are being launched
	ByStatus map[Status]int `json:"byStatus"`       // of those
	ByOption map[string]int `json:"byCapacityType"` // of those; "": not known
	Pods     int            `json:"pods"`           // on nodes
	Waiting  int            `json:"waiting"`        // pods that need a node
	Unplaced int            `json:"unplaced"`       // of those, without a place
	Use      []Use          `json:"use"`            // of all nodes
	Cost     Cost           `json:"cost"`           // of all nodes
	Unpriced int            `json:"unpriced"`       // nodes whose price is not known
	PoolCost Cost           `json:"poolCost"`       // of nodes of NodePools and Provisioners
	Bound    float64        `json:"bound"`          // dollars an hour: no instances that pools may launch hold the pods for less; 0: not known
	Gap      *float64       `json:"gap"`            // PoolCost / Bound - 1; null: not known
}

func totalsOf(c *Cluster, least float64) Totals {
	t := Totals{
		Nodes: len(c.Nodes), ByStatus: map[Status]int{}, ByOption: map[string]int{}, Use: []Use{},
		Cost: Cost{Known: true}, PoolCost: Cost{Known: true}, Bound: least,
	}
	ofPool := map[Owner]bool{}
	for i := range c.Pools {
		ofPool[Owner{c.Pools[i].Kind, c.Pools[i].Name}] = true
	}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		t.ByStatus[n.Status]++
		t.ByOption[n.CapacityType]++
		t.Pods += len(n.Pods)
		t.Cost = t.Cost.plus(n.Cost)
		if ofPool[n.Owner] {
			t.PoolCost = t.PoolCost.plus(n.Cost)
		}
		if !n.Cost.Known {
			t.Unpriced++
		}
		if n.Name != "" {
			t.Use = together(t.Use, n.Use)
		}
	}
	for i := range c.Waiting {
		t.Waiting += c.Waiting[i].Count
		if c.Waiting[i].Stuck() {
			t.Unplaced += c.Waiting[i].Count
		}
	}
	if t.Bound > 0 && t.PoolCost.Known {
		gap := t.PoolCost.PerHour/t.Bound - 1
		t.Gap = &gap
	}
	return t
}

// together adds what is taken of one node to sums, in the order of the first of each resource.
func together(sum, more []Use) []Use {
	for _, u := range more {
		at := slices.IndexFunc(sum, func(s Use) bool { return s.Resource == u.Resource })
		if at < 0 {
			at = len(sum)
			sum = append(sum, Use{Resource: u.Resource})
		}
		s := &sum[at]
		s.Requested, s.Allocatable = s.Requested+u.Requested, s.Allocatable+u.Allocatable
		if u.Used != nil {
			used := *u.Used
			if s.Used != nil {
				used += *s.Used
			}
			s.Used = &used
		}
	}
	return sum
}

// Amount prints an amount of a resource for people, with three digits that count: cores as "2.2", bytes as "35.9Gi",
// else pieces.
func Amount(resource string, amount int64) string {
	switch {
	case resource == quantity.NameCPU:
		return digits(float64(amount) / 1000)
	case resource == cluster.LimitCost:
		return cluster.FormatLimit(resource, amount)
	case quantity.IsBytes(resource):
		value, unit := float64(amount), ""
		for _, larger := range []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"} {
			if value < 1024 {
				break
			}
			value, unit = value/1024, larger
		}
		return digits(value) + unit
	}
	return strconv.FormatInt(amount, 10)
}

// digits prints a number with three digits that count, and none behind the point from a hundred on.
func digits(x float64) string {
	places := 2
	switch {
	case x >= 100:
		places = 0
	case x >= 10:
		places = 1
	}
	text := strconv.FormatFloat(x, 'f', places, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
