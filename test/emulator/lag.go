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
	streamTemplateSeen
)

// lag draws evenly between two ends; the lock is held.
func (s *Server) lag(stream uint64, least, most time.Duration) time.Duration {
	if most <= least {
		return least
	}
	s.draws++
	r := rand.New(rand.NewPCG(s.seed^stream, s.draws)) // a seeded model, nothing secret
	return least + time.Duration(r.Int64N(int64(most-least)))
}

func (s *Server) profileLag() time.Duration {
	return s.lag(streamProfile, s.lags.ProfileLeast, s.lags.ProfileMost)
}

func (s *Server) templateLag() time.Duration {
	late := s.lag(streamTemplate, s.lags.TemplateLeast, s.lags.TemplateMost)
	if s.chance(streamTemplateSeen) < s.lags.TemplateSeen {
		return 0
	}
	return late
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

// comesTwice draws whether an event is delivered twice.
func (s *Server) comesTwice() bool { return s.chance(streamTwice) < s.lags.EventTwice }

// chance draws a number from 0 to 1 and shifts no other draw.
func (s *Server) chance(stream uint64) float64 {
	return rand.New(rand.NewPCG(s.seed^stream, s.draws)).Float64() // a seeded model, nothing secret
}
