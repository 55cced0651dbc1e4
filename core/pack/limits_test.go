package pack_test

import (
	"math/rand/v2"
	"testing"

	"github.com/daemok/daemok/core/pack"
	"github.com/daemok/daemok/core/place"
)

// TestALimitOutOfReachChangesNothing solves batches with a limit that one machine
// for each pod would keep to, whichever, and without it.
func TestALimitOutOfReachChangesNothing(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 12))
		l, pods := randomBatch(r, 20, 12), int64(0)
		l.Limits = nil
		tied := place.Batch{Rows: l.Rows}
		for i := range l.Offers {
			l.Offers[i].Takes = nil
			tied.Offers = append(tied.Offers, takes(l.Offers[i], 1+r.Int64N(9)))
		}
		for i := range l.Rows {
			pods += l.Rows[i].Count
		}
		if with, without := text(pack.Solve(limited(tied, 9*pods), 60_000)), text(pack.Solve(l, 60_000)); with != without {
			t.Errorf("seed %d: with a limit %q, without %q", seed, with, without)
		}
	}
}

// TestFewPodsGetTheCheapestMachinesWithinALimit: all pods of the first row go on a
// large machine with some of the second, whatever is left of the limit then.
func TestFewPodsGetTheCheapestMachinesWithinALimit(t *testing.T) {
	own := offers(takes(offer(1666, 7250, 32), 32), takes(offer(1266, 3250, 8), 8), takes(offer(863, 3250, 8), 8))
	l := batch(own, row(7, 200, 3), row(4, 1500, 0))
	l.Rows[0].Offers = l.Rows[0].Offers.Clone()
	l.Rows[0].Offers.Remove(2)
	for limit, want := range map[int64]float64{1000: 2529, 56: 2529, 40: 2529} {
		got := pack.Solve(limited(l, limit), 1_000_000)
		if why := broken(limited(l, limit), got); why != "" || cost(l, got) != want {
			t.Errorf("limit %d: cost %g, want %g %s", limit, cost(l, got), want, why)
		}
	}
}

// TestALimitThatTheAnswerKeepsToCostsNothing: many pods, of which machines that
// cost as much as the first answer cannot exceed the limit.
func TestALimitThatTheAnswerKeepsToCostsNothing(t *testing.T) {
	for seed := range uint64(40) {
		l := randomBatch(rand.New(rand.NewPCG(seed, 13)), 8, 40)
		l.Limits = nil
		tied := place.Batch{Rows: l.Rows}
		for i, o := range l.Offers {
			l.Offers[i].Takes = nil
			tied.Offers = append(tied.Offers, takes(o, o.Free[0]))
		}
		least := int64(0)
		without := pack.Solve(l, 400_000)
		for _, m := range without {
			least += l.Offers[m.Offer].Free[0]
		}
		with := pack.Solve(limited(tied, 2*least), 400_000)
		if cost(l, with) > cost(l, without)*1.001 {
			t.Errorf("seed %d: %g with a limit, %g without", seed, cost(l, with), cost(l, without))
		}
	}
}
