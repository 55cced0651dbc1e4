package api_test

import (
	"testing"

	"github.com/daemok/daemok/kube/api"
)

func TestIsRestricted(t *testing.T) {
	tests := map[string]struct {
		key  string
		want bool
	}{
		"a label of one's own":                  {"example.com/team", false},
		"a label without a domain":              {"team", false},
		"a well-known label":                    {api.LabelZone, false},
		"a well-known label of karpenter.sh":    {api.LabelCapacityType, false},
		"a well-known label of AWS":             {api.LabelFamily, false},
		"the class":                             {api.LabelNodeClass, false},
		"another label of karpenter.sh":         {api.LabelInitialized, true},
		"an invented label of AWS":              {"karpenter.k8s.aws/mine", true},
		"a label below karpenter.sh":            {"sub.karpenter.sh/mine", true},
		"a domain that only ends alike":         {"mykarpenter.sh/mine", false},
		"the host name":                         {api.LabelHostname, true},
		"a label of kubernetes.io":              {"kubernetes.io/custom", false},
		"a label of a domain below k8s.io":      {"kops.k8s.io/instancegroup", false},
		"an older name of a well-known label":   {"beta.kubernetes.io/arch", false},
		"a name that is a domain":               {"karpenter.sh", false},
		"the zone by id, in no reserved domain": {api.LabelZoneID, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := api.IsRestricted(tt.key); got != tt.want {
				t.Errorf("IsRestricted(%q) = %v, want %v", tt.key, got, tt.want)
			}
		})
	}
}

func TestIsRestrictedToProvisioner(t *testing.T) {
	tests := map[string]struct {
		key  string
		want bool
	}{
		"a label of one's own":                    {"example.com/team", false},
		"a label without a domain":                {"team", false},
		"a label that describes machines":         {api.LabelFamily, false},
		"a label that only older machines have":   {api.LabelInstancePods, false},
		"the capacity type":                       {api.LabelCapacityType, false},
		"the Provisioner itself":                  {api.LabelProvisioner, true},
		"a pool of the newer generation":          {api.LabelNodePool, true},
		"the class of the newer generation":       {api.LabelNodeClass, true},
		"a capacity reservation":                  {api.LabelReservationID, true},
		"the host name":                           {api.LabelHostname, true},
		"a label of kubernetes.io":                {"kubernetes.io/custom", true},
		"the role of a node":                      {"node-role.kubernetes.io/web", true},
		"a label of node.kubernetes.io":           {"node.kubernetes.io/custom", false},
		"a domain below node.kubernetes.io":       {"sub.node.kubernetes.io/custom", true},
		"a label of kOps":                         {"kops.k8s.io/instancegroup", false},
		"a label of tests":                        {"testing.karpenter.sh/test-id", false},
		"the zone":                                {api.LabelZone, false},
		"an older name of a well-known label":     {"beta.kubernetes.io/arch", false},
		"a domain that only ends like a reserved": {"mykarpenter.sh/mine", false},
		"when a node became empty":                {api.AnnotationEmptinessTimestamp, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := api.IsRestrictedToProvisioner(tt.key); got != tt.want {
				t.Errorf("IsRestrictedToProvisioner(%q) = %v, want %v", tt.key, got, tt.want)
			}
		})
	}
}

func TestNormalise(t *testing.T) {
	tests := map[string]struct{ key, want string }{
		"an older zone":         {"failure-domain.beta.kubernetes.io/zone", api.LabelZone},
		"an older region":       {"failure-domain.beta.kubernetes.io/region", api.LabelRegion},
		"an older architecture": {"beta.kubernetes.io/arch", api.LabelArch},
		"an older system":       {"beta.kubernetes.io/os", api.LabelOS},
		"an older type":         {"beta.kubernetes.io/instance-type", api.LabelInstanceType},
		"the zone of a volume":  {"topology.ebs.csi.aws.com/zone", api.LabelZone},
		"any other label":       {"example.com/team", "example.com/team"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := api.Normalise(tt.key); got != tt.want {
				t.Errorf("Normalise(%q) = %q, want %q", tt.key, got, tt.want)
			}
		})
	}
}

func TestRegistrationOnly(t *testing.T) {
	tests := map[string]struct {
		key  string
		want bool
	}{
		"a label of one's own":             {"example.com/team", false},
		"the role of a node":               {"node-role.kubernetes.io/web", true},
		"a label of kubernetes.io":         {"kubernetes.io/custom", true},
		"a label of k8s.io":                {"kops.k8s.io/instancegroup", true},
		"the architecture":                 {api.LabelArch, false},
		"the zone":                         {api.LabelZone, false},
		"a label of node.kubernetes.io":    {"node.kubernetes.io/custom", false},
		"a label of kubelet.kubernetes.io": {"kubelet.kubernetes.io/custom", false},
		"a label of AWS":                   {api.LabelFamily, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := api.RegistrationOnly(tt.key); got != tt.want {
				t.Errorf("RegistrationOnly(%q) = %v, want %v", tt.key, got, tt.want)
			}
		})
	}
}
