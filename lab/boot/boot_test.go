package boot_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/lab/boot"
)

var update = flag.Bool("update", false, "rewrite the expected files")

// m5xlarge is an instance whose figures are easy to check by hand, with a local disk that
// the real one has not.
var m5xlarge = boot.Hardware{
	Type: "m5.xlarge", Arch: "amd64", VCPUs: 4, MemoryMiB: 16384,
	ENIs: 4, IPsPerENI: 15, DiskGiB: 20, LocalDiskGB: 150,
}

// Every file in testdata is one instance's boot: a sentence, the image's name, the user
// data as it lies on the instance, and what its kubelet starts with.
func TestBoots(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	if len(files) == 0 {
		t.Fatal("no boots found")
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			image, data, want := archive.Files[0].Data, archive.Files[1].Data, &archive.Files[2]
			got := bootText(strings.TrimSpace(string(image)), data)
			if *update {
				want.Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got != string(want.Data) {
				t.Errorf("boot differs (run with -update, then read the diff)\n got:\n%s\nwant:\n%s", got, want.Data)
			}
		})
	}
}

func bootText(image string, data []byte) string {
	s, err := boot.Read(boot.FamilyOf(image, data), data)
	if err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "family %s\n", s.Family)
	fmt.Fprintf(&b, "cluster %s %s %s\n", s.Cluster.Name, s.Cluster.Endpoint, s.Cluster.CA)
	for _, key := range slices.Sorted(maps.Keys(s.Labels)) {
		fmt.Fprintf(&b, "label %s=%s\n", key, s.Labels[key])
	}
	for _, taint := range s.Taints {
		fmt.Fprintf(&b, "taint %s\n", taint.ToString())
	}
	fmt.Fprintf(&b, "dns %s\nraid0 %v\n", strings.Join(s.ClusterDNS, ","), s.RAID0)
	capacity, allocatable, err := s.Resources(m5xlarge, 1)
	if err != nil {
		return b.String() + fmt.Sprintf("error: %v\n", err)
	}
	fmt.Fprintf(&b, "capacity %s\nallocatable %s\n", amounts(capacity), amounts(allocatable))
	return b.String()
}

func amounts(list corev1.ResourceList) string {
	mib := func(name corev1.ResourceName) int64 { q := list[name]; return q.Value() >> 20 }
	return fmt.Sprintf("cpu=%dm memory=%dMi ephemeral-storage=%dMi pods=%d",
		list.Cpu().MilliValue(), mib("memory"), mib("ephemeral-storage"), list.Pods().Value())
}

const bareConfig = `apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: {name: lab, apiServerEndpoint: "https://api", certificateAuthority: Q0E=, cidr: 10.100.0.0/16}
`

func TestReadRefuses(t *testing.T) {
	tests := map[string]struct {
		family boot.Family
		data   string
		want   string
	}{
		"a NodeConfig without a range":     {boot.AL2023, strings.Replace(bareConfig, ", cidr: 10.100.0.0/16", "", 1), "cidr is missing"},
		"a NodeConfig without a name":      {boot.AL2023, strings.Replace(bareConfig, "name: lab, ", "", 1), "name is missing"},
		"a NodeConfig of another kind":     {boot.AL2023, "apiVersion: v1\nkind: Pod\n", "no kind Pod is registered"},
		"a script on a nodeadm image":      {boot.AL2023, "#!/bin/bash\necho hi\n", "could not find NodeConfig"},
		"max pods that are no number":      {boot.AL2023, bareConfig + "  kubelet: {config: {maxPods: many}}\n", "NodeConfig"},
		"a script that joins nothing":      {boot.AL2, "#!/bin/bash\necho hi\n", "no shell script calls /etc/eks/bootstrap.sh"},
		"a script that does not parse":     {boot.AL2, "#!/bin/bash\nif true; then\n", "user-data:2"},
		"a taint with an unknown effect":   {boot.AL2, "#!/bin/bash\n/etc/eks/bootstrap.sh lab --kubelet-extra-args '--register-with-taints=a=b:Never'\n", `invalid taint effect "Never"`},
		"settings that are no TOML":        {boot.Bottlerocket, "[settings\n", "settings TOML"},
		"settings without a cluster":       {boot.Bottlerocket, "[settings.kubernetes]\nmax-pods = 3\n", "cluster-name"},
		"PowerShell without a block":       {boot.Windows, "Start-EKSBootstrap.ps1", "no <powershell> block"},
		"PowerShell with an open string":   {boot.Windows, "<powershell>\n& $f -EKSClusterName 'lab\n</powershell>", "terminator"},
		"a family nobody knows":            {"Custom", "", "no boot script known"},
		"gzip that ends in the middle":     {boot.AL2023, "\x1f\x8b\x08", "unpack gzip"},
		"a bare text on a nodeadm image":   {boot.AL2023, "hello: world", "no kind"},
		"an empty document on a node":      {boot.AL2023, "", "no kind"},
		"a certificate that is no base64":  {boot.Bottlerocket, "[settings.kubernetes]\ncluster-name='a'\napi-server='b'\ncluster-certificate='?'", "cluster-certificate"},
		"MIME that ends before its closer": {boot.AL2023, "Content-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: text/plain\n\nx", "MIME part 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := boot.Read(tt.family, []byte(tt.data))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Read(%s, %q) = %+v, %v; want an error with %q", tt.family, tt.data, got, err, tt.want)
			}
		})
	}
}

func TestJoins(t *testing.T) {
	truth := boot.Cluster{Name: "lab", Endpoint: "https://127.0.0.1:6443/", CA: []byte("CA\n")}
	good := boot.Cluster{Name: "lab", Endpoint: "https://127.0.0.1:6443", CA: []byte("CA")}
	with := func(change func(*boot.Settings)) boot.Settings {
		s := boot.Settings{Cluster: good, Labels: map[string]string{
			"team": "blue", "node.kubernetes.io/windows-build": "1", "topology.kubernetes.io/zone": "a"}}
		change(&s)
		return s
	}
	tests := map[string]struct {
		settings boot.Settings
		want     string // "" when it joins
	}{
		"its own cluster":        {with(func(*boot.Settings) {}), ""},
		"another name":           {with(func(s *boot.Settings) { s.Cluster.Name = "other" }), "Unauthorized"},
		"another endpoint":       {with(func(s *boot.Settings) { s.Cluster.Endpoint = "https://other" }), "no route to host"},
		"another authority":      {with(func(s *boot.Settings) { s.Cluster.CA = []byte("XX") }), "unknown authority"},
		"a label it may not set": {with(func(s *boot.Settings) { s.Labels["node-role.kubernetes.io/worker"] = "" }), "node-role.kubernetes.io/worker"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := tt.settings.Joins(truth)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Joins(%+v) = %v; want %q", tt.settings, err, tt.want)
			}
		})
	}
}

func TestPodsMax(t *testing.T) {
	tests := map[string]struct {
		settings boot.Settings
		want     int32
	}{
		"by network interfaces when not named": {boot.Settings{}, 58},
		"as named":                             {boot.Settings{MaxPods: 17}, 17},
		"no more than the cores allow":         {boot.Settings{MaxPods: 50, PodsPerCore: 10}, 40},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.settings.PodsMax(m5xlarge); got != tt.want {
				t.Errorf("PodsMax(%+v) = %d, want %d", tt.settings, got, tt.want)
			}
		})
	}
}

// The share that a hypervisor keeps is a fact of the type, within the bounds
// seen in the field.
func TestHypervisorShare(t *testing.T) {
	seen := map[float64]bool{}
	for name, of := range map[string]struct {
		gib  int64
		most float64
	}{"m5.large": {8, 0.075}, "m5.xlarge": {16, 0.075}, "c7g.large": {4, 0.075}, "r6i.32xlarge": {1024, 0.053}} {
		share := boot.HypervisorShare(7, name, of.gib<<10)
		if share < 0.017 || share > of.most || share != boot.HypervisorShare(7, name, of.gib<<10) {
			t.Errorf("HypervisorShare(7, %s) = %v; want a stable value in [0.017, %v]", name, share, of.most)
		}
		seen[share] = true
	}
	if len(seen) != 4 {
		t.Errorf("shares of four types = %v; want four different ones", seen)
	}
}

func TestFamilyOf(t *testing.T) {
	tests := map[string]struct {
		image, data string
		want        boot.Family
	}{
		"a published AL2 image":             {"amazon-eks-gpu-node-1.32-v20250801", "", boot.AL2},
		"an own image that calls bootstrap": {"mine", "#!/bin/bash\n/etc/eks/bootstrap.sh lab", boot.AL2},
		"a published Ubuntu image":          {"ubuntu-eks/k8s_1.32/images/hvm-ssd/ubuntu-jammy-22.04-amd64-server-20250801", "", boot.Ubuntu},
		"an own image with TOML":            {"mine", "[settings.kubernetes]", boot.Bottlerocket},
		"an own image with a NodeConfig":    {"mine", bareConfig, boot.AL2023},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := boot.FamilyOf(tt.image, []byte(tt.data)); got != tt.want {
				t.Errorf("FamilyOf(%q, %q) = %s, want %s", tt.image, tt.data, got, tt.want)
			}
		})
	}
}
