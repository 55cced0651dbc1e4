package nodeclass

import (
	"strings"
	"testing"
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
		"an unknown family":                 {"ubuntu@latest", Alias{}},
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

func TestParseKubeletRefuses(t *testing.T) {
	tests := map[string]struct{ document, want string }{
		"an expression for maxPods":     {`{"maxPods":"vcpus * 10"}`, "maxPods"},
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
