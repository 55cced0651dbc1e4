package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/store"
)

// mortal is a process that dies at one of its writes, before it takes effect or
// after.
type mortal struct {
	mu     sync.Mutex
	kill   context.CancelFunc
	dieAt  int // from 1; 0 is never
	after  bool
	dead   bool
	writes []string
}

var errKilled = errors.New("the process was killed")

func (m *mortal) fault(c store.Call) (before, after error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errKilled, nil
	}
	if !c.Writes() {
		return nil, nil
	}
	m.writes = append(m.writes, c.String())
	if len(m.writes) != m.dieAt {
		return nil, nil
	}
	m.dead = true
	m.kill()
	if m.after {
		return nil, errKilled
	}
	return errKilled, nil
}

// TestADeathAtAnyWriteLeavesNothingHalfDone: whenever the process dies while it carries a move out
// or takes one back, the next one carries it on or undoes it: no node stays closed, no instance is
// left that replaces nothing, and no node goes before the instances in its place have started.
func TestADeathAtAnyWriteLeavesNothingHalfDone(t *testing.T) {
	const undone, replaced, gone = "old-0 old-1 old-2", "default-new-1 default-new-2 old-2", "old-1 old-2"
	kinds := map[string]struct {
		nodes, instances int
		meanwhile        func(y *yard)
		may              []string // end states
	}{
		"two nodes for two machines": {2, 2, nil, []string{undone, replaced}},
		"a node for none":            {1, 0, nil, []string{undone, gone}},
		"a pod comes in time":        {2, 2, func(y *yard) { time.Sleep(time.Second); y.pod("late", "n-0", nil) }, []string{undone}},
		"a pod comes late": {2, 2, func(y *yard) {
			time.Sleep(translate.StabilizeFor + startsAfter/2 + 4*time.Second)
			y.pod("late", "n-0", nil)
		},
			[]string{undone}},
		"machines that cannot be bought": {2, 2, func(y *yard) { y.set(func() { y.unavailable["default-new-2"] = true }) }, []string{undone}},
	}
	for kind, tt := range kinds {
		live := func(y *yard, m *mortal) (before string) {
			ctx, kill := context.WithCancel(context.Background())
			m.kill = kill
			first := y.applier(m.fault)
			first.Move(ctx, y.snapshot(), y.move(plan.Underutilized, tt.nodes, tt.instances), y)
			if tt.meanwhile != nil {
				tt.meanwhile(y)
			}
			first.Wait()
			before = y.state()
			time.Sleep(3 * time.Second)
			next := y.applier(nil)
			if err := next.Resume(context.Background(), y); err != nil {
				y.t.Fatal(err)
			}
			next.Wait()
			time.Sleep(5 * time.Second)
			return before
		}
		clean := &mortal{}
		report(t, 3, func(_ *testing.T, y *yard) { live(y, clean) })
		if len(clean.writes) < 3 {
			t.Errorf("%s: it wrote %v only", kind, clean.writes)
		}
		for i := range len(clean.writes) {
			for _, after := range []bool{false, true} {
				when := map[bool]string{false: "before", true: "after"}[after]
				t.Run(fmt.Sprintf("%s, dead %s write %d", kind, when, i+1), func(t *testing.T) {
					report(t, 3, func(t *testing.T, y *yard) {
						m := &mortal{dieAt: i + 1, after: after}
						left := live(y, m)
						if got := y.state(); !slices.Contains(tt.may, got) {
							t.Errorf("it died at %q and left %s; in the end: %s, want one of %q", m.writes[len(m.writes)-1], left, got, tt.may)
						}
						y.neverShort()
					})
				})
			}
		}
	}
}

// neverShort checks what must have been so all the time: for each node that went there was an
// instance that had started, where its move had any.
func (y *yard) neverShort() {
	y.t.Helper()
	y.mu.Lock()
	defer y.mu.Unlock()
	if len(y.early) > 0 {
		y.t.Errorf("these were deleted before the machines in their place had started: %v", y.early)
	}
}

// TestOthersTaintsAndReasonsAreTakenAway: whatever left them.
func TestALeaderMayFailToResumeAtFirst(t *testing.T) {
	report(t, 3, func(t *testing.T, y *yard) {
		m := &mortal{dieAt: 5}
		ctx, kill := context.WithCancel(context.Background())
		m.kill = kill
		first := y.applier(m.fault)
		first.Move(ctx, y.snapshot(), y.move(plan.Underutilized, 3, 0), y)
		first.Wait()
		failing := 2
		next := y.applier(func(c store.Call) (error, error) {
			if c.Writes() && failing > 0 {
				failing--
				return errors.New("etcdserver: leader changed"), nil
			}
			return nil, nil
		})
		tries := 1
		for ; next.Resume(context.Background(), y) != nil; tries++ {
			time.Sleep(time.Second)
		}
		next.Wait()
		if got, want := y.state(), "old-0 old-1 old-2"; got != want || tries < 2 {
			t.Errorf("after %d tries: %s, want %s", tries, got, want)
		}
	})
}
