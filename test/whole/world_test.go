package whole_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/controller/drift"
	"github.com/daemok/daemok/controller/nodepool"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	autoscalingv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	overlays "github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	vpav1 "github.com/daemok/daemok/kube/api/verticalpodautoscaler/v1"
	"github.com/daemok/daemok/kube/translate"
	emulated "github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/market"
	"github.com/daemok/daemok/test/market/clock"
	"github.com/daemok/daemok/test/store"
)

// world is a cluster, a cloud and the people of the cluster: scheduler,
// kubelets, deployments, garbage collector.
type world struct {
	t       testing.TB
	server  *store.Server
	hand    *store.Connection // what tests and the cluster's people write with
	cloud   *fakecloud.Cloud
	aws     *account       // in place of the cloud, whose market it shares; nil: none
	lags    *emulated.Lags // of AWS; nil: as usual
	classes *classes
	kinds   []class.Kind // of classes, where the cloud is AWS
	events  *recorder
	story   *story
	log     *slog.Logger
	kept    *promises // what must hold at any time
	ids     atomic.Int64
	back    atomic.Int64 // when the API server is back that is gone, in nanoseconds since 1970; zero: it never was
	running []*controller
	held    atomic.Bool // launches are throttled

	everybody sync.WaitGroup // who else acts

	mu          sync.Mutex
	deployments map[string]deployment
	pods        int
	schedules   bool                     // the scheduler works
	contrary    bool                     // it takes the last pod and the last node first
	unbound     bool                     // its calls that bind pods run out of time
	losesBind   func(*corev1.Pod) bool   // pods whose binds fail, and whose room goes to others; nil: none
	driver      *driver                  // of devices; nil: none
	bindsAgain  bool                     // calls that bind pods were told to work, or to fail, since the scheduler's last look
	hasty       bool                     // somebody deletes the next NodeClaim as soon as it has its instance
	actsEvery   time.Duration            // how often deployments are looked at; at every look round where unset
	actsMost    int                      // how many pods are made of one at a look; all where unset
	actedAt     time.Time                // the last time
	lateBy      time.Duration            // how old the scheduler's view of nodes is
	silent      string                   // the node whose kubelet says nothing; empty: none
	joined      map[string]bool          // instances whose node has come
	keeps       quantity.Resources       // that nodes keep from pods beyond what is known
	joinsAfter  map[string]time.Duration // by zone: how long after their launch instances join; as drawn where unset
}

type deployment struct {
	replicas int
	template corev1.Pod
}

// report runs a story in a bubble of virtual time, and stops everything at its
// end.
func report(t *testing.T, o fakecloud.Options, story func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, o)
		ctx, cancel := context.WithCancel(context.Background())
		w.everybody.Go(func() { (&people{world: w}).live(ctx) })
		defer func() {
			for _, c := range w.running {
				c.stop()
			}
			cancel()
			if w.aws != nil {
				w.aws.server.Close()
			}
			w.everybody.Wait()
			if t.Failed() {
				t.Log("the story:\n" + strings.Join(w.story.lines, "\n"))
			}
		}()
		story(t, w)
	})
}

func newWorld(t testing.TB, o fakecloud.Options) *world {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, karpv1.AddToScheme, overlays.AddToScheme, v1alpha1.AddToScheme, awsv1.AddToScheme,
		v1alpha5.AddToScheme, awsv1alpha1.AddToScheme, v1beta1.AddToScheme,
		autoscalingv1.AddToScheme, vpav1.AddToScheme,
	} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	o.Clock = clock.Wall{}
	if o.TimeScale == 0 {
		o.TimeScale = 1
	}
	w := &world{t: t, server: store.New(s, time.Now), cloud: fakecloud.New(o), deployments: map[string]deployment{}, joined: map[string]bool{}, schedules: true}
	w.hand = w.server.Connect(nil)
	w.hand.User = thePeople
	w.story = &story{began: time.Now()}
	w.kept = keepPromises(w)
	w.log = slog.New(w.story)
	w.events = &recorder{story: w.story}
	w.classes = &classes{catalog: w.cloud}
	return w
}

// until waits in virtual time until a condition holds.
func (w *world) until(limit time.Duration, what string, holds func() bool) {
	w.t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(250 * time.Millisecond) {
		synctest.Wait()
		if holds() {
			return
		}
		if time.Now().After(end) {
			w.t.Fatalf("%s did not come within %v: %s", what, limit, w.state())
		}
	}
}

// state is one line about everything.
func (w *world) state() string {
	running, all := w.podsRunning()
	var instances []string
	for _, m := range w.instances() {
		instances = append(instances, m.ID[len(m.ID)-3:]+":"+string(m.State))
	}
	var claims []string
	for _, c := range w.claims() {
		text := c.Name + "=" + translate.InstanceID(c.Status.ProviderID)
		if c.DeletionTimestamp != nil {
			text += " (ending)"
		}
		claims = append(claims, text)
	}
	return fmt.Sprintf("%d of %d pods run, claims %v, machines %v, %d nodes", running, all, claims, instances, len(w.nodes()))
}

// instances lists those at the cloud that have not ended, hidden ones too.
func (w *world) instances() []cloud.Instance {
	var out []cloud.Instance
	for _, m := range w.cloud.Market().Machines() {
		if state := m.At(time.Now()); state != market.Terminated {
			out = append(out, cloud.Instance{ID: m.ID, ProviderID: "aws:///" + m.Pool.Zone + "/" + m.ID, Kind: m.Pool.Kind, State: cloud.State(state)})
		}
	}
	return out
}

// live instances are those that none has terminated.
func (w *world) liveInstances() []cloud.Instance {
	return slices.DeleteFunc(w.instances(), func(m cloud.Instance) bool { return m.State == cloud.ShuttingDown })
}

// launched counts the instances ever launched, of the last hour.
func (w *world) launched() int { return len(w.cloud.Market().Machines()) }

func (w *world) list(l client.ObjectList) {
	if err := w.hand.List(context.Background(), l); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) claims() []karpv1.NodeClaim { var l karpv1.NodeClaimList; w.list(&l); return l.Items }
func (w *world) nodes() []corev1.Node       { var l corev1.NodeList; w.list(&l); return l.Items }
func (w *world) allPods() []corev1.Pod      { var l corev1.PodList; w.list(&l); return l.Items }

func (w *world) podsRunning() (running, all int) {
	for _, p := range w.allPods() {
		all++
		if p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
			running++
		}
	}
	return running, all
}

// run reports whether n pods run and there are no others.
func (w *world) run(n int) bool {
	running, all := w.podsRunning()
	return running == n && all == n
}

// runs reports whether n pods of a deployment run and it has no others.
func (w *world) runs(app string, n int) bool {
	running, all := 0, 0
	for _, p := range w.allPods() {
		if p.Labels["app"] != app {
			continue
		}
		all++
		if p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
			running++
		}
	}
	return running == n && all == n
}

// sound checks what must hold whenever the dust has settled.
func (w *world) sound() {
	w.t.Helper()
	owner := map[string]string{}
	for _, c := range w.claims() {
		if c.Status.ProviderID == "" {
			continue
		}
		for _, r := range c.Spec.Requirements {
			if has, ok := c.Labels[r.Key]; ok && r.Operator == "In" && !slices.Contains(r.Values, has) {
				w.t.Errorf("claim %s asks for %s in %v and got %s", c.Name, r.Key, r.Values, has)
			}
		}
		if other, taken := owner[c.Status.ProviderID]; taken {
			w.t.Errorf("claims %s and %s share machine %s", other, c.Name, c.Status.ProviderID)
		}
		owner[c.Status.ProviderID] = c.Name
	}
	for _, m := range w.orphans() {
		w.t.Errorf("machine %s is leaked: no claim has it; %s", m.ID, w.state())
	}
}

// orphans are the live instances that no claim has.
func (w *world) orphans() []cloud.Instance {
	claims := w.claims()
	return slices.DeleteFunc(w.liveInstances(), func(m cloud.Instance) bool {
		return slices.ContainsFunc(claims, func(c karpv1.NodeClaim) bool { return c.Status.ProviderID == m.ProviderID })
	})
}

// empty reports whether nothing is left of claims, nodes and instances.
func (w *world) empty() bool { return len(w.claims())+len(w.nodes())+len(w.instances()) == 0 }

func (w *world) create(o client.Object) {
	w.t.Helper()
	if err := w.hand.Create(context.Background(), o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) delete(o client.Object) {
	w.t.Helper()
	if err := w.hand.Delete(context.Background(), o); err != nil {
		w.t.Fatal(err)
	}
}

// edit changes an object by hand.
func edit[T client.Object](w *world, o T, change func(T)) {
	w.t.Helper()
	before := o.DeepCopyObject().(T)
	change(o)
	if err := w.hand.Patch(context.Background(), o, client.MergeFrom(before)); err != nil {
		w.t.Fatal(err)
	}
}

// pool makes a pool of m5.large on demand, on each of which one pod of a
// whole core has room, and not two.
func (w *world) pool(name string, change func(*karpv1.NodePool)) *karpv1.NodePool {
	p := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.Template.Spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: "default"}
	p.Spec.Template.Spec.Requirements = []karpv1.Requirement{
		{Key: api.LabelInstanceType, Operator: "In", Values: []string{"m5.large"}},
		{Key: api.LabelCapacityType, Operator: "In", Values: []string{"on-demand"}},
	}
	p.Spec.Disruption.ConsolidateAfter = "30s"
	p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "100%"}}
	if change != nil {
		change(p)
	}
	w.create(p)
	return p
}

// scale wants so many pods of one core.
func (w *world) scale(name string, replicas int) { w.deploy(name, replicas, func(*corev1.Pod) {}) }

func (w *world) deploy(name string, replicas int, change func(*corev1.Pod)) {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Labels: map[string]string{"app": name}}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("256Mi")}}}}
	seconds := int64(5)
	pod.Spec.TerminationGracePeriodSeconds = &seconds
	change(&pod)
	set := w.replicaSet(name, replicas)
	w.mu.Lock()
	defer w.mu.Unlock()
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
	w.deployments[name] = deployment{replicas, pod}
}

// replicaSet is what wants so many pods.
func (w *world) replicaSet(name string, replicas int) *appsv1.ReplicaSet {
	w.t.Helper()
	ctx, want, app := context.Background(), int32(replicas), map[string]string{"app": name}
	var set appsv1.ReplicaSet
	err := w.hand.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, &set)
	switch {
	case err == nil:
		set.Spec.Replicas = &want
		err = w.hand.Update(ctx, &set)
	case apierrors.IsNotFound(err):
		set.Namespace, set.Name = "default", name
		set.Spec.Replicas, set.Spec.Selector, set.Spec.Template.Labels = &want, &metav1.LabelSelector{MatchLabels: app}, app
		err = w.hand.Create(ctx, &set)
	}
	if err != nil {
		w.t.Error(err)
	}
	return &set
}

// classes knows one class for all.
type classes struct {
	catalog cloud.Catalog
	mu      sync.Mutex
	notYet  string // why it is not ready; empty if it is
	form    form
}

// form is what instances of the class are made from.
type form struct {
	hash     string // empty: not known
	settings fakecloud.Settings
}

func (c *classes) change(to form) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.form = to
}

func (c *classes) set(notYet string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notYet = notYet
}

func (c *classes) Class(_ context.Context, ref karpv1.NodeClassReference) (translate.LaunchClass, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.notYet != "" {
		return translate.LaunchClass{}, &translate.NotReadyError{ClassID: translate.ClassID(ref), Why: c.notYet}
	}
	return c.of(ref), nil
}

func (c *classes) Known(_ context.Context, ref karpv1.NodeClassReference) (translate.LaunchClass, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of(ref), nil
}

func (c *classes) of(ref karpv1.NodeClassReference) translate.LaunchClass {
	return c.form.of(ref)
}

func (f form) of(ref karpv1.NodeClassReference) translate.LaunchClass {
	class := translate.LaunchClass{Cloud: cloud.Class{ID: translate.ClassID(ref), Settings: f.settings}}
	if f.hash != "" {
		class.Annotations = map[string]string{api.AnnotationNodeClassHash: f.hash, api.AnnotationNodeClassHashVersion: "v1"}
	}
	return class
}

// Form is what is compared with instances: nothing while no image is named.
func (c *classes) Form(context.Context, karpv1.NodeClassReference) (drift.Class, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	class := drift.Class{Hash: c.form.hash, HashVersion: "v1"}
	if s := c.form.settings; s.Image != "" && c.notYet == "" {
		class.Selected = &drift.Selected{Images: []drift.Image{{ID: s.Image}}, Groups: s.Groups}
		for _, zone := range []string{"a", "b", "c", "d", "e", "f"} {
			class.Selected.Subnets = append(class.Selected.Subnets, fakecloud.SubnetIn("us-east-1"+zone))
		}
	}
	return class, nil
}

func (c *classes) Kinds(ref karpv1.NodeClassReference) (*cluster.Catalogue, string) {
	class, err := c.Class(context.Background(), ref)
	if err != nil {
		return nil, err.Error()
	}
	kinds, err := c.catalog.Kinds(context.Background(), class.Cloud)
	if err != nil {
		return nil, err.Error()
	}
	return kinds, ""
}

// Offered is not known here, so pools may name any type.
func (c *classes) Offered(karpv1.NodeClassReference) nodepool.Offered { return nil }

func (c *classes) State(context.Context, karpv1.NodeClassReference) (nodepool.ClassState, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.notYet != "" {
		return nodepool.ClassState{Found: true, Generation: 1, Status: metav1.ConditionFalse, Reason: "SubnetsNotFound", Message: c.notYet}, nil
	}
	return nodepool.ClassState{Found: true, Generation: 1, Status: metav1.ConditionTrue}, nil
}

// recorder keeps events.
type recorder struct {
	story *story
	mu    sync.Mutex
	texts []string
}

func (r *recorder) Event(_ runtime.Object, _, reason, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, reason+": "+message)
	r.story.add(fmt.Sprintf("%8s event %s: %s", time.Since(r.story.began).Round(time.Millisecond), reason, message))
}

func (r *recorder) Eventf(o runtime.Object, kind, reason, format string, args ...any) {
	r.Event(o, kind, reason, fmt.Sprintf(format, args...))
}

func (r *recorder) AnnotatedEventf(o runtime.Object, _ map[string]string, kind, reason, format string, args ...any) {
	r.Event(o, kind, reason, fmt.Sprintf(format, args...))
}

// said reports whether an event held the words.
func (r *recorder) said(words string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.texts, func(text string) bool { return strings.Contains(text, words) })
}
