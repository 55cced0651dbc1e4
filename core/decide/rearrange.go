package decide

import (
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// joinsWithin is how long an instance may take to join, to be waited for.
const joinsWithin = 2 * time.Minute

// rearranged returns the snapshot without what instances were launched for, where pods that lost
// their place have room on what is there and coming once those that wait exchange theirs, or at
// least cost less then. kube-scheduler does not know what an instance was launched for, and with
// nominations pods go where the last plan says, and not where the first one did. Else it returns
// the snapshot without the pods that wait for an instance of their own, and these by shape.
func rearranged(s *cluster.Snapshot, options place.Options) (*cluster.Snapshot, []plan.Unplaced) {
	had := launchedFor(s)
	if len(had) == 0 {
		return s, nil
	}
	options.Packer = nil
	before := place.Place(s, options)
	if !launchesAgain(had, before.Launches) {
		return s, nil
	}
	free := *s
	free.Nodes, free.Instances = slices.Clone(s.Nodes), slices.Clone(s.Instances)
	for i := range free.Nodes {
		free.Nodes[i].LaunchedFor = nil
	}
	for i := range free.Instances {
		free.Instances[i].LaunchedFor = nil
	}
	after := place.Place(&free, options)
	if left := compareLeft(&after, &before); left > 0 || left == 0 && after.Cost >= before.Cost {
		return withoutJoining(s, before.Launches)
	}
	return &free, nil
}

// tooEarly is why nothing is launched for a pod yet.
const tooEarly = "the instance that was launched for it has not joined yet, and would not do now; nothing else is launched for it within two minutes"

// withoutJoining leaves out the pods, pending or on nodes that leave, that something is to be launched for though an
// instance for them is still to join: no other pod can have taken their place there, but rules may forbid it for a
// while, such as a spread when the numbers of others change.
func withoutJoining(s *cluster.Snapshot, launches []plan.Launch) (*cluster.Snapshot, []plan.Unplaced) {
	joining := map[[2]string]bool{}
	for i := range s.Instances {
		if m := &s.Instances[i]; !m.Deleting && s.Now.Sub(m.CreatedAt) < joinsWithin {
			for j := range m.LaunchedFor {
				joining[demand.PodKey(&m.LaunchedFor[j])] = true
			}
		}
	}
	var out []plan.Unplaced
	waits := map[[2]string]bool{}
	for i := range launches {
		for _, p := range launches[i].Pods {
			if !joining[demand.PodKey(&p)] {
				continue
			}
			waits[demand.PodKey(&p)] = true
			at := slices.IndexFunc(out, func(u plan.Unplaced) bool { return u.Shape == p.Shape })
			if at < 0 {
				at = len(out)
				out = append(out, plan.Unplaced{Shape: p.Shape, Early: true, Reasons: []plan.Reason{{Text: tooEarly}}})
			}
			out[at].Pods = append(out[at].Pods, p)
		}
	}
	for i := range out {
		slices.SortFunc(out[i].Pods, plan.ByName)
	}
	return without(s, waits), out
}

// without returns the snapshot in which nothing is sought for the pods: those that wait are not in it, and those on
// nodes that leave do not return.
func without(s *cluster.Snapshot, pods map[[2]string]bool) *cluster.Snapshot {
	is := func(p cluster.Pod) bool { return pods[demand.PodKey(&p)] }
	less := *s
	less.Waiting, less.Nodes = slices.DeleteFunc(slices.Clone(s.Waiting), is), slices.Clone(s.Nodes)
	for i := range less.Nodes {
		n := &less.Nodes[i]
		if !slices.ContainsFunc(n.Pods, is) {
			continue
		}
		n.Pods = slices.Clone(n.Pods)
		for j := range n.Pods {
			n.Pods[j].Returns = n.Pods[j].Returns && !is(n.Pods[j])
		}
	}
	return &less
}

// launchedFor is the pods that something was launched for.
func launchedFor(s *cluster.Snapshot) map[[2]string]bool {
	out := map[[2]string]bool{}
	for i := range s.Nodes {
		for j := range s.Nodes[i].LaunchedFor {
			out[demand.PodKey(&s.Nodes[i].LaunchedFor[j])] = true
		}
	}
	for i := range s.Instances {
		for j := range s.Instances[i].LaunchedFor {
			out[demand.PodKey(&s.Instances[i].LaunchedFor[j])] = true
		}
	}
	return out
}

// launchesAgain reports whether some of the launches are for a pod that something was launched for.
func launchesAgain(had map[[2]string]bool, launches []plan.Launch) bool {
	return slices.ContainsFunc(launches, func(l plan.Launch) bool {
		return slices.ContainsFunc(l.Pods, func(p cluster.Pod) bool { return had[demand.PodKey(&p)] })
	})
}
