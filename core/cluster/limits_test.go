package cluster

import "testing"

// Dollars of a limit have the places that people count with, and no amount is shown as nothing.
func TestFormatLimit(t *testing.T) {
	tests := map[string]struct {
		name   string
		amount int64
		want   string
	}{
		"cores":                 {"cpu", 16_000, "16"},
		"nodes":                 {LimitNodes, 3, "3"},
		"dollars":               {LimitCost, 12_500_000, "$12.500/h"},
		"rounded up":            {LimitCost, 98_692, "$0.099/h"},
		"nothing":               {LimitCost, 0, "$0.000/h"},
		"less than half a mill": {LimitCost, 499, "$0.000499/h"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := FormatLimit(tt.name, tt.amount); got != tt.want {
				t.Errorf("FormatLimit(%q, %d) = %q, want %q", tt.name, tt.amount, got, tt.want)
			}
		})
	}
}
