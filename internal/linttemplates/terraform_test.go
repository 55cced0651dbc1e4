package linttemplates

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// module is the Terraform module, as HCL reads it: blocks by their type and labels, as "resource.aws_sqs_queue.this".
type module struct {
	blocks map[string]*hclsyntax.Block
	locals map[string]hclsyntax.Expression
}

func readModule(t *testing.T) module {
	t.Helper()
	m := module{map[string]*hclsyntax.Block{}, map[string]hclsyntax.Expression{}}
	files, err := filepath.Glob(folder + "terraform/*.tf")
	if err != nil || len(files) == 0 {
		t.Fatalf("the module has files %v, %v", files, err)
	}
	parser := hclparse.NewParser()
	for _, name := range files {
		f, problems := parser.ParseHCLFile(name)
		if problems.HasErrors() {
			t.Fatal(problems)
		}
		for _, b := range f.Body.(*hclsyntax.Body).Blocks {
			if b.Type == "locals" {
				for key, a := range b.Body.Attributes {
					m.locals[key] = a.Expr
				}
				continue
			}
			m.blocks[strings.Join(append([]string{b.Type}, b.Labels...), ".")] = b
		}
	}
	return m
}

// text is a string that a template has.
func text(s string) cty.Value { return cty.StringVal(s) }

// scope is what expressions of the module find, with the defaults of its variables and a cluster called prod.
func (m module) scope(t *testing.T) *hcl.EvalContext {
	t.Helper()
	variables := map[string]cty.Value{}
	for name, b := range m.blocks {
		if key, is := strings.CutPrefix(name, "variable."); is && b.Body.Attributes["default"] != nil {
			v, problems := b.Body.Attributes["default"].Expr.Value(nil)
			if problems.HasErrors() {
				t.Fatal(problems)
			}
			variables[key] = v
		}
	}
	variables["cluster_name"] = text("prod")
	queue := "arn:aws:sqs:us-east-1:123456789012:prod"
	return &hcl.EvalContext{
		Variables: map[string]cty.Value{
			"var": cty.ObjectVal(variables),
			"local": cty.ObjectVal(map[string]cty.Value{
				"partition": text("aws"), "account_id": text("123456789012"), "region": text("us-east-1"), "dns_suffix": text("amazonaws.com"),
				"node_iam_role_arn": text("arn:aws:iam::123456789012:role/KarpenterNodeRole-prod"), "queue_arn": text(queue),
			}),
			"each": cty.ObjectVal(map[string]cty.Value{"value": cty.ObjectVal(map[string]cty.Value{"source": text("aws.health"), "detail_type": text("AWS Health Event")})}),
		},
		Functions: map[string]function.Function{"jsonencode": stdlib.JSONEncodeFunc, "coalesce": stdlib.CoalesceFunc, "substr": stdlib.SubstrFunc},
	}
}

// value is what an expression comes to, as JSON has it.
func value(t *testing.T, e hclsyntax.Expression, scope *hcl.EvalContext) any {
	t.Helper()
	v, problems := e.Value(scope)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	written, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(written, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Statement by statement the module's policies are those in JSON.
func TestTerraformPoliciesAreThoseInJSON(t *testing.T) {
	m := readModule(t)
	want := jsonPolicies(t)
	documents, _ := value(t, m.locals["policy_documents"], m.scope(t)).(map[string]any)
	names, _ := value(t, m.locals["policy_names"], m.scope(t)).(map[string]any)
	if len(documents) != len(want) || len(names) != len(want) {
		t.Errorf("%d policies with %d names, want %d", len(documents), len(names), len(want))
	}
	for name, document := range documents {
		compare(t, "terraform/policies.tf", name, document, want[flat(name)])
		if got, _ := names[name].(string); flat(got) != "karpentercontroller"+flat(name)+"policyprod" {
			t.Errorf("policy %s is called %q", name, got)
		}
	}
}

func TestTerraformRulesAreThoseOfCloudFormation(t *testing.T) {
	m := readModule(t)
	all, _ := value(t, m.locals["rules"], m.scope(t)).(map[string]any)
	if len(all) != len(wantRules) {
		t.Errorf("%d rules, want %d", len(all), len(wantRules))
	}
	for name, want := range wantRules {
		r, _ := all[name].(map[string]any)
		if r["source"] != want.Source || r["detail_type"] != want.DetailType {
			t.Errorf("%s is %v, want %+v", name, r, want)
		}
	}
	pattern := value(t, m.blocks["resource.aws_cloudwatch_event_rule.this"].Body.Attributes["event_pattern"].Expr, m.scope(t))
	if want := `{"detail-type":["AWS Health Event"],"source":["aws.health"]}`; pattern != want {
		t.Errorf("a rule's pattern is %s, want %s", pattern, want)
	}
}

// The queue is CloudFormation's: its name, how long it keeps messages, its encryption and its policy.
func TestTerraformQueueIsThatOfCloudFormation(t *testing.T) {
	m := readModule(t)
	queue := m.blocks["resource.aws_sqs_queue.this"].Body.Attributes
	for attribute, want := range map[string]any{"name": "prod", "message_retention_seconds": 300.0, "sqs_managed_sse_enabled": true} {
		if got := value(t, queue[attribute].Expr, m.scope(t)); got != want {
			t.Errorf("%s of the queue is %v, want %v", attribute, got, want)
		}
	}
	policy, _ := value(t, m.blocks["resource.aws_sqs_queue_policy.this"].Body.Attributes["policy"].Expr, m.scope(t)).(string)
	var document any
	if err := json.Unmarshal([]byte(policy), &document); err != nil {
		t.Fatal(err)
	}
	if got, want := sorted(t, document), sorted(t, queuePolicy("arn:aws:sqs:us-east-1:123456789012:prod")); got != want {
		t.Errorf("the queue's policy is\n%s\nwant\n%s", got, want)
	}
}

// Every variable and local that the module names is there, every variable says what it is for, and is used.
func TestTerraformNamesAreKnown(t *testing.T) {
	m := readModule(t)
	used := map[string]bool{}
	note := func(e hcl.Expression) {
		for _, path := range e.Variables() {
			root, rest := path.RootName(), ""
			if len(path) > 1 {
				if a, is := path[1].(hcl.TraverseAttr); is {
					rest = a.Name
				}
			}
			known := true
			switch {
			case root == "var":
				used[rest] = true
				known = m.blocks["variable."+rest] != nil
			case root == "local":
				known = m.locals[rest] != nil
			case root == "data":
				known = m.blocks["data."+rest+".current"] != nil
			case strings.HasPrefix(root, "aws_"):
				known = m.blocks["resource."+root+"."+rest] != nil
			}
			if !known {
				t.Errorf("%s: %s.%s is not there", e.Range(), root, rest)
			}
		}
	}
	var walk func(b *hclsyntax.Body)
	walk = func(b *hclsyntax.Body) {
		for _, a := range b.Attributes {
			note(a.Expr)
		}
		for _, inner := range b.Blocks {
			walk(inner.Body)
		}
	}
	var variables []string
	for name, b := range m.blocks {
		if key, is := strings.CutPrefix(name, "variable."); is {
			variables = append(variables, key)
			if b.Body.Attributes["description"] == nil || b.Body.Attributes["type"] == nil {
				t.Errorf("variable %s has no description or no type", key)
			}
			continue
		}
		walk(b.Body)
	}
	for _, e := range m.locals {
		note(e)
	}
	slices.Sort(variables)
	for _, name := range variables {
		if !used[name] {
			t.Errorf("variable %s is not used", name)
		}
	}
}

// The role of nodes has the policies of AWS that CloudFormation's has.
func TestTerraformNodeRoleHasThePoliciesOfTheGuides(t *testing.T) {
	written, err := os.ReadFile(folder + "terraform/main.tf")
	if err != nil {
		t.Fatal(err)
	}
	role, err := template(t).GetIAMRoleWithName("KarpenterNodeRole")
	if err != nil {
		t.Fatal(err)
	}
	for _, arn := range role.ManagedPolicyArns {
		if name := arn[strings.LastIndex(arn, "/")+1:]; !strings.Contains(string(written), `"`+name+`"`) {
			t.Errorf("terraform/main.tf does not attach %s", name)
		}
	}
}

// The module is written as terraform fmt would.
func TestTerraformIsFormatted(t *testing.T) {
	files, err := filepath.Glob(folder + "terraform/*.tf")
	if err != nil || len(files) == 0 {
		t.Fatalf("the module has files %v, %v", files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(string(hclwrite.Format(text)), "\n")
		for i, line := range strings.Split(string(text), "\n") {
			if i >= len(want) || line != want[i] {
				t.Errorf("%s:%d is %q, which terraform fmt would change", name, i+1, line)
				break
			}
		}
	}
}
