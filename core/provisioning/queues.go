package provisioning

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
)

// queues are the groups in the order in which instances are filled with them.
type queues struct {
	pr        *Provisioner
	sides     [][]queue // by resource: groups whose worth is mostly in it, see sort
	number    int       // of all sides
	exclusive int       // how many exclusive sets there are, see findExclusiveSets
}

// queue is groups whose worth is mostly in one resource, the largest in it first. If they are an exclusive set, no
// instance can have pods of two of them, so that the whole queue is skipped after the first pod.
type queue struct {
	at           int // position among all queues
	exclusiveSet int // notExclusive: its groups may share an instance
	groups       []*demand.Group
	least        []int64 // of each block of groups, the least that one of them needs of each resource
}

// block is how many groups of a queue are skipped at once if there is no room for any of them.
const block = 16

// measure finds the least that each block of groups needs.
func (l *queue) measure() {
	l.least = l.least[:0]
	for i, g := range l.groups {
		if i%block == 0 {
			l.least = append(l.least, g.Need...)
			continue
		}
		least := l.least[len(l.least)-len(g.Need):]
		for k, v := range g.Need {
			least[k] = min(least[k], v)
		}
	}
}

// full reports whether no group of the block fits into so much room.
func (l *queue) full(number int, room []int64) bool {
	return !amount.Fits(room, l.least[number*len(room):(number+1)*len(room)])
}

// notExclusive is the exclusive set of groups that may share an instance.
const notExclusive = -1

// exclusiveMin is how many groups an exclusive set must have to get a queue of its own: for each pod that is added,
// every queue is looked at, and every group of a queue.
const exclusiveMin = 16

// exclusiveKey is what no two pods of an exclusive set can have on one host: a port, or the tally of pods that must be
// apart from each other.
type exclusiveKey struct {
	port  cluster.Port
	tally int
}

// findExclusiveSets finds the groups of which no two can share an instance.
func (q *queues) findExclusiveSets() {
	exclusiveSets := map[exclusiveKey][]*demand.Group{}
	for _, g := range q.pr.Groups {
		g.ExclusiveSet = notExclusive
		if key, ok := q.exclusiveSetOf(g); ok {
			exclusiveSets[key] = append(exclusiveSets[key], g)
		}
	}
	q.exclusive = 0
	for _, g := range q.pr.Groups { // in order, so that numbers do not depend on that of the map
		key, ok := q.exclusiveSetOf(g)
		if list := exclusiveSets[key]; ok && len(list) >= exclusiveMin && list[0] == g {
			for _, o := range list {
				o.ExclusiveSet = q.exclusive
			}
			q.exclusive++
		}
	}
}

func (q *queues) exclusiveSetOf(g *demand.Group) (exclusiveKey, bool) {
	if len(g.PodClass.Ports) > 0 {
		return exclusiveKey{port: g.PodClass.Ports[0]}, true
	}
	tally, ok := q.pr.Board.Only(g.Level.Rules)
	return exclusiveKey{tally: tally}, ok
}

// sort puts each group with pods left into a queue of the resource that most of its worth is in, the largest in it
// first. Instances are filled from all sides in turn, so that their resources are used up together.
func (q *queues) sort() {
	sides := make([][]*demand.Group, q.pr.Dims.Len())
	for _, g := range q.pr.Groups {
		if g.Left() == 0 {
			continue
		}
		g.Side = 0
		for i, w := range q.pr.Values.Worth {
			if float64(w*float64(g.Need[i])) > float64(q.pr.Values.Worth[g.Side]*float64(g.Need[g.Side])) {
				g.Side = i
			}
		}
		sides[g.Side] = append(sides[g.Side], g)
	}
	q.sides, q.number = make([][]queue, len(sides)), 0
	for side, list := range sides {
		slices.SortStableFunc(list, func(a, b *demand.Group) int {
			return cmp.Or(
				cmp.Compare(b.Shape.Priority, a.Shape.Priority),
				cmp.Compare(b.Need[side], a.Need[side]),
				a.At-b.At)
		})
		q.sides[side] = q.divide(list)
	}
	q.pr.outstanding.gone = 0
}

// thin removes groups without pods left from the queues, once there are so many that skipping them takes longer.
func (q *queues) thin() {
	if 8*q.pr.outstanding.gone < len(q.pr.Groups) {
		return
	}
	for _, queues := range q.sides {
		for i := range queues {
			l := &queues[i]
			l.groups = slices.DeleteFunc(l.groups, func(g *demand.Group) bool { return q.pr.outstanding.left[g.At] == 0 })
			l.measure()
		}
	}
	q.pr.outstanding.gone = 0
}

// divide makes a queue of each exclusive set among the groups of one side, and one of the others.
func (q *queues) divide(list []*demand.Group) []queue {
	var out []queue
	at := map[int]int{}
	for i, g := range list {
		g.Rank = i
		n, known := at[g.ExclusiveSet]
		if !known {
			n = len(out)
			at[g.ExclusiveSet] = n
			out = append(out, queue{at: q.number, exclusiveSet: g.ExclusiveSet})
			q.number++
		}
		out[n].groups = append(out[n].groups, g)
	}
	for i := range out {
		out[i].measure()
	}
	return out
}
