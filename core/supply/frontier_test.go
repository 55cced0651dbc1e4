package supply

import (
	"math/rand/v2"
	"testing"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/internal/chance"
)

// Whatever is left out, an option of the same zone is kept that costs no more and has as much of all that is asked for.
// Nothing is kept to which a cheaper option that is kept is preferable.
func TestTheFrontierKeepsWhatNoOtherOptionIsPreferableTo(t *testing.T) {
	left, kept := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 53))
		s := chance.Inhabited(r)
		for _, b := range candidatesOf(s) {
			asked := make([]bool, len(b.Valuation.Worth))
			for i := range asked {
				asked[i] = r.IntN(2) == 0
			}
			preferable := func(x, y int) bool {
				return b.Offering(b.Options[x]).Zone == b.Offering(b.Options[y]).Zone && b.IsSpot(x) == b.IsSpot(y) &&
					b.Price[x]+b.RiskOf(x) <= b.Price[y]+b.RiskOf(y) && b.asModest(x, y) &&
					amount.Covers(of(b.Free[b.Options[x].Kind], asked), of(b.Free[b.Options[y].Kind], asked))
			}
			special := func(x int) bool {
				return b.creditOf(b.Options[x].Kind) != nil || len(b.Offering(b.Options[x]).ReservedCapacities) > 0
			}
			frontier, ways := b.Frontier([]bitset.Set{b.AvailableNow}, asked), b.paymentsIn(b.AvailableNow, asked)
			for y := b.AvailableNow.Next(0); y >= 0; y = b.AvailableNow.Next(y + 1) {
				instead := -1
				for x := frontier.Next(0); x >= 0; x = frontier.Next(x + 1) {
					if x != y && preferable(x, y) && ways(x) == ways(y) {
						instead = x
					}
				}
				switch {
				case !frontier.Has(y):
					if left++; instead < 0 {
						t.Fatalf("seed %d: option %d of %s is left out, and none is preferable to it", seed, y, b.ID)
					}
				case instead >= 0 && !special(y) && !special(instead) && b.Price[instead]+b.RiskOf(instead) < b.Price[y]+b.RiskOf(y):
					t.Fatalf("seed %d: options %d and %d of %s are kept, and the latter is preferable", seed, y, instead, b.ID)
				default:
					kept++
				}
			}
		}
	}
	if left < 200 || kept < 200 {
		t.Errorf("%d options were left out and %d kept: too few to say anything", left, kept)
	}
}

// candidatesOf returns the pools of the snapshot that have options, valued by usual worths of resources.
func candidatesOf(s *cluster.Snapshot) []*Candidate {
	ready, dims := Prepare(s), amount.Of(s.Waiting)
	worth := make([]float64, dims.Len())
	worth[amount.CPU], worth[amount.Memory] = 30, 4e-6
	limits := LimitsOf(s)
	var out []*Candidate
	for i, p := range ready.ForPools() {
		if p.Catalogue == nil || len(p.Options) == 0 {
			continue
		}
		b := NewCandidate(p, dims, ready, i, nil, limits)
		b.Valuation = &Valuation{Worth: worth}
		b.SetYields()
		out = append(out, b)
	}
	return out
}

// An option that both of two sets have stays, although each of the sets has a cheaper one that is as large: instances of
// it alone may have pods of both.
func TestTheFrontierKeepsWhatSeveralSetsShare(t *testing.T) {
	s := &cluster.Snapshot{Pools: []cluster.Pool{{ID: cluster.PoolID{Kind: "NodePool", Name: "p"}, Catalogue: &cluster.Catalogue{}}}}
	for i, name := range []string{"x", "y", "z"} {
		s.Pools[0].Catalogue.InstanceTypes = append(s.Pools[0].Catalogue.InstanceTypes, cluster.InstanceType{
			Name: name, Capacity: quantity.Resources{CPU: 4000, Memory: 8 * quantity.GiB, Pods: 10}, Allocatable: quantity.Resources{CPU: 4000, Memory: 8 * quantity.GiB, Pods: 10},
			Offerings: []cluster.Offering{{Zone: "a", Option: cluster.OnDemand, Available: true, Priced: true, Price: quantity.MicroUSDPerHour(100_000 + 1000*i)}},
		})
	}
	b := candidatesOf(s)[0]
	withX, withY := bitset.New(3), bitset.New(3)
	for _, i := range []int{0, 2} {
		withX.Add(i)
		withY.Add(i/2 + 1)
	}
	asked := []bool{true, true, true, true}
	if got := b.Frontier([]bitset.Set{withX, withY}, asked).Count(); got != 3 {
		t.Errorf("%d of three options are kept", got)
	}
	if got := b.Frontier([]bitset.Set{withX}, asked); got.Count() != 1 || !got.Has(0) {
		t.Errorf("of one set, %v is kept, want the cheapest alone", got)
	}
}
