package market

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// saved is the part of a market that outlives its process.
type saved struct {
	Next     uint64
	Machines []Machine
}

// Export writes the machines as JSON. Details are the caller's to keep.
func (m *Market) Export() ([]byte, error) {
	machines := m.Machines()
	m.mu.Lock()
	defer m.mu.Unlock()
	return json.Marshal(saved{m.next, machines})
}

// Import takes machines over from an earlier process. Changes that fell due
// in between are events of the first Settle.
func (m *Market) Import(text []byte) error {
	var s saved
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("read saved market: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next = s.Next
	for i := range s.Machines {
		machine := &s.Machines[i]
		m.machines[machine.ID] = machine
		for _, at := range []transition{
			{machine.RunningAt, machine.ID, Changed}, {machine.EndsAt, machine.ID, Changed}, {machine.GoneAt, machine.ID, Changed},
		} {
			if !at.at.IsZero() {
				m.plan(at)
			}
		}
	}
	slices.SortStableFunc(m.due, func(a, b transition) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.machine, b.machine)) })
	m.signal()
	return nil
}

// SetDetails keeps something with a machine, for whoever runs it.
func (m *Market) SetDetails(id string, details any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if machine, known := m.machines[id]; known {
		machine.Details = details
	}
}
