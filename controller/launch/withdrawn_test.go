package launch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// withdraw marks claims as none's any more.
func withdraw(t *testing.T, store client.Client, names ...string) {
	t.Helper()
	for _, name := range names {
		c := &karpv1.NodeClaim{}
		if err := store.Get(t.Context(), client.ObjectKey{Name: name}, c); err != nil {
			t.Fatal(err)
		}
		if c.Annotations == nil {
			c.Annotations = map[string]string{}
		}
		c.Annotations[api.AnnotationWithdrawn] = "no pod waits for it any more"
		if err := store.Update(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

// opened runs a launcher for the named claims until it is stopped.
func opened(t *testing.T, store client.Client, s *emulated, names ...string) (l *Launcher, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l = (&Launcher{
		Store: store, Live: store, Requests: s, Instances: s, Outcome: book{store: store}, Log: unheard, Now: time.Now, CallFor: 20 * time.Second,
	}).Open()
	for _, name := range names {
		l.Add(name)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = l.Run(ctx) })
	return l, func() { cancel(); running.Wait() }
}

// mend ends what kept launches from succeeding.
func (s *emulated) mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = nil
}

// started takes one look at claim a, which has no instance, and says whether it is still there, and
// what the launcher was asked.
func started(t *testing.T, store client.Client) (stays bool, launcher asked) {
	t.Helper()
	ears := asked{}
	if _, err := starter(store, &ears).Launch(t.Context(), claimA(t, store)); err != nil {
		t.Fatal(err)
	}
	return kept(t, store), ears
}

// TestAWithdrawnClaimGoes: at once where nothing was launched for it yet;
// otherwise the launcher is asked, which alone knows when.
func TestAWithdrawnClaimGoes(t *testing.T) {
	untried := storeWith("a")
	withdraw(t, untried, "a")
	if stays, asked := started(t, untried); stays || len(asked) > 0 {
		t.Errorf("untried: stays %v, asked for %v; want it gone", stays, asked)
	}
	doubtful := tried(t, 0)
	withdraw(t, doubtful, "a")
	if stays, asked := started(t, doubtful); !stays || !slices.Equal(asked, []string{"a", "nudge a"}) {
		t.Errorf("tried: stays %v, asked %v; want it left to the launcher", stays, asked)
	}
}

// TestAWithdrawnClaimIsNotLaunchedFor: whatever became of an earlier launch,
// nothing more is launched for the claim. An instance that an earlier launch did
// bring it keeps, and it goes once it is certain that there is none.
func TestAWithdrawnClaimIsNotLaunchedFor(t *testing.T) {
	tests := map[string]struct {
		attempted bool
		set       func(s *emulated)
		after     time.Duration // when it is looked at
		want      string        // who owns what then
	}{
		"one that was never tried is left alone":        {false, func(*emulated) {}, time.Minute, "a="},
		"one that was tried stays while in doubt":       {true, func(*emulated) {}, lateFor, "a="},
		"and goes when that is over":                    {true, func(*emulated) {}, lateFor + stabilizeFor + 5*time.Second, ""},
		"one that got its machine keeps it":             {true, func(s *emulated) { s.offered("x") }, time.Minute, "a=i-000"},
		"one whose machine shows late keeps it":         {true, func(s *emulated) { s.unseen = 10 * time.Second; s.offered("x") }, time.Minute, "a=i-000"},
		"one goes although nothing could be bought now": {true, func(s *emulated) { s.closed = errors.New("no catalogue") }, 3 * time.Minute, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, s := storeWith("a"), newEmulated()
				if tt.attempted {
					markedElsewhere(t, store, "x/1")
				}
				withdraw(t, store, "a")
				tt.set(s)
				launch(t, store, s, nil, tt.after)
				if got := owners(t, store); got != tt.want || len(s.requests) > 0 {
					t.Errorf("claims have %q after %d requests; want %q after none", got, len(s.requests), tt.want)
				}
			})
		})
	}
}

// TestAClaimIsWithdrawnWhileItIsTriedAgain: launches fail for a while and
// meanwhile two of three claims are withdrawn, or all.
func TestAClaimIsWithdrawnWhileItIsTriedAgain(t *testing.T) {
	refused := func(cloud.LaunchRequest) error {
		return &cloud.RefusedError{Reason: "Unauthorized", Cause: "not allowed"}
	}
	unknown := func(cloud.LaunchRequest) error { return errors.New("no route to host") }
	tests := map[string]struct {
		fails     func(cloud.LaunchRequest) error
		withdrawn string
		offered   int
		want      string
	}{
		"none, refused":          {refused, "", 3, "a=i-000 b=i-001 c=i-002"},
		"two, refused":           {refused, "a c", 1, "b=i-000"},
		"all, refused":           {refused, "a b c", 0, ""},
		"all, nobody knows":      {unknown, "a b c", 0, ""},
		"two, until it is known": {unknown, "a c", 3, "a=i-000 b=i-001 c=i-002"}, // the same launch again is the answer to what became of it
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, s := storeWith("a", "b", "c"), newEmulated()
				s.before = tt.fails
				_, stop := opened(t, store, s, "a", "b", "c")
				time.Sleep(20 * time.Second) // virtual time
				withdraw(t, store, strings.Fields(tt.withdrawn)...)
				time.Sleep(10 * time.Second)
				s.mend()
				time.Sleep(3 * time.Minute)
				stop()
				if got := owners(t, store); got != tt.want || len(s.instances) != tt.offered {
					t.Errorf("claims have %q of %d machines, want %q of %d", got, len(s.instances), tt.want, tt.offered)
				}
			})
		})
	}
}

// TestANudgeEndsARest: a launch that was refused again and again rests for up
// to a minute. Claims that none needs any more do not wait for that.
func TestANudgeEndsARest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, s := storeWith("a", "b"), newEmulated()
		s.before = func(cloud.LaunchRequest) error {
			return &cloud.RefusedError{Reason: "Unauthorized", Cause: "not allowed"}
		}
		l, stop := opened(t, store, s, "a", "b")
		defer stop()
		time.Sleep(70 * time.Second) // virtual time: it rests from second 63 to 123
		for _, step := range []struct{ withdrawn, left string }{{"a", "a= b="}, {"b", ""}} {
			withdraw(t, store, step.withdrawn)
			l.Nudge(step.withdrawn)
			time.Sleep(2 * time.Second)
			if got := owners(t, store); got != step.left {
				t.Errorf("after %s was withdrawn there is %q, want %q", step.withdrawn, got, step.left)
			}
		}
	})
}

// TestAInstanceThatCameAllTheSameIsNoLongerWithdrawn: the mark would only
// confuse on a claim whose node is used.
func TestAInstanceThatCameAllTheSameIsNoLongerWithdrawn(t *testing.T) {
	o, c, _, _ := outcomesFor(t)
	withdraw(t, o.Store, "a")
	if err := o.Store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil {
		t.Fatal(err)
	}
	if err := o.Launched(t.Context(), c, cloud.Instance{ID: "i-1", ProviderID: "aws:///a/i-1", Kind: "m5.large", Zone: "a", Option: cluster.Spot}); err != nil {
		t.Fatal(err)
	}
	if err := o.Store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil || c.Annotations[api.AnnotationWithdrawn] != "" {
		t.Errorf("the claim says %q (%v), want no word of a withdrawal", c.Annotations[api.AnnotationWithdrawn], err)
	}
}
