package retire

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/quantity"
)

// Ground answers what would become of the pods of nodes that go.
type Ground interface {
	Ask(q Question) *Answer
	// Take takes an accepted answer in, so that what is asked next knows of it.
	Take(q Question, a *Answer)
}

// Question asks for homes for the pods of nodes that go together.
type Question struct {
	Leave  []int                                         // positions in the snapshot
	Below  quantity.MicroUSDPerHour                      // machines that are to be bought may cost so much together; 0: none may be bought
	Open   func(n *cluster.Node) bool                    // nodes that may take pods; nil: all that take pods at all
	Forbid func(kind string, option cluster.Option) bool // what is not to be bought; nil: nothing
}

// Answer is where they go, and what is bought for them.
type Answer = place.Result

// anyPrice is for nodes that go whatever it costs.
const anyPrice quantity.MicroUSDPerHour = 1 << 50

// homes asks where the pods of a node may go that goes whatever it costs:
// somewhere they can stay, or else anywhere.
func (x *Search) homes(c *candidate) (Question, *Answer) {
	q := Question{Leave: []int{c.at}, Below: anyPrice, Open: x.lasts}
	answer := x.ask(q)
	if len(answer.Unplaced) > 0 {
		q.Open = nil
		answer = x.ask(q)
	}
	return q, answer
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
	return n.ExpiresAt.IsZero() || !found || orderAt(&candidate{Node: n, pool: pool}).After(x.snapshot.Now)
}

func (x *Search) ask(q Question) *Answer {
	if x.ground == nil {
		x.ground = x.survey()
	}
	if len(x.untold) > 0 {
		x.ground.Take(Question{Leave: x.untold}, &Answer{})
		x.untold = nil
	}
	return x.ground.Ask(q)
}
