package stories_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A pod that asks for EFA runs on an instance with an adapter. One that does not, and has
// no room beside it, runs on another of the same type, which has none.
func TestAdaptersAreAttachedForPodsThatAskForThem(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	const efa = "vpc.amazonaws.com/efa"
	s.pool(template(s.namespace, "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}",
		"{key: node.kubernetes.io/instance-type, operator: In, values: [c5n.18xlarge]}"))
	s.deploy("mpi", 1, from(s.namespace), asking(corev1.ResourceCPU, "40"), asking(efa, "1"))
	s.await("the pod with EFA to run", "v1/Pod", of("mpi", running(1)))
	s.deploy("web", 1, from(s.namespace), asking(corev1.ResourceCPU, "40"))
	s.await("the pod without to run", "v1/Pod", of("web", running(1)))
	types := map[string]string{}
	for _, i := range s.stableInstances() {
		for _, n := range i.NetworkInterfaces {
			types[*i.PrivateDnsName] += *n.InterfaceType
		}
	}
	s.await("the pods' machines to have what they ask for", "v1/Pod", func(pods []*unstructured.Unstructured) bool {
		for _, p := range pods {
			want := map[string]string{"mpi": "efa", "web": "interface"}[p.GetLabels()["app"]]
			if node := text(p, "spec", "nodeName"); types[node] != want {
				t.Errorf("pod %s runs on %s with the interfaces %q, want %q", p.GetName(), node, types[node], want)
			}
		}
		return true
	})
}

// Pods run that ask for what few types have: the instance is of such a type, and its node shows
// the resource once the device plugin, or the VPC resource controller, offers it. No image of EKS
// is for GPUs of AMD and Habana: their plugins bring the driver to whichever image is named.
func TestPodsRunWhereTheirTypesHaveWhatTheyAskFor(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	named := s.namespace + "-named"
	const onDemand = "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}"
	s.pool(template(s.namespace, onDemand, "{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, t3.large, g4dn.xlarge, inf2.xlarge]}"))
	s.class(named, `{amiFamily: AL2023, amiSelectorTerms: [{name: "amazon-eks-node-al2023-x86_64-standard-*", owner: amazon}]}`)
	s.poolOf(named, named, template(named, onDemand, "{key: node.kubernetes.io/instance-type, operator: In, values: [g4ad.xlarge, dl1.24xlarge]}"))
	asks := map[string]struct {
		resource corev1.ResourceName
		pool     string
	}{
		"eni":     {"vpc.amazonaws.com/pod-eni", s.namespace},
		"enclave": {"aws.ec2.nitro/nitro_enclaves", s.namespace},
		"nvidia":  {"nvidia.com/gpu", s.namespace},
		"neuron":  {"aws.amazon.com/neuron", s.namespace},
		"amd":     {"amd.com/gpu", named},
		"gaudi":   {"habana.ai/gaudi", named},
	}
	for app, a := range asks {
		s.deploy(app, 1, from(a.pool), asking(corev1.ResourceCPU, "1500m"), asking(a.resource, "1"))
	}
	for app, a := range asks {
		s.await("the pod that asks for "+string(a.resource)+" to run", "v1/Pod", of(app, running(1)))
	}
}
