package validate_test

import (
	"slices"
	"testing"

	"github.com/daemok/daemok/kube/api/validate"
)

func TestRefusalNamesEveryMistake(t *testing.T) {
	wrong := validate.Finding{Field: "spec.start", Text: "is no time"}
	other := validate.Finding{Field: "spec.nodes", Text: "is no number"}
	doubtful := validate.Finding{Field: "spec.replicas", Text: "does nothing yet", Warning: true}
	tests := map[string]struct {
		found []validate.Finding
		want  string
	}{
		"and nothing where there is none": {nil, ""},
		"and no doubts":                   {[]validate.Finding{doubtful}, ""},
		"in the order of the fields":      {[]validate.Finding{wrong, doubtful, other}, "spec.start: is no time; spec.nodes: is no number"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := validate.Refusal(tt.found); got != tt.want {
				t.Errorf("Refusal(%v) = %q, want %q", tt.found, got, tt.want)
			}
		})
	}
	few, many := validate.Refusal(slices.Repeat([]validate.Finding{wrong}, 20)), validate.Refusal(slices.Repeat([]validate.Finding{wrong}, 23))
	if want := few + "; and 3 more"; many != want {
		t.Errorf("of 23 mistakes it names\n%s, want\n%s", many, want)
	}
}
