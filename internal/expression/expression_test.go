package expression_test

import (
	"strings"
	"testing"

	"github.com/daemok/daemok/internal/expression"
)

var large = expression.Variables{
	InstanceType: "m5.large", VCPUs: 2, MemoryMiB: 8192, DefaultENIs: 3, IPsPerENI: 10, MaxPods: 29,
}

func TestReserved(t *testing.T) {
	tests := map[string]struct{ resource, text, want string }{
		"cpu is rounded up to 10m":                {"cpu", "vcpus * 31", "70m"},
		"cpu that is exact stays":                 {"cpu", "vcpus * 30", "60m"},
		"memory is rounded up to 16Mi":            {"memory", "11 * max_pods + 255", "576Mi"},
		"storage is in GiB":                       {"ephemeral-storage", "1 + 1", "2Gi"},
		"processes are counted":                   {"pid", "100", "100"},
		"a fraction is rounded up":                {"pid", "double(vcpus) * 0.7", "2"},
		"the lesser of two":                       {"pid", "min(max_pods, 10)", "10"},
		"the greater of two":                      {"pid", "max(max_pods, 10)", "29"},
		"the greater of two fractions":            {"pid", "max(0.5, 3.0)", "3"},
		"one or the other by the name":            {"pid", `instance_type == "m5.large" ? 7 : 9`, "7"},
		"one or the other by the family":          {"pid", `instance_type.startsWith("c5.") ? 7 : 9`, "9"},
		"interfaces and addresses give the pods":  {"pid", "default_enis * (ips_per_eni - 1) + 2", "29"},
		"a conversion cuts the fraction":          {"pid", "int(2.9)", "2"},
		"memory by steps, as machines' own tools": {"memory", "memory_mib > 4096 ? 4096 / 4 + (memory_mib - 4096) / 5 : memory_mib / 4", "1856Mi"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e, err := expression.Compile(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := e.Reserved(tt.resource, large); err != nil || got != tt.want {
				t.Errorf("Reserved(%s, %q) = %q, %v; want %q", tt.resource, tt.text, got, err, tt.want)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a word that is no variable":   {"lots", "undeclared reference"},
		"what is no expression":        {"1 +", "Syntax error"},
		"a result that is a text":      {"instance_type", "must be an int or a double"},
		"a result that is a condition": {"vcpus > 2", "must be an int or a double"},
		"numbers of two types":         {"vcpus * 0.5", "no matching overload"},
		"a loop":                       {"[1, 2].map(x, x)[0]", "undeclared reference"},
		"three numbers to choose from": {"min(1, 2, 3)", "no matching overload"},
		"an expression without end":    {strings.Repeat("1+", 600) + "1", "too long"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := expression.Compile(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Compile(%q) = %v; want %q in the error", tt.text, err, tt.want)
			}
		})
	}
}

func TestEvaluateRefuses(t *testing.T) {
	tests := map[string]string{
		"an amount below zero":    "vcpus - 10",
		"a division by zero":      "1 / (vcpus - 2)",
		"what is not finite":      "1.0 / (double(vcpus) - 2.0)",
		"an amount out of reason": "9000000000000 * 1",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			e, err := expression.Compile(text)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := e.Evaluate(large); err == nil {
				t.Errorf("Evaluate(%q) = %v; want an error", text, got)
			}
		})
	}
}

func TestPodsAreRoundedDown(t *testing.T) {
	e, err := expression.Compile("double(max_pods) * 0.9")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := e.Pods(large); err != nil || got != 26 {
		t.Errorf("Pods = %d, %v; want 26 of 26.1", got, err)
	}
}
