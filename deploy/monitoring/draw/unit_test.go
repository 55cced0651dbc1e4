package main

import "testing"

// Values are written as Grafana writes them.
func TestFormat(t *testing.T) {
	tests := map[string]struct {
		unit  string
		value float64
		want  string
	}{
		"dollars":               {"currencyUSD", 1.234, "$1.23"},
		"thousands of dollars":  {"currencyUSD", 12340, "$12.3 K"},
		"dollars that are owed": {"currencyUSD", -0.5, "-$0.5"},
		"a share":               {"percentunit", 0.256, "25.6%"},
		"percents":              {"percent", 60, "60%"},
		"memory":                {"bytes", 3 << 29, "1.5 GiB"},
		"milliseconds":          {"s", 0.0125, "12.5 ms"},
		"minutes":               {"s", 90, "1.5 min"},
		"no time":               {"s", 0, "0 s"},
		"behind":                {"s", -180, "-3 min"},
		"a rate":                {"ops", 0.25, "0.25 ops/s"},
		"a count":               {"short", 12000, "12 K"},
		"half of one":           {"short", 0.5, "0.5"},
		"no":                    {"bool_yes_no", 0, "No"},
		"yes":                   {"bool_yes_no", 1, "Yes"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := format(tt.unit, tt.value); got != tt.want {
				t.Errorf("format(%s, %v) = %q, want %q", tt.unit, tt.value, got, tt.want)
			}
		})
	}
}
