package rights

import (
	"slices"
	"strings"
	"testing"
)

// Shadow mode has rights to read alone, each of which the controller has too, and they fit into one managed policy.
func TestTheRightsOfShadowModeRead(t *testing.T) {
	s := prod(Features()...)
	s.Partition, s.Region, s.Cluster = "aws-us-gov", "ap-southeast-99", strings.Repeat("n", 100)
	parts := Shadow(s)
	if len(parts) != 1 || parts[0].Document().Characters() > ManagedMax {
		t.Fatalf("%d parts, want one that fits into a managed policy", len(parts))
	}
	var granted []string
	for _, g := range parts[0].Grants {
		granted = append(granted, g.Actions...)
	}
	slices.Sort(granted)
	if want := slices.Sorted(slices.Values(shadowed)); !slices.Equal(granted, want) {
		t.Errorf("granted are\n%v\nwant\n%v", granted, want)
	}
	for _, action := range granted {
		_, verb, _ := strings.Cut(action, ":")
		if !slices.ContainsFunc([]string{"Describe", "Get", "List"},
			func(reads string) bool { return strings.HasPrefix(verb, reads) }) {
			t.Errorf("%s does not read", action)
		}
		if !slices.Contains(Actions(), action) {
			t.Errorf("the controller has no right to %s", action)
		}
	}
}
