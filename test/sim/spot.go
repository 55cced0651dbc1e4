package sim

import (
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// SpotMarket is what happens to the spot instances of a replay. Of the zero value none is interrupted, and their prices
// stay.
type SpotMarket struct {
	// Interruptions is how many are expected in an hour of an instance; nil: none.
	Interruptions func(kind, zone string) float64
	// Price is what a spot instance costs an hour, since the beginning; nil: what the catalogue says. It changes at
	// multiples of PriceStep alone.
	Price     func(kind, zone string, at time.Duration) quantity.MicroUSDPerHour
	PriceStep time.Duration
}

// Priced is a catalogue with the prices of a moment.
func (s *SpotMarket) Priced(c *cluster.Catalogue, at time.Duration) *cluster.Catalogue {
	if s.Price == nil {
		return c
	}
	return edited(c, func(k *cluster.InstanceType, o *cluster.Offering) {
		if o.Option == cluster.Spot && o.Priced {
			o.Price = s.Price(k.Name, o.Zone, at)
		}
	})
}

// movePrices lets the prices of spot instances change from now on, of those too that run: EC2 charges the price of the
// moment.
func (c *cloud) movePrices() {
	if c.spot.Price == nil {
		return
	}
	c.world.every(0, func() (time.Duration, bool) {
		at := c.world.now.Sub(c.world.began)
		for i := range c.catalogues {
			c.catalogues[i] = c.spot.Priced(c.catalogues[i], at)
		}
		for _, m := range c.world.instances {
			if m.launched() && m.offering.Option == cluster.Spot && m.offering.Priced {
				m.offering.Price = c.spot.Price(m.instanceType.Name, m.offering.Zone, at)
			}
		}
		c.world.disturbed()
		c.world.changed()
		return c.spot.PriceStep, true
	})
}

// expose has a spot instance interrupted one day: after a time without memory, so that its age says nothing.
func (c *cloud) expose(m *instance) {
	if c.spot.Interruptions == nil || m.offering.Option != cluster.Spot {
		return
	}
	mean, rate := c.fate.ExpFloat64(), c.spot.Interruptions(m.instanceType.Name, m.offering.Zone)
	if hours := mean / rate; rate > 0 && hours < lifeMost.Hours() {
		c.world.after(time.Duration(hours*float64(time.Hour)), func() { c.reclaim(m) })
	}
}

// lifeMost is longer than any replay.
const lifeMost = 20 * 365 * 24 * time.Hour

// reclaim interrupts an instance because the cloud has no more of its offering, for a while.
func (c *cloud) reclaim(m *instance) {
	if !m.launched() || m.ends {
		return
	}
	c.world.checks.meter.Interrupted++
	c.world.disturbed()
	c.short = append(c.short, m.choice)
	c.report([]choice{m.choice})
	c.world.after(shortFor, func() {
		at := slices.IndexFunc(c.short, m.choice.same)
		c.short = slices.Delete(c.short, at, at+1)
	})
	c.interrupt(m)
}
