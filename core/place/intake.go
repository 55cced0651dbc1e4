package place

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/topology"
)

// intake puts on the board what is there before anything is placed.
type intake struct {
	run     *run
	base    *topology.Board                    // before any pod was placed
	counted bool                               // some rule looks at other pods
	labels  []string                           // labels of places that rules about other pods look at
	here    map[*cluster.Shape]*topology.Rules // of pods that have a node
}

// waiter is a pod that needs a place. Its turn is its position in the order
// in which pods get theirs.
type waiter struct {
	*cluster.Pod
	turn int
}

// group is waiting pods of one shape. While homes are sought there is one for
// each shape; while instances are launched there is one for each way in which
// some of its pods are to be launched for.
type group struct {
	shape    *cluster.Shape
	podClass *podClass
	pods     []waiter // oldest first; those before placed have a place
	placed   int
	need     []int64
	needText string // see crowdOf
	at       int    // position in the order of placing, or of launching

	of      *group         // of one that is launched for: the group it is part of
	from    request        // of one that is launched for: what was asked for
	level   *level         // on which it is launched for; nil of one that homes are sought for
	wants   *cluster.Shape // stands in for the shape: what instances must be, amounts aside
	back    []waiter       // pods that lost their place
	rides   int64          // most of its pods that may go to what is there, see Variant
	home    int            // tier of the pools that it is launched from now: their weight
	counted bool           // it is part of what is to be launched from this tier
	best    float64        // highest yield of any option in these pools
	side    int            // the resource that most of its worth is in

	component    *component      // with which it hangs together; nil: with none
	seeks        []topology.Seek // which pods must be on its host, those of daemon sets aside
	gives        []int           // tallies by which others seek its pods
	steps        int             // how many groups at least are between it and one that needs none
	lone         bool            // its pods need none as long as they are the first of their kind
	stuck        bool            // no more of its pods can be launched for
	exclusiveSet int             // groups of which no two can share an instance have the same; see findExclusiveSets
	rank         int             // position among the groups of its side
}

func (g *group) left() int64 { return int64(len(g.pods) - g.placed) }

// next takes the oldest n pods without a place.
func (g *group) next(n int64) []waiter {
	out := g.pods[g.placed : g.placed+int(n)]
	g.placed += int(n)
	return out
}

// Waiting lists the pods that Place seeks a place for: those waiting, and those
// that must leave a node which is going away. Pods that are ending or that may not
// be disturbed need none.
func Waiting(s *cluster.Snapshot) []cluster.Pod {
	out := slices.Clone(s.Waiting)
	leavers(s, func(p *cluster.Pod) { out = append(out, *p) })
	return out
}

// Pods counts them.
func Pods(s *cluster.Snapshot) int {
	n := len(s.Waiting)
	leavers(s, func(*cluster.Pod) { n++ })
	return n
}

// leavers calls the function for pods that must leave a node which is going
// away.
func leavers(s *cluster.Snapshot, each func(*cluster.Pod)) {
	for i := range s.Nodes {
		if !s.Nodes[i].Deleting {
			continue
		}
		for j := range s.Nodes[i].Pods {
			if p := &s.Nodes[i].Pods[j]; p.Moves() {
				each(p)
			}
		}
	}
}

// groupByShape groups pods by shape, in the order of placing: high priority first,
// since capacity may be scarce; then large ones, which are the hardest to
// place; then those whose oldest pod is oldest.
func groupByShape(pods []cluster.Pod) []*group {
	list := make([]*cluster.Pod, len(pods))
	for i := range pods {
		list[i] = &pods[i]
	}
	return groupPods(list)
}

func groupPods(pods []*cluster.Pod) []*group {
	byShape := map[*cluster.Shape]*group{}
	var out []*group
	for _, p := range pods {
		g := byShape[p.Shape]
		if g == nil {
			g = &group{shape: p.Shape}
			byShape[p.Shape] = g
			out = append(out, g)
		}
		g.pods = append(g.pods, waiter{Pod: p})
	}
	for _, g := range out {
		slices.SortStableFunc(g.pods, older)
	}
	return out
}

// order sorts groups as they should be placed.
func order(groups []*group) { orderBy(groups, map[*cluster.Shape]string{}) }

// orderBy is order with what is known of what shapes contain.
func orderBy(groups []*group, text map[*cluster.Shape]string) {
	content := func(g *group) string {
		if _, known := text[g.shape]; !known {
			text[g.shape] = fmt.Sprint(g.shape.Requests) + RulesText(g.shape)
		}
		return text[g.shape]
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		x, y := a.shape, b.shape
		bySize := cmp.Or(
			cmp.Compare(y.Priority, x.Priority),
			cmp.Compare(rank(!a.podClass.follows), rank(!b.podClass.follows)),
			cmp.Compare(a.podClass.depth, b.podClass.depth),
			cmp.Compare(y.Requests.CPU, x.Requests.CPU),
			cmp.Compare(y.Requests.Memory, x.Requests.Memory))
		if bySize != 0 {
			return bySize
		}
		bySize = cmp.Or(
			cmp.Compare(rank(len(x.NodeTerms) > 0), rank(len(y.NodeTerms) > 0)),
			a.pods[0].CreatedAt.Compare(b.pods[0].CreatedAt))
		if bySize != 0 {
			return bySize
		}
		// What they contain is compared before the names of pods, so that new
		// names change nothing.
		if byContent := cmp.Compare(content(a), content(b)); byContent != 0 {
			return byContent
		}
		return older(a.pods[0], b.pods[0])
	})
	for i, g := range groups {
		g.at = i
	}
}

func older(a, b waiter) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// setUpBoard declares what is to be counted and counts the pods that are
// there.
func (in *intake) setUpBoard(s *cluster.Snapshot) {
	for _, g := range in.run.waiting {
		g.podClass = in.run.podClassOf(g.shape)
		g.podClass.groups = append(g.podClass.groups, g)
	}
	running := in.running(s)
	in.here = running
	daemons := map[*cluster.Shape]*topology.Rules{}
	for i := range s.Daemons {
		daemons[s.Daemons[i].Shape] = in.run.board.Rules(topology.Preference{Shape: s.Daemons[i].Shape})
	}
	in.labels = in.run.board.Looked()
	nodes := make([]int, len(s.Nodes))
	at := map[string]int{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		nodes[i] = in.run.board.AddPlace(n.Labels, feasibility.LastingTaints(n), n.Goes())
		at[n.Name] = nodes[i]
	}
	for _, target := range in.run.targets {
		if target.ordered == nil {
			target.place = at[target.name]
			continue
		}
		ways, open := target.ordered.Ways(in.labels)
		target.place = in.run.board.AddOutlook(topology.Outlook{Ways: ways, Host: hostOf(target.name), Open: open}, target.ordered.Taints)
	}
	if in.run.options.EvenHosts {
		in.run.board.Even()
	}
	in.run.board.Start()
	in.run.scheduler.recordFollowers()
	in.counted = !in.run.board.Empty()
	if !in.counted {
		return
	}
	for shape, rules := range daemons {
		if rules.Counts() {
			in.run.values.Daemons[shape] = rules
			in.run.board.Brought(rules)
		}
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		for j := range n.Pods {
			if p := &n.Pods[j]; !n.Deleting || !p.Moves() {
				in.run.board.Put(running[p.Shape], nodes[i], 1, p.Ending)
			}
		}
	}
	in.expectDaemons(s, nodes)
	in.base = in.run.board.Clone()
}

// expectDaemons counts daemon pods that are still to come.
func (in *intake) expectDaemons(s *cluster.Snapshot, places []int) {
	if len(in.run.values.Daemons) == 0 {
		return
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; !n.Deleting {
			in.putDaemons(feasibility.Expected(n, s.Daemons), places[i], in.run.board)
		}
	}
	for _, target := range in.run.targets {
		if target.ordered != nil {
			in.dueAt(target.ordered.Brings).put(in.run.board, target.place)
		}
	}
}

func (in *intake) putDaemons(shapes []*cluster.Shape, place int, board *topology.Board) {
	for _, shape := range shapes {
		if rules := in.run.values.Daemons[shape]; rules != nil {
			board.Put(rules, place, 1, false)
		}
	}
}

// due is daemon pods that others look at and that an instance will have, or may
// have when it is decided what it is.
type due struct {
	sure, perhaps []*topology.Rules
}

func (in *intake) dueAt(brings func(*cluster.Shape) (may, sure bool)) due {
	var out due
	for shape, rules := range in.run.values.Daemons {
		switch may, sure := brings(shape); {
		case sure:
			out.sure = append(out.sure, rules)
		case may:
			out.perhaps = append(out.perhaps, rules)
		}
	}
	return out
}

func (d due) put(board *topology.Board, place int) {
	for _, rules := range d.sure {
		board.Put(rules, place, 1, false)
	}
	for _, rules := range d.perhaps {
		board.PutPerhaps(rules, place, 1)
	}
}

// running makes rules for the shapes of pods that have a node.
func (in *intake) running(s *cluster.Snapshot) map[*cluster.Shape]*topology.Rules {
	out := map[*cluster.Shape]*topology.Rules{}
	for i := range s.Nodes {
		for j := range s.Nodes[i].Pods {
			shape := s.Nodes[i].Pods[j].Shape
			if _, known := out[shape]; !known {
				out[shape] = in.run.board.Rules(topology.Preference{Shape: shape})
			}
		}
	}
	return out
}

// hostOf is the host name of an instance that has none yet: one that no node can
// have.
func hostOf(instance string) string { return "/" + instance }
