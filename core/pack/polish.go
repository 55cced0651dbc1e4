package pack

// swapsMax is how many pods of one instance are exchanged at most.
const swapsMax = 6

// polish exchanges pods of the best load for ones that wait and are worth
// more, the best exchange first, while there is room. Groups with caps stay as
// they are: they depend on the order in which they join.
func (f *filler) polish(offering int32) {
	f.empty(int(offering))
	for _, p := range f.best {
		f.add(p.group, p.n)
	}
	for range swapsMax {
		out, in := f.bestSwap(int(offering))
		if out < 0 {
			break
		}
		f.swap(out, in)
	}
	f.best = append(f.best[:0], f.parts...)
}

// bestSwap returns the part that a pod of may go from, and the group of which
// one comes in, where that adds most worth; -1 if there is none.
func (f *filler) bestSwap(offering int) (out int, in int32) {
	out, gain := -1, 0.0
	for i, p := range f.parts[1:] { // the seed, on the first, has its place
		if len(f.s.batch.Groups[p.group].Kinds) > 0 {
			continue
		}
		gone := f.s.need(p.group)
		for _, group := range f.byWorth {
			if f.size[group] <= f.size[p.group]+gain {
				break
			}
			f.s.steps++
			if f.s.left[group] > f.taken[group] && f.s.may(group, offering) && len(f.s.batch.Groups[group].Caps) == 0 && f.fitsWithout(gone, f.s.need(group)) {
				out, in, gain = i+1, group, f.size[group]-f.size[p.group]
				break
			}
		}
	}
	return out, in
}

func (f *filler) fitsWithout(gone, need []int64) bool {
	for d, v := range need {
		if v > f.room[d]+gone[d] {
			return false
		}
	}
	return true
}

func (f *filler) swap(out int, in int32) {
	p := &f.parts[out]
	for d, v := range f.s.need(p.group) {
		f.room[d] += v
	}
	f.taken[p.group]--
	if p.n--; p.n == 0 {
		f.parts = append(f.parts[:out], f.parts[out+1:]...)
	}
	f.add(in, 1)
}
