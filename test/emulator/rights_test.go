package emulator_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// "If tags are specified in the resource-creating action, Amazon performs additional authorization on the ec2:CreateTags
// action. […] users must also have explicit permissions to use the ec2:CreateTags action." A fleet launches in the name of
// its caller, who needs ec2:RunInstances too: what he lacks lies in errorSet.
func TestLaunchesNeedFurtherRights(t *testing.T) {
	bare := func(in *ec2.CreateFleetInput) { in.TagSpecifications = nil }
	untagged := func(d *types.RequestLaunchTemplateData) { d.TagSpecifications = nil }
	for what, tt := range map[string]struct {
		denied string
		data   []func(*types.RequestLaunchTemplateData)
		change []func(*ec2.CreateFleetInput)
		call   string // what the call lacks
		launch string // what its launch lacks
	}{
		"all":                             {},
		"no launches":                     {denied: "RunInstances", launch: "ec2:RunInstances"},
		"no tags in the request":          {denied: "CreateTags", data: []func(*types.RequestLaunchTemplateData){untagged}, call: "ec2:CreateTags"},
		"no tags in the template":         {denied: "CreateTags", change: []func(*ec2.CreateFleetInput){bare}, launch: "ec2:CreateTags"},
		"no tags, where nobody wants any": {denied: "CreateTags", data: []func(*types.RequestLaunchTemplateData){untagged}, change: []func(*ec2.CreateFleetInput){bare}},
	} {
		t.Run(what, func(t *testing.T) {
			a := open(t, noLags)
			a.template("web", tt.data...)
			o := overrides(a.override("m5.large", "us-east-1a"))
			a.server.Deny(tt.denied)
			out, err := a.fleet("web", 1, o, tt.change...)
			if tt.call != "" {
				if code(err) != "UnauthorizedOperation" || status(err) != 403 || !strings.Contains(err.Error(), tt.call) {
					t.Fatalf("got %v, want UnauthorizedOperation of %s", err, tt.call)
				}
				return
			}
			a.must(err)
			switch {
			case tt.launch == "" && (len(out.Errors) > 0 || len(out.Instances) != 1):
				t.Errorf("%d instances, errors %+v; want one and none", len(out.Instances), out.Errors)
			case tt.launch != "" && (len(out.Instances) > 0 || *out.Errors[0].ErrorCode != "UnauthorizedOperation" || !strings.Contains(*out.Errors[0].ErrorMessage, tt.launch)):
				t.Errorf("%d instances, errors %+v; want none, for want of %s", len(out.Instances), out.Errors, tt.launch)
			}
		})
	}
	a, ctx := open(t, noLags), context.Background()
	a.server.Deny("CreateTags")
	_, err := a.ec2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: aws.String("tagged"), LaunchTemplateData: &types.RequestLaunchTemplateData{KeyName: aws.String("key")},
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeLaunchTemplate, Tags: tagList("a", "b")}},
	})
	if code(err) != "UnauthorizedOperation" || !strings.Contains(err.Error(), "ec2:CreateTags") {
		t.Errorf("a template with tags: %v, want UnauthorizedOperation of ec2:CreateTags", err)
	}
	_, err = a.ec2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{LaunchTemplateName: aws.String("bare"), LaunchTemplateData: &types.RequestLaunchTemplateData{KeyName: aws.String("key")}})
	a.must(err)
}
