package demo

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// batchIdle is how long the product waits for more pods before it decides,
// as it is set by default.
const batchIdle = time.Second

// emptyFor is consolidateAfter of examples/v1/nodepool.yaml.
const emptyFor = 30 * time.Second

// bootSlowest and stopSlowest bound what an instance takes in life.
const (
	bootSlowest = 10 * time.Minute
	stopSlowest = 3 * time.Minute
)

// instancesReported is how many claims are described when a step does not come.
const instancesReported = 5

func settingUp() []step {
	return []step{{
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
		say: func(*world, time.Duration) string { return "EC2NodeClass and NodePool are ready" },
	}}
}

func goingUp(pods int, timeScale float64) []step {
	return []step{
		{
			name: "pending", limit: 30 * time.Second, log: "controller-manager", instead: podsSeen,
			reached: func(w *world) bool {
				return w.count(func(p podSight) bool { return p.waiting != "" }) >= pods || someInstance(w)
			},
			say: func(w *world, _ time.Duration) string {
				return fmt.Sprintf("%d pods pending: %s", len(w.pods), anyWaiting(w))
			},
		}, {
			name: "decide", limit: 30 * time.Second, log: "controller", instead: podsSeen,
			reached: someInstance, say: sayDecision,
		}, {
			name: "launch", limit: time.Minute, log: "controller", instead: instancesSeen,
			reached: func(w *world) bool { return w.every(func(m *instance) bool { return !m.launchedAt.IsZero() }) },
			say:     sayLaunch,
		}, {
			name: "registered", limit: scaled(bootSlowest, timeScale), log: "controller", instead: instancesSeen,
			reached: func(w *world) bool { return w.every(func(m *instance) bool { return !m.registeredAt.IsZero() }) },
			say:     sayRegistered,
		}, {
			name: "ready", limit: scaled(bootSlowest, timeScale), log: "controller", instead: instancesSeen,
			reached: func(w *world) bool {
				return w.every(func(m *instance) bool { return !m.nodeReadyAt.IsZero() && !m.openAt.IsZero() })
			},
			say: sayReady,
		}, {
			name: "running", limit: time.Minute, log: "scheduler", instead: podsSeen,
			reached: func(w *world) bool { return w.count(func(p podSight) bool { return p.running }) == pods },
			say: func(w *world, _ time.Duration) string {
				return fmt.Sprintf("%d pods run (scheduling and starting them is the work of kube-scheduler and the kubelet)", len(w.pods))
			},
		},
	}
}

func goingDown(timeScale float64) []step {
	return []step{
		{
			name: "empty", limit: time.Minute, log: "controller-manager", instead: podsSeen,
			reached: func(w *world) bool { return len(w.pods) == 0 },
			say: func(*world, time.Duration) string {
				return fmt.Sprintf("all pods are gone; the NodePool keeps an empty node for %v (consolidateAfter)", emptyFor)
			},
		}, {
			name: "leaving", limit: emptyFor + 30*time.Second, log: "controller", instead: instancesSeen,
			reached: func(w *world) bool { return w.every(func(m *instance) bool { return !m.leavingAt.IsZero() }) },
			say:     sayLeaving,
		}, {
			name: "removed", limit: scaled(stopSlowest, timeScale), log: "controller", instead: instancesSeen,
			reached: func(w *world) bool {
				return w.every(func(m *instance) bool { return !m.goneAt.IsZero() && (m.node == "" || !m.nodeGoneAt.IsZero()) })
			},
			say: func(w *world, _ time.Duration) string {
				away := w.longest(func(m *instance) time.Time { return m.leavingAt }, func(m *instance) time.Time { return m.goneAt })
				return fmt.Sprintf("instance, node and NodeClaim are gone (%s after the decision: the drain, and AWS terminating the instance)", brief(away))
			},
		},
	}
}

// scaled is a limit for what the time scale makes faster, with a minute for
// everything that it does not.
func scaled(limit time.Duration, timeScale float64) time.Duration {
	return time.Duration(float64(limit)*timeScale) + time.Minute
}

func someInstance(w *world) bool {
	return w.every(func(*instance) bool { return true })
}

func sayDecision(w *world, _ time.Duration) string {
	var lines []string
	for _, m := range w.sorted() {
		if m.decision == nil {
			lines = append(lines, fmt.Sprintf("decided: NodeClaim %s (it has no record of the choice)", m.claim))
			continue
		}
		lines = append(lines, fmt.Sprintf("decided: launch %s", m.decision.offering))
		for _, o := range m.decision.RunnersUp {
			lines = append(lines, fmt.Sprintf("  next best %s: %s", o, o.WhyNot))
		}
	}
	var last time.Time // the end of the batch: the last claim of the plan
	for _, m := range w.instances {
		if m.seenAt.After(last) {
			last = m.seenAt
		}
	}
	since := max(0, last.Sub(w.podCreatedAt))
	return strings.Join(append(lines, fmt.Sprintf("Daemok's share: %s after the last pod was created, %s of it the batch window",
		brief(since), min(since, batchIdle).Round(time.Millisecond))), "\n")
}

func sayLaunch(w *world, _ time.Duration) string {
	var lines []string
	for _, m := range w.sorted() {
		lines = append(lines, fmt.Sprintf("launched %s: %s in %s, %s", m.providerID, m.kind, m.zone, m.option))
		if m.trouble != "" {
			lines = append(lines, "on the way: "+m.trouble)
		}
	}
	took := w.longest(func(m *instance) time.Time { return m.seenAt }, func(m *instance) time.Time { return m.launchedAt })
	return strings.Join(append(lines, "Daemok's share: at most "+brief(took)+", AWS's answers and retries included"), "\n")
}

func sayRegistered(w *world, _ time.Duration) string {
	boot := w.longest(func(m *instance) time.Time { return m.launchedAt }, func(m *instance) time.Time { return m.nodeSeenAt })
	own := w.longest(func(m *instance) time.Time { return m.nodeSeenAt }, func(m *instance) time.Time { return m.registeredAt })
	return fmt.Sprintf("node registered: %s\nthe instance took %s to boot; Daemok's share: %s", nodesOf(w), brief(boot), brief(own))
}

func sayReady(w *world, _ time.Duration) string {
	own := w.longest(func(m *instance) time.Time { return later(m.nodeReadyAt, m.registeredAt) }, func(m *instance) time.Time { return m.openAt })
	return fmt.Sprintf("node ready, and its last startup taint removed\nDaemok's share: %s after the kubelet reported Ready", brief(own))
}

func sayLeaving(w *world, _ time.Duration) string {
	var own time.Duration
	for _, m := range w.instances {
		own = max(own, m.leavingAt.Sub(w.podGoneAt.Add(emptyFor)))
	}
	return fmt.Sprintf("decided: remove the empty node\nDaemok's share: %s after consolidateAfter was over", brief(own))
}

func nodesOf(w *world) string {
	var names []string
	for _, m := range w.sorted() {
		names = append(names, m.node)
	}
	return strings.Join(names, ", ")
}

func anyWaiting(w *world) string {
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		if text := w.pods[name].waiting; text != "" {
			return text
		}
	}
	return "the scheduler has not said why"
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
