package controller

import (
	"testing"

	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/translate"
)

// Settings of a Provisioner's kubelet that instances do not take are reported once, by the
// family that they are of in effect: that of the template, or one in place of AL2.
func TestSettingsThatKubeletsDoNotTake(t *testing.T) {
	inline := func(family *awsv1alpha1.AMIFamily) *awsv1alpha1.Provider {
		return &awsv1alpha1.Provider{AWS: awsv1alpha1.AWS{AMIFamily: family}}
	}
	tests := map[string]struct {
		provider *awsv1alpha1.Provider
		family   string
		warnings int
	}{
		"of a template of Bottlerocket":         {nil, "Bottlerocket", 2},
		"of a template of AL2":                  {nil, "AL2", 1},
		"of AL2023, where there is no AL2":      {nil, "AL2023", 0},
		"inline, where a family is not written": {inline(nil), "AL2", 1},
		"inline, told of with the spec":         {inline(new(awsv1alpha1.FamilyBottlerocket)), "Bottlerocket", 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g := Provisioners(translate.Generation{})
			p := &v1alpha5.Provisioner{}
			p.Spec.Provider = tt.provider
			p.Spec.KubeletConfiguration = &v1alpha5.KubeletConfiguration{ClusterDNS: []string{"10.0.0.10", "10.0.0.11"}, PodsPerCore: new(int32(4))}
			warnings := 0
			for _, f := range append(g.Validate(p), g.Fits(p, tt.family)...) {
				if f.Warning {
					warnings++
				}
			}
			if warnings != tt.warnings {
				t.Errorf("%d warnings, want %d: %v %v", warnings, tt.warnings, g.Validate(p), g.Fits(p, tt.family))
			}
		})
	}
}
