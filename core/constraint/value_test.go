package constraint_test

import (
	"strings"
	"testing"

	"github.com/daemok/daemok/core/constraint"
)

func TestValuesThatLabelsMayHave(t *testing.T) {
	tests := map[string]struct {
		value string
		want  bool
	}{
		"none":                {"", true},
		"a word":              {"blue", true},
		"all characters":      {"a-B_9.z", true},
		"as long as may be":   {strings.Repeat("x", 63), true},
		"a character more":    {strings.Repeat("x", 64), false},
		"a space":             {"team blue", false},
		"a slash":             {"team/blue", false},
		"a sign at the front": {"-1", false},
		"a full stop behind":  {"v1.", false},
		"letters of others":   {"blå", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := constraint.IsValue(tt.value); got != tt.want {
				t.Errorf("IsValue(%q) = %v, want %v", tt.value, got, tt.want)
			}
		})
	}
}

func TestSetsKeepWhatLabelsMayHave(t *testing.T) {
	set := func(op constraint.Operator, values ...string) constraint.Set {
		out, err := constraint.NewSet(op, values...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	tests := map[string]struct {
		set  constraint.Set
		want string
	}{
		"good values stay":          {set(constraint.In, "a", "b"), "in a,b"},
		"bad ones go":               {set(constraint.In, "a", "b c"), "in a"},
		"none may be left":          {set(constraint.In, "b c"), "nothing"},
		"exceptions that never are": {set(constraint.NotIn, "b c"), "anything"},
		"more than less than zero":  {set(constraint.Gt, "-5"), "gte 0"},
		"less than zero":            {set(constraint.Lt, "0"), "gte 0 lte -1"},
		"less than something":       {set(constraint.Lt, "8"), "lte 7"},
		"all but the least":         {set(constraint.Lt, "2").Intersect(set(constraint.NotIn, "0")), "gte 0 lte 1 notin 0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := tt.set.Possible()
			if got.String() != tt.want {
				t.Errorf("%s.Possible() = %s, want %s", tt.set, got, tt.want)
			}
			if value, ok := got.Any(); ok && !constraint.IsValue(value) {
				t.Errorf("%s.Possible() has %q, which no label may have", tt.set, value)
			}
		})
	}
}
