package demo

import (
	"fmt"
	"time"
)

// upWaits is what pods wait for until they run.
func upWaits(w *world, start time.Time, took map[string]time.Duration, _ time.Time) []wait {
	reached := func(step string) time.Time {
		if at, is := took[step]; is {
			return start.Add(at)
		}
		return time.Time{}
	}
	what := "a new instance"
	if all := w.sorted(); len(all) > 0 && all[0].kind != "" {
		what = "a new " + all[0].kind
	}
	return []wait{
		{byScheduler, "finds no node for the pods", reached("pending")},
		{byDaemok, "batch window (1s), plan", reached("decide")},
		{byAWS, "launches " + what, reached("launch")},
		{byAWS, "boots the instance", w.latest(func(m *instance) time.Time { return m.nodeSeenAt })},
		{byDaemok, "registers the node", reached("registered")},
		{byKubelet, "reports the node Ready", w.latest(func(m *instance) time.Time { return m.nodeReadyAt })},
		{byDaemok, "removes the startup taint", reached("ready")},
		{byScheduler, "binds the pods, they start", reached("running")},
	}
}

// downWaits is what an empty node waits for until it is gone.
func downWaits(w *world, start time.Time, took map[string]time.Duration, now time.Time) []wait {
	reached := func(step string) time.Time {
		if at, is := took[step]; is {
			return start.Add(at)
		}
		return time.Time{}
	}
	kept := time.Time{}
	if at := w.podGoneAt.Add(emptyFor); !reached("empty").IsZero() && (!now.Before(at) || !reached("leaving").IsZero()) {
		kept = at
	}
	return []wait{
		{byKubelet, "stops the pods", reached("empty")},
		{byNodePool, fmt.Sprintf("consolidateAfter: %v", emptyFor), kept},
		{byDaemok, "taints and checks the node", reached("leaving")},
		{byAWS, "terminates the instance", reached("removed")},
	}
}

// latest is the last of a moment of all instances; zero where one does not have it yet.
func (w *world) latest(moment func(*instance) time.Time) time.Time {
	var last time.Time
	for _, m := range w.instances {
		at := moment(m)
		if at.IsZero() {
			return at
		}
		last = later(last, at)
	}
	return last
}
