package garbagecollection

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
	"github.com/daemok/daemok/test/store"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// yard is a cloud that lists what it is set to and records what is terminated.
type yard struct {
	cloud.Instances // no more of it than List and Terminate is supported

	mu     sync.Mutex // guards what follows
	list   []cloud.Instance
	err    error
	stuck  string          // an instance that cannot be terminated
	meets  *sync.WaitGroup // of the calls that must be under way at once; nil: none
	listed func()
	back   []string
}

func (y *yard) List(context.Context, cloud.Filter) ([]cloud.Instance, error) {
	if y.listed != nil {
		y.listed()
	}
	return y.list, y.err
}

func (y *yard) Terminate(_ context.Context, ids ...string) ([]string, error) {
	if y.meets != nil {
		y.meets.Done()
		y.meets.Wait() // for the others
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if slices.Contains(ids, y.stuck) {
		return nil, errors.New("throttled")
	}
	y.back = append(y.back, ids...)
	return nil, nil
}

// place is a cluster and a cloud that may not agree, with their collector.
type place struct {
	t    *testing.T
	hand *store.Connection
	yard *yard
	now  time.Time
	c    *Collector
	api  error // what reading claims brings

	heard heard

	metrics *prometheus.Registry
}

func newPlace(t *testing.T) *place {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	p := &place{t: t, yard: &yard{}, now: start, metrics: prometheus.NewRegistry()}
	server := store.New(s, func() time.Time { return p.now })
	p.hand = server.Connect(nil)
	live := server.Connect(func(c store.Call) (before, after error) {
		if c.Kind == "NodeClaimList" {
			return p.api, nil
		}
		return nil, nil
	})
	p.c = &Collector{
		Events: &p.heard, Namespace: "kube-system", Store: p.hand, Live: live, Instances: p.yard, Log: slog.New(slog.DiscardHandler),
		Metrics: observe.NewMetrics(p.metrics, "", "", "", ""), Now: func() time.Time { return p.now },
	}
	return p
}

func (p *place) create(o client.Object) {
	p.t.Helper()
	if err := p.hand.Create(p.t.Context(), o); err != nil {
		p.t.Fatal(err)
	}
}

// instance runs at the cloud, launched so long ago.
func (p *place) instance(id string, ago time.Duration, change ...func(*cloud.Instance)) {
	m := cloud.Instance{ID: id, ProviderID: "aws:///a/" + id, State: cloud.Running, LaunchedAt: p.now.Add(-ago)}
	for _, c := range change {
		c(&m)
	}
	p.yard.list = append(p.yard.list, m)
}

// claim is in the cluster, with the instance of that ID; "" is none yet.
func (p *place) claim(name, id string, change ...func(*karpv1.NodeClaim)) {
	p.t.Helper()
	c := &karpv1.NodeClaim{Spec: store.ClaimSpec(),
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{api.LabelNodePool: "default"}}}
	if id != "" {
		c.Status.ProviderID = "aws:///a/" + id
	}
	for _, change := range change {
		change(c)
	}
	p.create(c)
}

func (p *place) node(name, id string, ready corev1.ConditionStatus) {
	p.t.Helper()
	p.create(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{ProviderID: "aws:///a/" + id},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}},
	})
}

// left lists what the cluster still has, and what was terminated.
func (p *place) left() string {
	p.t.Helper()
	var claims karpv1.NodeClaimList
	var nodes corev1.NodeList
	for _, l := range []client.ObjectList{&claims, &nodes} {
		if err := p.hand.List(p.t.Context(), l); err != nil {
			p.t.Fatal(err)
		}
	}
	var words []string
	for _, c := range claims.Items {
		words = append(words, c.Name)
	}
	for _, n := range nodes.Items {
		if n.DeletionTimestamp != nil {
			n.Name += " drains"
		}
		words = append(words, n.Name)
	}
	slices.Sort(p.yard.back)
	for _, id := range p.yard.back {
		words = append(words, "-"+id)
	}
	return strings.Join(words, " ")
}

func launched(ago time.Duration) func(*karpv1.NodeClaim) {
	return func(c *karpv1.NodeClaim) { condition.SetTrue(c, karpv1.ClaimLaunched, start.Add(-ago)) }
}

func registered(c *karpv1.NodeClaim) { condition.SetTrue(c, karpv1.ClaimRegistered, start) }

func ofBatch(c *karpv1.NodeClaim) {
	c.Annotations = map[string]string{api.AnnotationLaunchAttempt: "batch/1"}
}

// ending is a claim that is being deleted and has not gone yet.
func (p *place) ending(name string) {
	p.t.Helper()
	c := &karpv1.NodeClaim{}
	if err := p.hand.Get(p.t.Context(), client.ObjectKey{Name: name}, c); err != nil {
		p.t.Fatal(err)
	}
	if err := p.hand.Delete(p.t.Context(), c); err != nil {
		p.t.Fatal(err)
	}
}

func held(c *karpv1.NodeClaim) { c.Finalizers = []string{api.FinalizerTermination} }

// oneRound is what the collector finds, and what it leaves and terminates.
type oneRound struct {
	given func(p *place)
	want  string // in the words of place.left
}

// checkTwice is check after two rounds.
func (r oneRound) checkTwice(t *testing.T) {
	p := newPlace(t)
	r.given(p)
	p.look()
	p.look()
	if got := p.left(); got != r.want {
		t.Errorf("left and given back: %q, want %q", got, r.want)
	}
}

// look has the collector check once, and returns when it checks again.
func (p *place) look() time.Duration {
	p.t.Helper()
	after, err := p.c.Round(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return after
}

func (r oneRound) check(t *testing.T) {
	p := newPlace(t)
	r.given(p)
	if _, err := p.c.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := p.left(); got != r.want {
		t.Errorf("left and given back: %q, want %q", got, r.want)
	}
}

// Before an instance that is taken over has its tags the cloud does not list it.
func TestAClaimKeepsAInstanceThatIsNotTaggedYet(t *testing.T) {
	adopted := func(tagged string) func(*karpv1.NodeClaim) {
		return func(c *karpv1.NodeClaim) {
			c.Annotations = map[string]string{api.AnnotationAdopt: "aws:///a/i-1", api.AnnotationInstanceTagged: tagged}
		}
	}
	for tagged, want := range map[string]string{"": "c-1", "true": ""} {
		oneRound{func(p *place) { p.claim("c-1", "i-1", registered, adopted(tagged)) }, want}.checkTwice(t)
	}
}

func TestOrphanInstances(t *testing.T) {
	launched := func(m *cloud.Instance) { m.Batch = "batch" }
	tests := map[string]oneRound{
		"a machine that no claim has is given back": {func(p *place) {
			p.instance("i-1", time.Hour)
		}, "-i-1"},
		"its node is drained first": {func(p *place) {
			p.instance("i-1", time.Hour)
			p.node("n-1", "i-1", corev1.ConditionTrue)
			p.node("n-2", "i-2", corev1.ConditionTrue)
		}, "n-1 drains n-2"},
		"one whose kubelet is silent for a moment is too": {func(p *place) {
			p.instance("i-1", time.Hour)
			p.node("n-1", "i-1", corev1.ConditionUnknown)
			p.now = p.now.Add(silentFor - time.Second)
		}, "n-1 drains"},
		"one whose kubelet has long been silent goes with it": {func(p *place) {
			p.instance("i-1", time.Hour)
			p.node("n-1", "i-1", corev1.ConditionUnknown)
			p.now = p.now.Add(silentFor)
		}, "-i-1"},
		"a machine that a claim has stays": {func(p *place) {
			p.instance("i-1", time.Hour)
			p.claim("c-1", "i-1")
		}, "c-1"},
		"one that a claim is to take over stays": {func(p *place) {
			p.instance("i-1", time.Hour)
			p.claim("c-1", "",
				func(c *karpv1.NodeClaim) { c.Annotations = map[string]string{api.AnnotationAdopt: "aws:///a/i-1"} })
		}, "c-1"},
		"one whose claim is on its way out is left to it": {func(p *place) {
			p.instance("i-1", time.Hour)
			p.claim("c-1", "i-1", held)
			p.ending("c-1")
		}, "c-1"},
		"a young machine is left alone": {func(p *place) {
			p.instance("i-1", youngFor-time.Second)
		}, ""},
		"one that is just old enough is not": {func(p *place) {
			p.instance("i-1", youngFor)
		}, "-i-1"},
		"a machine whose purchase a claim still waits for stays": {func(p *place) {
			p.instance("i-1", time.Hour, launched)
			p.claim("c-1", "", ofBatch)
		}, "c-1"},
		"one of a purchase that was given up does not": {func(p *place) {
			p.instance("i-1", time.Hour, launched)
			p.claim("c-1", "", ofBatch, held)
			p.ending("c-1")
		}, "c-1 -i-1"},
		"nor one of a purchase whose claims all have theirs": {func(p *place) {
			p.instance("i-1", time.Hour, launched)
			p.instance("i-2", time.Hour, launched)
			p.claim("c-1", "i-2", ofBatch)
		}, "c-1 -i-1"},
		"a machine of no purchase is not taken for one awaited": {func(p *place) {
			p.instance("i-1", time.Hour)
			p.claim("c-1", "")
		}, "c-1 -i-1"},
		"one that is shutting down already is not asked again": {func(p *place) {
			p.instance("i-1", time.Hour, func(m *cloud.Instance) { m.State = cloud.ShuttingDown })
		}, ""},
	}
	for name, tt := range tests {
		t.Run(name, tt.check)
	}
}

func inZone(id string) func(*karpv1.NodeClaim) {
	return func(c *karpv1.NodeClaim) { c.Labels = map[string]string{api.LabelZoneID: id} }
}

func TestOrphanClaims(t *testing.T) {
	tests := map[string]oneRound{
		"a claim goes whose machine has vanished and whose node has too": {func(p *place) {
			p.claim("c-1", "i-1", registered)
		}, ""},
		"SC-250 or whose node is silent": {func(p *place) {
			p.claim("c-1", "i-1", registered)
			p.node("n-1", "i-1", corev1.ConditionUnknown)
		}, "n-1"},
		"SC-251 a node that is ready proves that the machine is there": {func(p *place) {
			p.claim("c-1", "i-1", registered)
			p.node("n-1", "i-1", corev1.ConditionTrue)
		}, "c-1 n-1"},
		"a machine that is shutting down is as good as gone": {func(p *place) {
			p.claim("c-1", "i-1", registered)
			p.instance("i-1", time.Hour, func(m *cloud.Instance) { m.State = cloud.ShuttingDown })
		}, ""},
		"a machine just bought may not be listed yet": {func(p *place) {
			p.claim("c-1", "i-1", launched(visibleAfter-time.Second))
		}, "c-1"},
		"one that ought to be listed was taken back while it booted": {func(p *place) {
			p.claim("c-1", "i-1", launched(visibleAfter))
		}, ""},
		"one may be there where work is shifted away from": {func(p *place) {
			p.c.Shifted = func(zoneID string) bool { return zoneID == "use1-az1" }
			p.claim("c-1", "i-1", registered, inZone("use1-az1"))
			p.claim("c-2", "i-2", registered, inZone("use1-az2"))
		}, "c-1"},
		"a claim that nobody has bought for waits": {func(p *place) {
			p.claim("c-1", "")
		}, "c-1"},
		"a claim on its way out goes its own way": {func(p *place) {
			p.claim("c-1", "i-1", registered, held)
			p.ending("c-1")
		}, "c-1"},
	}
	for name, tt := range tests {
		t.Run(name, tt.checkTwice)
	}
}

// A cloud's list may be behind: a claim goes only when the next check does not find its
// instance either, and that comes soon. One that was found in between begins again.
func TestAClaimStaysWhenOneLookDoesNotFindItsInstance(t *testing.T) {
	p := newPlace(t)
	p.c.began = p.now.Add(-newFor)
	p.claim("c-1", "i-1", registered)
	p.instance("i-1", time.Hour)
	all := p.yard.list
	for _, step := range []struct {
		list  []cloud.Instance
		left  string
		after time.Duration
	}{{nil, "c-1", EveryNew}, {all, "c-1", EveryUsed}, {nil, "c-1", EveryNew}, {nil, "", EveryUsed}} {
		p.yard.list = step.list
		if after := p.look(); p.left() != step.left || after != step.after {
			t.Fatalf("with machines %v listed: %q is left and the next look comes after %v, want %q and %v",
				step.list, p.left(), after, step.left, step.after)
		}
	}
}

func TestACollectedClaimIsCounted(t *testing.T) {
	for mode, change := range map[string]func(*karpv1.NodeClaim){
		"graceful": func(*karpv1.NodeClaim) {},
		"eventual": func(c *karpv1.NodeClaim) { c.Spec.TerminationGracePeriod = "1h" },
	} {
		t.Run(mode, func(t *testing.T) { countsOnce(t, mode, change) })
	}
}

func countsOnce(t *testing.T, mode string, change func(*karpv1.NodeClaim)) {
	t.Helper()
	p := newPlace(t)
	p.claim("c-1", "i-1", registered, held, change)
	for range 3 { // it is still there at the third check, on its way out
		if _, err := p.c.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	families, err := p.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := 0.0
	for _, f := range families {
		if f.GetName() == "karpenter_nodeclaims_disrupted_total" {
			counted += f.GetMetric()[0].GetCounter().GetValue()
			if labels := fmt.Sprint(f.GetMetric()[0].GetLabel()); !strings.Contains(labels, mode) {
				t.Errorf("counted with %s, want the termination mode %s", labels, mode)
			}
		}
	}
	if counted != 1 {
		t.Errorf("counted %v times, want once", counted)
	}
}

// TestAClaimWrittenMeanwhileIsNoOrphan: the claims are read before the instances, so one
// that gets its instance in between is in neither list, for the check by the cache and to
// the one by the API server, which an orphan brings about.
func TestAClaimWrittenMeanwhileIsNoOrphan(t *testing.T) {
	for look := range 2 {
		t.Run(fmt.Sprint("look ", look+1), func(t *testing.T) {
			p := newPlace(t)
			p.instance("i-0", time.Hour)
			p.atCheck(look, func() {
				p.claim("c-1", "i-1", registered)
				p.node("n-1", "i-1", corev1.ConditionFalse)
			})
			if _, err := p.c.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := p.left(); got != "c-1 n-1 -i-0" {
				t.Errorf("left: %q, want the new claim and its node", got)
			}
		})
	}
}

// atCheck does something while the cloud is asked, in the check of that number.
func (p *place) atCheck(look int, do func()) {
	n := 0
	p.yard.listed = func() {
		if n == look {
			do()
		}
		n++
	}
}

// As long as nothing has lost its other half the cache is enough, and the API server is not asked for thousands of claims.
func TestAQuietLookAsksTheAPIServerForNothing(t *testing.T) {
	p := newPlace(t)
	p.instance("i-1", time.Hour)
	p.claim("c-1", "i-1", registered)
	p.node("n-1", "i-1", corev1.ConditionTrue)
	p.api = errors.New("the API server was asked")
	p.look()
	if got := p.left(); got != "c-1 n-1" {
		t.Errorf("left and given back: %q, want all as it was", got)
	}
}

// A cache that is behind brings a second check about, and no more.
func TestACacheThatIsBehindEndsNothing(t *testing.T) {
	p := newPlace(t)
	p.instance("i-1", time.Hour)
	p.claim("c-1", "i-1", registered)
	p.c.Store = behind{p.hand}
	p.look()
	if got := p.left(); got != "c-1" {
		t.Errorf("left and given back: %q, want all as it was", got)
	}
}

// behind is a cache that has not seen any claim.
type behind struct{ client.Client }

func (b behind) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	if _, claims := list.(*karpv1.NodeClaimList); claims {
		return nil
	}
	return b.Client.List(ctx, list, o...)
}

// TestNothingIsCollectedBlindly: a side that cannot be read is not an empty one.
func TestNothingIsCollectedBlindly(t *testing.T) {
	tests := map[string]func(p *place){
		"when the claims cannot be read":     func(p *place) { p.api = errors.New("connection refused") },
		"when the machines cannot be listed": func(p *place) { p.yard.list, p.yard.err = nil, errors.New("throttled") },
	}
	for name, trouble := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.instance("i-1", time.Hour)
			p.claim("c-2", "i-2", registered)
			trouble(p)
			after, err := p.c.Round(t.Context())
			if err == nil || after != EveryNew {
				t.Errorf("the round ended with %v and comes again after %v, want an error and a look soon", err, after)
			}
			if got := p.left(); got != "c-2" {
				t.Errorf("left and given back: %q, want all as it was", got)
			}
		})
	}
}

// What the cache has of a claim is not enough to delete it. Once the API server answers one check is: the instance
// is listed, and terminating.
func TestAClaimIsDeletedByWhatTheAPIServerHas(t *testing.T) {
	p := newPlace(t)
	p.claim("c-1", "i-1", registered)
	p.instance("i-1", time.Hour, func(m *cloud.Instance) { m.State = cloud.ShuttingDown })
	p.api = errors.New("connection refused")
	if _, err := p.c.Round(t.Context()); !errors.Is(err, p.api) || p.left() != "c-1" {
		t.Errorf("the round ended with %v and left %q, want the claim while the API server does not answer", err,
			p.left())
	}
	p.api = nil
	if p.look(); p.left() != "" {
		t.Errorf("left: %q, want nothing", p.left())
	}
}

// By a clock that is in doubt every instance is old, and every claim had its time.
func TestNothingIsCollectedByAClockInDoubt(t *testing.T) {
	p := newPlace(t)
	p.instance("i-1", time.Hour)
	p.claim("c-2", "i-2", registered)
	doubt := "the clock is two hours ahead"
	p.c.Doubt = func() string { return doubt }
	p.look()
	if p.look(); p.left() != "c-2" {
		t.Errorf("left and given back: %q, want all as it was", p.left())
	}
	doubt = ""
	p.look()
	if p.look(); p.left() != "-i-1" && p.left() != "-i-1 -i-1" {
		t.Errorf("left and given back once the clock is right: %q", p.left())
	}
}

// TestOneStuckInstanceHoldsUpNoOther: what fails is reported and tried again, the others go.
func TestOneStuckInstanceHoldsUpNoOther(t *testing.T) {
	p := newPlace(t)
	p.yard.stuck = "i-1"
	p.instance("i-1", time.Minute, func(m *cloud.Instance) { m.Zone, m.ZoneID = "us-east-1a", "use1-az1" })
	p.instance("i-2", time.Minute)
	p.claim("c-3", "i-3", registered)
	for range 2 { // the first does not find the claim's instance
		if _, err := p.c.Round(t.Context()); err == nil || !strings.Contains(err.Error(), "i-1") {
			t.Errorf("the round ended with %v, want the machine named", err)
		}
		p.yard.list = p.yard.list[:1]
	}
	if got := p.left(); got != "-i-2" {
		t.Errorf("left and given back: %q, want the other machine and the claim gone", got)
	}
	const counted = "karpenter_cloudprovider_instance_termination_failures_total"
	if got, err := scraped.Lines(p.metrics, counted); err != nil || !slices.Equal(got,
		[]string{counted + " zone=us-east-1a zone_id=use1-az1 2"}) {
		t.Errorf("counted %q, %v; want the machine that stays, once a round", got, err)
	}
	p.yard.stuck = ""
	if _, err := p.c.Round(t.Context()); err != nil || p.left() != "-i-1 -i-2" {
		t.Errorf("the next round ended with %v and %q, want the machine given back", err, p.left())
	}
}

// TestLooksBecomeRare: often right after a start, which may follow a crash,
// then every two minutes.
func TestLooksBecomeRare(t *testing.T) {
	p := newPlace(t)
	for began := p.now; p.now.Sub(began) < 2*newFor; {
		want := EveryNew
		if p.now.Sub(began) >= newFor {
			want = EveryUsed
		}
		after, err := p.c.Round(t.Context())
		if err != nil || after != want {
			t.Fatalf("%v after the first look: %v, %v; want %v", p.now.Sub(began), after, err, want)
		}
		p.now = p.now.Add(after)
	}
}

// TestOrphansAreGivenBackTogether (SC-252): all calls are under way before any is answered,
// as it must be for the adapter to make one of them. Were they made one after another, none
// could go on here.
func TestOrphansAreGivenBackTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.yard.meets = &sync.WaitGroup{}
		for i := range 100 {
			p.instance(fmt.Sprintf("i-%d", i), time.Minute)
			p.yard.meets.Add(1)
		}
		p.yard.stuck = "i-7"
		if _, err := p.c.Round(t.Context()); err == nil || !strings.Contains(err.Error(), "orphan i-7") {
			t.Errorf("Round = %v, want a word on the machine that could not be given back", err)
		}
		if len(p.yard.back) != 99 {
			t.Errorf("%d of 100 orphans were given back, want all but one", len(p.yard.back))
		}
	})
}

// TestAInstanceLaunchedWhileClaimsWereReadIsNoOrphan: an API server that is short
// of breath answers late, with the claims as they were long before; so may the cache.
func TestAInstanceLaunchedWhileClaimsWereReadIsNoOrphan(t *testing.T) {
	for look := range 2 {
		t.Run(fmt.Sprint("look ", look+1), func(t *testing.T) {
			p := newPlace(t)
			p.instance("i-0", time.Hour)
			p.atCheck(look, func() {
				p.claim("c-1", "", ofBatch)
				p.instance("i-1", 0, func(m *cloud.Instance) { m.Batch = "batch" })
				p.now = p.now.Add(youngFor)
			})
			if _, err := p.c.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := p.left(); got != "c-1 -i-0" {
				t.Errorf("left and given back: %q, want the claim, whose machine nobody gave back", got)
			}
		})
	}
}

func (p *place) claimCalled(name string) *karpv1.NodeClaim {
	p.t.Helper()
	c := &karpv1.NodeClaim{}
	if err := p.hand.Get(p.t.Context(), client.ObjectKey{Name: name}, c); err != nil {
		p.t.Fatal(err)
	}
	return c
}
