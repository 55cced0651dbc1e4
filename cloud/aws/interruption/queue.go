// Package interruption reads AWS's interruption messages from the SQS queue that EventBridge's rules
// fill.
//
// It promises to understand every documented form of those events, to delete a message only once
// everything that follows from it is done, and to find a queue again that was deleted and recreated.
// It passes on a message that it does not understand as such: the reader decides what to do with it.
// It does not know which instances belong to the cluster.
package interruption

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"golang.org/x/sync/errgroup"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/fault"
)

const (
	messagesMax = 10               // that one call returns or deletes
	waitFor     = 20 * time.Second // that a call waits for the first message
	// HiddenFor is how long a message that was handed out is not handed out again.
	HiddenFor = 20 * time.Second
	// sharedHiddenFor is that of a queue which other clusters read too: what is theirs
	// should not stay hidden from them.
	sharedHiddenFor = 5 * time.Second
	callsMax        = 10 // at once
	// together is how long after some messages the next are asked for, unless more were
	// waiting: those of instances that start trickle in, and would take a call each to
	// receive and to delete.
	together    = time.Second
	forgetAfter = 3 * HiddenFor
	// tagsFor is how old what the queue's tags say may be: another cluster may come to
	// read it at any time. It takes a call a minute.
	tagsFor = time.Minute
	// deniedFor is how old it may be that they may not be read: AWS keeps a record of each
	// refusal, which some accounts raise an alarm about.
	deniedFor = time.Hour
)

type api interface {
	GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error)
	ListQueueTags(context.Context, *sqs.ListQueueTagsInput, ...func(*sqs.Options)) (*sqs.ListQueueTagsOutput, error)
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessageBatch(context.Context, *sqs.DeleteMessageBatchInput, ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error)
}

// Queue is one queue. It is safe for concurrent use. New makes one.
type Queue struct {
	Warn func(error) // called once with what may not be read; may be nil. Set before the first call

	api     api
	name    string
	cluster string
	now     func() time.Time
	pause   func(context.Context, time.Duration) error

	mu     sync.Mutex
	url    string // empty: not found yet
	shared bool
	known  bool                // that is what the queue's tags say
	lookAt time.Time           // when they are asked for again
	rests  time.Time           // until then nothing is received
	denied bool                // the tags may not be read, which was said
	open   map[string]*message // handed out and not deleted, by id
}

// message is what is to be done of a message until it may be deleted.
type message struct {
	receipt string
	left    map[string]bool // interruption messages that are not done, by id
	at      time.Time       // when it was handed out
}

var _ cloud.InterruptionMessages = (*Queue)(nil)

// New returns the queue of that name for a cluster. It makes no calls. It waits with pause,
// which returns an error only where its context ended.
func New(client api, name, clusterName string, now func() time.Time, pause func(context.Context, time.Duration) error) *Queue {
	return &Queue{api: client, name: name, cluster: clusterName, now: now, pause: pause, open: map[string]*message{}}
}

// Next implements cloud.InterruptionMessages. Where more than one call's worth of messages is
// there it returns those of up to ten calls together. After fewer it waits a second
// for further ones before it asks again. Where none comes within twenty seconds it returns none.
func (q *Queue) Next(ctx context.Context) ([]cloud.InterruptionMessage, error) {
	if err := q.rest(ctx); err != nil {
		return nil, err
	}
	url, shared, err := q.find(ctx)
	if err != nil {
		return nil, err
	}
	got, err := q.receive(ctx, url, shared, waitFor)
	if err != nil {
		return nil, q.failed(ctx, "sqs:ReceiveMessage", err)
	}
	if len(got) == 0 {
		return nil, ctx.Err()
	}
	if len(got) == messagesMax {
		got = append(got, q.more(ctx, url, shared)...)
	} else {
		q.restFrom(q.now())
	}
	return q.handOut(got, shared), nil
}

// rest waits where some messages have just come.
func (q *Queue) rest(ctx context.Context) error {
	q.mu.Lock()
	left := q.rests.Sub(q.now())
	q.mu.Unlock()
	if left <= 0 {
		return nil
	}
	return q.pause(ctx, left)
}

func (q *Queue) restFrom(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.rests = now.Add(together)
}

// more takes what else is there, by several calls at once. What a call that
// fails would have brought comes later.
func (q *Queue) more(ctx context.Context, url string, shared bool) []types.Message {
	answers := make([][]types.Message, callsMax-1)
	var calls errgroup.Group
	for i := range answers {
		calls.Go(func() error {
			answers[i], _ = q.receive(ctx, url, shared, 0)
			return nil
		})
	}
	calls.Wait() //nolint:errcheck // none returns one
	return slices.Concat(answers...)
}

func (q *Queue) receive(ctx context.Context, url string, shared bool, wait time.Duration) ([]types.Message, error) {
	hidden := HiddenFor
	if shared {
		hidden = sharedHiddenFor
	}
	answer, err := q.api.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: messagesMax, WaitTimeSeconds: int32(wait / time.Second), VisibilityTimeout: int32(hidden / time.Second),
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{
			types.MessageSystemAttributeNameApproximateReceiveCount, types.MessageSystemAttributeNameSentTimestamp,
		},
	})
	if err != nil {
		return nil, err
	}
	return answer.Messages, nil
}

// find looks the queue up once, and again after it was gone. Whether others read it too
// is looked up every tagsFor, where it may be.
func (q *Queue) find(ctx context.Context) (url string, shared bool, err error) {
	q.mu.Lock()
	url, shared = q.url, q.shared
	recent := q.now().Before(q.lookAt)
	q.mu.Unlock()
	if url != "" && recent {
		return url, shared, nil
	}
	if url == "" {
		found, err := q.api.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &q.name})
		if err != nil {
			return "", false, q.failed(ctx, "sqs:GetQueueUrl", err)
		}
		url = aws.ToString(found.QueueUrl)
	}
	tags, err := q.api.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: &url})
	shared, news := q.tagged(url, tags, err)
	if news && q.Warn != nil {
		q.Warn(fmt.Errorf("queue %s counts as this cluster's alone, and messages about instances of other clusters are deleted: let the controller's role call sqs:ListQueueTags on it if other clusters read it: %w",
			q.name, fault.Wrap("sqs:ListQueueTags", err)))
	}
	return url, shared, nil
}

// tagged notes what the queue's tags say, or why they were not read. news: they may not be
// read, and that was not so before.
func (q *Queue) tagged(url string, tags *sqs.ListQueueTagsOutput, err error) (shared, news bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.url, q.lookAt = url, q.now().Add(tagsFor)
	switch {
	case err == nil:
		q.shared, q.known, q.denied = isShared(tags.Tags, q.cluster), true, false
	case fault.Denied(err):
		// Who may not read the tags has the queue for itself, as with Karpenter.
		news = !q.denied
		q.shared, q.known, q.denied, q.lookAt = false, true, true, q.now().Add(deniedFor)
	case !q.known:
		q.shared = true // no messages of other clusters are deleted meanwhile
	}
	return q.shared, news
}

const (
	tagCluster  = "kubernetes.io/cluster/"
	valueShared = "shared"
)

// isShared reports whether other clusters read the queue too: its tags say so,
// as those of subnets do.
func isShared(tags map[string]string, cluster string) bool {
	for key, value := range tags {
		of, isOf := strings.CutPrefix(key, tagCluster)
		if isOf && (of != cluster || value == valueShared) {
			return true
		}
	}
	return false
}

// handOut reads messages and notes what has to be done before each is deleted.
func (q *Queue) handOut(messages []types.Message, shared bool) []cloud.InterruptionMessage {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	for id, m := range q.open {
		if now.Sub(m.at) > forgetAfter {
			delete(q.open, id) // it has come again by now, or another reader has it
		}
	}
	var out []cloud.InterruptionMessage
	for i := range messages {
		m := &messages[i]
		id := aws.ToString(m.MessageId)
		waits := &message{receipt: aws.ToString(m.ReceiptHandle), left: map[string]bool{}, at: now}
		q.open[id] = waits
		for _, n := range interruptionMessagesOf(m, now) {
			n.ID, n.Shared = id+"/"+strconv.Itoa(len(waits.left)), shared
			waits.left[n.ID] = true
			out = append(out, n)
		}
	}
	return out
}

// interruptionMessagesOf is what a message says, one interruption message for each
// instance.
func interruptionMessagesOf(m *types.Message, now time.Time) []cloud.InterruptionMessage {
	count, err := strconv.Atoi(m.Attributes[string(types.MessageSystemAttributeNameApproximateReceiveCount)])
	if err != nil {
		count = 1
	}
	sent := now
	if ms, err := strconv.ParseInt(m.Attributes[string(types.MessageSystemAttributeNameSentTimestamp)], 10, 64); err == nil {
		sent = time.UnixMilli(ms).UTC()
	}
	all, err := read(aws.ToString(m.Body))
	if err != nil {
		return []cloud.InterruptionMessage{{Kind: cloud.NotUnderstood, At: sent, Count: count, Problem: err.Error()}}
	}
	out := make([]cloud.InterruptionMessage, 0, len(all))
	for _, s := range all {
		n := cloud.InterruptionMessage{Kind: s.kind, InstanceID: s.instance, At: s.at, EndsAt: s.endsAt, Count: count}
		if n.At.IsZero() {
			n.At = sent
		}
		out = append(out, n)
	}
	return out
}

// Done implements cloud.InterruptionMessages. A message is deleted once all of its
// interruption messages are done.
func (q *Queue) Done(ctx context.Context, interruptionMessages ...cloud.InterruptionMessage) error {
	url, entries := q.ready(interruptionMessages)
	var calls errgroup.Group
	calls.SetLimit(callsMax)
	for some := range slices.Chunk(entries, messagesMax) {
		calls.Go(func() error {
			answer, err := q.api.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &url, Entries: some})
			if err != nil {
				return q.failed(ctx, "sqs:DeleteMessage", err)
			}
			for _, f := range answer.Failed {
				return fmt.Errorf("delete a message of queue %s: %s: %s", q.name, aws.ToString(f.Code), aws.ToString(f.Message))
			}
			return nil
		})
	}
	return calls.Wait()
}

// ready notes what is done and returns the messages that are to be deleted. One
// whose deletion fails comes again, and then all it says is to be done again.
func (q *Queue) ready(interruptionMessages []cloud.InterruptionMessage) (url string, out []types.DeleteMessageBatchRequestEntry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, n := range interruptionMessages {
		id := n.ID[:max(strings.LastIndex(n.ID, "/"), 0)]
		m := q.open[id]
		if m == nil {
			continue
		}
		if delete(m.left, n.ID); len(m.left) == 0 {
			delete(q.open, id)
			out = append(out, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(len(out) % messagesMax)), ReceiptHandle: &m.receipt})
		}
	}
	return q.url, out
}

// What SQS says of the key of an encrypted queue: that it is asked for too much at the
// moment, and that it cannot be used with any rights.
var (
	keyBusy    = []string{"KmsThrottled", "KMS.ThrottlingException"}
	keyUseless = []string{"KmsDisabled", "KmsInvalidState", "KmsInvalidKeyUsage", "KmsNotFound", "KMS.DisabledException", "KMS.InvalidStateException", "KMS.NotFoundException"}
)

// failed says what is wrong with the queue and what helps. It is looked up again.
func (q *Queue) failed(ctx context.Context, call string, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	q.mu.Lock()
	q.url = ""
	q.mu.Unlock()
	refused := func(reason, text string) error { return &cloud.RefusedError{Reason: reason, Cause: text} }
	switch code, words := fault.Code(err), fault.Message(err); {
	case fault.NotFound(err):
		return refused(cloud.QueueNotFound, fmt.Sprintf("there is no SQS queue %s in this account and region: create it, or correct --interruption-queue (INTERRUPTION_QUEUE)", q.name))
	case slices.Contains(keyBusy, code):
		return fmt.Errorf("read queue %s, which is encrypted: %w", q.name, &cloud.ThrottledError{Call: call})
	case slices.Contains(keyUseless, code):
		return refused(cloud.QueueKeyDenied, fmt.Sprintf("queue %s is encrypted and its key cannot be used: enable the key, or give the queue another (%s: %s)", q.name, code, words))
	case strings.HasPrefix(code, "Kms"), strings.HasPrefix(code, "KMS."), strings.Contains(words, "kms:"):
		return refused(cloud.QueueKeyDenied, fmt.Sprintf("queue %s is encrypted and its key cannot be used: let the controller's role use kms:Decrypt on it, and let events.amazonaws.com use kms:GenerateDataKey and kms:Decrypt (%s: %s)", q.name, code, words))
	case fault.Denied(err):
		return refused(cloud.QueueDenied, fmt.Sprintf("the controller's role may not call %s on queue %s: allow sqs:GetQueueUrl, sqs:ReceiveMessage and sqs:DeleteMessage (%s)", call, q.name, words))
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("read queue %s: %w", q.name, fault.Wrap(call, err))
}
