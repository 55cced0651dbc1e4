package emulator

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"

	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/test/emulator/wire"
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
func (s *Server) Fault(action string, nth int, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, Fault{Action: action, Code: code, Nth: nth, Times: 1})
}

// AddFault makes calls fail as the fault says, until it has struck as often, or EndFaults.
func (s *Server) AddFault(f Fault) error {
	if err := f.check(s.Actions()); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Times = cmp.Or(f.Times, 1)
	s.faults = append(s.faults, f)
	return nil
}

// EndFaults takes all faults of an action back and returns how many there were.
func (s *Server) EndFaults(action string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.faults)
	s.faults = slices.DeleteFunc(s.faults, func(f Fault) bool { return f.Action == action })
	return before - len(s.faults)
}

// Faults are those that have not struck as often as they are to, in the order they were added.
func (s *Server) Faults() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.faults)
}

// Actions are all that the account answers, of all services, sorted.
func (s *Server) Actions() []string {
	var all []string
	for _, actions := range s.tables {
		all = slices.AppendSeq(all, maps.Keys(actions))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Limited are the actions whose calls request limits hold for, sorted: those of EC2.
func (s *Server) Limited() []string { return slices.Sorted(maps.Keys(s.tables[wire.EC2])) }

// faulty counts a call against the faults and returns what the first one that strikes
// answers, and whether that comes after the call was carried out.
func (s *Server) faulty(action string) (struck *wire.Error, after bool) {
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
func (s *Server) strikes(f Fault) bool {
	if f.Share == 0 {
		return true
	}
	s.faultDraws++
	r := rand.New(rand.NewPCG(s.seed^streamFault, s.faultDraws)) // a seeded model, nothing secret
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
func (s *Server) Deny(actions ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range actions {
		s.denied[a] = true
	}
}

// Allow gives the right to call actions back.
func (s *Server) Allow(actions ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range actions {
		delete(s.denied, a)
	}
}

// Denied are the actions that none has the right to call, sorted.
func (s *Server) Denied() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.denied))
}

// RefusePool makes launches in a pool fail with an error code of the launch's
// own, such as VcpuLimitExceeded or UnfulfillableCapacity; an empty code ends
// it. Sold-out pools are made with the market's SetCapacity.
func (s *Server) RefusePool(p market.Pool, code, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if code == "" {
		delete(s.refusals, p)
		return
	}
	s.refusals[p] = refusal{code, message}
}

// Refused counts the pools in which launches are refused.
func (s *Server) Refused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.refusals)
}

// Calls counts the calls of every action so far, refused ones included.
func (s *Server) Calls() map[string]int { return s.market.Calls() }
