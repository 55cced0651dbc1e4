package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	awsclient "github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/cmd/daemok/commandtest"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/store"
)

// clusterOf is a cluster in memory with these objects.
func clusterOf(t *testing.T, objects ...client.Object) inspect.Connector {
	t.Helper()
	scheme, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	store := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(store.Mapper(scheme)).WithObjects(objects...).Build()
	return func(*inspect.Target) (client.Client, error) { return store, nil }
}

func nodeClass(name string, change func(*awsv1.EC2NodeClassSpec)) *awsv1.EC2NodeClass {
	c := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
	change(&c.Spec)
	return c
}

// printed is what daemok iam prints, and what it notes.
func printed(t *testing.T, open inspect.Connector, args ...string) (out, notes string, err error) {
	t.Helper()
	var written, noted bytes.Buffer
	cmd := iamCommand(open)
	cmd.SetArgs(args)
	cmd.SetOut(&written)
	cmd.SetErr(&noted)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err = cmd.ExecuteContext(t.Context())
	return written.String(), noted.String(), err
}

// The policy allows what the cluster's classes and its controller's settings use, and no more.
func TestIAMPolicyIsTheLeast(t *testing.T) {
	byRole := func(s *awsv1.EC2NodeClassSpec) {
		s.Role = "nodes"
		s.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}
	}
	byProfile := func(s *awsv1.EC2NodeClassSpec) {
		name := "KarpenterNodeInstanceProfile-prod"
		s.InstanceProfile = &name
		s.AMISelectorTerms = []awsv1.AMISelectorTerm{{ID: "ami-1"}}
	}
	for name, tt := range map[string]struct {
		objects      []client.Object
		args         []string
		allows, lack []string // actions
		passes       []string // roles
		on           []string // resources that statements name
	}{
		"a class that names a role, and a queue": {
			objects: []client.Object{nodeClass("web", byRole), commandtest.Installed("INTERRUPTION_QUEUE=events")},
			allows:  []string{"iam:CreateInstanceProfile", "ssm:GetParameter", "sqs:ReceiveMessage", "pricing:GetProducts"},
			lack: []string{"ec2:DescribePlacementGroups", "arc-zonal-shift:GetManagedResource",
				"ec2:DescribeReservedInstances"},
			passes: []string{"arn:aws:iam::123456789012:role/nodes"}, on: []string{"arn:aws:sqs:us-east-1:123456789012:events"},
		},
		"a class that names a profile, and no queue": {
			objects: []client.Object{nodeClass("web", byProfile), commandtest.Installed("ENABLE_ZONAL_SHIFT=true")},
			allows:  []string{"arc-zonal-shift:GetManagedResource"},
			lack:    []string{"iam:CreateInstanceProfile", "iam:ListInstanceProfiles", "ssm:GetParameter", "sqs:ReceiveMessage"},
			passes:  []string{"arn:aws:iam::123456789012:role/KarpenterNodeRole-prod"},
		},
		"commitments are read from the account": {
			objects: []client.Object{nodeClass("web", byRole), commandtest.Installed("ACCOUNT_COMMITMENTS=true")},
			allows: []string{"ec2:DescribeReservedInstances", "savingsplans:DescribeSavingsPlans",
				"savingsplans:DescribeSavingsPlanRates"},
			passes: []string{"arn:aws:iam::123456789012:role/nodes"},
		},
		"an isolated VPC": {
			objects: []client.Object{nodeClass("web", byProfile), commandtest.Installed("ISOLATED_VPC=true")}, lack: []string{"pricing:GetProducts", "servicequotas:ListServiceQuotas"},
			passes: []string{"arn:aws:iam::123456789012:role/KarpenterNodeRole-prod"},
		},
		"reservations, a placement group, and a parameter of one's own": {
			objects: []client.Object{commandtest.Installed(), nodeClass("web", func(s *awsv1.EC2NodeClassSpec) {
				byRole(s)
				s.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{ID: "cr-1"}}
				s.AMISelectorTerms = []awsv1.AMISelectorTerm{{SSMParameter: "/images/web"}}
			}), nodeClass("near", func(s *awsv1.EC2NodeClassSpec) {
				byRole(s)
				s.Role = "teams/near"
				s.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: "near"}
			})},
			allows: []string{"ec2:DescribeCapacityReservations", "ec2:DescribePlacementGroups"},
			passes: []string{"arn:aws:iam::123456789012:role/nodes", "arn:aws:iam::123456789012:role/teams/near"},
			on:     []string{"arn:aws:ssm:us-east-1:123456789012:parameter/images/web", "arn:aws:ec2:us-east-1:*:placement-group/*", "arn:aws:ec2:us-east-1:*:capacity-reservation/*"},
		},
		"nothing is installed yet": {
			args: []string{"--cluster-name=new"}, allows: []string{"iam:CreateInstanceProfile", "sqs:ReceiveMessage", "ec2:DescribePlacementGroups"}, lack: []string{"arc-zonal-shift:GetManagedResource"},
			passes: []string{"arn:aws:iam::123456789012:role/KarpenterNodeRole-new"}, on: []string{"arn:aws:sqs:us-east-1:123456789012:new"},
		},
		"other flags than the cluster": {
			objects: []client.Object{nodeClass("web", byRole), commandtest.Installed("INTERRUPTION_QUEUE=events")},
			args:    []string{"--account=111122223333", "--region=cn-north-1", "--queue=none", "--node-role=mine", "--zonal-shift"},
			allows:  []string{"arc-zonal-shift:GetManagedResource"}, lack: []string{"sqs:ReceiveMessage"}, passes: []string{"arn:aws-cn:iam::111122223333:role/mine"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			prodAccount(t)
			out, notes, err := printed(t, clusterOf(t, tt.objects...), append([]string{"policy"}, tt.args...)...)
			if err != nil {
				t.Fatal(err)
			}
			d, err := policy.Read("printed", []byte(out))
			if err != nil {
				t.Fatal(err)
			}
			var actions, resources, passes []string
			for _, s := range d.Statements {
				actions, resources = append(actions, s.Actions...), append(resources, s.Resources...)
				if slices.Contains(s.Actions, "iam:PassRole") {
					passes = s.Resources
				}
			}
			for _, want := range tt.allows {
				if !slices.Contains(actions, want) {
					t.Errorf("it does not allow %s", want)
				}
			}
			for _, want := range tt.lack {
				if slices.Contains(actions, want) {
					t.Errorf("it allows %s in vain", want)
				}
			}
			for _, want := range tt.on {
				if !slices.Contains(resources, want) {
					t.Errorf("it does not name %s", want)
				}
			}
			if !slices.Equal(passes, tt.passes) {
				t.Errorf("roles are %v, want %v", passes, tt.passes)
			}
			if tooLong := d.Characters() > 6144; tooLong != strings.Contains(notes, "more than one managed policy holds (6144)") {
				t.Errorf("of a policy of %d characters it notes %q", d.Characters(), notes)
			}
		})
	}
}

// Without a cluster and without credentials it prints what the flags say, in each form.
func TestIAMPolicyWithoutACluster(t *testing.T) {
	unreachable := func(*inspect.Target) (client.Client, error) { t.Fatal("the cluster was asked"); return nil, nil }
	args := []string{"policy", "--without-cluster", "--cluster-name=prod", "--account=123456789012", "--region=eu-west-1"}
	for output, want := range map[string]string{
		"json": `"iam:PassRole"`, "cloudformation": "  KarpenterNodeLifecyclePolicy:\n    Type: AWS::IAM::ManagedPolicy\n", "terraform": `resource "aws_iam_policy" "controller_node_lifecycle" {`,
	} {
		out, _, err := printed(t, unreachable, append(args, "-o", output)...)
		if err != nil || !strings.Contains(out, want) || strings.Contains(out, "Adopted") {
			t.Errorf("-o %s: %v, and without %q (or with the right to adopt):\n%s", output, err, want, out)
		}
	}
	out, _, err := printed(t, unreachable, append(args, "--part=adoption", "--adoption")...)
	if byFile, _, err := printed(t, unreachable, append(args, "--part=node-lifecycle")...); err != nil || !strings.Contains(byFile, "EndOwned") || strings.Contains(byFile, "PassNodeRole") {
		t.Errorf("a part by the name of its file: %v\n%s", err, byFile)
	}
	var one struct{ Statement []struct{ Sid string } }
	if err != nil || json.Unmarshal([]byte(out), &one) != nil || len(one.Statement) != 1 || one.Statement[0].Sid != "TagAdoptedInstances" {
		t.Errorf("one part alone: %v\n%s", err, out)
	}
}

func TestIAMPolicySaysWhatItLacks(t *testing.T) {
	for name, tt := range map[string]struct {
		objects []client.Object
		args    []string
		want    string
	}{
		"no name of a cluster":      {nil, nil, "say --cluster-name NAME"},
		"another form":              {nil, []string{"--cluster-name=prod", "-o", "teraform"}, "want terraform, json, cloudformation"},
		"an account that is none":   {nil, []string{"--cluster-name=prod", "--account=123"}, `--account is "123": want 12 digits`},
		"a region that is none":     {nil, []string{"--cluster-name=prod", "--region=Ireland"}, `--region is "Ireland": want a region`},
		"a partition that is none":  {nil, []string{"--cluster-name=prod", "--partition=aws-ch"}, `--partition is "aws-ch": want one of aws, aws-cn, `},
		"a user in place of a role": {nil, []string{"--cluster-name=prod", "--node-role=arn:aws:iam::123456789012:user/me"}, `--node-role is "arn:aws:iam::123456789012:user/me": want the name of a role`},
		"a part that is misspelt":   {nil, []string{"--cluster-name=prod", "--part=Intreruption"}, `there is no part "Intreruption" of this policy, did you mean Interruption? it has NodeLifecycle`},
		"another part":              {nil, []string{"--cluster-name=prod", "--part=Nodes"}, `there is no part "Nodes" of this policy: it has NodeLifecycle, IAMIntegration`},
		"a profile that AWS does not know": {[]client.Object{nodeClass("web", func(s *awsv1.EC2NodeClassSpec) { name := "gone"; s.InstanceProfile = &name })},
			[]string{"--cluster-name=prod"}, "find the role in instance profile gone"},
	} {
		t.Run(name, func(t *testing.T) {
			prodAccount(t)
			if _, _, err := printed(t, clusterOf(t, tt.objects...), append([]string{"policy"}, tt.args...)...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// restrictedAccount is AWS until the test ends. Calls have the rights of the controller's role: what daemok iam policy
// prints for the cluster, but for the statements left out, and more.
func restrictedAccount(t *testing.T, open inspect.Connector, more string, without ...string) {
	t.Helper()
	server := emulator.New(world.Options{Account: world.Account{ClusterName: "prod"}, Seed: 1, Lags: &world.Lags{}})
	web := httptest.NewServer(server)
	t.Cleanup(func() { server.Close(); web.Close() })
	pointAtAccount(t, web.URL)
	out, _, err := printed(t, open, "policy")
	if err != nil {
		t.Fatal(err)
	}
	d, err := policy.Read("printed", []byte(out))
	if err != nil {
		t.Fatal(err)
	}
	d.Statements = slices.DeleteFunc(d.Statements, func(s policy.Statement) bool { return slices.Contains(without, s.Sid) })
	for name, document := range map[string]string{"printed": d.JSON(), "more": more} {
		if document == "" {
			continue
		}
		if err := server.Attach("prod-karpenter", name, document); err != nil {
			t.Fatal(err)
		}
	}
	server.Enforce("test", "prod-karpenter")
}

// What the role lacks is named, with what fails without it, and the exit code says how bad that is.
func TestIAMCheck(t *testing.T) {
	const simulates = `{"Statement": {"Effect": "Allow", "Action": "iam:SimulatePrincipalPolicy", "Resource": "*"}}`
	open := clusterOf(t, commandtest.Installed("INTERRUPTION_QUEUE=prod"), nodeClass("web", func(s *awsv1.EC2NodeClassSpec) {
		s.Role = "KarpenterNodeRole-prod"
		s.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}
	}))
	for name, tt := range map[string]struct {
		more    string
		without []string
		args    []string
		exit    int
		says    []string
	}{
		"all that it needs": {more: simulates, says: []string{"role arn:aws:iam::123456789012:role/prod-karpenter of these credentials, since the controller's is not known, simulated by IAM: ", " allowed, 0 missing, 0 unknown\n"}},
		"what it can do without": {more: simulates, without: []string{"ReadPrices"}, exit: 1,
			says: []string{"missing: pricing:GetProducts (statement ReadPrices): no policy of the role allows it\n  without it: the built-in prices of the release are used"}},
		"what it cannot": {more: simulates, without: []string{"ReadPrices", "EndOwned"}, exit: 2,
			says: []string{"missing: ec2:TerminateInstances on arn:aws:ec2:us-east-1:123456789012:instance/example (statement EndOwned)", "keep running and cost money"}},
		"another role":                    {more: simulates, args: []string{"--role=KarpenterNodeRole-prod"}, exit: 0, says: []string{"role arn:aws:iam::123456789012:role/KarpenterNodeRole-prod, simulated by IAM"}},
		"without the right to simulate":   {exit: 1, says: []string{"unknown: ec2:TerminateInstances (statement EndOwned): the cluster has no instance yet to try it on", "unknown: ec2:DeleteLaunchTemplate (statement EndOwned): it can only be simulated", "tried by reads and dry runs", ", 0 missing, "}},
		"without it, and a right missing": {without: []string{"ReadEC2"}, exit: 2, says: []string{"missing: ec2:DescribeSubnets (statement ReadEC2): ", "is not authorized to perform"}},
		"without it, and another role":    {args: []string{"--role=KarpenterNodeRole-prod"}, exit: -1, says: []string{"the right iam:SimulatePrincipalPolicy is missing", "grant it to arn:aws:sts::123456789012:assumed-role/prod-karpenter/session"}},
	} {
		t.Run(name, func(t *testing.T) {
			restrictedAccount(t, open, tt.more, tt.without...)
			out, _, err := printed(t, open, append([]string{"check"}, tt.args...)...)
			code := 0
			var exit *exitError
			switch {
			case errors.As(err, &exit):
				code = exit.code
			case err != nil:
				code, out = -1, err.Error()
			}
			if code != tt.exit {
				t.Errorf("exit code %d, %v; want %d", code, err, tt.exit)
			}
			for _, want := range tt.says {
				if !strings.Contains(out, want) {
					t.Errorf("it says\n%s\nwithout %q", out, want)
				}
			}
		})
	}
}

// As JSON every right is there, those that are in order too.
func TestIAMCheckAsJSON(t *testing.T) {
	open := clusterOf(t, commandtest.Installed("INTERRUPTION_QUEUE=prod"))
	restrictedAccount(t, open, `{"Statement": {"Effect": "Allow", "Action": "iam:SimulatePrincipalPolicy", "Resource": "*"}}`, "PassNodeRole")
	out, _, err := printed(t, open, "check", "-o", "json")
	var got checkedJSON
	if wrong := json.Unmarshal([]byte(out), &got); wrong != nil || err == nil {
		t.Fatalf("%v, %v: %s", wrong, err, out)
	}
	states := map[string]string{}
	for _, f := range got.Findings {
		states[f.Action] = f.State
	}
	if got.Role != "arn:aws:iam::123456789012:role/prod-karpenter" || states["iam:PassRole"] != "missing" || states["ec2:CreateFleet"] != "allowed" {
		t.Errorf("role %s, states %v", got.Role, states)
	}
}

// The role that EKS Pod Identity gives the controller is checked, whichever identity asks: an administrator may do
// everything.
func TestIAMCheckLooksAtTheRoleOfPodIdentity(t *testing.T) {
	open := clusterOf(t, commandtest.Installed("INTERRUPTION_QUEUE=prod"))
	restrictedAccount(t, open, `{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}`)
	config := awsclient.At(os.Getenv("AWS_ENDPOINT_URL"), "us-east-1", awsclient.Key{ID: "admin", Secret: "secret"})
	_, err := eks.NewFromConfig(config).CreatePodIdentityAssociation(t.Context(), &eks.CreatePodIdentityAssociationInput{ClusterName: new("prod"),
		Namespace: new("kube-system"), ServiceAccount: new("karpenter"), RoleArn: new("arn:aws:iam::123456789012:role/KarpenterNodeRole-prod")})
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := printed(t, open, "check")
	if want := "role arn:aws:iam::123456789012:role/KarpenterNodeRole-prod, simulated by IAM: "; err != nil || !strings.HasPrefix(out, want) {
		t.Errorf("%v; it says\n%swant %s", err, out, want)
	}
}
