package nodeclass

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kubelet is the kubelet's configuration as the user gave it. The typed fields are what
// every family understands; Raw is the whole document, which families with a configuration
// file of their own (AL2023) take as it is. Amounts are text in Kubernetes' notation, or
// expressions over the instance type: Sizing says what these come to.
type Kubelet struct {
	Raw                     map[string]any
	ClusterDNS              []string
	MaxPods                 *int64
	MaxPodsBy               string // an expression in place of MaxPods; empty for none
	PodsPerCore             *int64
	SystemReserved          map[string]string
	KubeReserved            map[string]string
	EvictionHard            map[string]string
	EvictionSoft            map[string]string
	EvictionSoftGracePeriod map[string]string
	EvictionMaxPodGrace     *int64
	ImageGCHighPercent      *int64
	ImageGCLowPercent       *int64
	CPUCFSQuota             *bool
}

// kubeletFields is the wire form of the typed fields. Amounts may be written
// as numbers, so they are read as any.
type kubeletFields struct {
	ClusterDNS              []string       `json:"clusterDNS"`
	MaxPods                 any            `json:"maxPods"`
	PodsPerCore             *int64         `json:"podsPerCore"`
	SystemReserved          map[string]any `json:"systemReserved"`
	KubeReserved            map[string]any `json:"kubeReserved"`
	EvictionHard            map[string]any `json:"evictionHard"`
	EvictionSoft            map[string]any `json:"evictionSoft"`
	EvictionSoftGracePeriod map[string]any `json:"evictionSoftGracePeriod"`
	EvictionMaxPodGrace     *int64         `json:"evictionMaxPodGracePeriod"`
	ImageGCHighPercent      *int64         `json:"imageGCHighThresholdPercent"`
	ImageGCLowPercent       *int64         `json:"imageGCLowThresholdPercent"`
	CPUCFSQuota             *bool          `json:"cpuCFSQuota"`
}

// ParseKubelet reads a KubeletConfiguration document in JSON, of which any
// field may be set. Empty input is an empty configuration.
func ParseKubelet(document []byte) (Kubelet, error) {
	if len(bytes.TrimSpace(document)) == 0 || string(bytes.TrimSpace(document)) == "null" {
		return Kubelet{}, nil
	}
	var k Kubelet
	if err := decode(document, &k.Raw); err != nil {
		return Kubelet{}, fmt.Errorf("parse kubelet configuration: %w", err)
	}
	var f kubeletFields
	if err := decode(document, &f); err != nil {
		return Kubelet{}, fmt.Errorf("parse kubelet configuration: %w", err)
	}
	if f.MaxPods != nil {
		if err := k.readMaxPods(f.MaxPods); err != nil {
			return Kubelet{}, err
		}
	}
	k.ClusterDNS, k.PodsPerCore, k.CPUCFSQuota = f.ClusterDNS, f.PodsPerCore, f.CPUCFSQuota
	k.SystemReserved, k.KubeReserved = texts(f.SystemReserved), texts(f.KubeReserved)
	k.EvictionHard, k.EvictionSoft = texts(f.EvictionHard), texts(f.EvictionSoft)
	k.EvictionSoftGracePeriod, k.EvictionMaxPodGrace = texts(f.EvictionSoftGracePeriod), f.EvictionMaxPodGrace
	k.ImageGCHighPercent, k.ImageGCLowPercent = f.ImageGCHighPercent, f.ImageGCLowPercent
	return k, k.check()
}

// readMaxPods takes a number, also one in quotes, or an expression in quotes.
func (k *Kubelet) readMaxPods(value any) error {
	text := strings.TrimSpace(fmt.Sprint(value))
	n, err := strconv.ParseInt(text, 10, 64)
	_, bare := value.(json.Number)
	switch {
	case err == nil && n >= 0:
		k.MaxPods, k.Raw["maxPods"] = &n, n
	case bare || err == nil:
		return fmt.Errorf("kubelet.maxPods is %s: write how many pods a node may run, or an expression over the instance type in quotes", text)
	default:
		k.MaxPodsBy = text
	}
	return nil
}

// check refuses amounts and lengths that cannot be read, so that a typing mistake is
// reported before an instance is launched.
func (k Kubelet) check() error {
	if _, err := k.Sizing(); err != nil {
		return err
	}
	for _, list := range []struct {
		field  string
		values map[string]string
	}{{"systemReserved", k.SystemReserved}, {"kubeReserved", k.KubeReserved}} {
		for _, key := range slices.Sorted(maps.Keys(list.values)) {
			if n, err := ParseAmount(list.values[key]); err == nil && n.Sign() < 0 {
				return fmt.Errorf("kubelet.%s.%s is %q: write an amount such as 100m or 512Mi", list.field, key, list.values[key])
			}
		}
	}
	for _, list := range []map[string]string{k.EvictionHard, k.EvictionSoft} {
		for _, key := range slices.Sorted(maps.Keys(list)) {
			if _, err := ParseThreshold(list[key], 100); err != nil {
				return fmt.Errorf("kubelet eviction threshold %s: %w", key, err)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(k.EvictionSoftGracePeriod)) {
		if _, err := time.ParseDuration(k.EvictionSoftGracePeriod[key]); err != nil {
			return fmt.Errorf("kubelet.evictionSoftGracePeriod.%s is %q: write a duration such as 1m30s",
				key, k.EvictionSoftGracePeriod[key])
		}
	}
	return nil
}

func decode(document []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	return d.Decode(into)
}

func texts(values map[string]any) map[string]string {
	if values == nil {
		return nil
	}
	out := make(map[string]string, len(values))
	for k, v := range values {
		out[k] = strings.TrimSpace(fmt.Sprint(v))
	}
	return out
}
