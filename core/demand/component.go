package demand

import (
	"slices"

	"github.com/daemok/daemok/core/topology"
)

// Component is groups that depend on each other: pods of some must be on the host of pods of others, directly or
// through further groups.
type Component struct {
	PodGroups    []*Group    // in the order of launching
	Version      int         // changes whenever the number of pods left does
	Colocation   *Colocation // of its first group that is left, as of version ColocationAt
	ColocationAt int
	first        *Group // its first group that is left and seeks others, as of version firstAt
	firstAt      int
	wanting      map[int]int64 // by tally: pods left that seek such pods, as of version wantsAt
	wantsAt      int
}

// Join adds those of the groups that are in no component yet.
func (b *Component) Join(podGroups []*Group) {
	for _, g := range podGroups {
		if g.Component == nil {
			g.Component, b.PodGroups = b, append(b.PodGroups, g)
		}
	}
}

// Tallies lists the tallies that its pods seek on their host, and those by which others seek its pods.
func (g *Group) Tallies() []int {
	out := slices.Clone(g.Gives)
	for _, s := range g.Seeks {
		out = append(out, s.Tally)
	}
	return out
}

// Unreachable is the value of Group.Steps where no pods are what the group needs on its host.
const Unreachable = 1 << 30

// Touch must be called when the number of pods of the group that are left has changed.
func (g *Group) Touch() {
	if g.Component != nil {
		g.Component.Version++
	}
}

// Head returns the first group of the component with pods left that seek others.
func (b *Component) Head(left []int64) *Group {
	if b.firstAt != b.Version {
		b.firstAt, b.first = b.Version, nil
		if at := slices.IndexFunc(b.PodGroups, func(g *Group) bool { return len(g.Seeks) > 0 && left[g.At] > 0 && !g.Stuck && g.Steps < Unreachable }); at >= 0 {
			b.first = b.PodGroups[at]
		}
	}
	return b.first
}

// Wants counts by tally the pods left that seek such pods.
func (b *Component) Wants(left []int64) map[int]int64 {
	if b.wantsAt != b.Version {
		b.wantsAt, b.wanting = b.Version, map[int]int64{}
		for _, g := range b.PodGroups {
			if g.Stuck || g.Steps == Unreachable {
				continue
			}
			for _, s := range g.Seeks {
				b.wanting[s.Tally] += left[g.At]
			}
		}
	}
	return b.wanting
}

// Exempt reports whether pods need none of the pods that they seek, because they are such pods themselves and there
// are none anywhere yet.
func Exempt(board *topology.Board, s topology.Seek) bool { return s.Own && !board.Anywhere(s.Tally) }
