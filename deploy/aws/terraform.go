package aws

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/cloud/aws/rights"
)

// moduleFile is the file of the Terraform module that holds policies and rules.
func moduleFile() string {
	parts := rights.Parts(rights.Scope{
		Partition: "${local.partition}", Account: "${local.account_id}", Region: "${local.region}", Cluster: "${var.cluster_name}",
		NodeRoles: []string{"${local.node_iam_role_arn}"}, Queue: "${local.queue_arn}", Features: rights.Features(),
	})
	var b strings.Builder
	b.WriteString("# Written by make generate; the source is cloud/aws/rights.\n\nlocals {\n  policy_documents = {\n")
	for _, p := range parts {
		fmt.Fprintf(&b, "    %s = %s\n", strings.Join(words(p.Name), "_"), object(p.Document(), 4))
	}
	b.WriteString("  }\n\n  policy_names = {\n")
	for _, p := range parts {
		fmt.Fprintf(&b, "    %s = %q\n", strings.Join(words(p.Name), "_"), PolicyName(p.Name, "${var.cluster_name}"))
	}
	b.WriteString("  }\n\n  rules = {\n")
	for _, r := range rules() {
		fmt.Fprintf(&b, "    %s = {\n      source      = %q\n      detail_type = %q\n      description = %q\n    }\n", r.Name, r.Source, r.DetailType, r.Says)
	}
	b.WriteString("  }\n}\n")
	return b.String()
}

// Terraform is a file with nothing but managed policies of the parts, for a cluster.
func Terraform(parts []rights.Part, cluster string) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "resource \"aws_iam_policy\" %q {\n  name = %q\n\n  policy = jsonencode(%s)\n}\n",
			"controller_"+strings.Join(words(p.Name), "_"), PolicyName(p.Name, cluster), object(p.Document(), 2))
	}
	return b.String()
}

// object is a document as an object of HCL, after so many spaces.
func object(d policy.Document, indent int) string {
	var b strings.Builder
	at := func(more int) string { return strings.Repeat(" ", indent+more) }
	fmt.Fprintf(&b, "{\n%sVersion = %q\n%sStatement = [\n", at(2), policy.Version, at(2))
	for _, s := range d.Statements {
		fmt.Fprintf(&b, "%s{\n%sSid      = %q\n%sEffect   = %q\n%sAction   = %s\n%sResource = %s\n",
			at(4), at(6), s.Sid, at(6), s.Effect, at(6), texts(s.Actions, indent+6), at(6), texts(s.Resources, indent+6))
		if len(s.Conditions) > 0 {
			fmt.Fprintf(&b, "%sCondition = {\n", at(6))
			byOperator := map[string][]policy.Condition{}
			for _, c := range s.Conditions {
				byOperator[c.Operator] = append(byOperator[c.Operator], c)
			}
			for _, operator := range slices.Sorted(maps.Keys(byOperator)) {
				fmt.Fprintf(&b, "%s%q = {\n", at(8), operator)
				for _, c := range byOperator[operator] {
					fmt.Fprintf(&b, "%s%q = %s\n", at(10), c.Key, texts(c.Values, indent+10))
				}
				fmt.Fprintf(&b, "%s}\n", at(8))
			}
			fmt.Fprintf(&b, "%s}\n", at(6))
		}
		fmt.Fprintf(&b, "%s},\n", at(4))
	}
	fmt.Fprintf(&b, "%s]\n%s}", at(2), at(0))
	return b.String()
}

// texts are strings of HCL: one alone, several as a list, a line each.
func texts(all []string, indent int) string {
	if len(all) == 1 {
		return fmt.Sprintf("%q", all[0])
	}
	var b strings.Builder
	b.WriteString("[\n")
	for _, one := range all {
		fmt.Fprintf(&b, "%s%q,\n", strings.Repeat(" ", indent+2), one)
	}
	b.WriteString(strings.Repeat(" ", indent) + "]")
	return b.String()
}
