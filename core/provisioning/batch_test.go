package provisioning

import (
	"fmt"
	"testing"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/demand"
)

func TestGroupsThatMayUseOnePoolAreOfOnePart(t *testing.T) {
	for name, test := range map[string]struct {
		pools [][]int // by group
		want  string  // the groups of each part
	}{
		"pools of their own":           {[][]int{{0}, {1}, {0}, {1, 2}}, "[0 2][1 3]"},
		"one pool for all":             {[][]int{{0, 3}, {1, 3}, {2, 3}}, "[0 1 2]"},
		"a group that joins two parts": {[][]int{{0}, {1}, {2}, {0}, {1, 0}, {2}}, "[0 1 3 4][2 5]"},
		"two that join three":          {[][]int{{0}, {1}, {2}, {1, 2}, {2, 0}}, "[0 1 2 3 4]"},
		"no pool":                      {[][]int{{}, {0}, {}}, "[0][1][2]"},
		"none":                         {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var groups []*demand.Group
			var pools []bitset.Set
			for i, of := range test.pools {
				groups, pools = append(groups, &demand.Group{At: i}), append(pools, bitset.New(4))
				for _, pool := range of {
					pools[i].Add(pool)
				}
			}
			got := ""
			for _, p := range divide(groups, pools) {
				var at []int
				for _, g := range p.groups {
					at = append(at, g.At)
				}
				got += fmt.Sprint(at)
			}
			if got != test.want {
				t.Errorf("parts %s, want %s", got, test.want)
			}
		})
	}
}
