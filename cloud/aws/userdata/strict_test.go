package userdata

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	nodeadm "github.com/awslabs/amazon-eks-ami/nodeadm/api/v1alpha1"
	"github.com/pelletier/go-toml/v2"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// allSettings is an input in which everything that can be written for a family is set.
func allSettings(t *testing.T, family nodeclass.Family) Input {
	return input(family, func(in *Input) {
		document := fullKubelet
		if family == nodeclass.Bottlerocket { // the classes of which may not have it
			document = strings.Replace(document, `"podsPerCore":2,`, "", 1)
		}
		in.Kubelet, in.RAID0, in.Version = kubelet(t, document), !family.Windows(), "1.45.0"
	})
}

// What is written for AL2023 has no key that nodeadm's NodeConfig or the kubelet's
// KubeletConfiguration lacks, and no value of another type.
func TestNodeConfigIsReadStrictly(t *testing.T) {
	text, err := nodeConfig(allSettings(t, nodeclass.AL2023))
	if err != nil {
		t.Fatal(err)
	}
	var config nodeadm.NodeConfig
	if err := yaml.UnmarshalStrict([]byte(text), &config); err != nil {
		t.Fatalf("nodeadm does not read\n%s\n%v", text, err)
	}
	document, err := yaml.Marshal(config.Spec.Kubelet.Config)
	if err != nil {
		t.Fatal(err)
	}
	var got kubeletv1beta1.KubeletConfiguration
	if err := yaml.UnmarshalStrict(document, &got); err != nil {
		t.Fatalf("no kubelet reads\n%s\n%v", document, err)
	}
	if got.MaxPods != 29 || got.PodsPerCore != 2 || len(got.RegisterWithTaints) != 3 || got.EvictionSoftGracePeriod["memory.available"] != "1m" {
		t.Errorf("the kubelet reads %+v", got)
	}
	if config.Spec.Instance.LocalStorage.Strategy != nodeadm.LocalStorageRAID0 || config.Spec.Cluster.CIDR == "" {
		t.Errorf("nodeadm reads %+v", config.Spec)
	}
	for _, flag := range config.Spec.Kubelet.Flags {
		name, _, _ := strings.Cut(flag, "=")
		if !slices.Contains(kubeletFlags, name) {
			t.Errorf("the kubelet has no flag %s", name)
		}
	}
}

// bottlerocketSettings are the settings that Bottlerocket has of those that are written: by
// https://bottlerocket.dev/en/os/latest/api/settings/kubernetes/ and
// https://bottlerocket.dev/en/os/latest/api/settings/bootstrap-commands/, a key that is not
// there keeps the instance from booting. "*" stands for a name of the user's own.
var bottlerocketSettings = map[string]string{
	"settings.kubernetes.api-server":                                  "text",
	"settings.kubernetes.cluster-certificate":                         "text",
	"settings.kubernetes.cluster-dns-ip":                              "text", // or a list
	"settings.kubernetes.cluster-name":                                "text",
	"settings.kubernetes.cpu-cfs-quota-enforced":                      "boolean",
	"settings.kubernetes.eviction-hard.memory.available":              "text",
	"settings.kubernetes.eviction-hard.nodefs.available":              "text",
	"settings.kubernetes.eviction-hard.nodefs.inodesFree":             "text",
	"settings.kubernetes.eviction-hard.imagefs.available":             "text",
	"settings.kubernetes.eviction-hard.imagefs.inodesFree":            "text",
	"settings.kubernetes.eviction-hard.pid.available":                 "text",
	"settings.kubernetes.eviction-soft.memory.available":              "text",
	"settings.kubernetes.eviction-soft-grace-period.memory.available": "text",
	"settings.kubernetes.eviction-max-pod-grace-period":               "number",
	"settings.kubernetes.image-gc-high-threshold-percent":             "text",
	"settings.kubernetes.image-gc-low-threshold-percent":              "text",
	"settings.kubernetes.kube-reserved.cpu":                           "text",
	"settings.kubernetes.kube-reserved.memory":                        "text",
	"settings.kubernetes.kube-reserved.ephemeral-storage":             "text",
	"settings.kubernetes.max-pods":                                    "number",
	"settings.kubernetes.node-labels.*":                               "text",
	"settings.kubernetes.node-taints.*":                               "list of text",
	"settings.kubernetes.system-reserved.cpu":                         "text",
	"settings.kubernetes.system-reserved.memory":                      "text",
	"settings.kubernetes.system-reserved.ephemeral-storage":           "text",
	"settings.bootstrap-commands.*.commands":                          "list of list of text",
	"settings.bootstrap-commands.*.mode":                              "text",
	"settings.bootstrap-commands.*.essential":                         "boolean",
}

func TestBottlerocketHasTheSettingsThatAreWritten(t *testing.T) {
	text, err := Render(allSettings(t, nodeclass.Bottlerocket))
	if err != nil {
		t.Fatal(err)
	}
	document := map[string]any{}
	if err := toml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	flatten("", document, got)
	if len(got) < 20 {
		t.Fatalf("too few settings are written to check them: %v", got)
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if want := bottlerocketSettings[key]; want != got[key] {
			t.Errorf("%s is a %s; Bottlerocket has a %q there", key, got[key], want)
		}
	}
}

func flatten(at string, value any, into map[string]string) {
	switch v := value.(type) {
	case map[string]any:
		for key, below := range v {
			path := strings.TrimPrefix(at+"."+key, ".")
			if at == "settings.kubernetes.node-labels" || at == "settings.kubernetes.node-taints" || at == "settings.bootstrap-commands" {
				path = at + ".*"
			}
			flatten(path, below, into)
		}
	case []any:
		one := map[string]string{}
		for _, item := range v {
			flatten("", item, one)
		}
		into[at] = "list of " + one[""]
	case string:
		into[at] = "text"
	case bool:
		into[at] = "boolean"
	case int64:
		into[at] = "number"
	default:
		into[at] = fmt.Sprint(reflect.TypeOf(v))
	}
}

// kubeletFlags are the flags of the kubelet that are written
// (https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/); the lab's
// instances read them as a kubelet does.
var kubeletFlags = []string{
	"--node-labels", "--register-with-taints", "--max-pods", "--pods-per-core", "--system-reserved", "--kube-reserved",
	"--eviction-hard", "--eviction-soft", "--eviction-soft-grace-period", "--eviction-max-pod-grace-period",
	"--image-gc-high-threshold", "--image-gc-low-threshold", "--cpu-cfs-quota",
}

func TestKubeletsHaveTheFlagsThatAreWritten(t *testing.T) {
	for _, family := range []nodeclass.Family{nodeclass.AL2, nodeclass.Ubuntu, nodeclass.Windows2019, nodeclass.Windows2022, nodeclass.Windows2025} {
		args := kubeletArgs(allSettings(t, family))
		var names []string
		for _, arg := range args {
			name, _, _ := strings.Cut(arg, "=")
			names = append(names, name)
		}
		if !slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(kubeletFlags))) {
			t.Errorf("%s: the flags are %v, want %v", family, names, kubeletFlags)
		}
	}
}

// The scripts of AL2's, Ubuntu's and Windows' images have the parameters that are written:
// https://github.com/awslabs/amazon-eks-ami (files/bootstrap.sh) and
// https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-windows-ami.html.
func TestScriptsHaveTheParametersThatAreWritten(t *testing.T) {
	tests := map[nodeclass.Family]struct {
		form *regexp.Regexp
		has  []string
	}{
		nodeclass.AL2:         {bashParameter, []string{"--apiserver-endpoint", "--b64-cluster-ca", "--dns-cluster-ip", "--ip-family", "--kubelet-extra-args", "--local-disks", "--use-max-pods"}},
		nodeclass.Windows2022: {powershellParameter, []string{"-APIServerEndpoint", "-Base64ClusterCA", "-DNSClusterIP", "-EKSClusterName", "-KubeletExtraArgs"}},
	}
	for family, tt := range tests {
		in := allSettings(t, family)
		in.Kubelet.ClusterDNS, in.Cluster.DNS = nil, "fd00::a"
		text, err := Render(in)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, found := range tt.form.FindAllStringSubmatch(text, -1) {
			got = append(got, found[1])
		}
		if slices.Sort(got); !slices.Equal(got, tt.has) {
			t.Errorf("%s: the script is called with %v, want %v", family, got, tt.has)
		}
	}
}

var (
	bashParameter       = regexp.MustCompile(`(?m)^(--[a-z0-9-]+) `)
	powershellParameter = regexp.MustCompile(` (-[A-Z][A-Za-z0-9]+) '`)
)
