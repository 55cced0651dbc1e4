package emulator_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
)

// "An access entry of type EC2_LINUX lets nodes of the role join": without it they may not, with it they may again.
func TestAccessEntriesLetMachinesIn(t *testing.T) {
	a, ctx := open(t), context.Background()
	client := eks.NewFromConfig(a.config)
	const role, arn = "KarpenterNodeRole-lab", "arn:aws:iam::123456789012:role/KarpenterNodeRole-lab"
	listed, err := client.ListAccessEntries(ctx, &eks.ListAccessEntriesInput{ClusterName: aws.String("lab")})
	a.must(err)
	shown, err := client.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: aws.String("lab"), PrincipalArn: aws.String(arn)})
	a.must(err)
	if !slices.Equal(listed.AccessEntries, []string{arn}) || *shown.AccessEntry.Type != "EC2_LINUX" || !slices.Equal(shown.AccessEntry.KubernetesGroups, []string{"system:nodes"}) {
		t.Errorf("entries are %v, the role's %+v; want it alone, for machines", listed.AccessEntries, shown.AccessEntry)
	}
	_, err = client.DeleteAccessEntry(ctx, &eks.DeleteAccessEntryInput{ClusterName: aws.String("lab"), PrincipalArn: aws.String(arn)})
	a.must(err)
	if a.server.MayJoin(role) || !a.server.MayJoin("other") {
		t.Error("machines of the role may join without its entry, or those of a role that never had one may not")
	}
	_, err = client.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: aws.String("lab"), PrincipalArn: aws.String(arn)})
	if code(err) != "ResourceNotFoundException" {
		t.Errorf("an entry that is gone: %q, want ResourceNotFoundException", code(err))
	}
	create := func() error {
		_, err := client.CreateAccessEntry(ctx, &eks.CreateAccessEntryInput{ClusterName: aws.String("lab"), PrincipalArn: aws.String(arn), Type: aws.String("EC2_LINUX")})
		return err
	}
	a.must(create())
	if again := create(); code(again) != "ResourceInUseException" || !a.server.MayJoin(role) {
		t.Errorf("the entry made anew, and once more: %q, may join: %v; want ResourceInUseException, and that they may", code(again), a.server.MayJoin(role))
	}
}

// "initial, healthy, draining, unused": a target is sent nothing while it is initial, and finishes what it is at while it
// is draining, for the group's deregistration delay.
func TestTargetsOfALoadBalancer(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	client := elb.NewFromConfig(a.config)
	out, err := a.fleet(a.template("web"), 1, overrides(a.override("m5.large", "us-east-1a")))
	a.must(err)
	id := out.Instances[0].InstanceIds[0]
	a.Advance(time.Minute)
	made, err := client.CreateTargetGroup(ctx, &elb.CreateTargetGroupInput{Name: aws.String("web"), Port: aws.Int32(8080), Protocol: elbtypes.ProtocolEnumHttp, TargetType: elbtypes.TargetTypeEnumInstance})
	a.must(err)
	group := made.TargetGroups[0].TargetGroupArn
	_, err = client.ModifyTargetGroupAttributes(ctx, &elb.ModifyTargetGroupAttributesInput{TargetGroupArn: group,
		Attributes: []elbtypes.TargetGroupAttribute{{Key: aws.String("deregistration_delay.timeout_seconds"), Value: aws.String("60")}}})
	a.must(err)
	targets := []elbtypes.TargetDescription{{Id: aws.String(id)}}
	stands := func() string {
		out, err := client.DescribeTargetHealth(ctx, &elb.DescribeTargetHealthInput{TargetGroupArn: group, Targets: targets})
		a.must(err)
		return string(out.TargetHealthDescriptions[0].TargetHealth.State)
	}
	story := []string{stands()}
	_, err = client.RegisterTargets(ctx, &elb.RegisterTargetsInput{TargetGroupArn: group, Targets: targets})
	a.must(err)
	story = append(story, stands())
	a.Advance(time.Minute)
	story = append(story, stands())
	_, err = client.DeregisterTargets(ctx, &elb.DeregisterTargetsInput{TargetGroupArn: group, Targets: targets})
	a.must(err)
	a.Advance(59 * time.Second)
	story = append(story, stands())
	a.Advance(2 * time.Second)
	story = append(story, stands())
	if want := []string{"unused", "initial", "healthy", "draining", "unused"}; !slices.Equal(story, want) {
		t.Errorf("the target was %q, want %q", story, want)
	}
	_, err = client.RegisterTargets(ctx, &elb.RegisterTargetsInput{TargetGroupArn: group, Targets: []elbtypes.TargetDescription{{Id: aws.String("i-0123456789abcdef0")}}})
	if code(err) != "InvalidTarget" {
		t.Errorf("register what is not there: %q, want InvalidTarget", code(err))
	}
	found, err := client.DescribeTargetGroups(ctx, &elb.DescribeTargetGroupsInput{Names: []string{"web"}})
	a.must(err)
	_, err = client.DeleteTargetGroup(ctx, &elb.DeleteTargetGroupInput{TargetGroupArn: found.TargetGroups[0].TargetGroupArn})
	a.must(err)
	_, err = client.DescribeTargetGroups(ctx, &elb.DescribeTargetGroupsInput{Names: []string{"web"}})
	if code(err) != "TargetGroupNotFound" {
		t.Errorf("a group that is gone: %q, want TargetGroupNotFound", code(err))
	}
}

// "EKS Pod Identity associations": one role for a service account, which need not be there, until the association is deleted.
func TestPodIdentityGivesAServiceAccountARole(t *testing.T) {
	a, ctx := open(t), context.Background()
	client := eks.NewFromConfig(a.config)
	lab, namespace, account, role := aws.String("lab"), aws.String("kube-system"), aws.String("karpenter"), aws.String("arn:aws:iam::123456789012:role/KarpenterNodeRole-lab")
	create := func(role *string) (*eks.CreatePodIdentityAssociationOutput, error) {
		return client.CreatePodIdentityAssociation(ctx, &eks.CreatePodIdentityAssociationInput{ClusterName: lab, Namespace: namespace, ServiceAccount: account, RoleArn: role})
	}
	if _, err := create(aws.String("arn:aws:iam::123456789012:role/none")); code(err) != "InvalidParameterException" {
		t.Errorf("a role that is not there: %v, want InvalidParameterException", err)
	}
	made, err := create(role)
	a.must(err)
	if _, err := create(role); code(err) != "ResourceInUseException" {
		t.Errorf("a second one: %v, want ResourceInUseException", err)
	}
	id := made.Association.AssociationId
	shown, err := client.DescribePodIdentityAssociation(ctx, &eks.DescribePodIdentityAssociationInput{ClusterName: lab, AssociationId: id})
	a.must(err)
	if *shown.Association.RoleArn != *role {
		t.Errorf("the role is %s, want %s", *shown.Association.RoleArn, *role)
	}
	count := func(of *string) int {
		listed, err := client.ListPodIdentityAssociations(ctx, &eks.ListPodIdentityAssociationsInput{ClusterName: lab, Namespace: namespace, ServiceAccount: of})
		a.must(err)
		return len(listed.Associations)
	}
	if n, others := count(account), count(aws.String("other")); n != 1 || others != 0 {
		t.Errorf("%d for the service account and %d for another, want 1 and none", n, others)
	}
	other := aws.String("arn:aws:iam::123456789012:role/lab-other")
	if _, err := client.UpdatePodIdentityAssociation(ctx, &eks.UpdatePodIdentityAssociationInput{ClusterName: lab, AssociationId: id, RoleArn: other}); code(err) != "InvalidParameterException" {
		t.Errorf("an update to a role that is not there: %v, want InvalidParameterException", err)
	}
	_, err = iam.NewFromConfig(a.config).CreateRole(ctx, &iam.CreateRoleInput{RoleName: aws.String("lab-other"), AssumeRolePolicyDocument: aws.String(`{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "pods.eks.amazonaws.com"}, "Action": "sts:AssumeRole"}]}`)})
	a.must(err)
	updated, err := client.UpdatePodIdentityAssociation(ctx, &eks.UpdatePodIdentityAssociationInput{ClusterName: lab, AssociationId: id, RoleArn: other})
	a.must(err)
	if *updated.Association.RoleArn != *other || *updated.Association.AssociationId != *id {
		t.Errorf("updated to role %s as %s, want %s as %s", *updated.Association.RoleArn, *updated.Association.AssociationId, *other, *id)
	}
	_, err = client.DeletePodIdentityAssociation(ctx, &eks.DeletePodIdentityAssociationInput{ClusterName: lab, AssociationId: id})
	a.must(err)
	if n := count(account); n != 0 {
		t.Errorf("%d after it was deleted", n)
	}
}
