package audit

import (
	"errors"
	"net/http/httptest"
	"os"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/cloud/aws/rights"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

const controller = "arn:aws:iam::123456789012:role/prod-karpenter"

// parts are the rights of a cluster called prod that uses everything.
func parts() []rights.Part {
	return rights.Parts(rights.Scope{Partition: "aws", Account: "123456789012", Region: "us-east-1", Cluster: "prod",
		NodeRoles: []string{"arn:aws:iam::123456789012:role/KarpenterNodeRole-prod"}, Queue: "arn:aws:sqs:us-east-1:123456789012:prod", Features: rights.Features()})
}

// open is an auditor with the controller's own credentials: its role has the policies, but for the
// statements left out, and what more says.
func open(t *testing.T, more string, without ...string) *Auditor {
	t.Helper()
	figures := market.DefaultFigures()
	figures.Visible = market.Spread{} // instances are seen at once
	server := emulator.New(world.Options{Account: world.Account{ClusterName: "prod"}, Seed: 1, Lags: &world.Lags{}, Figures: figures})
	web := httptest.NewServer(server)
	t.Cleanup(func() { server.Close(); web.Close() })
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": web.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "controller", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1",
	} {
		t.Setenv(name, value)
	}
	for _, p := range parts() {
		d := p.Document()
		d.Statements = nil
		for _, g := range p.Grants {
			if !slices.Contains(without, g.Sid) {
				d.Statements = append(d.Statements, g.Statement)
			}
		}
		if len(d.Statements) > 0 {
			if err := server.Attach("prod-karpenter", p.Name, d.JSON()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if more != "" {
		if err := server.Attach("prod-karpenter", "More", `{"Statement": [`+more+`]}`); err != nil {
			t.Fatal(err)
		}
	}
	server.Enforce("controller", "prod-karpenter")
	a, err := Open(t.Context(), "", "test")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// simulates is the statement that lets the controller simulate.
const simulates = `{"Effect": "Allow", "Action": "iam:SimulatePrincipalPolicy", "Resource": "*"}`

// in lists the findings in a state, as "Sid action".
func in(state State, found []Finding) (all []string) {
	for _, f := range found {
		if f.State == state {
			all = append(all, f.Statement+" "+f.Action)
		}
	}
	return all
}

// Every statement is asked about, and what is left out of the role's policies is named.
func TestSimulate(t *testing.T) {
	for name, tt := range map[string]struct {
		more    string
		without []string
		missing []string
	}{
		"all rights": {more: simulates},
		"some missing": {simulates, []string{"EndOwned", "ReadPrices", "PassNodeRole"},
			[]string{"EndOwned ec2:TerminateInstances", "EndOwned ec2:DeleteLaunchTemplate", "PassNodeRole iam:PassRole", "ReadPrices pricing:GetProducts"}},
		"one denied":            {simulates + `, {"Effect": "Deny", "Action": "ec2:CreateFleet", "Resource": "*"}`, nil, []string{"LaunchInSharedResources ec2:CreateFleet", "LaunchFromOwnTemplates ec2:CreateFleet", "LaunchTagged ec2:CreateFleet"}},
		"launches in no subnet": {simulates + `, {"Effect": "Deny", "Action": "ec2:RunInstances", "Resource": "arn:aws:ec2:*:*:subnet/*"}`, nil, []string{"LaunchInSharedResources ec2:RunInstances"}},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := open(t, tt.more, tt.without...).Simulate(t.Context(), controller, parts(), "123456789012")
			if err != nil {
				t.Fatal(err)
			}
			if got := in(Missing, found); !slices.Equal(got, tt.missing) {
				t.Errorf("missing: %q, want %q", got, tt.missing)
			}
			if got := len(in(Allowed, found)) + len(tt.missing); got != len(found) || got < len(rights.Actions()) {
				t.Errorf("%d of %d findings are allowed or missing", got, len(found))
			}
			for _, f := range found {
				if f.State == Missing && (f.Why == "" || f.Without == "") {
					t.Errorf("%s of %s: why %q, what fails %q; want both", f.Action, f.Statement, f.Why, f.Without)
				}
			}
		})
	}
}

func TestSimulateSaysWhatItLacks(t *testing.T) {
	if _, err := open(t, "").Simulate(t.Context(), controller, parts(), "123456789012"); !errors.Is(err, ErrNotSimulated) {
		t.Errorf("without the right to simulate: %v, want ErrNotSimulated", err)
	}
}

// subject is what is tried on.
var subject = Subject{Cluster: "prod", ClusterARN: "arn:aws:eks:us-east-1:123456789012:cluster/prod", Queue: "prod"}

// launched is an instance that the controller is taken to have launched for the cluster.
func launched(t *testing.T) {
	t.Helper()
	c := client.At(os.Getenv("AWS_ENDPOINT_URL"), "us-east-1", client.Key{ID: "admin", Secret: "secret"})
	image, err := ssm.NewFromConfig(c).GetParameter(t.Context(), &ssm.GetParameterInput{Name: aws.String("/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ec2.NewFromConfig(c).RunInstances(t.Context(), &ec2.RunInstancesInput{MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: types.InstanceTypeM5Large, ImageId: image.Parameter.Value,
		IamInstanceProfile: &types.IamInstanceProfileSpecification{Name: aws.String("KarpenterNodeInstanceProfile-prod")}, TagSpecifications: tagged(subject, types.ResourceTypeInstance)})
	if err != nil {
		t.Fatal(err)
	}
}

// What can be tried without changing anything is tried, and the rest is not guessed.
func TestTry(t *testing.T) {
	always := []string{"LaunchTagged ec2:CreateFleet", "LaunchTagged ec2:CreateLaunchTemplate", "TagAtLaunch ec2:CreateTags", "ReadEC2 ec2:DescribeSubnets", "DescribeCluster eks:DescribeCluster",
		"ReadInstanceProfiles iam:GetInstanceProfile", "ListInstanceProfiles iam:ListInstanceProfiles", "ReadImageParameters ssm:GetParameter", "ReadPrices pricing:GetProducts",
		"ReadQuotas servicequotas:ListServiceQuotas", "ReadInterruptionQueue sqs:GetQueueUrl",
		"ReadQueueTags sqs:ListQueueTags", "ReadZonalShifts arc-zonal-shift:GetManagedResource",
		"ReadReservedInstances ec2:DescribeReservedInstances", "ReadSavingsPlans savingsplans:DescribeSavingsPlans"}
	byExample := []string{"LaunchInSharedResources ec2:RunInstances", "LaunchTagged ec2:RunInstances", "PassNodeRole iam:PassRole", "TagInstances ec2:CreateTags", "EndOwned ec2:TerminateInstances"}
	for name, tt := range map[string]struct {
		without          []string
		instance         bool
		allowed, missing []string
		unknown          string // one of these
	}{
		"a cluster without an instance": {allowed: always, unknown: "EndOwned ec2:TerminateInstances"},
		"one with an instance":          {instance: true, allowed: append(byExample, always...), unknown: "EndOwned ec2:DeleteLaunchTemplate"},
		"some rights missing": {without: []string{"ReadQueueTags", "LaunchTagged", "EndOwned"}, instance: true, allowed: []string{"TagInstances ec2:CreateTags"},
			missing: []string{"ReadQueueTags sqs:ListQueueTags", "LaunchTagged ec2:CreateLaunchTemplate", "LaunchTagged ec2:RunInstances", "EndOwned ec2:TerminateInstances"}, unknown: "PassNodeRole iam:PassRole"},
		"no right to pass the role": {without: []string{"PassNodeRole"}, instance: true, missing: []string{"PassNodeRole iam:PassRole"}, unknown: "LaunchTagged ec2:RunInstances"},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, "", tt.without...)
			if tt.instance {
				launched(t)
			}
			found := a.Try(t.Context(), parts(), subject)
			for state, want := range map[State][]string{Allowed: tt.allowed, Missing: tt.missing, Unknown: {tt.unknown}} {
				for _, one := range want {
					if !slices.Contains(in(state, found), one) {
						t.Errorf("%s is not %s", one, state)
					}
				}
			}
			if got := in(Missing, found); len(tt.missing) == 0 && len(got) > 0 {
				t.Errorf("missing: %q, want none", got)
			}
			for _, f := range found {
				if (f.State == Allowed) != (f.Why == "") {
					t.Errorf("%s of %s is %s, because of %q", f.Action, f.Statement, f.State, f.Why)
				}
			}
		})
	}
}

func TestCaller(t *testing.T) {
	a := open(t, "")
	c, err := a.Caller(t.Context())
	if err != nil || c.Account != "123456789012" || c.Partition != "aws" || c.Role() != "prod-karpenter" {
		t.Errorf("the caller is %+v of role %q, %v", c, c.Role(), err)
	}
	if got := (Caller{ARN: "arn:aws:iam::1:user/me"}).Role(); got != "" {
		t.Errorf("a user has the role %q", got)
	}
	roles, err := open(t, `{"Effect": "Allow", "Action": "iam:GetInstanceProfile", "Resource": "*"}`).RolesOfProfile(t.Context(), "KarpenterNodeInstanceProfile-prod")
	if err != nil || !slices.Equal(roles, []string{"arn:aws:iam::123456789012:role/KarpenterNodeRole-prod"}) {
		t.Errorf("the profile has the roles %v, %v", roles, err)
	}
}
