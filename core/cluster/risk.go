package cluster

import "github.com/daemok/daemok/core/quantity"

// restartHours is what an interruption counts as, in hours of the instance that is taken away: its
// pods start again on another one that has to start first, and jobs lose what they have done, half
// of it in the mean. It makes a type that is taken away once a day a sixth more expensive beside
// others, and one that is taken away once a month not even a hundredth.
const restartHours = 4

// Ranked is the price by which spot offerings are ranked among themselves: their own,
// and what interruptions are likely to cost. Of other offerings it is the price.
func (o *Offering) Ranked() quantity.MicroUSDPerHour {
	if o.Option != Spot || o.Risk <= 0 {
		return o.Price
	}
	return o.Price + quantity.MicroUSDPerHour(float64(float64(o.Price)*float64(restartHours*o.Risk)))
}
