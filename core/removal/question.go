package removal

import (
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// Question is which nodes leave, and what their pods may have instead.
type Question struct {
	Leave []int // positions in Snapshot.Nodes; those that are being deleted already are ignored
	// Open is which other nodes may take pods, by position, of those that are initialized, ready and stay; nil:
	// all. A question takes less time the less Open differs from that of the question before.
	Open bitset.Set
	// Below is what instances for the pods may cost together at most. 0: none may be launched, and the answer is no
	// where Place would launch one although there is room, such as in a zone without a node. Negative: any may.
	Below       quantity.MicroUSDPerHour
	Freed       bool            // limits of pools count the nodes that leave as gone already
	Beside      []plan.Launch   // launched in any event: limits and capacity reservations count them; they take no pods
	Preferences demand.Counting // which preferences of pods count, of those that do by the options
	Why         bool            // the answer gives reasons; it takes far longer then, where pods find no place
}

// Any is for Question.Below: whatever instances cost.
const Any = quantity.MicroUSDPerHour(-1)
