package observe

import (
	"sync"
	"time"
)

// unfinished is the plans that are being made. It is safe for concurrent use.
type unfinished struct {
	now func() time.Time

	mu    sync.Mutex
	next  int
	since map[int]time.Time
}

// add reports at the scrape how long the one that began first has taken so far.
func (u *unfinished) add(b builder, now func() time.Time) {
	u.now, u.since = now, map[int]time.Time{}
	b.computed("karpenter_scheduler_unfinished_work_seconds", u.longest, provisioner, "")
}

func (u *unfinished) longest() float64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := time.Duration(0)
	for _, began := range u.since {
		out = max(out, u.now().Sub(began))
	}
	return out.Seconds()
}

// Planning notes that a plan is being made, until done is called.
func (m *Metrics) Planning() (done func()) {
	u := &m.plans
	u.mu.Lock()
	defer u.mu.Unlock()
	u.next++
	id := u.next
	u.since[id] = u.now()
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.since, id)
	}
}
