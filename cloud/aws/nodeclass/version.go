package nodeclass

import (
	"regexp"
	"strconv"
	"strings"
)

// published are the names of images that are published for one version of
// Kubernetes, which is the first group: those of EKS, Bottlerocket, Windows and
// Canonical. Names that users choose may say anything.
var published = regexp.MustCompile(
	`^(?:amazon-eks-(?:[a-z0-9_]+-)*|bottlerocket-aws-k8s-|Windows_Server-.*-EKS_Optimized-|ubuntu-eks[-a-z]*/k8s_)(1\.[0-9]+)[-/]`)

// Kubelet is the minor version of the kubelet of an image that is published for one: 36 of
// "bottlerocket-aws-k8s-1.36-x86_64-v1.46.0-5d2a1b8c". It is false for names that say none.
func (i Image) Kubelet() (minor int, known bool) {
	found := published.FindStringSubmatch(i.Name)
	if found == nil {
		return 0, false
	}
	return Minor(found[1])
}

// Minor is the minor version of "1.36", "v1.36.2" and the like.
func Minor(kubernetes string) (int, bool) {
	major, rest, ok := strings.Cut(strings.TrimPrefix(kubernetes, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	return n, ok && major == "1" && err == nil
}
