package userdata

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// decisive are flags that are written as settings for AL2023: as flags they win over
// these, whichever NodeConfig comes last.
var decisive = map[string]string{
	"--register-with-taints":          "nodes register with these taints alone, without those of their NodePool and karpenter.sh/unregistered: write them as startupTaints of the NodePool",
	"--max-pods":                      "nodes run another number of pods than is planned with: write it as spec.kubelet.maxPods",
	"--pods-per-core":                 "nodes run another number of pods than is planned with: write it as spec.kubelet.podsPerCore",
	"--kube-reserved":                 "nodes keep other amounts than are planned with: write them as spec.kubelet.kubeReserved",
	"--system-reserved":               "nodes keep other amounts than are planned with: write them as spec.kubelet.systemReserved",
	"--eviction-hard":                 "nodes keep other amounts than are planned with: write them as spec.kubelet.evictionHard",
	"--register-node":                 "nodes do not register as they are expected to: remove it",
	"--hostname-override":             "nodes have another name than is expected: remove it",
	"--cluster-dns":                   "pods ask another DNS server: write it as spec.kubelet.clusterDNS",
	"--image-gc-high-threshold":       "it decides: write it as spec.kubelet.imageGCHighThresholdPercent",
	"--image-gc-low-threshold":        "it decides: write it as spec.kubelet.imageGCLowThresholdPercent",
	"--cpu-cfs-quota":                 "it decides: write it as spec.kubelet.cpuCFSQuota",
	"--eviction-soft":                 "it decides: write it as spec.kubelet.evictionSoft",
	"--eviction-soft-grace-period":    "it decides: write it as spec.kubelet.evictionSoftGracePeriod",
	"--eviction-max-pod-grace-period": "the class's own setting is ignored: write it as spec.kubelet.evictionMaxPodGracePeriod",
}

// Overrides says which flags of NodeConfigs that a user wrote win over what is written for
// nodes of the family, and what to do; empty for none.
func Overrides(family nodeclass.Family, text string) string {
	if family != nodeclass.AL2023 {
		return ""
	}
	var names []string
	for _, p := range nodeConfigs(text) {
		var document struct {
			Spec struct {
				Kubelet struct {
					Flags []string `json:"flags"`
				} `json:"kubelet"`
			} `json:"spec"`
		}
		if yaml.Unmarshal(p, &document) != nil {
			continue // which Check reports
		}
		for _, flag := range document.Spec.Kubelet.Flags {
			name, _, _ := strings.Cut(strings.TrimSpace(flag), "=")
			if decisive[name] != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	var words []string
	for _, name := range names {
		words = append(words, fmt.Sprintf("kubelet flag %s of a NodeConfig wins over what is written for the node, so %s", name, decisive[name]))
	}
	return strings.Join(words, "; ")
}

// nodeConfigs are the NodeConfigs in the text, but for those in base64.
func nodeConfigs(text string) [][]byte {
	parts, isMIME, err := splitMIME(text)
	if !isMIME && err == nil && looksLikeNodeConfig(text) {
		return [][]byte{[]byte(text)}
	}
	var out [][]byte
	for _, p := range parts {
		if strings.HasPrefix(p.header.Get("Content-Type"), typeNodeConfig) {
			out = append(out, p.body)
		}
	}
	return out
}
