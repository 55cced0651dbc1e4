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
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// olderKubernetes is a version that there are images of AL2 and of Ubuntu for.
const olderKubernetes = "1.30"

// Manifests of the v1alpha5 API in the shapes that public guides use are applied as they
// are, the cluster's name filled in: their pods run, on the instances meant.
func TestGuidesOfTheOlderGenerationWorkUnchanged(t *testing.T) {
	t.Parallel()
	al2 := runs("Amazon Linux 2", olderKubernetes)
	guides := map[string]guide{
		"inflate": {
			pods: map[string]int{"inflate": 5}, of: []string{"default"},
			nodes: expected{ofTypesTAndM},
			then:  events{(*story).emptied},
		},
		"gpu": {
			pods: map[string]int{"gpu": 2}, of: []string{"gpu"},
			labels: map[string]string{"accelerator": "nvidia"},
			nodes:  expected{tainted("nvidia.com/gpu")},
			then:   events{waits("gpu", 1, "nvidia.com/gpu limit reached")},
		},
		"savings-plan": {
			pods: map[string]int{"savings-plan": 6}, of: []string{"on-demand", "savings-plan"},
			nodes: expected{savingsPlanIsFull("savings-plan", "on-demand")},
		},
		"node-types": {
			pods: map[string]int{"infra": 2, "worker": 2}, of: []string{"infra", "worker"},
			nodes: expected{infraApart},
		},
		"enable-ipvs": {
			pods: map[string]int{"enable-ipvs": 1}, of: []string{"enable-ipvs"},
			nodes: expected{al2, brings("modprobe ip_vs", "/etc/eks/bootstrap.sh")},
		},
		"ssh-keys": {
			pods: map[string]int{"ssh-keys": 1}, of: []string{"ssh-keys"},
			nodes: expected{al2, brings("authorized_keys", "/etc/eks/bootstrap.sh")},
		},
		"spot": {
			pods: map[string]int{"spot": 4}, of: []string{"spot"},
			labels: map[string]string{"karpenter.sh/capacity-type": "spot", "intent": "batch"},
			nodes:  expected{tainted("spot")},
		},
		"kubelet": {
			pods: map[string]int{"kubelet": 12}, of: []string{"kubelet"},
			nodes: expected{offering("pods", "8")},
		},
		"zones": {
			pods: map[string]int{"zones": 4}, of: []string{"zones"},
			nodes: expected{inTwoZones},
		},
		"ubuntu": {
			pods: map[string]int{"ubuntu": 1}, of: []string{"ubuntu"},
			nodes: expected{runs("Ubuntu 22.04 LTS", olderKubernetes)},
		},
		"user-nodes": {
			pods: map[string]int{"user-nodes": 1}, of: []string{"user-nodes"},
			nodes: expected{al2},
		},
	}
	s := begin(t, ownLabWith(t, []string{"EKS_CONTROL_PLANE=true"}, "--eks-version="+olderKubernetes))
	s.userLaunchTemplate("user-nodes")
	s.apply(s.filled("older-settings"))
	s.start(s.guides("older", guides))
	s.sideBySide(guides)
}

// ofTypesTAndM: of these categories and generations alone.
func ofTypesTAndM(s *story, nodes []*unstructured.Unstructured) {
	s.Helper()
	for _, n := range nodes {
		if kind := kindOf(n); !strings.ContainsAny(kind[:1], "tm") || !strings.ContainsAny(kind[1:2], "35") {
			s.Errorf("node %s is a %s", n.GetName(), kind)
		}
	}
}

// emptied: a minute after its last pod went each instance is let go, and not sooner.
func (s *story) emptied() {
	s.Helper()
	scaleToNothing("inflate")(s)
	ofDefault := func(o *unstructured.Unstructured) bool { return originOf(o) == "default" }
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

// userLaunchTemplate makes a launch template of a user's own: with an image, user data by
// which instances join, security groups and a profile.
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
	// As docs/reference/iam.md says, the controller's policies do not cover what users make.
	_, err = iam.NewFromConfig(c).PutRolePolicy(s.Context(), &iam.PutRolePolicyInput{RoleName: aws.String(cluster + "-karpenter"), PolicyName: aws.String("templates-of-users"),
		PolicyDocument: aws.String(`{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": ["ec2:CreateFleet", "ec2:RunInstances"],
			"Resource": ["arn:aws:ec2:*:*:launch-template/*", "arn:aws:ec2:*:*:network-interface/*"]}}`)})
	if err != nil {
		s.Fatal(err)
	}
}

// A cluster gets the Kinds of the v1alpha5 API while the controller runs: they are served
// soon, by the same process.
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
	c.awaitSays("the cluster began or ceased to serve v1alpha5 objects")
	for crd := range kinds {
		mustKubectl(t, s.dir, "wait", "--for=condition=Established", "crd/"+crd)
	}
	s.apply(s.filled("older-settings"))
	s.apply(s.filled("older/inflate"))
	s.awaitFor(2*limit, "the pods to run", "v1/Pod", running(5))
	if c.command.ProcessState != nil {
		t.Error("the controller has ended")
	}
}
