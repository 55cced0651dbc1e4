package mark

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
)

// schedule is the annotation of an object that says at which times it has how many of what it counts.
type schedule struct {
	TimeZone string   `json:"timeZone"` // of the IANA database; empty: UTC
	Holidays []string `json:"holidays"` // days of that time zone on which nothing changes, such as 2026-12-25
	Changes  []moment `json:"changes"`
}

// moment is when the number changes. It has one of the numbers, by the object that is annotated.
type moment struct {
	At       string `json:"at"`       // a cron expression in that time zone
	Nodes    *int64 `json:"nodes"`    // of a pool
	Replicas *int64 `json:"replicas"` // of a buffer
}

// What a schedule counts.
const (
	countNodes    = "nodes"
	countReplicas = "replicas"
)

// number is the one that the object counts; nil: there is none, or the other one.
func (m *moment) number(of string) *int64 {
	switch {
	case of == countNodes && m.Replicas == nil:
		return m.Nodes
	case of == countReplicas && m.Nodes == nil:
		return m.Replicas
	}
	return nil
}

// changesMost bounds how often a schedule may change, so that finding the last change stays cheap: no more than
// every five minutes.
const changesMost = 5 * time.Minute

// Hours is what the pool's schedule says of its nodes now: what its last change before says. Of changes at the same
// moment the later in the list counts. Before the first it says nothing.
//
// Cost: linear in the changes of a day, or where there are fewer in those of the week, month or year before.
func Hours(annotations map[string]string, now time.Time) (cluster.Hours, error) {
	return hours(annotations, now, countNodes)
}

// Replicas is likewise for how many pods a CapacityBuffer keeps capacity now, in place of spec.replicas, and until
// when; nil: its spec says.
func Replicas(annotations map[string]string, now time.Time) (replicas *int64, until time.Time, err error) {
	h, err := hours(annotations, now, countReplicas)
	return h.Nodes, h.Until, err
}

func hours(annotations map[string]string, now time.Time, of string) (cluster.Hours, error) {
	text, said := annotations[api.AnnotationHours]
	if !said {
		return cluster.Hours{}, nil
	}
	out, err := readHours(text, now, of)
	if err != nil {
		return cluster.Hours{}, &Error{api.AnnotationHours, err}
	}
	return out, nil
}

const hoursExample = `{timeZone: Europe/Berlin, changes: [{at: "0 7 * * *", nodes: 5}, {at: "0 19 * * *", nodes: 0}]}`

func readHours(text string, now time.Time, of string) (out cluster.Hours, err error) {
	var h schedule
	if err := yaml.UnmarshalStrict([]byte(text), &h); err != nil {
		return out, fmt.Errorf("it is no YAML such as %s: %w", hoursExample, err)
	}
	zone, err := time.LoadLocation(h.TimeZone)
	if err != nil {
		return out, fmt.Errorf("timeZone: %q is none of the IANA database, such as Europe/Berlin", h.TimeZone)
	}
	for i, d := range h.Holidays {
		if _, err := time.Parse(time.DateOnly, d); err != nil {
			return out, fmt.Errorf("holidays[%d]: %q is no day such as 2026-12-25", i, d)
		}
	}
	if len(h.Changes) == 0 {
		return out, fmt.Errorf("changes: there are none: want one at least, such as in %s", hoursExample)
	}
	var last time.Time
	for i := range h.Changes {
		c := &h.Changes[i]
		when, err := parseTimes(c.At)
		switch {
		case err != nil:
			return out, fmt.Errorf("changes[%d].at: %q %w", i, c.At, err)
		case c.number(of) == nil || *c.number(of) < 0:
			return out, fmt.Errorf("changes[%d].%s: want how many there are from then on, 0 or more, and no other number", i,
				of)
		}
		t := times{when, zone, h.Holidays}
		if at := t.last(now); !at.IsZero() && !at.Before(last) {
			last, out.Nodes = at, c.number(of)
		}
		if next := t.next(now); !next.IsZero() && (out.Until.IsZero() || next.Before(out.Until)) {
			out.Until = next
		}
	}
	return out, nil
}

// times are the moments of a cron expression in a time zone, without those on holidays.
type times struct {
	cron.Schedule
	zone     *time.Location
	holidays []string
}

// next is the first moment after now; zero: there is none within a year.
func (t times) next(now time.Time) time.Time {
	for at := t.Next(now.In(t.zone)); !at.IsZero() && at.Sub(now) <= year; at = t.Next(at) {
		if !slices.Contains(t.holidays, at.Format(time.DateOnly)) {
			return at.UTC()
		}
	}
	return time.Time{}
}

const year = 366 * 24 * time.Hour

// last is the last moment up to now; zero: there is none within a year.
func (t times) last(now time.Time) (out time.Time) {
	for _, back := range []time.Duration{24 * time.Hour, 8 * 24 * time.Hour, 32 * 24 * time.Hour, year} {
		for at := t.next(now.Add(-back)); !at.IsZero() && !at.After(now); at = t.next(at) {
			out = at
		}
		if !out.IsZero() {
			return out
		}
	}
	return out
}

// parseTimes reads a cron expression with five fields that comes no more often than every five minutes.
func parseTimes(text string) (cron.Schedule, error) {
	if !strings.HasPrefix(text, "@") && len(strings.Fields(text)) != 5 || strings.ContainsAny(text, "=") {
		return nil, fmt.Errorf("is no cron expression with five fields such as %q", "0 7 * * Mon-Fri")
	}
	out, err := cron.ParseStandard(text)
	if err != nil {
		return nil, fmt.Errorf("is no cron expression such as %q: %w", "0 7 * * Mon-Fri", err)
	}
	fields, is := out.(*cron.SpecSchedule)
	if !is {
		return nil, errors.New("has no times of the day: want a cron expression with five fields, or @daily")
	}
	if minutesBetween(fields.Minute) < int(changesMost.Minutes()) {
		return nil, fmt.Errorf("comes more often than every %s", changesMost)
	}
	return out, nil
}

// minutesBetween is how many minutes are between two of these minutes at the least, over the hour's end too; bit i is
// minute i.
func minutesBetween(minutes uint64) int {
	least, first, last := 60, -1, -1
	for i := range 60 {
		if minutes&(1<<i) == 0 {
			continue
		}
		if first < 0 {
			first = i
		} else {
			least = min(least, i-last)
		}
		last = i
	}
	return min(least, 60-last+first)
}
