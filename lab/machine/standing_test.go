package machine_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/lab/boot"
	"github.com/daemok/daemok/lab/machine"
)

// Standing nodes come up like any other instance, spread over the zones, the system's ones
// tainted.
func TestStandingNodes(t *testing.T) {
	inLab(t, func(l lab) {
		standing := machine.Standing{
			Cluster: boot.Cluster{Name: "lab", Endpoint: "https://api", CA: []byte("CA"), CIDR: "10.100.0.0/16"},
			Region:  "eu-west-1", Zones: []string{"eu-west-1a", "eu-west-1b"}, System: 2, Ordinary: 4,
		}
		for _, i := range standing.Instances() {
			l.Handle(i)
		}
		pass(time.Minute)
		nodes, err := l.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil || len(nodes.Items) != 6 {
			t.Fatalf("nodes = %d, %v; want 6", len(nodes.Items), err)
		}
		tainted := map[string]int{}
		for _, n := range nodes.Items {
			if len(n.Spec.Taints) == 1 && n.Spec.Taints[0].Key == "CriticalAddonsOnly" {
				tainted[n.Labels["topology.kubernetes.io/zone"]]++
			}
		}
		if tainted["eu-west-1a"] != 1 || tainted["eu-west-1b"] != 1 {
			t.Errorf("system nodes by zone = %v, want one in each", tainted)
		}
	})
}

// However many stand, no two share an id, a name or an address.
func TestStandingInstancesDiffer(t *testing.T) {
	all := machine.Standing{Region: "us-east-1", Zones: []string{"us-east-1a"}, System: 3, Ordinary: 600}.Instances()
	ids, names, ips := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, i := range all {
		ids[i.ID], names[i.PrivateDNS], ips[i.PrivateIP] = true, true, true
	}
	if len(ids) != 603 || len(names) != 603 || len(ips) != 603 {
		t.Errorf("603 instances have %d ids, %d names and %d addresses", len(ids), len(names), len(ips))
	}
}
