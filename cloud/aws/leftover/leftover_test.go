package leftover

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
)

// place is an account with things of several clusters, and the sweeper that reads it.
type place struct {
	t *testing.T
	*Sweeper
	wait          func() // until all that was made is seen
	image, subnet string
}

// open is an account whose one living cluster is prod, seen by who cleans up
// after the cluster of that name.
func open(t *testing.T, cluster string) *place {
	t.Helper()
	var later atomic.Int64 // EC2 shows what was just made only after a while
	began := time.Now()
	now := func() time.Time { return began.Add(time.Duration(later.Load())) }
	server := emulator.New(world.Options{Account: world.Account{ClusterName: "prod"}, Seed: 1, Now: now})
	web := httptest.NewServer(server)
	t.Cleanup(func() { server.Close(); web.Close() })
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": web.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	s, err := Open(t.Context(), cluster, "", "test")
	if err != nil {
		t.Fatal(err)
	}
	images, err := s.clients.EC2.DescribeImages(t.Context(), &ec2.DescribeImagesInput{Filters: []types.Filter{
		{Name: aws.String("name"), Values: []string{"amazon-eks-node-al2023-x86_64-standard-1.36-*"}}}})
	if err != nil || len(images.Images) == 0 {
		t.Fatal(images, err)
	}
	subnets, err := s.clients.EC2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	if err != nil || len(subnets.Subnets) == 0 {
		t.Fatal(subnets, err)
	}
	wait := func() { later.Add(int64(time.Minute)) }
	return &place{t, s, wait, aws.ToString(images.Images[0].ImageId), aws.ToString(subnets.Subnets[0].SubnetId)}
}

func tags(kind types.ResourceType, pairs string) []types.TagSpecification {
	spec := types.TagSpecification{ResourceType: kind}
	if pairs == "" {
		return nil
	}
	for _, pair := range strings.Fields(pairs) {
		key, value, _ := strings.Cut(pair, "=")
		spec.Tags = append(spec.Tags, types.Tag{Key: aws.String(key), Value: aws.String(value)})
	}
	return []types.TagSpecification{spec}
}

func (p *place) instance(pairs string) {
	p.t.Helper()
	p.wait() // EC2 lets an account make few such calls at once
	_, err := p.clients.EC2.RunInstances(p.t.Context(), &ec2.RunInstancesInput{MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
		ImageId: &p.image, SubnetId: &p.subnet, InstanceType: "m5.large", TagSpecifications: tags(types.ResourceTypeInstance, pairs)})
	if err != nil {
		p.t.Fatal(err)
	}
}

// outlived makes an instance with a volume that outlives it, and ends it.
func (p *place) outlived(pairs, ofVolume string) {
	p.t.Helper()
	p.wait()
	made, err := p.clients.EC2.RunInstances(p.t.Context(), &ec2.RunInstancesInput{MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
		ImageId: &p.image, SubnetId: &p.subnet, InstanceType: "m5.large",
		TagSpecifications: append(tags(types.ResourceTypeInstance, pairs), tags(types.ResourceTypeVolume, ofVolume)...),
		BlockDeviceMappings: []types.BlockDeviceMapping{{DeviceName: aws.String("/dev/xvdb"),
			Ebs: &types.EbsBlockDevice{VolumeSize: aws.Int32(50), VolumeType: "gp3", DeleteOnTermination: aws.Bool(false)}}}})
	if err == nil {
		p.wait()
		_, err = p.clients.EC2.TerminateInstances(p.t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{aws.ToString(made.Instances[0].InstanceId)}})
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// nic makes a network interface that is attached to nothing.
func (p *place) nic(pairs string) {
	p.t.Helper()
	_, err := p.clients.EC2.CreateNetworkInterface(p.t.Context(), &ec2.CreateNetworkInterfaceInput{SubnetId: &p.subnet, TagSpecifications: tags(types.ResourceTypeNetworkInterface, pairs)})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) template(name, pairs string) {
	p.t.Helper()
	_, err := p.clients.EC2.CreateLaunchTemplate(p.t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: &name,
		LaunchTemplateData: &types.RequestLaunchTemplateData{ImageId: &p.image}, TagSpecifications: tags(types.ResourceTypeLaunchTemplate, pairs)})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) profile(name, path, role string) {
	p.t.Helper()
	_, err := p.clients.IAM.CreateInstanceProfile(p.t.Context(), &iam.CreateInstanceProfileInput{InstanceProfileName: &name, Path: &path})
	if err != nil {
		p.t.Fatal(err)
	}
	if role == "" {
		return
	}
	if _, err := p.clients.IAM.AddRoleToInstanceProfile(p.t.Context(), &iam.AddRoleToInstanceProfileInput{InstanceProfileName: &name, RoleName: &role}); err != nil {
		p.t.Fatal(err)
	}
}

var anyID = regexp.MustCompile(`(i|vol|eni|subnet)-[0-9a-f]+`)

// left prints what is found, with x in place of what EC2 draws.
func (p *place) left() string {
	p.t.Helper()
	things, err := p.Find(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return anyID.ReplaceAllString(words(things), "$1-x")
}

func words(things []Thing) string {
	var out []string
	for _, t := range things {
		out = append(out, t.String())
	}
	return strings.Join(out, "\n")
}

// What was made for the cluster that is gone is found and removed, by tags and paths; what
// other programs made or own stays.
func TestWhatADeletedClusterLeftBehindGoes(t *testing.T) {
	p := open(t, "old")
	const old, web = "kubernetes.io/cluster/old=owned ", "karpenter.sh/nodepool=web karpenter.k8s.aws/ec2nodeclass=default "
	p.instance(old + web)
	p.instance(old + "karpenter.sh/nodepool=batch")       // by another autoscaler's release
	p.instance(old + "karpenter.sh/provisioner-name=old") // by an older one
	p.template("daemok.sh/a", old+web)
	p.template("karpenter.k8s.aws/b", old+web)
	p.profile("old_1", "/karpenter/us-east-1/old/uid/", "KarpenterNodeRole-prod")
	p.profile("old_2", "/karpenter/us-east-1/old/uid/", "")

	p.instance(old + "eks:nodegroup-name=ng")                                    // of a node group
	p.instance("kubernetes.io/cluster/old-2=owned " + web)                       // of a cluster with a name like it
	p.instance("kubernetes.io/cluster/old=shared " + web)                        // not its own
	p.instance(old + "kubernetes.io/cluster/prod=owned " + web)                  // of two clusters
	p.template("mine", old+web)                                                  // a user's own
	p.template("daemok.sh/c", "kubernetes.io/cluster/prod=owned "+web)           // of the cluster that is there
	p.profile("old_3", "/karpenter/us-east-1/old-2/uid/", "")                    // of a name like it
	p.profile("old_4", "/karpenter/eu-west-1/old/uid/", "")                      // of another region
	p.profile("KarpenterNodeInstanceProfile-old", "/", "KarpenterNodeRole-prod") // made by hand

	p.wait()
	const want = `instance i-x (m5.large, pool batch)
instance i-x (m5.large, pool old)
instance i-x (m5.large, pool web)
launch template daemok.sh/a (class default)
launch template karpenter.k8s.aws/b (class default)
instance profile old_1 (role KarpenterNodeRole-prod)
instance profile old_2 (no role)`
	sorted := func(text string) string { // the ids of instances decide which comes first
		lines := strings.Split(text, "\n")
		slices.Sort(lines[:min(3, len(lines))])
		return strings.Join(lines, "\n")
	}
	if got := sorted(p.left()); got != want {
		t.Fatalf("found\n%s\nwant\n%s", got, want)
	}
	things, err := p.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // repeating does no harm
		var gone []Thing
		failed, err := p.Remove(t.Context(), things, func(thing Thing, err error) {
			if err != nil {
				t.Errorf("remove %s: %v", thing, err)
			}
			gone = append(gone, thing)
		})
		if err != nil || failed > 0 || len(gone) > len(things) {
			t.Errorf("removed\n%s\nand not %d: %v", words(gone), failed, err)
		}
	}
	p.wait()
	if got := p.left(); got != "" {
		t.Errorf("left are\n%s", got)
	}
	running, err := p.clients.EC2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{Filters: []types.Filter{
		{Name: aws.String("instance-state-name"), Values: []string{"pending", "running"}}}})
	if err != nil {
		t.Fatal(err)
	}
	var others []string
	for _, r := range running.Reservations {
		for _, i := range r.Instances {
			others = append(others, fmt.Sprint(len(i.Tags)))
		}
	}
	if len(others) != 4 {
		t.Errorf("%d machines are left, with so many tags: %v; want the 4 of others", len(others), others)
	}
	if _, err := p.clients.IAM.GetInstanceProfile(t.Context(), &iam.GetInstanceProfileInput{InstanceProfileName: aws.String("old_3")}); err != nil {
		t.Errorf("a profile of cluster old-2: %v", err)
	}
}

// Volumes of instances that outlived these and network interfaces that are attached to
// nothing go too, where they are the cluster's. What drivers made for workloads stays, and
// so does what is attached.
func TestVolumesAndInterfacesThatNothingHoldsGo(t *testing.T) {
	p := open(t, "old")
	const old, prod, web = "kubernetes.io/cluster/old=owned ", "kubernetes.io/cluster/prod=owned ", "karpenter.sh/nodepool=web karpenter.k8s.aws/ec2nodeclass=default "
	const plugin = "cluster.k8s.amazonaws.com/name=old node.k8s.amazonaws.com/instance_id=i-1 "
	p.outlived(prod+web, old+web)
	p.nic(old + web)
	p.nic(plugin)

	p.outlived(prod+web, prod+web)                                                       // of another cluster
	p.outlived(prod+web, old+web+"kubernetes.io/created-for/pvc/name=data-db-0")         // of a workload
	p.outlived(prod+web, old+"CSIVolumeName=pvc-1 ebs.csi.aws.com/cluster=true")         // made by the driver
	p.outlived(prod+web, "")                                                             // of no cluster
	p.instance(prod + web)                                                               // whose volume and interface are attached
	p.nic(old)                                                                           // EKS's own, or a user's
	p.nic(prod + web)                                                                    // of another cluster
	p.nic(plugin + prod)                                                                 // of two
	p.nic("cluster.k8s.amazonaws.com/name=old-2 node.k8s.amazonaws.com/instance_id=i-1") // of a name like it
	p.nic("cluster.k8s.amazonaws.com/name=old")                                          // not said to be a node's
	for range 5 {
		p.wait() // until the instances have ended
	}
	const want = `volume vol-x (50 GiB of gp3, pool web)
network interface eni-x (in subnet-x)
network interface eni-x (in subnet-x)`
	if got := p.left(); got != want {
		t.Fatalf("found\n%s\nwant\n%s", got, want)
	}
	things, err := p.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	volumes, interfaces := p.held()
	for range 2 { // repeating does no harm
		failed, err := p.Remove(t.Context(), things, func(thing Thing, err error) {
			if err != nil {
				t.Errorf("remove %s: %v", thing, err)
			}
		})
		if err != nil || failed > 0 {
			t.Errorf("%d are not removed: %v", failed, err)
		}
	}
	if got := p.left(); got != "" {
		t.Errorf("left are\n%s", got)
	}
	if v, n := p.held(); v != volumes-1 || n != interfaces-2 {
		t.Errorf("%d volumes and %d interfaces are left of %d and %d: want one and two less", v, n, volumes, interfaces)
	}
}

// held counts the volumes and the network interfaces of the account.
func (p *place) held() (volumes, interfaces int) {
	p.t.Helper()
	v, err := p.clients.EC2.DescribeVolumes(p.t.Context(), &ec2.DescribeVolumesInput{})
	if err != nil {
		p.t.Fatal(err)
	}
	n, err := p.clients.EC2.DescribeNetworkInterfaces(p.t.Context(), &ec2.DescribeNetworkInterfacesInput{})
	if err != nil {
		p.t.Fatal(err)
	}
	return len(v.Volumes), len(n.NetworkInterfaces)
}

// Nothing is done to a cluster that is there, found before or not, and nothing
// where EKS does not say.
func TestAClusterThatIsThereIsLeftAlone(t *testing.T) {
	p := open(t, "prod")
	if _, err := p.Find(t.Context()); err == nil || !strings.Contains(err.Error(), "cluster prod is still there") {
		t.Errorf("Find = %v", err)
	}
	reported := func(thing Thing, err error) { t.Errorf("touched %s: %v", thing, err) }
	if _, err := p.Remove(t.Context(), []Thing{{Kind: Instance, Name: "i-1"}, {Kind: Template, Name: "daemok.sh/a"}}, reported); err == nil {
		t.Error("Remove has no error")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	p.cluster = "old"
	if _, err := p.Find(over); err == nil || !strings.Contains(err.Error(), "whether cluster old is gone") {
		t.Errorf("Find without an answer of EKS = %v", err)
	}
}
