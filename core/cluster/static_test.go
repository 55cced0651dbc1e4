package cluster

import "testing"

// Nodes beyond what a static pool keeps, or what the hours of a pool say, are too many. A limit alone makes none so, nor
// hours that cannot be read.
func TestHowManyNodesAPoolMayKeep(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	tests := map[string]struct {
		pool    Pool
		most    int64
		bounded bool
		says    string
	}{
		"a limit":                   {Pool{Limits: Limits{Nodes: n(3)}}, 0, false, ""},
		"a static pool":             {Pool{Replicas: n(2)}, 2, true, "spec.replicas"},
		"hours":                     {Pool{Hours: Hours{Nodes: n(5)}, Limits: Limits{Nodes: n(5)}}, 5, true, "daemok.sh/hours"},
		"a limit below the hours":   {Pool{Hours: Hours{Nodes: n(5)}, Limits: Limits{Nodes: n(3)}}, 5, true, "limits"},
		"hours of a static pool":    {Pool{Replicas: n(4), Hours: Hours{Nodes: n(4)}}, 4, true, "daemok.sh/hours"},
		"hours that cannot be read": {Pool{Replicas: n(2), Hours: Hours{Unknown: true}}, 0, false, ""},
		"pods decide":               {Pool{}, 0, false, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			most, bounded := tt.pool.Most()
			if most != tt.most || bounded != tt.bounded {
				t.Errorf("it may keep %d (bounded: %v), want %d (%v)", most, bounded, tt.most, tt.bounded)
			}
			if tt.says != "" && tt.pool.SaidBy() != tt.says {
				t.Errorf("that is said by %q, want %q", tt.pool.SaidBy(), tt.says)
			}
		})
	}
}
