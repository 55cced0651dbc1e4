package boot

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	corev1 "k8s.io/api/core/v1"
)

// bottlerocketData is the part of Bottlerocket's settings that a node shows.
type bottlerocketData struct {
	Settings struct {
		Kubernetes        bottlerocketKubernetes `toml:"kubernetes"`
		BootstrapCommands map[string]struct {
			Commands [][]string `toml:"commands"`
		} `toml:"bootstrap-commands"`
	} `toml:"settings"`
}

type bottlerocketKubernetes struct {
	ClusterName    string            `toml:"cluster-name"`
	APIServer      string            `toml:"api-server"`
	Certificate    string            `toml:"cluster-certificate"`
	ClusterDNS     any               `toml:"cluster-dns-ip"` // a string or a list
	NodeLabels     map[string]string `toml:"node-labels"`
	NodeTaints     map[string]any    `toml:"node-taints"` // key to "value:Effect", or a list of them
	MaxPods        int32             `toml:"max-pods"`
	KubeReserved   map[string]string `toml:"kube-reserved"`
	SystemReserved map[string]string `toml:"system-reserved"`
	EvictionHard   map[string]string `toml:"eviction-hard"`
}

func readBottlerocket(data []byte) (Settings, error) {
	var d bottlerocketData
	if err := toml.Unmarshal(data, &d); err != nil {
		return Settings{}, fmt.Errorf("settings TOML: %w", err)
	}
	k := d.Settings.Kubernetes
	if k.ClusterName == "" || k.APIServer == "" || k.Certificate == "" {
		return Settings{}, errors.New("settings.kubernetes: cluster-name, api-server and cluster-certificate are required")
	}
	ca, err := decodeBase64(k.Certificate)
	if err != nil {
		return Settings{}, fmt.Errorf("settings.kubernetes.cluster-certificate: %w", err)
	}
	taints, err := bottlerocketTaints(k.NodeTaints)
	if err != nil {
		return Settings{}, fmt.Errorf("settings.kubernetes.node-taints: %w", err)
	}
	s := Settings{
		Cluster:        Cluster{Name: k.ClusterName, Endpoint: k.APIServer, CA: ca},
		Labels:         layer(nil, k.NodeLabels),
		Taints:         taints,
		MaxPods:        k.MaxPods,
		ClusterDNS:     textList(k.ClusterDNS),
		KubeReserved:   k.KubeReserved,
		SystemReserved: k.SystemReserved,
		EvictionHard:   k.EvictionHard,
		RAID0:          mountsLocalDisks(d),
	}
	if s.EvictionHard == nil {
		s.EvictionHard = defaultEviction()
	}
	return s, nil
}

// bottlerocketTaints reads the table in the order of its keys.
func bottlerocketTaints(table map[string]any) ([]corev1.Taint, error) {
	var out []corev1.Taint
	for _, key := range slices.Sorted(maps.Keys(table)) {
		for _, text := range textList(table[key]) {
			taint, err := parseTaint(key + "=" + text)
			if err != nil {
				return nil, err
			}
			out = append(out, taint)
		}
	}
	return out, nil
}

// textList returns a value that may be a text or a list of texts as a list.
func textList(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, one := range v {
			if text, ok := one.(string); ok {
				out = append(out, text)
			}
		}
		return out
	}
	return nil
}

func mountsLocalDisks(d bottlerocketData) bool {
	for _, command := range d.Settings.BootstrapCommands {
		for _, words := range command.Commands {
			if strings.HasPrefix(strings.Join(words, " "), "apiclient ephemeral-storage init") {
				return true
			}
		}
	}
	return false
}
