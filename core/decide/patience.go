package decide

import (
	"cmp"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// How long pods that lost their place are not bought for again.
const (
	// joinsWithin is how long a machine may take to join, to be waited for.
	joinsWithin = 2 * time.Minute
	// sameOrder is how far apart machines of one plan are ordered.
	sameOrder = 10 * time.Second
	// fillsWithin is what kube-scheduler needs to try every pod on a node that
	// has joined: it makes pods that found no place wait for ten seconds at most.
	fillsWithin = 10 * time.Second
)

// looksAhead is how often pods are left out that it is too early to buy for: who
// is left out leaves room to others, or takes the neighbours of some away.
const looksAhead = 3

// early is the pods that it is too early to buy machines for. A machine was
// bought for each of them, and kube-scheduler has given its place to another pod.
// Such a pod has left room elsewhere, as a rule, and may find it once all
// machines that were ordered with its own have joined and been filled. It waits
// for two minutes at most, from the order of the machine that is its own, also where it has
// that one only since another pod took its place.
type early struct {
	patient map[[2]string]bool // those that may wait
	pods    []cluster.Pod      // those that do
}

// leave returns the snapshot without the pods that it is too early for.
func (e *early) leave(s *cluster.Snapshot, options place.Options) *cluster.Snapshot {
	e.patient = patientPods(s)
	options.Packer = nil
	for range looksAhead {
		if len(e.patient) == 0 {
			return s
		}
		placed, before := place.Place(s, options), len(e.pods)
		for i := range placed.Launches {
			for _, p := range placed.Launches[i].Pods {
				if e.patient[keyOf(&p)] {
					e.pods = append(e.pods, p)
				}
			}
		}
		if len(e.pods) == before {
			return s
		}
		s = without(s, e.pods[before:])
	}
	return s
}

// hold takes out of an answer what would be bought too early, and says so.
func (e *early) hold(r *place.Result) {
	gone := map[string]bool{}
	r.Launches = slices.DeleteFunc(r.Launches, func(l plan.Launch) bool {
		gone[l.Name] = !slices.ContainsFunc(l.Pods, func(p cluster.Pod) bool { return !e.patient[keyOf(&p)] })
		return gone[l.Name]
	})
	r.Placements = slices.DeleteFunc(r.Placements, func(p plan.Placement) bool {
		if gone[p.Target] {
			e.pods = append(e.pods, p.Pod)
		}
		return gone[p.Target]
	})
	slices.SortFunc(e.pods, func(a, b cluster.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	at := map[*cluster.Shape]int{}
	for _, p := range e.pods {
		if _, known := at[p.Shape]; !known {
			at[p.Shape] = len(r.Unplaced)
			r.Unplaced = append(r.Unplaced, plan.Unplaced{Shape: p.Shape, Early: true, Reasons: []plan.Reason{{Text: tooEarly}}})
		}
		u := &r.Unplaced[at[p.Shape]]
		u.Pods = append(u.Pods, p)
	}
}

// tooEarly is why a pod has no place that it may have soon.
const tooEarly = "other pods were put where it was to go; nothing is bought for it before the machines ordered with its own have joined and are filled"

func without(s *cluster.Snapshot, pods []cluster.Pod) *cluster.Snapshot {
	gone := map[[2]string]bool{}
	for i := range pods {
		gone[keyOf(&pods[i])] = true
	}
	out := *s
	out.Waiting = slices.DeleteFunc(slices.Clone(s.Waiting), func(p cluster.Pod) bool { return gone[keyOf(&p)] })
	return &out
}

// patientPods are those that a machine was ordered for with which others were that
// are still to be waited for.
func patientPods(s *cluster.Snapshot) map[[2]string]bool {
	first, joining := firstJoining(s)
	filling := slices.ContainsFunc(s.Nodes, func(n cluster.Node) bool {
		return n.Claim != "" && !n.Deleting && s.Now.Sub(n.CreatedAt) < joinsWithin && s.Now.Sub(n.ChangedAt) < fillsWithin
	})
	out := map[[2]string]bool{}
	note := func(pods []cluster.Pod, since time.Time) {
		if s.Now.Sub(since) >= joinsWithin || !filling && !(joining && first.Before(since.Add(sameOrder))) {
			return
		}
		for i := range pods {
			out[keyOf(&pods[i])] = true
		}
	}
	for i := range s.Machines {
		if m := &s.Machines[i]; !m.Deleting {
			note(m.BoughtFor, m.CreatedAt)
		}
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; !n.Deleting {
			note(n.BoughtFor, n.CreatedAt)
		}
	}
	return out
}

// firstJoining returns when the first of the machines was ordered that are on order
// and may join soon.
func firstJoining(s *cluster.Snapshot) (first time.Time, found bool) {
	for i := range s.Machines {
		if m := &s.Machines[i]; !m.Deleting && s.Now.Sub(m.CreatedAt) < joinsWithin && (!found || m.CreatedAt.Before(first)) {
			first, found = m.CreatedAt, true
		}
	}
	return first, found
}

func keyOf(p *cluster.Pod) [2]string { return [2]string{p.Namespace, p.Name} }
