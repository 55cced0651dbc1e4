package scheduling

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// Target is a node, or an instance that is being launched.
type Target struct {
	At          int           // position among the targets
	ID          int           // stays the same when targets are put in another order
	Node        *cluster.Node // nil: it is an instance
	On          plan.Destination
	Name        string
	Free        []int64
	spare       []quantity.Extended // devices of a node that are free and that no pod here asks for, sorted by name
	Guests      demand.Guests
	Taints      []constraint.Taint
	avoided     bool                  // a node with a PreferNoSchedule taint
	meant       []cluster.Pod         // the pods that its instance was launched for
	InFlight    *feasibility.InFlight // of an instance that is being launched, by an earlier plan or by this one
	Launch      int                   // of an instance of this plan: its position among the launches
	Planned     *plan.Launch          // of an instance of this plan
	Place       int                   // on the board
	Closed      bool                  // to the pods of the current question
	ShutForGood bool                  // to the pods of every question
}

// NodeTargets lists nodes that may take pods: those with a PreferNoSchedule taint last, initialized ones first, and the
// fullest first among these. So large gaps stay whole, the emptiest nodes can be removed, and devices are left for pods
// that ask for them.
func NodeTargets(s *cluster.Snapshot, d amount.Dims) []*Target {
	var out []*Target
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Deleting {
			continue
		}
		free, taints := feasibility.Free(n, s.Daemons), feasibility.LastingTaints(n)
		out = append(out, &Target{On: plan.OnNode, Name: n.Name, Node: n, meant: n.LaunchedFor, Free: d.Vector(free, n.Attachable), spare: spareOf(free, d),
			Taints: taints, avoided: feasibility.Avoided(taints, nil),
			Guests: demand.Guests{Ports: feasibility.Ports(n, s.Daemons)}})
		out[len(out)-1].attach(n.Pods, d)
	}
	slices.SortStableFunc(out, ByRoom)
	return out
}

// ByRoom is the order in which targets on nodes are tried.
func ByRoom(a, b *Target) int {
	return cmp.Or(
		cmp.Compare(demand.Rank(!a.avoided), demand.Rank(!b.avoided)),
		cmp.Compare(demand.Rank(a.Node.Initialized), demand.Rank(b.Node.Initialized)),
		slices.Compare(a.Free, b.Free),
		slices.CompareFunc(a.spare, b.spare, lessOf),
		a.Node.CreatedAt.Compare(b.Node.CreatedAt),
		cmp.Compare(a.Name, b.Name))
}

// spareOf lists the free devices that no pod here asks for.
func spareOf(free quantity.Resources, d amount.Dims) []quantity.Extended {
	var out []quantity.Extended
	for _, e := range free.Extended {
		if e.Amount > 0 && !slices.Contains(d.Resources, e.Name) {
			out = append(out, e)
		}
	}
	return out
}

// lessOf compares two devices of lists sorted by name, as vectors are compared: of two names, the list with the
// later one has nothing of the earlier one.
func lessOf(a, b quantity.Extended) int {
	return cmp.Or(cmp.Compare(b.Name, a.Name), cmp.Compare(a.Amount, b.Amount))
}

// attach subtracts the attachments that volumes of the pods use, and counts shared volumes once.
func (s *Target) attach(pods []cluster.Pod, d amount.Dims) {
	for i := range pods {
		for _, v := range pods[i].Shape.Volumes {
			if v.Claim != "" {
				if slices.Contains(s.Guests.Claims, v.Claim) {
					continue
				}
				s.Guests.Claims = append(s.Guests.Claims, v.Claim)
			}
			if at, known := d.Driver(v.Driver); known {
				s.Free[at]--
			}
		}
	}
}

// InstanceTargets lists the instances that are being launched, oldest first.
func InstanceTargets(s *cluster.Snapshot, pools []*feasibility.Pool, d amount.Dims) []*Target {
	var out []*Target
	for i := range s.Instances {
		m := &s.Instances[i]
		if m.Deleting {
			continue
		}
		inFlight := feasibility.ForInstance(m, poolOf(m, pools), s.Daemons)
		out = append(out, &Target{On: plan.OnInstance, Name: m.Claim, meant: m.LaunchedFor, InFlight: inFlight, Taints: m.Taints,
			Guests: demand.Guests{Ports: inFlight.Ports}, Free: d.Vector(inFlight.Free, m.Attachable)})
	}
	slices.SortStableFunc(out, func(a, b *Target) int {
		return cmp.Or(a.InFlight.CreatedAt.Compare(b.InFlight.CreatedAt), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func poolOf(m *cluster.Instance, pools []*feasibility.Pool) *feasibility.Pool {
	for _, p := range pools {
		if p.ID == m.Pool {
			return p
		}
	}
	return nil
}

// Admitted reports whether pods of the level may be on the target, amounts and other pods aside.
func (s *Target) Admitted(lv *demand.Level, targets int) bool {
	return !s.Closed && s.MayBeOn(lv, targets)
}

// admits asks whether pods of the shape may be there, amounts and other pods aside.
func (s *Target) admits(shape *cluster.Shape) feasibility.Reason {
	if s.InFlight != nil {
		return s.InFlight.Admits(shape)
	}
	return feasibility.NodeAdmits(shape, s.Node)
}

// MayBeOn is Admitted, whether or not the target is closed now.
func (s *Target) MayBeOn(lv *demand.Level, targets int) bool {
	if len(lv.Allowed) < targets {
		lv.Allowed = append(lv.Allowed, make([]int8, targets-len(lv.Allowed))...)
	}
	if lv.Allowed[s.ID] == 0 {
		lv.Allowed[s.ID] = -1
		strict := lv.Strict && s.On != plan.OnNode
		if s.admits(lv.Wants).OK() && !(strict && feasibility.Avoided(s.Taints, lv.Wants.Tolerations)) {
			lv.Allowed[s.ID] = 1
		}
	}
	return lv.Allowed[s.ID] > 0
}

// Shut leaves no room on the target, because its instance is not launched after all.
func (s *Target) Shut() {
	for i := range s.Free {
		s.Free[i] = -1
	}
}

// HonourClaims gives waiting pods their place on the instance that was launched for them, whether it is still being
// launched or is a node. So no other pods take it, and nothing is launched twice. Some of the pods may only go where
// others are by then: those left are tried again as long as that helps a good part of them, so that the cost stays
// linear. The rest are placed like all other pods.
func (sc *Scheduler) HonourClaims() {
	claims := sc.claims()
	for honoured, refused := 0, 0; ; honoured, refused = 0, 0 {
		for i := range claims {
			done, left := sc.honourAll(&claims[i])
			honoured, refused = honoured+done, refused+left
		}
		if refused == 0 || 4*honoured < refused {
			return
		}
	}
}

// claims is the places that the pods of a group have been promised. A pod for which several instances were launched
// is promised several places.
type claims struct {
	group *demand.Group
	sites []*claimed
	had   map[[2]string]bool // pods that got a place
}

// claimed is promised places that are alike for rules about other pods, hosts
// aside.
type claimed struct {
	parts []claim
	at    int // the part whose turn it is
}

// claim is promised places on one target.
type claim struct {
	target *Target
	pods   [][2]string // those that wait for their place
}

// claims lists by group, in the order of placing, which pods were promised which places.
func (sc *Scheduler) claims() []claims {
	waiting := sc.awaited()
	if waiting == nil {
		return nil
	}
	at, out := map[*demand.Group]int{}, make([]claims, len(sc.Waiting))
	sites := make([]map[string]*claimed, len(sc.Waiting))
	for i, g := range sc.Waiting {
		at[g], out[i], sites[i] = i, claims{group: g, had: map[[2]string]bool{}}, map[string]*claimed{}
	}
	for _, s := range sc.Targets {
		if len(s.meant) == 0 {
			continue
		}
		where := fmt.Sprint(sc.ahead(sc.spotOf(s)))
		for i := range s.meant {
			key := demand.PodKey(&s.meant[i])
			g := waiting[key]
			if g == nil {
				continue
			}
			c := sites[at[g]][where]
			if c == nil {
				c = &claimed{}
				sites[at[g]][where] = c
				out[at[g]].sites = append(out[at[g]].sites, c)
			}
			if n := len(c.parts); n == 0 || c.parts[n-1].target != s {
				c.parts = append(c.parts, claim{target: s})
			}
			last := &c.parts[len(c.parts)-1]
			last.pods = append(last.pods, key)
		}
	}
	return out
}

// honourAll gives pods of the group their places, one on each site in turn, since a spread allows no other order. It
// returns how many pods got a place, and how many did not.
func (sc *Scheduler) honourAll(c *claims) (honoured, left int) {
	targets := 0
	for _, s := range c.sites {
		targets += len(s.parts)
	}
	for idle, refused := 0, 0; idle <= targets && refused <= 2*targets+16*honoured; {
		asked := false
		for _, s := range c.sites {
			p := s.next(c.had)
			asked = asked || p != nil
			switch {
			case p == nil:
			case sc.honour(p.target, c.group, p.pods[0]):
				c.had[p.pods[0]] = true
				honoured, idle = honoured+1, 0
			default:
				s.at++
				idle, refused = idle+1, refused+1
			}
		}
		if !asked {
			break
		}
	}
	for _, s := range c.sites {
		for i := range s.parts {
			for _, key := range s.parts[i].pods {
				if !c.had[key] {
					left++
				}
			}
		}
	}
	return honoured, left
}

// next returns the part whose turn it is, with a pod that has no place yet; nil
// where no such pods are left.
func (s *claimed) next(had map[[2]string]bool) *claim {
	for len(s.parts) > 0 {
		s.at %= len(s.parts)
		p := &s.parts[s.at]
		for len(p.pods) > 0 && had[p.pods[0]] {
			p.pods = p.pods[1:]
		}
		if len(p.pods) > 0 {
			return p
		}
		s.parts = slices.Delete(s.parts, s.at, s.at+1)
	}
	return nil
}

// awaited returns the groups of the waiting pods, if any instance was launched
// for pods.
func (sc *Scheduler) awaited() map[[2]string]*demand.Group {
	if !slices.ContainsFunc(sc.Targets, func(s *Target) bool { return len(s.meant) > 0 }) {
		return nil
	}
	waiting := map[[2]string]*demand.Group{}
	for _, g := range sc.Waiting {
		for i := range g.Pods {
			waiting[demand.PodKey(g.Pods[i].Pod)] = g
		}
	}
	return waiting
}

// honour places the named pod on the target, if it may be there now.
func (sc *Scheduler) honour(s *Target, g *demand.Group, key [2]string) bool {
	lv := g.PodClass.Required()
	if sc.Used(g.PodClass) || !s.Admitted(lv, len(sc.Targets)) || sc.RoomOn(s, g, lv) == 0 {
		return false
	}
	g.Forward(key)
	sc.Sit(s, g, lv, 1)
	return true
}

// Take takes room for n pods of the group, placed on the level.
func (s *Target) Take(d amount.Dims, g *demand.Group, lv *demand.Level, n int64) {
	if _, first := s.Guests.Within(d, s.Free, g); first != nil {
		amount.Take(s.Free, first, 1)
	}
	amount.Take(s.Free, g.Need, n)
	s.Guests.Add(g.PodClass, lv, n)
}
