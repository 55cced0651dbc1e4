package rights

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// older is a policy as tutorials of the v1alpha5 API have it.
const older = `{"Version": "2012-10-17", "Statement": [
  {"Sid": "Karpenter", "Effect": "Allow", "Resource": "*", "Action": [
    "ssm:GetParameter", "ec2:DescribeImages", "ec2:RunInstances", "ec2:DescribeSubnets", "ec2:DescribeSecurityGroups", "ec2:DescribeLaunchTemplates",
    "ec2:DescribeInstances", "ec2:DescribeInstanceTypes", "ec2:DescribeInstanceTypeOfferings", "ec2:DescribeAvailabilityZones", "ec2:DeleteLaunchTemplate",
    "ec2:CreateTags", "ec2:CreateLaunchTemplate", "ec2:CreateFleet", "ec2:DescribeSpotPriceHistory", "pricing:GetProducts"]},
  {"Sid": "ConditionalEC2Termination", "Effect": "Allow", "Action": "ec2:TerminateInstances", "Resource": "*",
    "Condition": {"StringLike": {"ec2:ResourceTag/karpenter.sh/provisioner-name": "*"}}},
  {"Effect": "Allow", "Action": "iam:PassRole", "Resource": "arn:aws:iam::1:role/nodes"},
  {"Effect": "Allow", "Action": "eks:Describe*", "Resource": "*"}]}`

func TestCompare(t *testing.T) {
	tests := map[string]struct {
		policies                    []string
		missing, needless, outdated []string // the first words of what is reported
	}{
		"a policy of the older generation": {[]string{older},
			[]string{"arc-zonal-shift:GetManagedResource, if", "ec2:DescribeCapacityReservations, for",
				"ec2:DescribeInstanceStatus", "ec2:DescribePlacementGroups, for", "ec2:DescribeReservedInstances, if",
				"iam:AddRoleToInstanceProfile, for classes", "iam:CreateInstanceProfile", "iam:DeleteInstanceProfile", "iam:GetInstanceProfile", "iam:ListInstanceProfiles",
				"iam:RemoveRoleFromInstanceProfile", "iam:TagInstanceProfile",
				"savingsplans:DescribeSavingsPlanRates, if", "savingsplans:DescribeSavingsPlans, if",
				"servicequotas:ListServiceQuotas, for vCPU quotas",
				"sqs:DeleteMessage, for interruption messages", "sqs:GetQueueUrl",
				"sqs:ListQueueTags, for a queue", "sqs:ReceiveMessage"},
			[]string{"ec2:DescribeAvailabilityZones"},
			[]string{"0.json, statement ConditionalEC2Termination: StringLike ec2:ResourceTag/karpenter.sh/provisioner-name: name karpenter.sh/nodepool"}},
		"whatever is called": {[]string{`{"Statement": {"Effect": "Allow", "NotAction": "organizations:*", "Resource": "*"}}`}, nil, nil, nil},
		"several policies, whatever case they are written in": {
			[]string{`{"Statement": [{"Effect": "Allow", "Action": ["EC2:*", "iam:*InstanceProfile*", "iam:PassRole"]}]}`,
				`{"Statement": [{"Effect": "Allow", "Action": ["sqs:*", "ssm:getparameter*", "eks:DescribeCluster", "pricing:*", "arc-zonal-shift:*", "servicequotas:List*", "savingsplans:Describe*"]}]}`}, nil, nil, nil},
		"all but several actions": {[]string{`{"Statement": {"Effect": "Allow", "NotAction": ["ec2:CreateFleet", "ec2:RunInstances"]}}`},
			[]string{"ec2:CreateFleet", "ec2:RunInstances"}, nil, nil},
		"all that is not named is denied": {
			[]string{`{"Statement": [{"Effect": "Allow", "Action": "*"}, {"Effect": "Deny", "NotAction": ["ec2:*", "eks:*", "iam:*", "pricing:*", "ssm:*", "arc*:*"]}]}`},
			[]string{"savingsplans:DescribeSavingsPlanRates", "savingsplans:DescribeSavingsPlans",
				"servicequotas:ListServiceQuotas", "sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ListQueueTags",
				"sqs:ReceiveMessage"}, nil, nil},
		"what is denied without a condition": {
			[]string{`{"Statement": [{"Effect": "Allow", "Action": "*"}, {"Effect": "Deny", "Action": "ec2:RunInstances"},
				{"Effect": "Deny", "Action": "ec2:CreateFleet", "Condition": {"StringNotEquals": {"aws:RequestedRegion": "us-east-1"}}}]}`}, []string{"ec2:RunInstances"}, nil, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var policies []Policy
			for i, text := range tt.policies {
				p, err := Read(string(rune('0'+i))+".json", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				policies = append(policies, p)
			}
			d := Compare(policies)
			for what, x := range map[string][2][]string{"missing": {d.Missing, tt.missing}, "needless": {d.Needless, tt.needless}, "outdated": {d.Outdated, tt.outdated}} {
				if !slices.EqualFunc(x[0], x[1], strings.HasPrefix) {
					t.Errorf("%s: %q, want %q", what, x[0], x[1])
				}
			}
		})
	}
}

func TestReadSaysWhatIsNoPolicy(t *testing.T) {
	for text, want := range map[string]string{"Statement:": "mine.json is no IAM policy in JSON", `{"Policy": {}}`: "mine.json has no Statement"} {
		if _, err := Read("mine.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%s) = %v, want %q", text, err, want)
		}
	}
}

// callsOfOthers are made by the user's commands alone, as all those of the folders
// scaling and leftover are.
var callsOfOthers = []string{"ec2:DescribeLaunchTemplateVersions", "ec2:DescribeNetworkInterfaces", "sts:GetCallerIdentity"}

// actionsOf are the IAM actions of calls that have another name.
var actionsOf = map[string]string{"sqs:DeleteMessageBatch": "sqs:DeleteMessage", "arczonalshift:GetManagedResource": "arc-zonal-shift:GetManagedResource"}

// Every call that the adapter makes is among those that are needed, and nothing else is
// but what its calls imply: users take rights away that are said to be needless.
func TestNeededAreTheCallsOfTheAdapter(t *testing.T) {
	called := map[string]bool{}
	input := regexp.MustCompile(`\b([a-z0-9]+)\.([A-Z][A-Za-z]+)Input\{`)
	err := filepath.WalkDir("..", func(file string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{"emulator", "scaling", "leftover", "audit"}, entry.Name()):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(file)
		for _, m := range input.FindAllStringSubmatch(string(text), -1) {
			call := m[1] + ":" + m[2]
			called[cmp.Or(actionsOf[call], call)] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range callsOfOthers {
		delete(called, one)
	}
	for _, implied := range []string{"ec2:RunInstances", "iam:PassRole", "iam:TagInstanceProfile"} { // by CreateFleet and CreateInstanceProfile
		called[implied] = true
	}
	if got, want := slices.Sorted(maps.Keys(needed)), slices.Sorted(maps.Keys(called)); !slices.Equal(got, want) {
		t.Errorf("needed are\n%v\nand called are\n%v", got, want)
	}
}
