package market

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"
)

// State is where an instance is in its life.
type State string

// The states, in order.
const (
	Pending      State = "pending"
	Running      State = "running"
	ShuttingDown State = "shutting-down"
	Terminated   State = "terminated"
	Stopping     State = "stopping"
	Stopped      State = "stopped"
)

// Machine is one instance. Moments that have not come, or are not planned,
// are zero.
type Machine struct {
	ID         string
	Pool       Pool
	LaunchedAt time.Time
	VisibleAt  time.Time // before it, some calls do not know the instance yet
	RunningAt  time.Time
	EndsAt     time.Time // begins to shut down
	GoneAt     time.Time // is terminated
	StoppingAt time.Time // begins to stop rather than to end
	StoppedAt  time.Time
	AdvisedAt  time.Time // rebalancing was recommended
	WarnedAt   time.Time // of its interruption
	Reason     string    // why it ended, in the cloud's words
	JoinFor    time.Duration
	NeverJoins bool
	PriceUSD   float64 // an hour, when it was launched
	Details    any     `json:"-"`

	reported State // the last state an event told of
}

// At is the instance's state at a moment.
func (m *Machine) At(now time.Time) State {
	reached := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	switch {
	case reached(m.GoneAt):
		return Terminated
	case reached(m.EndsAt):
		return ShuttingDown
	case reached(m.StoppedAt):
		return Stopped
	case reached(m.StoppingAt):
		return Stopping
	case reached(m.RunningAt):
		return Running
	}
	return Pending
}

// transition is a change of state or a warning that is to come.
type transition struct {
	at      time.Time
	machine string
	kind    EventKind
}

// EventKind is what an event tells.
type EventKind string

// The kinds: an instance's new state, a word before its interruption, and that its zone
// was cut off or is there again.
const (
	Changed   EventKind = "changed"
	Rebalance EventKind = "rebalance"
	Warning   EventKind = "warning"
	Outage    EventKind = "outage"
)

// Event is something that happened to an instance.
type Event struct {
	At      time.Time
	Kind    EventKind
	State   State // for Changed
	Machine Machine
}

// boot makes one instance; the lock is held.
func (m *Market) boot(o Order) *Machine {
	m.next++
	now, k := m.now(), m.kinds[o.Pool.Kind]
	id := fmt.Sprintf("i-%08x%09x", uint32(m.seed), m.next)
	boot, join := m.bootOf(o.Pool), m.figures.Join
	if k.Slow {
		join = m.figures.JoinSlow
	}
	machine := &Machine{
		ID: id, Pool: o.Pool, LaunchedAt: now,
		VisibleAt:  now.Add(m.figures.Visible.at(draw(m.seed, id, "visible"))),
		RunningAt:  now.Add(m.scaled(boot.at(draw(m.seed, id, "boot")))),
		JoinFor:    m.scaled(join.at(draw(m.seed, id, "join"))),
		NeverJoins: draw(m.seed, id, "never") < m.never,
		PriceUSD:   float64(m.priceAt(o.Pool, now) * cmp.Or(o.MoreExpensive, 1)),
		Details:    o.Details,
	}
	if m.failing > 0 {
		m.failing--
		machine.EndsAt, machine.GoneAt, machine.Reason, machine.RunningAt = machine.RunningAt, machine.RunningAt, m.failingBy, time.Time{}
		m.giveBack(o.Pool)
		m.forgetLater(machine)
		m.plan(transition{machine.GoneAt, id, Changed})
	}
	m.machines[id] = machine
	m.plan(transition{now, id, Changed})
	if !machine.RunningAt.IsZero() {
		m.plan(transition{machine.RunningAt, id, Changed})
	}
	return machine
}

func (m *Market) scaled(d time.Duration) time.Duration { return time.Duration(float64(d) * m.scale) }

// FailBoots makes the next n instances end before they run, for a reason such as
// Client.VolumeLimitExceeded.
func (m *Market) FailBoots(n int, reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failing, m.failingBy = n, reason
}

// SetNeverJoin makes a share of the instances launched from now on never join a
// cluster.
func (m *Market) SetNeverJoin(share float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.never = share
}

// Terminate begins to shut an instance down; it reports false for one that is
// not remembered. It is safe to repeat.
func (m *Market) Terminate(id, reason string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	machine, known := m.machines[id]
	if !known {
		return false
	}
	m.end(machine, m.now(), reason)
	m.signal()
	return true
}

// end plans the instance's end from a moment on, unless it ends sooner.
func (m *Market) end(machine *Machine, at time.Time, reason string) {
	if !machine.EndsAt.IsZero() && !machine.EndsAt.After(at) {
		return
	}
	if machine.EndsAt.IsZero() { // else its place was terminated when its end was planned
		m.giveBack(machine.Pool)
	}
	machine.EndsAt, machine.Reason = at, reason
	machine.GoneAt = at.Add(m.scaled(m.figures.ShutDown.at(draw(m.seed, machine.ID, "shutdown"))))
	m.forgetLater(machine)
	m.plan(transition{machine.EndsAt, machine.ID, Changed})
	m.plan(transition{machine.GoneAt, machine.ID, Changed})
}

// giveBack makes room for one instance more in a pool that is limited.
func (m *Market) giveBack(p Pool) {
	if d, limited := m.capacity[p]; limited {
		d.left, d.measuredAt = min(d.most, d.at(m.now())+1), m.now()
		m.capacity[p] = d
	}
}

// Stop begins to stop an instance without ending it; it reports false for one
// that is not running.
func (m *Market) Stop(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	machine, known := m.machines[id]
	if !known || machine.At(m.now()) != Running {
		return false
	}
	machine.StoppingAt = m.now()
	machine.StoppedAt = machine.StoppingAt.Add(m.scaled(m.figures.ShutDown.at(draw(m.seed, id, "stop"))))
	m.plan(transition{machine.StoppingAt, id, Changed})
	m.plan(transition{machine.StoppedAt, id, Changed})
	m.signal()
	return true
}

// Start boots a stopped instance again; it reports false for one that is not
// stopped.
func (m *Market) Start(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	machine, known := m.machines[id]
	if !known || machine.At(m.now()) != Stopped {
		return false
	}
	machine.StoppingAt, machine.StoppedAt = time.Time{}, time.Time{}
	machine.RunningAt = m.now().Add(m.scaled(m.bootOf(machine.Pool).at(draw(m.seed, id, "start"))))
	m.plan(transition{machine.RunningAt, id, Changed})
	m.signal()
	return true
}

// bootOf is how long instances of a pool take to boot.
func (m *Market) bootOf(p Pool) Spread {
	switch {
	case m.kinds[p.Kind].Slow:
		return m.figures.BootSlow
	case p.Option == Spot:
		return m.figures.BootSpot
	}
	return m.figures.BootOnDemand
}

// Interrupt warns a spot instance that its end comes WarningFor later; it
// reports false for an instance that is not remembered.
func (m *Market) Interrupt(id string) bool { return m.InterruptAdvised(id, -1) }

// InterruptAdvised is Interrupt that sends a rebalance recommendation now, and the
// warning so much later; a negative lead sends none.
func (m *Market) InterruptAdvised(id string, lead time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	machine, known := m.machines[id]
	if !known {
		return false
	}
	now := m.now()
	if lead >= 0 {
		machine.AdvisedAt = now
		m.plan(transition{now, id, Rebalance})
	}
	machine.WarnedAt = now.Add(max(lead, 0))
	m.plan(transition{machine.WarnedAt, id, Warning})
	m.end(machine, machine.WarnedAt.Add(m.figures.WarningFor), "Server.SpotInstanceTermination")
	m.signal()
	return true
}

// Warn warns an instance, at a moment that may be past, that it ends at another; zero is
// WarningFor later. One that was warned before, or has an end that is no later, is left
// alone. It reports false for that, and for an instance that is not remembered.
func (m *Market) Warn(id string, at, ends time.Time, reason string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ends.IsZero() {
		ends = at.Add(m.figures.WarningFor)
	}
	machine, known := m.machines[id]
	if !known || !machine.WarnedAt.IsZero() || !machine.EndsAt.IsZero() && !machine.EndsAt.After(ends) {
		return false
	}
	machine.WarnedAt = at
	m.plan(transition{at, id, Warning})
	m.end(machine, ends, reason)
	m.signal()
	return true
}

// Recommend sends a rebalance recommendation.
func (m *Market) Recommend(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if machine, known := m.machines[id]; known {
		machine.AdvisedAt = m.now()
	}
	m.plan(transition{m.now(), id, Rebalance})
	m.signal()
}

// plan notes a transition, after those of the same moment.
func (m *Market) plan(t transition) {
	i := sort.Search(len(m.due), func(i int) bool { return m.due[i].at.After(t.at) })
	m.due = slices.Insert(m.due, i, t)
}

// NextChange is when the next event is due; ok is false when none is.
func (m *Market) NextChange() (at time.Time, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.due) == 0 {
		return time.Time{}, false
	}
	return m.due[0].at, true
}

// Advance returns the events that have become due, in order, each once.
// Changes that were overtaken are left out.
func (m *Market) Advance() []Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	var out []Event
	for len(m.due) > 0 && !m.due[0].at.After(now) {
		t := m.due[0]
		m.due = m.due[1:]
		machine, known := m.machines[t.machine]
		if !known {
			continue
		}
		state := machine.At(t.at)
		if t.kind == Changed {
			if state == machine.reported || !begins(machine, state, t.at) {
				continue
			}
			machine.reported = state
		}
		out = append(out, Event{At: t.at, Kind: t.kind, State: state, Machine: *machine})
	}
	return out
}

// begins reports whether the state starts at that very moment, so that a
// transition which was planned and then moved tells nothing.
func begins(m *Machine, state State, at time.Time) bool {
	switch state {
	case Pending:
		return at.Equal(m.LaunchedAt)
	case Running:
		return at.Equal(m.RunningAt)
	case ShuttingDown:
		return at.Equal(m.EndsAt)
	case Stopping:
		return at.Equal(m.StoppingAt)
	case Stopped:
		return at.Equal(m.StoppedAt)
	}
	return at.Equal(m.GoneAt)
}

// forgetOld drops instances that were terminated long ago; the lock is held.
func (m *Market) forgetOld() {
	now := m.now()
	if m.forgetAt.IsZero() || !now.After(m.forgetAt) {
		return
	}
	m.forgetAt = time.Time{}
	for _, id := range slices.Sorted(maps.Keys(m.machines)) { // in order, since sums of floats depend on it
		machine := m.machines[id]
		switch {
		case machine.GoneAt.IsZero():
		case now.After(machine.GoneAt.Add(m.figures.RememberFor)):
			m.spentUSD += machine.costUSD(now)
			delete(m.machines, id)
		default:
			m.forgetLater(machine)
		}
	}
}

// forgetLater notes that an instance that has an end is to be forgotten in its time.
func (m *Market) forgetLater(machine *Machine) {
	at := machine.GoneAt.Add(m.figures.RememberFor)
	if m.forgetAt.IsZero() || at.Before(m.forgetAt) {
		m.forgetAt = at
	}
}
