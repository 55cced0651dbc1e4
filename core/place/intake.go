package place

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/topology"
)

// intake puts existing pods, nodes and instances on the board, before anything is placed.
type intake struct {
	run  *Run
	base *topology.Board                    // before any pod was placed
	here map[*cluster.Shape]*topology.Rules // of pods that have a node
}

// Waiting lists the pods that Place seeks a place for: those that wait, and those that must leave a node that is being
// deleted. Pods that are terminating or that may not be disrupted need none.
func Waiting(s *cluster.Snapshot) []cluster.Pod {
	out := slices.Clone(s.Waiting)
	leavers(s, func(p *cluster.Pod) { out = append(out, *p) })
	return out
}

// Pods counts the pods that Waiting lists.
func Pods(s *cluster.Snapshot) int {
	n := len(s.Waiting)
	leavers(s, func(*cluster.Pod) { n++ })
	return n
}

// leavers calls the function for each pod that must leave a node that is being deleted.
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

// groupByShape groups pods by shape, in the order of their first pods. See orderBy for the order of placing.
func groupByShape(pods []cluster.Pod) []*demand.Group {
	list := make([]*cluster.Pod, len(pods))
	for i := range pods {
		list[i] = &pods[i]
	}
	return groupPods(list)
}

func groupPods(pods []*cluster.Pod) []*demand.Group {
	byShape := map[*cluster.Shape]*demand.Group{}
	var out []*demand.Group
	for _, p := range pods {
		g := byShape[p.Shape]
		if g == nil {
			g = &demand.Group{Shape: p.Shape}
			byShape[p.Shape] = g
			out = append(out, g)
		}
		g.Pods = append(g.Pods, demand.WaitingPod{Pod: p})
	}
	for _, g := range out {
		slices.SortStableFunc(g.Pods, older)
	}
	return out
}

// order sorts groups in the order of placing.
func order(groups []*demand.Group) { orderBy(groups, map[*cluster.Shape]string{}) }

// orderBy is order, and keeps the text that shapes are compared by. Groups of high priority come first, since capacity
// may be scarce; then groups whose pods need not be near others; then large ones, which are the hardest to place; then
// those that are restricted to some nodes; then those whose oldest pod is older.
func orderBy(groups []*demand.Group, text map[*cluster.Shape]string) {
	content := func(g *demand.Group) string {
		if _, known := text[g.Shape]; !known {
			text[g.Shape] = fmt.Sprint(g.Shape.Requests) + demand.RulesText(g.Shape)
		}
		return text[g.Shape]
	}
	slices.SortStableFunc(groups, func(a, b *demand.Group) int {
		x, y := a.Shape, b.Shape
		bySize := cmp.Or(
			cmp.Compare(y.Priority, x.Priority),
			cmp.Compare(demand.Rank(!a.PodClass.Follows), demand.Rank(!b.PodClass.Follows)),
			cmp.Compare(a.PodClass.Depth, b.PodClass.Depth),
			cmp.Compare(y.Requests.CPU, x.Requests.CPU),
			cmp.Compare(y.Requests.Memory, x.Requests.Memory))
		if bySize != 0 {
			return bySize
		}
		bySize = cmp.Or(
			cmp.Compare(demand.Rank(len(x.NodeTerms) > 0), demand.Rank(len(y.NodeTerms) > 0)),
			a.Pods[0].CreatedAt.Compare(b.Pods[0].CreatedAt))
		if bySize != 0 {
			return bySize
		}
		// What they contain is compared before the names of pods, so that new
		// names change nothing.
		if byContent := cmp.Compare(content(a), content(b)); byContent != 0 {
			return byContent
		}
		return older(a.Pods[0], b.Pods[0])
	})
	for i, g := range groups {
		g.At = i
	}
}

func older(a, b demand.WaitingPod) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// setUpBoard declares what the board has to count, and counts existing pods.
func (in *intake) setUpBoard(s *cluster.Snapshot) {
	for _, g := range in.run.Waiting {
		g.PodClass = in.run.classes.of(g.Shape)
		g.PodClass.Groups = append(g.PodClass.Groups, g)
	}
	running := in.running(s)
	in.here = running
	bound := in.boundTo(s)
	daemons := map[*cluster.Shape]*topology.Rules{}
	for i := range s.Daemons {
		daemons[s.Daemons[i].Shape] = in.run.Board.Rules(topology.Preference{Shape: s.Daemons[i].Shape})
	}
	in.run.Values.Labels = in.run.Board.Looked()
	nodes := make([]int, len(s.Nodes))
	at := map[string]int{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		nodes[i] = in.run.Board.AddPlace(n.Labels, feasibility.LastingTaints(n), n.Goes())
		at[n.Name] = nodes[i]
	}
	for _, target := range in.run.Targets {
		if target.InFlight == nil {
			target.Place = at[target.Name]
			continue
		}
		ways, open := target.InFlight.Ways(in.run.Values.Labels)
		target.Place = in.run.Board.AddOutlook(topology.Outlook{Ways: ways, Host: HostOf(target.Name), Open: open}, target.InFlight.Taints)
	}
	if in.run.options.EvenHosts {
		in.run.Board.Even()
	}
	in.run.Board.Start()
	in.run.scheduler.RecordFollowers()
	in.run.Values.Counted = !in.run.Board.Empty()
	in.bind(bound)
	if !in.run.Values.Counted {
		return
	}
	for shape, rules := range daemons {
		if rules.Counts() {
			in.run.Values.Daemons[shape] = rules
			in.run.Board.Brought(rules)
		}
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		for j := range n.Pods {
			if p := &n.Pods[j]; !n.Deleting || !p.Moves() {
				in.run.Board.Put(running[p.Shape], nodes[i], 1, p.Ending)
			}
		}
	}
	in.expectDaemons(s, nodes)
	in.base = in.run.Board.Clone()
}

// boundTo makes groups, by claim, of the pods that have their places on instances being launched.
func (in *intake) boundTo(s *cluster.Snapshot) map[string][]*demand.Group {
	out := map[string][]*demand.Group{}
	for i := range s.Instances {
		m := &s.Instances[i]
		if len(m.Pods) == 0 {
			continue
		}
		groups := groupByShape(m.Pods)
		for _, g := range groups {
			g.PodClass, g.Need = in.run.classes.of(g.Shape), in.run.Dims.Need(g.Shape)
		}
		out[m.Claim] = groups
	}
	return out
}

// bind takes their room, and counts them.
func (in *intake) bind(bound map[string][]*demand.Group) {
	if len(bound) == 0 {
		return
	}
	for _, target := range in.run.Targets {
		if target.On != plan.OnInstance {
			continue
		}
		for _, g := range bound[target.Name] {
			lv, n := g.PodClass.Required(), int64(len(g.Pods))
			target.Take(in.run.Dims, g, lv, n)
			if in.run.Values.Counted {
				in.run.Board.Put(lv.Rules, target.Place, n, false)
			}
		}
	}
}

// expectDaemons counts daemon pods that are still to come.
func (in *intake) expectDaemons(s *cluster.Snapshot, places []int) {
	if len(in.run.Values.Daemons) == 0 {
		return
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; !n.Deleting {
			in.putDaemons(feasibility.Expected(n, s.Daemons), places[i], in.run.Board)
		}
	}
	for _, target := range in.run.Targets {
		if target.InFlight != nil {
			in.run.Values.DueAt(target.InFlight).Put(in.run.Board, target.Place)
		}
	}
}

func (in *intake) putDaemons(shapes []*cluster.Shape, place int, board *topology.Board) {
	for _, shape := range shapes {
		if rules := in.run.Values.Daemons[shape]; rules != nil {
			board.Put(rules, place, 1, false)
		}
	}
}

// running makes rules for the shapes of pods that have a node.
func (in *intake) running(s *cluster.Snapshot) map[*cluster.Shape]*topology.Rules {
	out := map[*cluster.Shape]*topology.Rules{}
	for i := range s.Nodes {
		for j := range s.Nodes[i].Pods {
			shape := s.Nodes[i].Pods[j].Shape
			if _, known := out[shape]; !known {
				out[shape] = in.run.Board.Rules(topology.Preference{Shape: shape})
			}
		}
	}
	return out
}

// HostOf is a host name for an instance that has none yet. No node can have such a name.
func HostOf(instance string) string { return "/" + instance }
