package place

import (
	"encoding/binary"
	"slices"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/topology"
)

// question is what a run has beside when it is one of many about a snapshot.
type question struct {
	Question
	desk *desk
	kept trial  // seats that something was placed on, as they were
	over bool   // the answer is no
	buys bool   // a machine would be bought, and none may be
	lost *group // because of pods of this group, if not nil
}

// sells reports whether machines may be bought at all.
func (r *run) sells() bool { return r.question == nil || r.question.Below != 0 }

// keep notes what a seat has before something is placed on it.
func (r *run) keep(s *seat) {
	if r.question != nil && s.at < r.firstLaunch {
		r.question.kept.touch(s)
	}
}

// roomy returns the next seat from the position on that may have room.
func (r *run) roomy(at int, need []int64) int {
	if r.question == nil {
		return at
	}
	return r.question.desk.gaps.next(at, len(r.seats), need)
}

// giveUpOn ends the search: pods of the group find no place whatever happens to
// the others. Reasons are of all pods, so that it goes on for them.
func (r *run) giveUpOn(g *group) {
	if !r.question.Why && !r.question.over {
		r.question.over, r.question.lost = true, g
	}
}

// wouldBuy notes that Place would buy for pods of the group. Where nothing may be
// bought that is a no, whatever room there is elsewhere: as soon as the pods wait
// they are bought for, and the nodes were let go for nothing.
func (r *run) wouldBuy(g *group) {
	r.question.buys = true
	r.giveUpOn(g)
}

// plot is seats that are in the same domains of some keys.
type plot struct {
	seats []*seat
	gaps  *gaps
}

// plotsFor makes sites of the plots in which pods of the group have room, and
// returns the seats that are in none of them.
func (r *run) plotsFor(g *group, lv *level, find func(topology.Spot) *site) []*seat {
	if r.counted && r.board.Astray(lv.rules, r.nowhere()) {
		return r.seats
	}
	type start struct {
		*plot
		at int
	}
	var open []start
	for _, p := range r.question.desk.plotsBy(r, lv.rules.Fixed()) {
		for at := p.gaps.next(0, len(p.seats), g.need); at < len(p.seats); at = p.gaps.next(at+1, len(p.seats), g.need) {
			s := p.seats[at]
			if n, _ := r.within(s.free, g, &s.guests); n > 0 && lv.admitted(s, len(r.seats)) {
				open = append(open, start{p, at})
				break
			}
		}
	}
	slices.SortFunc(open, func(a, b start) int { return a.seats[a.at].at - b.seats[b.at].at })
	for _, p := range open {
		s := find(r.spotOf(p.seats[p.at]))
		s.seats, s.roomy, s.cursor = slices.Clip(p.seats), p.gaps, p.at
	}
	return r.seats[r.firstLaunch:]
}

// plotsBy returns the plots for the keys.
func (d *desk) plotsBy(r *run, keys []int) []*plot {
	var text []byte
	for _, k := range keys {
		text = binary.LittleEndian.AppendUint32(text, uint32(k))
	}
	out, known := d.plots[string(text)]
	if known {
		return out
	}
	all := string(text)
	at := map[string]*plot{}
	for _, s := range r.seats[:r.firstLaunch] {
		if s.shutForGood {
			continue
		}
		text = text[:0]
		if len(keys) > 0 {
			text = appendSpot(text, keys, d.board.Spot(s.place))
		}
		p := at[string(text)]
		if p == nil {
			p = &plot{gaps: &gaps{dims: d.gaps.dims}}
			at[string(text)] = p
			out = append(out, p)
		}
		p.seats = append(p.seats, s)
		p.gaps.add(d.gaps.of(s.at))
	}
	d.plots[all] = out
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
	d := q.desk
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
	for i := range r.out.Launches {
		for w := range ofWorkloads(r.out.Launches[i].Pods) {
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
	u := plan.Unplaced{Shape: q.lost.shape}
	for _, w := range q.lost.pods[q.lost.placed:] {
		u.Pods = append(u.Pods, *w.Pod)
	}
	return []plan.Unplaced{u}
}
