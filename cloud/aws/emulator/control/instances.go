package control

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/daemok/daemok/cloud/aws/emulator"
	"github.com/daemok/daemok/cloud/market"
)

// living are the instances that have not begun to end.
func living(s *emulator.Server) []emulator.Instance {
	return slices.DeleteFunc(s.Instances(), func(i emulator.Instance) bool {
		return i.State == string(market.ShuttingDown) || i.State == string(market.Terminated)
	})
}

// outage cuts a zone off, or ends that.
func outage(s *emulator.Server, order Outage) (int, error) {
	if err := s.Outage(order.Zone, !order.End); err != nil {
		return 0, err
	}
	return len(slices.DeleteFunc(living(s), func(i emulator.Instance) bool { return i.Zone != order.Zone })), nil
}

// notice has AWS say something of instances, and do it in the end. Only spot machines are
// taken back. That there is none is an error, since it is a slip of the pen.
func notice(s *emulator.Server, order Notice) ([]Instance, error) {
	if !slices.Contains([]Deed{Interrupt, Rebalance, Retire}, order.Deed) {
		return nil, fmt.Errorf("AWS does no %q to instances: want %s, %s or %s", order.Deed, Interrupt, Rebalance, Retire)
	}
	if _, err := path.Match(order.Instance, ""); err != nil {
		return nil, fmt.Errorf("pattern %q: %w", order.Instance, err)
	}
	var about []Instance
	named := 0
	for _, i := range living(s) {
		if !matches(order.Instance, i.ID) && !matches(order.Instance, i.PrivateDNS) {
			continue
		}
		named++
		if !i.Spot && order.Deed != Retire {
			continue
		}
		if err := say(s, i.ID, order); err != nil {
			return about, err
		}
		about = append(about, Instance{i.ID, i.PrivateDNS})
	}
	switch {
	case named == 0:
		return nil, fmt.Errorf("%s is no instance of AWS that has not ended: see `daemok lab machine list`", order.Instance)
	case len(about) == 0:
		return nil, fmt.Errorf("%s is no spot instance, and AWS takes no other back: let a pool buy spot machines (karpenter.sh/capacity-type), or reclaim an interruptible reservation", order.Instance)
	}
	return about, nil
}

func say(s *emulator.Server, id string, order Notice) error {
	switch order.Deed {
	case Rebalance:
		s.Market().Recommend(id)
	case Retire:
		return s.Schedule(id, "instance-retirement", s.Now().Add(order.In))
	case Interrupt:
		lead := time.Duration(-1)
		if order.Advised {
			lead = order.In
		}
		s.Market().InterruptAdvised(id, lead)
	}
	return nil
}

// status is how the account is.
func status(s *emulator.Server) Status {
	account := s.Account()
	return Status{
		Now: s.Now(), Ahead: s.Ahead(), Seed: s.Seed(), Region: account.Region, ClusterName: account.ClusterName,
		Instances: len(living(s)), CostUSD: s.Market().CostUSD(), Calls: s.Calls(),
		Out: slices.Sorted(maps.Keys(s.Market().Outages())), Denied: s.Denied(), Faults: s.Faults(),
	}
}
