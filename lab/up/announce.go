package up

import (
	"fmt"
	"time"

	"github.com/daemok/daemok/lab/control"
)

// announce has AWS say something about machines, and do it in the end. It returns
// those that it is about: nodes that stand are no instances, and only spot machines are
// taken back. That there is none is an error, since it is a slip of the pen.
func (l *Lab) announce(order control.Act, found []control.Machine) ([]control.Machine, error) {
	spot := map[string]bool{} // by ID, of all instances
	for _, i := range l.cloud.Instances() {
		spot[i.ID] = i.Spot
	}
	var done []control.Machine
	for _, m := range found {
		is, known := spot[m.ID]
		if !known || !is && order.Deed != control.Retire {
			continue
		}
		if err := l.sayOf(m.ID, order); err != nil {
			return done, err
		}
		done = append(done, m)
	}
	if len(done) == 0 && order.Deed == control.Retire {
		return nil, fmt.Errorf("%s is no instance of AWS: see `daemok lab machine list`", order.Machine)
	}
	if len(done) == 0 {
		return nil, fmt.Errorf("%s is no spot instance, and AWS takes no other back: let a pool buy spot machines (karpenter.sh/capacity-type)", order.Machine)
	}
	l.cloud.touch()
	return done, nil
}

func (l *Lab) sayOf(id string, order control.Act) error {
	switch market := l.cloud.Market(); order.Deed {
	case control.Rebalance:
		market.Recommend(id)
	case control.Retire:
		return l.cloud.Schedule(id, "instance-retirement", time.Now().Add(order.In))
	case control.Interrupt:
		lead := time.Duration(-1)
		if order.Advised {
			lead = order.In
		}
		market.InterruptAdvised(id, lead)
	}
	return nil
}
