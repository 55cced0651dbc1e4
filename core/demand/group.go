package demand

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/core/topology"
)

// WaitingPod is a pod that needs a place. Its Turn is its position in the order in which pods get their places.
type WaitingPod struct {
	*cluster.Pod
	Turn int
}

// Group is waiting pods of one shape. While places are sought there is one for each shape. While instances are
// launched there is one for each Request: the pods of a shape that want one offering set on one level.
type Group struct {
	Affinity
	Shape    *cluster.Shape
	PodClass *PodClass
	Pods     []WaitingPod // oldest first; those before Placed have a place
	Placed   int
	Need     []int64
	At       int // position in the order of placing, or of launching

	Of      *Group         // while instances are launched: the group of the shape that it is part of
	From    Request        // while instances are launched: what was asked for
	Level   *Level         // while instances are launched: the level that holds; else nil
	Wants   *cluster.Shape // stands in for the shape: what instances must be, amounts aside
	Back    []WaitingPod   // pods that lost their place
	Rides   int64          // how many of its pods may go to existing targets at most, see scheduling.Variant
	Home    int            // tier of the pools that instances for it are launched from now: their weight
	Counted bool           // its pods are summed up in what is outstanding from this tier
	Best    float64        // highest yield of any option in these pools
	Side    int            // the resource that most of its worth is in, by position

	ExclusiveSet int // the same for groups of which no two can share an instance; core/provisioning finds them
	Rank         int // position among the groups of its side
}

// Left counts the pods that have no place yet.
func (g *Group) Left() int64 { return int64(len(g.Pods) - g.Placed) }

// Next takes the oldest n pods without a place.
func (g *Group) Next(n int64) []WaitingPod {
	out := g.Pods[g.Placed : g.Placed+int(n)]
	g.Placed += int(n)
	return out
}

// Part makes n of the group's pods part of a load. The first of them takes so much beyond its own amounts.
func (g *Group) Part(w *supply.Way, n int64, first []int64) supply.Part {
	return supply.Part{Group: g.At, N: n, Way: w, First: first, Ports: g.PodClass.Ports, Rules: g.Level.Rules}
}

// Forward makes the named pod the next one of its group.
func (g *Group) Forward(key [2]string) {
	for i := g.Placed; i < len(g.Pods); i++ {
		if PodKey(g.Pods[i].Pod) == key {
			w := g.Pods[i]
			copy(g.Pods[g.Placed+1:i+1], g.Pods[g.Placed:i])
			g.Pods[g.Placed] = w
			return
		}
	}
}

// PodKey identifies a pod by its namespace and name.
func PodKey(p *cluster.Pod) [2]string { return [2]string{p.Namespace, p.Name} }

// Rank is a number for sorting: what is true comes first.
func Rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// Request is what distinguishes the groups that instances are launched for.
type Request struct {
	Of          *Group
	Level       *Level
	OfferingSet *OfferingSet
}

// Affinity says which other pods the pods of a group need on their host, while instances are launched.
type Affinity struct {
	Component *Component      // that it is in; nil: it depends on no other group
	Seeks     []topology.Seek // which pods must be on its host, those of daemon sets aside
	Gives     []int           // tallies by which others seek its pods
	Steps     int             // how many groups at least must come before it, from one that needs no others on; see Unreachable
	Lone      bool            // its pods need no others as long as they are the first such pods; see Exempt
	Stuck     bool            // no more of its pods can be launched for
}

// Demand is the groups that instances are to be launched for.
type Demand struct {
	Groups []*Group         // in the order of launching
	Failed map[Request]bool // requests that nothing could be launched for in an earlier round
	Learnt bool             // something was added to Failed in this round
}

// Fails records that nothing can be launched for the request.
func (d *Demand) Fails(what Request) { d.Failed[what], d.Learnt = true, true }
