package faults

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"

	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// Fault has calls of an action fail.
type Fault struct {
	Action string  // such as CreateFleet
	Code   string  // AWS's; codes that AWS sends with a server's status are sent so
	Nth    int     // first call to fail, counted from now on; 0 and 1 are the next
	Times  int     // how many calls fail from there on; 0 is one, less than 0 all
	Share  float64 // of the calls from there on, by chance; 0 is every one
	After  bool    // the call is carried out, and its answer is lost
}

// check returns what is wrong with the order, by the actions there are.
func (f Fault) check(actions []string) error {
	switch {
	case !slices.Contains(actions, f.Action):
		return fmt.Errorf("no service of the emulator has an action %q%s", f.Action, nearest.DidYouMean(f.Action, actions))
	case f.Nth < 0:
		return fmt.Errorf("the call of %s that fails is the %dth from now on: want 1 for the next, or more", f.Action, f.Nth)
	case f.Code == "":
		return fmt.Errorf("a fault of %s needs an error code, such as InternalError", f.Action)
	case f.Share < 0 || f.Share > 1:
		return fmt.Errorf("share of calls of %s that fail is %v: want 0 to 1", f.Action, f.Share)
	}
	return nil
}

// refusal is why launches in a pool are refused, capacity reservation or not.
type refusal struct{ code, message string }

// Fault makes the nth call of an action from now on fail with an AWS error
// code; 1 is the next call. The fault strikes once.
func (s *Injector) Fault(action string, nth int, code string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.faults = append(s.faults, Fault{Action: action, Code: code, Nth: nth, Times: 1})
}

// AddFault makes calls fail as the fault says, until it has struck as often, or EndFaults.
func (s *Injector) AddFault(f Fault) error {
	if err := f.check(s.Answered); err != nil {
		return err
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	f.Times = cmp.Or(f.Times, 1)
	s.faults = append(s.faults, f)
	return nil
}

// EndFaults takes all faults of an action back and returns how many there were.
func (s *Injector) EndFaults(action string) int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	before := len(s.faults)
	s.faults = slices.DeleteFunc(s.faults, func(f Fault) bool { return f.Action == action })
	return before - len(s.faults)
}

// Faults are those that have not struck as often as they are to, in the order they were added.
func (s *Injector) Faults() []Fault {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return slices.Clone(s.faults)
}

// Faulty counts a call against the faults and returns what the first one that strikes
// answers, and whether that comes after the call was carried out.
func (s *Injector) Faulty(action string) (struck *wire.Error, after bool) {
	kept := s.faults[:0]
	for _, f := range s.faults {
		if f.Action == action && f.Nth > 1 {
			f.Nth--
		} else if f.Action == action && struck == nil && s.strikes(f) {
			struck, after = f.answer(), f.After
			f.Times-- // below zero it never comes to be zero
			if f.Times == 0 {
				continue
			}
		}
		kept = append(kept, f)
	}
	s.faults = kept
	return struck, after
}

// strikes draws whether a fault strikes; each draw is one of its own.
func (s *Injector) strikes(f Fault) bool {
	if f.Share == 0 {
		return true
	}
	s.faultDraws++
	r := rand.New(rand.NewPCG(s.Seed()^world.StreamFault, s.faultDraws)) // a seeded model, nothing secret
	return r.Float64() < f.Share
}

func (f Fault) answer() *wire.Error {
	e := wire.Errorf(f.Code, "%s fails with %s by a fault of the emulator", f.Action, f.Code)
	switch f.Code {
	case "RequestLimitExceeded", "Unavailable", "ServiceUnavailable":
		return e.WithStatus(http.StatusServiceUnavailable)
	case "InternalError", "InternalFailure":
		return e.WithStatus(http.StatusInternalServerError)
	case "UnauthorizedOperation", "AccessDenied":
		return e.WithStatus(http.StatusForbidden)
	}
	return e
}

// OnReservations is what Deny takes for the right to launch into capacity reservations
// that are named, which IAM checks beside that to launch at all.
const OnReservations = "RunInstances/capacity-reservation"

// OnReservation is what Deny takes for that right on one of them.
func OnReservation(id string) string { return OnReservations + "/" + id }

// Deny takes the right to call actions away, or OnReservations; Allow gives it back.
func (s *Injector) Deny(actions ...string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, a := range actions {
		s.denied[a] = true
	}
}

// Allow gives the right to call actions back.
func (s *Injector) Allow(actions ...string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, a := range actions {
		delete(s.denied, a)
	}
}

// Denies reports whether the right to call an action was taken away. The lock is held.
func (s *Injector) Denies(action string) bool { return s.denied[action] }

// Denied are the actions that none has the right to call, sorted.
func (s *Injector) Denied() []string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return slices.Sorted(maps.Keys(s.denied))
}

// RefusePool makes launches in a pool fail with an error code of the launch's
// own, such as VcpuLimitExceeded or UnfulfillableCapacity; an empty code ends
// it. Sold-out pools are made with the market's SetCapacity.
func (s *Injector) RefusePool(p market.Pool, code, message string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if code == "" {
		delete(s.refusals, p)
		return
	}
	s.refusals[p] = refusal{code, message}
}

// Refused counts the pools in which launches are refused.
func (s *Injector) Refused() int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return len(s.refusals)
}

// RefusedIn is how launches in a pool are refused; nil: they are not. The lock is held.
func (s *Injector) RefusedIn(p market.Pool) *wire.Error {
	r, refused := s.refusals[p]
	if !refused {
		return nil
	}
	return wire.Errorf(r.code, "%s", cmp.Or(r.message, "The launch of "+p.String()+" is refused with "+r.code))
}
