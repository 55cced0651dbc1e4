package apply

import (
	"context"
	"maps"
	"sync"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// budgets holds one gate for each pool. The zero value is ready to use.
type budgets struct {
	mu    sync.Mutex
	gates map[cluster.PoolID]*gate
}

func (b *budgets) of(id cluster.PoolID) *gate {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gates == nil {
		b.gates = map[cluster.PoolID]*gate{}
	}
	if b.gates[id] == nil {
		b.gates[id] = &gate{turn: make(chan struct{}, 1), admitted: map[string]struct{}{}}
	}
	return b.gates[id]
}

// gate lets removals of one pool through as far as its budgets allow. One reading of the live state
// answers every removal that asked before it began, so that many removals at once do not each read
// the whole pool.
type gate struct {
	turn chan struct{} // holds a value during a reading

	mu       sync.Mutex
	asking   []*request
	admitted map[string]struct{} // claims of removals that were let through and have not ended
}

// request is a removal that asks to be let through. Its answer may be read by the goroutine that
// holds the gate's turn.
type request struct {
	plan.Removal
	first    bool // it goes before an instance in its place comes, which its pool must want
	forced   bool // it goes whatever budgets say
	again    bool // it was let through before, and asks whether that still holds
	unit     *unit
	answered bool
	answer   error
}

func (g *gate) ask(q *request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asking = append(g.asking, q)
}

// next takes every removal that has asked, and the claims that were let through and that a reading
// which begins now may not show as going.
func (g *gate) next() ([]*request, map[string]struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	asking := g.asking
	g.asking = nil
	return asking, maps.Clone(g.admitted)
}

func (g *gate) admit(claim string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.admitted[claim] = struct{}{}
}

// leave says that the removal of a claim has ended, one way or the other: from
// now on a reading shows what became of it.
func (g *gate) leave(claim string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.admitted, claim)
}

// admit lets a removal through if the live state of its pool has room for it under the budgets in
// force now. A removal that is let through uses the budget until it leaves the gate, or is not let
// through when it asks again. Nodes that are too old use budgets up and are not stopped by them; those of which a static
// pool has too many are let through as long as it has.
func (a *Applier) admit(ctx context.Context, mine request) error {
	g := a.budgets.of(mine.Pool)
	if mine.forced && mine.Reason != plan.Overprovisioned {
		g.admit(mine.Claim)
		return nil
	}
	g.ask(&mine)
	g.turn <- struct{}{} // each reading takes a bounded time
	defer func() { <-g.turn }()
	if mine.answered {
		return mine.answer
	}
	asking, admitted := g.next()
	live, err := a.readPool(ctx, mine.Pool, admitted)
	for _, q := range asking {
		q.answered, q.answer = true, err
		if err != nil {
			continue
		}
		switch q.answer = live.take(q); {
		case q.answer == nil:
			g.admit(q.Claim)
		case q.again:
			g.leave(q.Claim)
		}
	}
	return mine.answer
}
