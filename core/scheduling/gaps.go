package scheduling

import (
	"github.com/daemok/daemok/core/amount"
)

// gapsIn is how many targets share one entry of Gaps.most.
const gapsIn = 32

// Gaps is what is free on targets before anything is placed. It finds those that may have room without looking at
// all others.
type Gaps struct {
	Dims    int
	targets int
	free    []int64 // target after target
	most    []int64 // the most that any of gapsIn targets in a row has of each
}

// Add adds a target, of which so much is free.
func (x *Gaps) Add(free []int64) {
	if x.targets%gapsIn == 0 {
		x.most = append(x.most, free...)
	}
	most := x.most[len(x.most)-x.Dims:]
	for d, v := range free {
		most[d] = max(most[d], v)
	}
	x.free = append(x.free, free...)
	x.targets++
}

// Clear takes all targets out, and keeps the memory.
func (x *Gaps) Clear() { x.targets, x.free, x.most = 0, x.free[:0], x.most[:0] }

// of returns what is free on a target.
func (x *Gaps) of(target int) []int64 { return x.free[target*x.Dims : (target+1)*x.Dims] }

// Next returns the next target that may have room, from position at on, or n if there is none before that. Targets
// that were not added may have room; so may all of them if x is nil.
func (x *Gaps) Next(at, n int, need []int64) int {
	if x == nil {
		return at
	}
	last := min(n, x.targets)
	if at >= last {
		return at
	}
	for at < last {
		of := at / gapsIn
		if !amount.Fits(x.most[of*x.Dims:], need) {
			at = (of + 1) * gapsIn
			continue
		}
		for end := min(last, (of+1)*gapsIn); at < end; at++ {
			if amount.Fits(x.free[at*x.Dims:], need) {
				return at
			}
		}
	}
	return last
}
