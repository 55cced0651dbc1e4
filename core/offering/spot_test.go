package offering

import (
	"fmt"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

func TestSpotRequestsNameWhatIsNear(t *testing.T) {
	// list makes types t00, t01, ... of which each costs so much more than the one before.
	list := func(n, step int, unavailable ...int) []cluster.InstanceType {
		var kinds []cluster.InstanceType
		for i := range n {
			mark := ""
			for _, at := range unavailable {
				if at == i {
					mark = "!"
				}
			}
			kinds = append(kinds, kind(fmt.Sprintf("t%02d", i), 2000, fmt.Sprintf("%sa spot %d", mark, 100+step*i), "a on-demand 900"))
		}
		return kinds
	}
	for name, tt := range map[string]struct {
		kinds []cluster.InstanceType
		named int
	}{
		"all that cost less than a third more, however many": {list(40, 1), 31},
		"fifteen where fewer are so near":                    {list(40, 10), 15},
		"all there are where they are fewer":                 {list(9, 50), 9},
		"all where one that is near is sold out":             {list(40, 10, 3), 39},
		"no more for one far away that is sold out":          {list(40, 10, 30), 15},
	} {
		t.Run(name, func(t *testing.T) {
			got := named(nil, quantity.Resources{CPU: 1000}, tt.kinds)
			if len(got) != tt.named || got[0].Offering.Option != cluster.Spot {
				t.Errorf("%d offerings named, %v first; want %d spot offers", len(got), got[0], tt.named)
			}
		})
	}
}

func TestSpotRequestsLeaveOutWhatIsLikelyToBeInterrupted(t *testing.T) {
	var kinds []cluster.InstanceType
	for i := range 20 {
		kinds = append(kinds, kind(fmt.Sprintf("t%02d", i), 2000, fmt.Sprintf("a spot %d", 100+i), "a on-demand 900"))
	}
	kinds[0].Offerings[0].Risk, kinds[19].Offerings[0].Risk = 0.02, 0.2
	got := named(nil, quantity.Resources{CPU: 1000}, kinds)
	if types := typesOf(got); len(types) != 19 || slices.Contains(types, "t19") {
		t.Errorf("named %v", types)
	}
}
