package emulator

import (
	"math/rand/v2"
	"time"
)

// The purposes that lags are drawn for: each has its own stream, so that one
// draw never shifts another.
const (
	streamProfile uint64 = iota + 1
	streamTemplate
	streamEvent
	streamTag
	streamTwice
	streamReservation
	streamFault
)

// lag draws evenly between two ends; the lock is held.
func (s *Server) lag(stream uint64, least, most time.Duration) time.Duration {
	if most <= least {
		return least
	}
	s.draws++
	r := rand.New(rand.NewPCG(s.seed^stream, s.draws)) //nolint:gosec // a seeded model, nothing secret
	return least + time.Duration(r.Int64N(int64(most-least)))
}

func (s *Server) profileLag() time.Duration {
	return s.lag(streamProfile, s.lags.ProfileLeast, s.lags.ProfileMost)
}

func (s *Server) templateLag() time.Duration {
	return s.lag(streamTemplate, s.lags.TemplateLeast, s.lags.TemplateMost)
}

func (s *Server) eventLag() time.Duration {
	return s.lag(streamEvent, s.lags.EventLeast, s.lags.EventMost)
}

func (s *Server) reservationLag() time.Duration {
	return s.lag(streamReservation, s.lags.ReservationLeast, s.lags.ReservationMost)
}

func (s *Server) tagLag() time.Duration {
	return s.lag(streamTag, s.lags.TagLeast, s.lags.TagMost)
}

// comesTwice draws whether an event is delivered twice; it shifts no other draw.
func (s *Server) comesTwice() bool {
	r := rand.New(rand.NewPCG(s.seed^streamTwice, s.draws)) //nolint:gosec // a seeded model, nothing secret
	return r.Float64() < s.lags.EventTwice
}
