package place

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/fit"
	"github.com/daemok/daemok/core/plan"
)

// seat is a place that is there or on its way.
type seat struct {
	at      int // position among the seats
	on      plan.Destination
	name    string
	free    []int64
	guests  guests
	taints  []constraint.Taint
	admits  func(*cluster.Shape) fit.Reason
	meant   []cluster.Pod // that its machine was ordered for and that still wait
	ordered *fit.Ordered  // of an ordered machine, by an earlier plan or by this one
	launch  int           // of a machine of this plan: its position among the launches
	place   int           // on the board
}

// nodeSeats lists nodes that may take pods: initialized ones first, the
// fullest first among these, so that large gaps stay whole and the emptiest
// nodes can go.
func nodeSeats(s *cluster.Snapshot, d dims) []*seat {
	var nodes []*cluster.Node
	for i := range s.Nodes {
		if !s.Nodes[i].Deleting {
			nodes = append(nodes, &s.Nodes[i])
		}
	}
	free := map[*cluster.Node][]int64{}
	for _, n := range nodes {
		free[n] = d.vector(fit.Free(n, s.Daemons), n.Attachable)
	}
	slices.SortStableFunc(nodes, func(a, b *cluster.Node) int {
		return cmp.Or(
			cmp.Compare(rank(a.Initialized), rank(b.Initialized)),
			slices.Compare(free[a], free[b]),
			a.CreatedAt.Compare(b.CreatedAt),
			cmp.Compare(a.Name, b.Name))
	})
	out := make([]*seat, len(nodes))
	for i, n := range nodes {
		out[i] = &seat{on: plan.OnNode, name: n.Name, meant: n.BoughtFor, free: free[n], taints: fit.LastingTaints(n),
			guests: guests{ports: fit.Ports(n, s.Daemons)},
			admits: func(s *cluster.Shape) fit.Reason { return fit.NodeAdmits(s, n) }}
		out[i].attach(n.Pods, d)
	}
	return out
}

// attach takes off what volumes of the pods use, shared ones once.
func (s *seat) attach(pods []cluster.Pod, d dims) {
	for i := range pods {
		for _, v := range pods[i].Shape.Volumes {
			if v.Claim != "" {
				if slices.Contains(s.guests.claims, v.Claim) {
					continue
				}
				s.guests.claims = append(s.guests.claims, v.Claim)
			}
			if d.knows(v.Driver) {
				s.free[d.driver(v.Driver)]--
			}
		}
	}
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// machineSeats lists ordered machines, oldest first.
func machineSeats(s *cluster.Snapshot, pools []*fit.Pool, d dims) []*seat {
	var out []*seat
	for i := range s.Machines {
		m := &s.Machines[i]
		if m.Deleting {
			continue
		}
		ordered := fit.ForMachine(m, poolOf(m, pools), s.Daemons)
		out = append(out, &seat{on: plan.OnMachine, name: m.Claim, meant: m.BoughtFor, ordered: ordered, taints: m.Taints,
			guests: guests{ports: ordered.Ports}, free: d.vector(ordered.Free, m.Attachable), admits: ordered.Admits})
	}
	slices.SortStableFunc(out, func(a, b *seat) int {
		return cmp.Or(a.ordered.CreatedAt.Compare(b.ordered.CreatedAt), cmp.Compare(a.name, b.name))
	})
	return out
}

func poolOf(m *cluster.Machine, pools []*fit.Pool) *fit.Pool {
	for _, p := range pools {
		if p.ID == m.Pool {
			return p
		}
	}
	return nil
}

// admitted reports whether the seat is one for pods of the level, amounts and
// other pods aside.
func (lv *level) admitted(s *seat, seats int) bool {
	if len(lv.allowed) < seats {
		lv.allowed = append(lv.allowed, make([]int8, seats-len(lv.allowed))...)
	}
	if lv.allowed[s.at] == 0 {
		lv.allowed[s.at] = -1
		if s.admits(lv.wants).OK() && !(lv.strict && fit.Avoided(s.taints, lv.wants.Tolerations)) {
			lv.allowed[s.at] = 1
		}
	}
	return lv.allowed[s.at] > 0
}

// roomOn returns how many pods of the group the seat may take now, on which
// it is admitted.
func (r *run) roomOn(s *seat, g *group, lv *level) int64 {
	n, _ := r.within(s.free, g, &s.guests)
	if n == 0 {
		return 0
	}
	n = min(n, s.guests.room(g.kin, lv))
	if n > 0 && r.counted {
		n = min(n, r.board.Room(lv.rules, r.board.Spot(s.place)))
	}
	if n > 0 && exclusive(g.kin) {
		n = 1
	}
	return n
}

// addLaunchSeats makes seats of the machines that this plan orders, for pods
// that found no other place.
func (r *run) addLaunchSeats() {
	beside := r.byLaunch()
	for i := len(r.seats) - r.firstLaunch; i < len(r.out.Launches); i++ {
		l, at := &r.out.Launches[i], &r.launched[i]
		ordered := r.orderedAs(i, at.options)
		s := &seat{at: len(r.seats), on: plan.OnLaunch, name: l.Name, ordered: ordered, taints: at.buyer.Taints, launch: i,
			guests: guests{ports: ordered.Ports}, free: slices.Clone(at.free), admits: ordered.Admits, place: at.place}
		if at.gone {
			s.shut()
		}
		for _, k := range beside[i] {
			s.guests.add(k, k.required(), 1)
		}
		r.seats = append(r.seats, s)
	}
}

// orderedAs is a machine of this plan that may become these options.
func (r *run) orderedAs(launch int, options bitset.Set) *fit.Ordered {
	l, b := &r.out.Launches[launch], r.launched[launch].buyer
	return fit.ForOptions(&cluster.Machine{
		Claim: l.Name, Pool: l.Pool, Labels: b.Labels.Merge(l.Labels), Requirements: l.Requirements, Taints: b.Taints,
	}, b.Pool, options)
}

// reopen has the seat on a machine of this plan be for what is left of its
// options.
func (r *run) reopen(s *seat, launch int, options bitset.Set) {
	s.ordered = r.orderedAs(launch, options)
	s.admits = s.ordered.Admits
	for _, k := range r.kins {
		for _, lv := range k.levels {
			if s.at < len(lv.allowed) {
				lv.allowed[s.at] = 0
			}
		}
	}
}

// shut leaves no room: the machine is not ordered after all.
func (s *seat) shut() {
	for i := range s.free {
		s.free[i] = -1
	}
}

// byLaunch lists the kin of the pods on each machine that this plan orders.
func (r *run) byLaunch() map[int][]*kin {
	out := map[int][]*kin{}
	for _, x := range r.seated {
		if x.on == plan.OnLaunch {
			out[x.launch] = append(out[x.launch], x.group.kin)
		}
	}
	return out
}

// sit places the next n pods of the group on the seat.
func (r *run) sit(s *seat, g *group, lv *level, n int64) {
	_, first := r.within(s.free, g, &s.guests)
	if first != nil {
		take(s.free, first, 1)
	}
	take(s.free, g.need, n)
	g.rides -= n
	s.guests.add(g.kin, lv, n)
	if r.counted {
		r.board.Put(lv.rules, s.place, n, false)
	}
	r.hold(g.kin)
	pods := r.turns(g.next(n))
	if s.on == plan.OnLaunch {
		r.join(&r.out.Launches[s.launch], pods)
	}
	r.place(g, lv, pods, s.on, s.name, s)
}

// join adds pods to a machine that this plan orders.
func (r *run) join(l *plan.Launch, pods []waiter) {
	for _, w := range pods {
		l.Pods = append(l.Pods, *w.Pod)
		l.Requests = l.Requests.Add(w.Shape.Requests)
	}
	slices.SortFunc(l.Pods, byName)
	l.Reason = waitText(len(l.Pods))
}

// honourOrders gives the pods that a machine was bought for their place there,
// on order or as a node, as long as they wait, so that nobody else takes it and nothing is bought twice. Some
// may go only where others are by then: those left are tried again as long as
// that helps a good part of them, so that the cost stays linear; the rest find
// homes like all others.
func (r *run) honourOrders() {
	waiting := r.awaited()
	for honoured, refused := 0, 0; ; honoured, refused = 0, 0 {
		for _, s := range r.seats {
			for i := range s.meant {
				key := podKey(&s.meant[i])
				g := waiting[key]
				if g == nil {
					continue
				}
				if !r.honour(s, g, key) {
					refused++
					continue
				}
				delete(waiting, key)
				honoured++
			}
		}
		if refused == 0 || 4*honoured < refused {
			return
		}
	}
}

// awaited returns the groups of the waiting pods, if any machine was bought
// for pods.
func (r *run) awaited() map[[2]string]*group {
	if !slices.ContainsFunc(r.seats, func(s *seat) bool { return len(s.meant) > 0 }) {
		return nil
	}
	waiting := map[[2]string]*group{}
	for _, g := range r.waiting {
		for i := range g.pods {
			waiting[podKey(g.pods[i].Pod)] = g
		}
	}
	return waiting
}

// honour places the named pod on the seat, if it may be there now.
func (r *run) honour(s *seat, g *group, key [2]string) bool {
	lv := g.kin.required()
	if r.used(g.kin) || !lv.admitted(s, len(r.seats)) || r.roomOn(s, g, lv) == 0 {
		return false
	}
	g.forward(key)
	r.sit(s, g, lv, 1)
	return true
}

// forward makes the named pod the next one of its group.
func (g *group) forward(key [2]string) {
	for i := g.placed; i < len(g.pods); i++ {
		if podKey(g.pods[i].Pod) == key {
			w := g.pods[i]
			copy(g.pods[g.placed+1:i+1], g.pods[g.placed:i])
			g.pods[g.placed] = w
			return
		}
	}
}

func podKey(p *cluster.Pod) [2]string { return [2]string{p.Namespace, p.Name} }
