package interruption

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market/clock"
)

// post is an account with a queue, and the reader of it.
type post struct {
	*Queue
	server *emulator.Server
	sqs    *sqs.Client
	clock  *clock.Virtual
}

// pause lets the world's time go by.
func (p *post) pause(_ context.Context, d time.Duration) error {
	p.advance(d)
	return nil
}

func (p *post) advance(d time.Duration) {
	p.clock.Advance(d)
	p.server.Advance()
}

func open(t testing.TB) *post {
	t.Helper()
	p := &post{clock: clock.NewVirtual(sent)}
	p.server = emulator.New(world.Options{Account: world.Account{ClusterName: "prod"}, Seed: 1, Now: p.clock.Now})
	web := httptest.NewServer(p.server)
	t.Cleanup(func() { p.server.Close(); web.Close() })
	p.sqs = sqs.NewFromConfig(client.At(web.URL, "us-east-1", client.Key{ID: "key", Secret: "secret"}), func(o *sqs.Options) { o.RetryMaxAttempts = 1 })
	p.Queue = New(p.sqs, "prod", "prod", p.clock.Now, p.pause)
	return p
}

func (p *post) send(t testing.TB, body string) {
	t.Helper()
	if _, err := p.sqs.SendMessage(context.Background(), &sqs.SendMessageInput{QueueUrl: aws.String(p.server.QueueURL()), MessageBody: &body}); err != nil {
		t.Fatal(err)
	}
}

func (p *post) next(t testing.TB) []cloud.InterruptionMessage {
	t.Helper()
	got, err := p.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (p *post) done(t testing.TB, interruptionMessages ...cloud.InterruptionMessage) {
	t.Helper()
	if err := p.Done(context.Background(), interruptionMessages...); err != nil {
		t.Fatal(err)
	}
}

// left counts the messages in the queue, hidden ones too.
func (p *post) left(t testing.TB) int {
	t.Helper()
	p.advance(time.Minute)
	all, err := p.sqs.ReceiveMessage(context.Background(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(p.server.QueueURL()), MaxNumberOfMessages: 10})
	if err != nil {
		t.Fatal(err)
	}
	return len(all.Messages)
}

func TestAMessageIsDeletedWhenAllItSaysIsDone(t *testing.T) {
	p := open(t)
	p.send(t, strings.NewReplacer("RESOURCES", "", "ENTITIES", `{"entityValue":"i-0aa"},{"entityValue":"i-0bb"}`).Replace(health))
	got := p.next(t)
	if len(got) != 2 || got[0].InstanceID != "i-0aa" || got[1].InstanceID != "i-0bb" || got[0].ID == got[1].ID {
		t.Fatalf("notices = %+v, want one for each machine", got)
	}
	p.done(t, got[0])
	p.advance(HiddenFor)
	again := p.next(t)
	if len(again) != 2 || again[0].Count != 2 {
		t.Fatalf("notices = %+v, want both a second time", again)
	}
	p.done(t, again...)
	p.done(t, got...) // late and twice: no harm
	if n := p.left(t); n > 0 {
		t.Errorf("%d messages are left", n)
	}
}

// What becomes of a message that is not understood is for the reader to decide: it is
// handed out, each time with its count.
func TestAMessageThatIsNotUnderstoodIsHandedOn(t *testing.T) {
	p := open(t)
	p.send(t, "hello")
	for count := 1; count <= 3; count++ {
		got := p.next(t)
		if len(got) != 1 || got[0].Kind != cloud.NotUnderstood || got[0].Count != count || got[0].Problem == "" || got[0].At.IsZero() {
			t.Fatalf("notices = %+v, want one that was not understood, for the %d. time", got, count)
		}
		if count == 3 {
			p.done(t, got...)
		}
		p.advance(HiddenFor)
	}
	if n := p.left(t); n > 0 {
		t.Errorf("%d messages are left", n)
	}
}

// A queue's tags say whether other clusters read it too.
func TestAQueueIsSharedByItsTags(t *testing.T) {
	tests := map[string]struct {
		tags map[string]string
		want bool
	}{
		"no tags":                     {nil, false},
		"another's tags":              {map[string]string{"team": "web"}, false},
		"owned by this cluster":       {map[string]string{"kubernetes.io/cluster/prod": "owned"}, false},
		"shared by this cluster":      {map[string]string{"kubernetes.io/cluster/prod": "shared"}, true},
		"another cluster's too":       {map[string]string{"kubernetes.io/cluster/prod": "owned", "kubernetes.io/cluster/test": "owned"}, true},
		"another cluster's and ours?": {map[string]string{"kubernetes.io/cluster/test": "shared"}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := open(t)
			if _, err := p.sqs.TagQueue(t.Context(), &sqs.TagQueueInput{QueueUrl: aws.String(p.server.QueueURL()), Tags: tt.tags}); err != nil && tt.tags != nil {
				t.Fatal(err)
			}
			p.send(t, spotWarning)
			if got := p.next(t); len(got) != 1 || got[0].Shared != tt.want {
				t.Fatalf("notices = %+v, want shared %v", got, tt.want)
			}
		})
	}
	p := open(t)
	p.server.Deny("ListQueueTags")
	var said []error
	p.Queue.Warn = func(err error) { said = append(said, err) }
	for range 3 { // and that is not asked for again so soon
		p.send(t, spotWarning)
		if got := p.next(t); got[0].Shared {
			t.Error("a queue whose tags may not be read counts as shared")
		}
		p.advance(10 * time.Minute)
	}
	if calls := p.server.Calls()["ListQueueTags"]; calls != 1 {
		t.Errorf("tags that may not be read were asked for %d times within half an hour", calls)
	}
	p.advance(deniedFor)
	p.send(t, spotWarning)
	p.next(t)
	if len(said) != 1 || !strings.Contains(said[0].Error(), "let the controller's role call sqs:ListQueueTags") {
		t.Errorf("it says %v, want once that the tags may not be read", said)
	}
}

// Another cluster may come to read the queue, or leave it, while the controller runs: its
// tags count within a minute.
func TestAQueueComesToBeShared(t *testing.T) {
	p := open(t)
	shared := func() bool {
		t.Helper()
		p.send(t, spotWarning)
		got := p.next(t)
		p.done(t, got...)
		return got[0].Shared
	}
	tag := func(value string) {
		t.Helper()
		tags := map[string]string{"kubernetes.io/cluster/prod": value}
		if _, err := p.sqs.TagQueue(t.Context(), &sqs.TagQueueInput{QueueUrl: aws.String(p.server.QueueURL()), Tags: tags}); err != nil {
			t.Fatal(err)
		}
	}
	if shared() {
		t.Error("a queue without tags counts as shared")
	}
	tag("shared")
	if p.advance(tagsFor); !shared() {
		t.Error("a minute after it was tagged so, the queue does not count as shared")
	}
	for _, code := range []string{"ThrottlingException", "ExpiredToken", "OverLimit"} {
		p.advance(tagsFor)
		p.server.Fault("ListQueueTags", 1, code)
		if !shared() {
			t.Errorf("%s: a queue whose tags cannot be read for a moment is shared no more", code)
		}
	}
	tag("owned")
	if p.advance(tagsFor); shared() {
		t.Error("a minute after it was tagged as this cluster's own, the queue counts as shared")
	}
	if calls := p.server.Calls()["ListQueueTags"]; calls != 6 {
		t.Errorf("the tags were read %d times for six looks a minute apart", calls)
	}
}

// Until its tags could be read once, a queue may be read by other clusters too: what is not
// ours stays in it.
func TestAQueueWhoseTagsAreNotKnownYetMayBeShared(t *testing.T) {
	p := open(t)
	p.server.Fault("ListQueueTags", 1, "ThrottlingException")
	for _, want := range []bool{true, false} {
		p.send(t, spotWarning)
		got := p.next(t)
		p.done(t, got...)
		if got[0].Shared != want {
			t.Errorf("notices = %+v, want shared %v", got, want)
		}
		p.advance(tagsFor)
	}
}

// A key that is asked for too much at the moment is no misconfiguration.
func TestAKeyThatIsBusyIsNoRefusal(t *testing.T) {
	for _, code := range []string{"KmsThrottled", "KMS.ThrottlingException"} {
		p := open(t)
		p.server.Fault("ReceiveMessage", 1, code)
		_, err := p.Next(t.Context())
		if _, ok := errors.AsType[*cloud.ThrottledError](err); !ok {
			t.Errorf("%s: Next = %v, want that it is asked too much", code, err)
		}
	}
}

// quiet is a queue in which no message comes, however long a call waits.
type quiet struct {
	api
	asked int
}

func (q *quiet) ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error) {
	if q.asked++; q.asked > 1 {
		return nil, errors.New("asked again, and the first answer was kept from the caller")
	}
	return &sqs.ReceiveMessageOutput{}, nil
}

// That no message came is an answer: the queue can be read.
func TestAQuietQueueIsReadable(t *testing.T) {
	p := open(t)
	got, err := New(&quiet{api: p.sqs}, "prod", "prod", p.clock.Now, p.pause).Next(t.Context())
	if len(got) != 0 || err != nil {
		t.Errorf("Next = %v, %v, want no notice and no error", got, err)
	}
}

// What is in the way is said in words, and once it is out of the way interruption messages
// come again without a restart.
func TestAQueueThatWasGoneIsFoundAgain(t *testing.T) {
	queue := func(p *post) *string { return aws.String(p.server.QueueURL()) }
	tests := map[string]struct {
		breaks, mends func(t *testing.T, p *post)
		reason, words string
	}{
		"it was deleted": {
			func(t *testing.T, p *post) {
				if _, err := p.sqs.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: queue(p)}); err != nil {
					t.Fatal(err)
				}
			},
			func(t *testing.T, p *post) {
				if _, err := p.sqs.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("prod")}); err != nil {
					t.Fatal(err)
				}
			}, cloud.QueueNotFound, "there is no SQS queue prod"},
		"it may not be looked up": {
			func(_ *testing.T, p *post) { p.server.Deny("GetQueueUrl"); p.url = "" },
			func(_ *testing.T, p *post) { p.server.Allow("GetQueueUrl") }, cloud.QueueDenied, "sqs:GetQueueUrl"},
		"it may not be read": {
			func(_ *testing.T, p *post) { p.server.Deny("ReceiveMessage") },
			func(_ *testing.T, p *post) { p.server.Allow("ReceiveMessage") }, cloud.QueueDenied, "sqs:ReceiveMessage"},
		"its key may not be used": {
			func(_ *testing.T, p *post) { p.server.Fault("ReceiveMessage", 1, "KmsAccessDenied") },
			func(*testing.T, *post) {}, cloud.QueueKeyDenied, "kms:Decrypt"},
		"its key may not be used, in other words": {
			func(_ *testing.T, p *post) { p.server.Fault("ReceiveMessage", 1, "KMS.AccessDeniedException") },
			func(*testing.T, *post) {}, cloud.QueueKeyDenied, "kms:Decrypt"},
		"its key is disabled": {
			func(_ *testing.T, p *post) { p.server.Fault("ReceiveMessage", 1, "KmsDisabled") },
			func(*testing.T, *post) {}, cloud.QueueKeyDenied, "enable the key, or give the queue another"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := open(t)
			p.send(t, spotWarning)
			p.done(t, p.next(t)...)
			tt.breaks(t, p)
			_, err := p.Next(t.Context())
			refused, ok := errors.AsType[*cloud.RefusedError](err)
			if !ok || refused.Reason != tt.reason || !strings.Contains(refused.Cause, tt.words) {
				t.Fatalf("Next = %v, want %s with %q", err, tt.reason, tt.words)
			}
			tt.mends(t, p)
			p.send(t, spotWarning)
			if got := p.next(t); len(got) != 1 || got[0].Kind != cloud.Interrupted {
				t.Errorf("notices = %+v, want the one that was sent", got)
			}
		})
	}
}

// Messages that lie there in numbers are fetched and deleted in few calls.
func TestManyMessagesTakeFewCalls(t *testing.T) {
	p := open(t)
	const n = 100
	for i := range n {
		p.send(t, strings.ReplaceAll(spotWarning, instance, fmt.Sprintf("i-%017x", i)))
	}
	seen := map[string]bool{}
	for len(seen) < n {
		got := p.next(t)
		for _, n := range got {
			seen[n.InstanceID] = true
		}
		p.done(t, got...)
	}
	if calls := p.server.Calls(); calls["ReceiveMessage"] > 2*callsMax || calls["DeleteMessageBatch"] > n/messagesMax || calls["DeleteMessage"] > 0 {
		t.Errorf("%d receives, %d deletes of many and %d of one for %d messages", calls["ReceiveMessage"], calls["DeleteMessageBatch"], calls["DeleteMessage"], n)
	}
}

// What it takes to fetch, understand and delete a thousand messages over the wire.
func BenchmarkAThousandMessages(b *testing.B) {
	const n = 1000
	p := open(b)
	for b.Loop() {
		b.StopTimer()
		for i := range n {
			p.send(b, strings.ReplaceAll(spotWarning, instance, fmt.Sprintf("i-%017x", i)))
		}
		b.StartTimer()
		for read := 0; read < n; {
			got := p.next(b)
			read += len(got)
			p.done(b, got...)
		}
	}
}
