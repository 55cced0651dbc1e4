package interruption

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
	"github.com/daemok/daemok/test/store"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// evaluator is a cluster whose cloud has something to say, and who reads it.
type evaluator struct {
	*Reader
	t       testing.TB
	hand    *store.Connection
	said    []cloud.InterruptionMessage // what the next check brings
	err     error                       // or what is wrong
	kept    error                       // what is wrong with acknowledging
	done    []string                    // IDs that were acknowledged
	short   []cloud.OfferingChoice
	deny    error     // of every write
	stored  time.Time // what the API server's clock shows
	metrics *prometheus.Registry

	mu     sync.Mutex
	events []string
	words  []string // their messages
}

func (d *evaluator) Next(context.Context) ([]cloud.InterruptionMessage, error) { return d.said, d.err }

func (d *evaluator) Done(_ context.Context, interruptionMessages ...cloud.InterruptionMessage) error {
	if d.kept != nil {
		return d.kept
	}
	for _, n := range interruptionMessages {
		d.done = append(d.done, n.ID)
	}
	return nil
}

func (d *evaluator) Short(offerings ...cloud.OfferingChoice) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.short = append(d.short, offerings...)
}

func (d *evaluator) Publish(e observe.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events, d.words = append(d.events, e.Key+" "+e.Reason), append(d.words, e.Message)
}

func newEvaluator(t testing.TB) *evaluator {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	d := &evaluator{t: t, metrics: prometheus.NewRegistry(), stored: start.Add(time.Second)}
	now := func() time.Time { return start.Add(time.Second) }
	server := store.New(s, func() time.Time { return d.stored })
	d.hand = server.Connect(nil)
	store := server.Connect(func(c store.Call) (before, after error) {
		if c.Writes() {
			return d.deny, nil
		}
		return nil, nil
	})
	d.Reader = &Reader{InterruptionMessages: d, Actor: &Actor{Shortages: d, Store: store, Serves: translate.Generations{translate.NodePools()}, Events: d, Metrics: observe.NewMetrics(d.metrics, "", "", "", ""),
		Log: slog.New(slog.DiscardHandler), Now: now}}
	return d
}

// claim has a spot instance of that ID; without an ID it waits for one. It stays for a
// while when it is deleted, as claims do.
func (d *evaluator) claim(name, id string) {
	d.t.Helper()
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{api.FinalizerTermination}, Labels: map[string]string{
		api.LabelNodePool: "web", api.LabelInstanceType: "m5.large", api.LabelZone: "a", api.LabelCapacityType: "spot"}},
		Spec: store.ClaimSpec()}
	if id != "" {
		c.Status.ProviderID, c.Status.NodeName = "aws:///a/"+id, "node-"+name
	}
	if err := d.hand.Create(context.Background(), c); err != nil {
		d.t.Fatal(err)
	}
	if err := d.hand.Status().Update(context.Background(), c); err != nil {
		d.t.Fatal(err)
	}
}

// leaving lists the claims that are being deleted.
func (d *evaluator) leaving() (out []string) {
	d.t.Helper()
	var list karpv1.NodeClaimList
	if err := d.hand.List(context.Background(), &list); err != nil {
		d.t.Fatal(err)
	}
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp != nil {
			out = append(out, list.Items[i].Name)
		}
	}
	return out
}

// hear checks once these interruption messages.
func (d *evaluator) hear(interruptionMessages ...cloud.InterruptionMessage) (time.Duration, error) {
	for i := range interruptionMessages {
		interruptionMessages[i].ID, interruptionMessages[i].At = fmt.Sprint("n", i), start
		interruptionMessages[i].Count = max(interruptionMessages[i].Count, 1)
	}
	d.said = interruptionMessages
	return d.Round(context.Background())
}

func about(kind cloud.InterruptionMessageKind, id string) cloud.InterruptionMessage {
	return cloud.InterruptionMessage{Kind: kind, InstanceID: id}
}

// SC-491, SC-496: each kind has its event; a claim goes where its instance ends, and such
// instances are not launched for a while where the cloud is short of them.
func TestWhatFollowsFromEachKind(t *testing.T) {
	tests := map[cloud.InterruptionMessageKind]struct {
		leaves, short bool
		event         string
	}{
		cloud.Interrupted:            {true, true, "SpotInterrupted"},
		cloud.ReservationInterrupted: {true, true, "CapacityReservationInstanceInterrupted"},
		cloud.Rebalance:              {false, false, "SpotRebalanceRecommendation"}, // ignored, see below
		cloud.Maintenance:            {true, false, "InstanceUnhealthy"},
		cloud.HasStopped:             {true, false, "InstanceStopping"},
		cloud.Terminated:             {true, false, "InstanceTerminating"},
	}
	for kind, tt := range tests {
		t.Run(string(kind), func(t *testing.T) {
			d := newEvaluator(t)
			d.claim("one", "i-1")
			d.claim("two", "i-2")
			if _, err := d.hear(about(kind, "i-1")); err != nil {
				t.Fatal(err)
			}
			want := []string{"NodeClaim/one " + tt.event, "Node/node-one " + tt.event}
			if tt.leaves {
				want = append(want, "NodeClaim/one TerminatingOnInterruption", "Node/node-one TerminatingOnInterruption")
			}
			if !slices.Equal(d.events, want) || !slices.Equal(d.done, []string{"n0"}) {
				t.Errorf("events %q, done %q; want %q, and the notice done", d.events, d.done, want)
			}
			if left := d.leaving(); slices.Equal(left, []string{"one"}) != tt.leaves || len(left) > 1 {
				t.Errorf("%q leave, want the first: %v", left, tt.leaves)
			}
			if got := slices.Equal(d.short, []cloud.OfferingChoice{{Kind: "m5.large", Zone: "a", Option: "spot"}}); got != tt.short {
				t.Errorf("short: %v, want that: %v", d.short, tt.short)
			}
		})
	}
}

// SC-495: nothing follows from an interruption message whose claim is gone, or was never
// ours.
func TestInterruptionMessagesOfNoInstanceOfOurs(t *testing.T) {
	shared := about(cloud.Interrupted, "i-9")
	shared.Shared = true
	again := about(cloud.Interrupted, "i-9")
	again.Count = timeout
	ofMany := func(n cloud.InterruptionMessage) cloud.InterruptionMessage {
		n.Shared, n.Count = true, timeout
		return n
	}
	tests := map[string]struct {
		interruptionMessage cloud.InterruptionMessage
		coming              bool // a claim waits for its instance
		done                bool
	}{
		"is deleted": {about(cloud.Interrupted, "i-9"), false, true},
		"is left to others where they read the queue too": {shared, false, false},
		"is left while a claim waits for its machine":     {about(cloud.Interrupted, "i-9"), true, false},
		"is deleted in the end though a claim waits":      {again, true, true},
		"says nothing": {about(cloud.NoOp, ""), true, true},
		"says nothing of another cluster's machine":             {ofMany(about(cloud.NoOp, "i-9")), false, false},
		"says nothing of no instance where others read too":     {ofMany(about(cloud.NoOp, "")), false, false},
		"is not understood, and left where others read too":     {ofMany(about(cloud.NotUnderstood, "")), false, false},
		"is not understood, and left at first":                  {about(cloud.NotUnderstood, ""), false, false},
		"is not understood, and deleted when it came too often": {cloud.InterruptionMessage{Kind: cloud.NotUnderstood, Count: timeout}, false, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := newEvaluator(t)
			d.claim("one", "i-1")
			if tt.coming {
				d.claim("two", "")
			}
			if _, err := d.hear(tt.interruptionMessage); err != nil || (len(d.done) > 0) != tt.done || len(d.leaving()) > 0 {
				t.Errorf("done %q, %v; want done: %v. %q leave", d.done, err, tt.done, d.leaving())
			}
		})
	}
}

// A message that asks for nothing is deleted from a shared queue where it is about an
// instance of ours: no other cluster deletes it.
func TestAMessageThatAsksForNothingOfOurInstanceIsDeleted(t *testing.T) {
	d := newEvaluator(t)
	d.claim("one", "i-1")
	n := about(cloud.NoOp, "i-1")
	n.Shared = true
	if _, err := d.hear(n); err != nil || len(d.done) != 1 {
		t.Errorf("done %q, %v; want the message deleted", d.done, err)
	}
}

// The last messages about an instance come when its claim has gone. No other loop deletes
// them, so the reader does, where other clusters read the queue too.
func TestTheLastMessagesAboutAInstanceOfOursAreDeleted(t *testing.T) {
	d := newEvaluator(t)
	d.claim("one", "i-1")
	ended := about(cloud.Terminated, "i-1")
	ended.Shared = true
	if _, err := d.hear(about(cloud.NoOp, "")); err != nil {
		t.Fatal(err)
	}
	c := d.one()
	c.Finalizers = nil
	if err := errors.Join(d.hand.Update(context.Background(), c), d.hand.Delete(context.Background(), c)); err != nil {
		t.Fatal(err)
	}
	now := d.Now()
	d.Now = func() time.Time { return now }
	for _, step := range []struct {
		after time.Duration
		done  int
	}{{oursFor, 1}, {time.Second, 0}} {
		now, d.done = now.Add(step.after), nil
		if _, err := d.hear(ended); err != nil || len(d.done) != step.done {
			t.Errorf("%s after its claim was seen last: done %q, %v; want %d", step.after, d.done, err, step.done)
		}
	}
}

// SC-492: a claim is deleted once, however often and in whatever order its messages come.
func TestDuplicatesAndDisorderDoNoHarm(t *testing.T) {
	d := newEvaluator(t)
	d.claim("one", "i-1")
	for range 2 {
		if _, err := d.hear(about(cloud.Terminated, "i-1"), about(cloud.Interrupted, "i-1"), about(cloud.Interrupted, "i-1"), about(cloud.Rebalance, "i-1")); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := scraped.Lines(d.metrics, "karpenter_nodeclaims_disrupted_total")
	if err != nil || len(lines) != 1 || !strings.HasSuffix(lines[0], " 1") || len(d.done) != 8 {
		t.Errorf("disrupted %q, %v, %d notices done; want one and 8", lines, err, len(d.done))
	}
}

// When the instance ends is recorded on the claim, before it is deleted and after: the
// earliest moment counts, in whatever order they come. On a claim that something else
// deleted only an end minutes away is recorded: else its drain goes on.
func TestTheEarliestEndIsNoted(t *testing.T) {
	in := func(kind cloud.InterruptionMessageKind, after time.Duration) cloud.InterruptionMessage {
		n := about(kind, "i-1")
		n.EndsAt = start.Add(after)
		return n
	}
	tests := map[string]struct {
		rounds  [][]cloud.InterruptionMessage
		leaves  bool // by hand, before
		lagging bool // the watches show nothing of what was written
		want    string
	}{
		"a spot warning":                         {rounds: [][]cloud.InterruptionMessage{{in(cloud.Interrupted, 2*time.Minute)}}, want: "2026-01-01T00:02:00Z"},
		"a change weeks ahead, then a warning":   {rounds: [][]cloud.InterruptionMessage{{in(cloud.Maintenance, 300*time.Hour)}, {in(cloud.Interrupted, 2*time.Minute)}}, want: "2026-01-01T00:02:00Z"},
		"both at once, the other way round":      {rounds: [][]cloud.InterruptionMessage{{in(cloud.Interrupted, 2*time.Minute), in(cloud.Maintenance, 300*time.Hour)}}, want: "2026-01-01T00:02:00Z"},
		"a warning, and the machine has ended":   {rounds: [][]cloud.InterruptionMessage{{in(cloud.Interrupted, 2*time.Minute)}, {about(cloud.Terminated, "i-1")}}, want: "2026-01-01T00:00:00Z"},
		"a later one is not seen as the first":   {rounds: [][]cloud.InterruptionMessage{{in(cloud.Interrupted, 2*time.Minute)}, {in(cloud.Maintenance, 300*time.Hour)}}, lagging: true, want: "2026-01-01T00:02:00Z"},
		"nobody knows when":                      {rounds: [][]cloud.InterruptionMessage{{about(cloud.Maintenance, "i-1")}}, want: ""},
		"a claim that somebody let go":           {rounds: [][]cloud.InterruptionMessage{{in(cloud.Interrupted, 2*time.Minute)}}, leaves: true, want: "2026-01-01T00:02:00Z"},
		"the same, and the end is weeks ahead":   {rounds: [][]cloud.InterruptionMessage{{in(cloud.Maintenance, 300*time.Hour)}}, leaves: true, want: ""},
		"the same, and its machine ends by that": {rounds: [][]cloud.InterruptionMessage{{about(cloud.Terminated, "i-1")}}, leaves: true, want: ""},
		"a recommendation is no end":             {rounds: [][]cloud.InterruptionMessage{{in(cloud.Interrupted, 2*time.Minute), in(cloud.Rebalance, 0)}}, want: "2026-01-01T00:02:00Z"},
		"a machine that ends without a warning":  {rounds: [][]cloud.InterruptionMessage{{about(cloud.HasStopped, "i-1")}}, want: "2026-01-01T00:00:00Z"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := newEvaluator(t)
			d.claim("one", "i-1")
			if tt.leaves {
				if err := d.hand.Delete(context.Background(), d.one()); err != nil {
					t.Fatal(err)
				}
			}
			if tt.lagging {
				d.Store = lagging{d.Store, *d.one()}
			}
			for _, interruptionMessages := range tt.rounds {
				if _, err := d.hear(interruptionMessages...); err != nil {
					t.Fatal(err)
				}
			}
			if got := d.one().Annotations[api.AnnotationEnds]; got != tt.want || !slices.Equal(d.leaving(), []string{"one"}) {
				t.Errorf("the claim ends at %q and %q leave; want %q, and the claim to leave", got, d.leaving(), tt.want)
			}
		})
	}
}

// one is the claim of that name, as it is.
func (d *evaluator) one() *karpv1.NodeClaim {
	d.t.Helper()
	c := &karpv1.NodeClaim{}
	if err := d.hand.Get(context.Background(), client.ObjectKey{Name: "one"}, c); err != nil {
		d.t.Fatal(err)
	}
	return c
}

// lagging is a store whose watches show one claim as it was.
type lagging struct {
	client.Client
	claim karpv1.NodeClaim
}

func (l lagging) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	claims, ok := list.(*karpv1.NodeClaimList)
	if !ok {
		return l.Client.List(ctx, list, options...)
	}
	claims.Items = []karpv1.NodeClaim{*l.claim.DeepCopy()}
	return nil
}

// A claim that leaves already for another reason is not deleted again. Where the cloud is
// short of such instances, that counts, whenever it is received, and is reported once.
func TestAWarningAboutAInstanceThatLeavesCounts(t *testing.T) {
	const reported = "NodeClaim/one SpotInterrupted"
	tests := map[string]struct {
		before               bool // the claim was deleted already
		interruptionMessages []cloud.InterruptionMessageKind
		short                bool
		reported             int
	}{
		"a warning of a claim that leaves":      {true, []cloud.InterruptionMessageKind{cloud.Interrupted}, true, 1},
		"the same twice":                        {true, []cloud.InterruptionMessageKind{cloud.Interrupted, cloud.Interrupted}, true, 1},
		"that its machine ends, as it must":     {true, []cloud.InterruptionMessageKind{cloud.Terminated}, false, 0},
		"a warning that comes after the end":    {false, []cloud.InterruptionMessageKind{cloud.Terminated, cloud.Interrupted}, true, 0},
		"a recommendation when it is too late":  {true, []cloud.InterruptionMessageKind{cloud.Rebalance}, false, 0},
		"a change that was planned for it, too": {true, []cloud.InterruptionMessageKind{cloud.Maintenance}, false, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := newEvaluator(t)
			d.claim("one", "i-1")
			if tt.before {
				if err := d.hand.Delete(t.Context(), d.one()); err != nil {
					t.Fatal(err)
				}
			}
			var interruptionMessages []cloud.InterruptionMessage
			for _, kind := range tt.interruptionMessages {
				n := about(kind, "i-1")
				n.EndsAt = start.Add(2 * time.Minute)
				interruptionMessages = append(interruptionMessages, n)
			}
			if _, err := d.hear(interruptionMessages...); err != nil || len(d.done) != len(interruptionMessages) {
				t.Fatalf("Round: %v; done %q", err, d.done)
			}
			count := len(slices.DeleteFunc(slices.Clone(d.events), func(e string) bool { return e != reported }))
			if (len(d.short) > 0) != tt.short || count != tt.reported || slices.Contains(d.events, "NodeClaim/one TerminatingOnInterruption") == tt.before {
				t.Errorf("short: %v, events %q; want short: %v, and %d times %s", d.short, d.events, tt.short, tt.reported, reported)
			}
		})
	}
}

// What could not be written is not acknowledged: the interruption message comes again.
func TestAMessageIsDeletedAfterTheAct(t *testing.T) {
	d := newEvaluator(t)
	d.claim("one", "i-1")
	d.deny = errors.New("no")
	if after, err := d.hear(about(cloud.Interrupted, "i-1"), about(cloud.NoOp, "")); err == nil || after != retryFirst || !slices.Equal(d.done, []string{"n1"}) {
		t.Fatalf("Round = %v, %v, done %q; want an error, and the other notice done", after, err, d.done)
	}
	d.deny = nil
	if _, err := d.hear(about(cloud.Interrupted, "i-1")); err != nil || len(d.leaving()) != 1 || !slices.Contains(d.done, "n0") {
		t.Errorf("Round = %v, %q leave, done %q", err, d.leaving(), d.done)
	}
}

// SC-499: a queue that cannot be read is reported on every pool, and tried again.
func TestAQueueThatCannotBeReadIsReported(t *testing.T) {
	d := newEvaluator(t)
	if err := d.hand.Create(context.Background(), &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: store.PoolSpec()}); err != nil {
		t.Fatal(err)
	}
	readable := func() string {
		lines, _ := scraped.Lines(d.metrics, "daemok_interruption_queue_readable")
		return strings.Join(lines, "")
	}
	d.err = &cloud.RefusedError{Reason: cloud.QueueNotFound, Cause: "there is no queue"}
	for _, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		if after, err := d.hear(); err == nil || after != want {
			t.Errorf("Round = %v, %v; want another try in %v", after, err, want)
		}
	}
	if !slices.Contains(d.events, "NodePool/web "+cloud.QueueNotFound) || !strings.HasSuffix(readable(), " 0") {
		t.Errorf("events %q, %s", d.events, readable())
	}
	d.err = nil
	if after, err := d.hear(); err != nil || after != 0 || !strings.HasSuffix(readable(), " 1") {
		t.Errorf("Round = %v, %v, %s; want it to go on", after, err, readable())
	}
}

// SC-499: messages that may not be deleted are reported on every pool, too, and what
// follows from them is done.
func TestMessagesThatMayNotBeDeletedAreReported(t *testing.T) {
	d := newEvaluator(t)
	d.heeds("")
	d.claim("one", "i-1")
	d.kept = &cloud.RefusedError{Reason: cloud.QueueDenied, Cause: "it may not"}
	if after, err := d.hear(about(cloud.Interrupted, "i-1")); err == nil || after != retryFirst || !slices.Equal(d.leaving(), []string{"one"}) {
		t.Errorf("Round = %v, %v, %q leave; want another try, and the claim to leave", after, err, d.leaving())
	}
	if !slices.Contains(d.events, "NodePool/web "+cloud.QueueDenied) {
		t.Errorf("events %q, want the right that is missing", d.events)
	}
}

// Other readers of a shared queue count what is about their instances, and what is about
// ours is counted once here, whichever reader had it first.
func TestMessagesOfASharedQueueAreCountedByWhoHasTheInstance(t *testing.T) {
	d := newEvaluator(t)
	d.claim("one", "i-1")
	for count := 2; count <= 3; count++ { // another cluster has had them
		var all []cloud.InterruptionMessage
		for _, id := range []string{"i-1", "i-9"} {
			n := about(cloud.Interrupted, id)
			n.Shared, n.Count = true, count
			all = append(all, n)
		}
		if _, err := d.hear(all...); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := scraped.Lines(d.metrics, "karpenter_interruption_received_messages_total")
	if want := []string{`karpenter_interruption_received_messages_total message_type=spot_interrupted 1`}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("counted %q, %v; want %q", lines, err, want)
	}
	d.Now = func() time.Time { return start.Add(oursFor + time.Hour) }
	if _, err := d.hear(); err != nil || len(d.Reader.heard) > 0 {
		t.Errorf("long after %d notices are remembered, %v", len(d.Reader.heard), err)
	}
}

// Each message is counted by its kind when it is handed out first, also one that is not
// understood.
func TestMessagesAreCountedOnce(t *testing.T) {
	d := newEvaluator(t)
	d.claim("one", "i-1")
	for count := 1; count <= timeout; count++ {
		unknown, warning := about(cloud.NotUnderstood, ""), about(cloud.Interrupted, "i-1")
		unknown.Count, warning.Count = count, count
		if _, err := d.hear(unknown, warning); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := scraped.Lines(d.metrics, "karpenter_interruption_received_messages_total")
	want := []string{`karpenter_interruption_received_messages_total message_type=not_understood 1`, `karpenter_interruption_received_messages_total message_type=spot_interrupted 1`}
	if err != nil || !slices.Equal(lines, want) {
		t.Errorf("counted %q, %v; want %q", lines, err, want)
	}
}
