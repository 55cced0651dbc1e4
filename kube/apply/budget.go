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

// gate lets removals of one pool through as far as its budgets allow. One
// reading of the live state answers everybody who asked before it began, so
// that many removals at once do not each read the whole pool.
type gate struct {
	turn chan struct{} // holds a value while somebody reads

	mu       sync.Mutex
	asking   []*request
	admitted map[string]struct{} // claims that are being deleted by us just now
}

// request is a removal that asks to be let through. Its answer may be read
// by whoever holds the gate's turn.
type request struct {
	plan.Removal
	answered bool
	answer   error
}

func (g *gate) ask(r plan.Removal) *request {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := &request{Removal: r}
	g.asking = append(g.asking, q)
	return q
}

// next takes everybody who has asked, and the claims whose deletion a reading
// that begins now may not show.
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

// leave says that the deletion of a claim has ended, one way or the other:
// from now on a reading shows what became of it.
func (g *gate) leave(claim string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.admitted, claim)
}

// admit lets a removal through if the live state of its pool has room for it
// under the budgets in force now. Whoever is let through must leave the gate.
func (a *Applier) admit(ctx context.Context, r plan.Removal) error {
	g := a.budgets.of(r.Pool)
	mine := g.ask(r)
	g.turn <- struct{}{}
	defer func() { <-g.turn }()
	if mine.answered {
		return mine.answer
	}
	asking, admitted := g.next()
	live, err := a.readPool(ctx, r.Pool, admitted)
	for _, q := range asking {
		q.answered, q.answer = true, err
		if err != nil {
			continue
		}
		if q.answer = live.take(q.Removal); q.answer == nil {
			g.admit(q.Claim)
		}
	}
	return mine.answer
}
