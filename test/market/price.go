package market

import (
	"math"
	"strconv"
	"time"
)

// Price process: every PriceStep the logarithm of a spot price moves to a
// fresh draw around its mean, damped over memorySteps, so that prices wander
// by about a sixth, come back, and are never zero.
const (
	memorySteps = 12
	wander      = 0.15
	damping     = 0.8
)

// PriceUSD is what an instance of the pool costs an hour at a moment; 0 where it
// is not offered.
func (m *Market) PriceUSD(p Pool, at time.Time) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.priceAt(p, at)
}

// SetPrice fixes the price of a pool.
func (m *Market) SetPrice(p Pool, usd float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.prices[p] = usd
	m.revision++
}

// FreePrice gives the price of a pool back to the market.
func (m *Market) FreePrice(p Pool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.prices, p)
	m.revision++
}

// Priced counts the pools whose price is fixed.
func (m *Market) Priced() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.prices)
}

// PriceRevision changes when any price may have: at every step of the spot
// market, and with SetPrice.
func (m *Market) PriceRevision() (step time.Time, fixed uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.PriceStepAt(m.now()), m.revision
}

func (m *Market) priceAt(p Pool, at time.Time) float64 {
	if fixed, ok := m.prices[p]; ok {
		return fixed
	}
	k := m.kinds[p.Kind]
	if p.Option != Spot {
		return k.OnDemandUSD
	}
	step := at.Unix() / int64(m.figures.PriceStep/time.Second)
	name := p.Kind + "/" + p.Zone
	zone := float64(0.2*draw(m.seed, name, "zone")) - 0.1 // zones differ
	price := float64(k.SpotUSD * math.Exp(Wander(m.seed, p.Kind, p.Zone, step)+zone))
	if k.OnDemandUSD > 0 {
		price = min(price, k.OnDemandUSD) // a spot price never exceeds the on-demand price
	}
	return math.Ceil(float64(price*1e4)) / 1e4
}

// Wander is the natural logarithm of what the spot price of a kind in a zone is in its mean prices at a step: 0
// in the mean, and beyond 0.15 either way for a third of the steps.
func Wander(seed uint64, kind, zone string, step int64) float64 {
	name, level, weight := kind+"/"+zone, 0.0, 1.0
	for i := range int64(memorySteps) {
		level += float64(weight * normalQuantile(draw(seed, name, "price", strconv.FormatInt(step-i, 10))))
		weight *= damping
	}
	return float64(wander * float64(level*math.Sqrt(1-damping*damping)))
}

// PriceStepAt is when the price that holds at a moment began to hold.
func (m *Market) PriceStepAt(at time.Time) time.Time { return at.Truncate(m.figures.PriceStep) }

// Score ranks spot pools as price-capacity-optimized does, lower is better:
// the price, made more expensive by the risk of interruption and by little depth.
func (m *Market) Score(p Pool) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	risk := 1 + float64(0.1*float64(m.kinds[p.Kind].Interruption))
	if left := m.left(p); left < 20 {
		risk += float64(0.02 * float64(20-left))
	}
	return float64(m.priceAt(p, m.now()) * risk)
}
