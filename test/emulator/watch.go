package emulator

import (
	"context"
	"slices"
	"sync"
	"time"

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
	block, ends := s.nextBlockWarning(now)
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
	s.advanceReservations(s.Now())
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
	return Event{At: e.At, Kind: e.Kind, Instance: s.outside(live{instance: i, machine: e.Machine, state: e.State})}, true
}

// Instances returns all instances that AWS remembers, terminated ones too,
// sorted by ID, whether or not its own calls see them yet.
func (s *Server) Instances() []world.Instance {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	var all []world.Instance
	for _, l := range s.instances(s.Now()) {
		all = append(all, s.outside(l))
	}
	return all
}

// outside is a record as the outside world sees it; the lock is held.
func (s *Server) outside(l live) world.Instance {
	o := world.Instance{
		ID: l.ID, Type: l.Type, Zone: l.Zone.Name, ZoneID: l.Zone.ID, State: string(l.state), Spot: l.Spot, LaunchedAt: l.LaunchedAt,
		Network: world.Network{
			Subnet: l.Subnet, PrivateDNS: s.privateName(l.instance), PrivateIP: l.Address, PublicIP: l.PublicIP,
			Interfaces: len(l.Interfaces), Adapters: l.adapters(),
		},
		UserData: l.userData(), Image: world.Image{ImageID: l.Data.ImageID},
		Profile: l.Profile, Template: l.Template, Tags: l.Tags.AsMap(), JoinFor: l.machine.JoinFor, NeverJoins: l.machine.NeverJoins,
	}
	if img, err := s.Image(l.Data.ImageID); err == nil {
		o.ImageName, o.ImageFamily, o.Arch = img.Name, img.Family, img.Architecture
	}
	if p := s.Profiles[l.Profile]; p != nil {
		o.Role = p.Role
	}
	_, o.Unreachable = s.Market().Outages()[l.Zone.Name]
	for _, v := range l.Volumes {
		o.Volumes = append(o.Volumes, world.Volume{v.Device, v.SizeGiB})
	}
	return o
}
