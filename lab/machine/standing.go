package machine

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/daemok/daemok/lab/boot"
)

// standingType is what standing nodes are made of.
const standingType = "m5.large"

// Standing says which nodes stand beside those that are launched.
type Standing struct {
	Cluster  boot.Cluster
	Region   string
	Zones    []string // nodes are spread over them in turn
	System   int      // tainted CriticalAddonsOnly, for the system's pods
	Ordinary int
}

// Instances returns the instances of the standing nodes, the system's first. They run, boot
// at once and belong to node groups, as those of a managed group would; the cloud knows
// nothing of them. Equal arguments give equal instances, so that a restart finds its nodes
// again.
func (s Standing) Instances() []Instance {
	var out []Instance
	for n := range s.System {
		out = append(out, s.instance("system", n))
	}
	for n := range s.Ordinary {
		out = append(out, s.instance("standing", n))
	}
	return out
}

func (s Standing) instance(group string, n int) Instance {
	third := 0
	if group != "system" {
		third = 1 + n/250
	}
	ip := fmt.Sprintf("172.31.%d.%d", third, n%250+4)
	return Instance{
		ID:         instanceID(group, n),
		Type:       standingType,
		Region:     s.Region,
		Zone:       s.Zones[n%len(s.Zones)],
		State:      Running,
		ImageName:  "amazon-eks-node-al2023-x86_64-standard",
		UserData:   []byte(s.userData(group)),
		PrivateIP:  ip,
		PrivateDNS: privateDNS(ip, s.Region),
		Role:       "NodeGroupRole-" + s.Cluster.Name,
		Tags:       map[string]string{"eks:nodegroup-name": group},
	}
}

func instanceID(group string, n int) string {
	h := fnv.New128a()
	fmt.Fprintf(h, "%s/%d", group, n)
	return fmt.Sprintf("i-%x", h.Sum(nil))[:19]
}

// privateDNS is the name that EC2 gives an address.
func privateDNS(ip, region string) string {
	domain := region + ".compute.internal"
	if region == "us-east-1" {
		domain = "ec2.internal"
	}
	return "ip-" + strings.ReplaceAll(ip, ".", "-") + "." + domain
}

func (s Standing) userData(group string) string {
	taints := "[]"
	if group == "system" {
		taints = `[{key: CriticalAddonsOnly, value: "true", effect: NoSchedule}]`
	}
	return fmt.Sprintf(`apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: {name: %q, apiServerEndpoint: %q, certificateAuthority: %s, cidr: %q}
  kubelet:
    config: {registerWithTaints: %s}
    flags: ["--node-labels=eks.amazonaws.com/nodegroup=%s,eks.amazonaws.com/capacityType=ON_DEMAND"]
`, s.Cluster.Name, s.Cluster.Endpoint, base64.StdEncoding.EncodeToString(s.Cluster.CA), s.Cluster.CIDR, taints, group)
}
