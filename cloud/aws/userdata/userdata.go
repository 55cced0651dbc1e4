// Package userdata writes the script that an instance reads at its first boot: how to join the
// cluster, with which labels, taints and kubelet settings, merged with the user's own user data.
//
// It promises the same bytes for the same input, because the name of a launch template is a hash of
// them. It makes no calls.
package userdata

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// LimitBytes is the most user data that EC2 takes, before base64.
const LimitBytes = 16 << 10

// LabelDoNotSyncTaints says to the registration that the kubelet has set all taints itself,
// so that those removed meanwhile are not put back.
const LabelDoNotSyncTaints = "karpenter.sh/do-not-sync-taints"

// Cluster is what an instance must know to find and trust its cluster.
type Cluster struct {
	Name     string
	UID      string // distinguishes it from others of its name; empty: not known
	Endpoint string // URL of the API server
	CA       string // its certificate authority in PEM, base64
	CIDR     string // of services
	DNS      string // address of the cluster's DNS; empty: the instance finds out
}

// IPv6 reports whether pods and services have addresses of IPv6, as far as is known.
func (c Cluster) IPv6() bool { return strings.Contains(c.DNS+c.CIDR, ":") }

// Taint is a taint as text.
type Taint struct{ Key, Value, Effect string }

// Input is everything that an instance's user data depends on.
type Input struct {
	Family  nodeclass.Family
	Cluster Cluster
	Kubelet nodeclass.Kubelet
	MaxPods int64 // 0: the instance finds out
	Labels  map[string]string
	Taints  []Taint // all the node shall register with, in order
	RAID0   bool
	Version string // of the operating system, where known
	User    string // what the user wrote
}

// Render returns the user data as text, not yet in base64. The error says
// what of the input cannot be.
func Render(in Input) (string, error) {
	text, err := render(in)
	if err != nil {
		return "", err
	}
	if len(text) > LimitBytes {
		return "", &TooLargeError{Bytes: len(text)}
	}
	return text, nil
}

// TooLargeError says that the user data exceeds what EC2 takes.
type TooLargeError struct{ Bytes int }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("user data is %d bytes, EC2 takes %d: shorten spec.userData or let it fetch its script",
		e.Bytes, LimitBytes)
}

func render(in Input) (string, error) {
	switch f := in.Family; {
	case f == nodeclass.Custom:
		return in.User, nil
	case f == nodeclass.AL2023:
		return nodeConfigMIME(in)
	case f == nodeclass.Bottlerocket:
		return bottlerocket(in)
	case f == nodeclass.AL2 || f == nodeclass.Ubuntu:
		return bootstrapMIME(in)
	case f.Windows():
		return powershell(in), nil
	}
	return "", fmt.Errorf("image family %q is not known: use AL2, AL2023, Bottlerocket, Windows2019, Windows2022, Windows2025 or Custom", in.Family)
}

// nodeLabels is what the kubelet may set itself: labels in the domains
// kubernetes.io and k8s.io are left to the registration, since the node's own
// identity may not set them.
func nodeLabels(labels map[string]string) map[string]string {
	out := map[string]string{LabelDoNotSyncTaints: "true"}
	for k, v := range labels {
		if domain, _, ok := strings.Cut(k, "/"); ok && reserved(domain) {
			continue
		}
		out[k] = v
	}
	return out
}

func reserved(domain string) bool {
	for _, r := range []string{"kubernetes.io", "k8s.io"} {
		if domain == r || strings.HasSuffix(domain, "."+r) {
			return true
		}
	}
	return false
}

// pairs joins a map in the order of its keys: "a=1,b=2".
func pairs(m map[string]string, between string) string {
	words := make([]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		words = append(words, k+between+m[k])
	}
	return strings.Join(words, ",")
}

// clusterDNS is what the user gave, else the cluster's own address.
func clusterDNS(in Input) []string {
	if len(in.Kubelet.ClusterDNS) > 0 {
		return in.Kubelet.ClusterDNS
	}
	if in.Cluster.DNS != "" {
		return []string{in.Cluster.DNS}
	}
	return nil
}
