package place

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/provisioning"
	"github.com/daemok/daemok/core/scheduling"
	"github.com/daemok/daemok/core/topology"
)

// folder gives up instances whose pods have room on others.
type folder struct {
	run   *Run
	steps int64 // taken so far, see mayFold
}

// What folding may take at most: so many steps, and so many more for each pod
// and each place, so that the cost stays linear.
const (
	foldSteps       = 10_000
	foldStepsOfEach = 4
)

// all moves the pods of instances of this plan into the room that is left on others, and gives the empty instances up.
// An instance may have been launched because there was no room beside pods that lost their places in a replay later. It
// reports whether places must be sought again, because limits have room that was given back.
func (fo *folder) all() bool {
	if !fo.run.replays.evicted || fo.run.Effort.Exhausted {
		return false
	}
	fo.run.replays.forget()
	fo.run.addLaunchTargets()
	any := false
	for again := true; again; {
		again = false
		for _, h := range fo.emptiestFirst() {
			if !fo.countedOn(h.launch) && fo.foldable(h) && fo.foldOne(h.launch) {
				any, again = true, true
			}
		}
	}
	return any && fo.run.stillWaiting() > 0 && fo.run.Round < roundsMax
}

// holding is an instance of this plan with the pods on it.
type holding struct {
	launch int
	worth  float64
	pods   []scheduling.Stay
}

// emptiestFirst lists the instances of this plan, those first that hold the least worth for their cost.
func (fo *folder) emptiestFirst() []holding {
	out, worth := make([]holding, len(fo.run.Provisioner.Launched)), fo.run.Provisioner.Values.Usual()
	for i := range fo.run.Placed {
		if x := &fo.run.Placed[i]; x.On == plan.OnLaunch {
			h := &out[x.Launch]
			h.worth += amount.Value(worth, x.Group.Need)
			h.pods = append(h.pods, x.Stay)
		}
	}
	for i := range out {
		out[i].launch = i
		out[i].worth /= max(1, fo.run.Provisioner.Launched[i].Cost)
	}
	out = slices.DeleteFunc(out, func(h holding) bool { return fo.run.Provisioner.Launched[h.launch].Gone })
	slices.SortStableFunc(out, func(a, b holding) int { return cmp.Compare(a.worth, b.worth) })
	return out
}

// mayFold counts steps of folding and reports whether more may be taken.
func (fo *folder) mayFold(steps int) bool {
	fo.steps += int64(steps)
	return !fo.run.Effort.Spent(int64(steps)) && fo.steps < foldSteps+foldStepsOfEach*int64(len(fo.run.Placed)+len(fo.run.Targets))
}

// countedOn reports whether spot instances of this plan count on the instance: without it their pool would have too few
// on-demand nodes.
func (fo *folder) countedOn(launch int) bool {
	l := &fo.run.Provisioner.Launched[launch]
	return l.Candidate.Remaining != nil && l.Candidate.Remaining.Needs(l.Limited)
}

// foldable reports whether the pods of the instance have room elsewhere, as far
// as that can be known without rules about other pods.
func (fo *folder) foldable(h holding) bool {
	var before trial
	defer before.GiveBack()
	for _, x := range h.pods {
		to := fo.elsewhere(x, h.launch, func(s *scheduling.Target) bool {
			n, _ := s.Guests.Within(fo.run.Dims, s.Free, x.Group)
			return n > 0 && s.Guests.Room(x.Group.PodClass, x.Level) > 0
		})
		if to == nil {
			return false
		}
		before.Touch(to)
		fo.occupy(to, x)
	}
	return true
}

// elsewhere returns a target that is not on the instance and may take the pod.
func (fo *folder) elsewhere(x scheduling.Stay, launch int, takes func(*scheduling.Target) bool) *scheduling.Target {
	for _, s := range fo.run.Targets {
		if !fo.mayFold(1) {
			return nil
		}
		if (s.On != plan.OnLaunch || s.Launch != launch) && s.Admitted(x.Level, len(fo.run.Targets)) && takes(s) {
			return s
		}
	}
	return nil
}

// occupy takes room for the pod on the target.
func (fo *folder) occupy(s *scheduling.Target, x scheduling.Stay) {
	fo.run.Keep(s)
	s.Take(fo.run.Dims, x.Group, x.Level, 1)
}

// foldOne gives the instance up if its pods can be elsewhere within all rules, and all other pods keep their places.
func (fo *folder) foldOne(launch int) bool {
	if !fo.mayFold(len(fo.run.Placed) + len(fo.run.Provisioner.Launched)) {
		return false
	}
	before, moves := fo.run.trial(), map[int]*scheduling.Target{}
	from := fo.run.Board.Spot(fo.run.Provisioner.Launched[launch].Place)
	fo.run.Provisioner.Launched[launch].Gone = true
	fo.run.Board = fo.run.replays.outset()
	lost, late := fo.run.replays.reseatBy(func(i int) bool {
		x := &fo.run.Placed[i]
		if x.On != plan.OnLaunch || x.Launch != launch {
			return fo.run.replays.reseatOne(fo.run.Board, i)
		}
		to := fo.elsewhere(x.Stay, launch, func(s *scheduling.Target) bool {
			return fo.run.RoomOn(s, x.Group, x.Level) > 0 && fo.staysSpread(x.Level, from, s, before.board, 1)
		})
		if to == nil {
			return false
		}
		before.Touch(to)
		fo.occupy(to, x.Stay)
		fo.run.Board.Put(x.Group.PodClass.Required().Rules, to.Place, 1, false)
		moves[i] = to
		return true
	})
	for i, to := range moves {
		if !fo.staysSpread(fo.run.Placed[i].Level, from, to, fo.run.Board, 0) {
			lost = append(lost, i)
		}
	}
	if len(lost) > 0 {
		before.undo(fo.run)
		return false
	}
	for i := range fo.run.Placed {
		if to := moves[i]; to != nil {
			fo.move(&fo.run.Placed[i], to)
		}
	}
	fo.run.replays.cancel(launch)
	fo.run.replays.comeLate(late)
	return true
}

// staysSpread reports whether a pod that moves from one place to the target leaves its spreads as even as they were, with
// so many more pods than the board counts. Rules alone would allow all pods in one domain if no other is left, but more
// domains were chosen for them. New hosts are always possible: they are compared as when instances are filled.
func (fo *folder) staysSpread(lv *demand.Level, from topology.Spot, s *scheduling.Target, counts *topology.Board, more int64) bool {
	to := fo.run.Board.Spot(s.Place)
	return !slices.ContainsFunc(counts.OwnSpreads(lv.Rules), func(own topology.OwnSpread) bool {
		if counts.Keys()[own.Key] == cluster.LabelHostname {
			return counts.CountOf(own, to[own.Key])+more > counts.MostOnHost(own)
		}
		return to[own.Key] < 0 || to[own.Key] != from[own.Key]
	})
}

// move records that a pod of an instance has its place on the target now.
func (fo *folder) move(x *scheduling.Placed, to *scheduling.Target) {
	fo.run.Provisioner.Launches[x.Launch].Lose(x.Pod)
	x.On, x.Name, x.Target, x.Launch = to.On, to.Name, to, to.Launch
	if to.On == plan.OnLaunch {
		fo.run.Provisioner.Launches[to.Launch].Take(x.Pod)
	}
}

// trial is what was there before something was tried, to put it back.
type trial struct {
	board    *topology.Board
	launched []provisioning.Launched
	places   []int // by target
	scheduling.Touched
}

// trial keeps what placing all pods once more changes.
func (r *Run) trial() *trial {
	out := &trial{board: r.Board, launched: slices.Clone(r.Provisioner.Launched), places: make([]int, len(r.Targets))}
	for i, s := range r.Targets {
		out.places[i] = s.Place
	}
	return out
}

// undo makes everything what it was.
func (t *trial) undo(r *Run) {
	t.GiveBack()
	for i, place := range t.places {
		r.Targets[i].Place = place
	}
	r.Board = t.board
	r.Provisioner.Launched = t.launched
}
