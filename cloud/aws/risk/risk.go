// Package risk learns how often spot instances of each type and zone are interrupted, from those that
// ran in this cluster.
//
// It promises that a rate covers the last weeks, that one event among few instances does not make it
// high, and that its sequence number changes when any rate does. It knows no prices. A program that
// starts again knows what the previous one handed on (Seen, Recall). It does not know of an instance
// that was launched and interrupted between two observations, or while no program ran.
package risk

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/daemok/daemok/cloud"
)

const (
	// halfLife is after how long what was seen counts half: what AWS has of a type
	// changes in weeks, and with the day of the week within one.
	halfLife = 7 * 24 * time.Hour
	// assumedHours are instance hours without an event that are taken to have been seen of
	// every type: a week of one instance. AWS takes fewer than one in ten away in a month
	// of most types (Spot Instance Advisor), so that a single event says little.
	assumedHours = 7 * 24
	// step is what rates are rounded to: it makes offerings one per cent more expensive
	// beside others. Less would change the catalogue with every observation.
	step = 0.0025
	// forgotten is when what was seen counts no more: after some ten half-lives.
	forgotten = 0.001
	// seenMost is of how many pools is handed on what was seen: more than any cluster runs
	// spot instances of.
	seenMost = 2000
)

// Pool is instances that are taken away together.
type Pool struct{ Kind, Zone string }

// Memory is what was seen. It is safe for concurrent use; its zero value has
// seen nothing.
type Memory struct {
	mu    sync.Mutex
	last  time.Time
	known map[string]Pool // instances of the last observation, by id
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

// Of is how many interruptions are expected in an hour of a spot instance; 0 where none is
// known of.
func (v View) Of(kind, zone string) float64 { return v.rates[Pool{kind, zone}] }

// View returns what is known now.
func (m *Memory) View() View {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.view
}

// Missing lists the instances of the last observation that are not among those that run
// now, in no order.
func (m *Memory) Missing(running []cloud.Instance) []string {
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

// Saw notes the spot instances that run now, and which of those that were missing had been
// taken away.
func (m *Memory) Saw(now time.Time, running []cloud.Instance, taken []string) {
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
	m.report()
}

// Seen is what was seen, for another process to go on from: of the pools that were
// seen most of.
func (m *Memory) Seen() cloud.SpotSeen {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := cloud.SpotSeen{At: m.last}
	for p, s := range m.seen {
		out.Pools = append(out.Pools, cloud.SpotPool{Kind: p.Kind, Zone: p.Zone, Hours: short(s.hours), Events: short(s.events)})
	}
	byName := func(a, b cloud.SpotPool) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Zone, b.Zone)) }
	if len(out.Pools) > seenMost {
		slices.SortFunc(out.Pools, func(a, b cloud.SpotPool) int {
			return cmp.Or(cmp.Compare(b.Hours+b.Events, a.Hours+a.Events), byName(a, b))
		})
		out.Pools = out.Pools[:seenMost]
	}
	slices.SortFunc(out.Pools, byName)
	return out
}

// short is a figure to three places.
func short(x float64) float64 { return math.Round(x*1000) / 1000 }

// Recall takes in what another process has seen, of each pool that it has seen more of:
// both saw the same instances, so that nothing is added up, and to recall the same again
// changes nothing.
func (m *Memory) Recall(now time.Time, what cloud.SpotSeen) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.last.IsZero() {
		now = m.last // what was seen here is reported as of then
	}
	part := remaining(max(0, now.Sub(what.At)))
	for _, o := range what.Pools {
		p, s := Pool{o.Kind, o.Zone}, seen{o.Hours * part, o.Events * part}
		if own := m.seen[p]; min(s.hours, s.events) >= 0 && s.hours+s.events > own.hours+own.events {
			delete(m.seen, p)
			m.add(p, s)
		}
	}
	m.report()
}

// fade makes what was seen count less.
func (m *Memory) fade(since time.Duration) {
	part := remaining(since)
	for p, s := range m.seen {
		s.hours, s.events = s.hours*part, s.events*part
		if m.seen[p] = s; s.hours+s.events < forgotten {
			delete(m.seen, p)
		}
	}
}

// remaining is which part of what was seen counts after so long.
func remaining(after time.Duration) float64 { return math.Exp2(-after.Hours() / halfLife.Hours()) }

func (m *Memory) add(p Pool, more seen) {
	if m.seen == nil {
		m.seen = map[Pool]seen{}
	}
	s := m.seen[p]
	m.seen[p] = seen{s.hours + more.hours, s.events + more.events}
}

// report works the rates out, and makes a new view if one is another than before.
func (m *Memory) report() {
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
