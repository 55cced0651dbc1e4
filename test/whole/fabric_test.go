package whole_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/fakecloud"
)

// An instance that is launched for a pod without EFA has room for one with, but no adapter: a
// instance with adapters is launched before the first has joined.
func TestAPodThatAsksForEFAWaitsForNoInstanceWithout(t *testing.T) {
	const typ, efa = "c5n.18xlarge", "vpc.amazonaws.com/efa"
	reportAWSWith(t, fakecloud.Options{Seed: 1, Types: []string{typ}}, func(t *testing.T, w *world) {
		w.pool("default", func(p *karpv1.NodePool) {
			p.Spec.Template.Spec.Requirements[0] = karpv1.Requirement{Key: api.LabelInstanceType, Operator: "In", Values: []string{typ}}
		})
		w.start(setup{})
		w.scale("web", 1)
		w.until(time.Minute, "a machine for the pod without", func() bool { return w.launched() == 1 && w.claims()[0].Status.ProviderID != "" })
		plain := w.claims()[0]
		w.deploy("mpi", 1, func(p *corev1.Pod) {
			amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), efa: resource.MustParse("1")}
			p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: amounts, Limits: amounts}
		})
		w.until(20*time.Second, "a machine for the pod with EFA", func() bool { return w.launched() == 2 })
		if len(w.nodes()) > 0 {
			t.Fatalf("a node has joined, which says what it has: %s", w.state())
		}
		w.until(time.Minute, "both machines on their claims", func() bool {
			for _, c := range w.claims() {
				want := int64(1)
				if c.Name == plain.Name {
					want = 0
				}
				if c.Status.ProviderID == "" || translate.Resources(c.Status.Allocatable).Get(efa) != want {
					return false
				}
			}
			return len(w.claims()) == 2
		})
		attached := 0
		for _, i := range w.aws.server.Instances() {
			attached += i.Adapters
		}
		if attached != 1 {
			t.Errorf("%d adapters are attached, want one for the pod that asks: %s", attached, w.state())
		}
	})
}

// A pod that asks for a Nitro Enclave gets an instance on which they are enabled, of a type that supports them. One
// that does not gets an instance without.
func TestEnclavesAreEnabledForPodsThatAskForThem(t *testing.T) {
	const enclaves = "aws.ec2.nitro/nitro_enclaves"
	types := []string{"m5.large", "m5.xlarge"} // which is large enough
	reportAWSWith(t, fakecloud.Options{Seed: 1, Types: types}, func(t *testing.T, w *world) {
		w.pool("default", func(p *karpv1.NodePool) {
			p.Spec.Template.Spec.Requirements[0] = karpv1.Requirement{Key: api.LabelInstanceType, Operator: "In", Values: types}
		})
		w.start(setup{})
		w.deploy("web", 1, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{api.LabelInstanceType: "m5.large"} })
		w.deploy("signer", 1, func(p *corev1.Pod) {
			amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), enclaves: resource.MustParse("1")}
			p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: amounts, Limits: amounts}
		})
		w.until(time.Minute, "both machines on their claims", func() bool {
			for _, c := range w.claims() {
				want := int64(0)
				if c.Labels[api.LabelInstanceType] == "m5.xlarge" {
					want = 1
				}
				if c.Status.ProviderID == "" || translate.Resources(c.Status.Allocatable).Get(enclaves) != want {
					return false
				}
			}
			return len(w.claims()) == 2
		})
		enabled := map[string]bool{}
		for _, i := range w.aws.server.Instances() {
			enabled[i.Type] = i.Enclaves
		}
		if len(enabled) != 2 || enabled["m5.large"] || !enabled["m5.xlarge"] {
			t.Errorf("SC-452 enclaves are enabled on %v, want them on m5.xlarge alone: %s", enabled, w.state())
		}
	})
}

// Nodes of a static pool have the adapters that their class lists as network interfaces: no pod asks for them before
// they are launched.
func TestAStaticPoolHasTheAdaptersOfItsClass(t *testing.T) {
	const typ, efa = "c5n.18xlarge", "vpc.amazonaws.com/efa"
	reportAWSWith(t, fakecloud.Options{Seed: 1, Types: []string{typ}}, func(t *testing.T, w *world) {
		edit(w, w.nodeClass(), func(c *awsv1.EC2NodeClass) {
			c.Spec.NetworkInterfaces = []awsv1.NetworkInterface{{InterfaceType: awsv1.InterfaceTypeENI},
				{DeviceIndex: 1, InterfaceType: awsv1.InterfaceTypeEFAOnly}}
		})
		w.pool("kept", func(p *karpv1.NodePool) {
			keeps(2, 0)(p)
			p.Spec.Template.Spec.Requirements[0].Values = []string{typ}
		})
		w.start(setup{})
		w.until(5*time.Minute, "two nodes", func() bool { return w.has(2) })
		for _, c := range w.claims() {
			if got := translate.Resources(c.Status.Allocatable).Get(efa); got != 1 {
				t.Errorf("NodeClaim %s has %d of %s, want 1", c.Name, got, efa)
			}
		}
		for _, i := range w.aws.server.Instances() {
			if i.Interfaces != 2 || i.Adapters != 1 {
				t.Errorf("an instance has %d interfaces and %d adapters, want 2 and 1", i.Interfaces, i.Adapters)
			}
		}
	})
}
