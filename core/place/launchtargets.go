package place

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scheduling"
)

// addLaunchTargets makes targets of the instances that this plan launches, for pods that found no other place.
func (r *Run) addLaunchTargets() {
	beside := r.byLaunch()
	for i := len(r.Targets) - r.FirstLaunch; i < len(r.Provisioner.Launches); i++ {
		l, at := r.Provisioner.Launches[i], &r.Provisioner.Launched[i]
		inFlight := r.inFlightAs(i, at.Options)
		s := &scheduling.Target{At: len(r.Targets), ID: len(r.Targets), On: plan.OnLaunch, Name: l.Name, InFlight: inFlight, Taints: at.Candidate.Taints, Launch: i, Planned: l,
			Guests: demand.Guests{Ports: inFlight.Ports}, Free: slices.Clone(at.Free), Place: at.Place}
		if at.Gone {
			s.Shut()
		}
		for _, k := range beside[i] {
			s.Guests.Add(k, k.Required(), 1)
		}
		r.Targets = append(r.Targets, s)
	}
}

// inFlightAs is an instance of this plan that may become these options.
func (r *Run) inFlightAs(launch int, options bitset.Set) *feasibility.InFlight {
	l, b := r.Provisioner.Launches[launch], r.Provisioner.Launched[launch].Candidate
	return feasibility.ForOptions(&cluster.Instance{
		Claim: l.Name, Pool: l.Pool, Labels: b.Labels.Merge(l.Labels), Requirements: l.Requirements, Taints: b.Taints,
	}, b.Pool, options)
}

// reopen makes these the options of the target on an instance of this plan.
func (r *Run) reopen(s *scheduling.Target, launch int, options bitset.Set) {
	s.InFlight = r.inFlightAs(launch, options)
	for _, k := range r.classes.known {
		for _, lv := range k.Levels {
			if s.ID < len(lv.Allowed) {
				lv.Allowed[s.ID] = 0
			}
		}
	}
}

// byLaunch lists the pod classes of the pods on each instance that this plan launches.
func (r *Run) byLaunch() map[int][]*demand.PodClass {
	out := map[int][]*demand.PodClass{}
	for _, x := range r.Placed {
		if x.On == plan.OnLaunch {
			out[x.Launch] = append(out[x.Launch], x.Group.PodClass)
		}
	}
	return out
}
