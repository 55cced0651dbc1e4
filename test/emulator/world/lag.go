package world

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
	StreamFault
	streamTemplateSeen
)

// lag draws evenly between two ends; the lock is held.
func (s *World) lag(stream uint64, least, most time.Duration) time.Duration {
	if most <= least {
		return least
	}
	s.draws++
	r := rand.New(rand.NewPCG(s.seed^stream, s.draws)) // a seeded model, nothing secret
	return least + time.Duration(r.Int64N(int64(most-least)))
}

// ProfileLag draws how long EC2 does not know a new instance profile. The lock is held.
func (s *World) ProfileLag() time.Duration {
	return s.lag(streamProfile, s.lags.ProfileLeast, s.lags.ProfileMost)
}

// TemplateLag draws how long launches do not find a new launch template. The lock is held.
func (s *World) TemplateLag() time.Duration {
	late := s.lag(streamTemplate, s.lags.TemplateLeast, s.lags.TemplateMost)
	if s.chance(streamTemplateSeen) < s.lags.TemplateSeen {
		return 0
	}
	return late
}

// EventLag draws how long an event takes to a queue. The lock is held.
func (s *World) EventLag() time.Duration {
	return s.lag(streamEvent, s.lags.EventLeast, s.lags.EventMost)
}

// ReservationLag draws how long the free count of a capacity reservation stays old. The lock is held.
func (s *World) ReservationLag() time.Duration {
	return s.lag(streamReservation, s.lags.ReservationLeast, s.lags.ReservationMost)
}

// TagLag draws how long filters do not see a tag. The lock is held.
func (s *World) TagLag() time.Duration {
	return s.lag(streamTag, s.lags.TagLeast, s.lags.TagMost)
}

// ComesTwice draws whether an event is delivered twice.
func (s *World) ComesTwice() bool { return s.chance(streamTwice) < s.lags.EventTwice }

// chance draws a number from 0 to 1 and shifts no other draw.
func (s *World) chance(stream uint64) float64 {
	return rand.New(rand.NewPCG(s.seed^stream, s.draws)).Float64() // a seeded model, nothing secret
}
