package validate_test

import (
	"testing"

	"github.com/daemok/daemok/kube/api/validate"
)

func TestNearest(t *testing.T) {
	tests := map[string]struct {
		word string
		list []string
		want string
	}{
		"a letter too many":         {"spott", []string{"on-demand", "spot"}, "spot"},
		"a letter too few":          {"m5.larg", []string{"m5.large", "m5.xlarge"}, "m5.large"},
		"a letter changed":          {"us-west-2x", []string{"us-west-2a", "us-west-2b"}, "us-west-2a"},
		"nothing like it":           {"cheap", []string{"on-demand", "spot"}, ""},
		"a short word has one slip": {"ab", []string{"cd", "ac"}, "ac"},
		"nothing to choose from":    {"spot", nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := validate.Nearest(tt.word, tt.list); got != tt.want {
				t.Errorf("Nearest(%q, %q) = %q, want %q", tt.word, tt.list, got, tt.want)
			}
		})
	}
}
