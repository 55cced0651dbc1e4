package boot_test

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/userdata"
	"github.com/daemok/daemok/internal/expression"
	"github.com/daemok/daemok/lab/boot"
)

const bundle = "-----BEGIN CERTIFICATE-----\nQ0E=\n-----END CERTIFICATE-----\n"

// written is what Daemok writes for an instance of a family, with kubelet settings worked
// out from expressions and with what the user wrote.
func written(t *testing.T, family nodeclass.Family, user string) string {
	t.Helper()
	kubelet, err := nodeclass.ParseKubelet([]byte(`{"clusterDNS":["10.100.0.20"],"maxPods":"min(max_pods, 40)",
		"systemReserved":{"cpu":"vcpus * 25"},"kubeReserved":{"memory":"11 * max_pods + 255","cpu":"120m"},
		"evictionHard":{"memory.available":"200Mi"}}`))
	if err != nil {
		t.Fatal(err)
	}
	sizing, err := kubelet.Sizing()
	if err != nil {
		t.Fatal(err)
	}
	if kubelet, err = sizing.For(expression.Variables{InstanceType: "m5.xlarge", VCPUs: 4, MemoryMiB: 16384, DefaultENIs: 4, IPsPerENI: 15, MaxPods: 58}); err != nil {
		t.Fatal(err)
	}
	text, err := userdata.Render(userdata.Input{
		Family: family, Kubelet: kubelet, MaxPods: *kubelet.MaxPods, User: user, RAID0: !family.Windows(),
		Cluster: userdata.Cluster{Name: "prod", Endpoint: "https://prod.example.com", CA: base64.StdEncoding.EncodeToString([]byte(bundle)), CIDR: "10.100.0.0/16", DNS: "10.100.0.10"},
		Labels:  map[string]string{"team": "web", "karpenter.sh/nodepool": "default", "kubernetes.io/arch": "amd64", "odd": "it.s_o-k"},
		Taints:  []userdata.Taint{{Key: "dedicated", Value: "db", Effect: "NoSchedule"}, {Key: "karpenter.sh/unregistered", Effect: "NoExecute"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What Daemok writes for each family is what an instance of it reads: it joins the cluster
// with the pool's labels and taints, and its kubelet keeps what the class says.
func TestMachinesReadWhatIsWrittenForThem(t *testing.T) {
	tests := map[string]struct {
		family nodeclass.Family
		reads  boot.Family
		user   string
	}{
		"AL2":                         {nodeclass.AL2, boot.AL2, ""},
		"AL2 after the user's script": {nodeclass.AL2, boot.AL2, "echo \"it's me\"\n"},
		"Ubuntu":                      {nodeclass.Ubuntu, boot.Ubuntu, "#!/bin/bash\necho \"it's me\"\n"},
		"AL2023":                      {nodeclass.AL2023, boot.AL2023, ""},
		"AL2023 wins over the user's NodeConfig": {nodeclass.AL2023, boot.AL2023,
			"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 5}}, cluster: {name: other}}\n"},
		"Bottlerocket": {nodeclass.Bottlerocket, boot.Bottlerocket, ""},
		"Bottlerocket wins over the user's settings": {nodeclass.Bottlerocket, boot.Bottlerocket, "[settings.kubernetes]\nmax-pods = 5\ncluster-name = \"other\"\n"},
		"Windows 2019":                           {nodeclass.Windows2019, boot.Windows, ""},
		"Windows 2022 after the user's commands": {nodeclass.Windows2022, boot.Windows, "Write-Host \"it's me\""},
		"Windows 2025":                           {nodeclass.Windows2025, boot.Windows, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			text := written(t, tt.family, tt.user)
			s, err := boot.Read(tt.reads, []byte(text))
			if err != nil {
				t.Fatalf("%v of\n%s", err, text)
			}
			if err := s.Joins(boot.Cluster{Name: "prod", Endpoint: "https://prod.example.com", CA: []byte(bundle)}); err != nil {
				t.Errorf("it does not join: %v", err)
			}
			if got := s.PodsMax(m5xlarge); got != 40 || s.RAID0 == tt.family.Windows() || !slices.Equal(s.ClusterDNS, []string{"10.100.0.20"}) {
				t.Errorf("%d pods, joined disks %v, DNS %v; want 40, %v, 10.100.0.20", got, s.RAID0, s.ClusterDNS, !tt.family.Windows())
			}
			if got := labelsAndTaints(s); got != "karpenter.sh/do-not-sync-taints=true karpenter.sh/nodepool=default odd=it.s_o-k team=web; dedicated=db:NoSchedule karpenter.sh/unregistered:NoExecute" {
				t.Errorf("it registers with %s", got)
			}
			kube, system := map[string]string{"cpu": "120m", "memory": "704Mi"}, map[string]string{"cpu": "100m"}
			if !maps.Equal(s.KubeReserved, kube) || !maps.Equal(s.SystemReserved, system) || s.EvictionHard["memory.available"] != "200Mi" {
				t.Errorf("it keeps %v, %v and %v free", s.KubeReserved, s.SystemReserved, s.EvictionHard)
			}
		})
	}
}

func labelsAndTaints(s boot.Settings) string {
	var words []string
	for _, key := range slices.Sorted(maps.Keys(s.Labels)) {
		words = append(words, key+"="+s.Labels[key])
	}
	var taints []string
	for _, taint := range s.Taints {
		taints = append(taints, taint.ToString())
	}
	slices.Sort(taints)
	return strings.Join(words, " ") + "; " + strings.Join(taints, " ")
}
