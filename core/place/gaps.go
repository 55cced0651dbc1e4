package place

import "github.com/daemok/daemok/core/amount"

// gapsIn is of how many seats what is free is summed up.
const gapsIn = 32

// gaps is what is free on seats before anything is placed, to find those that may
// have room without a look at the others.
type gaps struct {
	dims  int
	seats int
	free  []int64 // seat after seat
	most  []int64 // of each in gapsIn seats
}

// add adds a seat, of which so much is free.
func (x *gaps) add(free []int64) {
	if x.seats%gapsIn == 0 {
		x.most = append(x.most, free...)
	}
	most := x.most[len(x.most)-x.dims:]
	for d, v := range free {
		most[d] = max(most[d], v)
	}
	x.free = append(x.free, free...)
	x.seats++
}

// clear takes all seats out, and keeps the memory.
func (x *gaps) clear() { x.seats, x.free, x.most = 0, x.free[:0], x.most[:0] }

// of returns what is free on a seat.
func (x *gaps) of(seat int) []int64 { return x.free[seat*x.dims : (seat+1)*x.dims] }

// next returns the next seat from the position on that may have room, or n if
// there is none below. Nothing is known of seats that came later, or of any if x
// is nil.
func (x *gaps) next(at, n int, need []int64) int {
	if x == nil {
		return at
	}
	last := min(n, x.seats)
	if at >= last {
		return at
	}
	for at < last {
		of := at / gapsIn
		if !amount.Fits(x.most[of*x.dims:], need) {
			at = (of + 1) * gapsIn
			continue
		}
		for end := min(last, (of+1)*gapsIn); at < end; at++ {
			if amount.Fits(x.free[at*x.dims:], need) {
				return at
			}
		}
	}
	return last
}
