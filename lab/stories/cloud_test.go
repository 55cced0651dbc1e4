package stories_test

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/daemok/daemok/cloud/aws/client"
)

// awsOf is the real SDK, set up by what lab.env says.
func awsOf(t *testing.T, dir string) (aws.Config, map[string]string) {
	t.Helper()
	env := environment(t, dir)
	key := client.Key{ID: env["AWS_ACCESS_KEY_ID"], Secret: env["AWS_SECRET_ACCESS_KEY"]}
	return client.At(env["AWS_ENDPOINT_URL"], env["AWS_REGION"], key), env
}

// launch launches an m5.large whose user data has it join the lab's cluster, as a
// program outside any pool would.
func launch(t *testing.T, dir string) types.Instance {
	t.Helper()
	return launchWith(t, dir, "")
}

// launchWith is launch whose instance has more in the spec of its user data, in YAML.
func launchWith(t *testing.T, dir, more string) types.Instance {
	t.Helper()
	c, env := awsOf(t, dir)
	account := ec2.NewFromConfig(c)
	discovered := []types.Filter{{Name: aws.String("tag:karpenter.sh/discovery"),
		Values: []string{env["CLUSTER_NAME"]}}}
	subnets, err := account.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: discovered})
	if err != nil || len(subnets.Subnets) == 0 {
		t.Fatalf("DescribeSubnets = %v, %v; want some", subnets, err)
	}
	image, err := ssm.NewFromConfig(c).GetParameter(t.Context(), &ssm.GetParameterInput{
		Name: aws.String("/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id"),
	})
	if err != nil {
		t.Fatal(err)
	}
	launched, err := account.RunInstances(t.Context(), &ec2.RunInstancesInput{
		ImageId: image.Parameter.Value, InstanceType: "m5.large", MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
		SubnetId:           subnets.Subnets[0].SubnetId,
		IamInstanceProfile: &types.IamInstanceProfileSpecification{Name: aws.String("KarpenterNodeInstanceProfile-" + env["CLUSTER_NAME"])},
		UserData: aws.String(base64.StdEncoding.EncodeToString([]byte(nodeConfig(t, c,
			env["CLUSTER_NAME"]) + more))),
	})
	if err != nil {
		t.Fatal(err)
	}
	awaitRuns(t, account, *launched.Instances[0].InstanceId)
	return launched.Instances[0]
}

// awaitRuns waits until an instance runs, which EC2 does not know of at once.
func awaitRuns(t *testing.T, account *ec2.Client, id string) {
	t.Helper()
	waiter := ec2.NewInstanceRunningWaiter(account,
		func(o *ec2.InstanceRunningWaiterOptions) { o.MinDelay, o.MaxDelay = 200*time.Millisecond, time.Second })
	if err := waiter.Wait(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}}, limit); err != nil {
		t.Fatal(err)
	}
}

// nodeConfig is what EKS says to an instance about its cluster.
func nodeConfig(t *testing.T, c aws.Config, cluster string) string {
	t.Helper()
	found, err := eks.NewFromConfig(c).DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: &cluster})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: {name: %s, apiServerEndpoint: %q, certificateAuthority: %s, cidr: %s}
`, cluster, *found.Cluster.Endpoint, *found.Cluster.CertificateAuthority.Data, *found.Cluster.KubernetesNetworkConfig.ServiceIpv4Cidr)
}

// named returns the objects of that name.
func named(objects []*unstructured.Unstructured, name string) (found []*unstructured.Unstructured) {
	for _, o := range objects {
		if o.GetName() == name {
			found = append(found, o)
		}
	}
	return found
}

// The cloud survives the lab's sudden death together with the cluster: the
// instance runs on and is the node it was.
func TestCloudSurvivesTheLab(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "lab")
	t.Cleanup(func() { stopAnyway(t, dir) })
	flags := append([]string{"--detach"}, bareUp...)
	pid := readyPID(t, mustLab(t, 0, dir, "up", flags...).stdout)
	s := begin(t, startedLab(dir))
	instance := launch(t, dir)
	isReady := joined(*instance.PrivateDnsName)
	s.await("the node to be ready", "v1/Node", isReady)
	awaitKept(t, dir, *instance.InstanceId)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitDead(t, []int{pid})
	mustLab(t, 0, dir, "up", flags...)
	c, _ := awsOf(t, dir)
	awaitRuns(t, ec2.NewFromConfig(c),
		*instance.InstanceId) // it was written down when it was launched, and may have booted since
	s.await("the node to be ready again", "v1/Node", isReady)
}

// awaitKept waits until the lab has written an instance down, which it does
// within a moment of every change.
func awaitKept(t *testing.T, dir, id string) {
	t.Helper()
	awaitFile(t, filepath.Join(dir, "cloud.json"),
		func(content []byte) bool { return strings.Contains(string(content), id) })
}
