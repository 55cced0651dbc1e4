package removal

import (
	"testing"

	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/scenario"
)

// What may be paid for instances in place of a node is compared with their prices:
// that they are likely to be interrupted makes them no more expensive.
func TestWhatInterruptionsCostIsNotPaid(t *testing.T) {
	s, err := scenario.Parse(`shape web namespace=default cpu=1500m memory=1Gi
catalogue many 1
kind k00 cpu=2 memory=8Gi pods=20
  offer a spot 0.05 risk=0.1
pool NodePool/default catalogue=many
  require karpenter.sh/capacity-type In spot
node old pool=NodePool/default ready initialized price=0.09
  capacity cpu=2 memory=8Gi pods=20
  allocatable cpu=2 memory=8Gi pods=20
  pod default/web shape=web returns
`)
	if err != nil {
		t.Fatal(err)
	}
	g := New(s, Taken{}, place.Options{})
	for below, expensive := range map[float64]bool{0.06: false, 0.04: true} {
		got := g.Ask(Question{Leave: []int{0}, Below: quantity.MicroUSDPerHour(below * 1e6)})
		if got.Expensive != expensive || !expensive && (len(got.Launches) != 1 || got.Cost <= got.Cost-got.Risk) {
			t.Errorf("below $%v/h: expensive %v, %d launches, cost %v of which risk %v", below, got.Expensive, len(got.Launches), got.Cost, got.Risk)
		}
	}
}
