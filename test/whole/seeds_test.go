package whole_test

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	autoscalingv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/market"
)

var (
	seeds = flag.Int("seeds", 6, "how many seeds of faults to try")
	from  = flag.Uint64("from", 0, "the first of them")
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // the tests are many small worlds that live for milliseconds
	os.Exit(m.Run())
}

// Whatever fails, in the API, at the cloud and in the controller itself: when
// the trouble is over, every pod runs, no instance is lost, no two claims
// share one, and in the end nothing is left.
func TestNoSeedOfFaultsLosesAnything(t *testing.T) {
	failed, first := eachSeed(t, *seeds, func(t *testing.T, seed uint64) {
		types := fakecloud.DefaultTypes()
		if hasDevices(tempestOf(seed)) {
			types = append(types, typesOfGPUs...)
		}
		report(t, fakecloud.Options{Seed: seed, Types: types}, func(_ *testing.T, w *world) { w.tempest(seed) })
	})
	if failed == 0 {
		fmt.Printf("faults: ok seeds=%d from=%d failed=0\n", *seeds, *from)
		return
	}
	fmt.Printf("faults: FAILED seeds=%d from=%d failed=%d first=%d\n", *seeds, *from, failed, first)
}

// eachSeed tells a story of each of n seeds. It counts those that failed, and reports each at
// once: a run of many takes long.
func eachSeed(t *testing.T, n int, story func(t *testing.T, seed uint64)) (failed int, first uint64) {
	for seed := *from; seed < *from+uint64(n); seed++ {
		if t.Run(fmt.Sprint(seed), func(t *testing.T) { story(t, seed) }) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s/%d failed, repeat with: make faults SEEDS=1 FROM=%d\n", t.Name(), seed, seed)
		if failed++; failed == 1 {
			first = seed
		}
	}
	return failed, first
}

// late draws how watches lag: all of them somewhat, and now and then one so much
// that what follows has to wait.
func late(u func(string) float64) func(client.Object) time.Duration {
	usual := time.Duration(u("lag") * float64(800*time.Millisecond))
	return func(o client.Object) time.Duration {
		if u("late"+version(o)) < 0.05*u("late") {
			return usual + time.Duration(u("by"+version(o))*float64(20*time.Second))
		}
		return usual
	}
}

// version names an object as it is now.
func version(o client.Object) string {
	return fmt.Sprintf("%T/%s/%s@%s", o, o.GetNamespace(), o.GetName(), o.GetResourceVersion())
}

// tempestOf are the draws of the tempest of a seed.
func tempestOf(seed uint64) draws {
	return func(name string) float64 { return draw(seed, "tempest/"+name) }
}

// tempest is ten minutes of trouble drawn from a seed, and what must be true
// after it.
func (w *world) tempest(seed uint64) {
	w.t.Helper()
	w.kept.ask()
	u := tempestOf(seed)
	w.pool("default", func(p *karpv1.NodePool) {
		if u("options") < 0.5 {
			bothOptions(p)
		}
		if u("types") < 0.5 {
			p.Spec.Template.Spec.Requirements[0].Values = []string{"m5.large", "c5.xlarge", "m5.2xlarge"}
		}
		if u("expires") < 0.4 {
			p.Spec.Template.Spec.ExpireAfter = "6m"
		}
		shape(u, p)
		demandOnDemand(u, p)
	})
	if hasCommitments(u) {
		committed(w, commitmentsOf(u, "committed"))
	}
	if hasStatic(u) {
		w.pool("kept", func(p *karpv1.NodePool) { keeps(int64(3*u("kept")), int64(5*u("kept most")))(p) })
	}
	if hasHours(u) {
		w.pool("day", func(p *karpv1.NodePool) {
			p.Spec.Weight = new(int32(10))
			hours(shifts)(p)
		})
	}
	if hasQuota(u) {
		w.quota("all", "", amounts("nodes", fmt.Sprint(2+int(6*u("quota"))), "cpu", "24"))
	}
	if hasBuffer(u) {
		w.podTemplate("web")
		w.buffer("spare", int32(3*u("spare")), nil)
	}
	if hasRequests(u) && !hasBuffer(u) {
		w.podTemplate("web")
	}
	if hasRecommendations(u) {
		w.deploy("web", 1, webOf(u))
		set := w.replicaSet("web", 1)
		edit(w, set, func(s *appsv1.ReplicaSet) { s.Spec.Template.Spec = w.deployments["web"].template.Spec })
	}
	if hasDevices(u) {
		w.offersDevices()
	}
	if has(podBudgets) && u("guarded") < 0.5 {
		w.pdbs("web", chosen(u, "may be gone", intstr.FromInt32(1), intstr.FromString("50%")))
	}
	if has(absurdPods) && u("absurd pods") < 0.5 {
		w.absurd(u)
	}
	repeats := func(o client.Object) bool { return u("again"+version(o)) < 0.3*u("again") }
	s := setup{seed: seed, chance: 0.25 * u("chance"), lag: late(u), again: repeats, through: w.throughWeather(u),
		thinks: has(crowds), devices: hasDevices(u)}
	if u("brisk") < 0.2 { // no call fails and no watch is late: what goes wrong at once is not hidden by waiting
		s.chance, s.lag = 0, nil
	}
	r := w.reigns(s, u)
	w.cloud.Market().SetNeverJoin(0.2 * u("never"))
	var restocks []func()
	for minute := range 10 {
		restocks = append(restocks, w.trouble(seed, u, minute)...)
		time.Sleep(time.Duration(60*u(fmt.Sprint("pause", minute))) * time.Second)
		r.change(u, minute)
	}
	r.end()
	w.bindsNothing(false)
	w.calm()
	for _, restock := range restocks {
		restock()
	}
	w.server.BlockEvictions(nil)
	w.cloud.Market().SetNeverJoin(0)
	w.start(setup{devices: hasDevices(u)})
	w.deploy("web", 5, webOf(u))
	if hasDevices(u) {
		w.trains(2, false)
	}
	if hasMinimum(u) {
		w.asksFor("2")
	}
	if hasQuota(u) {
		w.raise("all", amounts("nodes", "20", "cpu", "80"))
	}
	if hasStatic(u) {
		w.scaleNodes("kept", 0)
	}
	if hasBuffer(u) {
		w.scaleBuffer("spare", 0)
	}
	if hasRecommendations(u) {
		w.recommendsNothing("web")
	}
	for minute := range 10 {
		w.withdrawRequest(minute)
	}
	if hasHours(u) {
		day := &karpv1.NodePool{}
		if err := w.hand.Get(w.t.Context(), client.ObjectKey{Name: "day"}, day); err != nil {
			w.t.Fatal(err)
		}
		edit(w, day, func(p *karpv1.NodePool) { p.Annotations = nil })
	}
	if has(lostBinds) && u("last binds") < 0.5 {
		w.losesBinds(func(p *corev1.Pod) bool { return u("last/"+string(p.UID)) < 0.5 })
		time.Sleep(3 * time.Minute) // virtual: nodes come, and others take what was nominated
		w.losesBinds(nil)
	}
	w.until(40*time.Minute, "five pods running", func() bool { return w.runs("web", 5) })
	if hasDevices(u) {
		w.until(40*time.Minute, "two pods running with devices", func() bool { return w.runs("train", 2) })
	}
	// A drain may wait, by a budget, for a pod that waits for an instance that never joins:
	// that one is given up 15 minutes after its launch.
	w.until(40*time.Minute, "a claim for every machine", func() bool {
		claims := w.claims()
		launching := slices.ContainsFunc(claims, func(c karpv1.NodeClaim) bool { return c.Status.ProviderID == "" })
		return !launching && len(claims) == len(w.liveInstances()) && len(w.orphans()) == 0
	})
	w.sound()
	w.scale("web", 0)
	if hasDevices(u) {
		w.trains(0, false)
	}
	w.until(40*time.Minute, "an empty cluster", w.empty)
	if w.aws != nil {
		w.leave(func(holds func() bool) func() bool { return holds })
	}
}

// hasStatic reports whether a static pool is beside the other one, and is scaled in the trouble.
func hasStatic(u draws) bool { return u("static") < 0.3 }

// hasHours reports whether there is a pool with hours, which is open and closed for some minutes each in the trouble.
func hasHours(u draws) bool { return u("hours") < 0.3 }

// shifts are hours that change twice in ten minutes.
const shifts = `changes: [{at: "*/10 * * * *", nodes: 3}, {at: "5-59/10 * * * *", nodes: 0}]`

// hasQuota reports whether a quota limits all nodes together.
func hasQuota(u draws) bool { return u("quotas") < 0.3 }

// hasOverlays reports whether NodeOverlays come, change and go in the trouble.
func hasOverlays(u draws) bool { return u("overlays") < 0.3 }

// reprice has a NodeOverlay change the price of spot, or takes it away.
func (w *world) reprice(chance float64) {
	o := &v1alpha1.NodeOverlay{}
	err := w.hand.Get(w.t.Context(), client.ObjectKey{Name: "spot"}, o)
	switch text := fmt.Sprintf("%+d%%", int(400*chance)-100); {
	case apierrors.IsNotFound(err):
		o.Name, o.Spec.PriceAdjustment = "spot", &text
		spot := v1alpha1.Requirement{Key: api.LabelCapacityType, Operator: "In", Values: []string{"spot"}}
		o.Spec.Requirements = []v1alpha1.Requirement{spot}
		w.create(o)
	case err != nil:
		w.t.Error(err)
	case chance < 0.2:
		w.delete(o)
	default:
		edit(w, o, func(o *v1alpha1.NodeOverlay) { o.Spec.PriceAdjustment = &text })
	}
}

// hasRequests reports whether ProvisioningRequests come and go in the trouble, whose pods do not come.
func hasRequests(u draws) bool { return u("requests") < 0.3 }

// requestAt is a ProvisioningRequest that comes in that minute.
func (w *world) requestAt(minute int, chance float64) {
	class := checks
	if chance < 0.7 {
		class = wholly
	}
	w.request(fmt.Sprint("batch-", minute), class, 1+int32(4*chance), nil)
}

// withdrawRequest takes the ProvisioningRequest of that minute away, if there is one.
func (w *world) withdrawRequest(minute int) {
	r := &autoscalingv1.ProvisioningRequest{}
	r.Namespace, r.Name = "default", fmt.Sprint("batch-", minute)
	if err := w.hand.Delete(w.t.Context(), r); client.IgnoreNotFound(err) != nil {
		w.t.Error(err)
	}
}

// hasBuffer reports whether capacity is kept for pods like those that come, and changes in the trouble.
func hasBuffer(u draws) bool { return u("buffer") < 0.3 }

// trouble is what happens in one minute, and how what is short then is had again.
func (w *world) trouble(seed uint64, u draws, minute int) (restocks []func()) {
	name := func(what string) string { return fmt.Sprint(what, minute) }
	w.deploy("web", int(8*u(name("replicas"))), webOf(u))
	w.commits(u, minute)
	if hasStatic(u) && u(name("scaled")) < 0.4 {
		w.scaleNodes("kept", int64(4*u(name("kept"))))
	}
	if hasOverlays(u) {
		w.reprice(u(name("price")))
	}
	if hasBuffer(u) && u(name("kept free")) < 0.4 {
		w.scaleBuffer("spare", int32(4*u(name("spare"))))
	}
	if hasRequests(u) && u(name("requested")) < 0.5 {
		w.requestAt(minute, u(name("batch")))
	}
	if hasRecommendations(u) {
		if u(name("recommends")) < 0.4 {
			w.recommends("web", []string{"250m", "1", "1500m"}[int(3*u(name("cores")))])
		}
		if u(name("evicts")) < 0.5 {
			w.evictsOne("web")
		}
	}
	if hasDevices(u) {
		w.trains(int(4*u(name("trained"))), u(name("driver")) < 0.2)
	}
	if hasRequests(u) && u(name("not wanted")) < 0.3 {
		w.withdrawRequest(minute - 2)
	}
	if u(name("short")) < 0.3 {
		restocks = append(restocks, w.unavailable(market.Spot))
	}
	if u(name("cut")) < 0.5 {
		w.server.CutWatches()
	}
	w.bindsNothing(u(name("unbound")) < 0.2)
	w.weather(u, minute)
	w.server.BlockEvictions(map[bool]func(*corev1.Pod) bool{
		true: func(p *corev1.Pod) bool { return draw(seed, name(string(p.UID))) < 0.5 }, false: nil}[u(name("budget")) < 0.5])
	if u(name("reclaim")) < 0.3 {
		if m := w.liveInstances(); len(m) > 0 {
			w.cloud.Market().Interrupt(m[0].ID)
		}
	}
	if w.aws != nil && u(name("images")) < 0.2 {
		w.choose([]string{"bottlerocket@latest", "al2023@latest"}[minute%2])
	}
	if w.aws != nil && u(name("role")) < 0.1 {
		w.otherRole()
	}
	if claims := w.claims(); u(name("hand")) < 0.3 && len(claims) > 0 {
		w.delete(&claims[0])
	}
	return restocks
}

// change ends the reign of a controller now and then: another takes its lease, or it dies.
func (r *reign) change(u draws, minute int) {
	name := func(what string) string { return fmt.Sprint(what, minute) }
	switch {
	case u(name("death")) >= 0.5:
	case r.shared && u(name("takeover")) < 0.5:
		r.pass()
	default:
		r.die(time.Duration(20*u(name("dead"))) * time.Second)
	}
}

// The same over the AWS adapter and its emulator: calls are throttled, refused, fail at
// AWS or on the way, before they take effect or after. A seed takes as long as four
// without AWS, so that there are fewer.
func TestNoSeedOfFaultsOverAWSLosesAnything(t *testing.T) {
	n := (*seeds + 3) / 4
	failed, first := eachSeed(t, n, func(t *testing.T, seed uint64) {
		reportAWS(t, seed, func(_ *testing.T, w *world) { w.tempest(seed) })
	})
	if failed > 0 {
		fmt.Printf("faults: FAILED seeds=%d from=%d failed=%d first=%d\n", n, *from, failed, first)
	}
}
