package changes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/internal/brief"
)

// Situation is a snapshot and the plan for it.
type Situation struct {
	Snapshot *cluster.Snapshot
	Plan     plan.Plan
}

// Medium is where a plan is read: each offers other ways to more of it.
type Medium int

// The media.
const (
	Screen   Medium = iota // of a terminal: flags of the command print more
	Document               // the details are in it, folded
	WebPages               // as Document, and each object has a page
)

// Input is what is laid out.
type Input struct {
	Situation
	Medium    Medium
	Failing   []string   // NodeClaims whose launch fails, and why
	Unread    []string   // what may not be read, what the plan lacks for that, and the way out
	Manifests *Manifests // nil: none are added or deleted
	Others    []Supposition
}

// Manifests is what manifests changed, and the situation without them.
type Manifests struct {
	Changes, Notes []string
	Drifts         []Drift
	Without        Situation
}

// Drift is nodes that the manifests cause to drift for one reason.
type Drift struct {
	Pool   string
	Reason string // in the words of the API
	Text   string // what differs, of the first node
	Nodes  []string
}

// Supposition is another plan, for what a question supposes.
type Supposition struct {
	Question string
	Plan     plan.Plan
	Notes    []string // pools that stay as they are, and why
}

// details say where those are that are left out, which stand under a heading among the details.
func (m Medium) details(heading string) string {
	if m == Screen {
		return "-o wide lists them"
	}
	return fmt.Sprintf("see %q below", heading)
}

// Counts is how much a plan does.
type Counts struct {
	Launched, Terminated, Withdrawn int // instances for pending pods; nodes without a replacement; NodeClaims
	Replaced, Replacements          int // nodes, and instances in their place
	Moved                           int // pods that are evicted and need another place
	Placed, Pending                 int // pending pods: with a place, and all that ask for a node of a pool
	Unplaced                        int // pods without a place, not only for now; of draining nodes too
}

// Counts counts what the plan does.
func (s *Situation) Counts() Counts {
	p := &s.Plan
	c := Counts{Launched: len(p.Launches), Withdrawn: len(p.Withdrawals)}
	pending := map[string]bool{} // others that get a place are on nodes that are being drained
	for _, name := range podNames(s.Snapshot.Waiting) {
		pending[name] = true
	}
	c.Pending = len(pending)
	for i := range p.Placements {
		if pending[podName(&p.Placements[i].Pod)] {
			c.Placed++
		}
	}
	for i := range p.Moves {
		m := &p.Moves[i]
		if len(m.Launches) == 0 {
			c.Terminated += len(m.Removals)
		} else {
			c.Replaced += len(m.Removals)
			c.Replacements += len(m.Launches)
		}
		for j := range m.Removals {
			c.Moved += len(m.Removals[j].Pods)
		}
	}
	for i := range p.Unplaced {
		switch u := &p.Unplaced[i]; {
		case u.Declined():
			for j := range u.Pods {
				if pending[podName(&u.Pods[j])] {
					c.Pending--
				}
			}
		case !u.Early:
			c.Unplaced += len(u.Pods)
		}
	}
	return c
}

// Unpriced is what the plan launches whose price is not known: no cost includes it.
func (s *Situation) Unpriced() []plan.Choice {
	out := unpriced(s.Plan.Launches)
	for i := range s.Plan.Moves {
		out = append(out, unpriced(s.Plan.Moves[i].Launches)...)
	}
	return out
}

// UnpricedMore is how many instances of unknown price are launched that are not launched without the manifests, where
// there are some.
func (in *Input) UnpricedMore() (n int) {
	without := map[string]int{}
	if in.Manifests != nil {
		for _, choice := range in.Manifests.Without.Unpriced() {
			without[choice.String()]++
		}
	}
	for _, choice := range in.Unpriced() {
		if without[choice.String()]--; without[choice.String()] < 0 {
			n++
		}
	}
	return n
}

func unpriced(list []plan.Launch) (out []plan.Choice) {
	for i := range list {
		if c := list[i].Choice; !c.Priced {
			out = append(out, c)
		}
	}
	return out
}

// WithoutPlace are the names of pods that the plan finds no place for, not only for now.
func (s *Situation) WithoutPlace() []string { return withoutPlace(&s.Plan) }

func withoutPlace(p *plan.Plan) (out []string) {
	for i := range p.Unplaced {
		if u := &p.Unplaced[i]; !u.Declined() && !u.Early {
			out = append(out, podNames(u.Pods)...)
		}
	}
	return out
}

// pods are the names of all pods, those that wait too.
func (s *Situation) pods() map[string]bool {
	out := map[string]bool{}
	add := func(pods []cluster.Pod) {
		for _, name := range podNames(pods) {
			out[name] = true
		}
	}
	add(s.Snapshot.Waiting)
	for i := range s.Snapshot.Nodes {
		add(s.Snapshot.Nodes[i].Pods)
	}
	return out
}

// Lost are the names of pods that have a place without the manifests, and none with them.
func (in *Input) Lost() []string {
	if in.Manifests == nil {
		return nil
	}
	before := in.Manifests.Without.pods()
	for _, name := range in.Manifests.Without.WithoutPlace() {
		delete(before, name)
	}
	return slices.DeleteFunc(in.WithoutPlace(), func(name string) bool { return !before[name] })
}

// Nothing reports whether the plan does nothing.
func (c Counts) Nothing() bool {
	return c.Launched+c.Terminated+c.Withdrawn+c.Replaced+c.Replacements+c.Moved == 0
}

// String is the plan in a few words: "+3 launched, -1 terminated, ~2 replaced, 41 pods move".
func (c Counts) String() string {
	if c.Nothing() {
		return "nothing to do"
	}
	var parts []string
	add := func(n int, format string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf(format, n))
		}
	}
	add(c.Launched, "+%d launched")
	add(c.Terminated, "-%d terminated")
	switch {
	case c.Replaced > 0 && c.Replaced == c.Replacements:
		add(c.Replaced, "~%d replaced")
	case c.Replaced > 0:
		parts = append(parts, fmt.Sprintf("~%d replaced by %d", c.Replaced, c.Replacements))
	}
	if c.Withdrawn > 0 {
		parts = append(parts, "-"+brief.Counted(c.Withdrawn, "NodeClaim")+" withdrawn")
	}
	switch {
	case c.Moved == 1:
		parts = append(parts, "1 pod moves")
	case c.Moved > 1:
		add(c.Moved, "%d pods move")
	}
	return strings.Join(parts, ", ")
}
