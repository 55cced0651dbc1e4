package place

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/topology"
)

// What folding may take at most: so many steps, and so many more for each pod
// and each place, so that the cost stays linear.
const (
	foldSteps       = 10_000
	foldStepsOfEach = 4
)

// fold empties machines of this plan into the room that is left on others, and
// gives them up. Machines are launched for pods that found no room beside others,
// and when a replay takes some of these off their places their room is free. It
// reports whether pods are to find homes again for what was given back.
func (r *run) fold() bool {
	if !r.evicted || r.out.Exhausted {
		return false
	}
	r.forget()
	r.addLaunchTargets()
	any := false
	for again := true; again; {
		again = false
		for _, h := range r.emptiestFirst() {
			if r.foldable(h) && r.foldOne(h.launch) {
				any, again = true, true
			}
		}
	}
	return any && r.stillWaiting() > 0 && r.round < roundsMax
}

// holding is a machine of this plan with the pods on it.
type holding struct {
	launch int
	worth  float64
	pods   []stay
}

// stay is how a pod has its place.
type stay struct {
	group *group
	level *level
}

// emptiestFirst lists the machines of this plan, those with the least worth on
// them for what they cost first.
func (r *run) emptiestFirst() []holding {
	out, worth := make([]holding, len(r.launched)), r.usual()
	for i := range r.placed {
		if x := &r.placed[i]; x.on == plan.OnLaunch {
			h := &out[x.launch]
			h.worth += value(worth, x.group.need)
			h.pods = append(h.pods, x.stay)
		}
	}
	for i := range out {
		out[i].launch = i
		out[i].worth /= max(1, r.launched[i].cost)
	}
	out = slices.DeleteFunc(out, func(h holding) bool { return r.launched[h.launch].gone })
	slices.SortStableFunc(out, func(a, b holding) int { return cmp.Compare(a.worth, b.worth) })
	return out
}

// mayFold counts steps of folding and reports whether more may be taken.
func (r *run) mayFold(steps int) bool {
	r.folding += int64(steps)
	return !r.spent(int64(steps)) && r.folding < foldSteps+foldStepsOfEach*int64(len(r.placed)+len(r.targets))
}

// foldable reports whether the pods of the machine have room elsewhere, as far
// as that can be told without a look at rules about other pods.
func (r *run) foldable(h holding) bool {
	var before trial
	defer before.giveBack()
	for _, x := range h.pods {
		to := r.elsewhere(x, h.launch, func(s *target) bool {
			n, _ := r.within(s.free, x.group, &s.guests)
			return n > 0 && s.guests.room(x.group.podClass, x.level) > 0
		})
		if to == nil {
			return false
		}
		before.touch(to)
		r.occupy(to, x)
	}
	return true
}

// elsewhere returns a target that is not on the machine and may take the pod.
func (r *run) elsewhere(x stay, launch int, takes func(*target) bool) *target {
	for _, s := range r.targets {
		if !r.mayFold(1) {
			return nil
		}
		if (s.on != plan.OnLaunch || s.launch != launch) && x.level.admitted(s, len(r.targets)) && takes(s) {
			return s
		}
	}
	return nil
}

// occupy takes room for the pod on the target.
func (r *run) occupy(s *target, x stay) {
	r.keep(s)
	if _, first := r.within(s.free, x.group, &s.guests); first != nil {
		take(s.free, first, 1)
	}
	take(s.free, x.group.need, 1)
	s.guests.add(x.group.podClass, x.level, 1)
}

// foldOne gives the machine up if its pods can be elsewhere with all rules kept,
// and all others keep their places.
func (r *run) foldOne(launch int) bool {
	if !r.mayFold(len(r.placed) + len(r.launched)) {
		return false
	}
	before, moves := r.trial(), map[int]*target{}
	from := r.board.Spot(r.launched[launch].place)
	r.launched[launch].gone = true
	r.board = r.outset()
	lost, late := r.reseatBy(func(i int) bool {
		x := &r.placed[i]
		if x.on != plan.OnLaunch || x.launch != launch {
			return r.reseatOne(r.board, i)
		}
		to := r.elsewhere(x.stay, launch, func(s *target) bool {
			return r.roomOn(s, x.group, x.level) > 0 && r.staysSpread(x.level, from, s, before.board, 1)
		})
		if to == nil {
			return false
		}
		before.touch(to)
		r.occupy(to, x.stay)
		r.board.Put(x.group.podClass.required().rules, to.place, 1, false)
		moves[i] = to
		return true
	})
	for i, to := range moves {
		if !r.staysSpread(r.placed[i].level, from, to, r.board, 0) {
			lost = append(lost, i)
		}
	}
	if len(lost) > 0 {
		before.undo(r)
		return false
	}
	for i := range r.placed {
		if to := moves[i]; to != nil {
			r.move(&r.placed[i], to)
		}
	}
	r.cancel(launch)
	r.comeLate(late)
	return true
}

// staysSpread reports whether a pod that goes from one place to the target leaves
// its spreads as good as they were, with so many more than the board counts.
// Rules alone would let all pods go where there is one domain left; but more were
// had for them. Hosts can be had at any time: they are compared as when machines are
// filled.
func (r *run) staysSpread(lv *level, from topology.Spot, s *target, counts *topology.Board, more int64) bool {
	to := r.board.Spot(s.place)
	return !slices.ContainsFunc(counts.OwnSpreads(lv.rules), func(own topology.OwnSpread) bool {
		if counts.Keys()[own.Key] == cluster.LabelHostname {
			return counts.CountOf(own, to[own.Key])+more > counts.MostOnHost(own)
		}
		return to[own.Key] < 0 || to[own.Key] != from[own.Key]
	})
}

// move notes that a pod of a machine has its place on the target now.
func (r *run) move(x *placed, to *target) {
	leave(&r.out.Launches[x.launch], x.Pod)
	x.on, x.name, x.target, x.launch = to.on, to.name, to, to.launch
	if to.on == plan.OnLaunch {
		r.join(&r.out.Launches[to.launch], []waiter{x.waiter})
	}
}
