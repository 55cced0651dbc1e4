package market

import (
	"maps"
	"slices"
	"time"
)

// minimumBilled is the shortest time an instance is paid for.
const minimumBilled = time.Minute

// CostUSD is what all instances have cost so far, by the second. A stopped
// instance is paid for like a running one: the volume it keeps is not modelled
// apart.
func (m *Market) CostUSD() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	sum := m.spentUSD
	for _, id := range slices.Sorted(maps.Keys(m.machines)) { // in order, since sums of floats depend on it
		machine := m.machines[id]
		sum += machine.costUSD(m.now())
	}
	return sum
}

func (m *Machine) costUSD(now time.Time) float64 {
	end := now
	if !m.EndsAt.IsZero() && m.EndsAt.Before(now) {
		end = m.EndsAt
	}
	used := max(end.Sub(m.LaunchedAt), minimumBilled)
	return float64(m.PriceUSD * used.Hours())
}
