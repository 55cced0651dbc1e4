package decide

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/forecast"
	"github.com/daemok/daemok/core/pack"
	"github.com/daemok/daemok/core/parallel"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// How plans are compared by what becomes of them.
const (
	restRounds  = 6     // how often instances are launched for pods that are left
	otherEffort = 8     // the search for each further plan gets this part of the effort
	recountPart = 3     // this part of the steps is kept for what the best of them come to
	worthwhile  = 0.005 // by what share a plan must be likely to be cheaper than the tight one
	// waitWorth is what it is worth that pods need not wait while an instance boots, most for
	// about a minute: so many times what an hour of the room costs that they wait for. With 3, waves
	// of 500 pods run up to 14 s sooner (mean of eight seeds in virtual time), and small plans
	// cost up to 9 % more.
	waitWorth = 1.0
	// heldFor is how much of that time pods wait in the mean where their instance waits for its
	// turn.
	heldFor = 0.5
	// paperPart is the part that a plan must be likely to save of what it costs more
	// on paper: that is sure to be paid, and where pods go is a guess.
	paperPart = 1.0 / 3
)

// The ways in which the instances of a plan may come, each when it is ready, in any order: those by
// which plans are compared, and those by which the cost of the chosen one is reported.
var (
	compared = []forecast.Opening{{Seed: 1}, {Seed: 2}, {Seed: 7}, {Seed: 8}, {Seed: 9}, {Seed: 10}, {Seed: 11}, {Seed: 12}}
	counted  = []forecast.Opening{{Seed: 3}, {Seed: 4}, {Seed: 5}, {Seed: 6}}
)

// Plans for few pods are compared by more of these, since chance decides more there:
// so that pods times ways are about comparedPods, but by no fewer than comparedLeast.
const comparedLeast, comparedPods = 2, 600

// robustVariants lists the further plans that are examined.
var robustVariants = [...]robust{
	{band: evenBand}, {band: evenBand, least: 6}, {band: evenBand, least: 24}, {band: anyBand}, {band: anyBand, least: 6},
}

// several reports whether kube-scheduler has a choice of instances.
func several(r *place.Result) bool {
	if len(r.Launches) == 0 || r.Exhausted {
		return false
	}
	for i := range r.Placements {
		if r.Placements[i].Target != r.Placements[0].Target {
			return true
		}
	}
	return false
}

// likeliest compares the plan with sturdier ones, each with instances that take pods as they join
// and with instances that do so in turns, adds to the best what would be launched later, and
// returns the one that is likely to be the cheapest in the end, where pods that wait for a second
// boot or for their turn cost, too. None leaves more pods than the first.
func likeliest(s *cluster.Snapshot, options place.Options, effort Effort, relaxed place.Result, leans bool) (place.Result, *plan.Likely) {
	t := simulator{s: s, world: worldOf(s, options, podsOf(relaxed.Placements)), options: options, left: effort.Simulation}
	compared := compared[:min(len(compared), max(comparedLeast, comparedPods/len(relaxed.Placements)))]
	first := t.simulate(relaxed, compared)
	if !first.reported() {
		relaxed.Steps += effort.Simulation - t.left
		return relaxed, nil
	}
	best, steps, turns := first, relaxed.Steps, t.simulateTurns(relaxed, first, compared)
	plans := others(leans)
	looked := t.ahead(plans, effort, &relaxed, first, compared)
	for i, of := range plans {
		if t.left <= effort.Simulation/recountPart || first.ends.Left == 0 {
			break
		}
		x := looked[i]
		if x.looks >= t.left { // it had more than there is
			x = t.lookAt(of, effort, &relaxed, compared)
		}
		t.left -= x.looks
		if steps += x.steps; x.unfit {
			continue
		}
		if x.open.saves(first, worthwhile) {
			best = cheaper(best, x.open)
		}
		if x.turns.saves(first, worthwhile) {
			turns = cheaper(turns, x.turns)
		}
	}
	best = cheaper(t.atOnce(best, compared), turns)
	// The best of many is likely to have been lucky.
	if again := t.simulate(relaxed, counted); again.reported() {
		first.ends, best.ends = again.ends, t.simulate(best.result, counted).ends
	} else {
		best = first
	}
	if !best.saves(first, 0) {
		best = first
	}
	best.result.Steps, best.result.Bound, best.result.Margins = steps+effort.Simulation-t.left, relaxed.Bound, relaxed.Margins
	return best.result, &plan.Likely{
		Cost: costOf(&best.result) + best.ends.Rest, Left: best.ends.Left, Turns: best.turns,
		Relaxed: plan.Summary{Instances: len(relaxed.Launches), Cost: costOf(&relaxed)}, RelaxedCost: costOf(&relaxed) + first.ends.Rest,
	}
}

// further is a further plan, with instances that take pods as they join, and with instances that do
// so in turns.
type further struct {
	unfit        bool // it is no better in any case
	open, turns  fate
	steps, looks int64 // that it took
}

// ahead examines all further plans at the same time, each as if all steps that are left were
// for it. It examines none where the first leaves nothing to gain.
func (t *simulator) ahead(plans []*robust, effort Effort, relaxed *place.Result, first fate, ways []forecast.Opening) []further {
	out := make([]further, len(plans))
	if t.left <= effort.Simulation/recountPart || first.ends.Left == 0 {
		return out
	}
	parallel.Each(len(out), func(i int) { out[i] = t.lookAt(plans[i], effort, relaxed, ways) })
	return out
}

// lookAt makes a further plan and foretells what becomes of it. It leaves the recorder as it is:
// several may do so at the same time.
func (t *simulator) lookAt(of *robust, effort Effort, relaxed *place.Result, ways []forecast.Opening) further {
	own := simulator{s: t.s, world: worldOf(t.s, t.options, podsOf(relaxed.Placements)), options: t.options, left: t.left}
	own.options.Unproven = true // what its pods must cost at least is known: they are those of the first
	own.options.Packer = pack.New(effort.Pack/otherEffort, place.Pods(t.s))
	if of != nil {
		own.options.Packer = robustPacker{*of, own.options.Packer}
	}
	other := place.Place(t.s, own.options)
	out := further{steps: other.Steps}
	if out.unfit = other.Exhausted || other.Unpriced > relaxed.Unpriced || compareLeft(&other, relaxed) != 0; out.unfit {
		return out
	}
	out.open = own.simulate(other, ways)
	out.turns = own.simulateTurns(other, out.open, ways)
	out.looks = t.left - own.left
	return out
}

// fate is an answer and what becomes of it.
type fate struct {
	result place.Result
	turns  int     // in which its instances take pods; 0: in none
	ends   Outcome // in the mean
}

// reported reports whether the steps sufficed to find what becomes of it.
func (x fate) reported() bool { return !math.IsInf(x.ends.cost, 1) }

func cheaper(a, b fate) fate {
	if b.ends.cost < a.ends.cost {
		return b
	}
	return a
}

// saves reports whether the answer is likely to cost less than the other by more
// than the share, and by enough for what it costs more on paper.
func (x fate) saves(than fate, share float64) bool {
	saving := than.ends.cost - x.ends.cost
	return saving > float64(than.ends.cost*share) && saving >= float64((x.result.Cost-than.result.Cost)*paperPart)
}

// divisions are how instances may get turns, by the parts of them with smaller pods than those
// behind; first those by which few wait. The first alone is examined where plans are compared in
// two ways, and one more for each further way. A finer division saves hardly more, and each turn is
// one more to wait for.
var divisions = [...][]float64{{0.999}, {0.75}, {0.5}, {0.5, 0.999}}

// simulateTurns does so for the answer with instances that take pods one after the other, those
// with the largest last: else pods that fit anywhere come to them first, and instances that are
// launched for large pods which lost theirs are large. What waits for its turn costs, too. It
// reports nothing where turns make nothing cheaper than what becomes of the answer when all take
// pods as they join, or no pod is larger than others.
func (t *simulator) simulateTurns(r place.Result, open fate, ways []forecast.Opening) fate {
	best, least, sizes := fate{ends: Outcome{cost: math.Inf(1)}}, open, t.largest(&r)
	inOrder := slices.Sorted(maps.Values(sizes))
	var seen [][]float64
	for _, parts := range divisions[:min(len(divisions), len(ways)-1)] {
		var from []float64 // the sizes with which turns after the first begin
		for _, part := range parts {
			at := max(1, int(float64(len(inOrder))*part))
			for at < len(inOrder) && inOrder[at] == inOrder[at-1] {
				at++
			}
			if at < len(inOrder) && !slices.Contains(from, inOrder[at]) {
				from = append(from, inOrder[at])
			}
		}
		if len(from) == 0 || slices.ContainsFunc(seen, func(x []float64) bool { return slices.Equal(x, from) }) {
			continue
		}
		seen = append(seen, from)
		x := t.simulate(inTurn(r, func(l *plan.Launch) plan.Join {
			after, same := slices.BinarySearch(from, sizes[l.Name])
			if same {
				after++
			}
			return plan.Join{Turn: 1 + after}
		}), ways)
		x.turns = 1 + len(from)
		if x.saves(least, 0) {
			best, least = x, x
		}
	}
	return best
}

// largest is the size of the largest pod of each launch, as a part of the most that any of the
// instances has of the resource of which that is the largest part.
func (t *simulator) largest(r *place.Result) map[string]float64 {
	var most quantity.Resources
	for i := range r.Launches {
		if n := t.world.Node(&r.Launches[i]); n != nil {
			most = most.Max(n.Allocatable)
		}
	}
	out := map[string]float64{}
	for i := range r.Launches {
		l := &r.Launches[i]
		for j := range l.Pods {
			need := l.Pods[j].Shape.Requests
			for _, name := range need.Names() {
				if all := most.Get(name); all > 0 {
					out[l.Name] = max(out[l.Name], float64(need.Get(name))/float64(all))
				}
			}
		}
	}
	return out
}

// inTurn returns the answer with all its instances in one group, each as it says.
func inTurn(r place.Result, join func(*plan.Launch) plan.Join) place.Result {
	r.Launches = slices.Clone(r.Launches)
	sum := sha256.New()
	for i := range r.Launches {
		for j := range r.Launches[i].Pods {
			fmt.Fprintln(sum, demand.PodKey(&r.Launches[i].Pods[j]))
		}
	}
	group := hex.EncodeToString(sum.Sum(nil)[:4])
	for i := range r.Launches {
		l := &r.Launches[i]
		j := join(l)
		j.Group = group
		l.Joins = append([]plan.Join{j}, l.Joins...) // which are sorted by key
	}
	return r
}

// priceHeld is what the instances cost an hour that do not have the first turn.
func priceHeld(r *place.Result) (sum float64) {
	for i := range r.Launches {
		if l := &r.Launches[i]; slices.ContainsFunc(l.Joins, func(j plan.Join) bool { return j.Turn > 1 }) {
			sum += float64(l.Choice.Cost())
		}
	}
	return sum
}

// others are the further plans that are examined: robust ones, and before these
// the one with pods placed and spread as usual, nil, where the first leans.
func others(leans bool) []*robust {
	var out []*robust
	if leans {
		out = append(out, nil)
	}
	for _, x := range robustVariants {
		out = append(out, &x)
	}
	return out
}

func costOf(r *place.Result) quantity.MicroUSDPerHour {
	return plan.Plan{Launches: r.Launches}.LaunchCost()
}

// Outcome is what becomes of a plan once kube-scheduler has put its pods where
// it likes.
type Outcome struct {
	Pods      int                      // that the plan placed
	AsPlanned int                      // of these: on an instance of the type planned for them
	Left      int                      // of these: without room at first
	Instances int                      // that are launched for those that are left
	Rest      quantity.MicroUSDPerHour // what these cost
	Steps     int64                    // steps
	first     place.Result             // those that are launched at first
	cost      float64                  // of all, in what counts when instances are compared; infinite: the steps did not suffice to know
}

// Simulate plays the plan's instances and those that are launched for pods which are left then,
// until none is.
func Simulate(s *cluster.Snapshot, policy Policy, effort Effort, p *plan.Plan, how forecast.Opening) Outcome {
	options, _, _ := policy.options(s, effort)
	placed := place.Result{Launches: p.Launches, Placements: p.Placements, Joining: p.Joining}
	return simulate(s, worldOf(s, options, podsOf(placed.Placements)), options, &placed, how)
}

// simulator finds what becomes of answers to one snapshot.
type simulator struct {
	s       *cluster.Snapshot
	world   *forecast.World
	options place.Options
	left    int64 // steps
}

// simulate simulates the answer in all of the ways, or in those for which the steps suffice, and
// returns the mean; of pods that are left, rounded up. Its cost is infinite where they suffice for
// none.
func (t *simulator) simulate(r place.Result, ways []forecast.Opening) fate {
	var sum Outcome
	n := 0
	for _, how := range ways {
		if t.left <= 0 {
			break
		}
		how.Most = t.left
		one := simulate(t.s, t.world, t.options, &r, how)
		if t.left -= one.Steps; math.IsInf(one.cost, 1) {
			break
		}
		n++
		sum.Left, sum.Rest, sum.cost = sum.Left+one.Left, sum.Rest+one.Rest, sum.cost+one.cost
	}
	if n == 0 {
		return fate{result: r, ends: Outcome{cost: math.Inf(1)}}
	}
	return fate{result: r, ends: Outcome{Left: (sum.Left + n - 1) / n, Rest: sum.Rest / quantity.MicroUSDPerHour(n), cost: sum.cost/float64(n) + float64(waitWorth*heldFor*priceHeld(&r))}}
}

func worldOf(s *cluster.Snapshot, options place.Options, pods []cluster.Pod) *forecast.World {
	return forecast.From(options.Ready.Ready, s, pods)
}

func podsOf(placements []plan.Placement) []cluster.Pod {
	out := make([]cluster.Pod, len(placements))
	for i := range placements {
		out[i] = placements[i].Pod
	}
	return out
}

func simulate(s *cluster.Snapshot, w *forecast.World, options place.Options, placed *place.Result, how forecast.Opening) Outcome {
	options.Packer, options.Unproven, options.Unexplained = nil, true, true
	most := how.Most
	end := w.Simulate(placed.Launches, placed.Joining, how)
	out := Outcome{Pods: len(placed.Placements), AsPlanned: end.AsPlanned(placed.Placements), Left: len(end.Left), Steps: end.Steps, cost: placed.Cost}
	launched := placed.Launches
	for round := 0; len(end.Left) > 0 && !end.Exhausted && round < restRounds; round++ {
		after := end.After()
		charge(after, launched)
		options.Ready = options.Ready.WithUsage(after.Pools)
		if most > 0 {
			options.Steps = max(1, most-out.Steps)
		}
		more := place.Place(after, options)
		out.Steps += more.Steps
		end.Exhausted = more.Exhausted
		out.Instances += len(more.Launches)
		if launched = more.Launches; round == 0 {
			out.first = more
		}
		out.Rest, out.cost = out.Rest+costOf(&more), out.cost+float64((1+waitWorth)*more.Cost)
		if len(more.Launches) == 0 || more.Exhausted {
			break
		}
		if how.Most > 0 {
			how.Most = max(1, most-out.Steps)
		}
		end = worldOf(after, options, end.Left).Simulate(more.Launches, more.Joining, how)
		out.Steps += end.Steps
	}
	if end.Exhausted {
		out.cost = math.Inf(1)
	}
	return out
}
