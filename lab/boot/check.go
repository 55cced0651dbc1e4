package boot

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Joins reports whether a kubelet with these settings reaches the given cluster and is let
// in under the labels it asks for; the error is what its log would say when not.
func (s Settings) Joins(truth Cluster) error {
	if strings.TrimRight(s.Cluster.Endpoint, "/") != strings.TrimRight(truth.Endpoint, "/") {
		return fmt.Errorf("unable to register node with API server: dial %s: no route to host", s.Cluster.Endpoint)
	}
	if !bytes.Equal(certificates(s.Cluster.CA), certificates(truth.CA)) {
		return fmt.Errorf("unable to register node with API server %s: x509: certificate signed by unknown authority",
			s.Cluster.Endpoint)
	}
	if s.Cluster.Name != truth.Name {
		return fmt.Errorf("unable to register node with API server: Unauthorized (token was made for cluster %q)",
			s.Cluster.Name)
	}
	return s.checkLabels()
}

// certificates returns the raw certificates of a PEM bundle, or the text as
// it is when there is none in it.
func certificates(bundle []byte) []byte {
	var out []byte
	for rest := bundle; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		out = append(out, block.Bytes...)
	}
	if out == nil {
		return bytes.TrimSpace(bundle)
	}
	return out
}

// checkLabels refuses what the kubelet refuses at its start: labels of the
// Kubernetes domains other than those that a node may set on itself.
func (s Settings) checkLabels() error {
	var refused []string
	for _, key := range slices.Sorted(maps.Keys(s.Labels)) {
		if !kubeletMaySet(key) {
			refused = append(refused, key)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return fmt.Errorf("unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: %v; "+
		"they must begin with an allowed prefix (kubelet.kubernetes.io, node.kubernetes.io) or be in the allowed set",
		refused)
}

func kubeletMaySet(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	if !ok || !isKubernetesDomain(domain) {
		return true
	}
	for _, own := range []string{"kubelet.kubernetes.io", "node.kubernetes.io"} {
		if domain == own || strings.HasSuffix(domain, "."+own) {
			return true
		}
	}
	return slices.Contains([]string{
		"kubernetes.io/arch", "kubernetes.io/os", "kubernetes.io/hostname",
		"beta.kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/instance-type",
		"failure-domain.beta.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone",
		"topology.kubernetes.io/region", "topology.kubernetes.io/zone",
	}, key)
}

func isKubernetesDomain(domain string) bool {
	for _, d := range []string{"kubernetes.io", "k8s.io"} {
		if domain == d || strings.HasSuffix(domain, "."+d) {
			return true
		}
	}
	return false
}
