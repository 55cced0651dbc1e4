package control

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"time"

	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/faults"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// throttle changes the token buckets of all actions that match.
func throttle(s *emulator.Server, order Throttle) ([]string, error) {
	switch {
	case order.PerSecond < 0 || order.Burst < 0 || order.Times < 0:
		return nil, fmt.Errorf("calls per second, the burst, and the multiple of the usual rate must not be negative")
	case !order.End && (order.PerSecond > 0) == (order.Times > 0):
		return nil, fmt.Errorf("want one of calls per second and a multiple of the usual rate")
	}
	actions, err := like(order.Action, s.Limited())
	switch {
	case err != nil:
		return nil, err
	case len(actions) == 0 && slices.Contains(s.Actions(), order.Action):
		return nil, fmt.Errorf("%s is no action of EC2, and the emulator has request limits of EC2 only: make its calls fail with ThrottlingException instead", order.Action)
	case len(actions) == 0:
		return nil, noAction(s, order.Action)
	}
	m := s.Market()
	for _, a := range actions {
		usual := m.UsualRate(a)
		switch {
		case order.End:
			m.FreeRate(a)
		case order.Times > 0:
			m.SetRate(a, market.Rate{PerSecond: float64(usual.PerSecond * order.Times), Burst: max(1, float64(usual.Burst*order.Times))})
		case order.Burst > 0:
			m.SetRate(a, market.Rate{PerSecond: order.PerSecond, Burst: order.Burst})
		default:
			m.SetRate(a, market.Rate{PerSecond: order.PerSecond, Burst: max(1, math.Ceil(order.PerSecond))})
		}
	}
	return actions, nil
}

// rights takes the right to call actions away, or gives it back.
func rights(s *emulator.Server, order Rights) ([]string, error) {
	actions, err := like(order.Action, s.Actions())
	switch {
	case err != nil:
		return nil, err
	case len(actions) == 0:
		return nil, noAction(s, order.Action)
	}
	if order.Denied {
		s.Deny(actions...)
	} else {
		s.Allow(actions...)
	}
	return actions, nil
}

// like are those of some actions that match a pattern.
func like(pattern string, actions []string) ([]string, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	return slices.DeleteFunc(actions, func(a string) bool { return !matches(pattern, a) }), nil
}

// noAction says that a pattern matches no action.
func noAction(s *emulator.Server, pattern string) error {
	return fmt.Errorf("no service of the emulator has an action like %q%s", pattern,
		cmp.Or(nearest.DidYouMean(pattern, s.Actions()), ": name one such as CreateFleet or Describe*"))
}

// fault has calls fail, or ends that.
func fault(s *emulator.Server, order Fault) (int, error) {
	if order.End {
		if s.EndFaults(order.Action) == 0 {
			return 0, fmt.Errorf("%s has no faults", order.Action)
		}
		return 0, nil
	}
	err := s.AddFault(faults.Fault{
		Action: order.Action, Code: order.Code, Nth: order.Nth, Times: order.Times, Share: order.Share, After: order.After,
	})
	if err != nil {
		return 0, err
	}
	return len(slices.DeleteFunc(s.Faults(), func(f faults.Fault) bool { return f.Action != order.Action })), nil
}

// quota limits vCPUs and returns the quota's name.
func quota(s *emulator.Server, order Quota) (string, error) {
	if order.VCPUs < 0 {
		return "", fmt.Errorf("a quota of %d vCPUs: want 0 or more", order.VCPUs)
	}
	if err := s.SetQuota(order.Code, order.VCPUs); err != nil {
		return "", err
	}
	all := world.Quotas()
	return all[slices.IndexFunc(all, func(q world.Quota) bool { return q.Code == order.Code })].Name, nil
}

// skew has AWS judge dates by a clock that is wrong.
func skew(s *emulator.Server, order Skew) (time.Duration, error) {
	s.Skew(order.By)
	return s.Skewed(), nil
}

// clock puts AWS forward.
func clock(s *emulator.Server, order Clock) (time.Time, error) {
	err := s.Forward(order.Forward)
	return s.Now(), err
}
