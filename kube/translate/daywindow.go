package translate

import (
	"slices"
	"time"

	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
)

// dayWindow is a time that comes again on days of the week, by the clocks of a
// place.
type dayWindow struct {
	zone         *time.Location
	days         []v1alpha1.Day // none: every day
	hour, minute int
	length       time.Duration
}

// readDayWindow reads a window that was found to be right.
func readDayWindow(w v1alpha1.Window) dayWindow {
	zone, err := time.LoadLocation(w.TimeZone)
	if err != nil {
		panic("translate: a time zone was not checked: " + w.TimeZone)
	}
	start, _ := time.Parse("15:04", w.Start)
	length, _ := time.ParseDuration(w.Duration)
	return dayWindow{zone: zone, days: w.Days, hour: start.Hour(), minute: start.Minute(), length: length}
}

const day = 24 * time.Hour

// daysAround are the days that openings are searched for on: a window that opened a week ago may
// still be open, and one comes again within a week. One more on either side is for zones.
const daysAround = 8

// openings lists when the window opens around a moment, in order.
func (w dayWindow) openings(now time.Time) []time.Time {
	var out []time.Time
	today := now.In(w.zone)
	for i := -daysAround; i <= daysAround; i++ {
		d := time.Date(today.Year(), today.Month(), today.Day()+i, 12, 0, 0, 0, w.zone)
		if len(w.days) == 0 || slices.Contains(w.days, v1alpha1.Day(d.Weekday().String()[:3])) {
			out = append(out, w.at(d))
		}
	}
	return out
}

// at is when the window opens on a day. A time that the clocks skip is the moment
// at which they do; of one that comes twice it is the first.
func (w dayWindow) at(d time.Time) time.Time {
	t := time.Date(d.Year(), d.Month(), d.Day(), w.hour, w.minute, 0, 0, w.zone)
	if t.Hour() == w.hour && t.Minute() == w.minute {
		if start, _ := t.ZoneBounds(); !start.IsZero() {
			if first := twin(t, start); !first.IsZero() {
				return first
			}
		}
		return t.UTC()
	}
	start, end := t.ZoneBounds()
	if t.Sub(start) < day {
		return start.UTC()
	}
	return end.UTC()
}

// twin is the earlier moment at which the clocks show the same, where they were
// set back at start; zero: there is none.
func twin(t, start time.Time) time.Time {
	_, before := start.Add(-time.Second).Zone()
	_, after := t.Zone()
	first := t.Add(time.Duration(after-before) * time.Second)
	if after < before && first.Before(start) {
		return first.UTC()
	}
	return time.Time{}
}

// openAt reports whether one of the windows is open, and when that next changes:
// when the last of those that are open closes, or the first opens. Without
// windows it is always open.
func openAt(windows []dayWindow, now time.Time) (open bool, changes time.Time) {
	if len(windows) == 0 {
		return true, time.Time{}
	}
	var spans [][2]time.Time
	for _, w := range windows {
		for _, at := range w.openings(now) {
			spans = append(spans, [2]time.Time{at, at.Add(w.length)})
		}
	}
	slices.SortFunc(spans, func(a, b [2]time.Time) int { return a[0].Compare(b[0]) })
	var until time.Time
	for _, s := range spans {
		switch {
		case !s[1].After(now): // over
		case s[0].After(now) && until.IsZero():
			return false, s[0]
		case s[0].After(now) && s[0].After(until):
			return true, until
		case s[1].After(until):
			until = s[1]
		}
	}
	return true, until
}
