package stories_test

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// olderKubernetes is a version that there are images of AL2 and of Ubuntu for.
const olderKubernetes = "1.30"

// olderGuide is what the author of a manifest expects of it.
type olderGuide struct {
	pods    map[string]int    // that run in the end, by workload
	labels  map[string]string // of every node of theirs
	of      []string          // Provisioners whose machines they run on
	on      func(s *story, nodes []*unstructured.Unstructured)
	another func(s *story) // what happens then
}

// Manifests of the older generation in the shapes that public guides use are applied as
// they are, the cluster's name filled in: their pods run, on the machines meant.
func TestGuidesOfTheOlderGenerationWorkUnchanged(t *testing.T) {
	t.Parallel()
	guides := map[string]olderGuide{
		"inflate":      {pods: map[string]int{"inflate": 5}, of: []string{"default"}, on: (*story).ofTypesTAndM, another: (*story).emptied},
		"gpu":          {pods: map[string]int{"gpu": 2}, of: []string{"gpu"}, labels: map[string]string{"accelerator": "nvidia"}, on: tainted("nvidia.com/gpu"), another: (*story).gpusAreLimited},
		"savings-plan": {pods: map[string]int{"savings-plan": 6}, of: []string{"on-demand", "savings-plan"}, on: (*story).savingsPlanIsFull},
		"node-types":   {pods: map[string]int{"infra": 2, "worker": 2}, of: []string{"infra", "worker"}, on: (*story).apart},
		"enable-ipvs":  {pods: map[string]int{"enable-ipvs": 1}, of: []string{"enable-ipvs"}, on: brings("modprobe ip_vs", "/etc/eks/bootstrap.sh")},
		"ssh-keys":     {pods: map[string]int{"ssh-keys": 1}, of: []string{"ssh-keys"}, on: brings("authorized_keys", "/etc/eks/bootstrap.sh")},
		"spot":         {pods: map[string]int{"spot": 4}, of: []string{"spot"}, labels: map[string]string{"karpenter.sh/capacity-type": "spot", "intent": "batch"}, on: tainted("spot")},
		"kubelet":      {pods: map[string]int{"kubelet": 12}, of: []string{"kubelet"}, on: (*story).fewPods},
		"zones":        {pods: map[string]int{"zones": 4}, of: []string{"zones"}, on: (*story).inTwoZones},
		"ubuntu":       {pods: map[string]int{"ubuntu": 1}, of: []string{"ubuntu"}, on: runs("Ubuntu 22.04 LTS")},
		"user-nodes":   {pods: map[string]int{"user-nodes": 1}, of: []string{"user-nodes"}, on: runs("Amazon Linux 2")},
	}
	s := begin(t, ownLabWith(t, []string{"EKS_CONTROL_PLANE=true"}, "--eks-version="+olderKubernetes))
	s.userLaunchTemplate("user-nodes")
	s.apply(s.filled("older/settings"))
	t.Run("side by side", func(t *testing.T) {
		for name, guide := range guides {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := *s
				s.T = t
				s.follow(name, guide)
			})
		}
	})
	if all, err := filepath.Glob(filepath.Join("testdata", "older", "*.yaml")); err != nil || len(all) != len(guides)+1 {
		t.Errorf("there are manifests %v, %v, and %d guides", all, err, len(guides))
	}
}

// follow applies a guide's manifest and looks at what comes of it.
func (s *story) follow(name string, guide olderGuide) {
	s.Helper()
	s.apply(s.filled("older/" + name))
	on := map[string]bool{}
	for workload, pods := range guide.pods {
		s.awaitFor(2*limit, "the pods of "+workload+" to run", "v1/Pod", of(workload, func(all []*unstructured.Unstructured) bool {
			for _, p := range all {
				on[text(p, "spec", "nodeName")] = true
			}
			return countRunning(all) == pods
		}))
	}
	delete(on, "")
	var nodes []*unstructured.Unstructured
	s.await("their nodes", "v1/Node", func(all []*unstructured.Unstructured) bool {
		nodes = slices.DeleteFunc(slices.Clone(all), func(n *unstructured.Unstructured) bool { return !on[n.GetName()] })
		return len(nodes) == len(on) && !slices.ContainsFunc(nodes, func(n *unstructured.Unstructured) bool { return n.GetLabels()["karpenter.sh/initialized"] != "true" })
	})
	found := map[string]bool{}
	for _, n := range nodes {
		found[n.GetLabels()["karpenter.sh/provisioner-name"]] = true
		for key, value := range guide.labels {
			if got := n.GetLabels()[key]; got != value {
				s.Errorf("node %s has label %s=%q, want %q", n.GetName(), key, got, value)
			}
		}
	}
	for _, provisioner := range guide.of {
		if !found[provisioner] || len(found) != len(guide.of) {
			s.Errorf("the nodes are of %v, want %v", found, guide.of)
		}
	}
	guide.on(s, nodes)
	if guide.another != nil {
		guide.another(s)
	}
}

func kindOf(n *unstructured.Unstructured) string {
	return n.GetLabels()["node.kubernetes.io/instance-type"]
}

// ofTypesTAndM: of these categories and generations alone.
func (s *story) ofTypesTAndM(nodes []*unstructured.Unstructured) {
	s.Helper()
	for _, n := range nodes {
		if kind := kindOf(n); !strings.ContainsAny(kind[:1], "tm") || !strings.ContainsAny(kind[1:2], "35") {
			s.Errorf("node %s is a %s", n.GetName(), kind)
		}
	}
}

// emptied: a minute after its last pod went each machine is let go, and not sooner.
func (s *story) emptied() {
	s.Helper()
	mustKubectl(s.T, s.dir, "-n", s.namespace, "scale", "deployment", "inflate", "--replicas=0")
	s.await("no pod", "v1/Pod", of("inflate", func(pods []*unstructured.Unstructured) bool { return len(pods) == 0 }))
	ofDefault := func(o *unstructured.Unstructured) bool {
		return o.GetLabels()["karpenter.sh/provisioner-name"] == "default"
	}
	since := map[string]time.Time{}
	s.await("the nodes to say that they are empty", "v1/Node", func(nodes []*unstructured.Unstructured) bool {
		for _, n := range slices.DeleteFunc(slices.Clone(nodes), func(n *unstructured.Unstructured) bool { return !ofDefault(n) }) {
			at, err := time.Parse(time.RFC3339, n.GetAnnotations()["karpenter.sh/emptiness-timestamp"])
			if err != nil {
				return false
			}
			since[text(n, "spec", "providerID")] = at
		}
		return len(since) > 0
	})
	gone := map[string]time.Time{}
	s.awaitFor(3*time.Minute, "the claims to go", claims, func(all []*unstructured.Unstructured) bool {
		left := false
		for _, c := range all {
			if at := c.GetDeletionTimestamp(); ofDefault(c) && at != nil {
				gone[text(c, "status", "providerID")] = at.Time
			}
			left = left || ofDefault(c)
		}
		return !left
	})
	for machine, at := range since {
		after := gone[machine].Sub(at) // both in whole seconds
		s.Logf("%s went %s after it became empty", machine, after)
		if after < 59*time.Second {
			s.Errorf("%s went %s after it became empty, want a minute", machine, after)
		}
	}
}

// tainted: nodes carry this taint.
func tainted(key string) func(*story, []*unstructured.Unstructured) {
	return func(s *story, nodes []*unstructured.Unstructured) {
		s.Helper()
		for _, n := range nodes {
			taints, _, _ := unstructured.NestedSlice(n.Object, "spec", "taints")
			if !slices.ContainsFunc(taints, func(t any) bool { return t.(map[string]any)["key"] == key }) {
				s.Errorf("node %s has taints %v, want %s among them", n.GetName(), taints, key)
			}
		}
	}
}

// gpusAreLimited: the third pod gets none, and is told so.
func (s *story) gpusAreLimited() {
	s.Helper()
	var waits string
	s.await("one pod without a place", "v1/Pod", of("gpu", func(pods []*unstructured.Unstructured) bool {
		for _, p := range pods {
			if text(p, "spec", "nodeName") == "" {
				waits = p.GetName()
			}
		}
		return len(pods) == 3 && countRunning(pods) == 2 && waits != ""
	}))
	s.awaitEventSaying("Pod", waits, "nvidia.com/gpu")
}

// savingsPlanIsFull: the weightier Provisioner has bought up to its limit.
func (s *story) savingsPlanIsFull(nodes []*unstructured.Unstructured) {
	s.Helper()
	cpu := 0
	for _, n := range nodes {
		kind, of := kindOf(n), n.GetLabels()["karpenter.sh/provisioner-name"]
		if family := map[string]string{"savings-plan": "c5.", "on-demand": "m5."}[of]; !strings.HasPrefix(kind, family) {
			s.Errorf("node %s of %s is a %s", n.GetName(), of, kind)
		}
		if of == "savings-plan" {
			cpu += 4
		}
	}
	if cpu != 8 {
		s.Errorf("%d cores were bought of what the savings plan covers, want 8, its limit", cpu)
	}
}

// apart: pods of infrastructure run on tainted nodes, with nobody else; workers are of
// the inline settings.
func (s *story) apart(nodes []*unstructured.Unstructured) {
	s.Helper()
	for _, n := range nodes {
		image := text(n, "status", "nodeInfo", "osImage")
		if worker := n.GetLabels()["node-type"] == "worker"; worker != strings.HasPrefix(image, "Bottlerocket") {
			s.Errorf("node %s of type %s runs %s", n.GetName(), n.GetLabels()["node-type"], image)
		}
		if n.GetLabels()["node-type"] == "infra" {
			tainted("node-type")(s, []*unstructured.Unstructured{n})
		}
	}
}

// brings: the user data of the machines holds these words.
func brings(words ...string) func(*story, []*unstructured.Unstructured) {
	return func(s *story, nodes []*unstructured.Unstructured) {
		s.Helper()
		runs("Amazon Linux 2")(s, nodes)
		c, _ := awsOf(s.T, s.dir)
		for _, n := range nodes {
			id := filepath.Base(text(n, "spec", "providerID"))
			got, err := ec2.NewFromConfig(c).DescribeInstanceAttribute(s.Context(), &ec2.DescribeInstanceAttributeInput{InstanceId: &id, Attribute: types.InstanceAttributeNameUserData})
			if err != nil {
				s.Fatal(err)
			}
			data, err := base64.StdEncoding.DecodeString(aws.ToString(got.UserData.Value))
			for _, w := range words {
				if err != nil || !strings.Contains(string(data), w) {
					s.Errorf("machine %s lacks %q in its user data, %v:\n%s", id, w, err, data)
				}
			}
		}
	}
}

// runs: nodes are of this image.
func runs(image string) func(*story, []*unstructured.Unstructured) {
	return func(s *story, nodes []*unstructured.Unstructured) {
		s.Helper()
		for _, n := range nodes {
			if got, version := text(n, "status", "nodeInfo", "osImage"), text(n, "status", "nodeInfo", "kubeletVersion"); got != image || !strings.HasPrefix(version, "v"+olderKubernetes+".") {
				s.Errorf("node %s runs %s with a kubelet %s, want %s with one of %s", n.GetName(), got, version, image, olderKubernetes)
			}
		}
	}
}

// fewPods: kubelets take no more pods than they were told.
func (s *story) fewPods(nodes []*unstructured.Unstructured) {
	s.Helper()
	for _, n := range nodes {
		if pods := text(n, "status", "allocatable", "pods"); pods != "8" {
			s.Errorf("node %s takes %s pods, want 8", n.GetName(), pods)
		}
	}
	if len(nodes) < 2 {
		s.Errorf("12 pods run on %d nodes that take 8 each", len(nodes))
	}
}

// inTwoZones: nodes are in both zones, and of the types that are listed.
func (s *story) inTwoZones(nodes []*unstructured.Unstructured) {
	s.Helper()
	zones := map[string]bool{}
	for _, n := range nodes {
		zones[n.GetLabels()["topology.kubernetes.io/zone"]] = true
		if kind := kindOf(n); kind != "m5.large" && kind != "m5.xlarge" {
			s.Errorf("node %s is a %s", n.GetName(), kind)
		}
	}
	if len(zones) != 2 || !zones["us-east-1a"] || !zones["us-east-1b"] {
		s.Errorf("nodes are in %v, want us-east-1a and us-east-1b", zones)
	}
}

// userLaunchTemplate makes a launch template of a user's own: with an image, user data by
// which machines join, security groups and a profile.
func (s *story) userLaunchTemplate(name string) {
	s.Helper()
	c, env := awsOf(s.T, s.dir)
	account, cluster := ec2.NewFromConfig(c), env["CLUSTER_NAME"]
	image, err := ssm.NewFromConfig(c).GetParameter(s.Context(), &ssm.GetParameterInput{
		Name: aws.String("/aws/service/eks/optimized-ami/" + olderKubernetes + "/amazon-linux-2/recommended/image_id"),
	})
	if err != nil {
		s.Fatal(err)
	}
	groups, err := account.DescribeSecurityGroups(s.Context(), &ec2.DescribeSecurityGroupsInput{
		Filters: []types.Filter{{Name: aws.String("tag:karpenter.sh/discovery"), Values: []string{cluster}}},
	})
	if err != nil || len(groups.SecurityGroups) == 0 {
		s.Fatalf("DescribeSecurityGroups = %v, %v; want some", groups, err)
	}
	found, err := eks.NewFromConfig(c).DescribeCluster(s.Context(), &eks.DescribeClusterInput{Name: &cluster})
	if err != nil {
		s.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/bash\n/etc/eks/bootstrap.sh '%s' --apiserver-endpoint '%s' --b64-cluster-ca '%s'\n",
		cluster, *found.Cluster.Endpoint, *found.Cluster.CertificateAuthority.Data)
	_, err = account.CreateLaunchTemplate(s.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: &name, LaunchTemplateData: &types.RequestLaunchTemplateData{
		ImageId: image.Parameter.Value, SecurityGroupIds: []string{*groups.SecurityGroups[0].GroupId},
		IamInstanceProfile: &types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: aws.String("KarpenterNodeInstanceProfile-" + cluster)},
		UserData:           aws.String(base64.StdEncoding.EncodeToString([]byte(script))),
	}})
	if err != nil {
		s.Fatal(err)
	}
}

// A cluster gets the kinds of the older generation while the controller runs: they are
// served soon, by the same process.
func TestKindsOfTheOlderGenerationMayComeLater(t *testing.T) {
	t.Parallel()
	s := begin(t, ownLab(t, "--controller=false"))
	kinds := map[string]string{"provisioners.karpenter.sh": "karpenter.sh_provisioners.yaml", "awsnodetemplates.karpenter.k8s.aws": "karpenter.k8s.aws_awsnodetemplates.yaml"}
	for crd := range kinds {
		mustKubectl(t, s.dir, "delete", "crd", crd)
	}
	c := s.run("before")
	c.awaitLeader(limit)
	for _, file := range kinds {
		mustKubectl(t, s.dir, "create", "-f", filepath.Join("..", "..", "kube", "api", "crds", file))
	}
	c.awaitSays("starting anew to serve them")
	for crd := range kinds {
		mustKubectl(t, s.dir, "wait", "--for=condition=Established", "crd/"+crd)
	}
	s.apply(s.filled("older/settings"))
	s.apply(s.filled("older/inflate"))
	s.awaitFor(2*limit, "the pods to run", "v1/Pod", running(5))
	if c.command.ProcessState != nil {
		t.Error("the controller has ended")
	}
}
