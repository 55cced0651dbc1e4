package nodepool

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/daemok/daemok/observe"
)

// quietMax is how long a new pool, or one whose class is new, may be without
// a word on its class before anyone is warned: that is how every pool begins.
const quietMax = 10 * time.Second

// quietFor is how much of that time is left.
func (r *Reconciler) quietFor(o Object, class ClassState) time.Duration {
	began := o.GetCreationTimestamp().Time
	if class.CreatedAt.After(began) {
		began = class.CreatedAt
	}
	return began.Add(quietMax).Sub(r.Now())
}

// warning is one thing that users of a pool should know.
type warning struct{ reason, text string }

// news is what is to be reported of a pool now, by field or condition.
type news map[string]warning

// reported remembers what was reported last of each pool. The zero value is ready to use;
// it is safe for concurrent use.
type reported struct {
	mu   sync.Mutex
	last map[string]news
}

// replace takes the news of a pool and returns those that are new.
func (t *reported) replace(pool string, now news) news {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		t.last = map[string]news{}
	}
	fresh := news{}
	for topic, w := range now {
		if t.last[pool][topic] != w {
			fresh[topic] = w
		}
	}
	t.last[pool] = now
	return fresh
}

func (t *reported) forget(pool string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.last, pool)
}

// report publishes a warning for each thing that was not reported before.
func (r *Reconciler) report(o Object, now news) {
	fresh := r.reported.replace(o.GetName(), now)
	for _, topic := range slices.Sorted(maps.Keys(fresh)) {
		r.Events.Publish(observe.Event{
			About: o, Key: r.Generation.Kind + "/" + o.GetName(), Warning: true,
			Reason: fresh[topic].reason, Message: fresh[topic].text,
		})
	}
}
