package userdata

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

var update = flag.Bool("update", false, "rewrite the expected files")

func input(family nodeclass.Family, change func(*Input)) Input {
	in := Input{
		Family: family,
		Cluster: Cluster{Name: "prod", Endpoint: "https://example.eks.amazonaws.com", CA: "Q0EtYnVuZGxl",
			CIDR: "10.100.0.0/16", DNS: "10.100.0.10"},
		MaxPods: 29,
		Labels: map[string]string{
			"karpenter.sh/nodepool": "default", "karpenter.sh/capacity-type": "spot", "team": "web",
			"topology.kubernetes.io/zone": "us-east-1a", "kubernetes.io/arch": "amd64", "node.k8s.io/x": "y",
		},
		Taints: []Taint{
			{"dedicated", "db", "NoSchedule"}, {"dedicated", "db", "NoExecute"}, {"karpenter.sh/unregistered", "", "NoExecute"},
		},
	}
	if change != nil {
		change(&in)
	}
	return in
}

func kubelet(t *testing.T, document string) nodeclass.Kubelet {
	t.Helper()
	k, err := nodeclass.ParseKubelet([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

const fullKubelet = `{"clusterDNS":["10.0.1.100"],"podsPerCore":2,"systemReserved":{"cpu":"100m","memory":"100Mi"},
	"kubeReserved":{"cpu":"200m","ephemeral-storage":"3Gi"},"evictionHard":{"nodefs.available":"10%","memory.available":"5%"},
	"evictionSoft":{"memory.available":"500Mi"},"evictionSoftGracePeriod":{"memory.available":"1m"},
	"evictionMaxPodGracePeriod":60,"imageGCHighThresholdPercent":85,"imageGCLowThresholdPercent":80,"cpuCFSQuota":true}`

const userMIME = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"BOUNDARY\"\n\n" +
	"--BOUNDARY\nContent-Type: text/x-shellscript; charset=\"us-ascii\"\n\n#!/bin/bash\necho first\n\n" +
	"--BOUNDARY\nContent-Type: application/node.eks.aws\n\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n\n--BOUNDARY--\n"

// Each file in testdata is the user data for one input. An instance that boots from other
// bytes gets a new launch template, so every difference counts.
func TestRender(t *testing.T) {
	tests := map[string]Input{
		"al2023-plain":        input(nodeclass.AL2023, nil),
		"al2023-kubelet":      input(nodeclass.AL2023, func(in *Input) { in.Kubelet = kubelet(t, fullKubelet); in.RAID0 = true }),
		"al2023-user-script":  input(nodeclass.AL2023, func(in *Input) { in.User = "#!/bin/bash\necho hello\n" }),
		"al2023-user-config":  input(nodeclass.AL2023, func(in *Input) { in.User = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n" }),
		"al2023-user-mime":    input(nodeclass.AL2023, func(in *Input) { in.User = userMIME }),
		"bottlerocket-plain":  input(nodeclass.Bottlerocket, nil),
		"bottlerocket-merged": input(nodeclass.Bottlerocket, func(in *Input) { in.User = userTOML; in.Kubelet = kubelet(t, fullKubelet) }),
		"bottlerocket-raid0":  input(nodeclass.Bottlerocket, func(in *Input) { in.RAID0 = true; in.Version = "1.46.0" }),
		"bottlerocket-raid0-old": input(nodeclass.Bottlerocket, func(in *Input) {
			in.RAID0 = true
			in.Version = "1.45.9"
		}),
		"al2-kubelet": input(nodeclass.AL2, func(in *Input) {
			in.Kubelet, in.RAID0, in.User = kubelet(t, fullKubelet), true, "echo it's me\n"
		}),
		"al2023-user-comment": input(nodeclass.AL2023, func(in *Input) { in.User = "#!/bin/bash\n# nothing yet\n" }),
		"ubuntu":              input(nodeclass.Ubuntu, func(in *Input) { in.User = "#!/bin/bash\necho hello\n" }),
		"al2-ipv6":            input(nodeclass.AL2, func(in *Input) { in.Cluster.DNS = "fd00::a" }),
		"windows2022":         input(nodeclass.Windows2022, func(in *Input) { in.User = "Write-Host \"hi\"" }),
		"windows2022-kubelet": input(nodeclass.Windows2022, func(in *Input) { in.Kubelet = kubelet(t, fullKubelet) }),
		"al2-user-mime":       input(nodeclass.AL2, func(in *Input) { in.User = userMIME }),
		"al2023-ipv6":         input(nodeclass.AL2023, func(in *Input) { in.Cluster.CIDR, in.Cluster.DNS = "fd30:1::/108", "fd30:1::a" }),
		"al2023-further": input(nodeclass.AL2023, func(in *Input) {
			in.MaxPods = 20
			in.Kubelet = kubelet(t, `{"maxPods":"20","clusterDNS":["10.0.1.1","10.0.1.2"],"shutdownGracePeriod":"30s","memorySwap":{"swapBehavior":"LimitedSwap"},"registryPullQPS":0}`)
		}),
		"bottlerocket-ipv6":          input(nodeclass.Bottlerocket, func(in *Input) { in.Cluster.CIDR, in.Cluster.DNS = "fd30:1::/108", "fd30:1::a" }),
		"bottlerocket-raid0-unknown": input(nodeclass.Bottlerocket, func(in *Input) { in.RAID0 = true }),
		"custom":                     input(nodeclass.Custom, func(in *Input) { in.User = "anything at all" }),
	}
	for name, in := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Render(in)
			if err != nil {
				t.Fatal(err)
			}
			if again, _ := Render(in); again != got {
				t.Errorf("two renderings of one input differ:\n%s\n%s", got, again)
			}
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("user data differs (run with -update, then read the diff)\n got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

const userTOML = `[settings.kubernetes]
max-pods = 5
cloud-provider = "external"

[settings.kubernetes.node-labels]
team = "other"
mine = "kept"

[settings.kubernetes.node-taints]
gone = ["x:NoSchedule"]

[settings.some-new-setting]
deep = { of = [1, 2] }

[settings.host-containers.admin]
enabled = true
`

func TestBottlerocketKeepsWhatItDoesNotKnow(t *testing.T) {
	got, err := Render(input(nodeclass.Bottlerocket, func(in *Input) { in.User = userTOML }))
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Settings struct {
			Unknown    map[string]any `toml:"some-new-setting"`
			Kubernetes map[string]any
		}
	}
	if err := toml.Unmarshal([]byte(got), &back); err != nil {
		t.Fatalf("%v in\n%s", err, got)
	}
	if back.Settings.Unknown["deep"] == nil {
		t.Errorf("the setting some-new-setting was lost:\n%s", got)
	}
	k := back.Settings.Kubernetes
	labels := k["node-labels"].(map[string]any)
	if labels["team"] != "web" || labels["mine"] != "kept" {
		t.Errorf("node-labels = %v, want ours to win and others kept", labels)
	}
	if _, kept := k["node-taints"].(map[string]any)["gone"]; kept {
		t.Error("the user's node-taints were kept, but a pool's taints are all there are")
	}
	if k["max-pods"] != int64(29) {
		t.Errorf("max-pods = %v, want 29", k["max-pods"])
	}
}

func TestRenderRefuses(t *testing.T) {
	tests := map[string]struct {
		in   Input
		want string
	}{
		"AL2023 without a service network": {input(nodeclass.AL2023, func(in *Input) { in.Cluster.CIDR = "" }), "CIDR"},
		"TOML that is none":                {input(nodeclass.Bottlerocket, func(in *Input) { in.User = "echo hello" }), "TOML"},
		"settings that are no table":       {input(nodeclass.Bottlerocket, func(in *Input) { in.User = "settings = 5" }), "table"},
		"a family nobody knows":            {input("Plan9", nil), "Plan9"},
		"MIME without an end": {input(nodeclass.AL2023, func(in *Input) {
			in.User = strings.TrimSuffix(userMIME, "--BOUNDARY--\n")
		}), "boundary"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			text, err := Render(tt.in)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Render = %q, %v; want an error about %s", text, err, tt.want)
			}
		})
	}
}

func TestRenderRefusesWhatEC2CannotTake(t *testing.T) {
	_, err := Render(input(nodeclass.Custom, func(in *Input) { in.User = strings.Repeat("x", LimitBytes+1) }))
	if tooLarge, ok := errors.AsType[*TooLargeError](err); !ok || tooLarge.Bytes != LimitBytes+1 {
		t.Errorf("Render of too much = %v, want a TooLargeError with its size", err)
	}
	if _, err := Render(input(nodeclass.Custom, func(in *Input) { in.User = strings.Repeat("x", LimitBytes) })); err != nil {
		t.Errorf("Render of just as much as EC2 takes = %v", err)
	}
}

func TestLabelsLeftToRegistration(t *testing.T) {
	got := nodeLabels(map[string]string{
		"kubernetes.io/arch": "x", "node.kubernetes.io/instance-type": "x", "a.k8s.io/b": "x", "k8s.io/c": "x",
		"karpenter.k8s.aws/instance-cpu": "2", "notk8s.io/d": "x", "plain": "x",
	})
	want := []string{LabelDoNotSyncTaints, "karpenter.k8s.aws/instance-cpu", "notk8s.io/d", "plain"}
	if len(got) != len(want) {
		t.Errorf("nodeLabels = %v, want the keys %v", got, want)
	}
	for _, k := range want {
		if _, ok := got[k]; !ok {
			t.Errorf("nodeLabels = %v lacks %s", got, k)
		}
	}
}
