package aws

import (
	"context"
	"fmt"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
)

// VerifiedFor is how long the answer of Verify is worth asking no more.
const VerifiedFor = 30 * time.Minute

// ErrProfileNotUsable says that EC2 does not know the instance profile yet.
// One that was just made is known within about 15 seconds.
var ErrProfileNotUsable = fmt.Errorf("EC2 does not know the instance profile yet, which is usual for some seconds after it was made")

// Verify asks EC2 by a dry run whether a machine could be launched from a
// class whose parts are all resolved. It launches nothing. A missing right is
// a *cloud.RefusedError with the reason RunInstancesAuthCheckFailed.
func (p *Provider) Verify(ctx context.Context, class nodeclass.Class) error {
	input, err := p.representative(ctx, class)
	if err != nil {
		return err
	}
	_, err = p.clients.EC2.RunInstances(ctx, input)
	message := fault.Message(err)
	switch code := fault.Code(err); {
	case err == nil, code == "DryRunOperation":
		return nil
	case strings.Contains(message, "iamInstanceProfile") || strings.Contains(message, "IAM Instance Profile"):
		return fmt.Errorf("%w: %s", ErrProfileNotUsable, message)
	case code == "UnauthorizedOperation" || code == "AccessDenied":
		return &cloud.RefusedError{Reason: "RunInstancesAuthCheckFailed",
			Cause: "the controller's role may not call ec2:RunInstances: " + message}
	}
	return fault.Wrap("ec2:RunInstances (dry run)", err)
}

// representative is a dry run for the first kind that is offered now and that
// one of the class's images boots.
func (p *Provider) representative(ctx context.Context, class nodeclass.Class) (*ec2.RunInstancesInput, error) {
	catalogue, err := p.Kinds(ctx, cloud.Class{ID: "EC2NodeClass/" + class.Name, Settings: class})
	if err != nil {
		return nil, err
	}
	for i := range catalogue.Kinds {
		k := &catalogue.Kinds[i]
		image, bootable := imageFor(class, k)
		subnet, offered := subnetFor(class, k)
		if bootable && offered {
			return p.dryRun(class, k.Name, image, subnet), nil
		}
	}
	return nil, &cloud.RefusedError{Reason: "DependenciesNotReady",
		Cause: "no instance type is offered in the zones of the class's subnets that one of its images boots"}
}

func imageFor(class nodeclass.Class, k *cluster.Kind) (string, bool) {
	for _, image := range class.Resolved.Images {
		if _, boots := image.Requirements.Allow(k.Labels); boots {
			return image.ID, true
		}
	}
	return "", false
}

func subnetFor(class nodeclass.Class, k *cluster.Kind) (string, bool) {
	for _, o := range k.Offers {
		for _, s := range class.Resolved.Subnets {
			if o.Available && o.Zone == s.Zone {
				return s.ID, true
			}
		}
	}
	return "", false
}

// dryRun carries the tags that the recommended rights demand of every machine.
func (p *Provider) dryRun(class nodeclass.Class, kind, image, subnet string) *ec2.RunInstancesInput {
	groups := make([]string, len(class.Resolved.Groups))
	for i, g := range class.Resolved.Groups {
		groups[i] = g.ID
	}
	tags := []types.Tag{
		{Key: sdk.String("kubernetes.io/cluster/" + p.options.Cluster), Value: sdk.String("owned")},
		{Key: sdk.String("eks:eks-cluster-name"), Value: sdk.String(p.options.Cluster)},
		{Key: sdk.String("karpenter.sh/nodepool"), Value: sdk.String("dry-run")},
		{Key: sdk.String("karpenter.k8s.aws/ec2nodeclass"), Value: sdk.String(class.Name)},
	}
	return &ec2.RunInstancesInput{
		DryRun: sdk.Bool(true), MinCount: sdk.Int32(1), MaxCount: sdk.Int32(1),
		ImageId: sdk.String(image), InstanceType: types.InstanceType(kind),
		SubnetId: sdk.String(subnet), SecurityGroupIds: groups,
		IamInstanceProfile: &types.IamInstanceProfileSpecification{Name: sdk.String(class.Resolved.Profile)},
		TagSpecifications: []types.TagSpecification{
			{ResourceType: types.ResourceTypeInstance, Tags: tags}, {ResourceType: types.ResourceTypeVolume, Tags: tags},
		},
	}
}
