package market

import (
	"maps"
	"time"
)

type bucket struct {
	tokens float64
	at     time.Time
}

// Call counts a call and reports whether its token bucket allows it.
func (m *Market) Call(action string) (allowed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls[action]++
	rate, known := m.figures.Buckets[action]
	if !known {
		rate = m.figures.Buckets[""]
	}
	now := m.now()
	b, used := m.buckets[action]
	if !used {
		b = bucket{rate.Burst, now}
	}
	b.tokens = min(rate.Burst, b.tokens+float64(now.Sub(b.at).Seconds()*rate.PerSecond))
	b.at = now
	if allowed = b.tokens >= 1; allowed {
		b.tokens--
	}
	m.buckets[action] = b
	return allowed
}

// SetRate changes how often an action may be called; "" is for all that have
// no rate of their own.
func (m *Market) SetRate(action string, r Rate) {
	m.mu.Lock()
	defer m.mu.Unlock()
	buckets := maps.Clone(m.figures.Buckets)
	buckets[action] = r
	m.figures.Buckets = buckets
	delete(m.buckets, action)
}

// Calls counts the calls of every action so far.
func (m *Market) Calls() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.calls)
}
