package fakecloud

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/test/market"
)

// offered is the last answer for a class and what it was made from.
type offered struct {
	step  time.Time // of spot prices
	fixed uint64    // revision of prices fixed by hand
	short []market.Pool
	rooms []room // of reservations
	zones []string
	value *cluster.Catalogue
}

// Kinds implements cloud.Catalog.
func (c *Cloud) Kinds(ctx context.Context, class cloud.Class) (*cluster.Catalogue, error) {
	before, after := c.faults.next(CallKinds)
	if err := firstOf(ctx.Err(), before, after); err != nil {
		return nil, fmt.Errorf("instance types of class %s: %w", class.ID, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	next := offered{short: c.shortAt(now), rooms: c.rooms(), zones: settingsOf(class).Zones}
	next.step, next.fixed = c.market.PriceRevision()
	last := c.catalogues[class.ID]
	if last != nil && last.madeFrom(next) {
		return last.value, nil
	}
	instanceTypes := c.offerings(next, now)
	if last != nil && slices.EqualFunc(last.value.InstanceTypes, instanceTypes, sameOfferings) {
		next.value = last.value
	} else {
		c.revision++
		next.value = &cluster.Catalogue{Revision: c.revision, InstanceTypes: instanceTypes}
	}
	c.catalogues[class.ID] = &next
	return next.value, nil
}

func (o *offered) madeFrom(p offered) bool {
	return o.step.Equal(p.step) && o.fixed == p.fixed && slices.Equal(o.short, p.short) && slices.Equal(o.rooms, p.rooms) && slices.Equal(o.zones, p.zones)
}

// sameOfferings compares what may change; the rest of a kind never does.
func sameOfferings(a, b cluster.InstanceType) bool {
	return a.Name == b.Name && slices.EqualFunc(a.Offerings, b.Offerings, func(x, y cluster.Offering) bool {
		return x.Zone == y.Zone && x.Option == y.Option && slices.Equal(x.ReservedCapacities, y.ReservedCapacities) && x.Price == y.Price && x.Priced == y.Priced && x.Available == y.Available
	})
}

// shortAt lists the pools that are remembered to be short, sorted, and
// forgets the others.
func (c *Cloud) shortAt(now time.Time) []market.Pool {
	var out []market.Pool
	for pool, until := range c.short {
		if !now.Before(until) {
			delete(c.short, pool)
			continue
		}
		out = append(out, pool)
	}
	slices.SortFunc(out, comparePools)
	return out
}

// offerings are all kinds with what they cost now.
func (c *Cloud) offerings(from offered, now time.Time) []cluster.InstanceType {
	labels := map[ec2data.Zone]map[way]constraint.Labels{}
	out := slices.Clone(c.instanceTypes)
	for i := range out {
		var offerings []cluster.Offering
		for _, zone := range c.zones {
			if len(from.zones) > 0 && !slices.Contains(from.zones, zone.Name) {
				continue
			}
			if labels[zone] == nil {
				labels[zone] = zoneLabels(zone)
			}
			for _, option := range []market.Option{market.OnDemand, market.Spot} {
				pool := market.Pool{Kind: out[i].Name, Zone: zone.Name, Option: option}
				if !c.market.Offers(pool) {
					continue
				}
				usual := cluster.Offering{
					Zone: zone.Name, Option: cluster.Option(option), Labels: labels[zone][way{option, false}],
					Price: quantity.USDPerHour(c.market.PriceUSD(pool, now)), Priced: true,
					Available: !slices.Contains(from.short, pool),
				}
				alone := usual
				alone.Labels, alone.Unless = labels[zone][way{option, true}], constraint.Label{Key: labelTenancy, Value: "default"}
				alone.Price = quantity.USDPerHour(float64(c.market.PriceUSD(pool, now) * moreExpensive(pool, true)))
				offerings = append(offerings, usual, alone)
				if option == market.OnDemand {
					offerings = append(offerings, reserved(from, out[i].Name, zone.Name, usual)...)
				}
			}
		}
		out[i].Offerings = offerings
	}
	return out
}

// way is how instances are launched in a zone.
type way struct {
	option    market.Option
	dedicated bool
}

const labelTenancy = awsLabel + "instance-tenancy"

func zoneLabels(zone ec2data.Zone) map[way]constraint.Labels {
	out := map[way]constraint.Labels{}
	for _, option := range []market.Option{market.OnDemand, market.Spot} {
		for dedicated, tenancy := range map[bool]string{false: "default", true: "dedicated"} {
			out[way{option, dedicated}] = constraint.NewLabels(map[string]string{
				cluster.LabelZone: zone.Name, "topology.k8s.aws/zone-id": zone.ID, cluster.LabelCapacityType: string(option), labelTenancy: tenancy,
			})
		}
	}
	return out
}

// more expensive is what dedicated instances of a pool cost, in its prices: more on demand.
func moreExpensive(pool market.Pool, dedicated bool) float64 {
	if dedicated && pool.Option == market.OnDemand {
		return 1.06
	}
	return 1
}

func settingsOf(class cloud.Class) Settings {
	s, _ := class.Settings.(Settings)
	return s
}
