package stories_test

import (
	"encoding/base64"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// expected is what holds for the nodes of a guide.
type expected []func(s *story, nodes []*unstructured.Unstructured)

// events are what happens after its pods run.
type events []func(s *story)

// tainted: nodes carry this taint.
func tainted(key string) func(*story, []*unstructured.Unstructured) {
	return func(s *story, nodes []*unstructured.Unstructured) {
		s.Helper()
		for _, n := range nodes {
			if !carries(n, key) {
				s.Errorf("node %s has taints %v, want %s among them", n.GetName(), text(n, "spec", "taints"), key)
			}
		}
	}
}

func carries(n *unstructured.Unstructured, taint string) bool {
	taints, _, _ := unstructured.NestedSlice(n.Object, "spec", "taints")
	return slices.ContainsFunc(taints, func(t any) bool { return t.(map[string]any)["key"] == taint })
}

// savingsPlanIsFull: the weightier pool, whose instances have 4 cores, has launched up to
// its limit of 8.
func savingsPlanIsFull(plan, rest string) func(*story, []*unstructured.Unstructured) {
	return func(s *story, nodes []*unstructured.Unstructured) {
		s.Helper()
		covered := 0
		for _, n := range nodes {
			if family := map[string]string{plan: "c5.", rest: "m5."}[originOf(n)]; !strings.HasPrefix(kindOf(n), family) {
				s.Errorf("node %s of %s is a %s", n.GetName(), originOf(n), kindOf(n))
			}
			if originOf(n) == plan {
				covered++
			}
		}
		if covered != 2 {
			s.Errorf("%d machines of what the savings plan covers run pods, want the 2 that fit its limit", covered)
		}
	}
}

// infraApart: pods of infrastructure run on tainted nodes, without other pods; workers are
// of another image.
func infraApart(s *story, nodes []*unstructured.Unstructured) {
	s.Helper()
	for _, n := range nodes {
		image := text(n, "status", "nodeInfo", "osImage")
		if worker := n.GetLabels()["node-type"] == "worker"; worker != strings.HasPrefix(image, "Bottlerocket") || worker == carries(n, "node-type") {
			s.Errorf("node %s of type %s runs %s and has taints %s", n.GetName(), n.GetLabels()["node-type"], image, text(n, "spec", "taints"))
		}
	}
}

// brings: the user data of the instances holds these words.
func brings(words ...string) func(*story, []*unstructured.Unstructured) {
	return func(s *story, nodes []*unstructured.Unstructured) {
		s.Helper()
		c, _ := awsOf(s.T, s.dir)
		for _, n := range nodes {
			id := filepath.Base(text(n, "spec", "providerID"))
			got, err := ec2.NewFromConfig(c).DescribeInstanceAttribute(s.Context(), &ec2.DescribeInstanceAttributeInput{InstanceId: &id, Attribute: types.InstanceAttributeNameUserData})
			if err != nil {
				s.Fatal(err)
			}
			if data, err := base64.StdEncoding.DecodeString(aws.ToString(got.UserData.Value)); err != nil || !saysAll(string(data), words) {
				s.Errorf("the user data of machine %s lacks some of %q, %v:\n%s", id, words, err, data)
			}
		}
	}
}

// runs: nodes are of this image, with a kubelet of this version.
func runs(image, version string) func(*story, []*unstructured.Unstructured) {
	return func(s *story, nodes []*unstructured.Unstructured) {
		s.Helper()
		for _, n := range nodes {
			if got, kubelet := text(n, "status", "nodeInfo", "osImage"), text(n, "status", "nodeInfo", "kubeletVersion"); got != image || !strings.HasPrefix(kubelet, "v"+version+".") {
				s.Errorf("node %s runs %s with a kubelet %s, want %s with one of %s", n.GetName(), got, kubelet, image, version)
			}
		}
	}
}

// offering: nodes have so much of a resource for pods.
func offering(resource, amount string) func(*story, []*unstructured.Unstructured) {
	return func(s *story, nodes []*unstructured.Unstructured) {
		s.Helper()
		for _, n := range nodes {
			if got := text(n, "status", "allocatable", resource); got != amount {
				s.Errorf("node %s has %s of %s for pods, want %s", n.GetName(), got, resource, amount)
			}
		}
	}
}

// those: something holds for the nodes of one pool.
func those(pool string, hold func(*story, []*unstructured.Unstructured)) func(*story, []*unstructured.Unstructured) {
	return func(s *story, nodes []*unstructured.Unstructured) { hold(s, inPool(nodes, pool)) }
}

// inTwoZones: nodes are in both zones, and of the types that are listed.
func inTwoZones(s *story, nodes []*unstructured.Unstructured) {
	s.Helper()
	zones := map[string]bool{}
	for _, n := range nodes {
		zones[n.GetLabels()[zoneLabel]] = true
		if kind := kindOf(n); kind != "m5.large" && kind != "m5.xlarge" {
			s.Errorf("node %s is a %s", n.GetName(), kind)
		}
	}
	if len(zones) != 2 || !zones["us-east-1a"] || !zones["us-east-1b"] {
		s.Errorf("nodes are in %v, want us-east-1a and us-east-1b", zones)
	}
}

// waits: so many pods of a workload get no place, and an event says why.
func waits(workload string, n int, says ...string) func(*story) {
	return func(s *story) {
		s.Helper()
		s.await("pods of "+workload+" to wait", "v1/Pod", of(workload, func(pods []*unstructured.Unstructured) bool {
			without := 0
			for _, p := range pods {
				if text(p, "spec", "nodeName") == "" {
					without++
				}
			}
			return without == n
		}))
		s.awaitEvent(s.namespace, "Pod", workload+"-", says...)
	}
}

// expire: instances of a pool are let go after this time.
func expire(pool, after string) func(*story) {
	return func(s *story) {
		s.Helper()
		s.await("claims of "+pool+" to expire after "+after, claims, func(all []*unstructured.Unstructured) bool {
			mine := inPool(all, pool)
			return len(mine) > 0 && !slices.ContainsFunc(mine, func(c *unstructured.Unstructured) bool { return text(c, "spec", "expireAfter") != after })
		})
	}
}

// scaleToNothing: the reader takes all pods of a workload away.
func scaleToNothing(workload string) func(*story) {
	return func(s *story) {
		s.Helper()
		s.scale(workload, 0)
		s.await("no pod of "+workload, "v1/Pod", of(workload, running(0)))
	}
}

// machinesGo: a pool without pods lets all its instances go.
func machinesGo(pool string) func(*story) {
	return func(s *story) {
		s.Helper()
		s.awaitFor(3*limit, "the machines of "+pool+" to go", claims, ofPool(pool, 0))
	}
}
