package brief

import "testing"

func TestAListNamesTheFirstOfMany(t *testing.T) {
	for want, names := range map[string][]string{"": nil, "a": {"a"}, "a, b": {"a", "b"}, "a, b and 1 more": {"a", "b", "c"}} {
		if got := List(names, 2); got != want {
			t.Errorf("of %v it says %q, want %q", names, got, want)
		}
	}
}
