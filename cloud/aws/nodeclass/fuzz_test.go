package nodeclass

import (
	"strings"
	"testing"

	"github.com/daemok/daemok/internal/expression"
)

// Whatever a user writes as an alias is refused, or names a family and a version that
// are read the same when they are written again.
func FuzzAlias(f *testing.F) {
	for _, text := range []string{"al2023@latest", "al2@v20240807", "bottlerocket@1.20.3", "windows2022@latest", "AL2023@v", "al2023@", "@latest", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseAlias(text)
		if err != nil {
			return
		}
		if got.Version == "" || got.Family == "" {
			t.Fatalf("ParseAlias(%q) = %+v", text, got)
		}
		again, err := ParseAlias(strings.ToLower(string(got.Family)) + "@v" + got.Version)
		if err != nil || again != got {
			t.Fatalf("ParseAlias(%q) = %+v, and written again it is %+v, %v", text, got, again, err)
		}
	})
}

// Whatever a user writes as kubelet settings, expressions among them, is refused with the
// field, or has amounts of zero or more for a type, the same every time, or says that it
// has none for that type.
func FuzzKubelet(f *testing.F) {
	for _, text := range []string{
		`{"maxPods": 110, "evictionHard": {"memory.available": "5%", "nodefs.available": "1Gi"}}`,
		`{"maxPods": "min(max_pods, 110)", "kubeReserved": {"memory": "11 * max_pods + 255", "cpu": "vcpus > 4 ? 100 : 60"}}`,
		`{"systemReserved": {"cpu": "100m", "memory": "1.5Gi", "pid": "2e3"}, "clusterDNS": ["10.0.0.10"]}`,
		`{"maxPods": "0x10", "evictionSoft": {"memory.available": "100%"}, "evictionSoftGracePeriod": {"memory.available": "1m30s"}}`,
		`{"evictionHard": {"memory.available": "NaN%"}}`, `{"evictionHard": {"memory.available": "1e-1000000000%"}}`,
		`{"kubeReserved": {"cpu": "-1"}}`, `{"maxPods": "1 / (vcpus - 2)"}`, `null`, `[]`,
	} {
		f.Add(text)
	}
	of := expression.Variables{InstanceType: "m5.large", VCPUs: 2, MemoryMiB: 8192, DefaultENIs: 3, IPsPerENI: 10, MaxPods: 29}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := ParseKubelet([]byte(text))
		if err != nil {
			return
		}
		sizing, err := k.Sizing()
		if err != nil {
			t.Fatalf("ParseKubelet takes %q, Sizing says %v", text, err)
		}
		got, err := sizing.For(of)
		if err != nil {
			return
		}
		if again, err := sizing.For(of); err != nil || again.Reserves() != got.Reserves() {
			t.Fatalf("%q reserves %q, and asked again %q, %v", text, got.Reserves(), again.Reserves(), err)
		}
		if got.MaxPods != nil && *got.MaxPods < 0 {
			t.Fatalf("%q: maxPods is %d", text, *got.MaxPods)
		}
		for _, reserved := range []map[string]string{got.SystemReserved, got.KubeReserved} {
			for key, value := range reserved {
				if n, err := ParseAmount(value); err != nil || n.Sign() < 0 {
					t.Fatalf("%q reserves %s %q: %v", text, key, value, err)
				}
			}
		}
		for _, thresholds := range []map[string]string{got.EvictionHard, got.EvictionSoft} {
			for key, value := range thresholds {
				if n, err := ParseThreshold(value, 1<<33); err != nil || n < 0 || strings.HasSuffix(value, "%") && n > 1<<33 {
					t.Fatalf("%q evicts below %s %q, which is %d, %v", text, key, value, n, err)
				}
			}
		}
	})
}
