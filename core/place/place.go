package place

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/effort"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/provisioning"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/scheduling"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/core/topology"
)

// Options says how to search.
type Options struct {
	MinValues        provisioning.MinValues
	Preferences      demand.Counting      // which preferences of pods count
	Steps            int64                // most steps to take: about one for each look at one shape on one target; 0 means no bound
	Packer           provisioning.Packer  // chooses instances that are launched together; nil means that each is chosen alone
	EvenHosts        bool                 // see topology.Board.Even; the answer may be more expensive than the usual one, and leave more pods
	LimitCost        float64              // the cost that counts, when instances are compared, for all that limits still allow: instances that take little of it come first
	LeastInterrupted bool                 // what interruptions are likely to cost decides only which spot offerings instances come from, and not which are chosen
	Small            bool                 // instances that are large for the cluster are launched only for pods that fit on no others, see Sizes
	Ready            *supply.Ready        // what was prepared for the snapshot, or one with the same pools and daemons; nil: nothing
	Unproven         bool                 // neither Bound nor Margins are computed
	Unexplained      bool                 // nor reasons why pods are left, so that only pools count that pods may use
	Variants         []scheduling.Variant // by shape, in the order of placing; missing ones change nothing
	Questions        bool                 // questions about removal follow, which may leave preferences out
}

// Result says where pods go. Launches are in the order in which they were chosen, unplaced shapes in the order in which
// they were tried. Placements are in an order in which kube-scheduler would accept each of them, if every instance of
// the plan is there from the beginning.
type Result struct {
	Launches   []plan.Launch
	Placements []plan.Placement
	Unplaced   []plan.Unplaced
	Joining    []plan.Joining           // instances being launched, oldest first
	Cost       float64                  // of the launches, in what counts when instances are compared; unknown prices are 0
	Risk       float64                  // the part of Cost that interruptions are likely to cost, as far as it counts
	Risky      bool                     // the option LeastInterrupted could make the answer another one
	SpotMore   quantity.MicroUSDPerHour // see plan.Plan
	Unpriced   float64                  // what launches with an unknown price have, at usual prices of resources
	Bound      quantity.MicroUSDPerHour
	Margins    []plan.Margin       // see plan.Plan
	Expensive  bool                // instances for all pods would cost more than a question about removal allows
	EvenHosts  bool                // the option of that name could make the answer another one
	Short      bool                // pods are left, and with instances that take less of limits more pods might have a place
	Choices    []scheduling.Choice // by shape, in the order of placing: what variants could change
	Steps      int64
	Exhausted  bool // the steps were used up before all was tried
}

// roundsMax is in how many rounds places are sought at most.
const roundsMax = 16

// Place finds places for the waiting pods of the snapshot, and for those that must leave nodes being deleted. Pods of
// high priority are placed first, then large ones. Each goes to an existing node if it can, then to an instance that is
// being launched, then to a new one from the heaviest pool that can have it. Where rules look at other pods, domains are
// decided pod by pod before instances are launched, and the whole answer is checked once more in its own order. If that
// takes pods off their places, instances are given up whose pods have room on others.
//
// Cost: shapes x (nodes + instances), and for new instances about shapes x instance types for each different instance.
// Pods of one shape are placed together.
func Place(s *cluster.Snapshot, o Options) Result {
	pods := Waiting(s)
	if len(pods) == 0 {
		return Result{}
	}
	r := NewRun(s, pods, o)
	r.Open()
	r.Proceed()
	return r.Finish()
}

// Open places pods on what is there, for the first time.
func (r *Run) Open() {
	if r.Asked == nil {
		r.scheduler.HonourClaims()
	}
	r.schedule()
}

// schedule begins a round.
func (r *Run) schedule() {
	if r.Round++; r.Round > 1 {
		r.Board.Dare()
	}
	r.scheduler.Begin()
	r.Provisioner.Begin()
	r.scheduler.Schedule()
	r.scheduler.Choices.RecordPlaced()
}

// Proceed seeks places until all pods have one, no more can be found, or the answer to a question is known.
func (r *Run) Proceed() {
	for before := 0; ; r.schedule() {
		if r.Effort.Known {
			r.replays.takeBack()
			return
		}
		from := len(r.Provisioner.Launched)
		r.Provisioner.LaunchAll()
		r.placeLaunched(from)
		r.replays.all()
		r.replays.takeBack()
		now := r.stillWaiting()
		done := now == 0 || r.Round >= roundsMax || r.Round > 1 && now >= before && !r.Demand.Learnt || r.Effort.Exhausted
		if done && !r.replays.withdraw() && !r.folds.all() && !r.rescues.all() && !r.spread.diversify() {
			return
		}
		r.addLaunchTargets()
		before = r.stillWaiting()
	}
}

// Run finds places for some pods: one call of Place, or one question about removal, see Next.
type Run struct {
	*scheduling.Places
	Provisioner *provisioning.Provisioner
	snapshot    *cluster.Snapshot
	options     Options
	pods        int   // that wait, or must leave their nodes
	leaving     []int // nodes that leave, if it is a question
	spot        *spotPods
	out         Result
	parts
}

// parts do the steps of a run. Each works on the run, and has the state that only it needs.
type parts struct {
	classes   podClasses
	scheduler scheduling.Scheduler
	replays   replayer
	folds     folder
	rescues   rescuer
	intake    intake
	joining   joiner
	diagnosis diagnosis
	spread    diversifier
	proof     prover
}

// NewRun prepares a run that finds places for the pods in the snapshot. Nothing is placed yet.
func NewRun(s *cluster.Snapshot, pods []cluster.Pod, o Options) *Run {
	r := &Run{
		Places:   &scheduling.Places{State: newState(amount.Of(pods), o), Waiting: groupByShape(pods), Held: map[string]bool{}},
		snapshot: s, options: o, pods: len(pods), spot: &spotPods{},
	}
	r.Board = topology.NewBoard()
	r.scheduler.Index.Sets = map[string][]*demand.OfferingSet{}
	ready := o.readyFor(s)
	pools := ready.ForPools()
	r.Targets = append(scheduling.NodeTargets(s, r.Dims), scheduling.InstanceTargets(s, pools, r.Dims)...)
	for i, target := range r.Targets {
		target.At, target.ID = i, i
	}
	r.FirstLaunch = len(r.Targets)
	var z *supply.Sizes
	if o.Small {
		z = supply.SizesOf(s)
	}
	r.Limits = supply.LimitsOf(s)
	for i, p := range pools {
		if o.Unexplained && !p.Static() && !wanted(p, pods) {
			continue
		}
		r.Candidates = append(r.Candidates, supply.NewCandidate(p, r.Dims, ready, i, z, r.Limits))
	}
	slices.SortStableFunc(r.Candidates, func(a, b *supply.Candidate) int { return cmp.Compare(b.Weight, a.Weight) })
	r.connect()
	r.Provisioner = provisioning.New(r.problem())
	r.Provisioner.Reserved.Count(s)
	r.classes = podClasses{board: r.Board, options: &r.options, known: map[string]*demand.PodClass{}}
	r.recordAvoided()
	r.intake.setUpBoard(s)
	r.replays.recordHeld(s)
	for _, g := range r.Waiting {
		g.Need = r.Dims.Need(g.Shape)
	}
	order(r.Waiting)
	return r
}

// wanted reports whether some of the pods may be on instances of the pool, preferences and amounts aside.
func wanted(p *feasibility.Pool, pods []cluster.Pod) bool {
	return slices.ContainsFunc(pods, func(x cluster.Pod) bool {
		terms, _ := p.Terms(x.Shape)
		return len(terms) > 0
	})
}

// newState is the state before anything is placed, without a board.
func newState(d amount.Dims, o Options) *demand.State {
	return &demand.State{
		Demand: &demand.Demand{Failed: map[demand.Request]bool{}}, Dims: d, Effort: &effort.Count{Most: o.Steps},
		Values: &supply.Valuation{Daemons: map[*cluster.Shape]*topology.Rules{}, LimitCost: o.LimitCost, LeastInterrupted: o.LeastInterrupted},
	}
}

// connect joins the parts to the run, and prepares them for the first round.
func (r *Run) connect() {
	r.scheduler.Connect(r.Places, r.options.Variants)
	r.replays.run, r.intake.run, r.folds.run, r.rescues.run = r, r, r, r
	r.joining.run, r.diagnosis.run, r.spread.run, r.proof.run = r, r, r, r
}

// Next is a run for a question about the same snapshot, with the same pools and targets.
func (r *Run) Next(asked *scheduling.Asked, twins *provisioning.Twins, leaving []int) *Run {
	out := &Run{
		Places: &scheduling.Places{
			State: newState(r.Dims, r.options), Targets: r.Targets, FirstLaunch: r.FirstLaunch, Held: map[string]bool{}, Asked: asked,
		},
		snapshot: r.snapshot, options: r.options, leaving: leaving, spot: r.spot,
	}
	out.Candidates, out.Limits = r.Candidates, r.Limits
	out.scheduler.Index.Sets, out.intake.here = r.scheduler.Index.Sets, r.intake.here
	out.classes.known = map[string]*demand.PodClass{}
	out.connect()
	p := out.problem()
	p.Twins = twins
	out.Provisioner = r.Provisioner.Next(p)
	return out
}

// Wait makes the run one for these pods.
func (r *Run) Wait(pods []*cluster.Pod) { r.pods, r.Waiting = len(pods), groupPods(pods) }

// Clear drops the pods that the run was made for, and what it knows of where pods are.
func (r *Run) Clear() { r.intake.base, r.Demand.Groups, r.Waiting, r.spot = nil, nil, nil, &spotPods{} }

// Add makes the run know the pod class.
func (r *Run) Add(k *demand.PodClass) { r.classes.known[k.Text] = k }

// Order sorts the waiting pods in the order of placing. The text of shapes is kept.
func (r *Run) Order(text map[*cluster.Shape]string) {
	r.scheduler.RecordFollowers()
	orderBy(r.Waiting, text)
}

// KeepBoard keeps the board as it is before any waiting pod has a place, to place them once more.
func (r *Run) KeepBoard() { r.intake.base = r.Board.Clone() }

// Running is the rules of a shape of pods that have a node.
func (r *Run) Running(s *cluster.Shape) *topology.Rules { return r.intake.here[s] }

// problem is what the provisioner is given.
func (r *Run) problem() provisioning.Problem {
	return provisioning.Problem{
		State: r.State, MinValues: r.options.MinValues, Packer: r.options.Packer, EvenHosts: r.options.EvenHosts,
	}
}

func (r *Run) stillWaiting() int {
	n := 0
	for _, g := range r.Waiting {
		n += int(g.Left())
	}
	return n
}

// recordAvoided lists the taints of pools that ask pods to stay away without forbidding it.
func (r *Run) recordAvoided() {
	note := func(taints []constraint.Taint) {
		if feasibility.Avoided(taints, nil) {
			r.classes.avoided = append(r.classes.avoided, taints)
		}
	}
	for _, b := range r.Candidates {
		note(b.Taints)
	}
	for _, s := range r.Targets {
		if s.On != plan.OnNode {
			note(s.Taints)
		}
	}
}

// recordHeld records the volumes for one pod at a time that running pods use.
func (re *replayer) recordHeld(s *cluster.Snapshot) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		for j := range n.Pods {
			for _, v := range n.Pods[j].Shape.Volumes {
				if v.Exclusive && v.Claim != "" && !(n.Deleting && n.Pods[j].Moves()) {
					re.run.Held[v.Claim] = true
				}
			}
		}
	}
}

// placeOf returns the place on the board of the pod's target or launch.
func (r *Run) placeOf(x *scheduling.Placed) int {
	if x.On == plan.OnLaunch {
		return r.Provisioner.Launched[x.Launch].Place
	}
	return x.Target.Place
}

// placeLaunched records the places of pods on instances that were launched for them, from this one on.
func (r *Run) placeLaunched(from int) {
	for i := from; i < len(r.Provisioner.Launched); i++ {
		for _, t := range r.Provisioner.Launched[i].Taken {
			r.Place(scheduling.Stay{Group: t.Group.Of, Level: t.Group.Level}, t.Pods, plan.OnLaunch, r.Provisioner.Launches[i].Name, nil, i)
		}
	}
}
