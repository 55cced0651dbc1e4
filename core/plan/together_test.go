package plan

import (
	"slices"
	"testing"

	"github.com/daemok/daemok/core/cluster"
)

// Pools with one reason are reported together: three by name, wherever they stand.
func TestPoolsWithOneReasonAreReportedTogether(t *testing.T) {
	of := func(pool, text string) Reason {
		return Reason{Pool: cluster.PoolID{Kind: "NodePool", Name: pool}, Text: text}
	}
	tests := map[string]struct {
		reasons []Reason
		want    []string
	}{
		"apart":        {[]Reason{of("a", "x"), of("b", "y"), of("c", "z"), of("d", "w"), of("e", "x")}, []string{"NodePool/a, NodePool/e: x", "NodePool/b: y", "NodePool/c: z", "NodePool/d: w"}},
		"side by side": {[]Reason{of("a", "x"), of("b", "x"), of("c", "x"), of("d", "x"), of("e", "x")}, []string{"NodePool/a, NodePool/b, NodePool/c and 2 more: x"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (Unplaced{Reasons: tt.reasons}).together(); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
