package nodeclass

import (
	"strings"
	"testing"
)

// formWith is a form of a plain instance, with what spot ones and those with few pods have otherwise.
func formWith(change func(*LaunchForm)) LaunchForm {
	f := LaunchForm{Base: map[string]string{"hops": "1", "pods": "58", "volume": "20"}}
	f.Vary(VariantSpot, map[string]string{"hops": "1", "pods": "58", "volume": "20", "requests": "tagged"})
	f.Vary(VariantFewPods, map[string]string{"hops": "1", "pods": "11", "volume": "20"})
	if change != nil {
		change(&f)
	}
	return f
}

// A node is compared with what new nodes of its own variants get: changes of other variants are none to it, and what is
// the same for all counts for each.
func TestNodesAreComparedWithNewOnesOfTheirVariants(t *testing.T) {
	tests := map[string]struct {
		change           func(*LaunchForm)
		plain, spot, few string // what differs for such nodes
		all              string
	}{
		"nothing":                     {nil, "", "", "", ""},
		"every hop limit":             {func(f *LaunchForm) { f.Base["hops"] = "2" }, "hops", "hops", "hops", "hops"},
		"requests of spot":            {func(f *LaunchForm) { f.Variants[VariantSpot]["requests"] = "plain" }, "", "requests (spot)", "", "requests (spot)"},
		"few pods":                    {func(f *LaunchForm) { f.Variants[VariantFewPods]["pods"] = "8" }, "", "", "pods (few pods)", "pods (few pods)"},
		"pods of plain ones":          {func(f *LaunchForm) { f.Base["pods"] = "110" }, "pods", "pods", "", "pods"},
		"spot ones alone lack it":     {func(f *LaunchForm) { f.Variants[VariantSpot]["volume"] = "" }, "", "volume (spot)", "", "volume (spot)"},
		"all but spot ones":           {func(f *LaunchForm) { f.Base["hops"], f.Variants[VariantSpot]["hops"] = "2", "1" }, "hops", "", "hops", "hops"},
		"a variant that is new":       {func(f *LaunchForm) { f.Variants["liquid"] = map[string]string{"hops": "9"} }, "", "", "", ""},
		"a variant that is not known": {func(f *LaunchForm) { delete(f.Variants, VariantSpot) }, "", "", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before, after := formWith(nil), formWith(tt.change)
			for of, want := range map[string]string{"": tt.plain, VariantSpot: tt.spot, VariantFewPods: tt.few} {
				if got := named(before.For(after, []string{of})); got != want {
					t.Errorf("for nodes of variant %q differs %q, want %q", of, got, want)
				}
			}
			if got := named(before.All(after)); got != tt.all {
				t.Errorf("in all differs %q, want %q", got, tt.all)
			}
		})
	}
}

// Nodes of several variants have what each of them says.
func TestANodeMayBeOfSeveralVariants(t *testing.T) {
	after := formWith(func(f *LaunchForm) {
		f.Base["pods"], f.Base["hops"] = "110", "2"
		f.Variants[VariantSpot]["requests"] = "plain"
	})
	d := formWith(nil).For(after, []string{VariantFewPods, VariantSpot})
	if got := named(d); got != "hops, requests (spot)" {
		t.Errorf("it differs in %q", got)
	}
}

func named(d []Difference) string {
	var out []string
	for _, one := range d {
		out = append(out, one.Named())
	}
	return strings.Join(out, ", ")
}
