package ec2data

import (
	"slices"
	"strings"
	"testing"
)

// "Intel or AMD-based instances with at least 4 vCPUs", "AWS Graviton-based instances with at least 2 vCPUs", and what the
// requirements leave out of either.
func TestEnclaves(t *testing.T) {
	tests := map[string]struct {
		kind string
		want bool
	}{
		"Intel with four vCPUs":              {"m5.xlarge", true},
		"Intel with two is too small":        {"m5.large", false},
		"AMD with four":                      {"c6a.xlarge", true},
		"AMD with two, though two cores":     {"m7a.large", false},
		"Graviton with two":                  {"c6g.large", true},
		"Graviton with one is too small":     {"c6g.medium", false},
		"Graviton's first is left out":       {"a1.2xlarge", false},
		"a family of Graviton is left out":   {"m7gd.4xlarge", false},
		"and one that was made later is not": {"m8g.large", true},
		"burstable ones are left out":        {"t3.2xlarge", false},
		"and so are those of Graviton":       {"t4g.2xlarge", false},
		"bare metal has no hypervisor":       {"m5.metal", false},
		"Xen has no enclaves":                {"m4.4xlarge", false},
		"single sizes are left out":          {"c7i.24xlarge", false},
		"and their family is not":            {"c7i.16xlarge", true},
		"high memory is left out":            {"u7i-12tb.224xlarge", false},
		"graphics of NVIDIA":                 {"g4dn.xlarge", true},
		"graphics of AMD are left out":       {"g4ad.xlarge", false},
		"training is left out":               {"trn1.32xlarge", false},
		"flexible ones of a generation are":  {"m7i-flex.2xlarge", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := typeOf(t, tt.kind).Enclaves(); got != tt.want {
				t.Errorf("Enclaves of %s: got %t, want %t", tt.kind, got, tt.want)
			}
		})
	}
}

func TestProcessorFeatures(t *testing.T) {
	tests := map[string]struct {
		kind string
		want string
	}{
		"the smallest of AMD that encrypts": {"m6a.large", FeatureSEVSNP},
		"the largest of its family":         {"c6a.16xlarge", FeatureSEVSNP},
		"one that is too large":             {"r6a.8xlarge", ""},
		"AMD's next generation":             {"m7a.large", ""},
		"Intel that nests":                  {"m8i.large", FeatureNested},
		"flexible ones of it":               {"c8i-flex.large", ""},
		"Intel before it":                   {"m7i.large", ""},
		"bare metal needs no nesting":       {"r8i.metal-48xl", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(typeOf(t, tt.kind).ProcessorFeatures(), " "); got != tt.want {
				t.Errorf("ProcessorFeatures of %s: got %q, want %q", tt.kind, got, tt.want)
			}
		})
	}
}

// A name that no type bears would leave out nothing.
func TestExceptionsAreTypesOfTheTable(t *testing.T) {
	names := map[string]bool{}
	for _, kind := range Load().Types {
		names[kind.Name], names[kind.Family] = true, true
	}
	listed := slices.Concat(withoutEnclaves, nesting)
	for family, sizes := range encrypting {
		for _, size := range sizes {
			listed = append(listed, family+"."+size)
		}
	}
	for _, name := range listed {
		if !names[name] {
			t.Errorf("%s is in no row of the table", name)
		}
	}
}
