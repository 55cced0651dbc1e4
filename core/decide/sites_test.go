package decide_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/scenario"
)

// TestManyFollowersDecideTheZone: an instance for their leader alone is cheaper in zone b, where
// instances for all cost nearly twice as much. A catalogue with many instance types that no pod
// wants, and followers that all ask for something else, make no difference.
func TestManyFollowersDecideTheZone(t *testing.T) {
	for phrase, c := range map[string]struct{ followers, sizes int }{
		"three hundred that are alike":        {300, 1},
		"two thousand that are alike":         {2000, 1},
		"three hundred of which no two are":   {300, 300},
		"two thousand of a thousand sizes":    {2000, 1000},
		"five thousand of two hundred sizes":  {5000, 200},
		"four hundred of as many as count":    {400, 63},
		"four hundred of one more than count": {400, 65},
	} {
		t.Run(phrase, func(t *testing.T) {
			s, err := scenario.Parse(followed(c.followers, c.sizes))
			if err != nil {
				t.Fatal(err)
			}
			made := decide.Decide(s, decide.Policy{}, decide.Quick())
			if len(made.Unplaced) > 0 || made.Exhausted {
				t.Fatalf("unplaced: %v, exhausted: %v", made.Unplaced, made.Exhausted)
			}
			zones := map[string]int{}
			for _, l := range made.Launches {
				zones[l.Choice.Zone]++
			}
			if zones["b"] > 0 {
				t.Errorf("machines by zone: %v, want none in b", zones)
			}
		})
	}
}

// followed is pods of so many sizes that must be near another one, in two zones.
func followed(followers, sizes int) string {
	var b strings.Builder
	b.WriteString("catalogue isle 1\nkind c2 cpu=1900m memory=8Gi pods=30\n  offer b on-demand 0.0539\n")
	b.WriteString("kind c4 cpu=3900m memory=16Gi pods=60\n  offer c on-demand 0.0583\n")
	for i := range 200 { // expensive ones, of which none has all that another has
		fmt.Fprintf(&b, "kind x%d cpu=%dm memory=%dGi pods=60\n  offer b on-demand %.2f\n  offer c on-demand %.2f\n",
			i, 4000+50*i, 20+i, 1+0.01*float64(i), 1+0.01*float64(i))
	}
	b.WriteString("shape web namespace=d cpu=800m\n  labels app=web\nwaiting d/web shape=web\n")
	for i := range sizes {
		fmt.Fprintf(&b, "shape api%d namespace=d cpu=%dm memory=%dMi\n  near topology.kubernetes.io/zone\n    select app In web\n", i, 600+i%200, 64+i)
		fmt.Fprintf(&b, "waiting d/api%d shape=api%d count=%d\n", i, i, max(2, followers/sizes))
	}
	b.WriteString("pool NodePool/pa catalogue=isle\n")
	return b.String()
}
