package drift

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
)

// What is foretold of a claim is what would be found of it.
func TestForetell(t *testing.T) {
	tests := map[string]struct {
		change func(*yard)
		want   string
	}{
		"nothing while nothing differs":          {func(*yard) {}, ""},
		"requirements":                           {func(y *yard) { y.pool.Spec.Template.Spec.Requirements[0].Values = []string{"b"} }, "RequirementsDrifted"},
		"the image":                              {func(y *yard) { y.instances[0].Image = "ami-old" }, "AMIDrift"},
		"nothing of a machine that is not known": {func(y *yard) { y.instances = nil }, ""},
		"a type that is not sold, though it was missed just now": {func(y *yard) { y.instanceTypes[0].Name = "m6.large" }, "InstanceTypeNotFound"},
		"and not what was found before":                          {func(y *yard) { y.drifted("AMIDrift") }, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			y := newYard()
			tt.change(y)
			reason, text := Predict(Prospect{y.claim, translate.FromNodePool(y.pool), y.class,
				&cluster.Catalogue{InstanceTypes: y.instanceTypes}, y.instances}, y.now)
			if reason != tt.want || (text == "") != (reason == "") {
				t.Errorf("Foretell = %s: %s, want %q", reason, text, tt.want)
			}
		})
	}
}
