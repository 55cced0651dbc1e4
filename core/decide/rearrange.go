package decide

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// rearranged returns the snapshot without what instances were launched for, where pods that lost
// their place have room on what is there and coming once those that wait exchange theirs, or at
// least cost less then. kube-scheduler does not know what an instance was launched for, and with
// nominations pods go where the last plan says, and not where the first one did.
func rearranged(s *cluster.Snapshot, options place.Options) *cluster.Snapshot {
	options.Packer = nil
	before := place.Place(s, options)
	if !launchesAgain(s, before.Launches) {
		return s
	}
	free := *s
	free.Nodes, free.Machines = slices.Clone(s.Nodes), slices.Clone(s.Machines)
	for i := range free.Nodes {
		free.Nodes[i].BoughtFor = nil
	}
	for i := range free.Machines {
		free.Machines[i].BoughtFor = nil
	}
	after := place.Place(&free, options)
	if left := compareLeft(&after, &before); left > 0 || left == 0 && after.Cost >= before.Cost {
		return s
	}
	return &free
}

// launchesAgain reports whether some of the launches are for a pod that something was launched for.
func launchesAgain(s *cluster.Snapshot, launches []plan.Launch) bool {
	had := map[[2]string]bool{}
	for i := range s.Nodes {
		for j := range s.Nodes[i].BoughtFor {
			had[keyOf(&s.Nodes[i].BoughtFor[j])] = true
		}
	}
	for i := range s.Machines {
		for j := range s.Machines[i].BoughtFor {
			had[keyOf(&s.Machines[i].BoughtFor[j])] = true
		}
	}
	return slices.ContainsFunc(launches, func(l plan.Launch) bool {
		return slices.ContainsFunc(l.Pods, func(p cluster.Pod) bool { return had[keyOf(&p)] })
	})
}

func keyOf(p *cluster.Pod) [2]string { return [2]string{p.Namespace, p.Name} }
