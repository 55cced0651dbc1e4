package emulator

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/daemok/daemok/test/emulator/ec2/instance"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// Event is something that happened to an instance.
type Event struct {
	At       time.Time
	Kind     market.EventKind // changed, rebalance, warning or outage
	Instance world.Instance   // as it is after the event
}

// watchers are those who follow events.
type watchers struct {
	mu    sync.Mutex
	next  int
	calls map[int]func(Event)
}

// Watch calls f for every event from now on, in order, one at a time and with
// no lock held, from the goroutine that runs Run or Settle. stop ends it.
func (s *Server) Watch(f func(Event)) (stop func()) {
	w := &s.watchers
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls == nil {
		w.calls = map[int]func(Event){}
	}
	id := w.next
	w.next++
	w.calls[id] = f
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.calls, id)
	}
}

func (w *watchers) report(e Event) {
	w.mu.Lock()
	var ids []int
	for id := range w.calls {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	calls := make([]func(Event), 0, len(ids))
	for _, id := range ids {
		calls = append(calls, w.calls[id])
	}
	w.mu.Unlock()
	for _, call := range calls {
		call(e)
	}
}

// Run carries out what falls due, until ctx ends or the server closes: events
// reach the queue and the watchers, and addresses of ended instances are
// terminated. Under a virtual clock call Settle instead.
func (s *Server) Run(ctx context.Context) {
	for {
		s.Advance()
		timer := time.NewTimer(s.untilNext())
		select {
		case <-timer.C:
		case <-s.Market().Wake():
		case <-s.Closing:
			timer.Stop()
			return
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// idle is how long Run sleeps when nothing is due.
const idle = time.Hour

func (s *Server) untilNext() time.Duration {
	now := s.Now()
	at, due := s.Market().NextChange()
	s.Mu.Lock()
	block, ends := s.NextBlockWarning(now)
	s.Mu.Unlock()
	if ends && (!due || block.Before(at)) {
		at, due = block, true
	}
	if !due {
		return idle
	}
	return max(at.Sub(now), 0)
}

// Advance carries out what is due by now. Calls wait for each other.
func (s *Server) Advance() {
	s.advancing.Lock()
	defer s.advancing.Unlock()
	s.Mu.Lock()
	s.AdvanceReservations(s.Now())
	s.Mu.Unlock()
	for _, e := range s.Market().Advance() {
		if event, known := s.advance(e); known {
			s.watchers.report(event)
		}
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.WakePollers() // time may have gone on
}

func (s *Server) advance(e market.Event) (Event, bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.announce(e)
	i := s.Records[e.Machine.ID]
	if i == nil {
		return Event{}, false
	}
	if e.Kind == market.Changed && e.State == market.Terminated {
		if sub, err := s.Subnet(i.Subnet); err == nil {
			sub.Release(i.ID)
		}
	}
	return Event{At: e.At, Kind: e.Kind, Instance: s.Outside(instance.Live{Instance: i, Machine: e.Machine, State: e.State})}, true
}
