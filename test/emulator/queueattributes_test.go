package emulator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// "MessageRetentionPeriod: an integer from 60 to 1,209,600. Default: 345,600", "VisibilityTimeout […] Default: 30",
// "DelaySeconds: an integer from 0 to 900"; SqsManagedSseEnabled and a key of one's own exclude each other. "If you
// provide the name of an existing queue along with the names and values of any new attributes […] an exception".
func TestQueuesHaveAttributes(t *testing.T) {
	a, ctx := open(t), context.Background()
	client := sqs.NewFromConfig(a.config)
	made, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("own"), Attributes: map[string]string{"DelaySeconds": "10"}, Tags: map[string]string{"team": "web", "stage": "test"}})
	a.must(err)
	set := func(name, value string) string {
		_, err := client.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: made.QueueUrl, Attributes: map[string]string{name: value}})
		return code(err)
	}
	is := func(names ...types.QueueAttributeName) string {
		out, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: made.QueueUrl, AttributeNames: names})
		a.must(err)
		return fmt.Sprint(out.Attributes)
	}
	if got, want := is("MessageRetentionPeriod", "VisibilityTimeout", "DelaySeconds", "SqsManagedSseEnabled", "Policy"),
		"map[DelaySeconds:10 MessageRetentionPeriod:345600 SqsManagedSseEnabled:true VisibilityTimeout:30]"; got != want {
		t.Errorf("a new queue has %s, want %s", got, want)
	}
	for _, tt := range []struct{ name, value, want string }{
		{"MessageRetentionPeriod", "60", ""}, {"MessageRetentionPeriod", "59", "InvalidAttributeValue"}, {"VisibilityTimeout", "5", ""},
		{"DelaySeconds", "901", "InvalidAttributeValue"}, {"Policy", "{}", ""}, {"KmsMasterKeyId", "alias/own", ""}, {"RedrivePolicy", "{}", "InvalidAttributeName"},
	} {
		if got := set(tt.name, tt.value); got != tt.want {
			t.Errorf("%s=%s: %q, want %q", tt.name, tt.value, got, tt.want)
		}
	}
	if got, want := is("MessageRetentionPeriod", "VisibilityTimeout", "SqsManagedSseEnabled", "KmsMasterKeyId", "Policy"),
		"map[KmsMasterKeyId:alias/own MessageRetentionPeriod:60 Policy:{} SqsManagedSseEnabled:false VisibilityTimeout:5]"; got != want {
		t.Errorf("it has %s, want %s", got, want)
	}

	guides, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: aws.String(a.server.QueueURL()), AttributeNames: []types.QueueAttributeName{"All"}})
	a.must(err)
	var policy struct {
		Statement []struct{ Effect, Action, Resource string }
	}
	a.must(json.Unmarshal([]byte(guides.Attributes["Policy"]), &policy))
	if len(policy.Statement) != 2 || policy.Statement[0].Action != "sqs:SendMessage" || policy.Statement[1].Effect != "Deny" ||
		policy.Statement[0].Resource != guides.Attributes["QueueArn"] || guides.Attributes["MessageRetentionPeriod"] != "300" {
		t.Errorf("the guides' queue has %v, want their policy and five minutes", guides.Attributes)
	}

	_, err = client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: made.QueueUrl, MessageBody: aws.String("late")})
	a.must(err)
	received := func() int {
		out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: made.QueueUrl})
		a.must(err)
		return len(out.Messages)
	}
	var got []int
	for _, wait := range []time.Duration{0, 11 * time.Second, 4 * time.Second, 2 * time.Second, time.Minute} {
		a.Advance(wait)
		got = append(got, received())
	}
	if want := "[0 1 0 1 0]"; fmt.Sprint(got) != want {
		t.Errorf("received %v: want %s, ten seconds late, hidden for five, kept for a minute", got, want)
	}

	_, err = client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("own"), Attributes: map[string]string{"VisibilityTimeout": "5"}})
	a.must(err)
	_, err = client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("own"), Attributes: map[string]string{"VisibilityTimeout": "6"}})
	if code(err) != "QueueAlreadyExists" {
		t.Errorf("another queue of that name: %q, want QueueAlreadyExists", code(err))
	}
	_, err = client.UntagQueue(ctx, &sqs.UntagQueueInput{QueueUrl: made.QueueUrl, TagKeys: []string{"stage"}})
	a.must(err)
	tagged, err := client.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: made.QueueUrl})
	a.must(err)
	if fmt.Sprint(tagged.Tags) != "map[team:web]" {
		t.Errorf("tags are %v, want team alone", tagged.Tags)
	}
}
