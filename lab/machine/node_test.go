package machine

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestKubeletVersion(t *testing.T) {
	tests := map[string]struct{ image, want string }{
		"an image of the cluster's version":     {"amazon-eks-node-al2023-x86_64-standard-1.36-v20261101", "v1.36.3-eks-3025e55"},
		"an older image":                        {"bottlerocket-aws-k8s-1.34-x86_64-v1.46.0", "v1.34.0-eks-3025e55"},
		"a Windows image":                       {"Windows_Server-2022-English-Core-EKS_Optimized-1.35-2026.11.11", "v1.35.0-eks-3025e55"},
		"an Ubuntu image":                       {"ubuntu-eks/k8s_1.32/images/hvm-ssd/ubuntu-jammy-22.04-amd64-server-20250801", "v1.32.0-eks-3025e55"},
		"an own image that tells no version":    {"golden-image-7", "v1.36.3-eks-3025e55"},
		"an image whose own version is no hint": {"thing-v1.21.0", "v1.36.3-eks-3025e55"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := kubeletVersion(tt.image, "v1.36.3"); got != tt.want {
				t.Errorf("kubeletVersion(%s) = %s, want %s", tt.image, got, tt.want)
			}
		})
	}
}

func TestDeclaredFeatures(t *testing.T) {
	for version, want := range map[string]int{"v1.36.3-eks-3025e55": 4, "v1.35.0-eks-3025e55": 0, "nonsense": 0} {
		if got := declaredFeatures(version); len(got) != want {
			t.Errorf("declaredFeatures(%s) = %v, want %d of them", version, got, want)
		}
	}
}

// A condition that was reported by hand takes the place of the kubelet's own.
func TestConditions(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	extra := map[corev1.NodeConditionType]corev1.NodeCondition{
		corev1.NodeReady: {Type: corev1.NodeReady, Status: corev1.ConditionUnknown},
		"Deadlock":       {Type: "Deadlock", Status: corev1.ConditionTrue},
	}
	seen := map[corev1.NodeConditionType]corev1.ConditionStatus{}
	all := conditions(now, true, now, extra)
	for _, c := range all {
		seen[c.Type] = c.Status
	}
	if len(all) != 5 || seen[corev1.NodeReady] != "Unknown" || seen["Deadlock"] != "True" || seen[corev1.NodeMemoryPressure] != "False" {
		t.Errorf("conditions = %v; want three of the kubelet's and the two reported", seen)
	}
}
