package disruption

import (
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/removal"
)

// homes asks where the pods of a node may go that goes whatever it costs: somewhere they can stay,
// or else anywhere but on nodes whose pool is being deleted: there they could not stay long, and
// nothing would be won. It also reports which of their preferences count. What is launched beside comes in any event.
func (x *Search) homes(c *candidate, beside ...plan.Launch) (*place.Result, demand.Counting) {
	q := removal.Question{Leave: []int{c.at}, Below: removal.Any, Open: x.lasting(), Beside: beside}
	answer := x.ask(q)
	if len(answer.Launches) > 0 {
		if q.Preferences = x.economy.worthwhile(q, c); !q.Preferences.All() {
			answer = x.ask(q)
		}
	}
	if no(answer) {
		q.Open, q.Why = x.ofPoolsThatStay(), true
		answer = x.ask(q)
	}
	return answer, q.Preferences
}

// no reports whether the answer is that the nodes must stay.
func no(a *place.Result) bool { return a.Expensive || len(a.Unplaced) > 0 }

// why reports an answer that is no what is in the way.
func why(a *place.Result) string {
	if len(a.Unplaced) == 0 {
		return "instances for its pods cost too much"
	}
	return a.Unplaced[0].Why()
}

// ofPoolsThatStay are the nodes whose pool is not being deleted, by position.
func (x *Search) ofPoolsThatStay() bitset.Set {
	out := bitset.Full(len(x.snapshot.Nodes))
	for i := range x.snapshot.Nodes {
		if x.snapshot.Nodes[i].Drifted == cluster.PoolDeleted {
			out.Remove(i)
		}
	}
	return out
}

// lasting are the nodes that are not about to go themselves, by position.
func (x *Search) lasting() bitset.Set {
	if x.last == nil {
		x.last = bitset.New(len(x.snapshot.Nodes))
		for i := range x.snapshot.Nodes {
			if x.lasts(&x.snapshot.Nodes[i]) {
				x.last.Add(i)
			}
		}
	}
	return x.last
}

// lasts reports whether the node is not about to go itself for its age or for
// having drifted.
func (x *Search) lasts(n *cluster.Node) bool {
	if n.Claim == "" {
		return true
	}
	if n.Drifted != "" {
		return false
	}
	pool, found := x.snapshot.Pool(n.Pool)
	if !found {
		return true
	}
	c := &candidate{Node: n, pool: pool}
	return !c.outlived(x.snapshot.Now) && (n.ExpiresAt.IsZero() || orderAt(c).After(x.snapshot.Now))
}

func (x *Search) ask(q removal.Question) *place.Result {
	x.Questions++
	answer := x.current().Ask(q)
	return &answer
}

// current returns the simulator as it is after all that goes already.
func (x *Search) current() *removal.Simulator {
	if len(x.untold) > 0 {
		x.simulator.Take(x.untold, place.Result{})
		x.untold = nil
	}
	return x.simulator
}
