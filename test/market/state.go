package market

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// saved is the part of a market that outlives its process. Throttles, call
// counts and fixed kinds do not.
type saved struct {
	Next                 uint64
	Never                float64
	SpentUSD             float64
	Machines             []savedMachine
	Capacity             []savedDepth
	Prices               []savedPrice
	Out                  map[string]time.Time
	InterruptionMessages []savedInterruptionMessage `json:"Notices"` // that are to be told yet, in order
}

type savedMachine struct {
	Machine
	Reported State // what the last event told
}

// savedInterruptionMessage is a word about an instance other than its state.
type savedInterruptionMessage struct {
	At      time.Time
	Machine string
	Kind    EventKind
}

type savedDepth struct {
	Pool       Pool
	Left, Most int
	Refill     float64
	MeasuredAt time.Time
}

type savedPrice struct {
	Pool Pool
	USD  float64
}

// Export writes instances, capacity and fixed prices as JSON. Details are the
// caller's to keep.
func (m *Market) Export() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetOld()
	s := saved{Next: m.next, Never: m.never, SpentUSD: m.spentUSD, Out: maps.Clone(m.out)}
	for _, machine := range m.machines {
		s.Machines = append(s.Machines, savedMachine{*machine, machine.reported})
	}
	for _, t := range m.due {
		if t.kind != Changed {
			s.InterruptionMessages = append(s.InterruptionMessages, savedInterruptionMessage{t.at, t.machine, t.kind})
		}
	}
	for p, d := range m.capacity {
		s.Capacity = append(s.Capacity, savedDepth{p, d.left, d.most, d.refill, d.measuredAt})
	}
	for p, usd := range m.prices {
		s.Prices = append(s.Prices, savedPrice{p, usd})
	}
	slices.SortFunc(s.Machines, func(a, b savedMachine) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(s.Capacity, func(a, b savedDepth) int { return a.Pool.compare(b.Pool) })
	slices.SortFunc(s.Prices, func(a, b savedPrice) int { return a.Pool.compare(b.Pool) })
	return json.Marshal(s)
}

func (p Pool) compare(q Pool) int {
	return cmp.Or(cmp.Compare(p.Kind, q.Kind), cmp.Compare(p.Zone, q.Zone), cmp.Compare(p.Option, q.Option))
}

// Import takes over what an earlier process exported. Changes that no event
// has told yet are events of the first Settle, those that fell due in between
// included.
func (m *Market) Import(text []byte) error {
	var s saved
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("read saved market: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next, m.never, m.spentUSD = s.Next, s.Never, s.SpentUSD
	for _, d := range s.Capacity {
		m.capacity[d.Pool] = depth{left: d.Left, most: d.Most, refill: d.Refill, measuredAt: d.MeasuredAt}
	}
	maps.Copy(m.out, s.Out)
	for _, p := range s.Prices {
		m.prices[p.Pool] = p.USD
	}
	for i := range s.Machines {
		machine := s.Machines[i].Machine
		machine.reported = s.Machines[i].Reported
		m.machines[machine.ID] = &machine
		if !machine.GoneAt.IsZero() {
			m.forgetLater(&machine)
		}
		m.planAgain(&machine)
	}
	for _, n := range s.InterruptionMessages {
		m.plan(transition{n.At, n.Machine, n.Kind})
	}
	m.signal()
	return nil
}

// planAgain plans what an imported instance has still to go through. Moments
// whose state was told already are told no second time.
func (m *Market) planAgain(machine *Machine) {
	moments := []time.Time{machine.LaunchedAt, machine.RunningAt, machine.StoppingAt, machine.StoppedAt, machine.EndsAt, machine.GoneAt}
	for _, at := range moments {
		if !at.IsZero() && at.After(machine.begunAt(machine.reported)) {
			m.plan(transition{at, machine.ID, Changed})
		}
	}
}

// begunAt is when the instance came into a state; zero for no state.
func (m *Machine) begunAt(s State) time.Time {
	return map[State]time.Time{
		Pending: m.LaunchedAt, Running: m.RunningAt, Stopping: m.StoppingAt, Stopped: m.StoppedAt,
		ShuttingDown: m.EndsAt, Terminated: m.GoneAt,
	}[s]
}

// SetDetails keeps something with an instance, for whoever runs it.
func (m *Market) SetDetails(id string, details any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if machine, known := m.machines[id]; known {
		machine.Details = details
	}
}
