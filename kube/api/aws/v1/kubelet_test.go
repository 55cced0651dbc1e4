package v1_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
)

// TestKubeletRoundTrip: whatever form a kubelet's configuration has, reading
// and writing it loses nothing and adds nothing.
func TestKubeletRoundTrip(t *testing.T) {
	tests := map[string]string{
		"nothing":                   `{}`,
		"typed fields":              `{"maxPods":20,"clusterDNS":["10.0.0.10"],"cpuCFSQuota":false,"kubeReserved":{"cpu":"100m"}}`,
		"an expression":             `{"maxPods":"min(max_pods, 110)"}`,
		"further fields":            `{"cpuManagerPolicy":"static","memorySwap":{"swapBehavior":"LimitedSwap"},"registryPullQPS":0}`,
		"both":                      `{"maxPods":20,"evictionHard":{"memory.available":"5%"},"topologyManagerPolicy":"best-effort"}`,
		"further fields that are 0": `{"maxOpenFiles":0,"failSwapOn":false,"kubeletCgroups":""}`,
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			var class awsv1.EC2NodeClass
			if err := json.Unmarshal([]byte(`{"spec":{"kubelet":`+text+`}}`), &class); err != nil {
				t.Fatal(err)
			}
			written, err := json.Marshal(class.DeepCopy().Spec.Kubelet)
			if err != nil {
				t.Fatal(err)
			}
			if !equalJSON(t, string(written), text) {
				t.Errorf("wrote %s, want %s", written, text)
			}
		})
	}
}

func TestKubeletKnowsItsTypedFields(t *testing.T) {
	want := []string{
		"clusterDNS", "cpuCFSQuota", "evictionHard", "evictionMaxPodGracePeriod", "evictionSoft", "evictionSoftGracePeriod",
		"imageGCHighThresholdPercent", "imageGCLowThresholdPercent", "kubeReserved", "maxPods", "podsPerCore", "systemReserved",
	}
	if got := awsv1.TypedKubeletFields(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestKubeletCopiesShareNothing(t *testing.T) {
	var kubelet awsv1.Kubelet
	if err := json.Unmarshal([]byte(`{"cpuManagerPolicy":"static"}`), &kubelet); err != nil {
		t.Fatal(err)
	}
	twin := kubelet.DeepCopy()
	delete(twin.Further, "cpuManagerPolicy")
	if names := kubelet.FurtherNames(); len(names) != 1 {
		t.Errorf("the original has %v after its copy was changed", names)
	}
}

func TestFamily(t *testing.T) {
	tests := map[string]struct {
		spec    string
		want    awsv1.AMIFamily
		windows bool
	}{
		"the family of the alias":            {`amiSelectorTerms: [{alias: bottlerocket@latest}]`, awsv1.FamilyBottlerocket, false},
		"the family that is named":           {`{amiFamily: AL2, amiSelectorTerms: [{id: ami-1}]}`, awsv1.FamilyAL2, false},
		"the named one before the alias":     {`{amiFamily: Custom, amiSelectorTerms: [{alias: al2023@latest}]}`, awsv1.FamilyCustom, false},
		"neither, which admission refuses":   {`amiSelectorTerms: [{id: ami-1}]`, awsv1.FamilyCustom, false},
		"a windows by its alias":             {`amiSelectorTerms: [{alias: windows2022@latest}]`, awsv1.FamilyWindows2022, true},
		"an alias that there is not, either": {`amiSelectorTerms: [{alias: other@latest}]`, awsv1.FamilyCustom, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var class awsv1.EC2NodeClass
			if err := yaml.Unmarshal([]byte(tt.spec), &class.Spec); err != nil {
				t.Fatal(err)
			}
			if got := class.Family(); got != tt.want || got.IsWindows() != tt.windows {
				t.Errorf("Family() = %s, windows %v; want %s, %v", got, got.IsWindows(), tt.want, tt.windows)
			}
		})
	}
}

func TestReadyDependsOnWhatTheClassUses(t *testing.T) {
	var class awsv1.EC2NodeClass
	if got := class.ReadyDependsOn(); slices.Contains(got, awsv1.ClassPlacementGroupReady) || slices.Contains(got, awsv1.ClassCapacityReservationsReady) {
		t.Errorf("a plain class depends on %v", got)
	}
	class.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: "a"}
	if got := class.ReadyDependsOn(); !slices.Contains(got, awsv1.ClassPlacementGroupReady) {
		t.Errorf("a class with a placement group depends on %v", got)
	}
}

func TestVolumeSize(t *testing.T) {
	tests := map[awsv1.VolumeSize]int64{"20Gi": 20 << 30, "100G": 100e9, "1Ti": 1 << 40, "2T": 2e12, "Ti": 0}
	for size, want := range tests {
		t.Run(string(size), func(t *testing.T) {
			if got := size.Quantity(); got.Value() != want {
				t.Errorf("%s = %d bytes, want %d", size, got.Value(), want)
			}
		})
	}
}

func equalJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}
