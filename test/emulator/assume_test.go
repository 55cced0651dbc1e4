package emulator_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"
)

// A role is for those whom its trust policy names: by their own role, or by their account if their own policies let
// them; and for an hour where they have a role already.
func TestRolesAreAssumedByThoseTheyTrust(t *testing.T) {
	const (
		itself   = `"Principal": {"AWS": "` + controllerARN + `"}, "Action": ["sts:AssumeRole", "sts:TagSession"]`
		account  = `"Principal": {"AWS": "arn:aws:iam::123456789012:root"}, "Action": "sts:AssumeRole"`
		launcher = "arn:aws:iam::123456789012:role/buyer"
	)
	outside := itself + `, "Condition": {"StringEquals": {"sts:ExternalId": "42"}}`
	allowed := `{"Statement": {"Effect": "Allow", "Action": "sts:AssumeRole", "Resource": "` + launcher + `"}}`
	denied := strings.Replace(allowed, "Allow", "Deny", 1)
	tagged := []types.Tag{{Key: aws.String("team"), Value: aws.String("web")}}
	for name, tt := range map[string]struct {
		trust, own string
		in         sts.AssumeRoleInput
		code       string
	}{
		"the trust names the role":                {trust: itself},
		"it does, and the role's policies deny":   {trust: itself, own: denied, code: "AccessDenied"},
		"the trust names the account":             {trust: account, code: "AccessDenied"},
		"it does, and the role's policies allow":  {trust: account, own: allowed},
		"the trust names a service":               {trust: strings.Replace(account, `"AWS": "arn:aws:iam::123456789012:root"`, `"Service": "ec2.amazonaws.com"`, 1), own: allowed, code: "AccessDenied"},
		"a session with tags":                     {trust: itself, in: sts.AssumeRoleInput{Tags: tagged}},
		"tags that the trust does not let it set": {trust: account, own: strings.Replace(allowed, `"sts:AssumeRole"`, `"sts:*"`, 1), in: sts.AssumeRoleInput{Tags: tagged}, code: "AccessDenied"},
		"an external ID is missing":               {trust: outside, code: "AccessDenied"},
		"an external ID is right":                 {trust: outside, in: sts.AssumeRoleInput{ExternalId: aws.String("42")}},
		"a role that is none":                     {trust: itself, in: sts.AssumeRoleInput{RoleArn: aws.String(launcher + "s")}, code: "AccessDenied"},
		"two hours, which the role has":           {trust: itself, in: sts.AssumeRoleInput{DurationSeconds: aws.Int32(7200)}},
		"three hours, which it has not":           {trust: itself, in: sts.AssumeRoleInput{DurationSeconds: aws.Int32(10800)}, code: "ValidationError"},
	} {
		t.Run(name, func(t *testing.T) {
			r, ctx := controllerOf(open(t)), context.Background()
			_, err := iam.NewFromConfig(r.account.config).CreateRole(ctx, &iam.CreateRoleInput{RoleName: aws.String("buyer"), MaxSessionDuration: aws.Int32(7200),
				AssumeRolePolicyDocument: aws.String(`{"Statement": {"Effect": "Allow", ` + tt.trust + `}}`)})
			r.must(err)
			if tt.own != "" {
				r.must(r.server.Attach("lab-karpenter", "own", tt.own))
			}
			tt.in.RoleSessionName = aws.String("work")
			if tt.in.RoleArn == nil {
				tt.in.RoleArn = aws.String(launcher)
			}
			out, err := sts.NewFromConfig(r.config).AssumeRole(ctx, &tt.in)
			if code(err) != tt.code {
				t.Fatalf("it says %v, want %q", err, tt.code)
			}
			if err != nil {
				return
			}
			c := r.config.Copy()
			c.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: *out.Credentials.AccessKeyId, SecretAccessKey: *out.Credentials.SecretAccessKey, SessionToken: *out.Credentials.SessionToken}, nil
			})
			if got, err := who(c); got != "arn:aws:sts::123456789012:assumed-role/buyer/work" || err != nil {
				t.Errorf("credentials are those of %q, %v", got, err)
			}
			if _, err := ec2.NewFromConfig(c).DescribeInstances(ctx, &ec2.DescribeInstancesInput{}); code(err) != "UnauthorizedOperation" {
				t.Errorf("a role without policies reads instances: %v", err)
			}
			_, err = sts.NewFromConfig(c).AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: aws.String(launcher), RoleSessionName: aws.String("again")})
			if want := "User: arn:aws:sts::123456789012:assumed-role/buyer/work is not authorized to perform: sts:AssumeRole on resource: " + launcher; code(err) != "AccessDenied" || !strings.Contains(err.Error(), want) {
				t.Errorf("it assumes the role anew: %v, want %q", err, want)
			}
		})
	}
}

// Credentials end with their role: one of the same name that is made later is another.
func TestCredentialsEndWithTheirRole(t *testing.T) {
	a, ctx := open(t), context.Background()
	api, name := iam.NewFromConfig(a.config), aws.String("buyer")
	create := func() {
		_, err := api.CreateRole(ctx, &iam.CreateRoleInput{RoleName: name, AssumeRolePolicyDocument: aws.String(`{"Statement": {"Effect": "Allow", "Principal": "*", "Action": "sts:AssumeRole"}}`)})
		a.must(err)
	}
	create()
	out, err := sts.NewFromConfig(a.config).AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: aws.String("arn:aws:iam::123456789012:role/buyer"), RoleSessionName: aws.String("work")})
	a.must(err)
	c := a.config.Copy()
	c.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: *out.Credentials.AccessKeyId, SecretAccessKey: *out.Credentials.SecretAccessKey, SessionToken: *out.Credentials.SessionToken}, nil
	})
	_, err = who(c)
	a.must(err)
	_, err = api.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: name})
	a.must(err)
	if _, err := who(c); code(err) != "InvalidClientTokenId" {
		t.Errorf("the role is gone: %v, want InvalidClientTokenId", err)
	}
	create()
	if _, err := who(c); code(err) != "InvalidClientTokenId" {
		t.Errorf("the role was made anew: %v, want InvalidClientTokenId", err)
	}
}

// "Role chaining limits your role session to a maximum of one hour", whatever the role has.
func TestChainedSessionsLastAnHour(t *testing.T) {
	a, ctx := open(t), context.Background()
	_, err := iam.NewFromConfig(a.config).CreateRole(ctx, &iam.CreateRoleInput{RoleName: aws.String("buyer"), MaxSessionDuration: aws.Int32(7200),
		AssumeRolePolicyDocument: aws.String(`{"Statement": {"Effect": "Allow", "Principal": "*", "Action": "sts:AssumeRole"}}`)})
	a.must(err)
	c := a.config.Copy()
	for hop, want := range []string{"", "ValidationError"} {
		out, err := sts.NewFromConfig(c).AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: aws.String("arn:aws:iam::123456789012:role/buyer"), RoleSessionName: aws.String("work"), DurationSeconds: aws.Int32(7200)})
		if code(err) != want {
			t.Fatalf("hop %d: %v, want %q", hop, err, want)
		}
		if err == nil {
			c.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: *out.Credentials.AccessKeyId, SecretAccessKey: *out.Credentials.SecretAccessKey, SessionToken: *out.Credentials.SessionToken}, nil
			})
		}
	}
}
