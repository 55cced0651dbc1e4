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

func (x *Search) ask(q Question) *Answer {
	if x.ground == nil {
		x.ground = x.survey()
	}
	return x.ground.Ask(q)
}
