package nearest_test

import (
	"testing"

	"github.com/daemok/daemok/internal/nearest"
)

func TestWord(t *testing.T) {
	tests := map[string]struct {
		word string
		list []string
		want string
	}{
		"a letter too many":         {"spott", []string{"on-demand", "spot"}, "spot"},
		"a letter too few":          {"m5.larg", []string{"m5.large", "m5.xlarge"}, "m5.large"},
		"a letter changed":          {"us-west-2x", []string{"us-west-2a", "us-west-2b"}, "us-west-2a"},
		"capitals":                  {"nodeclasscel", []string{"NodeClassCEL"}, "NodeClassCEL"},
		"nothing like it":           {"cheap", []string{"on-demand", "spot"}, ""},
		"a short word has one slip": {"ab", []string{"cd", "ac"}, "ac"},
		"nothing to choose from":    {"spot", nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := nearest.Word(tt.word, tt.list); got != tt.want {
				t.Errorf("Word(%q, %q) = %q, want %q", tt.word, tt.list, got, tt.want)
			}
		})
	}
}
