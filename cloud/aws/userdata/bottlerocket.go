package userdata

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// bottlerocket merges the settings that must hold into the user's TOML. Keys
// that are not ours stay as the user wrote them, known or not.
func bottlerocket(in Input) (string, error) {
	document := map[string]any{}
	if strings.TrimSpace(in.User) != "" { // blanks that TOML does not know, as a carriage return alone, say nothing either
		if err := toml.Unmarshal([]byte(in.User), &document); err != nil {
			return "", notTOML(err)
		}
	}
	settings, err := table(document, "settings")
	if err != nil {
		return "", err
	}
	kubernetes, err := table(settings, "kubernetes")
	if err != nil {
		return "", err
	}
	if err := setKubernetes(kubernetes, in); err != nil {
		return "", err
	}
	if in.RAID0 {
		commands, err := table(settings, "bootstrap-commands")
		if err != nil {
			return "", err
		}
		commands["000-mount-instance-storage"] = mountInstanceStorage(in.Version)
	}
	text, err := toml.Marshal(document)
	if err != nil {
		return "", fmt.Errorf("write Bottlerocket settings: %w", err)
	}
	return string(text), nil
}

func setKubernetes(k map[string]any, in Input) error {
	k["cluster-name"] = in.Cluster.Name
	k["api-server"] = in.Cluster.Endpoint
	if in.Cluster.CA != "" {
		k["cluster-certificate"] = in.Cluster.CA
	}
	labels, err := table(k, "node-labels")
	if err != nil {
		return err
	}
	for key, value := range nodeLabels(in.Labels) {
		labels[key] = value
	}
	delete(k, "node-taints")
	if len(in.Taints) > 0 {
		k["node-taints"] = taintLists(in.Taints)
	}
	if in.MaxPods > 0 {
		k["max-pods"] = in.MaxPods
	}
	if dns := clusterDNS(in); len(dns) > 0 {
		k["cluster-dns-ip"] = dns[0]
	}
	setKubelet(k, in)
	return nil
}

// setKubelet writes the typed kubelet settings in Bottlerocket's names.
func setKubelet(k map[string]any, in Input) {
	for _, t := range []struct {
		key    string
		values map[string]string
	}{
		{"system-reserved", in.Kubelet.SystemReserved}, {"kube-reserved", in.Kubelet.KubeReserved},
		{"eviction-hard", in.Kubelet.EvictionHard}, {"eviction-soft", in.Kubelet.EvictionSoft},
		{"eviction-soft-grace-period", in.Kubelet.EvictionSoftGracePeriod},
	} {
		if len(t.values) > 0 {
			k[t.key] = maps.Clone(t.values)
		}
	}
	if n := in.Kubelet.EvictionMaxPodGrace; n != nil {
		k["eviction-max-pod-grace-period"] = *n
	}
	if n := in.Kubelet.ImageGCHighPercent; n != nil {
		k["image-gc-high-threshold-percent"] = strconv.FormatInt(*n, 10)
	}
	if n := in.Kubelet.ImageGCLowPercent; n != nil {
		k["image-gc-low-threshold-percent"] = strconv.FormatInt(*n, 10)
	}
	if q := in.Kubelet.CPUCFSQuota; q != nil {
		k["cpu-cfs-quota-enforced"] = *q
	}
}

func taintLists(taints []Taint) map[string][]string {
	out := map[string][]string{}
	for _, t := range taints {
		out[t.Key] = append(out[t.Key], t.Value+":"+t.Effect)
	}
	return out
}

// mountInstanceStorage is the command that joins the local disks. Releases
// before 1.46.0 do not know by themselves what to put there.
func mountInstanceStorage(version string) map[string]any {
	bind := []string{"apiclient", "ephemeral-storage", "bind"}
	if !atLeast(version, 1, 46, 0) {
		bind = append(bind, "--dirs", "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods")
	}
	return map[string]any{
		"commands":  [][]string{{"apiclient", "ephemeral-storage", "init"}, bind},
		"mode":      "always",
		"essential": true,
	}
}

// atLeast compares a version such as "1.46.0" or "v1.46.0-abc"; one that is
// not known is older than any.
func atLeast(version string, want ...int) bool {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	got := make([]int, 0, 3)
	for _, word := range strings.Split(version, ".") {
		n, err := strconv.Atoi(word)
		if err != nil {
			return false
		}
		got = append(got, n)
	}
	return slices.Compare(got, want) >= 0
}

// table returns the named table inside another, making it where it is not.
func table(parent map[string]any, name string) (map[string]any, error) {
	value, ok := parent[name]
	if !ok {
		child := map[string]any{}
		parent[name] = child
		return child, nil
	}
	child, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("spec.userData: %q must be a table of Bottlerocket's settings, not %T", name, value)
	}
	return child, nil
}
