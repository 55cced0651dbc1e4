package market

import (
	"maps"
	"slices"
	"time"
)

// SetOutage cuts a zone off, or ends that. Meanwhile no pool of the zone has a
// instance to offer, and its instances run without anybody reaching them. Each of
// them that has not ended has an Outage event when it begins and when it ends.
// It is safe to repeat.
func (m *Market) SetOutage(zone string, out bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, was := m.out[zone]; was == out {
		return
	}
	now := m.now()
	if out {
		m.out[zone] = now
	} else {
		delete(m.out, zone)
	}
	for _, id := range slices.Sorted(maps.Keys(m.machines)) {
		if machine := m.machines[id]; machine.Pool.Zone == zone && machine.At(now) != Terminated {
			m.plan(transition{now, id, Outage})
		}
	}
	m.signal()
}

// Outages are the zones that are cut off, and since when.
func (m *Market) Outages() map[string]time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.out)
}
