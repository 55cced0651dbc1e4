package nodeclaim

import (
	"fmt"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

func TestSpotRequestsNameWhatIsNear(t *testing.T) {
	// list makes types t00, t01, ... of which each costs so much more than the one before.
	list := func(n, step int, unavailable ...int) []cluster.InstanceType {
		var instanceTypes []cluster.InstanceType
		for i := range n {
			mark := ""
			for _, at := range unavailable {
				if at == i {
					mark = "!"
				}
			}
			instanceTypes = append(instanceTypes, instanceType(fmt.Sprintf("t%02d", i), 2000, fmt.Sprintf("%sa spot %d", mark, 100+step*i), "a on-demand 900"))
		}
		return instanceTypes
	}
	for name, tt := range map[string]struct {
		instanceTypes []cluster.InstanceType
		named         int
	}{
		"all that cost less than a third more, however many": {list(40, 1), 31},
		"fifteen where fewer are so near":                    {list(40, 10), 15},
		"all there are where they are fewer":                 {list(9, 50), 9},
		"all where one that is near is sold out":             {list(40, 10, 3), 39},
		"no more for one far away that is sold out":          {list(40, 10, 30), 15},
	} {
		t.Run(name, func(t *testing.T) {
			got := offered(nil, quantity.Resources{CPU: 1000}, tt.instanceTypes)
			if len(got) != tt.named || got[0].Option != cluster.Spot {
				t.Errorf("%d offers named, %v first; want %d spot offers", len(got), got[0], tt.named)
			}
		})
	}
}

func TestSpotRequestsLeaveOutWhatIsLikelyToBeInterrupted(t *testing.T) {
	var instanceTypes []cluster.InstanceType
	for i := range 20 {
		instanceTypes = append(instanceTypes, instanceType(fmt.Sprintf("t%02d", i), 2000, fmt.Sprintf("a spot %d", 100+i), "a on-demand 900"))
	}
	instanceTypes[0].Offerings[0].Risk, instanceTypes[19].Offerings[0].Risk = 0.02, 0.2
	got := offered(nil, quantity.Resources{CPU: 1000}, instanceTypes)
	if len(got) != 19 || got[0].Kind != "t01" || got[7].Kind != "t00" {
		t.Errorf("named %v", got)
	}
}
