// Package parallel runs independent work on all processors: the only place in core that may start
// goroutines.
//
// It promises that all of them have ended when it returns, and that the result does not depend on how
// many there were, as long as each piece of work writes only to places of its own: results belong in a
// slice, by index. It limits no effort and knows no time.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do for every number below n, several at a time and in no certain
// order, and returns when all calls have. If calls panic no further ones are
// begun, and Each panics with the value of the lowest number that did: always
// the same one, since lower numbers are begun first.
func Each(n int, do func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers < 2 {
		for i := range n {
			do(i)
		}
		return
	}
	p := pool{n: int64(n), do: do}
	p.running.Add(workers)
	for range workers {
		go p.work()
	}
	p.running.Wait()
	if p.broken != nil {
		panic(p.broken.value)
	}
}

type pool struct {
	n       int64
	do      func(i int)
	begun   atomic.Int64
	stop    atomic.Bool
	running sync.WaitGroup

	mu     sync.Mutex
	broken *panicked // guarded by mu: of the lowest number so far
}

type panicked struct {
	at    int
	value any
}

func (p *pool) work() {
	defer p.running.Done()
	for !p.stop.Load() {
		i := p.begun.Add(1) - 1
		if i >= p.n {
			return
		}
		p.one(int(i))
	}
}

func (p *pool) one(i int) {
	done := false
	defer func() {
		if done {
			return
		}
		value := recover()
		p.stop.Store(true)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.broken == nil || i < p.broken.at {
			p.broken = &panicked{i, value}
		}
	}()
	p.do(i)
	done = true
}
