package pack

import (
	"cmp"
	"slices"
)

// looksMax is how many loads of one offering are examined to find the one worth most.
const looksMax = 1000

const (
	none       = -1
	foundMax   = 6   // patterns that are found before prices are worked out again
	promising  = 0.9 // share of its cost that a load must be worth to be changed
	refillsMax = 12  // groups that are left out in turn at most
)

// pricer finds patterns that are worth more than they cost: for each offering the
// load worth most, by branch and bound. A load is bounded by what the room
// left is worth when the group with the best worth for its size fills it.
type pricer struct {
	p     *program
	f     *filler
	order []int32   // groups, those worth most for their size first
	size  []float64 // by group of the program, at fixed prices of resources
	gain  []float64 // by group of the program: worth for its size

	offering int
	parts    []part // scratch of refill
	best     []part
	most     float64
	looks    int
}

func newPricer(p *program) *pricer {
	r := &pricer{p: p, f: p.s.filler, size: make([]float64, len(p.groups)), gain: make([]float64, len(p.groups))}
	prices := p.s.variant(idleWorth)
	for i, group := range p.groups {
		r.size[i] = value(prices, p.s.need(group))
	}
	return r
}

// variant is what resources are worth, all of an idle one as much as a share of
// the most worth of a whole one.
func (s *solver) variant(idle float64) []float64 {
	out := slices.Clone(s.worth)
	largest := s.offerings[len(s.offerings)-1].free
	most := 0.0
	for d, w := range out {
		most = max(most, float64(w*float64(largest[d])))
	}
	for d, w := range out {
		if w == 0 {
			out[d] = float64(idle*most) / float64(max(1, largest[d]))
		}
	}
	return out
}

// find adds patterns that are worth more than their cost to the pool and
// returns one that is worth most, or -1.
func (r *pricer) find() int {
	p := r.p
	for i := range p.groups {
		r.gain[i] = p.worth[i] / max(tiny, r.size[i])
	}
	r.order = append(r.order[:0], p.groups...)
	slices.SortFunc(r.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(r.gain[p.at[b]], r.gain[p.at[a]]), cmp.Compare(a, b))
	})
	for _, look := range []func(){func() { r.note(r.fillUp(none)) }, r.refill} {
		if out := r.sweep(look); out >= 0 {
			return out
		}
	}
	prices := p.s.variant(idleWorth)
	return r.sweep(func() {
		r.looks = looksMax
		r.branch(0, 0, value(prices, p.s.offerings[r.offering].free))
	})
}

// sweep seeks a pattern of each offering in turn until some are found, and goes on from there the
// next time.
func (r *pricer) sweep(look func()) int {
	p := r.p
	out, most, found := -1, 0.0, 0
	for range p.s.offerings {
		r.offering = (r.offering + 1) % len(p.s.offerings)
		o := &p.s.offerings[r.offering]
		r.best, r.most = r.best[:0], float64(o.cost*worthier)
		r.f.empty(r.offering)
		look()
		if len(r.best) == 0 {
			continue
		}
		if v := r.most / o.cost; v > most {
			out, most = len(p.pool), v
		}
		p.pool = append(p.pool, pattern{int32(r.offering), slices.Clone(r.best), o.cost})
		if found++; found == foundMax {
			break
		}
	}
	r.f.empty(r.offering)
	return out
}

// refill fills an instance by what is worth most for the share that it takes of the room left, then
// leaves out each group in turn and fills it with others.
func (r *pricer) refill() {
	worth := r.fillUp(none)
	r.note(worth)
	if worth < float64(promising*r.p.s.offerings[r.offering].cost) {
		return
	}
	for i := 0; i < len(r.f.parts) && i < refillsMax; i++ {
		r.parts = append(r.parts[:0], r.f.parts...)
		now := r.refillWithout(i)
		if now > float64(worth*worthier) {
			worth, i = now, -1
			r.note(worth)
			continue
		}
		r.f.empty(r.offering)
		for _, p := range r.parts {
			r.f.add(p.group, p.n)
		}
	}
}

func (r *pricer) refillWithout(i int) float64 {
	r.f.empty(r.offering)
	worth := 0.0
	for k, p := range r.parts {
		if k != i {
			r.f.add(p.group, p.n)
			worth += float64(float64(p.n) * r.p.worth[r.p.at[p.group]])
		}
	}
	return worth + r.fillUp(r.parts[i].group)
}

func (r *pricer) note(worth float64) {
	if worth > r.most {
		r.most = worth
		r.best = append(r.best[:0], r.f.parts...)
	}
}

// fillUp adds pods of all groups but one and returns what they are worth.
func (r *pricer) fillUp(but int32) float64 {
	worth := 0.0
	for {
		group, most, score := int32(-1), int64(0), 0.0
		for _, x := range r.order {
			i := r.p.at[x]
			if r.gain[i] <= 0 {
				break
			}
			if x == but || !r.p.s.may(x, r.offering) {
				continue
			}
			if s := r.p.worth[i] / r.share(x); s > score {
				if n := r.f.fitting(x); n > 0 {
					group, most, score = x, n, s
				}
			}
		}
		r.p.s.steps += int64(len(r.order))
		if group < 0 {
			return worth
		}
		n := (most + 3) / 4
		r.f.add(group, n)
		worth += float64(float64(n) * r.p.worth[r.p.at[group]])
	}
}

// share is how much of the room left a pod takes, summed up over resources.
func (r *pricer) share(group int32) float64 {
	sum := tiny
	for d, v := range r.p.s.need(group) {
		if v > 0 {
			sum += float64(v) / float64(max(1, r.f.room[d]))
		}
	}
	return sum
}

// branch tries all numbers of pods of the groups from a position on, beside a
// load of some worth that leaves so much room.
func (r *pricer) branch(from int, worth, room float64) {
	if worth > r.most {
		r.most = worth
		r.best = append(r.best[:0], r.f.parts...)
	}
	for k := from; k < len(r.order) && r.looks > 0; k++ {
		group := r.order[k]
		i := r.p.at[group]
		r.p.s.steps++
		if r.gain[i] <= 0 || worth+float64(r.gain[i]*room) <= r.most {
			return
		}
		if !r.p.s.may(group, r.offering) {
			continue
		}
		for n := r.f.fitting(group); n > 0 && r.looks > 0; n-- {
			r.looks--
			r.f.add(group, n)
			r.branch(k+1, worth+float64(float64(n)*r.p.worth[i]), room-float64(float64(n)*r.size[i]))
			r.f.remove(group, n)
		}
	}
}

// remove takes back the pods that were added last.
func (f *filler) remove(group int32, n int64) {
	for d, v := range f.s.need(group) {
		f.room[d] += v * n
	}
	for _, k := range f.s.batch.Groups[group].Kinds {
		f.kinds[k] -= n
	}
	f.taken[group] -= n
	last := len(f.parts) - 1
	if f.parts[last].n -= n; f.parts[last].n == 0 {
		f.parts = f.parts[:last]
	}
}
