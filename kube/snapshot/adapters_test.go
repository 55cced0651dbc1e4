package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/decide"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

const efaClass = `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: efa}
spec:
  selectors:
  - cel: {expression: "device.driver == 'efa.networking.k8s.aws'"}
`

// SC-668: Pods that request Elastic Fabric Adapters by claims go to types that have some. The NodeClaim names the
// driver, by which the instance is launched with adapters; one that is launched without has none for them.
func TestAdaptersOfClaims(t *testing.T) {
	text := "snapshot 7 2026-11-21T04:00:00Z\ncatalogue c1 1\n" +
		"kind c.large cpu=8 memory=16Gi pods=50\n  labels node.kubernetes.io/instance-type=c.large\n" +
		"  offer a on-demand 0.2\n" +
		"kind n.large cpu=8 memory=16Gi pods=50 vpc.amazonaws.com/efa=2\n  on-request vpc.amazonaws.com/efa\n" +
		"  labels node.kubernetes.io/instance-type=n.large\n  offer a on-demand 0.5\n" +
		"pool NodePool/web catalogue=c1\n  labels karpenter.sh/nodepool=web\n"
	wants := strings.ReplaceAll(oneGPU, "gpu.nvidia.com", "efa")
	objects := []string{efaClass, template("efa", wants), claimant("a", "efa"), claimant("b", "efa"),
		claimant("c", "efa")}
	k := devicesIn(t, text, objects...)
	s := k.Snapshot()
	p := decide.Decide(s, decide.Policy{}, decide.Usual(s))
	if got, want := does(p), "launch n.large for a b\nlaunch n.large for c"; got != want {
		t.Fatalf("planned:\n%s\nwant:\n%s", got, want)
	}
	for _, l := range p.Launches {
		if !slices.Equal(l.Pods[0].Shape.Drivers, []string{"efa.networking.k8s.aws"}) {
			t.Errorf("it is launched for devices of %v", l.Pods[0].Shape.Drivers)
		}
	}

	claim := func(annotations map[string]string) *karpv1.NodeClaim {
		c := &karpv1.NodeClaim{}
		c.Name, c.UID, c.Annotations = "web-1", "web-1", annotations
		c.Labels = map[string]string{"karpenter.sh/nodepool": "web"}
		c.Spec.Requirements = []karpv1.Requirement{{Key: "node.kubernetes.io/instance-type", Operator: "In",
			Values: []string{"n.large"}}}
		return c
	}
	for drivers, want := range map[string]int64{"": 0, "efa.networking.k8s.aws": 2} {
		k := devicesIn(t, text, objects...)
		k.Seen(claim(map[string]string{"karpenter.sh/requested-dra-drivers": drivers}))
		s := k.Snapshot()
		if got := s.Instances[0].Allocatable.Get("devices:efa"); got != want {
			t.Errorf("an instance that is launched for devices of %q has %d adapters, want %d", drivers, got, want)
		}
	}
}

// SC-669: A GPU and an adapter that a claim wants at one root are planned on types of which a node has shown that they
// have such a pair, and the instance is launched with adapters.
func TestAdaptersAtTheRootOfAGPU(t *testing.T) {
	text := "snapshot 7 2026-11-21T04:00:00Z\ncatalogue c1 1\n" +
		strings.NewReplacer("pods=50", "pods=50 vpc.amazonaws.com/efa=2\n  on-request vpc.amazonaws.com/efa").
			Replace(withGPUs("p.two", 8, 2, "h100", 81920, 50)) +
		"pool NodePool/web catalogue=c1\n  labels karpenter.sh/nodepool=web\n"
	pair := "{requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}, " +
		"{name: nic, exactly: {deviceClassName: efa}}], " +
		"constraints: [{matchAttribute: resource.kubernetes.io/pcieRoot}]}"
	at := func(slice string) string {
		for i := range 2 {
			slice = strings.Replace(slice, fmt.Sprintf("uuid: {string: n-%d}", i),
				fmt.Sprintf("resource.kubernetes.io/pcieRoot: {string: root-%d}", i), 1)
		}
		return slice
	}
	adapters := strings.NewReplacer("gpu.nvidia.com", "efa.networking.k8s.aws", "gpu", "efa").
		Replace(publishes("n", 2, 1))
	k := devicesIn(t, text, gpuClass, efaClass, template("pair", pair), claimant("a", "pair"))
	none := "a nowhere: no type has devices:gpu.nvidia.com+efa with one resource.kubernetes.io/pcieRoot"
	if got := planned(k); got != none {
		t.Errorf("before a node has shown it:\n%s\nwant:\n%s", got, none)
	}
	full := strings.Replace(gpuNode("n", "p.two"), `cpu: "32"`, `cpu: "0"`, 2)
	see(t, k, full, at(publishes("n", 2, 1)), at(adapters))
	s := k.Snapshot()
	p := decide.Decide(s, decide.Policy{}, decide.Usual(s))
	if got, want := does(p), "launch p.two for a"; got != want {
		t.Fatalf("planned:\n%s\nwant:\n%s", got, want)
	}
	both := []string{"efa.networking.k8s.aws", "gpu.nvidia.com"}
	if got := p.Launches[0].Pods[0].Shape.Drivers; !slices.Equal(got, both) {
		t.Errorf("it is launched for devices of %v", got)
	}
}
