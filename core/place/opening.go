package place

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scheduling"
	"github.com/daemok/daemok/core/topology"
)

// joiner finds the instances of a plan that must take pods of a hard spread together, although they join one after
// another.
type joiner struct {
	run *Run
}

// opening is the instances being launched that get pods with one hard spread.
type opening struct {
	spread   topology.OwnSpread
	entrants []entrant
	offered  map[int32]bool // domains that have a node
}

// entrant is an instance being launched.
type entrant struct {
	launch  int                // position among the launches of this plan; else -1
	target  *scheduling.Target // of an earlier plan; else nil
	domains []int32
}

// joinUp records which instances must not take pods before the others have joined: kube-scheduler spreads pods over
// domains that have a node, and would put all of them on the instance that happens to join first.
func (jo *joiner) joinUp() {
	if !jo.run.Values.Counted || jo.run.Asked != nil && len(jo.run.Provisioner.Launched) == 0 {
		return
	}
	joining := map[*scheduling.Target][]plan.Join{}
	for _, g := range jo.openings() {
		if !jo.mustJoin(g) {
			continue
		}
		group := groupID(jo.run.Board.Whose(g.spread))
		for _, m := range g.entrants {
			join := plan.Join{Group: group, Key: jo.run.Board.Keys()[g.spread.Key], Opens: g.opens(m)}
			if m.target != nil {
				joining[m.target] = with(joining[m.target], join)
				continue
			}
			l := jo.run.Provisioner.Launches[m.launch]
			l.Joins = with(l.Joins, join)
		}
	}
	for _, s := range jo.run.Targets {
		if joins := joining[s]; joins != nil {
			jo.run.out.Joining = append(jo.run.out.Joining, plan.Joining{Claim: s.Name, Joins: joins})
		}
	}
}

// with adds a join to a list that is sorted by key and group. Pods with one selector may count different nodes: an
// instance that opens a domain for some of them opens it.
func with(list []plan.Join, j plan.Join) []plan.Join {
	at, found := slices.BinarySearchFunc(list, j, func(a, b plan.Join) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Group, b.Group))
	})
	if !found {
		return slices.Insert(list, at, j)
	}
	list[at].Opens = list[at].Opens || j.Opens
	return list
}

// groupID is short and the same in every plan for the same pods.
func groupID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// openings lists, for each hard spread, the instances being launched that get its pods.
func (jo *joiner) openings() []*opening {
	type openingKey struct {
		spread topology.OwnSpread
		launch int
		target *scheduling.Target
	}
	spreads := map[*demand.PodClass][]topology.OwnSpread{}
	known := map[topology.OwnSpread]*opening{}
	in := map[openingKey]bool{}
	var out []*opening
	for i := range jo.run.Placed {
		x := &jo.run.Placed[i]
		if x.On == plan.OnNode || i > 0 && x.Group.PodClass == jo.run.Placed[i-1].Group.PodClass && x.Name == jo.run.Placed[i-1].Name {
			continue
		}
		own, asked := spreads[x.Group.PodClass]
		if !asked {
			own = jo.run.Board.OwnSpreads(x.Group.PodClass.Required().Rules)
			spreads[x.Group.PodClass] = own
		}
		for _, s := range own {
			m := jo.entrantOf(x, s)
			at := openingKey{s, m.launch, m.target}
			if in[at] {
				continue
			}
			in[at] = true
			if known[s] == nil {
				known[s] = &opening{spread: s}
				out = append(out, known[s])
			}
			known[s].entrants = append(known[s].entrants, m)
		}
	}
	return out
}

// entrantOf is the instance that the pod is expected on, and the domains that it
// may be in.
func (jo *joiner) entrantOf(x *scheduling.Placed, s topology.OwnSpread) entrant {
	m := entrant{launch: -1, target: x.Target}
	if x.On == plan.OnLaunch {
		m = entrant{launch: x.Launch}
	}
	m.domains = jo.run.Board.Domains(jo.run.placeOf(x), s.Key)
	return m
}

// hostsMax is how many hosts wait for each other at most. Each is a domain of its own, so that all wait for the slowest:
// among a few that is not long, among hundreds it is.
const hostsMax = 8

// mustJoin reports whether pods could crowd on one instance: the instances are in several domains, some of which have no
// node yet, and neither the pods on nodes nor minDomains make kube-scheduler wait.
func (jo *joiner) mustJoin(g *opening) bool {
	if len(g.entrants) < 2 || jo.run.Board.Keys()[g.spread.Key] == cluster.LabelHostname && len(g.entrants) > hostsMax {
		return false
	}
	theirs := map[int32]bool{}
	for _, m := range g.entrants {
		for _, d := range m.domains {
			theirs[d] = true
		}
	}
	if len(theirs) < 2 {
		return false
	}
	g.offered = map[int32]bool{}
	for _, s := range jo.run.Targets[:jo.run.FirstLaunch] {
		if s.InFlight == nil && jo.run.Board.Looks(g.spread, s.Place) {
			g.offered[jo.run.Board.Spot(s.Place)[g.spread.Key]] = true
		}
	}
	all := len(g.offered)
	for d := range theirs {
		if !g.offered[d] {
			all++
		}
	}
	return all > len(g.offered) && int(g.spread.MinDomains) < all && jo.mayCrowd(g)
}

// mayCrowd reports whether one of the instances, if it joins alone, could get more pods than are meant for its domain.
// kube-scheduler puts no more there than maxSkew above the fewest that another domain with a node has.
func (jo *joiner) mayCrowd(g *opening) bool {
	for _, m := range g.entrants {
		if len(m.domains) != 1 {
			return true
		}
		least, bound := int64(0), false
		for d := range g.offered {
			if n := jo.run.Board.CountOf(g.spread, d); d != m.domains[0] && (!bound || n < least) {
				least, bound = n, true
			}
		}
		if !bound || jo.run.Board.CountOf(g.spread, m.domains[0]) < least+g.spread.MaxSkew {
			return true
		}
	}
	return false
}

// opens reports whether the instance may be in a domain that has no node yet.
func (g *opening) opens(m entrant) bool {
	return slices.ContainsFunc(m.domains, func(d int32) bool { return !g.offered[d] })
}
