package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
)

// kubeletOf turns the settings of a kubelet; nil where nothing of them is left.
func kubeletOf(s *subject, field string, k *v1alpha5.KubeletConfiguration) *awsv1.Kubelet {
	s.note(Maps, field, "spec.kubelet of its EC2NodeClass")
	if k.ContainerRuntime != nil {
		if *k.ContainerRuntime == "containerd" {
			s.note(Maps, field+".containerRuntime", "containerd is what nodes run, it need not be said")
		} else {
			s.note(Loses, field+".containerRuntime", "%s cannot be had, nodes run containerd: see that nothing needs its socket", *k.ContainerRuntime)
		}
	}
	out := &awsv1.Kubelet{
		ClusterDNS: k.ClusterDNS, PodsPerCore: k.PodsPerCore,
		SystemReserved: amounts(k.SystemReserved), KubeReserved: amounts(k.KubeReserved),
		EvictionHard:                thresholds(s, field+".evictionHard", k.EvictionHard),
		EvictionSoft:                thresholds(s, field+".evictionSoft", k.EvictionSoft),
		EvictionSoftGracePeriod:     k.EvictionSoftGracePeriod,
		EvictionMaxPodGracePeriod:   k.EvictionMaxPodGracePeriod,
		ImageGCHighThresholdPercent: k.ImageGCHighThresholdPercent,
		ImageGCLowThresholdPercent:  k.ImageGCLowThresholdPercent,
		CPUCFSQuota:                 k.CPUCFSQuota,
	}
	if k.MaxPods != nil {
		out.MaxPods = new(intstr.FromInt32(*k.MaxPods))
	}
	if keyOf(out) == "{}" {
		return nil
	}
	return out
}

// keyOf distinguishes settings of kubelets.
func keyOf(k *awsv1.Kubelet) string {
	if k == nil {
		return ""
	}
	data, err := json.Marshal(k)
	if err != nil {
		panic("a kubelet's settings have fields that are no JSON: " + err.Error())
	}
	return string(data)
}

func amounts(list corev1.ResourceList) map[string]string {
	if len(list) == 0 {
		return nil
	}
	out := map[string]string{}
	for name, q := range list {
		out[string(name)] = q.String()
	}
	return out
}

// precise is a percentage with more than two decimals, or with none after its point.
var precise = regexp.MustCompile(`^[0-9]+\.([0-9]{3,}|)%$`)

func thresholds(s *subject, field string, from v1alpha5.EvictionThresholds) awsv1.EvictionThresholds {
	if len(from) == 0 {
		return nil
	}
	out := awsv1.EvictionThresholds{}
	for _, signal := range slices.Sorted(maps.Keys(from)) {
		text := string(from[signal])
		if precise.MatchString(text) {
			n, _ := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64) // matched above
			rounded := fmt.Sprintf("%.2f%%", n)
			s.note(Changes, field+"["+signal+"]", "%s is rounded to %s", text, rounded)
			text = rounded
		}
		out[signal] = awsv1.EvictionThreshold(text)
	}
	return out
}

// fitted is what nodes of a family can be configured with; what was ignored is left out.
func fitted(s *subject, field string, k *awsv1.Kubelet, family awsv1.AMIFamily) *awsv1.Kubelet {
	if k == nil || family == awsv1.FamilyCustom || family == awsv1.FamilyAL2023 {
		return k
	}
	out := *k
	if len(out.ClusterDNS) > 1 {
		s.note(Changes, field+".clusterDNS", "nodes of the family %s take one address: the first stays, as it was", family)
		out.ClusterDNS = out.ClusterDNS[:1]
	}
	if family == awsv1.FamilyBottlerocket && out.PodsPerCore != nil {
		s.note(Loses, field+".podsPerCore", "was ignored by the family Bottlerocket, it is left out")
		out.PodsPerCore = nil
	}
	if family == awsv1.FamilyBottlerocket && out.EvictionSoft != nil {
		s.note(Loses, field+".evictionSoft", "was ignored by the family Bottlerocket, it is left out")
		s.note(Loses, field+".evictionSoftGracePeriod", "was ignored by the family Bottlerocket, it is left out")
		out.EvictionSoft, out.EvictionSoftGracePeriod = nil, nil
	}
	if keyOf(&out) == "{}" {
		return nil
	}
	return &out
}
