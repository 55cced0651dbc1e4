package boot

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"

	kubeletv1 "k8s.io/kubelet/config/v1beta1"
	"sigs.k8s.io/yaml"
)

// nodeConfig is the part of nodeadm's NodeConfig that matters to a kubelet.
type nodeConfig struct {
	Spec struct {
		Cluster struct {
			Name                 string `json:"name"`
			APIServerEndpoint    string `json:"apiServerEndpoint"`
			CertificateAuthority []byte `json:"certificateAuthority"`
			CIDR                 string `json:"cidr"`
		} `json:"cluster"`
		Kubelet struct {
			Config kubeletv1.KubeletConfiguration `json:"config"`
			Flags  []string                       `json:"flags"`
		} `json:"kubelet"`
		Instance struct {
			LocalStorage struct {
				Strategy string `json:"strategy"`
			} `json:"localStorage"`
		} `json:"instance"`
	} `json:"spec"`
}

// readNodeConfig does what nodeadm does: it collects every NodeConfig of the
// user data, merges them in order and refuses one without a whole cluster.
func readNodeConfig(data []byte) (Settings, error) {
	merged, err := mergedNodeConfig(data)
	if err != nil {
		return Settings{}, err
	}
	text, err := yaml.Marshal(merged)
	if err != nil {
		return Settings{}, fmt.Errorf("merge NodeConfig: %w", err)
	}
	var c nodeConfig
	if err := yaml.Unmarshal(text, &c); err != nil {
		return Settings{}, fmt.Errorf("NodeConfig: %w", err)
	}
	if err := c.validate(); err != nil {
		return Settings{}, err
	}
	return c.settings()
}

func mergedNodeConfig(data []byte) (map[string]any, error) {
	all, err := parts(data)
	if err != nil {
		return nil, err
	}
	var merged map[string]any
	for _, p := range all {
		if p.contentType != typeNodeConfig && p.contentType != "" {
			continue
		}
		one, err := decodeNodeConfig(p.body)
		if err != nil {
			return nil, err
		}
		merged = mergeNodeConfig(merged, one)
	}
	if merged == nil {
		return nil, errors.New("could not find NodeConfig within user data")
	}
	return merged, nil
}

func decodeNodeConfig(body []byte) (map[string]any, error) {
	var one map[string]any
	if err := yaml.Unmarshal(body, &one); err != nil {
		return nil, fmt.Errorf("NodeConfig: %w", err)
	}
	if one["apiVersion"] != "node.eks.aws/v1alpha1" || one["kind"] != "NodeConfig" {
		return nil, fmt.Errorf("no kind %v is registered for version %v, want NodeConfig of node.eks.aws/v1alpha1",
			one["kind"], one["apiVersion"])
	}
	return one, nil
}

// mergeNodeConfig lays one config over another: later values win, lists are
// replaced, save the kubelet's flags, which add up.
func mergeNodeConfig(under, over map[string]any) map[string]any {
	out := overlay(under, over)
	flags := append(kubeletFlags(under), kubeletFlags(over)...)
	if len(flags) > 0 {
		out["spec"].(map[string]any)["kubelet"].(map[string]any)["flags"] = flags
	}
	return out
}

func kubeletFlags(config map[string]any) []any {
	spec, _ := config["spec"].(map[string]any)
	kubelet, _ := spec["kubelet"].(map[string]any)
	flags, _ := kubelet["flags"].([]any)
	return flags
}

// overlay merges maps deeply; it does not change its arguments.
func overlay(under, over map[string]any) map[string]any {
	out := maps.Clone(under)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range over {
		upper, isMap := v.(map[string]any)
		lower, wasMap := out[k].(map[string]any)
		if isMap && (wasMap || out[k] == nil) {
			out[k] = overlay(lower, upper)
			continue
		}
		out[k] = v
	}
	return out
}

func (c nodeConfig) validate() error {
	cluster := c.Spec.Cluster
	switch {
	case cluster.Name == "":
		return errors.New("name is missing in cluster configuration")
	case cluster.APIServerEndpoint == "":
		return errors.New("apiServerEndpoint is missing in cluster configuration")
	case len(cluster.CertificateAuthority) == 0:
		return errors.New("certificateAuthority is missing in cluster configuration")
	case cluster.CIDR == "":
		return errors.New("cidr is missing in cluster configuration")
	}
	if _, err := netip.ParsePrefix(cluster.CIDR); err != nil {
		return fmt.Errorf("cidr of cluster configuration: %w", err)
	}
	return nil
}

func (c nodeConfig) settings() (Settings, error) {
	cluster, kubelet := c.Spec.Cluster, c.Spec.Kubelet.Config
	s := Settings{
		Cluster: Cluster{
			Name: cluster.Name, Endpoint: cluster.APIServerEndpoint,
			CA: cluster.CertificateAuthority, CIDR: cluster.CIDR,
		},
		Labels:         map[string]string{},
		Taints:         kubelet.RegisterWithTaints,
		MaxPods:        kubelet.MaxPods,
		PodsPerCore:    kubelet.PodsPerCore,
		ClusterDNS:     kubelet.ClusterDNS,
		SystemReserved: kubelet.SystemReserved,
		// nodeadm writes its own values and lays the user's over them, by key.
		KubeReserved: kubelet.KubeReserved,
		EvictionHard: layer(defaultEviction(), kubelet.EvictionHard),
		RAID0:        c.Spec.Instance.LocalStorage.Strategy == "RAID0",
	}
	if len(s.ClusterDNS) == 0 {
		s.ClusterDNS = []string{dnsOf(cluster.CIDR)}
	}
	return s, applyFlags(&s, c.Spec.Kubelet.Flags)
}

// dnsOf is the address of the cluster's DNS service: the tenth of its range.
func dnsOf(cidr string) string {
	prefix, err := netip.ParsePrefix(cidr)
	if err != nil {
		return ""
	}
	bytes := prefix.Masked().Addr().AsSlice()
	bytes[len(bytes)-1] = 10
	addr, _ := netip.AddrFromSlice(bytes)
	return addr.String()
}

func defaultEviction() map[string]string {
	return map[string]string{
		"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%",
	}
}

// layer returns under with over laid over it, by key.
func layer(under, over map[string]string) map[string]string {
	out := maps.Clone(under)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, over)
	return out
}
