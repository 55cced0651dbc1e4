package market

import (
	"maps"
	"slices"
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
	return m.token(action)
}

// Rehearse counts a call that its token bucket does not notice.
func (m *Market) Rehearse(action string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls[action]++
}

// token reports whether an action's token bucket has a token, and takes it; the lock is held.
func (m *Market) token(action string) (allowed bool) {
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

// FreeRate gives an action the rate back that it has on an ordinary day, if that is one of
// its own.
func (m *Market) FreeRate(action string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	buckets := maps.Clone(m.figures.Buckets)
	delete(buckets, action)
	if usual, own := m.usual[action]; own {
		buckets[action] = usual
	}
	m.figures.Buckets = buckets
	delete(m.buckets, action)
}

// UsualRate is how often an action may be called on an ordinary day.
func (m *Market) UsualRate(action string) Rate {
	if rate, own := m.usual[action]; own {
		return rate
	}
	return m.usual[""]
}

// Rates are the rates by action as they are now; "" is for all others.
func (m *Market) Rates() map[string]Rate {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.figures.Buckets)
}

// Unusual are the actions that may be called more or less often than on an ordinary day, sorted.
func (m *Market) Unusual() (actions []string) {
	for action, rate := range m.Rates() {
		if rate != m.UsualRate(action) {
			actions = append(actions, action)
		}
	}
	slices.Sort(actions)
	return actions
}

// Calls counts the calls of every action so far.
func (m *Market) Calls() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.calls)
}
