package emulator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/fis"
	fistypes "github.com/aws/aws-sdk-go-v2/service/fis/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
)

// drain receives and deletes all that lies in a queue.
func (a *account) drain(name string) (bodies []string) {
	a.Helper()
	client, ctx := sqs.NewFromConfig(a.config), context.Background()
	url, err := client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	a.must(err)
	for {
		out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: url.QueueUrl, MaxNumberOfMessages: 10})
		a.must(err)
		if len(out.Messages) == 0 {
			return bodies
		}
		for _, m := range out.Messages {
			bodies = append(bodies, *m.Body)
			_, err := client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: url.QueueUrl, ReceiptHandle: m.ReceiptHandle})
			a.must(err)
		}
	}
}

func count(bodies []string, words string) (n int) {
	for _, b := range bodies {
		if strings.Contains(b, words) {
			n++
		}
	}
	return n
}

// The account's rules are those of the guides, and what they say is where events go: a rule that is
// disabled sends nothing, and another one sends to another queue.
func TestEventsFollowRules(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	events, queues := eventbridge.NewFromConfig(a.config), sqs.NewFromConfig(a.config)
	rules, err := events.ListRules(ctx, &eventbridge.ListRulesInput{NamePrefix: aws.String("lab-")})
	a.must(err)
	if len(rules.Rules) != 5 {
		t.Fatalf("%d rules, want the guides' five", len(rules.Rules))
	}
	_, err = events.DisableRule(ctx, &eventbridge.DisableRuleInput{Name: aws.String("lab-instance-state-change")})
	a.must(err)
	_, err = queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("ends")})
	a.must(err)
	_, err = events.PutRule(ctx, &eventbridge.PutRuleInput{Name: aws.String("ends"),
		EventPattern: aws.String(`{"source":["aws.ec2"],"detail":{"state":["terminated",{"prefix":"shutting"}]}}`)})
	a.must(err)
	_, err = events.PutTargets(ctx, &eventbridge.PutTargetsInput{Rule: aws.String("ends"),
		Targets: []eventtypes.Target{{Id: aws.String("1"), Arn: aws.String("arn:aws:sqs:us-east-1:123456789012:ends")}}})
	a.must(err)
	out, err := a.fleet(a.template("web"), 1, overrides(a.override("m5.large", "us-east-1a")))
	a.must(err)
	a.Advance(time.Minute)
	a.server.Market().Terminate(out.Instances[0].InstanceIds[0], "test")
	a.Advance(time.Minute)
	a.server.Advance()
	if got := a.drain("lab"); len(got) != 0 {
		t.Errorf("the cluster's queue has %v, want nothing: the rule is disabled", got)
	}
	if got := a.drain("ends"); len(got) != 2 || count(got, "shutting-down") != 1 || count(got, `"terminated"`) != 1 {
		t.Errorf("the other queue has %v, want both ends", got)
	}
	_, err = events.DeleteRule(ctx, &eventbridge.DeleteRuleInput{Name: aws.String("ends")})
	if code(err) != "ValidationException" {
		t.Errorf("delete a rule with a target: %q, want ValidationException", code(err))
	}
	_, err = events.RemoveTargets(ctx, &eventbridge.RemoveTargetsInput{Rule: aws.String("ends"), Ids: []string{"1"}})
	a.must(err)
	_, err = events.DeleteRule(ctx, &eventbridge.DeleteRuleInput{Name: aws.String("ends")})
	a.must(err)
	_, err = events.DescribeRule(ctx, &eventbridge.DescribeRuleInput{Name: aws.String("ends")})
	if code(err) != "ResourceNotFoundException" {
		t.Errorf("a rule that is gone: %q, want ResourceNotFoundException", code(err))
	}
	_, err = events.PutRule(ctx, &eventbridge.PutRuleInput{Name: aws.String("odd"), EventPattern: aws.String(`{"source":[{"cidr":"10.0.0.0/8"}]}`)})
	if code(err) != "InvalidEventPatternException" || !strings.Contains(err.Error(), "the emulator knows the tests prefix and exists") {
		t.Errorf("a test that is not there: %v; want it refused with those that are", err)
	}
}

// "You can send custom events with PutEvents": through the same rules, but not in AWS's name.
func TestOwnEvents(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	events := eventbridge.NewFromConfig(a.config)
	_, err := events.PutRule(ctx, &eventbridge.PutRuleInput{Name: aws.String("own"), EventPattern: aws.String(`{"source":["shop"]}`)})
	a.must(err)
	_, err = events.PutTargets(ctx, &eventbridge.PutTargetsInput{Rule: aws.String("own"),
		Targets: []eventtypes.Target{{Id: aws.String("1"), Arn: aws.String("arn:aws:sqs:us-east-1:123456789012:lab")}}})
	a.must(err)
	entry := func(source string) eventtypes.PutEventsRequestEntry {
		return eventtypes.PutEventsRequestEntry{Source: aws.String(source), DetailType: aws.String("Sold"), Detail: aws.String(`{"n":1}`)}
	}
	out, err := events.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []eventtypes.PutEventsRequestEntry{entry("shop"), entry("aws.ec2"), entry("garden")}})
	a.must(err)
	if got := a.drain("lab"); out.FailedEntryCount != 1 || *out.Entries[1].ErrorCode != "NotAuthorizedForSourceException" || len(got) != 1 || count(got, "Sold") != 1 {
		t.Errorf("%d failed, the queue has %v; want AWS's source refused, and the one that a rule is about", out.FailedEntryCount, got)
	}
}

// SendMessageBatch: "up to ten messages", each with an outcome of its own and the MD5 that SDKs check.
func TestSendMessageBatch(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	client := sqs.NewFromConfig(a.config)
	url := a.server.QueueURL()
	var entries []sqstypes.SendMessageBatchRequestEntry
	for i := range 10 {
		entries = append(entries, sqstypes.SendMessageBatchRequestEntry{Id: aws.String(fmt.Sprint(i)), MessageBody: aws.String(fmt.Sprintf("body %d", i))})
	}
	entries[3].MessageBody = aws.String("")
	out, err := client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: entries})
	a.must(err)
	if len(out.Successful) != 9 || len(out.Failed) != 1 || *out.Failed[0].Id != "3" || len(a.drain("lab")) != 9 {
		t.Errorf("%d sent, failed %v; want nine, and the empty one refused", len(out.Successful), out.Failed)
	}
	_, err = client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: append(entries, entries[0])})
	if code(err) != "AWS.SimpleQueueService.TooManyEntriesInBatchRequest" && code(err) != "TooManyEntriesInBatchRequest" {
		t.Errorf("eleven: %q, want TooManyEntriesInBatchRequest", code(err))
	}
}

// "aws:ec2:send-spot-instance-interruptions: target Spot Instances receive a rebalance recommendation, and two
// minutes before they are interrupted a notice."
func TestSpotInterruptionExperiment(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	client := fis.NewFromConfig(a.config)
	out, err := a.fleet(a.template("web"), 4, overrides(a.override("m5.large", "us-east-1a")), spot)
	a.must(err)
	ids := out.Instances[0].InstanceIds
	a.Advance(time.Minute)
	a.server.Advance()
	a.drain("lab")
	template := func(length, mode string) (*fis.CreateExperimentTemplateOutput, error) {
		return client.CreateExperimentTemplate(ctx, &fis.CreateExperimentTemplateInput{
			ClientToken: aws.String("t"), Description: aws.String("take some back"), RoleArn: aws.String("arn:aws:iam::123456789012:role/lab-karpenter"),
			StopConditions: []fistypes.CreateExperimentTemplateStopConditionInput{{Source: aws.String("none")}},
			Targets: map[string]fistypes.CreateExperimentTemplateTargetInput{"some": {
				ResourceType: aws.String("aws:ec2:spot-instance"), SelectionMode: aws.String(mode), ResourceTags: map[string]string{"claim": "one"},
				Filters: []fistypes.ExperimentTemplateTargetInputFilter{{Path: aws.String("State.Name"), Values: []string{"running"}}},
			}},
			Actions: map[string]fistypes.CreateExperimentTemplateActionInput{"interrupt": {
				ActionId: aws.String("aws:ec2:send-spot-instance-interruptions"), Targets: map[string]string{"SpotInstances": "some"},
				Parameters: map[string]string{"durationBeforeInterruption": length},
			}},
		})
	}
	if _, err := template("PT1M", "ALL"); code(err) != "ValidationException" || !strings.Contains(err.Error(), "between PT2M and PT15M") {
		t.Errorf("one minute: %v; want it refused", err)
	}
	made, err := template("PT4M", "PERCENT(50)")
	a.must(err)
	run, err := client.StartExperiment(ctx, &fis.StartExperimentInput{ClientToken: aws.String("r"), ExperimentTemplateId: made.ExperimentTemplate.Id})
	a.must(err)
	got, err := client.GetExperiment(ctx, &fis.GetExperimentInput{Id: run.Experiment.Id})
	a.must(err)
	targets, err := client.ListExperimentResolvedTargets(ctx, &fis.ListExperimentResolvedTargetsInput{ExperimentId: run.Experiment.Id})
	a.must(err)
	if got.Experiment.State.Status != fistypes.ExperimentStatusCompleted || len(targets.ResolvedTargets) != 2 {
		t.Errorf("experiment is %s about %d, want completed, about half of four", got.Experiment.State.Status, len(targets.ResolvedTargets))
	}
	a.server.Advance()
	if now := a.drain("lab"); count(now, "Rebalance Recommendation") != 2 || count(now, "Interruption Warning") != 0 {
		t.Errorf("at once: %v; want two recommendations", now)
	}
	a.Advance(2*time.Minute + time.Second)
	a.server.Advance()
	if now := a.drain("lab"); count(now, "Interruption Warning") != 2 {
		t.Errorf("two minutes before the end: %v; want two warnings", now)
	}
	a.Advance(5 * time.Minute)
	a.server.Advance()
	ended := 0
	for _, i := range a.server.Instances() {
		if i.State == "terminated" {
			ended++
		}
	}
	if ended != 2 || len(ids) != 4 {
		t.Errorf("%d of %d ended, want two", ended, len(ids))
	}
	_, err = client.StartExperiment(ctx, &fis.StartExperimentInput{ClientToken: aws.String("x"), ExperimentTemplateId: aws.String("EXT0")})
	if code(err) != "ResourceNotFoundException" {
		t.Errorf("a template that is none: %q, want ResourceNotFoundException", code(err))
	}
}

// An account that an earlier version kept has what this one adds.
func TestAnEarlierAccountHasTheGuidesRules(t *testing.T) {
	kept, err := emulator.New(world.Options{}).Export()
	if err != nil {
		t.Fatal(err)
	}
	i, j := strings.Index(string(kept), `"Rules":{`), strings.Index(string(kept), `"Experiments":`)
	earlier := string(kept[:i]) + `"Rules":null,` + string(kept[j:])
	a := open(t)
	a.must(a.server.Import([]byte(earlier)))
	rules, err := eventbridge.NewFromConfig(a.config).ListRules(context.Background(), &eventbridge.ListRulesInput{})
	a.must(err)
	if len(rules.Rules) != 5 {
		t.Errorf("%d rules, want five", len(rules.Rules))
	}
}
