package up

import (
	"fmt"
	"path"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/cloud/aws/emulator"
	"github.com/daemok/daemok/cloud/market"
	"github.com/daemok/daemok/lab/control"
)

// Ice sells capacity out, or brings it back, in every pool that matches. An
// order that matches none is an error, since it is a slip of the pen.
func (l *Lab) Ice(order control.Ice) (int, error) {
	if _, err := l.ready(); err != nil {
		return 0, err
	}
	pools, err := matching(emulator.Kinds(ec2data.Load(), l.identity.Region), order)
	if err != nil {
		return 0, err
	}
	if len(pools) == 0 {
		return 0, fmt.Errorf("region %s sells nothing like %s of %s in %s: see `aws ec2 describe-instance-type-offerings`",
			l.identity.Region, order.Option, order.Kind, order.Zone)
	}
	for _, p := range pools {
		if order.Melt {
			l.cloud.Market().Restock(p)
			continue
		}
		l.cloud.Market().SetCapacity(p, order.Machines, 0)
	}
	return len(pools), nil
}

// matching returns the pools of the kinds that the order is about.
func matching(kinds []market.Kind, order control.Ice) ([]market.Pool, error) {
	for _, pattern := range []string{order.Kind, order.Zone, order.Option} {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("pattern %q: %w", pattern, err)
		}
	}
	matches := func(pattern, name string) bool {
		ok, _ := path.Match(pattern, name) // checked above
		return ok
	}
	var pools []market.Pool
	for _, k := range kinds {
		if !matches(order.Kind, k.Name) {
			continue
		}
		for _, zone := range k.Zones {
			for _, option := range []market.Option{market.OnDemand, market.Spot} {
				if matches(order.Zone, zone) && matches(order.Option, string(option)) {
					pools = append(pools, market.Pool{Kind: k.Name, Zone: zone, Option: option})
				}
			}
		}
	}
	return pools, nil
}
