package audit

import (
	"errors"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/cloud/aws/emulator"
	"github.com/daemok/daemok/cloud/aws/rights"
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
	server := emulator.New(emulator.Options{Account: emulator.Account{ClusterName: "prod"}, Seed: 1, Lags: &emulator.Lags{}})
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

// What can be tried without changing anything is tried, and the rest is not guessed.
func TestTry(t *testing.T) {
	subject := Subject{Cluster: "prod", ClusterARN: "arn:aws:eks:us-east-1:123456789012:cluster/prod", Queue: "prod"}
	found := open(t, "").Try(t.Context(), parts(), subject)
	if got := in(Missing, found); len(got) > 0 {
		t.Errorf("missing: %q, want none", got)
	}
	var tried []string
	for _, action := range in(Allowed, found) {
		_, action, _ = strings.Cut(action, " ")
		tried = append(tried, action)
	}
	for _, want := range []string{"ec2:CreateFleet", "ec2:CreateLaunchTemplate", "ec2:DescribeSubnets", "eks:DescribeCluster", "iam:GetInstanceProfile", "iam:ListInstanceProfiles",
		"ssm:GetParameter", "pricing:GetProducts", "servicequotas:ListServiceQuotas", "sqs:GetQueueUrl", "sqs:ListQueueTags", "arc-zonal-shift:GetManagedResource"} {
		if !slices.Contains(tried, want) {
			t.Errorf("%s was not tried, or is not allowed", want)
		}
	}
	for _, f := range found {
		if f.Action == "ec2:TerminateInstances" && (f.State != Unknown || !strings.Contains(f.Why, "iam:SimulatePrincipalPolicy")) {
			t.Errorf("%s is %s, %q; want it unknown, with the way to know", f.Action, f.State, f.Why)
		}
	}
	found = open(t, "", "ReadEC2", "ReadQueueTags", "LaunchTagged").Try(t.Context(), parts(), subject)
	missing := strings.Join(in(Missing, found), "\n")
	for _, want := range []string{"ReadEC2 ec2:DescribeSubnets", "ReadQueueTags sqs:ListQueueTags", "LaunchTagged ec2:CreateLaunchTemplate"} {
		if !strings.Contains(missing, want) {
			t.Errorf("missing are\n%s\nwant %s among them", missing, want)
		}
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
