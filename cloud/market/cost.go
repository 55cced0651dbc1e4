package market

import "time"

// minimumBilled is the shortest time a machine is paid for.
const minimumBilled = time.Minute

// CostUSD is what all machines that are still remembered have cost so far,
// by the second.
func (m *Market) CostUSD() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	var sum float64
	for _, machine := range m.machines {
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
