package gates_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/daemok/daemok/internal/gates"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		list string
		want map[string]bool
	}{
		"nothing":                    {"", map[string]bool{}},
		"two switches":               {"A=true,B=false", map[string]bool{"A": true, "B": false}},
		"spaces and an empty part":   {" A = true ,, ", map[string]bool{"A": true}},
		"the last of several counts": {"A=true,A=false", map[string]bool{"A": false}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := gates.Parse(tt.list); err != nil || !maps.Equal(got, tt.want) {
				t.Errorf("Parse(%q) = %v, %v; want %v", tt.list, got, err, tt.want)
			}
		})
	}
	for _, list := range []string{"A", "A=maybe", "=true"} {
		if got, err := gates.Parse(list); err == nil || !strings.Contains(err.Error(), list) {
			t.Errorf("Parse(%q) = %v, %v; want an error that names it", list, got, err)
		}
	}
}
