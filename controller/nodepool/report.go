package nodepool

import "sync"

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
