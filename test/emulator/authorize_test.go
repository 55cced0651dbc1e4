package emulator_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/cloud/aws/rights"
)

// restricted is an account of whose callers one, by its own key, has the policies of the controller.
type restricted struct {
	*account
	config aws.Config // of the controller
	ec2    *ec2.Client
}

// controllerOf gives the controller's role the policies, but for the statements left out, and its key.
func controllerOf(a *account, without ...string) restricted {
	a.Helper()
	for _, p := range rights.Parts(rights.Scope{Partition: "aws", Account: "123456789012", Region: "us-east-1", Cluster: "lab",
		NodeRoles: []string{"arn:aws:iam::123456789012:role/KarpenterNodeRole-lab"}, Queue: "arn:aws:sqs:us-east-1:123456789012:lab", Features: rights.Features()}) {
		d := p.Document()
		d.Statements = nil
		for _, g := range p.Grants {
			if !strings.Contains(" "+strings.Join(without, " ")+" ", " "+g.Sid+" ") {
				d.Statements = append(d.Statements, g.Statement)
			}
		}
		if len(d.Statements) > 0 {
			a.must(a.server.Attach("lab-karpenter", p.Name, d.JSON()))
		}
	}
	a.server.Enforce("controller", "lab-karpenter")
	r := restricted{account: a, config: a.config.Copy()}
	r.config.Credentials = client.At("", "us-east-1", client.Key{ID: "controller", Secret: "secret"}).Credentials
	r.ec2 = ec2.NewFromConfig(r.config)
	return r
}

// own are the tags of what the controller makes for a NodePool.
func own(more ...string) []types.Tag {
	return tagList(append([]string{"kubernetes.io/cluster/lab", "owned", "eks:eks-cluster-name", "lab", "karpenter.sh/nodepool", "web"}, more...)...)
}

// launchTemplate makes a launch template as the controller does, its network interfaces tagged.
func (r restricted) launchTemplate(name string) error {
	data := &types.RequestLaunchTemplateData{
		ImageId:            aws.String(r.image("x86_64")),
		IamInstanceProfile: &types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: aws.String("KarpenterNodeInstanceProfile-lab")},
		TagSpecifications:  []types.LaunchTemplateTagSpecificationRequest{{ResourceType: types.ResourceTypeNetworkInterface, Tags: own()}},
	}
	_, err := r.ec2.CreateLaunchTemplate(context.Background(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: &name, LaunchTemplateData: data,
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeLaunchTemplate, Tags: own()}}})
	return err
}

// launch launches one instance as the controller does, and says why not.
func (r restricted) launch(name string) (id string, why string) {
	r.Helper()
	in := &ec2.CreateFleetInput{Type: types.FleetTypeInstant,
		LaunchTemplateConfigs: []types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: &name, Version: aws.String("$Latest")},
			Overrides:                   overrides(r.override("m5.large", "us-east-1a")),
		}},
		TargetCapacitySpecification: &types.TargetCapacitySpecificationRequest{TotalTargetCapacity: aws.Int32(1), DefaultTargetCapacityType: types.DefaultTargetCapacityTypeOnDemand},
	}
	for _, kind := range []types.ResourceType{types.ResourceTypeInstance, types.ResourceTypeVolume, types.ResourceTypeFleet} {
		in.TagSpecifications = append(in.TagSpecifications, types.TagSpecification{ResourceType: kind, Tags: own()})
	}
	out, err := r.ec2.CreateFleet(context.Background(), in)
	switch {
	case err != nil:
		return "", err.Error()
	case len(out.Errors) > 0:
		return "", *out.Errors[0].ErrorCode + ": " + *out.Errors[0].ErrorMessage
	}
	return out.Instances[0].InstanceIds[0], ""
}

// With its policies the controller launches, names and ends an instance, as often as it likes.
func TestPoliciesLetTheControllerWork(t *testing.T) {
	r, ctx := controllerOf(open(t, noLags)), context.Background()
	r.must(r.launchTemplate("web"))
	id, why := r.launch("web")
	if why != "" {
		t.Fatal(why)
	}
	_, err := r.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{id}, Tags: tagList("Name", "node-1", "karpenter.sh/nodeclaim", "web-1")})
	r.must(err)
	_, err = r.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	r.must(err)
	_, err = r.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	r.must(err)
	_, err = r.ec2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: aws.String("web")})
	r.must(err)
	who, err := sts.NewFromConfig(r.config).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil || *who.Arn != "arn:aws:sts::123456789012:assumed-role/lab-karpenter/session" {
		t.Errorf("the caller is %v, %v; want the controller's role", who, err)
	}
}

// Each service refuses what the policies do not allow in its own words; another key may do it.
func TestPoliciesEndWithTheCluster(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	r := controllerOf(a)
	strange := func() string { // an instance of another cluster
		a.template("theirs")
		out, err := a.fleet("theirs", 1, overrides(a.override("m5.large", "us-east-1a")))
		a.must(err)
		return out.Instances[0].InstanceIds[0]
	}()
	dry := func(in *ec2.RunInstancesInput) *ec2.RunInstancesInput {
		in.DryRun, in.MinCount, in.MaxCount, in.InstanceType, in.ImageId = aws.Bool(true), aws.Int32(1), aws.Int32(1), types.InstanceTypeM5Large, aws.String(a.image("x86_64"))
		return in
	}
	for name, tt := range map[string]struct {
		call func(c aws.Config) error
		code string
		says string // words of the refusal
	}{
		"end an instance of another cluster": {func(c aws.Config) error {
			_, err := ec2.NewFromConfig(c).TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{strange}, DryRun: aws.Bool(true)})
			return err
		}, "UnauthorizedOperation", "is not authorized to perform: ec2:TerminateInstances on resource: arn:aws:ec2:us-east-1:123456789012:instance/" + strange + " because no identity-based policy allows"},
		"tag it": {func(c aws.Config) error {
			_, err := ec2.NewFromConfig(c).CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{strange}, Tags: tagList("Name", "x"), DryRun: aws.Bool(true)})
			return err
		}, "UnauthorizedOperation", "ec2:CreateTags on resource"},
		"run an instance without tags": {func(c aws.Config) error {
			_, err := ec2.NewFromConfig(c).RunInstances(ctx, dry(&ec2.RunInstancesInput{}))
			return err
		}, "UnauthorizedOperation", "ec2:RunInstances on resource: arn:aws:ec2:us-east-1:123456789012:instance/*"},
		"read other things of EC2": {func(c aws.Config) error {
			_, err := ec2.NewFromConfig(c).DescribeVpcs(ctx, &ec2.DescribeVpcsInput{DryRun: aws.Bool(true)})
			return err
		}, "UnauthorizedOperation", "ec2:DescribeVpcs"},
		"make a profile without tags": {func(c aws.Config) error {
			_, err := iam.NewFromConfig(c).CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{InstanceProfileName: aws.String("mine")})
			return err
		}, "AccessDenied", "iam:CreateInstanceProfile on resource: arn:aws:iam::123456789012:instance-profile/mine"},
		"put a role into the profile of the guides": {func(c aws.Config) error {
			_, err := iam.NewFromConfig(c).RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{
				InstanceProfileName: aws.String("KarpenterNodeInstanceProfile-lab"), RoleName: aws.String("KarpenterNodeRole-lab")})
			return err
		}, "AccessDenied", "iam:RemoveRoleFromInstanceProfile"},
		"read a parameter of one's own": {func(c aws.Config) error {
			_, err := ssm.NewFromConfig(c).GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String("/password")})
			return err
		}, "AccessDeniedException", "ssm:GetParameter on resource: arn:aws:ssm:us-east-1:123456789012:parameter/password"},
		"read another queue": {func(c aws.Config) error {
			_, err := sqs.NewFromConfig(c).GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("orders")})
			return err
		}, "AccessDeniedException", "sqs:GetQueueUrl on resource: arn:aws:sqs:us-east-1:123456789012:orders"},
		"read another cluster": {func(c aws.Config) error {
			_, err := eks.NewFromConfig(c).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String("prod")})
			return err
		}, "AccessDeniedException", "eks:DescribeCluster on resource: arn:aws:eks:us-east-1:123456789012:cluster/prod"},
	} {
		t.Run(name, func(t *testing.T) {
			err := tt.call(r.config)
			if code(err) != tt.code || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("the controller: %v, want %s with %q", err, tt.code, tt.says)
			}
			if err := tt.call(a.config); code(err) == tt.code {
				t.Errorf("a caller without restrictions: %v", err)
			}
		})
	}
}

// Without one statement the launch fails at what it allows, and nothing is launched.
func TestLaunchesNeedEveryStatement(t *testing.T) {
	for without, want := range map[string]string{
		"LaunchInSharedResources": "ec2:RunInstances on resource: arn:aws:ec2:us-east-1::image/",
		"LaunchFromOwnTemplates":  "ec2:CreateFleet on resource: arn:aws:ec2:us-east-1:123456789012:launch-template/lt-",
		"LaunchTagged":            "ec2:CreateFleet on resource: arn:aws:ec2:us-east-1:123456789012:fleet/*",
		"TagAtLaunch":             "ec2:CreateTags on resource: arn:aws:ec2:us-east-1:123456789012:fleet/*",
		"PassNodeRole":            "iam:PassRole on resource: arn:aws:iam::123456789012:role/KarpenterNodeRole-lab",
	} {
		t.Run(without, func(t *testing.T) {
			a := open(t, noLags)
			maker := controllerOf(a)
			a.must(maker.launchTemplate("web"))
			for _, p := range []string{"NodeLifecycle", "IAMIntegration"} { // before the others come
				_, err := iam.NewFromConfig(a.config).DetachRolePolicy(context.Background(), &iam.DetachRolePolicyInput{RoleName: aws.String("lab-karpenter"), PolicyArn: aws.String("arn:aws:iam::123456789012:policy/" + p)})
				a.must(err)
			}
			id, why := controllerOf(a, without).launch("web")
			if !strings.Contains(why, "UnauthorizedOperation") || !strings.Contains(why, want) {
				t.Errorf("launched %q, %q; want nothing, for lack of %s", id, why, want)
			}
			a.Advance(time.Minute)
			out, err := a.ec2.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{})
			if err != nil || len(out.Reservations) > 0 {
				t.Errorf("there are %v, %v; want no instance", out.Reservations, err)
			}
		})
	}
}

// What is simulated for a role whose policies are enforced is what they say.
func TestSimulationsGoByThePolicies(t *testing.T) {
	r := controllerOf(open(t))
	tag := func(key, value string) iamtypes.ContextEntry {
		return iamtypes.ContextEntry{ContextKeyName: aws.String("aws:ResourceTag/" + key), ContextKeyType: iamtypes.ContextKeyTypeEnumString, ContextKeyValues: []string{value}}
	}
	for name, tt := range map[string]struct {
		entries []iamtypes.ContextEntry
		want    iamtypes.PolicyEvaluationDecisionType
	}{
		"an instance of the cluster": {[]iamtypes.ContextEntry{tag("kubernetes.io/cluster/lab", "owned"), tag("karpenter.sh/nodepool", "web")}, iamtypes.PolicyEvaluationDecisionTypeAllowed},
		"one of another":             {[]iamtypes.ContextEntry{tag("kubernetes.io/cluster/prod", "owned"), tag("karpenter.sh/nodepool", "web")}, iamtypes.PolicyEvaluationDecisionTypeImplicitDeny},
	} {
		out, err := iam.NewFromConfig(r.account.config).SimulatePrincipalPolicy(context.Background(), &iam.SimulatePrincipalPolicyInput{
			PolicySourceArn: aws.String("arn:aws:iam::123456789012:role/lab-karpenter"), ActionNames: []string{"ec2:TerminateInstances"},
			ResourceArns: []string{"arn:aws:ec2:us-east-1:123456789012:instance/i-1"}, ContextEntries: tt.entries,
		})
		if err != nil || out.EvaluationResults[0].EvalDecision != tt.want {
			t.Errorf("%s: %+v, %v; want %s", name, out, err, tt.want)
		}
	}
}
