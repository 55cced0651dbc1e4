package emulator

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/daemok/daemok/test/market"
)

// Instance is what the world outside AWS may know of an instance: enough to
// boot a pretend instance for it.
type Instance struct {
	ID          string
	Type        string
	Zone        string
	ZoneID      string
	State       string // pending, running, shutting-down, terminated, stopped
	Spot        bool
	LaunchedAt  time.Time
	UserData    string // in the clear
	PrivateDNS  string
	PrivateIP   string
	PublicIP    string
	ImageID     string
	ImageName   string
	ImageFamily string // AL2023, AL2, Bottlerocket, Windows2022, Ubuntu …
	Arch        string // x86_64 or arm64
	Role        string // of its instance profile; empty without one
	Profile     string
	Template    string // launch template ID
	Volumes     []Volume
	Interfaces  int
	Adapters    int // interfaces with an Elastic Fabric Adapter
	Tags        map[string]string
	JoinFor     time.Duration // from running to the node in the cluster
	NeverJoins  bool
	Unreachable bool // its zone is cut off
}

// Volume is one volume of an instance.
type Volume struct {
	Device  string
	SizeGiB int
}

// Event is something that happened to an instance.
type Event struct {
	At       time.Time
	Kind     market.EventKind // changed, rebalance, warning or outage
	Instance Instance         // as it is after the event
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
		case <-s.market.Wake():
		case <-s.closing:
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
	now := s.now()
	at, due := s.market.NextChange()
	s.mu.Lock()
	block, ends := s.nextBlockWarning(now)
	s.mu.Unlock()
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
	s.mu.Lock()
	s.advanceReservations(s.now())
	s.mu.Unlock()
	for _, e := range s.market.Advance() {
		if event, known := s.advance(e); known {
			s.watchers.report(event)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wakePollers() // time may have gone on
}

func (s *Server) advance(e market.Event) (Event, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.announce(e)
	i := s.st.Instances[e.Machine.ID]
	if i == nil {
		return Event{}, false
	}
	if e.Kind == market.Changed && e.State == market.Terminated {
		if sub, err := s.st.subnet(i.Subnet); err == nil {
			sub.release(i.ID)
		}
	}
	return Event{At: e.At, Kind: e.Kind, Instance: s.outside(live{instance: i, machine: e.Machine, state: e.State})}, true
}

// Instances returns all instances that AWS remembers, terminated ones too,
// sorted by ID, whether or not its own calls see them yet.
func (s *Server) Instances() []Instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Instance
	for _, l := range s.instances(s.now()) {
		all = append(all, s.outside(l))
	}
	return all
}

// outside is a record as the outside world sees it; the lock is held.
func (s *Server) outside(l live) Instance {
	o := Instance{
		ID: l.ID, Type: l.Type, Zone: l.Zone.Name, ZoneID: l.Zone.ID, State: string(l.state), Spot: l.Spot, LaunchedAt: l.LaunchedAt,
		UserData: l.userData(), PrivateDNS: s.st.privateName(l.instance), PrivateIP: l.Address, PublicIP: l.PublicIP, ImageID: l.Data.ImageID,
		Profile: l.Profile, Template: l.Template, Interfaces: len(l.Interfaces), Adapters: l.adapters(), Tags: l.Tags.asMap(), JoinFor: l.machine.JoinFor, NeverJoins: l.machine.NeverJoins,
	}
	if img, err := s.st.image(l.Data.ImageID); err == nil {
		o.ImageName, o.ImageFamily, o.Arch = img.Name, img.Family, img.Architecture
	}
	if p := s.st.Profiles[l.Profile]; p != nil {
		o.Role = p.Role
	}
	_, o.Unreachable = s.market.Outages()[l.Zone.Name]
	for _, v := range l.Volumes {
		o.Volumes = append(o.Volumes, Volume{v.Device, v.SizeGiB})
	}
	return o
}
