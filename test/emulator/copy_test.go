package emulator_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// A copy runs beside the instance that it is like, under another name.
func TestACopyIsLikeItsInstance(t *testing.T) {
	a := open(t, noLags)
	name := a.template("web", func(d *types.RequestLaunchTemplateData) {
		d.TagSpecifications = []types.LaunchTemplateTagSpecificationRequest{{ResourceType: types.ResourceTypeInstance, Tags: []types.Tag{{Key: new("Name"), Value: new("node-a")}, {Key: new("team"), Value: new("blue")}}}}
	})
	made, err := a.fleet(name, 1, []types.FleetLaunchTemplateOverridesRequest{a.override("m5.large", "us-east-1a")})
	a.must(err)
	first := made.Instances[0].InstanceIds[0]
	second, err := a.server.Copy(first, strings.NewReplacer("node-a", "node-b").Replace)
	a.must(err)
	found, err := a.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{first, second}})
	a.must(err)
	is := map[string]types.Instance{}
	for _, r := range found.Reservations {
		for _, i := range r.Instances {
			is[*i.InstanceId] = i
		}
	}
	one, other := is[first], is[second]
	if *one.ImageId != *other.ImageId || one.InstanceType != other.InstanceType || *one.SubnetId != *other.SubnetId || *one.IamInstanceProfile.Arn != *other.IamInstanceProfile.Arn ||
		*one.SecurityGroups[0].GroupId != *other.SecurityGroups[0].GroupId || *one.PrivateIpAddress == *other.PrivateIpAddress {
		t.Errorf("%s is %+v and its copy %+v", first, one, other)
	}
	tags := map[string]string{}
	for _, tag := range other.Tags {
		tags[*tag.Key] = *tag.Value
	}
	if tags["Name"] != "node-b" || tags["team"] != "blue" || tags["aws:ec2launchtemplate:id"] != "" {
		t.Errorf("the copy has the tags %v", tags)
	}
	if _, err := a.server.Copy("i-0", strings.ToUpper); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a copy of no instance gives %v", err)
	}
}
