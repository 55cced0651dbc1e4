package rights

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// older is a policy as tutorials of the older generation have it.
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
		missing, needless, outdated []string // the first words of what is told
	}{
		"a policy of the older generation": {[]string{older},
			[]string{"arc-zonal-shift:GetManagedResource, where", "ec2:DescribeCapacityReservations, for", "ec2:DescribeInstanceStatus", "ec2:DescribePlacementGroups, for",
				"iam:AddRoleToInstanceProfile, for classes", "iam:CreateInstanceProfile", "iam:DeleteInstanceProfile", "iam:GetInstanceProfile", "iam:ListInstanceProfiles",
				"iam:RemoveRoleFromInstanceProfile", "iam:TagInstanceProfile", "sqs:DeleteMessage, for notices", "sqs:GetQueueUrl", "sqs:ReceiveMessage"},
			[]string{"ec2:DescribeAvailabilityZones"},
			[]string{"0.json, statement ConditionalEC2Termination: StringLike ec2:ResourceTag/karpenter.sh/provisioner-name: name karpenter.sh/nodepool"}},
		"whatever is called": {[]string{`{"Statement": {"Effect": "Allow", "NotAction": "organizations:*", "Resource": "*"}}`}, nil, nil, nil},
		"several policies, whatever case they are written in": {
			[]string{`{"Statement": [{"Effect": "Allow", "Action": ["EC2:*", "iam:*InstanceProfile*", "iam:PassRole"]}]}`,
				`{"Statement": [{"Effect": "Allow", "Action": ["sqs:*", "ssm:getparameter*", "eks:DescribeCluster", "pricing:*", "arc-zonal-shift:*"]}]}`}, nil, nil, nil},
		"all but several actions": {[]string{`{"Statement": {"Effect": "Allow", "NotAction": ["ec2:CreateFleet", "ec2:RunInstances"]}}`},
			[]string{"ec2:CreateFleet", "ec2:RunInstances"}, nil, nil},
		"all that is not named is denied": {
			[]string{`{"Statement": [{"Effect": "Allow", "Action": "*"}, {"Effect": "Deny", "NotAction": ["ec2:*", "eks:*", "iam:*", "pricing:*", "ssm:*", "arc*:*"]}]}`},
			[]string{"sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"}, nil, nil},
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

// callsOfOthers are made by the user's commands alone, as all those of the folder scaling are.
var callsOfOthers = []string{"ec2:DeleteNetworkInterface", "ec2:DeleteVolume", "ec2:DescribeNetworkInterfaces", "ec2:DescribeVolumes"}

// Every action that the adapter names in its errors is among those that are needed, and
// nothing else is but what its calls imply.
func TestNeededAreTheCallsOfTheAdapter(t *testing.T) {
	called := map[string]bool{}
	action := regexp.MustCompile(`"((?:ec2|eks|iam|ssm|sqs|pricing|arc-zonal-shift):[A-Z][A-Za-z]+)"`)
	err := filepath.WalkDir("..", func(file string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || strings.Contains(file, "emulator") || strings.HasPrefix(file, "../rights/") || strings.HasPrefix(file, "../scaling/") {
			return err
		}
		text, err := os.ReadFile(file)
		for _, m := range action.FindAllStringSubmatch(string(text), -1) {
			called[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range callsOfOthers {
		delete(called, one)
	}
	for _, implied := range []string{"ec2:RunInstances", "iam:PassRole", "iam:TagInstanceProfile", "ssm:GetParameter"} { // by CreateFleet and CreateInstanceProfile; the last is told of by the parameter
		called[implied] = true
	}
	if got, want := slices.Sorted(maps.Keys(needed)), slices.Sorted(maps.Keys(called)); !slices.Equal(got, want) {
		t.Errorf("needed are\n%v\nand called are\n%v", got, want)
	}
}
