package pool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/scenario"
)

func TestHowFarADeletedPoolIs(t *testing.T) {
	const (
		begin = "snapshot 1 2026-11-21T04:00:00Z\npool NodePool/web\n  allow 1 note=\"budget nodes: 1\"\n"
		a     = "node a claim=a-c pool=NodePool/web ready initialized drifted=NodePoolDeleted\n"
		b     = "node b claim=b-c pool=NodePool/web ready initialized drifted=NodePoolDeleted\n"
		going = "node c claim=c-c pool=NodePool/web ready initialized deleting drifted=NodePoolDeleted\n"
		ends  = "node d claim=d-c pool=NodePool/web ready initialized deleting machine-ends drifted=NodePoolDeleted\n"
		fresh = "node e claim=e-c pool=NodePool/web ready drifted=NodePoolDeleted\n"
		other = "node f claim=f-c pool=NodePool/other ready initialized\n"
	)
	homeless := map[string]string{"a": "no place for its pods", "b": "it carries do-not-disrupt"}
	var fifty strings.Builder
	for i := range 50 {
		fmt.Fprintf(&fifty, "node n%02d claim=c%02d pool=NodePool/web ready initialized drifted=NodePoolDeleted\n", i, i)
	}
	tests := map[string]struct {
		world string
		stays map[string]string
		want  string
		stuck bool
	}{
		"before the first plan":    {begin + a + b + other, nil, "nodes left: 2, going: 0, allowed now: 1; about 7m0s left", false},
		"while the budget is used": {begin + a + going, nil, "nodes left: 2, going: 1, allowed now: 0; no more may go: of the 2 nodes of NodePool/web 1 are going or not ready, and no more than 1 may be (budget nodes: 1); about 7m0s left", false},
		"while nothing may go":     {begin + a + "freeze \"frozen: audit\"\n", nil, "nodes left: 1, going: 0, allowed now: 0; no more may go: frozen: audit", true},
		"fifty nodes, a tenth at once": {"snapshot 1 2026-11-21T04:00:00Z\npool NodePool/web boot=90s\n  allow 5 note=\"budget nodes: 10%\"\n" + fifty.String(), nil,
			"nodes left: 50, going: 0, allowed now: 5; about 30m0s left", false},
		"pods without a place":      {begin + a, homeless, "nodes left: 1, going: 0, allowed now: 1; node a stays: no place for its pods", true},
		"more than one that stays":  {begin + a + b, homeless, "nodes left: 2, going: 0, allowed now: 1; node a stays: no place for its pods; others that stay: 1", true},
		"a machine that has to end": {begin + ends, nil, "its last machines end", false},
		"a node that starts":        {begin + fresh, nil, "nodes left: 0, going: 0, allowed now: 1; machines that have not started: 1", false},
		"a machine that starts":     {begin + "machine m pool=NodePool/web launched\n", nil, "nodes left: 0, going: 0, allowed now: 1; machines that have not started: 1", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.Parse(tt.world)
			if err != nil {
				t.Fatal(err)
			}
			got := departureOf(s, cluster.PoolID{Kind: "NodePool", Name: "web"}, func(node string) string { return tt.stays[node] })
			if got.String() != tt.want || got.stuck() != tt.stuck {
				t.Errorf("got  %s, stuck %v\nwant %s, stuck %v", got.String(), got.stuck(), tt.want, tt.stuck)
			}
		})
	}
}
