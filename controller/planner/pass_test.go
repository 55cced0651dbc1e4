package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/kube/apply"
)

// town is a crowd in a cluster with two nodes, one of which may go to save money.
// What goes is written down.
type town struct {
	*crowd
	mu   sync.Mutex
	busy bool // a pod that must not be disturbed has come to that node
	kept []string
}

// Explain records when it receives first what keeps nodes.
func (w *town) Explain(_ *cluster.Snapshot, p plan.Plan) {
	if len(p.Kept) > 0 && len(w.kept) == 0 {
		for _, k := range p.Kept {
			w.kept = append(w.kept, fmt.Sprintf("%s: %s %s", time.Since(w.began), k.Node, k.Why))
		}
	}
}

func (w *town) Snapshot() *cluster.Snapshot {
	head, rest, _ := strings.Cut(scenario.Print(w.crowd.Snapshot()), "\n")
	text := head + "\nshape small namespace=default cpu=100m memory=100Mi\n" +
		strings.Replace(rest, "pool NodePool/default catalogue=c1\n", "pool NodePool/default catalogue=c1\n  policy after=30s\n  allow 1 reason=Underutilized\n", 1)
	pod := func(name string) string {
		return "  pod default/" + name + " shape=small returns started=2026-11-20T05:00:00Z\n"
	}
	const pdb = "  pod default/guard shape=small do-not-disrupt\n"
	nodes := []string{pod("a"), pdb}
	w.mu.Lock()
	if w.busy {
		nodes[0] += pdb
	}
	w.mu.Unlock()
	for i, pods := range nodes {
		text += fmt.Sprintf(`node n%d claim=n%[1]d-c pool=NodePool/default ready initialized price=0.096 created=2026-11-20T04:00:00Z quiet-since=2026-11-21T03:00:00Z
  labels karpenter.sh/nodepool=default topology.kubernetes.io/zone=us-west-2a karpenter.sh/capacity-type=on-demand node.kubernetes.io/instance-type=m5.large
  allocatable cpu=1500m memory=7Gi pods=29
%s`, i, pods)
	}
	s, err := scenario.Parse(text)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *town) Project(s *cluster.Snapshot) *cluster.Snapshot {
	w.crowd.mu.Lock()
	defer w.crowd.mu.Unlock()
	if w.ordered {
		s.Waiting = nil
	}
	return s
}

func (w *town) Move(_ context.Context, _ *cluster.Snapshot, p plan.Plan, _ apply.Listener) {
	for _, r := range p.Removals() {
		w.note(string(r.Reason)+" "+r.Node, len(r.Pods))
	}
}

// run plans for a while with a search that takes so long.
func (w *town) run(length, search time.Duration) []string {
	p := &Planner{
		Source: w, Ledger: w, Listener: w, Applier: w,
		Window: Window{Idle: time.Second, Max: 10 * time.Second}, Now: time.Now,
	}
	p.pass = passFor(p)
	look := p.pass.search
	p.pass.search = func(ctx context.Context, s *cluster.Snapshot, made *plan.Plan, questions int64) *disruption.Found {
		time.Sleep(search)
		return look(ctx, s, made, questions)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), length)
	defer cancel()
	if err := p.Run(ctx); err != nil {
		w.t.Error(err)
	}
	return w.story
}

// TestNodesThatMayGoAreSoughtBesideThePlans: for pods that come while the search goes on
// instances are launched as soon as they would be without it, and what was found goes when
// it is found.
func TestNodesThatMayGoAreSoughtBesideThePlans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{crowd: newCrowd(t, 2*time.Second)}
		got, want := w.run(8*time.Second, 5*time.Second), []string{"3s: launch 1", "5s: Underutilized n0 1"}
		if !slices.Equal(got, want) {
			t.Errorf("the story was %v, want %v", got, want)
		}
	})
}

// TestWhatChangedDuringTheSearchCounts: a pod that came to the node meanwhile keeps it.
func TestWhatChangedDuringTheSearchCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{crowd: newCrowd(t)}
		time.AfterFunc(2*time.Second, func() {
			w.mu.Lock()
			w.busy = true
			w.mu.Unlock()
			w.changed <- struct{}{}
		})
		if got := w.run(8*time.Second, 5*time.Second); len(got) > 0 {
			t.Errorf("the story was %v, want nothing to happen", got)
		}
	})
}

// TestWhatKeepsNodesIsReportedAsSoonAsItIsFound: though nothing else happens then.
func TestWhatKeepsNodesIsReportedAsSoonAsItIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{crowd: newCrowd(t), busy: true}
		w.run(30*time.Second, 5*time.Second)
		const why = "pod default/guard carries do-not-disrupt"
		if want := []string{"5s: n0 " + why, "5s: n1 " + why}; !slices.Equal(w.kept, want) {
			t.Errorf("told: %q, want %q", w.kept, want)
		}
	})
}

// TestSearchesAreApart: one that took long is followed by a long pause, and
// without a change there is one a minute.
func TestSearchesAreApart(t *testing.T) {
	at := func(after time.Duration) time.Time { return time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC).Add(after) }
	now := at(0)
	p := pass{now: func() time.Time { return now }, done: make(chan *disruption.Found, 1)}
	p.search = func(context.Context, *cluster.Snapshot, *plan.Plan, int64) *disruption.Found {
		return &disruption.Found{}
	}
	one, two := &cluster.Snapshot{Revision: 1, Now: at(0)}, &cluster.Snapshot{Revision: 2, Now: at(0)}
	if _, ok := p.dueAt(one); !ok {
		t.Error("the first search is not due")
	}
	p.begin(t.Context(), one, &plan.Plan{}, 1)
	if _, ok := p.dueAt(two); ok {
		t.Error("a second search is due while one is under way")
	}
	now = at(2 * time.Second)
	p.finished(<-p.done)
	if due, ok := p.dueAt(two); !ok || due != at(20*time.Second) {
		t.Errorf("after a change the next is due at %v, want nine times as long after the first as it took", due)
	}
	if due, ok := p.dueAt(one); !ok || due != at(recheckEvery) {
		t.Errorf("without a change the next is due at %v, want a minute after the first", due)
	}
}
