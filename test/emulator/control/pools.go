package control

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/market"
)

// which says what pools an order is about, by patterns.
type which struct{ kind, zone, option string }

// ice takes capacity away, or restores it, in every pool that matches.
func ice(s *emulator.Server, order Ice) (int, error) {
	if order.Machines < 0 {
		return 0, fmt.Errorf("%d instances left: want 0 or more", order.Machines)
	}
	pools, err := matching(s, which{order.Kind, order.Zone, order.Option})
	if err != nil {
		return 0, err
	}
	for _, p := range pools {
		if order.Melt {
			s.Market().Restock(p)
			continue
		}
		s.Market().SetCapacity(p, order.Machines, 0)
	}
	return len(pools), nil
}

// price sets the price of every pool that matches.
func price(s *emulator.Server, order Price) (int, error) {
	w := which{order.Kind, order.Zone, order.Option}
	ofZones := order.Zone != "" && order.Zone != "*"
	given := 0
	for _, is := range []bool{order.USD != 0, order.Times != 0, order.End} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return 0, fmt.Errorf("want exactly one of a price, a multiple of the current price, and an end of the change")
	case order.USD < 0 || order.Times < 0:
		return 0, fmt.Errorf("a price of %v, or %v times the current one: want more than 0", order.USD, order.Times)
	case ofZones && order.Option == string(market.OnDemand):
		return 0, fmt.Errorf("on-demand prices are the same in all zones: leave the zone out")
	case ofZones && w.option == "":
		w.option = string(market.Spot)
	}
	pools, err := matching(s, w)
	if err != nil {
		return 0, err
	}
	m := s.Market()
	now := s.Now()
	for _, p := range pools {
		usual := m.PriceUSD(p, now)
		switch {
		case order.End:
			m.FreePrice(p)
		case order.USD > 0:
			m.SetPrice(p, order.USD)
		default:
			m.SetPrice(p, float64(usual*order.Times))
		}
	}
	return len(pools), nil
}

// refuse has launches in all pools that match fail.
func refuse(s *emulator.Server, order Refuse) (int, error) {
	if order.End == (order.Code != "") {
		return 0, fmt.Errorf("want either an error code that launches fail with, such as UnfulfillableCapacity, or its end")
	}
	pools, err := matching(s, which{order.Kind, order.Zone, order.Option})
	if err != nil {
		return 0, err
	}
	for _, p := range pools {
		s.RefusePool(p, order.Code, "")
	}
	return len(pools), nil
}

// matching returns the pools that the market has and the order is about; none is an error.
func matching(s *emulator.Server, w which) ([]market.Pool, error) {
	w.zone, w.option = cmp.Or(w.zone, "*"), cmp.Or(w.option, "*")
	for _, pattern := range []string{w.kind, w.zone, w.option} {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("pattern %q: %w", pattern, err)
		}
	}
	var pools []market.Pool
	for _, k := range s.Market().Kinds() {
		if !matches(w.kind, k.Name) {
			continue
		}
		for _, zone := range k.Zones {
			for _, option := range []market.Option{market.OnDemand, market.Spot} {
				p := market.Pool{Kind: k.Name, Zone: zone, Option: option}
				if matches(w.zone, zone) && matches(w.option, string(option)) && s.Market().Offers(p) {
					pools = append(pools, p)
				}
			}
		}
	}
	if len(pools) == 0 {
		return nil, fmt.Errorf("region %s offers no %s%s", s.Account().Region, w, cmp.Or(w.meant(s), ": see `aws ec2 describe-instance-type-offerings`"))
	}
	return pools, nil
}

// String names what is not anything.
func (w which) String() string {
	text := w.kind
	if w.zone != "*" {
		text += " in " + w.zone
	}
	if w.option != "*" {
		text += " as " + w.option
	}
	return text
}

// meant ends a sentence about pools that are not there with the name that was mistyped.
func (w which) meant(s *emulator.Server) string {
	var kinds, zones []string
	for _, k := range s.Market().Kinds() {
		kinds, zones = append(kinds, k.Name), append(zones, k.Zones...)
	}
	slices.Sort(zones)
	zones = slices.Compact(zones)
	options := []string{string(market.OnDemand), string(market.Spot)}
	for _, part := range []struct {
		pattern string
		names   []string
	}{{w.kind, kinds}, {w.zone, zones}, {w.option, options}} {
		if !slices.ContainsFunc(part.names, func(name string) bool { return matches(part.pattern, name) }) {
			return cmp.Or(nearest.DidYouMean(part.pattern, part.names), few(part.names))
		}
	}
	return ""
}

// few lists names that are few enough to choose from.
func few(names []string) string {
	if len(names) > 10 {
		return ""
	}
	return ": want one of " + strings.Join(names, ", ")
}

// matches is path.Match for patterns that were checked.
func matches(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok
}
