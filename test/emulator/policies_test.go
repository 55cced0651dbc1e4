package emulator_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
)

const ec2Trust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`

// "A role has managed policies that are attached to it, and inline ones that are its own"; it cannot be
// deleted while it has any.
func TestPoliciesOfARole(t *testing.T) {
	a, ctx := open(t), context.Background()
	client := iam.NewFromConfig(a.config)
	const document = `{"Version": "2012-10-17","Statement":[{"Effect":"Allow","Action":"ec2:CreateFleet","Resource":"*"}]}`
	_, err := client.CreateRole(ctx, &iam.CreateRoleInput{RoleName: aws.String("buyer"), AssumeRolePolicyDocument: aws.String(ec2Trust)})
	a.must(err)
	made, err := client.CreatePolicy(ctx, &iam.CreatePolicyInput{PolicyName: aws.String("buy"), PolicyDocument: aws.String(document)})
	a.must(err)
	for _, arn := range []string{*made.Policy.Arn, "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"} {
		_, err = client.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: aws.String("buyer"), PolicyArn: aws.String(arn)})
		a.must(err)
	}
	_, err = client.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: aws.String("buyer"), PolicyName: aws.String("own"), PolicyDocument: aws.String(document)})
	a.must(err)
	attached, err := client.ListAttachedRolePolicies(ctx, &iam.ListAttachedRolePoliciesInput{RoleName: aws.String("buyer")})
	a.must(err)
	inline, err := client.ListRolePolicies(ctx, &iam.ListRolePoliciesInput{RoleName: aws.String("buyer")})
	a.must(err)
	if len(attached.AttachedPolicies) != 2 || len(inline.PolicyNames) != 1 || *attached.AttachedPolicies[0].PolicyName != "buy" {
		t.Errorf("attached %v, inline %v; want both, and the one", attached.AttachedPolicies, inline.PolicyNames)
	}
	version, err := client.GetPolicyVersion(ctx, &iam.GetPolicyVersionInput{PolicyArn: made.Policy.Arn, VersionId: made.Policy.DefaultVersionId})
	a.must(err)
	own, err := client.GetRolePolicy(ctx, &iam.GetRolePolicyInput{RoleName: aws.String("buyer"), PolicyName: aws.String("own")})
	a.must(err)
	for _, encoded := range []string{*version.PolicyVersion.Document, *own.PolicyDocument} { // "URL-encoded compliant with RFC 3986"
		if got, err := url.PathUnescape(encoded); err != nil || got != document {
			t.Errorf("document is %q, %v; want it as it was written, encoded", encoded, err)
		}
	}
	_, err = client.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: aws.String("buyer")})
	if code(err) != "DeleteConflict" {
		t.Errorf("delete a role with policies: %q, want DeleteConflict", code(err))
	}
	_, err = client.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: made.Policy.Arn})
	if code(err) != "DeleteConflict" {
		t.Errorf("delete an attached policy: %q, want DeleteConflict", code(err))
	}
	for _, p := range attached.AttachedPolicies {
		_, err = client.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: aws.String("buyer"), PolicyArn: p.PolicyArn})
		a.must(err)
	}
	_, err = client.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: aws.String("buyer"), PolicyName: aws.String("own")})
	a.must(err)
	_, err = client.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: made.Policy.Arn})
	a.must(err)
	_, err = client.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: aws.String("buyer")})
	a.must(err)
	_, err = client.GetPolicy(ctx, &iam.GetPolicyInput{PolicyArn: made.Policy.Arn})
	if code(err) != "NoSuchEntity" {
		t.Errorf("a policy that is gone: %q, want NoSuchEntity", code(err))
	}
}

// What is simulated is what calls meet: a right that was taken away is an implicit deny.
func TestSimulatePrincipalPolicy(t *testing.T) {
	a := open(t)
	a.server.Deny("CreateFleet")
	out, err := iam.NewFromConfig(a.config).SimulatePrincipalPolicy(context.Background(), &iam.SimulatePrincipalPolicyInput{
		PolicySourceArn: aws.String("arn:aws:iam::123456789012:role/lab-karpenter"), ActionNames: []string{"ec2:CreateFleet", "ec2:RunInstances"},
	})
	a.must(err)
	got := map[string]types.PolicyEvaluationDecisionType{}
	for _, r := range out.EvaluationResults {
		got[*r.EvalActionName] = r.EvalDecision
	}
	if got["ec2:CreateFleet"] != types.PolicyEvaluationDecisionTypeImplicitDeny || got["ec2:RunInstances"] != types.PolicyEvaluationDecisionTypeAllowed {
		t.Errorf("decisions are %v, want CreateFleet denied and RunInstances allowed", got)
	}
}
