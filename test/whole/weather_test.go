package whole_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// What a storm may have beside calls that fail: all but needless, unless a flag says less.
const (
	someLimits     = "limits"          // the NodePool has limits
	templateLabels = "template-labels" // its template has a label with a well-known key
	lateScheduler  = "late-scheduler"  // kube-scheduler's view of nodes is seconds old
	silentKubelets = "silent-kubelets" // kubelets say nothing for a minute, and lists of instances are empty now and then
	slowLaunches   = "slow-launches"   // launches take seconds
	lateLaunches   = "late-launches"   // launches run out of time and take effect later
	lostClaims     = "lost-claims"     // NodeClaims vanish without their finalizers
	takeovers      = "takeovers"       // leaders that lose their lease go on for a while beside the next, whose watches are late
	podBudgets     = "pod-budgets"     // a PodDisruptionBudget is about the pods
	unregistered   = "unregistered"    // not weather: nodes are looked at whose NodeClaims do not say Registered yet
	lostBinds      = "lost-binds"      // some pods cannot be bound to the nodes nominated for them, whose room others take
	absurdPods     = "absurd-pods"     // a pod asks for more than can be counted
	hastyHands     = "hasty-hands"     // NodeClaims are deleted by hand while EC2 does not show their instances yet
	unreadyClasses = "unready-classes" // the class is not ready for a while, in which a controller may start
	heldLaunches   = "held-launches"   // launches are throttled while kube-scheduler is down, so that NodeClaims wait for their instances and a controller may start
	crowds         = "crowds"          // another namespace has pods of more shapes than one plan is made for
	needless       = "needless"        // not weather: NodeClaims that no pod needs are reported too
)

var weathers = flag.String("weather", strings.Join([]string{someLimits, slowLaunches, templateLabels, silentKubelets, lostClaims, takeovers, podBudgets, unregistered, lateScheduler, lateLaunches, lostBinds, absurdPods, hastyHands, unreadyClasses, heldLaunches, crowds}, ","), "what storms have beside calls that fail")

func has(weather string) bool { return slices.Contains(strings.Split(*weathers, ","), weather) }

// draws is a number from 0 to below 1 for each name.
type draws func(name string) float64

// chosen draws one of a list.
func chosen[T any](u draws, name string, of ...T) T { return of[int(u(name)*float64(len(of)))] }

// shape draws what a NodePool has beside its types.
func shape(u draws, p *karpv1.NodePool) {
	if has(someLimits) && u("limited") < 0.5 {
		p.Spec.Limits = chosen(u, "limit",
			corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("14")}, corev1.ResourceList{"nodes": resource.MustParse("7")})
	}
	if u("few") < 0.4 {
		p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: chosen(u, "nodes", "1", "2", "50%")}}
	}
	if has(templateLabels) && u("labelled") < 0.5 {
		bothOptions(p)
		p.Spec.Template.Metadata.Labels = chosen(u, "label",
			map[string]string{api.LabelCapacityType: "on-demand"}, map[string]string{api.LabelZone: zoneB}, map[string]string{api.LabelCapacityType: "spot", "team": "a"})
	}
}

// absurd deploys a pod for which no instance is large enough: the sums of what such pods ask for
// are more than can be counted.
func (w *world) absurd(u draws) {
	w.deploy("absurd", 1, func(p *corev1.Pod) {
		asks := chosen(u, "absurd",
			corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("7Ei")},
			corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("8Ei")},
			corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1e30")},
			corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5e15")})
		each := corev1.ResourceRequirements{Requests: asks}
		p.Spec.Containers = []corev1.Container{{Name: "one", Resources: each}, {Name: "other", Resources: each}}
	})
}

// minute draws the weather of the next minute.
func (w *world) weather(u draws, minute int) {
	name := func(what string) string { return fmt.Sprint("weather/", what, minute) }
	if has(lateScheduler) {
		w.schedulerIsLate(max(0, time.Duration((2*u(name("scheduler"))-1)*float64(5*time.Second))))
	}
	if nodes := w.nodes(); has(silentKubelets) && len(nodes) > 0 {
		w.silence("")
		if u(name("silent")) < 0.4 {
			w.silence(chosen(u, name("whose"), nodes...).Name)
		}
	}
	if has(lostBinds) {
		w.losesBinds(func(p *corev1.Pod) bool { return u(name("binds")) < 0.3 && u(name(string(p.UID))) < 0.5 })
	}
	if has(hastyHands) {
		w.isHasty(u(name("hasty")) < 0.4)
	}
	if has(unreadyClasses) {
		w.classes.set(chosen(u, name("class"), "no subnet is found", "", "", "", ""))
	}
	if has(heldLaunches) {
		held := u(name("held")) < 0.25
		w.held.Store(held)
		w.schedulerWorks(!held)
	}
	if has(crowds) {
		w.crowd(u(name("crowd")) < 0.1)
	}
	if claims := w.claims(); has(lostClaims) && len(claims) > 0 && u(name("lost")) < 0.2 {
		w.lose(chosen(u, name("which"), claims...))
	}
}

// calm ends the weather. Somebody says that instances whose NodeClaims were lost may go.
func (w *world) calm() {
	w.schedulerIsLate(0)
	w.silence("")
	w.losesBinds(nil)
	w.isHasty(false)
	w.classes.set("")
	w.held.Store(false)
	w.schedulerWorks(true)
	w.crowd(false)
	if has(lostClaims) {
		w.create(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: api.ConfigMapOrphans}, Data: map[string]string{api.OrphansTerminate: "100"},
		})
	}
}

// schedulerIsLate has kube-scheduler see nodes as they were so long ago.
func (w *world) schedulerIsLate(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lateBy = by
}

// silence has the kubelet of a node say nothing, and all others speak.
func (w *world) silence(node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silent = node
}

// losesBinds has the calls fail that bind these pods to the nodes nominated for them; nil: no more.
func (w *world) losesBinds(of func(*corev1.Pod) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.losesBind, w.bindsAgain = of, true
}

// isHasty has somebody delete the next NodeClaim as soon as it has its instance, or none.
func (w *world) isHasty(is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hasty = is
}

// hastyHand deletes a NodeClaim that has just got its instance.
func (w *people) hastyHand(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.hasty {
		return
	}
	for _, c := range w.claims() {
		if m, known := w.cloud.Market().Machine(translate.InstanceID(c.Status.ProviderID)); known && c.DeletionTimestamp == nil && time.Now().Before(m.VisibleAt) {
			w.story.add("NodeClaim " + c.Name + " is deleted in haste")
			_ = w.hand.Delete(ctx, &c)
			w.hasty = false
			return
		}
	}
}

// lose removes a NodeClaim as a script does that strips finalizers.
func (w *world) lose(c karpv1.NodeClaim) {
	w.story.add("NodeClaim " + c.Name + " loses its finalizers and is deleted")
	strip := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	for _, err := range []error{w.hand.Patch(context.Background(), &c, strip), w.hand.Delete(context.Background(), &c)} {
		if client.IgnoreNotFound(err) != nil { // it may have gone by itself
			w.t.Fatal(err)
		}
	}
}

// heartbeats writes what silent kubelets look like, and that the others are ready.
func (w *people) heartbeats(ctx context.Context, instances map[string]bool) {
	w.mu.Lock()
	silent := w.silent
	w.mu.Unlock()
	if silent == w.wasSilent {
		return
	}
	for _, n := range w.nodes() {
		if n.Name != silent && n.Name != w.wasSilent || !instances[n.Spec.ProviderID] || n.DeletionTimestamp != nil && n.Name != silent {
			continue
		}
		before, status := n.DeepCopy(), corev1.ConditionTrue
		if n.Name == silent {
			status = corev1.ConditionUnknown
		}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastTransitionTime: metav1.NewTime(time.Now())}}
		_ = w.hand.Status().Patch(ctx, &n, client.MergeFrom(before))
	}
	w.wasSilent = silent
}

// troubled is the cloud in bad weather.
type troubled struct {
	cloud.Instances
	u    draws
	late *sync.WaitGroup // launches that are under way
	held *atomic.Bool    // launches are throttled

	mu    sync.Mutex
	calls int
	lied  time.Time // when a list was last empty
}

// throughWeather is how a controller reaches the cloud.
func (w *world) throughWeather(u draws) func(cloud.Instances) cloud.Instances {
	return func(m cloud.Instances) cloud.Instances {
		return &troubled{Instances: m, u: u, late: &w.everybody, held: &w.held}
	}
}

func (t *troubled) draw(what string) float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls++
	return t.u(fmt.Sprint(what, t.calls))
}

// Launch takes its time; it may go on after its caller has lost timeout.
func (t *troubled) Launch(ctx context.Context, r cloud.LaunchRequest) ([]cloud.Instance, error) {
	if t.held.Load() {
		return nil, &cloud.ThrottledError{Call: "CreateFleet"}
	}
	takes := time.Duration(0)
	if has(slowLaunches) && t.draw("slow") < 0.3 {
		takes = time.Duration(t.draw("takes") * float64(8*time.Second))
	}
	if has(lateLaunches) && t.draw("late") < 0.1 {
		takes = 30*time.Second + time.Duration(t.draw("late for")*float64(60*time.Second))
	}
	if takes == 0 {
		return t.Instances.Launch(ctx, r)
	}
	type answer struct {
		instances []cloud.Instance
		err       error
	}
	came := make(chan answer, 1)
	t.late.Go(func() {
		time.Sleep(takes)
		m, err := t.Instances.Launch(context.WithoutCancel(ctx), r)
		came <- answer{m, err}
	})
	select {
	case a := <-came:
		return a.instances, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// List may be empty for a moment, which EC2 does not say of itself; not twice in a row.
func (t *troubled) List(ctx context.Context, f cloud.Filter) ([]cloud.Instance, error) {
	if has(silentKubelets) && t.draw("list") < 0.03 && t.lies() {
		return nil, nil
	}
	return t.Instances.List(ctx, f)
}

// liesEvery is how far apart lists that are empty are at least.
const liesEvery = time.Minute

func (t *troubled) lies() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(t.lied) < liesEvery {
		return false
	}
	t.lied = time.Now()
	return true
}
