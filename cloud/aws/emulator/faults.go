package emulator

import (
	"net/http"

	"github.com/daemok/daemok/cloud/aws/emulator/wire"
	"github.com/daemok/daemok/cloud/market"
)

// fault makes one call of an action fail.
type fault struct {
	action string
	left   int // calls of the action until the one that fails
	err    *wire.Error
}

// refusal is why launches in a pool are refused, stock or not.
type refusal struct{ code, message string }

// Fault makes the nth call of an action from now on fail with an AWS error
// code; 1 is the next call. Each fault strikes once. Codes that AWS sends
// with a server's status are sent so.
func (s *Server) Fault(action string, nth int, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := wire.Errorf(code, "%s was told to fail with %s", action, code)
	switch code {
	case "RequestLimitExceeded", "Unavailable", "ServiceUnavailable":
		e = e.WithStatus(http.StatusServiceUnavailable)
	case "InternalError", "InternalFailure":
		e = e.WithStatus(http.StatusInternalServerError)
	case "UnauthorizedOperation", "AccessDenied":
		e = e.WithStatus(http.StatusForbidden)
	}
	s.faults = append(s.faults, fault{action, nth, e})
}

// faulty counts a call against the faults and returns the one that strikes.
func (s *Server) faulty(action string) *wire.Error {
	var struck *wire.Error
	kept := s.faults[:0]
	for _, f := range s.faults {
		if f.action == action {
			f.left--
		}
		if f.left <= 0 && struck == nil {
			struck = f.err
			continue
		}
		kept = append(kept, f)
	}
	s.faults = kept
	return struck
}

// Deny takes the right to call actions away; Allow gives it back.
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

// Calls counts the calls of every action so far, refused ones included.
func (s *Server) Calls() map[string]int { return s.market.Calls() }
