package control

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// living are the instances that have not begun to end.
func living(s *emulator.Server) []world.Instance {
	return slices.DeleteFunc(s.Instances(), func(i world.Instance) bool {
		return i.State == string(market.ShuttingDown) || i.State == string(market.Terminated)
	})
}

// outage cuts a zone off, or ends that.
func outage(s *emulator.Server, order Outage) (int, error) {
	if err := s.Outage(order.Zone, !order.End); err != nil {
		return 0, err
	}
	return len(slices.DeleteFunc(living(s), func(i world.Instance) bool { return i.Zone != order.Zone })), nil
}

// shift begins a zonal shift, or ends those of a zone.
func shift(s *emulator.Server, order Shift) (int, error) {
	switch {
	case order.End:
		ended, err := s.EndShifts(order.Zone)
		if err == nil && ended == 0 {
			err = fmt.Errorf("no zonal shift moves traffic away from %s", order.Zone)
		}
		return ended, err
	case order.Auto && order.For > 0:
		return 0, fmt.Errorf("AWS announces no end of an autoshift: leave the length out")
	case order.Auto:
		return 0, s.AutoShift(order.Zone)
	}
	return 0, s.Shift(order.Zone, order.For)
}

// boots settles how instances boot that are launched from now on.
func boots(s *emulator.Server, order Boots) (struct{}, error) {
	var none struct{}
	reported := strings.HasPrefix(order.Reason, "Client.") || strings.HasPrefix(order.Reason, "Server.")
	switch {
	case order.Fail < 0:
		return none, fmt.Errorf("%d instances terminate before they run: want 0 or more", order.Fail)
	case order.Fail > 0 && !reported:
		return none, fmt.Errorf("the reason is %q: want a state reason of EC2, such as Client.VolumeLimitExceeded or Server.InternalError", order.Reason)
	case order.NeverJoin < 0 || order.NeverJoin > 1:
		return none, fmt.Errorf("the share of instances that never join is %v: want 0 to 1", order.NeverJoin)
	}
	s.Market().FailBoots(order.Fail, order.Reason)
	s.Market().SetNeverJoin(order.NeverJoin)
	return none, nil
}

// interruptionMessage has AWS say something of instances, and do it in the end. Only spot instances are
// taken back. That there is none is an error, since it is a slip of the pen.
func interruptionMessage(s *emulator.Server, order InterruptionMessage) ([]Instance, error) {
	if !slices.Contains([]Deed{Interrupt, Rebalance, Disruption}, order.Deed) {
		return nil, fmt.Errorf("unknown interruption %q: want %s, %s or %s", order.Deed, Interrupt, Rebalance, Disruption)
	}
	if order.In < 0 {
		return nil, fmt.Errorf("in %v is in the past: want 0 or more", order.In)
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
		if !i.Spot && order.Deed != Disruption {
			continue
		}
		if err := say(s, i.ID, order); err != nil {
			return about, err
		}
		about = append(about, Instance{i.ID, i.PrivateDNS})
	}
	switch {
	case named == 0:
		return nil, fmt.Errorf("no instance with ID or node name %s is pending or running: see `daemok lab machine list`", order.Instance)
	case len(about) == 0:
		return nil, fmt.Errorf("%s is no spot instance, and AWS interrupts no other: let a pool launch spot instances (karpenter.sh/capacity-type), or reclaim an interruptible reservation", order.Instance)
	}
	return about, nil
}

func say(s *emulator.Server, id string, order InterruptionMessage) error {
	switch order.Deed {
	case Rebalance:
		s.Market().Recommend(id)
	case Disruption:
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
		Now: s.Now(), Ahead: s.Ahead(), Skewed: s.Skewed(), Seed: s.Seed(), Region: account.Region, ClusterName: account.ClusterName,
		Instances: len(living(s)), CostUSD: s.Market().CostUSD(), Calls: s.Calls(),
		Out: slices.Sorted(maps.Keys(s.Market().Outages())), Denied: s.Denied(), Faults: s.Faults(),
		Throttled: s.Market().Unusual(), Limited: s.Market().Limited(), Priced: s.Market().Priced(), Refused: s.Refused(),
	}
}
