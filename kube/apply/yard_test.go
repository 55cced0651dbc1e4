package apply

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/test/store"
)

// yard is a cluster of old nodes n-0, n-1 ... with claims old-0, old-1 ... of one pool, with two
// pods of a budget on each, and the controllers that launch instances for new claims and terminate
// those of deleted ones.
type yard struct {
	t      *testing.T
	server *store.Server
	hand   *store.Connection
	ledger *Ledger            // of the newest applier
	web    *appsv1.ReplicaSet // that owns the pods

	mu          sync.Mutex
	unavailable map[string]bool // claims for which nothing can be launched
	neverUp     bool            // no instance starts
	doubt       string          // of the clock
	unread      string          // kind that cannot be read
	early       []string        // claims deleted before those that replace them had started
	ended       []Ended
	launched    []Launched
	stuck       int
	again       int
	ids         int
}

// startsAfter is how long instances take from launch to being initialised.
const startsAfter = 40 * time.Second

func newYard(t *testing.T, nodes int) *yard {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	y := &yard{t: t, server: store.New(s, time.Now), unavailable: map[string]bool{}}
	y.hand = y.server.Connect(nil)
	pool := nodePool()
	pool.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "100%"}}
	y.create(pool)
	y.web = &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(100))}}
	y.create(y.web)
	for i := range nodes {
		y.join(i)
	}
	pdb := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	pdb.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	y.create(pdb)
	y.allowEvictions(1)
	return y
}

// live lets the people of the yard work until ctx ends.
func (y *yard) live(ctx context.Context) {
	for ctx.Err() == nil {
		time.Sleep(500 * time.Millisecond)
		for _, c := range y.claims() {
			y.tend(&c)
		}
	}
}

func (y *yard) tend(c *karpv1.NodeClaim) {
	y.mu.Lock()
	unavailable, up := y.unavailable[c.Name], !y.neverUp
	y.mu.Unlock()
	age := time.Since(c.CreationTimestamp.Time)
	switch {
	case c.DeletionTimestamp != nil:
		y.recordEarly(c.Name)
		y.clear(c)
	case c.Status.ProviderID == "" && (translate.IsWithdrawn(c) || unavailable):
		_ = y.hand.Delete(context.Background(), c)
	case c.Status.ProviderID == "" && age > 3*time.Second:
		y.status(c, func() { c.Status.ProviderID = "aws:///a/i-" + c.Name })
	case c.Status.NodeName == "" && age > startsAfter/2 && up:
		y.node("n-"+c.Name, c)
		y.status(c, func() { c.Status.NodeName = "n-" + c.Name })
	case c.Status.NodeName != "" && age > startsAfter && !condition.IsTrue(c, karpv1.ClaimInitialized):
		y.status(c, func() {
			condition.SetTrue(c, karpv1.ClaimRegistered, time.Now())
			condition.SetTrue(c, karpv1.ClaimInitialized, time.Now())
		})
	}
}

// node creates the node of a claim's instance, initialised and with room for many pods.
func (y *yard) node(name string, c *karpv1.NodeClaim) {
	labels := maps.Clone(c.Labels)
	labels[api.LabelInitialized] = "true"
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: corev1.NodeSpec{ProviderID: c.Status.ProviderID}}
	y.create(n)
	y.status(n, func() {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")}
	})
}

// view is what watches would show that are never late.
func (y *yard) view() *cluster.Snapshot {
	offerings := func(karpv1.NodeClassReference) (*cluster.Catalogue, string) { return nil, "nothing is offered" }
	s, err := snapshot.New(offerings, time.Now).Read(context.Background(), y.hand)
	if err != nil {
		y.t.Error(err)
	}
	return s
}

// recordEarly notes that a claim goes although an instance in its place has not started.
func (y *yard) recordEarly(old string) {
	for _, c := range y.replacements() {
		if strings.Contains(c.Annotations[api.AnnotationReplaces], old) && !condition.IsTrue(&c, karpv1.ClaimInitialized) {
			y.mu.Lock()
			y.early = append(y.early, old)
			y.mu.Unlock()
		}
	}
}

// clear ends the instance of a deleted claim, with what runs on it.
func (y *yard) clear(c *karpv1.NodeClaim) {
	for _, p := range y.pods() {
		if p.Spec.NodeName == c.Status.NodeName {
			_ = y.hand.Delete(context.Background(), &p, client.GracePeriodSeconds(0))
		}
	}
	if c.Status.NodeName != "" {
		_ = y.hand.Delete(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: c.Status.NodeName}})
	}
	before := c.DeepCopy()
	c.Finalizers = nil
	_ = y.hand.Patch(context.Background(), c, client.MergeFrom(before))
}

func (y *yard) join(i int, change ...func(*karpv1.NodeClaimSpec)) {
	name, labels := fmt.Sprintf("n-%d", i), map[string]string{api.LabelNodePool: "default"}
	id := "aws:///a/i-" + name
	c := &karpv1.NodeClaim{Spec: store.ClaimSpec(), ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("old-%d", i), Labels: labels, Finalizers: []string{api.FinalizerTermination}}}
	for _, change := range change {
		change(&c.Spec)
	}
	y.create(c)
	y.status(c, func() {
		c.Status.ProviderID, c.Status.NodeName = id, name
		condition.SetTrue(c, karpv1.ClaimRegistered, time.Now())
		condition.SetTrue(c, karpv1.ClaimInitialized, time.Now())
	})
	y.node(name, c)
	y.pod(fmt.Sprintf("a-%d", i), name, nil)
	y.pod(fmt.Sprintf("b-%d", i), name, nil)
}

// launchedWith has another node in place of one, whose claim has another spec: none
// changes once it is made.
func (y *yard) launchedWith(i int, change func(*karpv1.NodeClaimSpec)) {
	y.t.Helper()
	old := &karpv1.NodeClaim{}
	if err := y.hand.Get(context.Background(), client.ObjectKey{Name: fmt.Sprintf("old-%d", i)}, old); err != nil {
		y.t.Fatal(err)
	}
	y.clear(old)
	if err := y.hand.Delete(context.Background(), old); err != nil {
		y.t.Fatal(err)
	}
	y.join(i, change)
}

func (y *yard) pod(name, node string, change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}}, Spec: corev1.PodSpec{NodeName: node}}
	p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(y.web, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
	if change != nil {
		change(p)
	}
	y.create(p)
	return p
}

// job runs a pod of a Job of which so many may fail.
func (y *yard) job(name, node string, limit int32) {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: batchv1.JobSpec{BackoffLimit: &limit}}
	y.create(j)
	y.pod(name, node, func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(j, batchv1.SchemeGroupVersion.WithKind("Job"))}
	})
}

func (y *yard) create(o client.Object) {
	y.t.Helper()
	if err := y.hand.Create(context.Background(), o); err != nil {
		y.t.Error(err)
	}
}

// status writes the status of an object.
func (y *yard) status(o client.Object, write func()) {
	before := o.DeepCopyObject().(client.Object)
	write()
	_ = y.hand.Status().Patch(context.Background(), o, client.MergeFrom(before)) // it may be gone
}

// edit changes an object by hand.
func edited[T client.Object](y *yard, namespace, name string, o T, change func(T)) {
	y.t.Helper()
	if err := y.hand.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
		y.t.Fatal(err)
	}
	before := o.DeepCopyObject().(T)
	change(o)
	if err := y.hand.Patch(context.Background(), o, client.MergeFrom(before)); err != nil {
		y.t.Fatal(err)
	}
}

func (y *yard) allowEvictions(n int32) {
	g := &policyv1.PodDisruptionBudget{}
	if err := y.hand.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: "web"}, g); err != nil {
		y.t.Fatal(err)
	}
	y.status(g, func() { g.Status.DisruptionsAllowed, g.Status.ObservedGeneration = n, g.Generation })
}

func (y *yard) list(l client.ObjectList) {
	if err := y.hand.List(context.Background(), l); err != nil {
		y.t.Error(err)
	}
}

func (y *yard) claims() []karpv1.NodeClaim { var l karpv1.NodeClaimList; y.list(&l); return l.Items }
func (y *yard) nodes() []corev1.Node       { var l corev1.NodeList; y.list(&l); return l.Items }
func (y *yard) pods() []corev1.Pod         { var l corev1.PodList; y.list(&l); return l.Items }

// state names the claims that are not deleted, and after a stroke what is not as it should be
// between moves: nodes that are closed, claims that say why they are to go.
func (y *yard) state() string {
	var claims, wrong []string
	for _, c := range y.claims() {
		if c.DeletionTimestamp == nil {
			claims = append(claims, c.Name)
		}
		if c.DeletionTimestamp == nil && condition.Get(&c, karpv1.ClaimDisruptionReason) != nil {
			wrong = append(wrong, c.Name+" says why it is to go")
		}
	}
	for _, n := range y.nodes() {
		if translate.HasTaint(&n, api.TaintDisrupted) {
			wrong = append(wrong, n.Name+" is closed")
		}
	}
	return strings.TrimSuffix(strings.Join(claims, " ")+" | "+strings.Join(wrong, ", "), " | ")
}

// doubts is what is said of the clock.
func (y *yard) doubts() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.doubt
}

// applier returns one that remembers nothing. trouble is asked at every call
// after the yard's own.
func (y *yard) applier(trouble store.Fault) *Applier {
	live := y.server.Connect(func(c store.Call) (error, error) {
		y.mu.Lock()
		unread := y.unread
		y.mu.Unlock()
		if !c.Writes() && c.Kind == unread {
			return errors.New("etcdserver: request timed out"), nil
		}
		if trouble == nil {
			return nil, nil
		}
		return trouble(c)
	})
	y.ledger = &Ledger{}
	return &Applier{Serves: translate.Generations{translate.NodePools()}, Store: live, Live: live, Ledger: y.ledger, Pools: y, Namespace: "kube-system", Now: time.Now, Doubt: y.doubts, NewID: y.newID, View: y.view, Again: func() {
		y.mu.Lock()
		defer y.mu.Unlock()
		y.again++
	}}
}

func (y *yard) newID() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.ids++
	return fmt.Sprintf("new-%d", y.ids)
}

// Pool implements pools: what users write is seen at once.
func (y *yard) Pool(cluster.PoolID) (translate.PoolObject, bool) {
	p := &karpv1.NodePool{}
	err := y.hand.Get(context.Background(), client.ObjectKey{Name: "default"}, p)
	return translate.FromNodePool(p), err == nil
}

func (y *yard) Replacing(_ plan.Move, l Launched) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.launched = append(y.launched, l)
}

func (y *yard) Stuck(plan.Move, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.stuck++
}

func (y *yard) Moved(e Ended) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.ended = append(y.ended, e)
}

// move is a plan to let the first so many nodes go for so many instances.
func (y *yard) move(reason plan.RemovalReason, nodes, instances int) plan.Plan {
	m := plan.Move{}
	var moving []cluster.Pod
	for i := range nodes {
		r := plan.Removal{Node: fmt.Sprintf("n-%d", i), Claim: fmt.Sprintf("old-%d", i), Pool: poolID, Reason: reason, Note: "a test says so"}
		for _, p := range y.pods() {
			if p.Spec.NodeName == r.Node {
				r.Pods = append(r.Pods, podspec.Pod(&p, time.Now(), false))
			}
		}
		m.Removals, moving = append(m.Removals, r), append(moving, r.Pods...)
	}
	for i := range instances {
		m.Launches = append(m.Launches, plan.Launch{Name: fmt.Sprintf("instead-%d", i+1), Pool: poolID})
	}
	for i, p := range moving {
		at := plan.Placement{Pod: p, On: plan.OnNode, Target: "n-9"}
		if instances > 0 {
			at.On, at.Target = plan.OnLaunch, m.Launches[i%instances].Name
		}
		m.Placements = append(m.Placements, at)
	}
	return plan.Plan{Moves: []plan.Move{m}}
}

// snapshot is what the plan was made from, as far as launches examine it.
func (y *yard) snapshot() *cluster.Snapshot {
	o, _ := y.Pool(poolID)
	p, err := translate.Pool(o, 0, time.Now())
	if err != nil {
		y.t.Fatal(err)
	}
	return &cluster.Snapshot{Now: time.Now(), Pools: []cluster.Pool{p}}
}

// replacements lists the claims that were launched in place of others.
func (y *yard) replacements() (out []karpv1.NodeClaim) {
	return slices.DeleteFunc(y.claims(), func(c karpv1.NodeClaim) bool { return c.Annotations[api.AnnotationReplaces] == "" })
}
