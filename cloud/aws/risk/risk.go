// Package risk learns how often spot machines of each type and zone are taken
// away, from those that ran in this cluster.
//
// It promises that a rate is that of the last weeks, that one event among few
// machines does not make it high, and that its sequence number changes when any
// rate does. It knows of no price, and it starts anew with the program: who has it
// remember longer must hand on what was seen. A machine that was bought and taken
// away between two looks is not known of.
package risk

import (
	"maps"
	"math"
	"sync"
	"time"

	"github.com/daemok/daemok/cloud"
)

const (
	// halfLife is after how long what was seen counts half: what AWS has of a type
	// changes in weeks, and with the day of the week within one.
	halfLife = 7 * 24 * time.Hour
	// assumedHours are machine hours without an event that are taken to have been
	// seen of every type: a week of one machine. AWS takes fewer than one in ten away
	// in a month of most types (Spot Instance Advisor), so that a single event says
	// little.
	assumedHours = 7 * 24
	// step is what rates are rounded to: it makes offers one per cent dearer beside
	// others. Less would change what is for sale with every look.
	step = 0.0025
	// forgotten is when what was seen counts no more: after some ten half-lives.
	forgotten = 0.001
)

// Pool is machines that are taken away together.
type Pool struct{ Kind, Zone string }

// Memory is what was seen. It is safe for concurrent use; its zero value has
// seen nothing.
type Memory struct {
	mu    sync.Mutex
	last  time.Time
	known map[string]Pool // machines of the last look, by id
	seen  map[Pool]seen
	view  View
}

// seen is of one pool, the less the longer ago it was.
type seen struct{ hours, events float64 }

// View is what is known at one moment. It is not to be written.
type View struct {
	Seq   uint64
	rates map[Pool]float64
}

// Of is how many interruptions are expected in an hour of a spot machine; 0 where
// none is known of.
func (v View) Of(kind, zone string) float64 { return v.rates[Pool{kind, zone}] }

// View returns what is known now.
func (m *Memory) View() View {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.view
}

// Missing lists the machines of the last look that are not among those that run
// now, in no order.
func (m *Memory) Missing(running []cloud.Machine) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	runs := make(map[string]bool, len(running))
	for i := range running {
		runs[running[i].ID] = true
	}
	var out []string
	for id := range m.known {
		if !runs[id] {
			out = append(out, id)
		}
	}
	return out
}

// Saw notes the spot machines that run now, and which of those that were missing
// had been taken away.
func (m *Memory) Saw(now time.Time, running []cloud.Machine, taken []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	since := now.Sub(m.last)
	if m.last.IsZero() || since < 0 {
		since = 0
	}
	m.fade(since)
	for _, id := range taken {
		if p, ok := m.known[id]; ok {
			m.add(p, seen{events: 1})
		}
	}
	m.known, m.last = make(map[string]Pool, len(running)), now
	for i := range running {
		r := &running[i]
		p := Pool{r.Kind, r.Zone}
		m.known[r.ID] = p
		m.add(p, seen{hours: max(0, min(since, now.Sub(r.LaunchedAt))).Hours()})
	}
	m.tell()
}

// fade makes what was seen count less.
func (m *Memory) fade(since time.Duration) {
	part := math.Exp2(-since.Hours() / halfLife.Hours())
	for p, s := range m.seen {
		s.hours, s.events = s.hours*part, s.events*part
		if m.seen[p] = s; s.hours+s.events < forgotten {
			delete(m.seen, p)
		}
	}
}

func (m *Memory) add(p Pool, more seen) {
	if m.seen == nil {
		m.seen = map[Pool]seen{}
	}
	s := m.seen[p]
	m.seen[p] = seen{s.hours + more.hours, s.events + more.events}
}

// tell works the rates out, and makes a new view if one is another than before.
func (m *Memory) tell() {
	rates := map[Pool]float64{}
	for p, s := range m.seen {
		if rate := math.Round(s.events/(s.hours+assumedHours)/step) * step; rate > 0 {
			rates[p] = rate
		}
	}
	if !maps.Equal(rates, m.view.rates) {
		m.view = View{m.view.Seq + 1, rates}
	}
}
