package launch

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// tried holds claim a, made so long ago, with the mark of an attempt whose
// outcome none noted.
func tried(t *testing.T, age time.Duration) client.Client {
	t.Helper()
	store := storeWith()
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: "a", UID: "uid-a", CreationTimestamp: metav1.NewTime(time.Now().Add(-age)), Finalizers: []string{api.FinalizerTermination},
		Annotations: map[string]string{api.AnnotationLaunchAttempt: "x/1"},
	}}
	if err := store.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return store
}

func starter(store client.Client, launcher adder) *Starter {
	return &Starter{
		Store: store, Launcher: launcher, Events: &heard{}, Log: unheard, Now: time.Now,
		Metrics: observe.NewMetrics(prometheus.NewRegistry(), "", "", "", ""),
	}
}

func claimA(t *testing.T, store client.Client) *karpv1.NodeClaim {
	t.Helper()
	c := &karpv1.NodeClaim{}
	if err := store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// kept reports whether claim a is there and stays.
func kept(t *testing.T, store client.Client) bool {
	t.Helper()
	c := &karpv1.NodeClaim{}
	return store.Get(t.Context(), client.ObjectKey{Name: "a"}, c) == nil && c.DeletionTimestamp == nil
}

// TestAClaimThatWasTriedIsTheLaunchersToGiveUp: the controller was away for
// longer than a claim may wait. The loop over claims alone cannot know whether
// an instance came of the attempt that the claim carries.
func TestAClaimThatWasTriedIsTheLaunchersToGiveUp(t *testing.T) {
	store, ears := tried(t, time.Hour), &asked{}
	again, err := starter(store, ears).Launch(t.Context(), claimA(t, store))
	if err != nil || again != askAgain {
		t.Errorf("Launch = %v, %v; want a look after %v", again, err, askAgain)
	}
	if !kept(t, store) || len(*ears) != 1 {
		t.Errorf("claim kept: %v, launcher asked for %v; want both", kept(t, store), *ears)
	}
}

// TestNoClaimIsGivenUpInDoubt: whatever the reason to give a claim up, first
// the instance of its last attempt is looked for, for as long as it may take to
// become visible.
func TestNoClaimIsGivenUpInDoubt(t *testing.T) {
	notReady := &translate.NotReadyError{ClassID: "EC2NodeClass/c", Why: "just edited"}
	tests := map[string]struct {
		age     time.Duration
		closed  error
		offered bool
		unseen  time.Duration
		want    string
	}{
		"a late claim gets the machine that is there":                  {time.Hour, nil, true, 0, "a=i-000"},
		"a late claim gets the machine that shows later":               {time.Hour, nil, true, 3 * time.Second, "a=i-000"},
		"a claim whose class is not ready gets the machine that shows": {0, notReady, true, 3 * time.Second, "a=i-000"},
		"a claim for which all is sold out gets the machine":           {0, &cloud.NoCapacityError{Cause: "all gone"}, true, 14 * time.Second, "a=i-000"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, s := tried(t, tt.age), newEmulated()
				s.unseen, s.closed = tt.unseen, tt.closed
				s.offered("x")
				launch(t, store, s, nil, time.Minute)
				if got := owners(t, store); got != tt.want || !kept(t, store) {
					t.Errorf("claims have %q, kept: %v; want %q", got, kept(t, store), tt.want)
				}
				if len(s.requests) > 0 {
					t.Errorf("asked for more: %+v", s.requests)
				}
			})
		})
	}
}

// TestClaimsWithoutInstanceAreGivenUpOnceThatIsCertain is the other half: the
// doubt ends.
func TestClaimsWithoutInstanceAreGivenUpOnceThatIsCertain(t *testing.T) {
	tests := map[string]struct {
		age    time.Duration
		closed error
	}{
		"a late claim":                      {time.Hour, nil},
		"a claim whose class is not ready":  {0, &translate.NotReadyError{ClassID: "EC2NodeClass/c", Why: "just edited"}},
		"a claim for which nothing is left": {0, &cloud.NoCapacityError{Cause: "all gone"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, s := tried(t, tt.age), newEmulated()
				s.closed = tt.closed
				launch(t, store, s, nil, lateFor)
				if !kept(t, store) {
					t.Errorf("given up within %v of the attempt", lateFor)
				}
				launch(t, store, s, nil, lateFor+stabilizeFor+5*time.Second)
				if kept(t, store) || len(s.requests) > 0 {
					t.Errorf("still kept, or bought for: %+v", s.requests)
				}
			})
		})
	}
}

// TestAClaimWaitsForAClassThatIsBeingLookedAt: both may have been applied together. The
// claim stays, says why it waits, and is launched for once the class is ready; it goes
// only where it is known that the class cannot be used.
func TestAClaimWaitsForAClassThatIsBeingLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, s := storeWith("a"), newEmulated()
		s.closed = &translate.NotReadyError{ClassID: "EC2NodeClass/c", Why: "it was not reconciled yet", Passes: true}
		launch(t, store, s, nil, time.Minute)
		if !kept(t, store) || len(s.requests) > 0 {
			t.Fatalf("claim kept: %v, asked for %+v; want it kept without a launch", kept(t, store), s.requests)
		}
		s.closed = nil
		launch(t, store, s, nil, time.Minute)
		if got := owners(t, store); got != "a=i-000" {
			t.Errorf("claims have %q, want the instance", got)
		}
	})
}

// TestALateClaimIsGivenUpInTime: the pause between tries has grown to a minute
// by then.
func TestALateClaimIsGivenUpInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, s := storeWith("a"), newEmulated()
		s.before = func(cloud.LaunchRequest) error {
			return &cloud.RefusedError{Reason: "Unauthorized", Cause: "no rights"}
		}
		launch(t, store, s, nil, launchFor+2*time.Second)
		if kept(t, store) {
			t.Errorf("the claim is still there after %v", launchFor+2*time.Second)
		}
	})
}

// None knows how late a claim is by a clock that may be wrong.
func TestALateClaimIsNotGivenUpByAClockInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, s := storeWith("a"), newEmulated()
		s.before = func(cloud.LaunchRequest) error {
			return &cloud.RefusedError{Reason: "Unauthorized", Cause: "no rights"}
		}
		launchInDoubt(t, store, s, nil, time.Hour, func() string { return "the clock is an hour ahead" })
		if !kept(t, store) {
			t.Error("the claim was given up")
		}
	})
}

// TestALateClaimWhoseInstanceCannotBeWrittenGoes: the instance is there, but
// nothing can be said of it, as where the catalogue lost its type. The claim
// makes room for another; the instance is terminated as one without a claim.
func TestALateClaimWhoseInstanceCannotBeWrittenGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, s := storeWith("a"), newEmulated()
		launch(t, store, s, func(string) bool { return true }, launchFor-time.Second)
		if !kept(t, store) {
			t.Error("given up before its time")
		}
		launch(t, store, s, func(string) bool { return true }, 3*time.Minute)
		if kept(t, store) || len(s.instances) != 1 {
			t.Errorf("claim kept: %v, with %d machines bought; want it to go, and one machine", kept(t, store), len(s.instances))
		}
	})
}

// TestNoOtherAttemptIsMadeInDoubt: the answer to the first attempt is lost, its
// instance does not show yet, and the repeat is turned down before the cloud
// sees the token. Another attempt now would launch a second instance.
func TestNoOtherAttemptIsMadeInDoubt(t *testing.T) {
	tests := map[string]struct {
		second error
		blind  int
	}{
		"the right to buy was withdrawn":               {&cloud.RefusedError{Reason: "Unauthorized", Cause: "no rights"}, 0},
		"no subnet is left":                            {&cloud.NoCapacityError{Cause: "no subnet"}, 0},
		"and the machines could not be looked for now": {&cloud.NoCapacityError{Cause: "no subnet"}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, s := storeWith("a"), newEmulated()
				s.unseen, s.blind = 10*time.Second, tt.blind
				s.after = func(cloud.LaunchRequest) error { return errors.New("connection reset") }
				s.before = func(cloud.LaunchRequest) error {
					if len(s.requests) == 2 {
						return tt.second
					}
					return nil
				}
				launch(t, store, s, nil, 2*time.Minute)
				if got := owners(t, store); got != "a=i-000" || len(s.instances) != 1 {
					t.Errorf("claims have %s, of %d machines; want the one that was bought first", got, len(s.instances))
				}
			})
		})
	}
}

// TestAnAnswerEndsTheDoubt: the first request was throttled or lost on its way,
// there or back. The same request again is answered with a shortage, which is
// the answer to all of them, so the next choice is launched at once.
func TestAnAnswerEndsTheDoubt(t *testing.T) {
	lost := errors.New("connection reset")
	tests := map[string]struct {
		before, after    error // of the first request
		reservedCapacity int
		want             string
	}{
		"throttled, and spot is sold out":                {&cloud.ThrottledError{Call: "CreateFleet"}, nil, 0, "a=i-000 b=i-001"},
		"throttled, and spot has one left":               {&cloud.ThrottledError{Call: "CreateFleet"}, nil, 1, "a=i-000 b=i-001"},
		"lost on the way there, and spot has one left":   {lost, nil, 1, "a=i-000 b=i-001"},
		"lost on the way back, and spot had one left":    {nil, lost, 1, "a=i-000 b=i-001"},
		"lost on the way back, and spot was sold out":    {nil, lost, 0, "a=i-000 b=i-001"},
		"lost on the way back, and there was no trouble": {nil, lost, 2, "a=i-000 b=i-001"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, s := storeWith("a", "b"), newEmulated()
				s.reservedCapacity[cluster.Spot], s.unseen = tt.reservedCapacity, 10*time.Second
				first := func(err error) func(cloud.LaunchRequest) error {
					return func(cloud.LaunchRequest) error {
						if len(s.requests) == 1 {
							return err
						}
						return nil
					}
				}
				s.before, s.after = first(tt.before), first(tt.after)
				launch(t, store, s, nil, 4*time.Second)
				if got := owners(t, store); got != tt.want || len(s.instances) != 2 {
					t.Errorf("after 4 s claims have %q of %d machines, want %q", got, len(s.instances), tt.want)
				}
				launch(t, store, s, nil, time.Minute)
				if got := owners(t, store); got != tt.want || len(s.instances) != 2 {
					t.Errorf("later claims have %q of %d machines, want the same", got, len(s.instances))
				}
			})
		})
	}
}

// slowBook takes its time to write obstacles on claim a.
type slowBook struct{ book }

func (b slowBook) Failed(ctx context.Context, c *karpv1.NodeClaim, _ error) error {
	if c.Name == "a" {
		_ = pause.For(ctx, 12*time.Second)
	}
	return nil
}

// picky cannot form a request for claims that are labelled wrong.
type picky struct{ *emulated }

func (p picky) For(ctx context.Context, c *karpv1.NodeClaim) (Request, error) {
	if c.Labels["wrong"] != "" {
		return Request{}, errors.New("spec is wrong")
	}
	return p.emulated.For(ctx, c)
}

func TestAClaimThatFailsHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, s := storeWith("a", "b"), newEmulated()
		if err := store.Patch(t.Context(), &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
			client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"wrong":"true"}}}`))); err != nil {
			t.Fatal(err)
		}
		l := (&Launcher{
			Store: store, Live: store, Requests: picky{s}, Instances: s, Outcome: slowBook{book{store: store}},
			Log: slog.New(slog.DiscardHandler), Now: time.Now, CallFor: time.Second,
		}).Open()
		l.Add("a")
		l.Add("b")
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = l.Run(ctx) })
		time.Sleep(2 * time.Second) // virtual time
		if got := owners(t, store); got != "a= b=i-000" {
			t.Errorf("claims have %q after two seconds; want b to have its machine", got)
		}
		cancel()
		running.Wait()
	})
}

// TestAPassingErrorAfterAShortageKeepsTheBatch: spot was short, and what else
// there is cannot be known for a moment.
func TestAPassingErrorAfterAShortageKeepsTheBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, s := storeWith("a", "b"), newEmulated()
		s.reservedCapacity[cluster.Spot] = 1
		s.before = func(cloud.LaunchRequest) error {
			if len(s.requests) == 1 {
				s.closed = errors.New("the catalogue is being read")
				time.AfterFunc(3*time.Second, func() { s.mu.Lock(); defer s.mu.Unlock(); s.closed = nil })
			}
			return nil
		}
		launch(t, store, s, nil, time.Minute)
		if got := owners(t, store); got != "a=i-000 b=i-001" {
			t.Errorf("claims have %q; want a machine each", got)
		}
		if len(s.requests) != 2 || s.requests[1].Options[0].Option != cluster.OnDemand {
			t.Errorf("bought with %+v; want spot, then on demand", s.requests)
		}
	})
}
