package aws

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
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
	var documents, names, all []attribute
	for _, p := range parts {
		name := strings.Join(words(p.Name), "_")
		documents = append(documents, attribute{name, object(p.Document(), 4)})
		names = append(names, attribute{name, strconv.Quote(PolicyName(p.Name, "${var.cluster_name}"))})
	}
	for _, r := range rules() {
		all = append(all, attribute{r.Name, braced([]attribute{
			{"source", strconv.Quote(r.Source)}, {"detail_type", strconv.Quote(r.DetailType)}, {"description", strconv.Quote(r.Says)}}, 4)})
	}
	return "# Written by make generate; the source is cloud/aws/rights.\n\nlocals {\n  policy_documents = " + braced(documents, 2) +
		"\n\n  policy_names = " + braced(names, 2) + "\n\n  rules = " + braced(all, 2) + "\n}\n"
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

// attribute is one line or more of an object of HCL.
type attribute struct{ name, value string }

// attributes are written as terraform fmt does: equal signs of lines that follow each other stand below
// each other, but for values of several lines.
func attributes(all []attribute, indent int) string {
	var b strings.Builder
	for i := 0; i < len(all); {
		end, width := i, 0
		for end < len(all) && !strings.Contains(all[end].value, "\n") {
			width = max(width, len(all[end].name))
			end++
		}
		if end == i {
			width, end = len(all[i].name), i+1
		}
		for ; i < end; i++ {
			fmt.Fprintf(&b, "%s%-*s = %s\n", strings.Repeat(" ", indent), width, all[i].name, all[i].value)
		}
	}
	return b.String()
}

// braced is an object with these attributes, whose end stands after so many spaces.
func braced(all []attribute, indent int) string {
	return "{\n" + attributes(all, indent+2) + strings.Repeat(" ", indent) + "}"
}

// object is a document as an object of HCL, after so many spaces.
func object(d policy.Document, indent int) string {
	var statements strings.Builder
	at := strings.Repeat(" ", indent+4)
	for _, s := range d.Statements {
		all := []attribute{{"Sid", strconv.Quote(s.Sid)}, {"Effect", strconv.Quote(s.Effect)}, {"Action", texts(s.Actions, indent+6)}, {"Resource", texts(s.Resources, indent+6)}}
		if len(s.Conditions) > 0 {
			all = append(all, attribute{"Condition", conditions(s.Conditions, indent+6)})
		}
		statements.WriteString(at + braced(all, indent+4) + ",\n")
	}
	return braced([]attribute{{"Version", strconv.Quote(policy.Version)}, {"Statement", "[\n" + statements.String() + strings.Repeat(" ", indent+2) + "]"}}, indent)
}

// conditions are an object with one of each operator.
func conditions(list []policy.Condition, indent int) string {
	byOperator := map[string][]attribute{}
	for _, c := range list {
		byOperator[c.Operator] = append(byOperator[c.Operator], attribute{strconv.Quote(c.Key), texts(c.Values, indent+4)})
	}
	var all []attribute
	for _, operator := range slices.Sorted(maps.Keys(byOperator)) {
		name := operator
		if strings.Contains(name, ":") {
			name = strconv.Quote(name)
		}
		all = append(all, attribute{name, braced(byOperator[operator], indent+2)})
	}
	return braced(all, indent)
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
