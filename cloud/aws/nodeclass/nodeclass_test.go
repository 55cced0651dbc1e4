package nodeclass

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/daemok/daemok/internal/expression"
)

func TestParseAmount(t *testing.T) {
	tests := map[string]struct {
		text string
		want int64 // rounded up; -1 for an error
	}{
		"a plain number":             {"2", 2},
		"thousandths round up":       {"1500m", 2},
		"binary units":               {"1.5Gi", 3 << 29},
		"decimal units":              {"2G", 2_000_000_000},
		"an exponent":                {"2e3", 2000},
		"a negative exponent":        {"5E-1", 1},
		"a fraction without a whole": {".5Ki", 512},
		"too large saturates":        {"9999Ei", 1<<63 - 1},
		"no number":                  {"Gi", -1},
		"an unknown unit":            {"5GB", -1},
		"nothing":                    {"", -1},
		"spaces":                     {"5 Gi", -1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseAmount(tt.text)
			if (err != nil) != (tt.want == -1) {
				t.Fatalf("ParseAmount(%q) error = %v", tt.text, err)
			}
			if err == nil && Ceil(got) != tt.want {
				t.Errorf("ParseAmount(%q) = %d, want %d", tt.text, Ceil(got), tt.want)
			}
		})
	}
}

func TestParseThreshold(t *testing.T) {
	tests := map[string]struct {
		text string
		want int64 // of 1000; -1 for an error
	}{
		"an amount":                    {"100", 100},
		"a share":                      {"5%", 50},
		"a share with decimals":        {"0.15%", 2},
		"all of it means no threshold": {"100%", 0},
		"more than all":                {"101%", -1},
		"not a share":                  {"x%", -1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseThreshold(tt.text, 1000)
			if (err != nil) != (tt.want == -1) || err == nil && got != tt.want {
				t.Errorf("ParseThreshold(%q, 1000) = %d, %v; want %d", tt.text, got, err, tt.want)
			}
		})
	}
}

func TestParseAlias(t *testing.T) {
	tests := map[string]struct {
		text string
		want Alias // zero for an error
	}{
		"the latest":                        {"al2023@latest", Alias{AL2023, Latest}},
		"a pinned release loses its v":      {"bottlerocket@v1.20.0", Alias{Bottlerocket, "1.20.0"}},
		"one without a v is the same":       {"bottlerocket@1.20.0", Alias{Bottlerocket, "1.20.0"}},
		"case of the family does not count": {"AL2@v20240807", Alias{AL2, "20240807"}},
		"windows latest":                    {"windows2022@latest", Alias{Windows2022, Latest}},
		"windows cannot be pinned":          {"windows2022@v1", Alias{}},
		"an unknown family":                 {"suse@latest", Alias{}},
		"no version":                        {"al2023", Alias{}},
		"an empty version":                  {"al2023@", Alias{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseAlias(tt.text)
			if got != tt.want || (err != nil) != (tt.want == Alias{}) {
				t.Errorf("ParseAlias(%q) = %v, %v; want %v", tt.text, got, err, tt.want)
			}
		})
	}
}

func TestParseKubelet(t *testing.T) {
	k, err := ParseKubelet([]byte(`{"maxPods":42,"kubeReserved":{"cpu":"100m","memory":1048576},"evictionHard":{"memory.available":"5%"},
		"somethingNew":{"deep":[1,2.5]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if *k.MaxPods != 42 || k.KubeReserved["memory"] != "1048576" || k.EvictionHard["memory.available"] != "5%" {
		t.Errorf("ParseKubelet = %+v", k)
	}
	if _, kept := k.Raw["somethingNew"]; !kept {
		t.Errorf("fields that are not typed were lost: %v", k.Raw)
	}
	if empty, err := ParseKubelet(nil); err != nil || empty.Raw != nil {
		t.Errorf("ParseKubelet(nil) = %+v, %v", empty, err)
	}
}

// What a kubelet is configured with for one type: expressions give way to amounts, in the
// typed fields and in the document that AL2023 takes, and all else stays.
func TestSizing(t *testing.T) {
	large := expression.Variables{InstanceType: "m5.large", VCPUs: 2, MemoryMiB: 8192, DefaultENIs: 3, IPsPerENI: 10, MaxPods: 29}
	tests := map[string]struct{ document, want, raw string }{
		"amounts stay":                    {`{"maxPods":20,"kubeReserved":{"cpu":"100m"}}`, "20 pods, ,cpu=100m,", `{"kubeReserved":{"cpu":"100m"},"maxPods":20}`},
		"a number in quotes is a number":  {`{"maxPods":"110"}`, "110 pods, ,", `{"maxPods":110}`},
		"pods by the type":                {`{"maxPods":"min(max_pods, 20)"}`, "20 pods, ,", `{"maxPods":20}`},
		"what is reserved sees the pods":  {`{"maxPods":10,"kubeReserved":{"memory":"11 * max_pods + 255"}}`, "10 pods, ,memory=368Mi,", `{"kubeReserved":{"memory":"368Mi"},"maxPods":10}`},
		"those of an expression as well":  {`{"maxPods":"vcpus * 5","kubeReserved":{"memory":"11 * max_pods + 255"}}`, "10 pods, ,memory=368Mi,", `{"kubeReserved":{"memory":"368Mi"},"maxPods":10}`},
		"the system's share by the type":  {`{"systemReserved":{"cpu":"vcpus * 30","memory":"1Gi"},"x":1}`, "cpu=60m,memory=1Gi,,", `{"systemReserved":{"cpu":"60m","memory":"1Gi"},"x":1}`},
		"types without addresses to give": {`{"kubeReserved":{"pid":"default_enis * ips_per_eni"}}`, ",pid=30,", `{"kubeReserved":{"pid":"30"}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k, err := ParseKubelet([]byte(tt.document))
			if err != nil {
				t.Fatal(err)
			}
			sizing, err := k.Sizing()
			if err != nil {
				t.Fatal(err)
			}
			got, err := sizing.For(large)
			if err != nil {
				t.Fatal(err)
			}
			text := got.Reserves()
			if got.MaxPods != nil {
				text = fmt.Sprintf("%d pods, %s", *got.MaxPods, text)
			}
			raw, err := json.Marshal(got.Raw)
			if err != nil {
				t.Fatal(err)
			}
			if text != tt.want || string(raw) != tt.raw {
				t.Errorf("%s for an m5.large is %s and %s; want %s and %s", tt.document, text, raw, tt.want, tt.raw)
			}
			if before, _ := json.Marshal(k.Raw); !strings.Contains(string(before), "max_pods") && strings.Contains(tt.document, "max_pods") {
				t.Errorf("the class's own document was changed: %s", before)
			}
		})
	}
}

func TestParseKubeletRefuses(t *testing.T) {
	tests := map[string]struct{ document, want string }{
		"an expression without end":     {`{"maxPods":"vcpus *"}`, "maxPods"},
		"a word that is no variable":    {`{"systemReserved":{"cpu":"cores * 10"}}`, "systemReserved.cpu"},
		"a fraction of a pod":           {`{"maxPods":1.5}`, "maxPods"},
		"a negative number of pods":     {`{"maxPods":-1}`, "maxPods"},
		"an amount that is none":        {`{"kubeReserved":{"memory":"1 GB"}}`, "kubeReserved.memory"},
		"a negative amount":             {`{"systemReserved":{"cpu":"-1"}}`, "systemReserved.cpu"},
		"a threshold above everything":  {`{"evictionHard":{"memory.available":"105%"}}`, "memory.available"},
		"a grace period without a unit": {`{"evictionSoftGracePeriod":{"memory.available":"90"}}`, "memory.available"},
		"a list for a map":              {`{"kubeReserved":[]}`, "kubelet"},
		"no JSON":                       {`{`, "kubelet"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ParseKubelet([]byte(tt.document))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ParseKubelet(%s) = %v, want an error naming %s", tt.document, err, tt.want)
			}
		})
	}
}

func TestDigestIgnoresFreeAddresses(t *testing.T) {
	a := Class{Name: "x", Resolved: Resolved{Subnets: []Subnet{{ID: "subnet-1", Free: 5}, {ID: "subnet-2", Free: 9}}}}
	b := Class{Name: "x", Resolved: Resolved{Subnets: []Subnet{{ID: "subnet-2", Free: 1}, {ID: "subnet-1", Free: 1}}}}
	c := Class{Name: "x", Resolved: Resolved{Subnets: []Subnet{{ID: "subnet-3"}}}}
	first, err := a.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if second, _ := b.Digest(); first != second {
		t.Error("the digest changes with free addresses, so every look at subnets would look like a new class")
	}
	if third, _ := c.Digest(); first == third {
		t.Error("the digest does not see that the subnets are others")
	}
	if a.Resolved.Subnets[0].Free != 5 {
		t.Error("Digest has written to its class")
	}
}

func TestKubeletOfAnImage(t *testing.T) {
	tests := map[string]int{ // 0: the name says none
		"amazon-eks-node-al2023-x86_64-standard-1.36-v20251112":          36,
		"amazon-eks-node-al2023-arm64-nvidia-1.29-v20251112":             29,
		"amazon-eks-gpu-node-1.32-v20240807":                             32,
		"amazon-eks-node-1.32-v20240807":                                 32,
		"bottlerocket-aws-k8s-1.36-nvidia-x86_64-v1.46.0-5d2a1b8c":       36,
		"Windows_Server-2022-English-Core-EKS_Optimized-1.35-2026.11.12": 35,
		"ubuntu-eks/k8s_1.31/images/hvm-ssd/ubuntu-jammy-22.04-amd64":    31,
		"golden-node-1.99-x":                                             0,
		"":                                                               0,
	}
	for name, want := range tests {
		if got, known := (Image{Name: name}).Kubelet(); got != want || known != (want > 0) {
			t.Errorf("Kubelet of %q = %d, %v; want %d", name, got, known, want)
		}
	}
	for text, want := range map[string]int{"1.36": 36, "v1.33.2-eks-1a2b": 33, "2.1": 0, "1": 0, "1.x": 0} {
		if got, known := Minor(text); known != (want > 0) || known && got != want {
			t.Errorf("Minor(%q) = %d, %v; want %d", text, got, known, want)
		}
	}
}
