package userdata

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"sigs.k8s.io/yaml"
)

// ErrNoCIDR says that AL2023 needs the cluster's service network and that it
// is not known.
var ErrNoCIDR = errors.New("the cluster's service CIDR is not known: AL2023 nodes need it; allow eks:DescribeCluster")

// nodeConfigMIME writes the user's parts and then a NodeConfig. nodeadm merges
// NodeConfigs in order, so the last one wins.
func nodeConfigMIME(in Input) (string, error) {
	if in.Cluster.CIDR == "" {
		return "", ErrNoCIDR
	}
	parts, err := userParts(in.User, true)
	if err != nil {
		return "", err
	}
	config, err := nodeConfig(in)
	if err != nil {
		return "", err
	}
	return joinMIME(append(parts, newPart(typeNodeConfig, "# Written by the autoscaler.\n"+config)))
}

// userParts turns what the user wrote into MIME parts: those of a MIME
// document as they are; else one part, which is a NodeConfig when it may be
// one and reads as a YAML map, and a script otherwise.
func userParts(text string, yamlAllowed bool) ([]part, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	parts, isMIME, err := splitMIME(text)
	if isMIME || err != nil {
		return parts, err
	}
	if document := map[string]any{}; yamlAllowed && !isScript(text) && yaml.Unmarshal([]byte(text), &document) == nil {
		return []part{newPart(typeNodeConfig, text)}, nil
	}
	return []part{newPart(typeShell, text)}, nil
}

func nodeConfig(in Input) (string, error) {
	kubelet := maps.Clone(in.Kubelet.Raw)
	if kubelet == nil {
		kubelet = map[string]any{}
	}
	if in.MaxPods > 0 {
		kubelet["maxPods"] = in.MaxPods
	}
	if dns := clusterDNS(in); dns != nil {
		kubelet["clusterDNS"] = dns
	}
	if len(in.Taints) > 0 {
		kubelet["registerWithTaints"] = taintObjects(in.Taints)
	}
	spec := map[string]any{
		"cluster": map[string]any{
			"name": in.Cluster.Name, "apiServerEndpoint": in.Cluster.Endpoint,
			"certificateAuthority": in.Cluster.CA, "cidr": in.Cluster.CIDR,
		},
		"kubelet": map[string]any{
			"config": kubelet,
			"flags":  []string{"--node-labels=" + pairs(nodeLabels(in.Labels), "=")},
		},
	}
	if in.RAID0 {
		spec["instance"] = map[string]any{"localStorage": map[string]any{"strategy": "RAID0"}}
	}
	document := map[string]any{"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec}
	text, err := yaml.Marshal(document)
	if err != nil {
		return "", fmt.Errorf("write NodeConfig: %w", err)
	}
	return string(text), nil
}

func taintObjects(taints []Taint) []map[string]string {
	out := make([]map[string]string, len(taints))
	for i, t := range taints {
		out[i] = map[string]string{"key": t.Key, "effect": t.Effect}
		if t.Value != "" {
			out[i]["value"] = t.Value
		}
	}
	return out
}
