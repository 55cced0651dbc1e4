package place

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/supply"
)

// diversifier launches pods of one workload from spot offerings of several instance types.
type diversifier struct {
	run *Run
}

// Spot instances of one instance type in one zone are interrupted together when capacity runs short. So at most half of
// a workload's pods on spot instances are to be on instances that are launched first as one instance type in one zone,
// as far as others cost little more: a tenth at most, for at most half of the instances.
const (
	shareOf  = 2 // the share, as a part of the whole
	movesMax = 3 // how many instance types are left out for one instance at most
)

// workload is pods of one owner.
type workload struct{ namespace, owner string }

// spotPool is spot instances that are interrupted together.
type spotPool struct{ kind, zone string }

// crowds is how many pods of a workload there are on spot instances, and where.
type crowds struct {
	all map[workload]int
	at  map[workload]map[spotPool]int
}

// diversify changes the instance type that spot instances are launched first as, where too much of a workload would be
// on one. It reports whether waiting pods should be tried on these again: without some instance types, an instance may
// have more room.
func (di *diversifier) diversify() bool {
	if !slices.ContainsFunc(di.run.Provisioner.Launches, func(l *plan.Launch) bool { return l.Choice.Option == cluster.Spot && len(l.Pods) > 0 }) {
		return false
	}
	known, any := di.spotCrowds(), false
	for i := range di.run.Provisioner.Launches {
		l := di.run.Provisioner.Launches[i]
		if l.Choice.Option != cluster.Spot || len(l.Pods) == 0 {
			continue
		}
		mine := ofWorkloads(l.Pods)
		if known.over(mine, spotPoolOf(l.Choice)) && di.divert(i, func(c plan.Choice) bool { return !known.over(mine, spotPoolOf(c)) }) {
			any = true
		}
		known.put(mine, spotPoolOf(l.Choice))
	}
	return any && di.run.stillWaiting() > 0 && di.run.Round < roundsMax && !di.run.Effort.Exhausted
}

func spotPoolOf(c plan.Choice) spotPool { return spotPool{c.Kind, c.Zone} }

// ofWorkloads counts the pods of each workload.
func ofWorkloads(pods []cluster.Pod) map[workload]int {
	out := map[workload]int{}
	for i := range pods {
		if p := &pods[i]; p.Owner != "" && !p.Daemon {
			out[workload{p.Namespace, p.Owner}]++
		}
	}
	return out
}

// spotCrowds counts the pods of workloads that have pods on launches: on spot nodes that stay, and all those on spot
// instances of this plan, wherever these will be.
func (di *diversifier) spotCrowds() *crowds {
	out := &crowds{all: map[workload]int{}, at: map[workload]map[spotPool]int{}}
	there := di.run.spot.of(di.run.snapshot)
	for i := range di.run.Provisioner.Launches {
		for w := range ofWorkloads(di.run.Provisioner.Launches[i].Pods) {
			if out.at[w] != nil {
				continue
			}
			out.at[w] = map[spotPool]int{}
			for _, c := range there[w] {
				if slices.Contains(di.run.leaving, c.node) && wouldGo(di.run.snapshot.Nodes[c.node]) {
					continue
				}
				out.at[w][c.pool] += c.pods
				out.all[w] += c.pods
			}
		}
	}
	for i := range di.run.Provisioner.Launches {
		if l := di.run.Provisioner.Launches[i]; l.Choice.Option == cluster.Spot {
			for w, n := range ofWorkloads(l.Pods) {
				out.all[w] += n
			}
		}
	}
	return out
}

// spotPods is where pods are on the spot nodes of a snapshot that stay, by workload. It is counted once.
type spotPods struct {
	byWorkload map[workload][]spotCrowd // nil: not counted yet
}

// spotCrowd is how many pods of a workload are on a spot node.
type spotCrowd struct {
	node, pods int
	pool       spotPool
}

func (sp *spotPods) of(s *cluster.Snapshot) map[workload][]spotCrowd {
	if sp.byWorkload == nil {
		sp.byWorkload = map[workload][]spotCrowd{}
		for i := range s.Nodes {
			n := &s.Nodes[i]
			if !isSpot(n) || n.Goes() {
				continue
			}
			for w, pods := range ofWorkloads(n.Pods) {
				sp.byWorkload[w] = append(sp.byWorkload[w], spotCrowd{i, pods, spotPoolOfNode(n)})
			}
		}
	}
	return sp.byWorkload
}

// wouldGo reports whether the node would be removed once it leaves.
func wouldGo(n cluster.Node) bool {
	n.Deleting = true
	return n.Goes()
}

func isSpot(n *cluster.Node) bool {
	way, _ := n.Labels.Get(cluster.LabelCapacityType)
	return way == string(cluster.Spot)
}

func spotPoolOfNode(n *cluster.Node) spotPool {
	kind, _ := n.Labels.Get(cluster.LabelInstanceType)
	zone, _ := n.Labels.Get(cluster.LabelZone)
	return spotPool{kind, zone}
}

func (c *crowds) put(pods map[workload]int, at spotPool) {
	for w, n := range pods {
		if c.at[w] == nil {
			c.at[w] = map[spotPool]int{}
		}
		c.at[w][at] += n
	}
}

// over reports whether more than its share of a workload would be in a spot pool where some of it is already.
func (c *crowds) over(pods map[workload]int, in spotPool) bool {
	for w, n := range pods {
		if there := c.at[w][in]; there > 0 && shareOf*(there+n) > c.all[w] {
			return true
		}
	}
	return false
}

// divert leaves out the instance type that is launched first, and further ones if necessary, until the one launched
// first will do. It changes nothing, and returns false, if that would be too expensive, or would leave too few instance
// types, zones or values open.
func (di *diversifier) divert(launch int, willDo func(plan.Choice) bool) bool {
	at := &di.run.Provisioner.Launched[launch]
	b, first := at.Candidate, at.Options.Next(0)
	if b.Credits != nil || first < 0 {
		return false
	}
	options := at.Options.Clone()
	rich := b.ManyKinds(options, first)
	for range movesMax {
		b.WithoutKind(options, b.Options[options.Next(0)].Kind)
		next := options.Next(0)
		if next < 0 || !isNear(b, next, first) || rich && !b.ManyKinds(options, next) {
			return false
		}
		if choice := b.Choice(next, ""); willDo(choice) {
			return di.rewrite(launch, options, choice)
		}
	}
	return false
}

// isNear reports whether an option is a spot offering that costs little more than
// the first.
func isNear(b *supply.Candidate, option, first int) bool {
	o, best := b.Offering(b.Options[option]), b.Offering(b.Options[first])
	return o.Option == cluster.Spot && o.Priced && float64(o.Ranked()) <= float64(supply.LittleMore*float64(best.Ranked()))
}

// rewrite makes these the open options of the launch, if only instance types change by that. It reports whether it did.
func (di *diversifier) rewrite(launch int, options bitset.Set, choice plan.Choice) bool {
	l, at := di.run.Provisioner.Launches[launch], &di.run.Provisioner.Launched[launch]
	b := at.Candidate
	before, kinds := b.ChoicesOf(at.Options, b.FirstKinds(at.Options)), b.FirstKinds(options)
	open := b.ChoicesOf(options, kinds)
	if !open.Zones.Equal(before.Zones) || !open.Daemons.Equal(before.Daemons) || !slices.Equal(open.Archs, before.Archs) ||
		b.MinValuesShort(options, kinds) != nil {
		return false
	}
	l.Requirements = l.Requirements.AndAll(open.RequirementsFor(nil))
	l.Choice, l.RunnersUp = choice, open.RunnersUp
	at.Options, at.Risk = options, b.RiskOf(options.Next(0))
	at.Cost = b.Price[options.Next(0)] + at.Risk
	widen(at.Free, open.Free, before.Free)
	if di.run.Values.Counted {
		at.Ways, at.Due = di.run.Provisioner.Lister.Outlook(b, l.Labels, options)
	}
	if at := di.run.FirstLaunch + launch; at < len(di.run.Targets) {
		di.run.reopen(di.run.Targets[at], launch, options)
		widen(di.run.Targets[at].Free, open.Free, before.Free)
	}
	return true
}

// widen adds what is free now and was not before.
func widen(free, now, before []int64) {
	for d := range free {
		free[d] += now[d] - before[d]
	}
}
