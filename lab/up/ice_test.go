package up

import (
	"testing"

	"github.com/daemok/daemok/cloud/market"
	"github.com/daemok/daemok/lab/control"
)

func TestMatchingPools(t *testing.T) {
	kinds := []market.Kind{{Name: "c5.large", Zones: []string{"a", "b"}}, {Name: "m5.large", Zones: []string{"a"}}}
	tests := map[string]struct {
		order control.Ice
		want  int
	}{
		"one type everywhere":        {control.Ice{Kind: "c5.large", Zone: "*", Option: "*"}, 4},
		"one zone":                   {control.Ice{Kind: "*", Zone: "b", Option: "*"}, 2},
		"one way to pay":             {control.Ice{Kind: "*", Zone: "*", Option: "spot"}, 3},
		"a family":                   {control.Ice{Kind: "m5.*", Zone: "*", Option: "*"}, 2},
		"nothing of an unknown type": {control.Ice{Kind: "x9.huge", Zone: "*", Option: "*"}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := matching(kinds, tt.order)
			if err != nil || len(got) != tt.want {
				t.Errorf("matching(%+v) = %v, %v; want %d pools", tt.order, got, err, tt.want)
			}
		})
	}
	if _, err := matching(kinds, control.Ice{Kind: "[", Zone: "*", Option: "*"}); err == nil {
		t.Error("a pattern that is none was taken")
	}
}
