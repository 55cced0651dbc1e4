package costs

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/ui/text"
)

// Committed is what Reserved Instances and Savings Plans leave of the cost of nodes that they may cover: all but spot,
// without volumes and what pools declare beside.
type Committed struct {
	OnDemand Dollars            `json:"onDemand"` // of these nodes, without commitments
	Rest     Dollars            `json:"rest"`     // of that, what is paid beside what is committed
	Unused   []UnusedCommitment `json:"unused"`
}

// UnusedCommitment is what of a commitment no node uses.
type UnusedCommitment struct {
	ID         string  `json:"id"`
	Instances  float64 `json:"instances,omitempty"` // of Reserved Instances
	Commitment Dollars `json:"commitment,omitempty"`
}

// committed divides commitments among the nodes; nil where there are none.
func committed(all *cost.Allocation, c *commitment.Commitments) *Committed {
	if c == nil {
		return nil
	}
	out := &Committed{Unused: []UnusedCommitment{}}
	var running []commitment.Usage
	for i := range all.Nodes {
		n := &all.Nodes[i]
		instanceType, typed := n.Labels.Get(cluster.LabelInstanceType)
		if !n.Priced || !typed || cluster.OptionOf(n.Labels) == cluster.Spot {
			continue
		}
		zone, _ := n.Labels.Get(cluster.LabelZone)
		running = append(running,
			commitment.Usage{Name: n.Name, InstanceType: instanceType, Zone: zone, OnDemand: n.Price - n.Beside})
		out.OnDemand += dollars(n.Price - n.Beside)
	}
	bill := commitment.Divide(*c, running)
	out.Rest = dollars(bill.Cost)
	for _, u := range bill.Unused {
		out.Unused = append(out.Unused, UnusedCommitment{u.ID, u.Instances, dollars(u.Commitment)})
	}
	return out
}

// committed writes what commitments leave, and which of them are unused.
func (s *screen) committed() {
	c := s.r.Commitments
	if c == nil {
		return
	}
	s.Line(text.Of(fmt.Sprintf("  with commitments $%.3f/h instead of $%.3f/h for nodes that are not spot, "+
		"beside what is committed", c.Rest, c.OnDemand)))
	var unused []string
	for _, u := range c.Unused {
		if u.Instances > 0 {
			unused = append(unused, fmt.Sprintf("%.3g instances of %s", u.Instances, u.ID))
		} else {
			unused = append(unused, fmt.Sprintf("$%.3f/h of %s", u.Commitment, u.ID))
		}
	}
	if len(unused) > 0 {
		s.Line(text.Say(text.Warn, "  unused: %s", strings.Join(unused, ", ")))
	}
}
