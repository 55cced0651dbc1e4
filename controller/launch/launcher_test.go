package launch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// emulated is a cloud that offers spot and on-demand instances of one kind, keeps
// the promises of the port about tokens, and can be made to misbehave.
type emulated struct {
	mu               sync.Mutex
	instances        []cloud.Instance
	answers          map[string]answer // by token
	reservedCapacity map[cluster.Option]int
	before           func(cloud.LaunchRequest) error // fails before anything is offered
	after            func(cloud.LaunchRequest) error // loses the reply
	requests         []cloud.LaunchRequest
	unseen           time.Duration     // List shows an instance so long after it was offered
	closed           error             // why no request can be formed
	blind            int               // so many Lists fail
	marks            map[string]string // of the class
	room             int               // of the reservation; 0: it is none
}

type answer struct {
	count     int
	options   []cloud.OfferingChoice
	instances []cloud.Instance
	err       error
}

func newEmulated() *emulated {
	return &emulated{answers: map[string]answer{}, reservedCapacity: map[cluster.Option]int{cluster.Spot: 1000, cluster.OnDemand: 1000}}
}

func (s *emulated) Launch(_ context.Context, r cloud.LaunchRequest) ([]cloud.Instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if s.before != nil {
		if err := s.before(r); err != nil {
			return nil, err
		}
	}
	a, known := s.answers[r.Token]
	switch {
	case known && (a.count != r.Count || !slices.Equal(a.options, r.Options)):
		return nil, &cloud.TokenMismatchError{Token: r.Token}
	case !known:
		a = s.offer(r)
		s.answers[r.Token] = a
	}
	if s.after != nil {
		if err := s.after(r); err != nil {
			return nil, err
		}
	}
	return a.instances, a.err
}

func (s *emulated) offer(r cloud.LaunchRequest) answer {
	a := answer{count: r.Count, options: r.Options}
	option := r.Options[0].Option
	for range min(r.Count, s.reservedCapacity[option]) {
		s.reservedCapacity[option]--
		id := fmt.Sprintf("i-%03d", len(s.instances))
		m := cloud.Instance{ID: id, ProviderID: "aws:///a/" + id, Kind: "m5.large", Zone: "a", Option: option, State: cloud.Pending, Batch: r.Batch, LaunchedAt: time.Now()}
		s.instances = append(s.instances, m)
		a.instances = append(a.instances, m)
	}
	if len(a.instances) < r.Count {
		a.err = &cloud.NoCapacityError{Offerings: r.Options, Cause: "sold out", Answered: true}
	}
	return a
}

// offered offers an instance of a batch, as an attempt did whose answer was lost.
func (s *emulated) offered(batch string) {
	s.offer(cloud.LaunchRequest{Batch: batch, Count: 1, Options: []cloud.OfferingChoice{{Option: cluster.Spot}}})
}

func (s *emulated) List(_ context.Context, f cloud.Filter) ([]cloud.Instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blind > 0 {
		s.blind--
		return nil, errors.New("cannot list now")
	}
	return slices.DeleteFunc(slices.Clone(s.instances), func(m cloud.Instance) bool {
		return f.Batch != "" && m.Batch != f.Batch || time.Since(m.LaunchedAt) < s.unseen
	}), nil
}

func (s *emulated) Terminate(context.Context, ...string) ([]string, error)       { return nil, nil }
func (s *emulated) Prepare(context.Context, cloud.LaunchRequest) error           { return nil }
func (s *emulated) Tag(context.Context, cloud.Instance, map[string]string) error { return nil }

// For offers spot while there is some, then on-demand, then nothing.
func (s *emulated) For(context.Context, *karpv1.NodeClaim) (Request, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		return Request{}, s.closed
	}
	for _, option := range []cluster.Option{cluster.Spot, cluster.OnDemand} {
		if s.reservedCapacity[option] > 0 {
			return Request{LaunchRequest: cloud.LaunchRequest{Class: cloud.Class{ID: "c"}, Options: []cloud.OfferingChoice{{Kind: "m5.large", Zone: "a", Option: option}}}, ClassMarks: s.marks, Room: s.room}, nil
		}
	}
	return Request{}, &cloud.NoCapacityError{Cause: "nothing left"}
}

// book writes outcomes as the real one does, without what is beside the point.
type book struct {
	store client.Client
	crash func(claim string) bool // the write of this claim never happens
}

func (b book) Launched(ctx context.Context, c *karpv1.NodeClaim, m cloud.Instance) error {
	if b.crash != nil && b.crash(c.Name) {
		return errors.New("crashed")
	}
	before := c.DeepCopy()
	c.Status.ProviderID = m.ProviderID
	return b.store.Status().Patch(ctx, c, client.MergeFrom(before))
}

func (b book) NotToBeHad(ctx context.Context, c *karpv1.NodeClaim, _ error) error {
	return b.store.Delete(ctx, c)
}
func (b book) TooLate(ctx context.Context, c *karpv1.NodeClaim) error {
	return b.store.Delete(ctx, c)
}
func (b book) Withdrawn(ctx context.Context, c *karpv1.NodeClaim) error {
	return b.store.Delete(ctx, c)
}
func (b book) Failed(context.Context, *karpv1.NodeClaim, error) error { return nil }
func (b book) Short([]*karpv1.NodeClaim, error)                       {}
func (b book) Few(*karpv1.NodeClaim, []string)                        {}

var unheard = slog.New(slog.DiscardHandler)

func storeWith(claims ...string) client.Client {
	s := runtime.NewScheme()
	_ = karpv1.AddToScheme(s)
	b := fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(&karpv1.NodeClaim{})
	for _, name := range claims {
		b = b.WithObjects(&karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.Now(),
		}})
	}
	return b.Build()
}

// launch runs a launcher over the store for a while.
func launch(t *testing.T, store client.Client, s *emulated, crash func(string) bool, d time.Duration) {
	t.Helper()
	launchInDoubt(t, store, s, crash, d, nil)
}

// launchInDoubt is launch by a clock that may be wrong.
func launchInDoubt(t *testing.T, store client.Client, s *emulated, crash func(string) bool, d time.Duration, doubt func() string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := (&Launcher{
		Store: store, Live: store, Requests: s, Instances: s, Outcome: book{store, crash}, Log: unheard, Now: time.Now, Doubt: doubt, CallFor: 20 * time.Second,
	}).Open()
	var list karpv1.NodeClaimList
	if err := store.List(ctx, &list); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		l.Add(list.Items[i].Name)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = l.Run(ctx) })
	time.Sleep(d) // virtual time
	cancel()
	running.Wait()
}

// Claims that come one after another are gathered for a moment, which is reported.
func TestHowLongClaimsAreGatheredIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reported []time.Duration
		store, s := storeWith(), &emulated{}
		ctx, cancel := context.WithCancel(t.Context())
		l := (&Launcher{
			Store: store, Live: store, Requests: s, Instances: s, Outcome: book{store, nil}, Log: unheard, Now: time.Now, CallFor: 20 * time.Second,
			Gathered: func(d time.Duration) { reported = append(reported, d) },
		}).Open()
		var running sync.WaitGroup
		running.Go(func() { _ = l.Run(ctx) })
		l.Add("a")
		time.Sleep(20 * time.Millisecond) // virtual time
		l.Add("b")
		time.Sleep(time.Second)
		cancel()
		running.Wait()
		if want := 20*time.Millisecond + gatherIdle; len(reported) != 1 || reported[0] != want {
			t.Errorf("claims were gathered for %v, want once for %v", reported, want)
		}
	})
}

// owners says which instance each claim has, and fails on an instance that two
// claims have.
func owners(t *testing.T, store client.Client) string {
	t.Helper()
	var list karpv1.NodeClaimList
	if err := store.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	seen, words := map[string]string{}, []string{}
	for _, c := range list.Items {
		id := c.Status.ProviderID
		if other, taken := seen[id]; taken && id != "" {
			t.Errorf("claims %s and %s share machine %s", other, c.Name, id)
		}
		seen[id] = c.Name
		words = append(words, c.Name+"="+strings.TrimPrefix(id, "aws:///a/"))
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func TestLauncher(t *testing.T) {
	lostOnce := func() func(cloud.LaunchRequest) error {
		lost := false
		return func(cloud.LaunchRequest) error {
			if lost {
				return nil
			}
			lost = true
			return errors.New("connection reset")
		}
	}
	tests := map[string]struct {
		set       func(s *emulated)
		want      string
		offered   int // instances in all
		launching int // requests in all
	}{
		"equal claims are bought together":                  {func(*emulated) {}, "a=i-000 b=i-001 c=i-002", 3, 1},
		"a request that never arrived is sent again":        {func(s *emulated) { s.before = lostOnce() }, "a=i-000 b=i-001 c=i-002", 3, 2},
		"a lost reply is repaired without buying twice":     {func(s *emulated) { s.after = lostOnce() }, "a=i-000 b=i-001 c=i-002", 3, 1},
		"what spot is short of is bought on demand at once": {func(s *emulated) { s.reservedCapacity[cluster.Spot] = 2 }, "a=i-000 b=i-001 c=i-002", 3, 2},
		"claims that nothing can be bought for go":          {func(s *emulated) { s.reservedCapacity[cluster.Spot], s.reservedCapacity[cluster.OnDemand] = 1, 1 }, "a=i-000 b=i-001", 2, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, s := storeWith("a", "b", "c"), newEmulated()
				tt.set(s)
				launch(t, store, s, nil, time.Minute)
				if got := owners(t, store); got != tt.want {
					t.Errorf("claims have %s; want %s", got, tt.want)
				}
				if len(s.instances) != tt.offered || len(s.requests) != tt.launching {
					t.Errorf("%d machines sold in %d requests; want %d in %d", len(s.instances), len(s.requests), tt.offered, tt.launching)
				}
			})
		})
	}
}

// Claims that say the same have one request, formed once; others have their own.
func TestClaimsThatSayTheSameShareARequest(t *testing.T) {
	taint := corev1.Taint{Key: "k", Effect: corev1.TaintEffectNoSchedule}
	tests := map[string]struct {
		other func(c *karpv1.NodeClaim)
		want  int32
	}{
		"alike":                {func(*karpv1.NodeClaim) {}, 1},
		"another name and UID": {func(c *karpv1.NodeClaim) { c.Name, c.UID = "z", "z" }, 1},
		"with a taint":         {func(c *karpv1.NodeClaim) { c.Spec.Taints = []corev1.Taint{taint} }, 2},
		"for another zone": {func(c *karpv1.NodeClaim) {
			c.Spec.Requirements = []karpv1.Requirement{{Key: api.LabelZone, Operator: "In", Values: []string{"z"}}}
		}, 2},
		"of another pool":         {func(c *karpv1.NodeClaim) { c.Labels = map[string]string{api.LabelNodePool: "other"} }, 2},
		"made with minValues cut": {func(c *karpv1.NodeClaim) { c.Annotations = map[string]string{api.AnnotationMinValuesRelaxed: "true"} }, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			asked := &tally{}
			claims := make([]*karpv1.NodeClaim, 4)
			for i := range claims {
				claims[i] = &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i)}}
			}
			tt.other(claims[2])
			got := batcher{requests: asked}.form(t.Context(), claims)
			if n := asked.times.Load(); n != tt.want {
				t.Errorf("%d requests were formed, want %d", n, tt.want)
			}
			for i, f := range got {
				if want := fmt.Sprint(claims[i].Spec, claims[i].Labels, claims[i].Annotations); f.request.Class.ID != want {
					t.Errorf("claim %d has the request of %s; want %s", i, f.request.Class.ID, want)
				}
			}
		})
	}
}

// tally counts the requests it forms, and names their classes after what their claims say.
type tally struct{ times atomic.Int32 }

func (y *tally) For(_ context.Context, c *karpv1.NodeClaim) (Request, error) {
	y.times.Add(1)
	return Request{LaunchRequest: cloud.LaunchRequest{Class: cloud.Class{ID: fmt.Sprint(c.Spec, c.Labels, c.Annotations)}}}, nil
}

// TestOnDemandIsLaunchedInTheSameBreath: no time passes between the answer that
// spot is short and the request for the rest on demand.
func TestOnDemandIsLaunchedInTheSameBreath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, s := storeWith("a", "b", "c"), newEmulated()
		s.reservedCapacity[cluster.Spot] = 1
		var asked []time.Time
		s.before = func(cloud.LaunchRequest) error {
			asked = append(asked, time.Now())
			return nil
		}
		launch(t, store, s, nil, time.Minute)
		if len(asked) != 2 || !asked[1].Equal(asked[0]) {
			t.Errorf("asked at %v; want two requests at one moment", asked)
		}
		for _, m := range s.instances[1:] {
			if m.Option != cluster.OnDemand {
				t.Errorf("%s is %s; want the rest on demand", m.ID, m.Option)
			}
		}
	})
}

// TestLauncherSurvivesCrashes kills the launcher after it has written any
// prefix of the batch's instances and starts another: every claim gets a
// instance, and none is launched twice.
func TestLauncherSurvivesCrashes(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	for written := range len(names) + 1 {
		t.Run(fmt.Sprintf("after %d of %d machines were written", written, len(names)), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, s := storeWith(names...), newEmulated()
				launch(t, store, s, func(claim string) bool { return slices.Index(names, claim) >= written }, 500*time.Millisecond)
				launch(t, store, s, nil, time.Minute)
				if got, want := owners(t, store), "a=i-000 b=i-001 c=i-002 d=i-003"; got != want {
					t.Errorf("claims have %s; want %s", got, want)
				}
				if len(s.instances) != len(names) {
					t.Errorf("%d machines were bought for %d claims", len(s.instances), len(names))
				}
			})
		})
	}
}

// TestLauncherCrashBeforeTheCall kills the launcher between the mark on the
// claims and the launch.
func TestLauncherCrashBeforeTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, s := storeWith("a", "b"), newEmulated()
		s.before = func(cloud.LaunchRequest) error { return errors.New("no route to host") }
		launch(t, store, s, nil, 500*time.Millisecond)
		s.before = nil
		launch(t, store, s, nil, time.Minute)
		if got, want := owners(t, store), "a=i-000 b=i-001"; got != want {
			t.Errorf("claims have %s; want %s", got, want)
		}
	})
}

// TestChangedParametersMeanANewAttempt: the earlier launch arrived under
// other parameters, so its instances are found by their tag, and only what is
// missing is launched again.
func TestChangedParametersMeanANewAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, s := storeWith("a", "b", "c"), newEmulated()
		s.reservedCapacity[cluster.Spot] = 2 // the launch of three brings two, and its reply is lost
		s.after = func(cloud.LaunchRequest) error { return errors.New("connection reset") }
		launch(t, store, s, func(string) bool { return true }, 500*time.Millisecond)
		s.after = nil
		launch(t, store, s, nil, 2*time.Minute)
		if got, want := owners(t, store), "a=i-000 b=i-001 c=i-002"; got != want {
			t.Errorf("claims have %s; want %s", got, want)
		}
		c := &karpv1.NodeClaim{}
		if err := store.Get(t.Context(), client.ObjectKey{Name: "c"}, c); err != nil {
			t.Fatal(err)
		}
		if a, _ := attemptOf(c); a.n != 2 {
			t.Errorf("claim c got its machine with attempt %d (%s), want the second", a.n, c.Annotations[api.AnnotationLaunchAttempt])
		}
	})
}

// A claim that takes over an instance has none launched, whatever asks for it.
func TestNothingIsLaunchedForAClaimThatAdopts(t *testing.T) {
	adopts, refused, usual := &karpv1.NodeClaim{}, &karpv1.NodeClaim{}, &karpv1.NodeClaim{}
	adopts.Annotations = map[string]string{api.AnnotationAdopt: "aws:///a/i-1", api.AnnotationLaunchAttempt: "batch/1"}
	condition.SetUnknown(refused, karpv1.ClaimLaunched, karpv1.ReasonNotAdopted, "the machine is stopped", time.Now())
	if maybeLaunched(adopts) || needsInstance(refused) || !needsInstance(usual) {
		t.Errorf("bought for one that adopts: %v, for one that could not: %v, for another: %v", maybeLaunched(adopts), needsInstance(refused), needsInstance(usual))
	}
}
