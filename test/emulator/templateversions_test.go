package emulator_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// "The new version inherits the same launch parameters as the source version, except for parameters that you
// specify." "Launch template versions are numbered in the order in which they are created." "When you launch an
// instance using a launch template without specifying a version, the default version is used", which
// ModifyLaunchTemplate chooses; $Latest is the newest.
func TestATemplateGetsVersions(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	name := aws.String(a.template("web"))
	version := func(source string, data types.RequestLaunchTemplateData) (*types.LaunchTemplateVersion, error) {
		in := &ec2.CreateLaunchTemplateVersionInput{LaunchTemplateName: name, LaunchTemplateData: &data, VersionDescription: aws.String("next")}
		if source != "" {
			in.SourceVersion = &source
		}
		out, err := a.ec2.CreateLaunchTemplateVersion(ctx, in)
		if err != nil {
			return nil, err
		}
		return out.LaunchTemplateVersion, nil
	}
	second, err := version("1", types.RequestLaunchTemplateData{UserData: aws.String("bmV3")})
	a.must(err)
	d := second.LaunchTemplateData
	if *second.VersionNumber != 2 || *second.DefaultVersion || *d.UserData != "bmV3" || *d.ImageId != a.image("x86_64") || len(d.BlockDeviceMappings) != 1 || len(d.TagSpecifications) != 1 {
		t.Errorf("second version %d, default %t, of %+v; want the first with other user data", *second.VersionNumber, *second.DefaultVersion, d)
	}
	third, err := version("", types.RequestLaunchTemplateData{UserData: aws.String("bmV3")})
	a.must(err)
	if *third.VersionNumber != 3 || third.LaunchTemplateData.ImageId != nil {
		t.Errorf("third version %d of %+v; want nothing but what it says", *third.VersionNumber, third.LaunchTemplateData)
	}
	if _, err := version("9", types.RequestLaunchTemplateData{KeyName: aws.String("key")}); code(err) != "InvalidLaunchTemplateId.VersionNotFound" {
		t.Errorf("a version of one that is not there: %q", code(err))
	}
	stands := func() string {
		out, err := a.ec2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{*name}})
		a.must(err)
		return fmt.Sprint(*out.LaunchTemplates[0].DefaultVersionNumber, *out.LaunchTemplates[0].LatestVersionNumber)
	}
	if got := stands(); got != "1 3" {
		t.Errorf("default and newest version are %s, want 1 3", got)
	}
	_, err = a.ec2.ModifyLaunchTemplate(ctx, &ec2.ModifyLaunchTemplateInput{LaunchTemplateName: name, DefaultVersion: aws.String("2")})
	a.must(err)
	if got := stands(); got != "2 3" {
		t.Errorf("default and newest version are %s, want 2 3", got)
	}
	_, err = a.fleet(*name, 1, overrides(a.override("m5.large", "us-east-1a")), func(in *ec2.CreateFleetInput) {
		in.LaunchTemplateConfigs[0].LaunchTemplateSpecification.Version = aws.String("$Default")
	})
	a.must(err)
	if all := a.server.Instances(); len(all) != 1 || all[0].UserData != "new" {
		t.Errorf("launched by default: %+v, want one with the user data of version 2", all)
	}
}
