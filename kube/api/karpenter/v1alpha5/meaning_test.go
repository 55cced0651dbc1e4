package v1alpha5_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
)

func spec(t *testing.T, text string) *v1alpha5.ProvisionerSpec {
	t.Helper()
	s := new(v1alpha5.ProvisionerSpec)
	if err := yaml.UnmarshalStrict([]byte(text), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEffective: what a Provisioner does not speak of has the older
// generation's defaults, and nothing is written into the spec.
func TestEffective(t *testing.T) {
	const linux, amd64, onDemand = "kubernetes.io/os In linux", "kubernetes.io/arch In amd64", "karpenter.sh/capacity-type In on-demand"
	const category, generation = "karpenter.k8s.aws/instance-category In c,m,r", "karpenter.k8s.aws/instance-generation Gt 2"
	tests := map[string]struct {
		spec string
		want []string
	}{
		"nothing said": {`{}`, []string{linux, amd64, onDemand, category, generation}},
		"the capacity type": {`requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]`,
			[]string{"karpenter.sh/capacity-type In spot", linux, amd64, category, generation}},
		"the architecture by its older name": {`requirements: [{key: beta.kubernetes.io/arch, operator: In, values: [arm64]}]`,
			[]string{"beta.kubernetes.io/arch In arm64", linux, onDemand, category, generation}},
		"instance types": {`requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}]`,
			[]string{"node.kubernetes.io/instance-type In m5.large", linux, amd64, onDemand}},
		"types that are not wanted": {`requirements: [{key: karpenter.k8s.aws/instance-family, operator: NotIn, values: [a1]}]`,
			[]string{"karpenter.k8s.aws/instance-family NotIn a1", linux, amd64, onDemand}},
		"the generation": {`requirements: [{key: karpenter.k8s.aws/instance-generation, operator: Gt, values: ["4"]}]`,
			[]string{"karpenter.k8s.aws/instance-generation Gt 4", linux, amd64, onDemand}},
		"a size, which says nothing of types": {`requirements: [{key: karpenter.k8s.aws/instance-size, operator: NotIn, values: [nano]}]`,
			[]string{"karpenter.k8s.aws/instance-size NotIn nano", linux, amd64, onDemand, category, generation}},
		"a label speaks of it too": {`labels: {beta.kubernetes.io/arch: arm64}`, []string{linux, onDemand, category, generation}},
		"a label of a type":        {`label: {node.kubernetes.io/instance-type: t3.large}`, []string{linux, amd64, onDemand}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := spec(t, tt.spec)
			written := len(s.Requirements)
			var got []string
			for _, r := range s.Effective() {
				got = append(got, fmt.Sprint(r.Key, " ", r.Operator, " ", strings.Join(r.Values, ",")))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
			if len(s.Requirements) != written {
				t.Errorf("the spec has %d requirements, it had %d", len(s.Requirements), written)
			}
		})
	}
}

func TestTemplate(t *testing.T) {
	tests := map[string]struct {
		spec, want string
		named      bool
	}{
		"neither is named": {`{}`, "default", true},
		"one by name":      {`providerRef: {name: gpu}`, "gpu", true},
		"inline":           {`provider: {subnetSelector: {a: b}}`, "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, named := spec(t, tt.spec).Template(); got != tt.want || named != tt.named {
				t.Errorf("Template(%s) = %q, %v; want %q, %v", tt.spec, got, named, tt.want, tt.named)
			}
		})
	}
}

func TestAllLabels(t *testing.T) {
	got := spec(t, `{labels: {team: web}, label: {team: db, tier: "1"}}`).AllLabels()
	if want := map[string]string{"team": "web", "tier": "1"}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAmounts(t *testing.T) {
	tests := map[string]struct{ spec, want string }{
		"no limits":                   {`{}`, ""},
		"in resources":                {`limits: {resources: {cpu: 1000, memory: 1000Gi}}`, "cpu=1k memory=1000Gi"},
		"beside resources":            {`limits: {cpu: "10", memory: 1Gi, nvidia.com/gpu: 2}`, "cpu=10 memory=1Gi nvidia.com/gpu=2"},
		"both, and resources decides": {`limits: {cpu: 10, resources: {cpu: 20}}`, "cpu=20"},
		"what is none is left out":    {`limits: {nvidia.com/gpu: 50%, resources: {cpu: 20}}`, "cpu=20"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for name, amount := range spec(t, tt.spec).Limits.Amounts() {
				got = append(got, string(name)+"="+amount.String())
			}
			slices.Sort(got)
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("limits of %s are %q, want %q", tt.spec, text, tt.want)
			}
		})
	}
}

func TestTimesToLive(t *testing.T) {
	tests := map[string]struct {
		spec string
		want time.Duration
		set  bool
	}{
		"unset":           {`{}`, 0, false},
		"zero is a time":  {`ttlSecondsAfterEmpty: 0`, 0, true},
		"half a minute":   {`ttlSecondsAfterEmpty: 30`, 30 * time.Second, true},
		"longer than all": {fmt.Sprint("ttlSecondsAfterEmpty: ", math.MaxInt64), math.MaxInt64 / time.Second * time.Second, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, set := spec(t, tt.spec).EmptyFor(); got != tt.want || set != tt.set {
				t.Errorf("EmptyFor(%s) = %v, %v; want %v, %v", tt.spec, got, set, tt.want, tt.set)
			}
			if tt.want == 0 {
				tt.set = false // a node that expires as soon as it is there is none
			}
			expiring := strings.ReplaceAll(tt.spec, "AfterEmpty", "UntilExpired")
			if got, set := spec(t, expiring).ExpireAfter(); got != tt.want || set != tt.set {
				t.Errorf("ExpireAfter(%s) = %v, %v; want %v, %v", expiring, got, set, tt.want, tt.set)
			}
		})
	}
}

func TestConsolidates(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: false, `consolidation: {}`: false, `consolidation: {enabled: false}`: false, `consolidation: {enabled: true}`: true,
	} {
		if got := spec(t, text).Consolidates(); got != want {
			t.Errorf("Consolidates(%s) = %v, want %v", text, got, want)
		}
	}
}
