package termination

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/surge"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/store"
)

// said keeps events.
type said struct {
	mu    sync.Mutex
	texts []string
}

func (s *said) Publish(e observe.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, e.Reason+": "+e.Message)
}

func (s *said) has(words string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.texts, func(text string) bool { return strings.Contains(text, words) })
}

// town is a cluster with a node that leaves, one that stays, and workloads whose
// pods are ready some seconds after they were made.
type town struct {
	t        *testing.T
	server   *store.Server
	hand     *store.Connection // what tests and the town's people write with
	cloud    *region
	reported *said
	fault    store.Fault // of the controller's calls
	holds    *apply.Holds

	shifted func(zoneID string) bool
	doubt   string // of the clock

	readyAfter time.Duration  // how long pods take on the node that stays
	fewest     map[string]int // ready pods of each app, at the worst moment
	made       int            // pods
}

const (
	leaves = "old"
	stays  = "new"
)

func newTown(t *testing.T) *town {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	w := &town{t: t, server: store.New(s, time.Now), cloud: newRegion(), reported: &said{}, holds: &apply.Holds{},
		readyAfter: 5 * time.Second, fewest: map[string]int{}}
	w.hand = w.server.Connect(nil)
	for _, name := range []string{leaves, stays} {
		w.create(&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{api.LabelNodePool: "default"},
				Finalizers: []string{api.FinalizerTermination}},
			Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-" + name},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady,
				Status: corev1.ConditionTrue}}}})
	}
	return w
}

func (w *town) create(o client.Object) {
	w.t.Helper()
	if err := w.hand.Create(context.Background(), o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *town) get(name string, o client.Object) bool {
	namespace := "default"
	switch o.(type) {
	case *corev1.Node, *karpv1.NodeClaim, *karpv1.NodePool:
		namespace = ""
	}
	return w.hand.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, o) == nil
}

func (w *town) list(l client.ObjectList) {
	if err := w.hand.List(context.Background(), l); err != nil {
		w.t.Fatal(err)
	}
}

// pods lists those of an app that are not ending.
func (w *town) pods(app string) []corev1.Pod {
	var l corev1.PodList
	w.list(&l)
	return slices.DeleteFunc(l.Items,
		func(p corev1.Pod) bool { return p.Labels["app"] != app || p.DeletionTimestamp != nil })
}

// pool has the nodes be of a pool with these annotations.
func (w *town) pool(annotations map[string]string) {
	w.create(&karpv1.NodePool{Spec: store.PoolSpec(),
		ObjectMeta: metav1.ObjectMeta{Name: "default", Annotations: annotations}})
}

// run makes pods of an owner that are ready.
func (w *town) run(app, node string, owner client.Object, annotations map[string]string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Labels: map[string]string{"app": app},
		Annotations: annotations}}
	w.made++
	p.Name = fmt.Sprintf("%s-%d", app, w.made)
	kind := ""
	switch owner.(type) {
	case *appsv1.ReplicaSet:
		kind = "ReplicaSet"
	case *appsv1.StatefulSet:
		kind, p.Name = "StatefulSet", app+"-0"
	}
	if kind != "" {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: owner.GetName(),
			UID: owner.GetUID(), Controller: new(true)}}
	}
	p.Spec.NodeName = node
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	w.create(p)
	return p
}

func (w *town) service(app string) {
	w.create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: app},
		Spec: corev1.ServiceSpec{Selector: map[string]string{"app": app}}})
}

func meant(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

// deployment makes a Deployment with its ReplicaSet, and no pods yet.
func (w *town) deployment(app string, replicas int32, annotations map[string]string,
	change func(*appsv1.Deployment)) *appsv1.ReplicaSet {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: app},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: meant(app)}}
	if change != nil {
		change(d)
	}
	w.create(d)
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: app,
		OwnerReferences: []metav1.OwnerReference{
			{Kind: "Deployment", Name: app, UID: d.UID, Controller: new(true)}}}}
	rs.Spec = appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: meant(app)}
	rs.Spec.Template.Annotations = annotations
	w.create(rs)
	return rs
}

func (w *town) set(app string, annotations map[string]string, change func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	s := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: app},
		Spec: appsv1.StatefulSetSpec{Replicas: new(int32(1)), Selector: meant(app)}}
	s.Spec.Template.Annotations = annotations
	if change != nil {
		change(s)
	}
	w.create(s)
	return s
}

// scaler makes an autoscaler for a Deployment.
func (w *town) scaler(app string) {
	h := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: app}}
	h.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: app}
	w.create(h)
}

// replicas is what a Deployment asks for, and how many surges are recorded.
func (w *town) replicas(app string) (replicas int32, surges int) {
	d := &appsv1.Deployment{}
	if !w.get(app, d) {
		w.t.Fatalf("no Deployment %s", app)
	}
	return *d.Spec.Replicas, w.surges()
}

func (w *town) surges() int {
	all, err := recordsOf(w.hand).All(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return len(all)
}

// act plays the people of the town once: controllers of workloads, kubelets.
func (w *town) act() {
	ctx := context.Background()
	var deployments appsv1.DeploymentList
	w.list(&deployments)
	for _, d := range deployments.Items {
		rs := &appsv1.ReplicaSet{}
		if w.get(d.Name, rs) && *rs.Spec.Replicas != *d.Spec.Replicas {
			rs.Spec.Replicas = d.Spec.Replicas
			_ = w.hand.Update(ctx, rs)
		}
	}
	var sets appsv1.ReplicaSetList
	w.list(&sets)
	for _, rs := range sets.Items {
		w.keep(&rs)
	}
	var stateful appsv1.StatefulSetList
	w.list(&stateful)
	for _, s := range stateful.Items {
		w.keepInOrder(&s)
	}
	var pods corev1.PodList
	w.list(&pods)
	ready := map[string]int{}
	for _, p := range pods.Items {
		app := p.Labels["app"]
		switch {
		case p.DeletionTimestamp != nil:
			if reported := p.DeletionTimestamp.Add(-time.Duration(*p.DeletionGracePeriodSeconds) * time.Second); time.Since(reported) > 2*time.Second {
				_ = w.hand.Delete(ctx, &p, client.GracePeriodSeconds(0))
			}
		case podspec.IsUp(&p):
			ready[app]++
		case time.Since(p.CreationTimestamp.Time) >= w.readyAfter && w.readyAfter >= 0:
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			_ = w.hand.Status().Update(ctx, &p)
			ready[app]++
		}
	}
	for app := range w.fewest {
		w.fewest[app] = min(w.fewest[app], ready[app])
	}
}

// keep makes or deletes pods of a ReplicaSet: those first that are not ready,
// then the newest.
func (w *town) keep(rs *appsv1.ReplicaSet) {
	have := w.pods(rs.Name)
	for range int(*rs.Spec.Replicas) - len(have) {
		p := w.run(rs.Name, stays, rs, rs.Spec.Template.Annotations)
		p.Status.Conditions = nil
		_ = w.hand.Status().Update(context.Background(), p)
	}
	slices.SortFunc(have, func(a, b corev1.Pod) int {
		if podspec.IsUp(&a) != podspec.IsUp(&b) {
			if podspec.IsUp(&b) {
				return -1
			}
			return 1
		}
		return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
	})
	for i := range len(have) - int(*rs.Spec.Replicas) {
		_ = w.hand.Delete(context.Background(), &have[i])
	}
}

// keepInOrder makes or deletes pods of a StatefulSet by their number.
func (w *town) keepInOrder(s *appsv1.StatefulSet) {
	for i := range 3 {
		p, name := &corev1.Pod{}, fmt.Sprintf("%s-%d", s.Name, i)
		there := w.get(name, p)
		switch {
		case !there && i < int(*s.Spec.Replicas):
			p = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
				Labels: map[string]string{"app": s.Name}, Annotations: s.Spec.Template.Annotations,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: s.Name,
					UID: s.UID, Controller: new(true)}}}}
			p.Spec.NodeName = stays
			w.create(p)
		case there && i >= int(*s.Spec.Replicas) && p.DeletionTimestamp == nil:
			_ = w.hand.Delete(context.Background(), p)
		}
	}
}

// start makes a controller that knows nothing of earlier ones.
func (w *town) start() *Reconciler {
	store := w.server.Connect(w.fault)
	return &Reconciler{Store: store, Live: store, Serves: translate.Generations{translate.NodePools()},
		Instances: w.cloud, Log: slog.New(slog.DiscardHandler), Now: time.Now, Doubt: func() string { return w.doubt }, Events: w.reported, Foreign: allOurs, Shifted: w.shifted, Holds: w.holds, Surges: recordsOf(store),
		Metrics: observe.NewMetrics(prometheus.NewRegistry(), "", "", "", "")}
}

func recordsOf(c client.Client) surge.Records {
	return surge.Records{Store: c, Live: c, Namespace: "kube-system"}
}

// allOurs is where no other provider is.
func allOurs(context.Context, *corev1.Node) (bool, error) { return false, nil }

// watch has the worst moment of an app be remembered.
func (w *town) watch(app string) { w.fewest[app] = len(w.pods(app)) }

// leave deletes the node that leaves, and runs a controller until a condition
// holds; whenever it fails with errDead another one begins.
func (w *town) leave(limit time.Duration, what string, holds func() bool) {
	w.t.Helper()
	node := &corev1.Node{}
	if w.get(leaves, node) && node.DeletionTimestamp == nil {
		if err := w.hand.Delete(context.Background(), node); err != nil {
			w.t.Fatal(err)
		}
	}
	w.on(limit, what, holds)
}

func (w *town) on(limit time.Duration, what string, holds func() bool) {
	w.t.Helper()
	r := w.start()
	var look, round time.Time // when the next are due
	for began := time.Now(); ; time.Sleep(500 * time.Millisecond) {
		w.act()
		if holds() {
			return
		}
		if time.Since(began) > limit {
			w.t.Fatalf("%s did not come within %v; events: %s", what, limit, strings.Join(w.reported.texts, "\n"))
		}
		var err error
		if !time.Now().Before(look) {
			var again time.Duration
			again, err = r.Reconcile(w.t.Context(), leaves)
			look = time.Now().Add(again)
		}
		if err == nil && !time.Now().Before(round) {
			var again time.Duration
			again, err = r.TakeBack(w.t.Context())
			round = time.Now().Add(again)
		}
		if err != nil {
			r, look, round = w.start(), time.Time{}, time.Time{} // it forgets everything
		}
	}
}

// gone reports whether the node that leaves has left.
func (w *town) gone() bool { return !w.get(leaves, &corev1.Node{}) }

// inTown tells a story in virtual time.
func inTown(t *testing.T, story func(t *testing.T, w *town)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { story(t, newTown(t)) })
}

// attach makes a bound claim of a volume that is attached to a node.
func (w *town) attach(claim, volume, node string) {
	w.create(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: claim},
		Spec: corev1.PersistentVolumeClaimSpec{
			VolumeName: volume, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}}})
	a := w.attachment(volume)
	a.Spec = storagev1.VolumeAttachmentSpec{NodeName: node,
		Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume}}
	w.create(a)
}

func (w *town) attachment(volume string) *storagev1.VolumeAttachment {
	return &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: volume}}
}
