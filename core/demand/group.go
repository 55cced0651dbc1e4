package demand

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/core/topology"
)

// WaitingPod is a pod that needs a place. Its turn is its position in the order
// in which pods get theirs.
type WaitingPod struct {
	*cluster.Pod
	Turn int
}

// Group is waiting pods of one shape. While homes are sought there is one for
// each shape; while instances are launched there is one for each way in which
// some of its pods are to be launched for.
type Group struct {
	Affinity
	Shape    *cluster.Shape
	PodClass *PodClass
	Pods     []WaitingPod // oldest first; those before placed have a place
	Placed   int
	Need     []int64
	At       int // position in the order of placing, or of launching

	Of      *Group         // of one that is launched for: the group it is part of
	From    Request        // of one that is launched for: what was asked for
	Level   *Level         // on which it is launched for; nil of one that homes are sought for
	Wants   *cluster.Shape // stands in for the shape: what instances must be, amounts aside
	Back    []WaitingPod   // pods that lost their place
	Rides   int64          // most of its pods that may go to what is there, see Variant
	Home    int            // tier of the pools that it is launched from now: their weight
	Counted bool           // it is part of what is to be launched from this tier
	Best    float64        // highest yield of any option in these pools
	Side    int            // the resource that most of its worth is in

	ExclusiveSet int // groups of which no two can share an instance have the same; see findExclusiveSets
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

// Part is n of the group's pods on an instance, the first of which takes so much beyond its own amounts.
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

// PodKey is what a pod is known by.
func PodKey(p *cluster.Pod) [2]string { return [2]string{p.Namespace, p.Name} }

// Rank sorts what is true first.
func Rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// Request is what distinguishes groups that are to be launched for.
type Request struct {
	Of          *Group
	Level       *Level
	OfferingSet *OfferingSet
}

// Affinity is how the pods of a group that is launched for need others on their host.
type Affinity struct {
	Component *Component      // with which it hangs together; nil: with none
	Seeks     []topology.Seek // which pods must be on its host, those of daemon sets aside
	Gives     []int           // tallies by which others seek its pods
	Steps     int             // how many groups at least are between it and one that needs none
	Lone      bool            // its pods need none as long as they are the first of their kind
	Stuck     bool            // no more of its pods can be launched for
}

// Demand is what instances are to be launched for.
type Demand struct {
	Groups []*Group         // in the order of launching
	Failed map[Request]bool // what could not be launched in an earlier round
	Learnt bool             // something was added to it in this round
}

// Fails notes that nothing can be launched for the request.
func (d *Demand) Fails(what Request) { d.Failed[what], d.Learnt = true, true }
