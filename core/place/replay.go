package place

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scheduling"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/core/topology"
)

// replayer places all pods once more in the order of the answer, and takes back what a rule forbids in it.
type replayer struct {
	run     *Run
	evicted bool // a replay took pods off their places
}

// all places all pods once more in the order of their turns, with every instance of the plan there from the beginning,
// as kube-scheduler may see it. Pods whose place then breaks a rule about other pods lose it.
func (re *replayer) all() {
	if !re.run.Values.Counted || re.run.Asked != nil && len(re.run.Provisioner.Launched) == 0 && len(re.run.Demand.Groups) == 0 {
		return // no rule counts pods, or nothing was added since pods got their places
	}
	board := re.outset()
	at, late := re.reseat(board)
	re.comeLate(late)
	if len(at) > 0 {
		lost, stay := make([]scheduling.Placed, 0, len(at)), re.run.Placed[:0]
		for i, x := range re.run.Placed {
			if len(lost) < len(at) && i == at[len(lost)] {
				lost = append(lost, x)
				continue
			}
			stay = append(stay, x)
		}
		re.run.Placed, re.evicted = stay, true
		re.unseat(lost)
	}
	re.run.Board = board
}

// outset returns a board with every instance of the plan, before any waiting pod has its place.
func (re *replayer) outset() *topology.Board {
	board := re.run.intake.base.Clone()
	if re.run.Round > 1 {
		board.Dare()
	}
	for i := range re.run.Provisioner.Launched {
		l := &re.run.Provisioner.Launched[i]
		if l.Gone {
			continue
		}
		l.Place = board.AddOutlook(topology.Outlook{Ways: l.Ways, Host: HostOf(re.run.Provisioner.Launches[i].Name)}, l.Candidate.Taints)
		l.Due.Put(board, l.Place)
		if at := re.run.FirstLaunch + i; at < len(re.run.Targets) {
			re.run.Targets[at].Place = l.Place
		}
	}
	return board
}

// reseat puts all pods on the board in the order of their turns. Pods whose place breaks a rule as long as other pods are
// missing are tried again later, as kube-scheduler does, as long as that helps a good part of them, so that the cost
// stays linear. It returns the positions of the pods that are lost, and of those that came late, in their order.
func (re *replayer) reseat(board *topology.Board) (lost, late []int) {
	return re.reseatBy(func(i int) bool { return re.reseatOne(board, i) })
}

// reseatBy is reseat with another way to put one pod on the board.
func (re *replayer) reseatBy(reseatOne func(i int) bool) (lost, late []int) {
	slices.SortFunc(re.run.Placed, func(a, b scheduling.Placed) int { return cmp.Compare(a.Turn, b.Turn) })
	for i := range re.run.Placed {
		if !reseatOne(i) {
			lost = append(lost, i)
		}
	}
	for again := len(lost) > 0; again; {
		tried, came := len(lost), len(late)
		lost = slices.DeleteFunc(lost, func(i int) bool {
			if !reseatOne(i) {
				return false
			}
			late = append(late, i)
			return true
		})
		again = len(lost) > 0 && 4*(len(late)-came) >= tried
	}
	return lost, late
}

// reseatOne puts one pod on the board if its place keeps the rules now.
func (re *replayer) reseatOne(board *topology.Board, i int) bool {
	x := &re.run.Placed[i]
	place, rules := re.run.placeOf(x), x.Group.PodClass.Required().Rules
	if board.Room(rules, board.Spot(place)) <= 0 {
		return false
	}
	board.Put(rules, place, 1, false)
	return true
}

// comeLate makes the pods at these positions the last ones, in this order.
func (re *replayer) comeLate(late []int) {
	for _, i := range late {
		re.run.Turn++
		re.run.Placed[i].Turn = re.run.Turn
	}
}

// withdraw gives up instances on which no pod is left. It reports whether places must be sought again, because the daemon
// pods of such instances are no longer there, and neither is what they took of limits.
func (re *replayer) withdraw() bool {
	any := false
	for re.giveUp() {
		any = true
		re.forget()
		re.all()
		re.takeBack()
	}
	return any && re.run.stillWaiting() > 0 && re.run.Round < roundsMax && !re.run.Effort.Exhausted
}

// forget drops the demand of this round.
func (re *replayer) forget() {
	re.run.Demand.Groups = nil
	re.run.Provisioner.ForgetAsks()
}

// giveUp cancels the instances of this plan that have no pods, and reports whether there were any.
func (re *replayer) giveUp() bool {
	any := false
	for i := range re.run.Provisioner.Launched {
		l := &re.run.Provisioner.Launched[i]
		if l.Gone || len(re.run.Provisioner.Launches[i].Pods) > 0 {
			continue
		}
		any = true
		re.cancel(i)
		for _, of := range l.Taken {
			re.run.Demand.Failed[of.Group.From] = true
		}
		re.keepMinimum(l.Candidate)
	}
	return any
}

// cancel gives up an instance of this plan, and gives back what it took of limits and capacity reservations.
func (re *replayer) cancel(launch int) {
	l := &re.run.Provisioner.Launched[launch]
	l.Gone = true
	if at := re.run.FirstLaunch + launch; at < len(re.run.Targets) {
		re.run.Targets[at].Shut()
	}
	if l.Candidate.Remaining != nil {
		l.Candidate.Remaining.GiveBack(l.Limited)
		re.run.Provisioner.Narrow(l.Candidate)
		clear(re.run.Demand.Failed)
	}
	re.run.Provisioner.Reserved.PutBack(l.ReservedCapacities)
}

// keepMinimum gives up spot instances of the pool, the last first, until its minimum of on-demand nodes is kept
// without an instance that was given up. Their pods wait again.
func (re *replayer) keepMinimum(b *supply.Candidate) {
	for i := len(re.run.Provisioner.Launched) - 1; i >= 0 && b.Remaining != nil; i-- {
		l := &re.run.Provisioner.Launched[i]
		if l.Gone || l.Candidate != b || !b.Remaining.Breaks(l.Limited) {
			continue
		}
		var lost []scheduling.Placed
		re.run.Placed = slices.DeleteFunc(re.run.Placed, func(x scheduling.Placed) bool {
			on := x.On == plan.OnLaunch && x.Launch == i
			if on {
				lost = append(lost, x)
			}
			return on
		})
		re.unseat(lost)
		re.cancel(i)
	}
}

// unseat takes pods off their places and makes them wait again.
func (re *replayer) unseat(lost []scheduling.Placed) {
	if len(lost) == 0 {
		return
	}
	for _, x := range lost {
		x.Group.Back = append(x.Group.Back, x.WaitingPod)
		re.run.Release(x.Group.PodClass)
		switch {
		case x.Target != nil:
			amount.Take(x.Target.Free, x.Group.Need, -1)
			x.Target.Guests.Drop(x.Group.PodClass)
		default:
			amount.Take(re.run.Provisioner.Launched[x.Launch].Free, x.Group.Need, -1)
			if at := re.run.FirstLaunch + x.Launch; at < len(re.run.Targets) {
				amount.Take(re.run.Targets[at].Free, x.Group.Need, -1)
				re.run.Targets[at].Guests.Drop(x.Group.PodClass)
			}
		}
		if x.On == plan.OnLaunch {
			re.run.Provisioner.Launches[x.Launch].Lose(x.Pod)
		}
	}
}

// takeBack returns pods to their groups of waiting pods for which no instance could be launched, or that lost their place.
func (re *replayer) takeBack() {
	for _, podGroup := range re.run.Demand.Groups {
		if podGroup.Left() > 0 {
			podGroup.Of.Back = append(podGroup.Of.Back, podGroup.Pods[podGroup.Placed:]...)
			re.run.Demand.Fails(podGroup.From)
			re.run.Release(podGroup.PodClass)
		}
	}
	for _, g := range re.run.Waiting {
		if len(g.Back) == 0 {
			continue
		}
		g.Pods = append(slices.Clone(g.Pods[g.Placed:]), g.Back...)
		g.Placed, g.Back = 0, nil
		slices.SortStableFunc(g.Pods, older)
	}
}
