// Package aws writes what an AWS account needs, as policies, CloudFormation and Terraform. That is
// permissions from cloud/aws/rights, roles, the interruption queue and its rules. All three forms are
// equivalent.
//
// go generate writes the files beside it, except those of the Terraform module that hold no policy; a
// test compares them with what Files returns.
package aws

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/cloud/aws/rights"
)

//go:generate go run ./gen

// Names that a role, a profile and a queue have by the public guides, with the cluster's at the end.
const (
	NodeRolePrefix = "KarpenterNodeRole-"
	policyPrefix   = "KarpenterController"
)

// Guide is the document that holds Table, between two lines, as a path from this folder.
const Guide = "../../docs/reference/iam.md"

const (
	tableBegins = "<!-- statements: written by make generate -->\n"
	tableEnds   = "<!-- end of statements -->\n"
)

// Table says of every statement what it is for and what fails without it, in Markdown.
func Table() string {
	var b strings.Builder
	for _, p := range rights.Parts(placeholders()) {
		fmt.Fprintf(&b, "### %s\n\n| Statement | Actions | The controller | Without it |\n|---|---|---|---|\n", p.Name)
		for _, g := range p.Grants {
			when := ""
			if !g.Required() {
				when = ", " + g.When()
			}
			fmt.Fprintf(&b, "| `%s`%s | `%s` | %s | %s |\n", g.Sid, when, strings.Join(g.Actions, "`, `"), g.For, g.Without)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// WithTable is the guide with the table in it; false where it lacks the lines that the table goes between.
func WithTable(guide string) (string, bool) {
	before, rest, begins := strings.Cut(guide, tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	return before + tableBegins + "\n" + Table() + tableEnds + after, begins && ends
}

// Files are the generated files by their path below this folder.
func Files() (map[string]string, error) {
	template, err := accountTemplate()
	if err != nil {
		return nil, err
	}
	files := map[string]string{"cloudformation.yaml": template, "terraform/policies.tf": moduleFile()}
	for _, p := range append(rights.Parts(placeholders()), rights.Shadow(placeholders())...) {
		files["policies/"+dashed(p.Name)+".json"] = p.Document().JSON()
	}
	return files, nil
}

// placeholders is the scope of the policies in JSON: variables as envsubst fills them in.
func placeholders() rights.Scope {
	s := rights.Scope{Partition: "${AWS_PARTITION}", Account: "${AWS_ACCOUNT_ID}", Region: "${AWS_REGION}", Cluster: "${CLUSTER_NAME}", Features: rights.Features()}
	s.NodeRoles = []string{NodeRole(s.Partition, s.Account, s.Cluster)}
	s.Queue = Queue(s.Partition, s.Region, s.Account, s.Cluster)
	return s
}

// NodeRole is the ARN of the node role of the public guides.
func NodeRole(partition, account, cluster string) string {
	return fmt.Sprintf("arn:%s:iam::%s:role/%s%s", partition, account, NodeRolePrefix, cluster)
}

// Queue is the ARN of a queue.
func Queue(partition, region, account, name string) string {
	return fmt.Sprintf("arn:%s:sqs:%s:%s:%s", partition, region, account, name)
}

// policyNameMax is how long the name of a managed policy may be.
const policyNameMax = 128

// PolicyName is what the managed policy of a part is called, cut where IAM takes no more.
func PolicyName(part, cluster string) string {
	name := policyPrefix + part + "Policy-" + cluster
	return name[:min(len(name), policyNameMax)]
}

// dashed is a name such as NodeLifecycle or IAMIntegration as node-lifecycle or iam-integration.
func dashed(name string) string { return strings.Join(words(name), "-") }

// words are those of a name, in lower case.
func words(name string) (all []string) {
	runes := []rune(name)
	from := 0
	for i := 1; i <= len(runes); i++ {
		upper := func(at int) bool { return at < len(runes) && runes[at] >= 'A' && runes[at] <= 'Z' }
		begins := i < len(runes) && upper(i) && (!upper(i-1) || i+1 < len(runes) && !upper(i+1))
		if i == len(runes) || begins {
			all = append(all, strings.ToLower(string(runes[from:i])))
			from = i
		}
	}
	return all
}

// optionalPart is the part that an account has only where it says so.
const optionalPart = "Adoption"

// indented is text with so many spaces before each line that is not empty.
func indented(text string, spaces int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(strings.Repeat(" ", spaces))
		}
		b.WriteString(line)
	}
	return b.String()
}

// rule is one rule of EventBridge that fills the queue.
type rule struct {
	Name, Source, DetailType, Says string
}

// rules are those of the public guides.
func rules() []rule {
	return []rule{
		{"ScheduledChangeRule", "aws.health", "AWS Health Event", "Maintenance of instances that AWS has scheduled"},
		{"SpotInterruptionRule", "aws.ec2", "EC2 Spot Instance Interruption Warning", "Spot instances that end in two minutes"},
		{"RebalanceRule", "aws.ec2", "EC2 Instance Rebalance Recommendation", "Spot instances at a higher risk of interruption"},
		{"InstanceStateChangeRule", "aws.ec2", "EC2 Instance State-change Notification", "Instances that stop or end"},
		{"CapacityReservationInterruptionRule", "aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning", "Instances whose capacity reservation or block ends"},
	}
}
