package place

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/topology"
)

// MinValues says what happens when too few values stay open for minValues.
type MinValues string

// The policies. The zero value is Strict.
const (
	Strict     MinValues = ""           // nothing is bought
	BestEffort MinValues = "BestEffort" // as many as there are will do
)

// Set makes it the policy of that name, as settings have it.
func (m *MinValues) Set(name string) error {
	switch name {
	case "Strict":
		*m = Strict
	case string(BestEffort):
		*m = BestEffort
	default:
		return fmt.Errorf("%q: want Strict or BestEffort", name)
	}
	return nil
}

// Options is how to search.
type Options struct {
	MinValues      MinValues
	Wishes         func(*cluster.Shape) Wishes // which wishes of pods of a shape count, the same for shapes with equal RulesText; nil: all
	Steps          int64                       // most steps to take: about one for each look at one shape in one place; 0 means no bound
	Packer         Packer                      // chooses machines that are bought together; nil means that each is chosen alone
	ExpensiveSites bool                        // groups avoid sites where machines for all would cost clearly more, see priceSites; the same may be said of the answer
	EvenHosts      bool                        // see topology.Board.Even; the answer may be more expensive than the usual one, and leave more pods
	Thrift         float64                     // what all that pools may still own counts as when machines are compared: those that take little of it come first
	Calm           bool                        // what interruptions are likely to cost has no say in what machines are chosen, but in which spot offers these come from
	Small          bool                        // machines that are large for the cluster are launched only for pods that fit on no others, see Sizes
	Ready          *Ready                      // what was prepared for the snapshot, or one with the same pools and daemons; nil: nothing
	Unproven       bool                        // neither Bound nor Margins are worked out
	Leanings       []Leaning                   // by shape, in the order of placing; those that are missing are as usual
	asked          bool                        // see Ground: questions may leave wishes out
}

// Result is where pods go. Launches are in the order in which they were
// opened, unplaced shapes in the order in which they were tried. Placements
// are in an order in which kube-scheduler would accept each of them, with
// every machine of the plan there from the beginning.
type Result struct {
	Launches       []plan.Launch
	Placements     []plan.Placement
	Unplaced       []plan.Unplaced
	Joining        []plan.Joining           // machines on order, oldest first
	Cost           float64                  // of the launches, in what counts when machines are compared; unknown prices are 0
	Risk           float64                  // of that: what interruptions are likely to cost, as far as it counts
	Risky          bool                     // the option Calm could make the answer another one
	SpotMore       quantity.MicroUSDPerHour // see plan.Plan
	Unpriced       float64                  // what launches of an unknown price have, weighed by what resources usually cost
	Bound          quantity.MicroUSDPerHour
	Margins        []plan.Margin // see plan.Plan
	Expensive      bool          // machines for all would cost more than a question allows, see Ground
	ExpensiveSites bool          // the option of that name could make the answer another one
	EvenHosts      bool          // the option of that name could make the answer another one
	Short          bool          // pods are left, and with machines that take less of limits more might have a place
	Choices        []Choice      // by shape, in the order of placing: what leanings could change
	Steps          int64
	Exhausted      bool // the steps were used up before all was tried
}

// roundsMax is how often homes are sought for pods that lost theirs.
const roundsMax = 16

// Place finds homes for the waiting pods of the snapshot and for those that
// must leave nodes being deleted. Pods of high priority are placed first, then
// large ones. Each goes to an existing node if it can, then to an ordered
// machine, then to a new one from the heaviest pool that can have it. Where
// rules look at other pods, domains are decided pod by pod before machines are
// bought, and the whole answer is checked once more in its own order. Where that
// took pods off their places, machines that others have room for are given up.
//
// Cost: shapes x (nodes + machines), and for new machines about shapes x
// kinds for each different machine; pods of one shape are placed together.
func Place(s *cluster.Snapshot, o Options) Result {
	pods := Waiting(s)
	if len(pods) == 0 {
		return Result{}
	}
	r := newRun(s, pods, o)
	r.search()
	return r.finish()
}

// search seeks homes until all pods have one or no more can be found.
func (r *run) search() {
	if r.question == nil {
		r.honourOrders()
	}
	for r.round = 1; ; r.round++ {
		r.begin()
		r.lean()
		before := r.stillWaiting()
		r.findHomes()
		r.noteSeated()
		if r.tooExpensive() {
			r.takeBack()
			return
		}
		r.buyAll()
		r.replay()
		r.takeBack()
		now := r.stillWaiting()
		done := now == 0 || r.round >= roundsMax || r.round > 1 && now >= before && !r.learnt || r.out.Exhausted
		if done && !r.withdraw() && !r.fold() && !r.rescue() && !r.diversify() {
			return
		}
		r.addLaunchSeats()
	}
}

// run is one call of Place.
type run struct {
	snapshot    *cluster.Snapshot
	options     Options
	dims        amount.Dims
	pods        int      // that wait, or must leave their nodes
	waiting     []*group // one for each shape, in the order of placing
	groups      []*group // those that machines are bought for, in that order
	rows        map[request]*group
	siteCosts   map[pricing]float64 // see priceSites
	goods       map[shelf][]good    // likewise, in a round
	sales       map[sale]bool       // see sellsIn
	looks       int                 // taken for that
	crowdRules  map[string]int      // numbers of those of crowds, from 1 on
	crowds      map[crowd]int64     // see crowdsNow
	failed      map[request]bool    // what could not be bought in an earlier round
	learnt      bool                // something was added to it in this round
	kins        map[string]*kin
	followers   map[int][]*kin       // by tally: those whose pods must be near such pods
	markets     map[string][]*market // see marketsOf
	round       int                  // counted from 1
	avoided     [][]constraint.Taint // of places that ask pods to stay away
	seats       []*seat              // nodes, then ordered machines
	stocks      map[string]int64     // machines that are left of each stock, see countStocks
	firstLaunch int                  // position of the first seat on a machine of this plan
	buyers      []*buyer             // heaviest pool first
	sellers     []*buyer             // those of them that machines are bought from, see noteSellers
	board       *topology.Board
	base        *topology.Board                    // before any pod was placed
	counted     bool                               // some rule looks at other pods
	looked      []string                           // labels of places that rules about other pods look at
	scout       guests                             // of a machine that is not there yet, for asking
	gatherer    guests                             // likewise, for gathering crews
	givers      map[int][]*group                   // of a tally that somebody seeks: the rows of such pods
	seekers     map[int][]*group                   // of a tally: the rows of pods that must be beside such pods
	offered     map[int][]*group                   // by tally: groups of which such pods are bought for, two at most
	meeting     map[[2]*market]bool                // markets with a machine in common; see meet
	torn        map[*group]*crew                   // crews that are too much for any machine, by those that homes are sought for
	limited     bool                               // some pool has limits
	daemons     map[*cluster.Shape]*topology.Rules // daemon pods that count for somebody
	held        map[string]bool                    // volume claims for one pod that are in use
	turn        int
	seated      []seated
	evicted     bool       // some replay took pods off their places
	folding     int64      // steps taken for that
	launched    []launched // by launch
	demand      demand
	worth       []float64
	valued      int      // how often that was found
	repriceAt   float64  // worth of what is left at which prices are sought anew
	sides       [][]lane // by resource: groups whose worth is mostly in it, see sortBySide
	lanes       int      // of all sides
	clans       int      // how many there are, see noteClans
	steps       int64
	rescues     int                                // tried in vain
	filler      filler                             // kept for its memory
	scratch     load                               // likewise
	winner      load                               // likewise, see tournament
	tried       map[[3]int64]bool                  // likewise
	filled      []load                             // for trial; likewise
	here        map[*cluster.Shape]*topology.Rules // of pods that have a node
	question    *question                          // nil unless it is one of many about the same snapshot, see Ground
	out         Result
}

func newRun(s *cluster.Snapshot, pods []cluster.Pod, o Options) *run {
	r := &run{
		snapshot: s, options: o, pods: len(pods), dims: amount.Of(pods), waiting: groupByShape(pods), board: topology.NewBoard(),
		failed: map[request]bool{}, crowdRules: map[string]int{}, torn: map[*group]*crew{}, kins: map[string]*kin{}, followers: map[int][]*kin{}, markets: map[string][]*market{}, held: map[string]bool{}, daemons: map[*cluster.Shape]*topology.Rules{}, tried: map[[3]int64]bool{},
	}
	r.scratch.sum = make([]int64, r.dims.Len())
	ready := o.readyFor(s)
	pools := ready.ForPools()
	r.seats = append(nodeSeats(s, r.dims), machineSeats(s, pools, r.dims)...)
	for i, seat := range r.seats {
		seat.at, seat.id = i, i
	}
	r.firstLaunch = len(r.seats)
	var z *sizes
	if o.Small {
		z = sizesOf(s)
	}
	for i, p := range pools {
		b := newBuyer(p, r.dims, ready, i, z)
		b.run = r
		r.limited = r.limited || b.limits != nil
		r.buyers = append(r.buyers, b)
	}
	slices.SortStableFunc(r.buyers, func(a, b *buyer) int { return cmp.Compare(b.Weight, a.Weight) })
	for i, b := range r.buyers {
		b.at = i
	}
	r.countStocks()
	r.noteAvoided()
	r.setUpBoard(s)
	r.noteHeld(s)
	for _, g := range r.waiting {
		g.need = r.dims.Need(g.shape)
	}
	order(r.waiting)
	return r
}

// begin makes the run ready for a round.
func (r *run) begin() {
	r.groups, r.rows, r.learnt = nil, map[request]*group{}, false
	r.siteCosts, r.goods, r.crowds, r.sales = map[pricing]float64{}, map[shelf][]good{}, nil, map[sale]bool{}
	if r.round > 1 {
		r.board.Dare()
	}
	r.offered, r.meeting = map[int][]*group{}, map[[2]*market]bool{}
	r.scout.host, r.filler.guests.host, r.gatherer.host = r.board.NewHost(), r.board.NewHost(), r.board.NewHost()
	for _, b := range r.buyers {
		b.asks = nil
	}
}

func (r *run) stillWaiting() int {
	n := 0
	for _, g := range r.waiting {
		n += int(g.left())
	}
	return n
}

// noteAvoided lists what taints ask pods to stay away without forbidding it, those
// of nodes that are going away too: a Ground has them, whichever nodes leave.
func (r *run) noteAvoided() {
	note := func(taints []constraint.Taint) {
		if feasibility.Avoided(taints, nil) {
			r.avoided = append(r.avoided, taints)
		}
	}
	for _, b := range r.buyers {
		note(b.Taints)
	}
	for _, s := range r.seats {
		note(s.taints)
	}
	for i := range r.snapshot.Nodes {
		if n := &r.snapshot.Nodes[i]; n.Deleting {
			note(feasibility.LastingTaints(n))
		}
	}
}

// noteHeld lists the volumes for one pod that running pods use.
func (r *run) noteHeld(s *cluster.Snapshot) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		for j := range n.Pods {
			for _, v := range n.Pods[j].Shape.Volumes {
				if v.Exclusive && v.Claim != "" && !(n.Deleting && n.Pods[j].Moves()) {
					r.held[v.Claim] = true
				}
			}
		}
	}
}

// spent counts steps and reports whether all of them are used up.
func (r *run) spent(steps int64) bool {
	r.steps += steps
	if r.options.Steps > 0 && r.steps >= r.options.Steps {
		r.out.Exhausted = true
	}
	return r.out.Exhausted || r.question != nil && r.question.over
}

// place notes where pods of the group have their place: at a seat or, without
// one, on the machine that is being ordered.
func (r *run) place(g *group, lv *level, pods []waiter, on plan.Destination, name string, at *seat) {
	launch := len(r.launched)
	if at != nil {
		launch = at.launch
	}
	for _, w := range pods {
		r.seated = append(r.seated, seated{waiter: w, stay: stay{g, lv}, on: on, name: name, seat: at, launch: launch})
	}
}
