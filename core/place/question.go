package place

import (
	"encoding/binary"
	"slices"

	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/topology"
)

// question is what a run has beside when it is one of many about a snapshot.
type question struct {
	Question
	evaluator *evaluator
	kept      trial         // targets that something was placed on, as they were
	launches  bool          // an instance would be launched, and none may be
	lost      *demand.Group // because of pods of this group, if not nil
}

// offers reports whether instances may be launched at all.
func (r *run) offers() bool { return r.question == nil || r.question.Below != 0 }

// keep notes what a target has before something is placed on it.
func (r *run) keep(s *target) {
	if r.question != nil && s.at < r.firstLaunch {
		r.question.kept.touch(s)
	}
}

// roomy returns the next target from the position on that may have room.
func (r *run) roomy(at int, need []int64) int {
	if r.question == nil {
		return at
	}
	return r.question.evaluator.gaps.next(at, len(r.targets), need)
}

// giveUpOn ends the search: pods of the group find no place whatever happens to
// the others. Reasons are of all pods, so that it goes on for them.
func (r *run) giveUpOn(g *demand.Group) {
	if !r.question.Why && !r.effort.Known {
		r.effort.Known, r.question.lost = true, g
	}
}

// wouldLaunch notes that Place would launch for pods of the group. Where nothing may be
// launched that is a no, whatever room there is elsewhere: as soon as the pods wait
// they are launched for, and the nodes were let go for nothing.
func (r *run) wouldLaunch(g *demand.Group) {
	r.question.launches = true
	r.giveUpOn(g)
}

// domainTargets is targets that are in the same domains of some keys.
type domainTargets struct {
	targets []*target
	gaps    *gaps
}

// domainTargetsFor makes sites of the plots in which pods of the group have room, and
// returns the targets that are in none of them.
func (r *run) domainTargetsFor(g *demand.Group, lv *demand.Level, find func(topology.Spot) *site) []*target {
	if r.provisioner.Values.Counted && r.board.Astray(lv.Rules, r.index.nowhere()) {
		return r.targets
	}
	type start struct {
		*domainTargets
		at int
	}
	var open []start
	for _, p := range r.question.evaluator.domainTargetsBy(r, lv.Rules.Fixed()) {
		for at := p.gaps.next(0, len(p.targets), g.Need); at < len(p.targets); at = p.gaps.next(at+1, len(p.targets), g.Need) {
			s := p.targets[at]
			if n, _ := s.guests.Within(r.dims, s.free, g); n > 0 && s.admitted(lv, len(r.targets)) {
				open = append(open, start{p, at})
				break
			}
		}
	}
	slices.SortFunc(open, func(a, b start) int { return a.targets[a.at].at - b.targets[b.at].at })
	for _, p := range open {
		s := find(r.scheduler.spotOf(p.targets[p.at]))
		s.targets, s.roomy, s.cursor = slices.Clip(p.targets), p.gaps, p.at
	}
	return r.targets[r.firstLaunch:]
}

// domainTargetsBy returns the plots for the keys.
func (d *evaluator) domainTargetsBy(r *run, keys []int) []*domainTargets {
	var text []byte
	for _, k := range keys {
		text = binary.LittleEndian.AppendUint32(text, uint32(k))
	}
	out, known := d.byDomain[string(text)]
	if known {
		return out
	}
	all := string(text)
	at := map[string]*domainTargets{}
	for _, s := range r.targets[:r.firstLaunch] {
		if s.shutForGood {
			continue
		}
		text = text[:0]
		if len(keys) > 0 {
			text = appendSpot(text, keys, d.board.Spot(s.place))
		}
		p := at[string(text)]
		if p == nil {
			p = &domainTargets{gaps: &gaps{dims: d.gaps.dims}}
			at[string(text)] = p
			out = append(out, p)
		}
		p.targets = append(p.targets, s)
		p.gaps.add(d.gaps.of(s.at))
	}
	d.byDomain[all] = out
	return out
}

// spotCrowd is how many pods of a workload are on a spot node.
type spotCrowd struct {
	node, pods int
	pool       spotPool
}

// crowdsThere counts pods of the workloads that have pods on launches, on spot
// nodes that stay.
func (q *question) crowdsThere(r *run, out *crowds) {
	d := q.evaluator
	if d.crowds == nil {
		d.crowds = map[workload][]spotCrowd{}
		for i := range r.snapshot.Nodes {
			n := &r.snapshot.Nodes[i]
			if !isSpot(n) || n.Goes() {
				continue
			}
			for w, pods := range ofWorkloads(n.Pods) {
				d.crowds[w] = append(d.crowds[w], spotCrowd{i, pods, spotPoolOfNode(n)})
			}
		}
	}
	seen := map[workload]bool{}
	for i := range r.provisioner.Launches {
		for w := range ofWorkloads(r.provisioner.Launches[i].Pods) {
			if seen[w] {
				continue
			}
			seen[w] = true
			for _, c := range d.crowds[w] {
				if slices.Contains(q.Leave, c.node) && r.goes(c.node) {
					continue
				}
				out.put(map[workload]int{w: c.pods}, c.pool)
				out.count(map[workload]int{w: c.pods})
			}
		}
	}
}

// goes reports whether the node would go if it were to leave.
func (r *run) goes(node int) bool {
	n := r.snapshot.Nodes[node]
	n.Deleting = true
	return n.Goes()
}

// lost lists the pods that the search ended for.
func (q *question) unplaced() []plan.Unplaced {
	u := plan.Unplaced{Shape: q.lost.Shape}
	for _, w := range q.lost.Pods[q.lost.Placed:] {
		u.Pods = append(u.Pods, *w.Pod)
	}
	return []plan.Unplaced{u}
}
