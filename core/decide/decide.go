// Package decide composes scheduling, provisioning, disruption and forecast into one Plan: a snapshot
// goes in, a plan comes out.
//
// It promises that equal arguments give equal plans, to the byte, on every host. It has no client,
// clock, log or randomness; the caller makes the snapshot and carries out the plan.
package decide

import (
	"cmp"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/coverage"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/pack"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/provisioning"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/removal"
)

// Policy is how the whole controller is set up to decide. The zero value is
// the default.
type Policy struct {
	IgnoreReplicas  bool                   // static pools get no nodes, and lose none for having too many
	IgnoreBuffers   bool                   // no capacity is kept for CapacityBuffers
	IgnoreRequests  bool                   // ProvisioningRequests get no capacity, and no pod waits for one
	MinValues       provisioning.MinValues // what to do when minValues cannot be kept
	Preferences     Preferences            // what to do about preferences of pods that may give way
	PreferenceWorth float64                // by what share a preference may raise what its pods cost without it; 0 means Worth
	Disruption      disruption.Options
	// Nominated says that pods go where plans expect them, since nodes are nominated for them: plans are
	// compared by what they cost on paper.
	Nominated bool
}

// Effort is how much one decision may do, and as much again where hosts could be filled evenly, and
// where pods could go to another site for those that follow them. The zero value places every pod
// without a bound, and launches instances one after another.
type Effort struct {
	Place int64       // most steps, about one for each check of one shape of pods in one place; 0 means no bound
	Pack  pack.Effort // steps of the search for cheaper instances; 0 means none
	// Simulation is the steps that may be spent on simulating where kube-scheduler puts the pods of
	// a plan, to choose among several; 0 means that it is taken to put them where they are meant to
	// go.
	Simulation int64
	// Disruption is the questions that may be asked about nodes that could go; 0 means
	// none, so that only nodes without pods go.
	Disruption int64
	// Part says that the snapshot lacks pods that wait and that later plans are made for: no node
	// goes and no launch is withdrawn, which these might need.
	Part bool
}

// placeSteps is enough for ten thousand pods that are all different, and a few
// seconds of one processor at worst.
const placeSteps = 200_000_000

// simulationSteps lasts for every plan that is examined with five thousand pods, and is less than a
// second of one processor.
const simulationSteps = 6_000_000

// DisruptionQuestions is enough for all nodes of the largest clusters, asked about
// by themselves and in groups.
const DisruptionQuestions = 100_000

// Usual is the effort of the controller's own decisions. It grows with the pods
// that are to be placed, those that must leave nodes included.
func Usual(s *cluster.Snapshot) Effort {
	return Effort{Place: placeSteps, Pack: pack.Usual(place.Pods(s)), Simulation: simulationSteps, Disruption: DisruptionQuestions}
}

// Quick is the same effort without a search for cheaper instances.
func Quick() Effort { return Effort{Place: placeSteps} }

// Decide makes the plan for a snapshot. Pods that wait come first; a node that they are placed on
// is not removed, however long it was empty, and a launch that one of them is to use is not
// withdrawn.
func Decide(s *cluster.Snapshot, policy Policy, effort Effort) plan.Plan {
	return decide(s, policy, effort, nil)
}

// DecideAgain is Decide where a search for nodes that may go has been made
// before, in the cluster as it was then: of the nodes with pods it asks about
// those that were found.
func DecideAgain(s *cluster.Snapshot, policy Policy, effort Effort, found *disruption.Found) plan.Plan {
	return decide(s, policy, effort, found)
}

func decide(s *cluster.Snapshot, policy Policy, effort Effort, found *disruption.Found) plan.Plan {
	known := s
	s = onDemandPods(coverage.Offered(s))
	fixed := replicasOf(s, policy)
	s = fixed.begun(s)
	booked := bookingsOf(s, policy, effort)
	s = booked.begun(s, policy)
	placed, likely, dropped := homes(s, policy, effort)
	coming := coming(s, placed.Placements, policy)
	var room headroom
	launches, taken := placed.Launches, concat(placed.Placements, coming.Placements)
	if !effort.Part {
		booked.seek(s, launches, taken, policy, effort)
		launches, taken = concat(launches, booked.sought.launches), concat(taken, booked.sought.places)
		room = headroomOf(s, launches, taken, policy, effort)
	}
	out := plan.Plan{
		Basis:      s.Revision,
		Launches:   concat(launches, room.launches),
		Placements: placed.Placements,
		Unplaced:   placed.Unplaced,
		Buffers:    room.buffers,
		Joining:    placed.Joining,
		Holds:      stayFor(s, placed.Placements),
		CostBefore: cost(known) - coverage.PaidFor(known),
		Steps:      placed.Steps + coming.Steps + room.steps + booked.steps,
		Exhausted:  placed.Exhausted,
		Bound:      placed.Bound,
		Margins:    placed.Margins,
		Likely:     likely,
		SpotMore:   placed.SpotMore + room.spotMore + booked.spotMore,
		Dropped:    dropped,
	}
	if !effort.Part {
		out.Requested = booked.said()
	}
	real := s
	s, others := withVirtual(s, concat(booked.sought.places, places(room.buffers)))
	whole := !effort.Part && !room.exhausted && !booked.exhausted && s.Unread == ""
	if whole {
		placed.Launches = out.Launches
		out.Withdrawals = withdrawals(s, &placed, &coming, concat(others, booked.taken()))
		remain := withoutWithdrawn(promised(s, coming.Placements), out.Withdrawals)
		leaving := leave(remain, &placed, concat(coming.Placements, others), policy, effort, found)
		out.Moves, out.Kept, out.Asked = leaving.Moves, leaving.Kept, leaving.Asked()
		withoutVirtual(out.Moves)
		room.keepRoom(real, &out, taken, policy, effort)
	}
	passOver(out.Requested, out.Removals())
	if whole || len(s.Buffers)+len(s.Requested) == 0 { // else nodes with virtual pods would seem empty
		out.Emptying = emptying(s, &out)
	}
	booked.join(&out)
	fixed.join(&out)
	nameOverlays(known, &out)
	out.CostAfter = cost(known) + change(known, &out) - coverage.PaidAfter(known, changeOf(&out))
	return out
}

// concat is both lists as one that must not be written: where one of them is empty, the other itself.
func concat[T any](a, b []T) []T {
	switch {
	case len(b) == 0:
		return slices.Clip(a)
	case len(a) == 0:
		return slices.Clip(b)
	}
	return slices.Concat(a, b)
}

// leave finds nodes that may go beside what was decided for pods that wait and what is
// kept for those that are coming.
func leave(s *cluster.Snapshot, placed *place.Result, coming []plan.Placement, policy Policy, effort Effort, found *disruption.Found) *disruption.Search {
	var out *disruption.Search
	taken := concat(placed.Placements, coming)
	switch needed := needed(placed.Placements); {
	case placed.Exhausted || found == nil && effort.Disruption <= 0:
		out = disruption.Empty(s, needed, placed.Launches, policy.leaving())
	case found != nil:
		out = disruption.Again(s, needed, simulatorOf(s, placed.Launches, taken, policy), policy.leaving(), found)
	default:
		out = disruption.New(s, needed, simulatorOf(s, placed.Launches, taken, policy), policy.leaving())
	}
	for out.Step() && (effort.Disruption <= 0 || out.Questions < effort.Disruption) {
		continue
	}
	return out
}

// emptying lists the nodes that are to empty by themselves, beside those that go with the plan or
// that it puts pods on.
func emptying(s *cluster.Snapshot, p *plan.Plan) []plan.Emptying {
	taken := needed(p.Placements)
	for _, r := range p.Removals() {
		taken[r.Node] = true
	}
	return disruption.Emptying(s, taken)
}

// leaving is how nodes are let go.
func (p Policy) leaving() disruption.Options {
	out := p.Disruption
	if p.Preferences == Weigh {
		out.Weigh = p.Worthwhile
	}
	return out
}

// Leaving begins a search for nodes that may go beside what the plan for the
// same snapshot does. Pods that wait need not wait for it.
func Leaving(s *cluster.Snapshot, p *plan.Plan, policy Policy) *disruption.Search {
	s = withoutSurplus(onDemandPods(coverage.Offered(s)), p.Moves)
	coming := coming(s, p.Placements, policy).Placements
	s, others := withVirtual(promised(s, coming), p.VirtualPlaces())
	s = withoutWithdrawn(s, p.Withdrawals)
	taken := concat(concat(p.Placements, coming), others)
	return disruption.New(s, needed(p.Placements), simulatorOf(s, p.Launches, taken, policy), policy.leaving())
}

// needed lists the nodes that waiting pods are placed on.
func needed(placements []plan.Placement) map[string]bool {
	nodes := map[string]bool{}
	for _, p := range placements {
		if p.On == plan.OnNode {
			nodes[p.Target] = true
		}
	}
	return nodes
}

// simulatorOf answers what becomes of pods of nodes that leave, after what is launched and placed. No node goes for an
// instance that may be unavailable.
func simulatorOf(s *cluster.Snapshot, launches []plan.Launch, placements []plan.Placement, policy Policy) *removal.Simulator {
	s, _ = s.WithoutDoubt()
	return removal.New(s, removal.Taken{Launches: launches, Placements: placements}, policy.asking())
}

// homes finds a place for every pod. Of several plans it is the one that is likely to be
// the cheapest in the end, as far as the effort goes.
func homes(s *cluster.Snapshot, policy Policy, effort Effort) (place.Result, *plan.Likely, []plan.Dropped) {
	options, dropped, steps := policy.options(s, effort)
	if policy.Nominated {
		effort.Simulation = 0
	}
	s, joining := rearranged(s, options)
	best := surely(s, func(s *cluster.Snapshot) choice {
		return unmoved(func(quiet bool) choice {
			options.LeastInterrupted = quiet
			return sought(s, options, effort)
		})
	})
	best.result.Unplaced = append(best.result.Unplaced, joining...)
	best.result.Steps += steps
	return best.result, best.likely, dropped
}

// tightest finds places with instances chosen one after another and, as far as the effort goes,
// with instances chosen together, and returns the answer that is preferred. It says whether pods
// are seated and spread otherwise than usual.
func tightest(s *cluster.Snapshot, options place.Options, effort Effort) (out place.Result, leans bool) {
	single := place.Place(s, options)
	if effort.Pack <= 0 || len(single.Launches) == 0 || single.Exhausted {
		return single, false
	}
	variants, steps := lean(s, options, effort, single.Choices)
	options.Variants, options.Packer = variants, pack.New(effort.Pack, place.Pods(s))
	answers := []place.Result{single, place.Place(s, options)}
	at := preferred(answers)
	answers[at].Steps = steps + answers[0].Steps + answers[1].Steps
	return answers[at], variants != nil && at > 0
}

// preferred returns which answer leaves the fewest pods, those of high priority first; of these,
// which has the least on instances whose price is not known, since what it costs is not known; of
// these, which has the fewest instances among those within three per cent of the cheapest. Of equal
// ones it is the first.
func preferred(answers []place.Result) int {
	cheapest := 0
	for i := range answers {
		if compare(&answers[i], &answers[cheapest]) < 0 {
			cheapest = i
		}
	}
	best, most := cheapest, float64(answers[cheapest].Cost*(1+pack.Fewer))
	for i := range answers {
		a, b := &answers[i], &answers[best]
		if compareLeft(a, b) == 0 && a.Unpriced == b.Unpriced && a.Cost <= most &&
			cmp.Or(cmp.Compare(len(a.Launches), len(b.Launches)), cmp.Compare(a.Cost, b.Cost)) < 0 {
			best = i
		}
	}
	return best
}

// withdrawals are the launches that no pod is to use, neither one that waits nor one that is
// coming nor a virtual one. One whose pods found no place is kept, since they may yet; so is every launch when the
// effort did not suffice to place all pods.
func withdrawals(s *cluster.Snapshot, placed, coming *place.Result, virtual []plan.Placement) []plan.Withdrawal {
	if placed.Exhausted || coming.Exhausted {
		return nil
	}
	used, left := map[string]bool{}, map[[2]string]bool{}
	for _, list := range [][]plan.Placement{placed.Placements, coming.Placements, virtual} {
		for i := range list {
			if list[i].On == plan.OnInstance {
				used[list[i].Target] = true
			}
		}
	}
	for _, u := range slices.Concat(placed.Unplaced, coming.Unplaced) {
		for i := range u.Pods {
			left[demand.PodKey(&u.Pods[i])] = true
		}
	}
	for i := range s.Instances {
		m := &s.Instances[i]
		if slices.ContainsFunc(m.LaunchedFor, func(p cluster.Pod) bool { return left[demand.PodKey(&p)] }) {
			used[m.Claim] = true
		}
	}
	return disruption.Unneeded(s, used, placed.Launches)
}

// withoutWithdrawn is the snapshot in which launches that are withdrawn no longer count for minimums of on-demand
// nodes.
func withoutWithdrawn(s *cluster.Snapshot, withdrawn []plan.Withdrawal) *cluster.Snapshot {
	counts := func(w plan.Withdrawal) bool {
		p, known := s.Pool(w.Pool)
		return known && p.OnDemand.Any()
	}
	if !slices.ContainsFunc(withdrawn, counts) {
		return s
	}
	out := *s
	out.Instances = slices.Clone(s.Instances)
	for i := range out.Instances {
		m := &out.Instances[i]
		own := func(w plan.Withdrawal) bool { return w.Claim == m.Claim }
		m.Deleting = m.Deleting || slices.ContainsFunc(withdrawn, own)
	}
	return &out
}

// NextDue returns the next moment at which the snapshot asks for another plan
// though nothing changed; ok is false when there is none.
func NextDue(s *cluster.Snapshot) (at time.Time, ok bool) {
	at, ok = disruption.NextDue(s)
	for change := range changesByClock(s) {
		if change.After(s.Now) && (!ok || change.Before(at)) {
			at, ok = change, true
		}
	}
	return at, ok
}

// cost sums up the nodes and instances being launched whose price is known, with what each costs
// beside it. An instance that is not launched yet counts as the cheapest it may become.
func cost(s *cluster.Snapshot) quantity.MicroUSDPerHour {
	var sum quantity.MicroUSDPerHour
	for i := range s.Nodes {
		sum += nodeCost(s, &s.Nodes[i])
	}
	for i := range s.Instances {
		sum += priceOf(s, &s.Instances[i])
	}
	return sum
}

func priceOf(s *cluster.Snapshot, m *cluster.Instance) quantity.MicroUSDPerHour {
	pool, ok := s.Pool(m.Pool)
	if !ok {
		return 0
	}
	price, known := pool.PriceOf(m)
	if !known {
		return 0
	}
	return price + pool.PerInstance()
}

func nodeCost(s *cluster.Snapshot, n *cluster.Node) quantity.MicroUSDPerHour {
	if pool, ok := s.Pool(n.Pool); ok {
		return pool.CostOf(n)
	}
	return n.Price
}

// changeOf is what the plan launches and removes.
func changeOf(p *plan.Plan) (out coverage.Change) {
	out.Launches = slices.Clone(p.Launches)
	for i := range p.Moves {
		out.Launches = append(out.Launches, p.Moves[i].Launches...)
	}
	for _, r := range p.Removals() {
		out.Nodes = append(out.Nodes, r.Node)
	}
	for _, w := range p.Withdrawals {
		out.Claims = append(out.Claims, w.Claim)
	}
	return out
}

// change is what the plan adds to the cost, less what it removes, without commitments.
func change(s *cluster.Snapshot, p *plan.Plan) quantity.MicroUSDPerHour {
	var sum quantity.MicroUSDPerHour
	for _, l := range p.Launches {
		sum += l.Choice.ListCost()
	}
	for i := range p.Moves {
		for _, l := range p.Moves[i].Launches {
			sum += l.Choice.ListCost()
		}
	}
	withdrawn := map[string]bool{}
	for _, w := range p.Withdrawals {
		withdrawn[w.Claim] = true
	}
	for i := range s.Instances {
		if withdrawn[s.Instances[i].Claim] {
			sum -= priceOf(s, &s.Instances[i])
		}
	}
	removed := map[string]bool{}
	for _, r := range p.Removals() {
		removed[r.Node] = true
	}
	for i := range s.Nodes {
		if removed[s.Nodes[i].Name] {
			sum -= nodeCost(s, &s.Nodes[i])
		}
	}
	return sum
}
