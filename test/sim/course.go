package sim

import "time"

// Moment is how a world stands at a moment.
type Moment struct {
	At             time.Duration // since the beginning
	DollarsPerHour float64       // of all instances
	Nodes          int           // instances
	Pending        int           // pods without a node
	Evictions      int           // so far, so that nodes could go for the better
}

// RecordEvery is how often a replay is looked at for its course.
const RecordEvery = time.Minute

// record notes how the world stands, from now on, again and again.
func (w *World) record(course *[]Moment) {
	w.every(0, func() (time.Duration, bool) {
		*course = append(*course, w.moment())
		return RecordEvery, true
	})
}

func (w *World) moment() Moment {
	out := Moment{At: w.now.Sub(w.began), Evictions: w.checks.meter.Evictions}
	for _, m := range w.instances {
		if m.launched() && !m.ends {
			out.Nodes++
			out.DollarsPerHour += float64(m.offering.Price) / 1e6
		}
	}
	for _, p := range w.pods {
		if p.work != nil && p.at == nil && !p.Ending {
			out.Pending++
		}
	}
	return out
}
