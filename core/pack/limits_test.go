package pack_test

import (
	"math/rand/v2"
	"testing"

	"github.com/daemok/daemok/core/pack"
)

// TestALimitOutOfReachChangesNothing solves batches with a limit that one instance for each pod
// would keep to, whichever, and without it.
func TestALimitOutOfReachChangesNothing(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 12))
		l, pods := randomBatch(r, 20, 12), int64(0)
		l.Limits = nil
		tied := pack.Batch{Groups: l.Groups}
		for i := range l.Offerings {
			l.Offerings[i].Takes = nil
			tied.Offerings = append(tied.Offerings, takes(l.Offerings[i], 1+r.Int64N(9)))
		}
		for i := range l.Groups {
			pods += l.Groups[i].Count
		}
		if with, without := text(pack.Solve(limited(tied, 9*pods), 60_000)), text(pack.Solve(l, 60_000)); with != without {
			t.Errorf("seed %d: with a limit %q, without %q", seed, with, without)
		}
	}
}

// TestFewPodsGetTheCheapestInstancesWithinALimit: all pods of the first group go on a large instance
// with some of the second, whatever is left of the limit then.
func TestFewPodsGetTheCheapestInstancesWithinALimit(t *testing.T) {
	own := offerings(takes(offering(1666, 7250, 32), 32), takes(offering(1266, 3250, 8), 8), takes(offering(863, 3250, 8), 8))
	l := batch(own, group(7, 200, 3), group(4, 1500, 0))
	l.Groups[0].Offerings = l.Groups[0].Offerings.Clone()
	l.Groups[0].Offerings.Remove(2)
	for limit, want := range map[int64]float64{1000: 2529, 56: 2529, 40: 2529} {
		got := pack.Solve(limited(l, limit), 1_000_000)
		if why := broken(limited(l, limit), got); why != "" || cost(l, got) != want {
			t.Errorf("limit %d: cost %g, want %g %s", limit, cost(l, got), want, why)
		}
	}
}

// TestALimitThatTheAnswerKeepsToCostsNothing: many pods, of which instances that cost as much as
// the first answer cannot exceed the limit.
func TestALimitThatTheAnswerKeepsToCostsNothing(t *testing.T) {
	for seed := range uint64(40) {
		l := randomBatch(rand.New(rand.NewPCG(seed, 13)), 8, 40)
		l.Limits = nil
		tied := pack.Batch{Groups: l.Groups}
		for i, o := range l.Offerings {
			l.Offerings[i].Takes = nil
			tied.Offerings = append(tied.Offerings, takes(o, o.Free[0]))
		}
		least := int64(0)
		without := pack.Solve(l, 400_000)
		for _, m := range without {
			least += l.Offerings[m.Offering].Free[0]
		}
		with := pack.Solve(limited(tied, 2*least), 400_000)
		if cost(l, with) > cost(l, without)*1.001 {
			t.Errorf("seed %d: %g with a limit, %g without", seed, cost(l, with), cost(l, without))
		}
	}
}
