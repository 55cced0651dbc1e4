package decide

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/forecast"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// roundsAtOnce is how often launches are added to a plan.
const roundsAtOnce = 4

// atOnce adds to the plan what would be launched later for pods that are left, for as long as
// that is likely to cost less in the end: then they need not wait for a second boot.
func (t *simulator) atOnce(best fate, ways []forecast.Opening) fate {
	for range roundsAtOnce {
		found := best
		for _, how := range ways {
			if t.left <= 0 || best.ends.Left == 0 {
				return best
			}
			how.Most = t.left
			later := simulate(t.s, t.world, t.options, &best.result, how)
			t.left -= later.Steps
			if all, ok := joined(best.result, &later.first); ok {
				found = cheaper(found, t.simulate(all, ways))
			}
		}
		if found.ends.cost >= best.ends.cost {
			return best
		}
		best = found
	}
	return best
}

// joined is the answer with the launches of another, for pods of its own. It is not ok where there
// are none, where a launch would be for no pods, or where it might break a rule.
func joined(r place.Result, later *place.Result) (out place.Result, ok bool) {
	r.Launches, r.Placements = slices.Clone(r.Launches), slices.Clone(r.Placements)
	at, on := map[[2]string]*plan.Placement{}, map[string]int{} // by pod; by launch: pods
	for i := range r.Placements {
		p := &r.Placements[i]
		at[demand.PodKey(&p.Pod)] = p
		on[p.Target]++
	}
	for _, l := range later.Launches {
		if slices.ContainsFunc(l.Pods, func(p cluster.Pod) bool { return at[demand.PodKey(&p)] == nil || !plain(p.Shape) }) {
			return r, false
		}
		l.Name = fmt.Sprintf("new-%d", len(r.Launches)+1)
		l.Pods = slices.DeleteFunc(slices.Clone(l.Pods), func(p cluster.Pod) bool {
			was := at[demand.PodKey(&p)]
			stays := was.On == plan.OnLaunch && on[was.Target] == 1
			if !stays {
				on[was.Target]--
				was.On, was.Target = plan.OnLaunch, l.Name
			}
			return stays
		})
		if len(l.Pods) == 0 {
			return r, false
		}
		r.Launches = append(r.Launches, l)
	}
	for i := range r.Launches {
		l := &r.Launches[i]
		l.Pods = slices.DeleteFunc(slices.Clone(l.Pods), func(p cluster.Pod) bool { return at[demand.PodKey(&p)].Target != l.Name })
	}
	r.Cost, r.Risk = r.Cost+later.Cost, r.Risk+later.Risk
	r.SpotMore, r.Unpriced = r.SpotMore+later.SpotMore, r.Unpriced+later.Unpriced
	return r, len(later.Launches) > 0
}

// plain reports whether the pods have no rules about others, and others none about them.
func plain(s *cluster.Shape) bool {
	return len(s.Labels) == 0 && len(s.Spread) == 0 && len(s.Neighbours) == 0 && len(s.Volumes) == 0
}

// charge counts launches against limits, whatever they become. The lists of pools and quotas stay the same where nothing
// is limited, since what is known of pools is known of these.
func charge(s *cluster.Snapshot, launches []plan.Launch) {
	limited := func(p cluster.Pool) bool { return p.Catalogue != nil && p.Limits.Any() }
	if len(s.Quotas) == 0 && !slices.ContainsFunc(s.Pools, limited) {
		return
	}
	s.Pools, s.Quotas = slices.Clone(s.Pools), slices.Clone(s.Quotas)
	for i := range launches {
		launches[i].InFlight(s, launches[i].Name)
	}
}
