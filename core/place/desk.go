package place

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/topology"
)

// desk is where questions about a ground are answered, one at a time. What is
// found out about shapes, seats and pools stays for the next question as long as
// it is the same for every one; all else is put back.
type desk struct {
	ground    *Ground
	run       *run
	places    []int            // on the board, by node
	seats     []*seat          // by node; nil where it has none
	byName    map[string]*seat // of nodes
	nodeSeats int              // how many of the seats are nodes
	looked    []string         // see run
	moves     int              // of the ground's that are carried out here
	kins      map[*cluster.Shape]*deskKin
	text      map[*cluster.Shape]string // see orderBy
	board     *topology.Board           // with all pods that run
	daemons   map[*cluster.Shape]*topology.Rules
	held      map[string]int // pods that use a volume for one pod at a time
	stocks    map[string]int64
	pools     []deskPool
	gaps      *gaps
	plots     map[string][]*plot
	crowds    map[workload][]spotCrowd // nil: not counted yet
	market    *wholesale
	hopes     map[*cluster.Shape]hope
	spare     map[*cluster.Shape]bitset.Set // see spareFor
	filled    []*seat                       // since seats were put in order, of those that something was placed on
	open      bitset.Set                    // nodes that pods of the last question could go to
}

// deskKin is a kin with what its levels ask for on the board of the desk.
type deskKin struct {
	*kin
	need  []int64 // of the shape that it is looked up by
	rules map[*level]*topology.Rules
}

// deskPool is a pool before anything is bought.
type deskPool struct {
	available, within bitset.Set
	free, whole       [][]int64
	limits            *limits
}

func newDesk(g *Ground) *desk {
	s := g.snapshot
	r := newRun(s, movers(s, g.taken), g.options)
	r.takeFor(g.launches)
	d := &desk{
		ground: g, run: r, looked: r.looked, moves: len(g.moves), board: r.board, daemons: r.daemons, stocks: r.stocks,
		kins: map[*cluster.Shape]*deskKin{}, text: map[*cluster.Shape]string{}, held: map[string]int{},
		plots: map[string][]*plot{}, hopes: map[*cluster.Shape]hope{}, spare: map[*cluster.Shape]bitset.Set{},
	}
	for _, w := range r.waiting {
		k := &deskKin{kin: w.kin, need: w.need, rules: map[*level]*topology.Rules{}}
		for _, levels := range w.kin.byWishes {
			for _, lv := range levels {
				k.rules[lv] = lv.rules
			}
		}
		d.kins[w.shape] = k
	}
	for _, k := range d.kins {
		k.groups = nil
	}
	d.noteNodes(s)
	d.noteTaken(g.taken)
	d.open = bitset.Full(len(s.Nodes))
	d.notePools()
	setTwins(r.buyers)
	d.arrange()
	r.base, r.groups, r.waiting = nil, nil, nil
	return d
}

// takeFor accounts for what machines of the plan are taken from.
func (r *run) takeFor(launches []plan.Launch) {
	for i := range launches {
		at := slices.IndexFunc(r.buyers, func(b *buyer) bool { return b.ID == launches[i].Pool })
		if at < 0 || r.stocks == nil {
			continue
		}
		if o := launches[i].Offer(r.buyers[at].Catalogue); o != nil && r.left(o) > 0 {
			r.takeStocks(o.Stocks)
		}
	}
}

// movers returns a pod of each shape that may have to move, or that something is
// taken for on a machine.
func movers(s *cluster.Snapshot, taken []plan.Placement) []cluster.Pod {
	var out []cluster.Pod
	seen := map[*cluster.Shape]bool{}
	add := func(p *cluster.Pod) {
		if !seen[p.Shape] {
			seen[p.Shape] = true
			out = append(out, *p)
		}
	}
	for i := range s.Nodes {
		for j := range s.Nodes[i].Pods {
			if p := &s.Nodes[i].Pods[j]; p.Moves() {
				add(p)
			}
		}
	}
	for i := range taken {
		add(&taken[i].Pod)
	}
	return out
}

// noteNodes finds the seats and places of nodes, and closes those seats for good
// that are for nobody who leaves a node.
func (d *desk) noteNodes(s *cluster.Snapshot) {
	d.byName = map[string]*seat{}
	for _, seat := range d.run.seats {
		seat.closed = true
		if seat.on == plan.OnNode {
			d.byName[seat.name] = seat
		}
	}
	d.nodeSeats = len(d.byName)
	d.seats, d.places = make([]*seat, len(s.Nodes)), make([]int, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		d.places[i] = i // as setUpBoard adds them
		at, known := d.byName[n.Name]
		d.seats[i] = at
		if known && n.Initialized && n.Ready {
			at.closed = false
		}
		for j := range n.Pods {
			if p := &n.Pods[j]; !n.Deleting || !p.Moves() {
				d.hold(p.Shape, 1)
			}
		}
	}
	for _, seat := range d.run.seats {
		seat.shutForGood = seat.closed
	}
}

func (d *desk) hold(s *cluster.Shape, n int) {
	for _, v := range s.Volumes {
		if v.Exclusive && v.Claim != "" {
			d.held[v.Claim] += n
		}
	}
}

// noteTaken counts pods that are expected on machines on order.
func (d *desk) noteTaken(list []plan.Placement) {
	if len(list) == 0 {
		return
	}
	places := map[string]int{}
	for _, seat := range d.run.seats {
		if seat.on == plan.OnMachine {
			places[seat.name] = seat.place
		}
	}
	for i := range list {
		d.settle(d.run, &list[i], places)
	}
}

// begin makes the run one for the question.
func (d *desk) begin(q Question) *run {
	old := d.run
	r := &run{
		snapshot: d.ground.snapshot, options: d.ground.options, dims: old.dims, avoided: old.avoided, markets: old.markets,
		seats: old.seats, firstLaunch: old.firstLaunch, buyers: old.buyers, limited: old.limited, here: old.here,
		filler: old.filler, scratch: old.scratch, winner: old.winner, tried: old.tried, filled: old.filled,
		scout: old.scout, gatherer: old.gatherer,
		failed: map[request]bool{}, crowdRules: map[string]int{}, torn: map[*group]*crew{}, kins: map[string]*kin{},
		followers: map[int][]*kin{}, held: map[string]bool{}, daemons: map[*cluster.Shape]*topology.Rules{},
		question: &question{Question: q, desk: d},
	}
	r.filler.r, r.filler.b, r.filler.l, r.filler.touched, r.filler.taken = nil, nil, nil, nil, nil
	if d.stocks != nil {
		r.stocks = map[string]int64{}
		for name, left := range d.stocks {
			r.stocks[name] = left
		}
	}
	for i, b := range r.buyers {
		b.restore(&d.pools[i], r)
	}
	if q.Freed {
		for _, at := range q.Leave {
			r.free(&d.ground.snapshot.Nodes[at])
		}
	}
	d.run = r
	return r
}

// free accounts for a node that is gone before anything is bought.
func (r *run) free(n *cluster.Node) {
	for _, b := range r.buyers {
		if b.ID == n.Pool && b.limits != nil {
			b.limits.giveBack(n.Capacity)
			b.narrow()
		}
	}
}

// restore makes the pool what it was before anything was bought from it.
func (b *buyer) restore(before *deskPool, r *run) {
	if !slices.Equal(b.available, before.available) || b.whole == nil && before.whole != nil {
		b.lots, b.lastLot, b.choices, b.wares = nil, nil, nil, nil
	}
	if !b.lasting {
		b.price, b.cost = nil, nil
	}
	b.run, b.free, b.whole = r, before.free, before.whole
	if before.limits != nil {
		b.limits = before.limits.clone()
		b.limits.first = before.limits.first
	}
	copy(b.available, before.available)
	copy(b.within, before.within)
	b.byYield, b.asks, b.kits, b.hurdles, b.valued = nil, nil, nil, nil, 0
}

// ask answers one question.
func (d *desk) ask(q Question) Result {
	r := d.begin(q)
	leaving, pods := d.leavers(q)
	if len(pods) == 0 {
		return Result{}
	}
	r.pods, r.waiting = len(pods), groupPods(pods)
	d.lookFrom(r, q.Wishes, leaving)
	r.noteFollowers()
	for _, g := range r.waiting {
		g.need = d.kins[g.shape].need
	}
	orderBy(r.waiting, d.text)
	d.close(q, leaving)
	r.search()
	if q.Why {
		r.snapshot = d.asLeft(leaving)
	}
	out := r.finish()
	out.Expensive = r.question.over || r.question.buys && len(out.Unplaced) == 0 || out.Expensive || q.Below >= 0 && (out.Cost-out.Risk > float64(q.Below) || out.Unpriced > 0)
	d.putBack(q, leaving)
	return out
}

// leavers returns the nodes that leave, and their pods that need another place.
func (d *desk) leavers(q Question) (nodes []int, pods []*cluster.Pod) {
	for _, at := range q.Leave {
		n := &d.ground.snapshot.Nodes[at]
		if n.Deleting || slices.Contains(nodes, at) {
			continue
		}
		nodes = append(nodes, at)
		for j := range n.Pods {
			if n.Pods[j].Moves() {
				pods = append(pods, &n.Pods[j])
			}
		}
	}
	return nodes, pods
}

// lookFrom makes the board one for the pods that wait, without those of leaving
// nodes.
func (d *desk) lookFrom(r *run, wishes func(*cluster.Shape) Wishes, leaving []int) {
	var rules []*topology.Rules
	for _, g := range r.waiting {
		g.kin = d.kins[g.shape].kin
		g.kin.groups = nil
	}
	for _, g := range r.waiting {
		if k := d.kins[g.shape]; len(k.groups) == 0 {
			which := AllWishes
			if wishes != nil {
				which = wishes(g.shape)
			}
			k.hold(k.byWishes[which])
			for _, lv := range k.levels {
				rules = append(rules, k.rules[lv])
			}
		}
		g.kin.groups = append(g.kin.groups, g)
	}
	view := d.board.View(rules)
	r.board, r.counted = view.Board, !view.Empty()
	r.looked = view.Looked()
	for _, g := range r.waiting {
		if g.kin.groups[0] != g {
			continue
		}
		k := d.kins[g.shape]
		k.depth = 0
		r.kins[g.kin.text] = g.kin
		for _, lv := range k.levels {
			lv.begin(view.Rules(k.rules[lv]), r.firstLaunch)
		}
	}
	if r.counted {
		d.depart(r, view, leaving)
		if r.sells() { // else nobody is placed once more
			r.base = r.board.Clone()
		}
	}
	for _, at := range leaving {
		for j := range d.ground.snapshot.Nodes[at].Pods {
			if p := &d.ground.snapshot.Nodes[at].Pods[j]; p.Moves() {
				d.hold(p.Shape, -1)
			}
		}
	}
	for _, g := range r.waiting {
		for _, v := range g.kin.shared {
			if v.Exclusive && d.held[v.Claim] > 0 {
				r.held[v.Claim] = true
			}
		}
	}
}

// begin makes the level one for a question, with these rules.
func (lv *level) begin(rules *topology.Rules, firstLaunch int) {
	lv.asked = lv.asked && slices.Equal(lv.fixed, rules.Fixed())
	lv.rules, lv.fixed = rules, rules.Fixed()
	lv.followers, lv.led, lv.crowd = nil, false, 0
	lv.allowed = lv.allowed[:min(len(lv.allowed), firstLaunch)]
}

// depart takes the pods that leave off the board, and nodes that go.
func (d *desk) depart(r *run, view *topology.View, leaving []int) {
	for shape, rules := range d.daemons {
		if own := view.Rules(rules); own.Counts() {
			r.daemons[shape] = own
			view.Brought(own)
		}
	}
	for _, at := range leaving {
		n := &d.ground.snapshot.Nodes[at]
		var stay []*topology.Rules
		for j := range n.Pods {
			p := &n.Pods[j]
			switch {
			case p.Moves():
				view.Leave(r.here[p.Shape], d.places[at], p.Ending)
			case !p.Ending:
				stay = append(stay, r.here[p.Shape])
			}
		}
		if len(d.daemons) > 0 {
			for _, shape := range feasibility.Expected(n, d.ground.snapshot.Daemons) {
				if rules := d.daemons[shape]; rules != nil {
					view.Leave(rules, d.places[at], false)
				}
			}
		}
		gone := *n
		gone.Deleting = true
		if gone.Goes() {
			view.Vacate(d.places[at], stay)
		}
	}
}

// close keeps pods off the nodes that leave and those that are not open.
func (d *desk) close(q Question, leaving []int) {
	open := q.Open
	if open == nil {
		open = bitset.Full(len(d.seats))
	}
	for node := range d.open.Difference(open) {
		if at := d.seats[node]; at != nil {
			at.closed = at.shutForGood || !open.Has(node)
		}
	}
	copy(d.open, open)
	for _, at := range leaving {
		d.seats[at].closed = true
	}
}

// putBack makes everything what it was before the question.
func (d *desk) putBack(q Question, leaving []int) {
	r := d.run
	r.question.kept.giveBack()
	r.seats = r.seats[:r.firstLaunch]
	for _, at := range leaving {
		seat := d.seats[at]
		seat.closed = seat.shutForGood || !d.open.Has(at)
		for j := range d.ground.snapshot.Nodes[at].Pods {
			if p := &d.ground.snapshot.Nodes[at].Pods[j]; p.Moves() {
				d.hold(p.Shape, 1)
			}
		}
	}
}

// asLeft returns the snapshot with the nodes going away that leave or that are
// not for pods of others, for reasons.
func (d *desk) asLeft(leaving []int) *cluster.Snapshot {
	out := *d.ground.snapshot
	out.Nodes = slices.Clone(out.Nodes)
	for i := range out.Nodes {
		if at := d.seats[i]; at == nil || at.closed {
			out.Nodes[i].Deleting = true
		}
	}
	return &out
}
