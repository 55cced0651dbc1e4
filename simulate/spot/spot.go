// Package spot models the spot market of simulations: how often instances are interrupted, and how
// prices change.
//
// It promises that equal seeds give equal markets, whatever a policy launches. Capacity in it does not
// run out: package sim makes an interrupted offering scarce for a while.
package spot

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/simulate/rows"
	"github.com/daemok/daemok/test/market"
	"github.com/daemok/daemok/test/sim"
)

// Options says what happens to spot instances. Of the zero value none is interrupted, and prices stay.
type Options struct {
	Advisor              string  // file with the band of types, as Spot Instance Advisor has them; empty: none
	InterruptionsPerHour float64 // of an instance whose type the file does not name
	Prices               string  // Moving or Fixed; empty: Fixed
}

// String says it for people: "interrupted 0.00007 times an hour, moving prices".
func (o Options) String() string {
	often := strconv.FormatFloat(o.InterruptionsPerHour, 'f', -1, 64) + " times an hour"
	if o.Advisor != "" {
		often = "as in " + o.Advisor
	}
	return fmt.Sprintf("interrupted %s, %s prices", often, cmp.Or(o.Prices, Fixed))
}

// What prices of spot instances may do.
const (
	Moving = "moving"
	Fixed  = "fixed"
)

// DefaultPerHour is how often an instance is interrupted an hour where nothing is known of its type: 5 % in a month,
// below which AWS says the mean of all types and Regions is.
const DefaultPerHour = 0.00007

// mostPerHour is more than any use: a warning alone is two minutes.
const mostPerHour = 30

// How prices move. EC2 adjusts them gradually, by long-term supply and demand; how much and how often is not published.
const (
	priceStep = time.Hour      // between two prices
	trendFor  = 12 * time.Hour // a price drifts in one direction
)

// Market makes the market of a catalogue's spot instances.
func (o Options) Market(c *cluster.Catalogue, seed uint64) (out sim.SpotMarket, err error) {
	if !(o.InterruptionsPerHour >= 0 && o.InterruptionsPerHour <= mostPerHour) {
		return out, fmt.Errorf("--interruptions-per-hour is %v: want 0 to %d", o.InterruptionsPerHour, mostPerHour)
	}
	bands := map[string]float64{}
	if o.Advisor != "" {
		if bands, err = readAdvisor(o.Advisor); err != nil {
			return out, err
		}
	}
	if len(bands) > 0 || o.InterruptionsPerHour > 0 {
		out.Interruptions = func(kind, _ string) float64 {
			if rate, known := bands[kind]; known {
				return rate
			}
			return o.InterruptionsPerHour
		}
	}
	switch o.Prices {
	case Moving:
		out.Price, out.PriceStep = walk(c, seed), priceStep
	case Fixed, "":
	default:
		return out, fmt.Errorf("--spot-prices is %q: use %s or %s", o.Prices, Moving, Fixed)
	}
	return out, nil
}

// walk lets each offering's price wander from that of the catalogue, with which it begins. It never exceeds the
// on-demand price.
func walk(c *cluster.Catalogue, seed uint64) func(kind, zone string, at time.Duration) quantity.MicroUSDPerHour {
	type pool struct{ kind, zone string }
	begin, most := map[pool]float64{}, map[pool]float64{}
	for i := range c.InstanceTypes {
		for _, o := range c.InstanceTypes[i].Offerings {
			switch p := (pool{c.InstanceTypes[i].Name, o.Zone}); o.Option {
			case cluster.Spot:
				begin[p] = float64(o.Price)
			case cluster.OnDemand:
				most[p] = float64(o.Price)
			}
		}
	}
	return func(kind, zone string, at time.Duration) quantity.MicroUSDPerHour {
		p := pool{kind, zone}
		price := begin[p] * math.Exp(level(seed, kind, zone, at)-level(seed, kind, zone, 0))
		if limit := most[p]; limit > 0 {
			price = min(price, limit)
		}
		return quantity.MicroUSDPerHour(math.Round(price))
	}
}

// level is the logarithm of a price over its mean: a line between the cloud model's prices at the ends of a trend.
func level(seed uint64, kind, zone string, at time.Duration) float64 {
	k, part := int64(at/trendFor), float64(at%trendFor)/float64(trendFor)
	from, to := market.Wander(seed, kind, zone, k), market.Wander(seed, kind, zone, k+1)
	return from + part*(to-from)
}

// Columns of a file of Spot Instance Advisor. Others are passed over.
const (
	columnType = "instance_type"
	columnBand = "interruption_bucket" // 0: below 5 % a month, 1: to 10 %, 2: to 15 %, 3: to 20 %, 4: above
)

// hoursOfMonth are those of 30 days.
const hoursOfMonth = 30 * 24

// perHour is the rate at which the middle of a band is interrupted in a month; of the last band a quarter.
func perHour(band int64) float64 {
	share := []float64{0.025, 0.075, 0.125, 0.175, 0.25}[band]
	return -math.Log(1-share) / hoursOfMonth
}

// readAdvisor reads how often instances of each type are interrupted an hour.
func readAdvisor(path string) (map[string]float64, error) {
	out, lines := map[string]float64{}, map[string]int{}
	err := rows.Read(path, []string{columnType, columnBand}, func(r *rows.Row) {
		name, band := r.Text(columnType), r.Number(columnBand)
		switch line := lines[name]; {
		case band > 4:
			r.Wrong(columnBand, "want 0 to 4, not %d", band)
		case line > 0:
			r.Wrong(columnType, "%s is in line %d already", name, line)
		default:
			out[name], lines[name] = perHour(band), r.Line()
		}
	})
	return out, err
}
