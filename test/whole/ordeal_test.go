package whole_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/test/store"
)

// errKilled is what every call of a controller that was killed returns.
var errKilled = errors.New("the controller was killed")

// errLost is a call whose reply did not come.
var errLost = errors.New("connection reset by peer")

// ordeal is what the calls of one controller go through.
type ordeal struct {
	mu     sync.Mutex
	killed bool
	kill   context.CancelFunc

	dieAt int  // at this write or call of the cloud, from 1; 0 is never
	after bool // the one it dies at takes effect

	seed   uint64
	chance float64        // of a call to fail
	counts map[string]int // by call: so that a draw does not depend on the order of other calls

	calls []string // writes and calls of the cloud so far

	heard func(call string) // told of every call to the API server and to AWS; nil: none is
}

// api is the fault of a connection.
func (o *ordeal) api(c store.Call) (before, after error) {
	return o.call(c.String(), c.Writes(), func() error {
		return apierrors.NewInternalError(errors.New("etcdserver: leader changed"))
	})
}

func (o *ordeal) call(name string, counts bool, failure func() error) (before, after error) {
	if o.heard != nil {
		o.heard(name)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.killed {
		return errKilled, nil
	}
	if counts {
		o.calls = append(o.calls, name)
		if len(o.calls) == o.dieAt {
			o.killed = true
			o.kill()
			if o.after {
				return nil, errKilled
			}
			return errKilled, nil
		}
	}
	if o.chance == 0 {
		return nil, nil
	}
	if o.counts == nil {
		o.counts = map[string]int{}
	}
	o.counts[name]++
	switch u := draw(o.seed, fmt.Sprintf("%s#%d", name, o.counts[name])); {
	case u < o.chance/2:
		return failure(), nil
	case u < o.chance:
		return nil, errLost
	}
	return nil, nil
}

// stop kills the controller between two calls.
func (o *ordeal) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.killed = true
	o.kill()
}

func (o *ordeal) made() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.calls...)
}

// draw is a number from 0 to below 1 that depends on its arguments alone.
func draw(seed uint64, name string) float64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d/%s", seed, name)
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

// instances is the cloud as one controller reaches it.
type instances struct {
	cloud.Instances
	ordeal *ordeal
	hang   func(cloud.LaunchRequest) bool // launches that get no answer at all
}

func (m instances) call(name string) (before, after error) {
	return m.ordeal.call(name, true, func() error { return &cloud.ThrottledError{Call: name} })
}

func (m instances) Launch(ctx context.Context, r cloud.LaunchRequest) ([]cloud.Instance, error) {
	if m.hang != nil && m.hang(r) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	before, after := m.call("Launch")
	if before != nil {
		return nil, before
	}
	out, err := m.Instances.Launch(ctx, r)
	if after != nil {
		return nil, after
	}
	return out, err
}

func (m instances) Prepare(ctx context.Context, r cloud.LaunchRequest) error {
	before, after := m.call("Prepare")
	if before != nil {
		return before
	}
	return errors.Join(m.Instances.Prepare(ctx, r), after)
}

func (m instances) Terminate(ctx context.Context, ids ...string) ([]string, error) {
	before, after := m.call("Terminate")
	if before != nil {
		return nil, before
	}
	gone, err := m.Instances.Terminate(ctx, ids...)
	if after != nil {
		return nil, after
	}
	return gone, err
}

func (m instances) Tag(ctx context.Context, which cloud.Instance, tags map[string]string) error {
	before, after := m.call("Tag")
	if before != nil {
		return before
	}
	return errors.Join(m.Instances.Tag(ctx, which, tags), after)
}

func (m instances) List(ctx context.Context, f cloud.Filter) ([]cloud.Instance, error) {
	before, after := m.call("List")
	if err := errors.Join(before, after); err != nil {
		return nil, err
	}
	return m.Instances.List(ctx, f)
}

func TestDrawsOfOneSeedAreSpreadAndRepeat(t *testing.T) {
	low := 0
	for i := range 1000 {
		u := draw(7, fmt.Sprint(i))
		if u != draw(7, fmt.Sprint(i)) || u < 0 || u >= 1 {
			t.Fatalf("draw %d = %v", i, u)
		}
		if u < 0.1 {
			low++
		}
	}
	if low < 60 || low > 140 {
		t.Errorf("%d of 1000 draws lie below a tenth, want about 100", low)
	}
}

// dieAfter lets the controller die at the nth write or call from now on; 0 is
// never.
func (o *ordeal) dieAfter(n int, after bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n > 0 {
		o.dieAt, o.after = len(o.calls)+n, after
	}
}

// count counts a call by name and returns how many there were.
func (o *ordeal) count(name string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.counts == nil {
		o.counts = map[string]int{}
	}
	o.counts[name]++
	return o.counts[name]
}

// counted are the calls that were counted under names that begin so.
func (o *ordeal) counted(prefix string) map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := map[string]int{}
	for name, n := range o.counts {
		if rest, found := strings.CutPrefix(name, prefix); found {
			out[rest] = n
		}
	}
	return out
}

func (o *ordeal) isKilled() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.killed
}

func (o *ordeal) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.calls[len(o.calls)-1]
}

// interruptionMessages are what the cloud says by itself, as one controller hears it.
type interruptionMessages struct {
	cloud.InterruptionMessages
	ordeal *ordeal
}

func (n interruptionMessages) call(name string, changes bool) (before, after error) {
	return n.ordeal.call(name, changes, func() error { return &cloud.ThrottledError{Call: name} })
}

func (n interruptionMessages) Next(ctx context.Context) ([]cloud.InterruptionMessage, error) {
	before, after := n.call("Next", false)
	if before != nil {
		return nil, before
	}
	out, err := n.InterruptionMessages.Next(ctx)
	if after != nil {
		return nil, after
	}
	return out, err
}

func (n interruptionMessages) Done(ctx context.Context, list ...cloud.InterruptionMessage) error {
	before, after := n.call("Done", true)
	if before != nil {
		return before
	}
	return errors.Join(n.InterruptionMessages.Done(ctx, list...), after)
}
