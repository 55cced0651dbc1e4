package emulator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// What tools that make roles look at before they change or delete one: its profiles, its tags, who has a policy,
// and which policies there are.
func TestToolsLookAtRoles(t *testing.T) {
	a, ctx := open(t), context.Background()
	client, node := iam.NewFromConfig(a.config), aws.String("KarpenterNodeRole-lab")
	const document = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"ec2:CreateFleet","Resource":"*"}]}`
	made, err := client.CreatePolicy(ctx, &iam.CreatePolicyInput{PolicyName: aws.String("buy"), Path: aws.String("/team/"), PolicyDocument: aws.String(document)})
	a.must(err)
	_, err = client.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: node, PolicyArn: made.Policy.Arn})
	a.must(err)

	profiles, err := client.ListInstanceProfilesForRole(ctx, &iam.ListInstanceProfilesForRoleInput{RoleName: node})
	a.must(err)
	if len(profiles.InstanceProfiles) != 1 || *profiles.InstanceProfiles[0].InstanceProfileName != "KarpenterNodeInstanceProfile-lab" {
		t.Errorf("profiles of the role: %v, want the one of the guides", profiles.InstanceProfiles)
	}
	having, err := client.ListEntitiesForPolicy(ctx, &iam.ListEntitiesForPolicyInput{PolicyArn: made.Policy.Arn})
	a.must(err)
	if len(having.PolicyRoles) != 1 || *having.PolicyRoles[0].RoleName != *node {
		t.Errorf("roles that have the policy: %v, want the node role", having.PolicyRoles)
	}
	versions, err := client.ListPolicyVersions(ctx, &iam.ListPolicyVersionsInput{PolicyArn: made.Policy.Arn})
	a.must(err)
	if len(versions.Versions) != 1 || *versions.Versions[0].VersionId != "v1" || !versions.Versions[0].IsDefaultVersion {
		t.Errorf("versions of the policy: %v, want v1", versions.Versions)
	}
	for what, tt := range map[string]struct {
		in   iam.ListPoliciesInput
		want int
	}{
		"all":                    {iam.ListPoliciesInput{}, 5},
		"AWS's":                  {iam.ListPoliciesInput{Scope: types.PolicyScopeTypeAws}, 4},
		"our own":                {iam.ListPoliciesInput{Scope: types.PolicyScopeTypeLocal, OnlyAttached: true}, 1},
		"those below a path":     {iam.ListPoliciesInput{PathPrefix: aws.String("/team/")}, 1},
		"those of another scope": {iam.ListPoliciesInput{Scope: types.PolicyScopeTypeLocal, PathPrefix: aws.String("/other/")}, 0},
	} {
		var got []string
		for pages := iam.NewListPoliciesPaginator(client, &tt.in, func(o *iam.ListPoliciesPaginatorOptions) { o.Limit = 2 }); pages.HasMorePages(); {
			page, err := pages.NextPage(ctx)
			a.must(err)
			for _, p := range page.Policies {
				got = append(got, *p.PolicyName)
			}
		}
		if len(got) != tt.want {
			t.Errorf("policies, %s: %q, want %d", what, got, tt.want)
		}
	}

	_, err = client.TagRole(ctx, &iam.TagRoleInput{RoleName: node, Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("web")}, {Key: aws.String("stage"), Value: aws.String("test")}}})
	a.must(err)
	_, err = client.UntagRole(ctx, &iam.UntagRoleInput{RoleName: node, TagKeys: []string{"stage"}})
	a.must(err)
	tagged, err := client.ListRoleTags(ctx, &iam.ListRoleTagsInput{RoleName: node})
	a.must(err)
	if len(tagged.Tags) != 1 || *tagged.Tags[0].Key != "team" {
		t.Errorf("tags of the role: %v, want team", tagged.Tags)
	}
	profile := aws.String("KarpenterNodeInstanceProfile-lab")
	_, err = client.TagInstanceProfile(ctx, &iam.TagInstanceProfileInput{InstanceProfileName: profile, Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("web")}}})
	a.must(err)
	_, err = client.UntagInstanceProfile(ctx, &iam.UntagInstanceProfileInput{InstanceProfileName: profile, TagKeys: []string{"team"}})
	a.must(err)
	left, err := client.ListInstanceProfileTags(ctx, &iam.ListInstanceProfileTagsInput{InstanceProfileName: profile})
	a.must(err)
	if len(left.Tags) != 0 {
		t.Errorf("tags of the profile: %v, want none", left.Tags)
	}

	_, err = client.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: node, PolicyDocument: aws.String(strings.ReplaceAll(ec2Trust, "ec2", "ssm"))})
	a.must(err)
	got, err := client.GetRole(ctx, &iam.GetRoleInput{RoleName: node})
	a.must(err)
	if !strings.Contains(*got.Role.AssumeRolePolicyDocument, "ssm.amazonaws.com") {
		t.Errorf("trust of the role is %s", *got.Role.AssumeRolePolicyDocument)
	}
	for document, says := range map[string]string{"none": "no JSON object", document: "Has prohibited field Resource"} {
		_, err = client.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: node, PolicyDocument: &document})
		if code(err) != "MalformedPolicyDocument" || !strings.Contains(err.Error(), says) {
			t.Errorf("a trust of %s: %v, want MalformedPolicyDocument with %q", document, err, says)
		}
	}
}

// Node groups are listed, and one that is deleted takes its Auto Scaling group with it; entries of
// people change their groups, those of instances do not.
func TestToolsLookAtTheCluster(t *testing.T) {
	a, ctx := open(t), context.Background()
	client, cluster := eks.NewFromConfig(a.config), aws.String("lab")
	listed := func() string {
		out, err := client.ListNodegroups(ctx, &eks.ListNodegroupsInput{ClusterName: cluster})
		a.must(err)
		groups, err := autoscaling.NewFromConfig(a.config).DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{})
		a.must(err)
		return fmt.Sprint(out.Nodegroups, len(groups.AutoScalingGroups))
	}
	_, err := client.CreateNodegroup(ctx, &eks.CreateNodegroupInput{
		ClusterName: cluster, NodegroupName: aws.String("web"), NodeRole: aws.String("arn:aws:iam::123456789012:role/KarpenterNodeRole-lab"), Subnets: []string{"subnet-1"},
	})
	a.must(err)
	if got := listed(); got != "[web] 1" {
		t.Errorf("node groups and Auto Scaling groups: %s, want [web] 1", got)
	}
	gone, err := client.DeleteNodegroup(ctx, &eks.DeleteNodegroupInput{ClusterName: cluster, NodegroupName: aws.String("web")})
	a.must(err)
	if got := listed(); got != "[] 0" || gone.Nodegroup.Status != "DELETING" {
		t.Errorf("node groups and Auto Scaling groups: %s after it was %s, want [] 0", got, gone.Nodegroup.Status)
	}

	people, machines := aws.String("arn:aws:iam::123456789012:role/people"), aws.String("arn:aws:iam::123456789012:role/KarpenterNodeRole-lab")
	_, err = client.CreateAccessEntry(ctx, &eks.CreateAccessEntryInput{ClusterName: cluster, PrincipalArn: people, KubernetesGroups: []string{"viewers"}})
	a.must(err)
	changed, err := client.UpdateAccessEntry(ctx, &eks.UpdateAccessEntryInput{ClusterName: cluster, PrincipalArn: people, KubernetesGroups: []string{"editors"}})
	a.must(err)
	if got := changed.AccessEntry.KubernetesGroups; len(got) != 1 || got[0] != "editors" {
		t.Errorf("groups are %q, want editors", got)
	}
	_, err = client.UpdateAccessEntry(ctx, &eks.UpdateAccessEntryInput{ClusterName: cluster, PrincipalArn: machines, KubernetesGroups: []string{"editors"}})
	if code(err) != "InvalidParameterException" {
		t.Errorf("groups of machines: %q, want InvalidParameterException", code(err))
	}
}
