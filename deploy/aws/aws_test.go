package aws

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/cloud/aws/rights"
	"go.yaml.in/yaml/v3"
)

// What is committed is what `make generate` writes, and no policy is left of earlier times.
func TestFilesAreThoseOfTheSource(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		have, err := os.ReadFile(name)
		if err != nil || string(have) != files[name] {
			t.Errorf("%s is not what the source says (%v): run make generate and commit the result", name, err)
		}
	}
	err = filepath.WalkDir("policies", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && files[filepath.ToSlash(name)] == "" {
			t.Errorf("%s is of no part: remove it", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The guide's table is the source's.
func TestGuideHasTheTable(t *testing.T) {
	guide, err := os.ReadFile(Guide)
	if err != nil {
		t.Fatal(err)
	}
	if want, marked := WithTable(string(guide)); !marked || want != string(guide) {
		t.Errorf("%s does not hold the table of statements (marked: %v): run make generate and commit the result", Guide, marked)
	}
}

// least is the policy of a cluster that uses little.
func least() []rights.Part {
	return rights.Parts(rights.Scope{Partition: "aws", Account: "123456789012", Region: "us-east-1", Cluster: "prod",
		NodeRoles: []string{NodeRole("aws", "123456789012", "prod")}, Features: []rights.Feature{rights.ImageParameters}})
}

// The template for one cluster holds its policies as they are.
func TestCloudFormationOfACluster(t *testing.T) {
	var template struct {
		Resources map[string]struct {
			Type       string `yaml:"Type"`
			Properties struct {
				ManagedPolicyName string `yaml:"ManagedPolicyName"`
				PolicyDocument    any    `yaml:"PolicyDocument"`
			} `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal([]byte(CloudFormation(least(), "prod")), &template); err != nil {
		t.Fatal(err)
	}
	if len(template.Resources) != len(least()) {
		t.Errorf("%d resources, want %d", len(template.Resources), len(least()))
	}
	for _, p := range least() {
		r := template.Resources["Karpenter"+p.Name+"Policy"]
		written, err := yaml.Marshal(r.Properties.PolicyDocument)
		if err != nil {
			t.Fatal(err)
		}
		var want any
		if err := yaml.Unmarshal([]byte(p.Document().JSON()), &want); err != nil {
			t.Fatal(err)
		}
		wanted, _ := yaml.Marshal(want)
		if r.Type != "AWS::IAM::ManagedPolicy" || r.Properties.ManagedPolicyName != "KarpenterController"+p.Name+"Policy-prod" || string(written) != string(wanted) {
			t.Errorf("part %s is the %s %s with\n%s\nwant\n%s", p.Name, r.Type, r.Properties.ManagedPolicyName, written, wanted)
		}
	}
}

func TestNamesOfParts(t *testing.T) {
	for name, want := range map[string]string{"NodeLifecycle": "node-lifecycle", "IAMIntegration": "iam-integration", "EKSIntegration": "eks-integration", "Interruption": "interruption"} {
		if got := dashed(name); got != want {
			t.Errorf("dashed(%s) = %s, want %s", name, got, want)
		}
	}
	if got := PolicyName("ResourceDiscovery", strings.Repeat("n", 100)); len(got) != 128 {
		t.Errorf("the policy of a cluster with a long name is called %s, of %d characters; want 128", got, len(got))
	}
}

// Policies of the files can be decided on once their variables are filled in.
func TestPoliciesOfFilesAreRead(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("${AWS_PARTITION}", "aws", "${AWS_ACCOUNT_ID}", "123456789012", "${AWS_REGION}", "us-east-1", "${CLUSTER_NAME}", "prod")
	read := 0
	for name, text := range files {
		if !strings.HasPrefix(name, "policies/") {
			continue
		}
		read++
		if _, err := policy.Read(name, []byte(fill.Replace(text))); err != nil {
			t.Error(err)
		}
	}
	if read != 9 {
		t.Errorf("%d policies, want 9", read)
	}
}
