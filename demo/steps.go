package demo

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// emptyFor is consolidateAfter of examples/v1/nodepool.yaml.
const emptyFor = 30 * time.Second

// bootSlowest and stopSlowest bound what an instance takes in life.
const (
	bootSlowest = 10 * time.Minute
	stopSlowest = 3 * time.Minute
)

// instancesReported is how many claims are described when a step does not come.
const instancesReported = 5

func settingUp() act {
	return act{steps: []step{{
		name: "node pool ready", limit: time.Minute, log: "controller",
		reached: func(w *world) bool {
			return w.settings["NodePool default"] == "ready" && w.settings["EC2NodeClass default"] == "ready"
		},
		instead: func(w *world) string {
			var seen []string
			for _, name := range slices.Sorted(maps.Keys(w.settings)) {
				seen = append(seen, name+": "+w.settings[name])
			}
			return orNothing(seen)
		},
	}}, say: func(*world) []string { return []string{"demo: EC2NodeClass and NodePool are ready"} }}
}

func goingUp(pods int, timeScale float64) act {
	return act{waits: upWaits, least: 8 * time.Second, say: sayLaunch, steps: []step{
		{
			name: "pending", limit: 30 * time.Second, log: "controller-manager", instead: podsSeen,
			reached: func(w *world) bool {
				return w.count(func(p podSight) bool { return p.waiting != "" }) >= pods || someInstance(w)
			},
		}, {
			name: "decide", limit: 30 * time.Second, log: "controller", instead: podsSeen,
			reached: someInstance,
		}, {
			name: "launch", limit: time.Minute, log: "controller", instead: instancesSeen,
			reached: func(w *world) bool { return w.every(func(m *instance) bool { return !m.launchedAt.IsZero() }) },
		}, {
			name: "registered", limit: scaled(bootSlowest, timeScale), log: "controller", instead: instancesSeen,
			reached: func(w *world) bool { return w.every(func(m *instance) bool { return !m.registeredAt.IsZero() }) },
		}, {
			name: "ready", limit: scaled(bootSlowest, timeScale), log: "controller", instead: instancesSeen,
			reached: func(w *world) bool {
				return w.every(func(m *instance) bool { return !m.nodeReadyAt.IsZero() && !m.openAt.IsZero() })
			},
		}, {
			name: "running", limit: time.Minute, log: "scheduler", instead: podsSeen,
			reached: func(w *world) bool { return w.count(func(p podSight) bool { return p.running }) == pods },
		},
	}}
}

func goingDown(timeScale float64) act {
	return act{waits: downWaits, least: 38 * time.Second, say: func(*world) []string { return nil }, steps: []step{
		{
			name: "empty", limit: time.Minute, log: "controller-manager", instead: podsSeen,
			reached: func(w *world) bool { return len(w.pods) == 0 },
		}, {
			name: "leaving", limit: emptyFor + 30*time.Second, log: "controller", instead: instancesSeen,
			reached: func(w *world) bool { return w.every(func(m *instance) bool { return !m.leavingAt.IsZero() }) },
		}, {
			name: "removed", limit: scaled(stopSlowest, timeScale), log: "controller", instead: instancesSeen,
			reached: func(w *world) bool {
				return w.every(func(m *instance) bool { return !m.goneAt.IsZero() && (m.node == "" || !m.nodeGoneAt.IsZero()) })
			},
		},
	}}
}

// scaled is a limit for what the time scale makes faster, with a minute for
// everything that it does not.
func scaled(limit time.Duration, timeScale float64) time.Duration {
	return time.Duration(float64(limit)*timeScale) + time.Minute
}

func someInstance(w *world) bool {
	return w.every(func(*instance) bool { return true })
}

// sayLaunch is what was launched, why that, and what stood in the way.
func sayLaunch(w *world) []string {
	var lines []string
	for _, m := range w.sorted() {
		if m.decision == nil {
			lines = append(lines, fmt.Sprintf("launched %s: %s in %s, %s", m.providerID, m.kind, m.zone, m.option))
		} else {
			lines = append(lines, fmt.Sprintf("launched %s", m.decision.offering))
			for _, o := range m.decision.RunnersUp[:min(1, len(m.decision.RunnersUp))] {
				lines = append(lines, fmt.Sprintf("  next best %s: %s", o, o.WhyNot))
			}
		}
		if m.trouble != "" {
			lines = append(lines, "  on the way: "+m.trouble)
		}
	}
	return lines
}

// podsSeen says how the pods are, for a step that did not come.
func podsSeen(w *world) string {
	if len(w.pods) == 0 {
		return "no pods of " + deployment
	}
	var seen []string
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		p := w.pods[name]
		text := name + " " + p.phase
		if p.waiting != "" {
			text += " (" + p.waiting + ")"
		}
		seen = append(seen, text)
	}
	return strings.Join(seen, "; ")
}

// instancesSeen says how claims and nodes are, for a step that did not come.
func instancesSeen(w *world) string {
	var seen []string
	if w.givenUp > 0 {
		seen = append(seen, fmt.Sprintf("%d NodeClaims were abandoned before they had an instance", w.givenUp))
	}
	for i, m := range w.sorted() {
		if i == instancesReported {
			seen = append(seen, fmt.Sprintf("%d more NodeClaims", len(w.instances)-i))
			break
		}
		text := "NodeClaim " + m.claim
		for _, name := range []string{"Launched", "Registered", "Initialized"} {
			if c, ok := m.conditions[name]; ok {
				text += fmt.Sprintf(" %s=%s", name, c.status)
				if c.status != "True" {
					text += fmt.Sprintf(" (%s %s)", c.reason, c.message)
				}
			}
		}
		if n, ok := w.nodes[m.node]; ok && !n.ready {
			text += fmt.Sprintf("; node %s is not ready (%s)", m.node, n.notReady)
		}
		switch {
		case !m.goneAt.IsZero():
			text += ", gone"
		case !m.leavingAt.IsZero():
			text += ", being deleted"
		}
		seen = append(seen, text)
	}
	return orNothing(seen)
}

func orNothing(seen []string) string {
	if len(seen) == 0 {
		return "nothing"
	}
	return strings.Join(seen, "; ")
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// brief prints a length to the hundredth of a second, never less than zero.
func brief(d time.Duration) string {
	return fmt.Sprintf("%.2fs", max(0, d).Seconds())
}
