package pack

import (
	"cmp"
	"math"
	"slices"
)

// filler fills one instance after another with pods that are left.
type filler struct {
	s       *solver
	byWorth []int32   // groups, those worth most first
	sides   [][]int32 // by resource: groups that take mostly of it, largest first; where narrow groups come first, then the others
	size    []float64 // by group: worth of one pod
	total   float64   // worth of all that is left

	room    []int64
	weight  []float64 // of one unit of each resource, when what is free is compared
	cursor  []int     // by side
	parts   []part    // on the instance, in the order in which they joined
	taken   []int64
	kinds   []int64  // by class: pods on the instance
	options []uint64 // offerings that all of them may have
	best    []part   // of the last tournament
}

func newFiller(s *solver) *filler {
	resources, kinds := len(s.worth), 0
	for i := range s.batch.Groups {
		for _, k := range s.batch.Groups[i].Kinds {
			kinds = max(kinds, k+1)
		}
		for _, c := range s.batch.Groups[i].Caps {
			kinds = max(kinds, c.Kind+1)
		}
	}
	return &filler{s: s, sides: make([][]int32, 2*resources), size: make([]float64, len(s.batch.Groups)),
		room: make([]int64, resources), weight: make([]float64, resources), cursor: make([]int, 2*resources), taken: make([]int64, len(s.batch.Groups)),
		kinds: make([]int64, kinds), options: make([]uint64, (len(s.offerings)+63)/64)}
}

// arrange sorts the groups for filling.
func (f *filler) arrange(groups []int32, l *look) {
	for side := range f.sides {
		f.sides[side] = f.sides[side][:0]
	}
	f.total = 0
	for _, group := range groups {
		side, most := 0, -1.0
		for d, v := range f.s.need(group) {
			if weight := float64(l.weight[d] * float64(v)); weight > most {
				side, most = d, weight
			}
		}
		class := f.s.classes[group]
		if l.narrowFirst && !f.s.narrow[class] {
			side += len(f.room)
		}
		f.size[group] = value(l.byClass[class], f.s.need(group))
		f.total += float64(f.size[group] * float64(f.s.left[group]))
		f.sides[side] = append(f.sides[side], group)
	}
	f.byWorth = append(f.byWorth[:0], groups...)
	slices.SortFunc(f.byWorth, func(a, b int32) int { return cmp.Or(cmp.Compare(f.size[b], f.size[a]), cmp.Compare(a, b)) })
	for side, list := range f.sides {
		d := f.resource(side)
		slices.SortFunc(list, func(a, b int32) int {
			return cmp.Or(cmp.Compare(f.s.need(b)[d], f.s.need(a)[d]), cmp.Compare(f.size[b], f.size[a]), cmp.Compare(a, b))
		})
	}
	f.s.steps += int64(8 * len(groups))
}

// resource is the one that a side is about.
func (f *filler) resource(side int) int { return side % len(f.room) }

// forgetPlaced takes groups without pods off the lists.
func (f *filler) forgetPlaced() {
	f.total = 0
	for side, list := range f.sides {
		kept := list[:0]
		for _, group := range list {
			n := f.s.left[group]
			if n <= 0 {
				continue
			}
			kept = append(kept, group)
			f.total += float64(f.size[group] * float64(n))
		}
		f.sides[side] = kept
		f.s.steps += int64(len(list) / 4)
	}
}

// tournament fills promising offerings, each with a pod of the seed first, and returns the one
// whose load is worth most for its cost, or -1 if none has room. The offering is then the cheapest
// that holds the load, which is in best.
func (f *filler) tournament(seed int32, l *look) int32 {
	chosen, score, tries := int32(-1), 0.0, 0
	need := f.s.need(seed)
	for _, o := range l.order {
		if chosen >= 0 && (l.yield[o] <= score || tries >= l.tries) {
			break
		}
		f.s.steps++
		it := &f.s.offerings[o]
		if !f.s.may(seed, int(o)) || !holds(it.free, need) || f.s.affords(o) < 1 || chosen >= 0 && f.total/it.cost <= score {
			continue
		}
		tries++
		worth := f.fill(int(o), seed, l)
		cheapest := f.cheapest(int(o))
		if s := worth / f.s.offerings[cheapest].cost; chosen < 0 || s > score {
			chosen, score = cheapest, s
			f.best = append(f.best[:0], f.parts...)
		}
	}
	return chosen
}

// cheapest returns the cheapest offering that holds what an offering was filled
// with.
func (f *filler) cheapest(filled int) int32 {
	free := f.s.offerings[filled].free
	for i := range filled {
		if f.options[i/64]&(1<<(i%64)) == 0 {
			continue
		}
		enough := true
		for d, v := range f.s.offerings[i].free {
			enough = enough && v >= free[d]-f.room[d]
		}
		if enough && f.s.affords(int32(i)) > 0 {
			f.s.steps += int64(i / 8)
			return int32(i)
		}
	}
	f.s.steps += int64(filled / 8)
	return int32(filled)
}

// fill fills an instance, the seed first and then always from the side of which most is free, the
// largest that fit first. It returns what the load is worth.
func (f *filler) fill(offering int, seed int32, l *look) float64 {
	f.empty(offering)
	f.weigh(offering, l)
	worth := f.add(seed, 1)
	for {
		side, gap := f.next(offering, l)
		if side < 0 {
			return worth
		}
		group := f.sides[side][f.cursor[side]]
		n := f.fitting(group)
		d := f.resource(side)
		if each := float64(f.weight[d] * float64(f.s.need(group)[d])); each > 0 && gap < float64(float64(n)*each) {
			n = min(n, int64(gap/each)+1)
		}
		worth += f.add(group, n)
	}
}

// weigh sets how what is free of resources is compared: as a share of what the instance has, or by
// worth.
func (f *filler) weigh(offering int, l *look) {
	if !l.even {
		copy(f.weight, l.worth)
		return
	}
	for d, v := range f.s.offerings[offering].free {
		f.weight[d] = 1 / float64(max(1, v))
	}
}

// empty makes the instance one of the offering without pods.
func (f *filler) empty(offering int) {
	for _, p := range f.parts {
		f.taken[p.group] = 0
		for _, k := range f.s.batch.Groups[p.group].Kinds {
			f.kinds[k] = 0
		}
	}
	f.parts = f.parts[:0]
	copy(f.room, f.s.offerings[offering].free)
	clear(f.cursor)
	for i := range f.options {
		f.options[i] = ^uint64(0)
	}
	f.s.steps += 8
}

// next returns the side to fill from, or -1, and by how much more is free there
// than on the next one.
func (f *filler) next(offering int, l *look) (side int, gap float64) {
	side = -1
	best, second := 0.0, math.Inf(-1)
	for k := range f.sides {
		if k == len(f.room) && side >= 0 {
			break // others come after narrow groups
		}
		if !f.seek(k, offering, l.skip) {
			continue
		}
		d := f.resource(k)
		switch free := float64(f.weight[d] * float64(f.room[d])); {
		case side < 0:
			side, best = k, free
		case free > best:
			side, best, second = k, free, best
		default:
			second = max(second, free)
		}
	}
	return side, best - second
}

// missesMax is how many groups in turn are examined before those are jumped over that are known to
// be too large.
const missesMax = 8

// seek moves the cursor of a side to the next group of which a pod can join.
func (f *filler) seek(side, offering int, skip float64) bool {
	list, at := f.sides[side], f.cursor[side]
	for misses := 0; at < len(list); at++ {
		f.s.steps++
		if f.s.may(list[at], offering) && f.fitting(list[at]) > 0 {
			if skip == 0 || f.s.chance.share() >= skip {
				break
			}
			continue
		}
		if misses++; misses == missesMax {
			misses, at = 0, f.jump(list, side, at)
		}
	}
	f.cursor[side] = at
	return at < len(list)
}

// jump returns the last of the groups, from a position on, that ask for more of
// the side's resource than is free.
func (f *filler) jump(list []int32, side, from int) int {
	d := f.resource(side)
	fits, _ := slices.BinarySearchFunc(list[from+1:], f.room[d], func(group int32, room int64) int {
		if f.s.need(group)[d] > room {
			return -1
		}
		return 1
	})
	return from + fits
}

// fitting returns how many more pods of the group there are and may join.
func (f *filler) fitting(group int32) int64 {
	n := f.s.left[group] - f.taken[group]
	if n <= 0 {
		return 0
	}
	for d, v := range f.s.need(group) {
		if v > f.room[d] {
			return 0
		}
		if v*n > f.room[d] {
			n = f.room[d] / v
		}
	}
	return f.capped(group, n)
}

// capped returns how many of n pods of the group the caps let join.
func (f *filler) capped(group int32, n int64) int64 {
	it := &f.s.batch.Groups[group]
	for _, c := range it.Caps {
		free := c.Most - f.kinds[c.Kind]
		if free <= 0 {
			return 0
		}
		if free < n && slices.Contains(it.Kinds, c.Kind) {
			n = free
		}
	}
	return n
}

// add puts n pods of the group on the instance and returns what they are worth.
func (f *filler) add(group int32, n int64) float64 {
	for d, v := range f.s.need(group) {
		f.room[d] -= v * n
	}
	for _, k := range f.s.batch.Groups[group].Kinds {
		f.kinds[k] += n
	}
	if f.taken[group] == 0 {
		for i, word := range f.s.allowed[f.s.classes[group]] {
			f.options[i] &= word
		}
	}
	f.taken[group] += n
	if last := slices.IndexFunc(f.parts, func(p part) bool { return p.group == group }); last >= 0 && f.joinsAnyTime(group, last) {
		f.parts[last].n += n
	} else {
		f.parts = append(f.parts, part{group, n})
	}
	return float64(float64(n) * f.size[group])
}

// joinsAnyTime reports whether a pod of the group may be recorded with those of its part: where
// caps count, the order in which pods join is kept.
func (f *filler) joinsAnyTime(group int32, part int) bool {
	it := &f.s.batch.Groups[group]
	return part == len(f.parts)-1 || len(it.Kinds) == 0 && len(it.Caps) == 0
}
