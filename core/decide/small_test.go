package decide_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/scenario"
)

// TestLargeInstancesAreLaunchedWhereTheyAreClearlyCheaper: of a hundred cores that pods ask for an instance of 32 is a
// third, and most of it is idle once a part of the pods has gone.
func TestLargeInstancesAreLaunchedWhereTheyAreClearlyCheaper(t *testing.T) {
	for name, c := range map[string]struct{ large, limit, want string }{
		"at the same price":                 {"1.60", "", "c8"},
		"a little cheaper":                  {"1.57", "", "c8"},
		"a fifth cheaper":                   {"1.28", "", "c32"},
		"where the pool may have few nodes": {"1.60", "\n  limit nodes=5", "c32"},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			fmt.Fprintf(&text, `catalogue sizes 1
kind c8 cpu=8 memory=64Gi pods=110
  offer a on-demand 0.40
kind c32 cpu=32 memory=256Gi pods=110
  offer a on-demand %s
shape web namespace=default cpu=1 memory=1Gi
pool NodePool/default catalogue=sizes
  labels karpenter.sh/nodepool=default%s
`, c.large, c.limit)
			for i := range 96 {
				fmt.Fprintf(&text, "waiting default/web-%02d shape=web\n", i)
			}
			s, err := scenario.Parse(text.String())
			if err != nil {
				t.Fatal(err)
			}
			p := decide.Decide(s, decide.Policy{}, decide.Usual(s))
			if len(p.Unplaced) > 0 || len(p.Launches) == 0 {
				t.Fatalf("%d kinds of pods are left\n%s", len(p.Unplaced), p)
			}
			for i := range p.Launches {
				if got := p.Launches[i].Choice.Kind; got != c.want {
					t.Errorf("%s is launched, want %s alone", got, c.want)
				}
			}
		})
	}
}
