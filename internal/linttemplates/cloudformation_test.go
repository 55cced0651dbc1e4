package linttemplates

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/awslabs/goformation/v7"
	"github.com/awslabs/goformation/v7/cloudformation"
	"github.com/awslabs/goformation/v7/intrinsics"
)

// folder is where the templates lie.
const folder = "../../deploy/aws/"

// placeholders of CloudFormation, as they would be filled in for one cluster. GoFormation knows neither pseudo
// parameters of an account nor attributes, and would put others in their place.
var filledIn = strings.NewReplacer("${AWS::Partition}", "aws", "${AWS::AccountId}", "123456789012", "${AWS::Region}", "us-east-1", "${AWS::URLSuffix}", "amazonaws.com",
	"${ClusterName}", "prod", "${KarpenterNodeRole.Arn}", "arn:aws:iam::123456789012:role/KarpenterNodeRole-prod",
	"${KarpenterInterruptionQueue.Arn}", "arn:aws:sqs:us-east-1:123456789012:prod")

// template reads the template as CloudFormation's resource specification has it: a type or a property that is not in
// it is an error.
func template(t *testing.T) *cloudformation.Template {
	t.Helper()
	text, err := os.ReadFile(folder + "cloudformation.yaml")
	if err != nil {
		t.Fatal(err)
	}
	read, err := goformation.ParseYAMLWithOptions([]byte(filledIn.Replace(string(text))), &intrinsics.ProcessorOptions{
		IntrinsicHandlerOverrides: map[string]intrinsics.IntrinsicHandler{
			"Fn::GetAtt": func(_ string, input, _ any) any { return attribute(input) },
			"Fn::If":     func(_ string, input, _ any) any { return input.([]any)[1] }, // all that may be asked for is
			"Ref":        referred,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// referred is the value of a parameter, or the name of what is referred to.
func referred(_ string, input, template any) any {
	name, _ := input.(string)
	if name == "ClusterName" {
		return "prod"
	}
	sections, _ := template.(map[string]any)
	parameters, _ := sections["Parameters"].(map[string]any)
	if parameter, is := parameters[name].(map[string]any); is {
		return parameter["Default"]
	}
	return name
}

// attribute is a resource and its attribute, as "KarpenterInterruptionQueue.Arn".
func attribute(input any) string {
	switch in := input.(type) {
	case string:
		return in
	case []any:
		var words []string
		for _, word := range in {
			words = append(words, word.(string))
		}
		return strings.Join(words, ".")
	}
	return ""
}

// The resources of the public guides are there, under their names.
func TestCloudFormationHasTheResourcesOfTheGuides(t *testing.T) {
	read := template(t)
	role, err := read.GetIAMRoleWithName("KarpenterNodeRole")
	if err != nil || *role.RoleName != "KarpenterNodeRole-prod" || len(role.ManagedPolicyArns) != 4 {
		t.Errorf("the role of nodes is %+v, %v; want it by the name KarpenterNodeRole-prod, with four policies of AWS", role, err)
	}
	profile, err := read.GetIAMInstanceProfileWithName("KarpenterNodeInstanceProfile")
	if err != nil || *profile.InstanceProfileName != "KarpenterNodeInstanceProfile-prod" || len(profile.Roles) != 1 {
		t.Errorf("the instance profile is %+v, %v; want it by its name, with a role", profile, err)
	}
	queue, err := read.GetSQSQueueWithName("KarpenterInterruptionQueue")
	if err != nil || *queue.QueueName != "prod" || *queue.MessageRetentionPeriod != 300 || !*queue.SqsManagedSseEnabled {
		t.Errorf("the queue is %+v, %v; want it by the cluster's name, encrypted, its messages kept for 300 s", queue, err)
	}
	entry, err := read.GetEKSAccessEntryWithName("KarpenterNodeAccessEntry")
	if err != nil || *entry.Type != "EC2_LINUX" {
		t.Errorf("the access entry is %+v, %v; want one of type EC2_LINUX", entry, err)
	}
	controller, err := read.GetIAMRoleWithName("KarpenterControllerRole")
	if err != nil || len(controller.ManagedPolicyArns) != len(jsonPolicies(t)) {
		t.Errorf("the controller's role is %+v, %v; want it with all %d policies", controller, err, len(jsonPolicies(t)))
	}
	if _, err := read.GetEKSPodIdentityAssociationWithName("KarpenterPodIdentityAssociation"); err != nil {
		t.Error(err)
	}
	if _, err := read.GetIAMServiceLinkedRoleWithName("SpotServiceRole"); err != nil {
		t.Error(err)
	}
}

// The queue takes events of AWS, and nothing that is not encrypted on its way.
func TestCloudFormationQueueDemandsTLS(t *testing.T) {
	policy, err := template(t).GetSQSQueuePolicyWithName("KarpenterInterruptionQueuePolicy")
	if err != nil {
		t.Fatal(err)
	}
	if got := sorted(t, policy.PolicyDocument); got != sorted(t, queuePolicy("KarpenterInterruptionQueue.Arn")) {
		t.Errorf("the queue's policy is %s", got)
	}
}

// queuePolicy is the policy that the queue is to have.
func queuePolicy(arn string) any {
	return map[string]any{"Id": "InterruptionQueue", "Version": "2012-10-17", "Statement": []any{
		map[string]any{"Sid": "TakeEvents", "Effect": "Allow", "Principal": map[string]any{"Service": []any{"events.amazonaws.com", "sqs.amazonaws.com"}}, "Action": "sqs:SendMessage", "Resource": arn},
		map[string]any{"Sid": "DemandTLS", "Effect": "Deny", "Principal": "*", "Action": "sqs:*", "Resource": arn, "Condition": map[string]any{"Bool": map[string]any{"aws:SecureTransport": "false"}}},
	}}
}

// rule is one of EventBridge's: where its events come from, and what they are about.
type rule struct{ Source, DetailType string }

var wantRules = map[string]rule{
	"ScheduledChangeRule":                 {"aws.health", "AWS Health Event"},
	"SpotInterruptionRule":                {"aws.ec2", "EC2 Spot Instance Interruption Warning"},
	"RebalanceRule":                       {"aws.ec2", "EC2 Instance Rebalance Recommendation"},
	"InstanceStateChangeRule":             {"aws.ec2", "EC2 Instance State-change Notification"},
	"CapacityReservationInterruptionRule": {"aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"},
}

func TestCloudFormationRulesFillTheQueue(t *testing.T) {
	all := template(t).GetAllEventsRuleResources()
	if len(all) != len(wantRules) {
		t.Errorf("%d rules, want %d", len(all), len(wantRules))
	}
	for name, want := range wantRules {
		r := all[name]
		if r == nil {
			t.Errorf("there is no %s", name)
			continue
		}
		pattern := map[string]any{"source": []any{want.Source}, "detail-type": []any{want.DetailType}}
		if sorted(t, r.EventPattern) != sorted(t, pattern) || len(r.Targets) != 1 || r.Targets[0].Arn != "KarpenterInterruptionQueue.Arn" {
			t.Errorf("%s is for %s to %+v; want %s to the queue", name, sorted(t, r.EventPattern), r.Targets, sorted(t, pattern))
		}
	}
}

// Statement by statement the template's policies are those in JSON.
func TestCloudFormationPoliciesAreThoseInJSON(t *testing.T) {
	want := jsonPolicies(t)
	all := template(t).GetAllIAMManagedPolicyResources()
	if len(all) != len(want) {
		t.Errorf("%d policies, want %d", len(all), len(want))
	}
	for _, p := range all {
		name := strings.TrimSuffix(strings.TrimPrefix(*p.ManagedPolicyName, "KarpenterController"), "Policy-prod")
		text, is := p.PolicyDocument.(string)
		if !is {
			t.Errorf("%s: its document is a %T, want text that Fn::Sub fills in", name, p.PolicyDocument)
			continue
		}
		var document any
		if err := json.Unmarshal([]byte(text), &document); err != nil {
			t.Errorf("%s is no JSON: %v", name, err)
			continue
		}
		compare(t, "cloudformation.yaml", name, document, want[flat(name)])
	}
}

// compare holds a document to the one in JSON, a statement at a time.
func compare(t *testing.T, where, name string, got, want any) {
	t.Helper()
	statements := func(document any) []any {
		d, _ := document.(map[string]any)
		list, _ := d["Statement"].([]any)
		return list
	}
	have, wanted := statements(got), statements(want)
	if len(have) != len(wanted) || len(have) == 0 {
		t.Errorf("%s: %s has %d statements, want %d", where, name, len(have), len(wanted))
		return
	}
	for i := range have {
		if g, w := sorted(t, have[i]), sorted(t, wanted[i]); g != w {
			t.Errorf("%s: statement %d of %s is\n%s\nwant\n%s", where, i+1, name, g, w)
		}
	}
}

// sorted is a value as JSON, keys in order.
func sorted(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// flat is a part's name without case and dashes: NodeLifecycle, node-lifecycle and node_lifecycle are one.
func flat(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
}

// jsonPolicies are the controller's policies in JSON, variables filled in, by their flat names.
func jsonPolicies(t *testing.T) map[string]any {
	t.Helper()
	entries, err := os.ReadDir(folder + "policies")
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("${AWS_PARTITION}", "aws", "${AWS_ACCOUNT_ID}", "123456789012", "${AWS_REGION}", "us-east-1", "${CLUSTER_NAME}", "prod")
	all := map[string]any{}
	for _, e := range entries {
		if e.Name() == "shadow.json" {
			continue // of a role of its own, which users make
		}
		text, err := os.ReadFile(folder + "policies/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		var document any
		if err := json.Unmarshal([]byte(fill.Replace(string(text))), &document); err != nil {
			t.Fatalf("%s: %v", e.Name(), err)
		}
		if strings.Contains(sorted(t, document), "${") {
			t.Errorf("%s has a variable that is not filled in", e.Name())
		}
		all[flat(strings.TrimSuffix(e.Name(), ".json"))] = document
	}
	if len(all) == 0 {
		t.Fatal("there are no policies")
	}
	return all
}

// What an account has only where it says so is conditional, and nothing else is.
func TestCloudFormationConditions(t *testing.T) {
	read := template(t)
	var got []string
	for name, p := range read.GetAllIAMManagedPolicyResources() {
		got = append(got, name+" "+p.AWSCloudFormationCondition)
	}
	for name, r := range read.GetAllIAMRoleResources() {
		got = append(got, name+" "+r.AWSCloudFormationCondition)
	}
	got = slices.DeleteFunc(got, func(s string) bool { return strings.HasSuffix(s, " ") })
	slices.Sort(got)
	if want := []string{"KarpenterAdoptionPolicy Adoption", "KarpenterControllerRole ControllerRole"}; !slices.Equal(got, want) {
		t.Errorf("conditional are %v, want %v", got, want)
	}
	for _, condition := range []string{"NodeAccessEntry", "ControllerRole", "Adoption", "SpotServiceLinkedRole"} {
		if read.Conditions[condition] != false {
			t.Errorf("%s is %v where the user says nothing, want false", condition, read.Conditions[condition])
		}
	}
}
