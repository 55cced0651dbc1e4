package snapshot

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/snapshot/pods"
	"github.com/daemok/daemok/kube/translate"
)

// witness is a cluster state with a clock of its own and what classes offer as it knows.
type witness struct {
	*ClusterState
	at      time.Time
	offered *cluster.Catalogue
}

func newWitness(byDefault bool) *witness {
	w := &witness{at: start}
	w.ClusterState = New(func(karpv1.NodeClassReference) (*cluster.Catalogue, string) { return w.offered, "not asked yet" }, func() time.Time { return w.at })
	w.Configure(func(s *Settings) {
		s.FreezeIn, s.Self = "kube-system", types.NamespacedName{Namespace: "default", Name: "live-0"}
		if byDefault {
			s.Spreads = byHost
		}
	})
	return w
}

// life draws what happens in a cluster: one event at a time, that every witness can be shown.
type life struct {
	*shop
	at      time.Time
	live    map[string]*corev1.Pod
	created int
}

func (l *life) maybe(one int) bool { return l.rng.IntN(one) == 0 }

func (l *life) next() func(*witness) {
	switch l.rng.IntN(12) {
	case 0, 1, 2, 3, 4:
		return l.pod()
	case 5, 6:
		return l.instance()
	case 7:
		l.at = l.at.Add([]time.Duration{100 * time.Millisecond, 10 * time.Second, 11 * time.Minute}[l.rng.IntN(3)])
		at := l.at
		return func(w *witness) { w.at = at }
	case 8, 9:
		return l.rare()
	}
	o := l.object()
	key := fmt.Sprintf("%T %s/%s", o, o.GetNamespace(), o.GetName())
	if before := l.have[key]; before != nil && l.maybe(3) {
		delete(l.have, key)
		return func(w *witness) { end(w.ClusterState, before) }
	}
	l.have[key] = o
	return func(w *witness) { report(w.ClusterState, o) }
}

// pod takes a pod one step further in its life.
func (l *life) pod() func(*witness) {
	name := fmt.Sprint("live-", l.rng.IntN(9))
	p := l.live[name]
	if p != nil && (p.DeletionTimestamp != nil || l.maybe(12)) {
		delete(l.live, name)
		return func(w *witness) { w.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}) }
	}
	if p == nil {
		p = l.born(name)
	} else if p = p.DeepCopy(); p.Spec.NodeName == "" {
		l.judged(p)
	} else {
		l.runs(p)
	}
	l.live[name] = p
	return func(w *witness) { w.Seen(p) }
}

func (l *life) born(name string) *corev1.Pod {
	l.created++
	p := pod(name, l.one("1", "2"), "", func(p *corev1.Pod) {
		p.UID, p.CreationTimestamp = types.UID(fmt.Sprint("u", l.created)), metav1.NewTime(l.at)
		p.Labels = map[string]string{"app": l.one("a", "b")}
		p.Status.Conditions = nil
	})
	switch l.rng.IntN(5) {
	case 4:
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "owner", Controller: new(true)}}
	case 0, 1:
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "owner", Controller: new(true)}}
	case 2:
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", Controller: new(true)}}
	}
	switch l.rng.IntN(4) {
	case 0:
		p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: l.one("true", "5m")}
	case 1:
		p.Annotations = map[string]string{api.AnnotationKeepReady: l.one("true", "false")}
	case 2:
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: l.one("c1", "c2")}}}}
	}
	return p
}

func (l *life) judged(p *corev1.Pod) {
	switch l.rng.IntN(4) {
	case 0:
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	case 1:
		p.Status.NominatedNodeName = l.one("n1", "n2", "n3", "")
	default:
		p.Spec.NodeName, p.Status.Phase = l.one("n1", "n2", "n3"), corev1.PodPending
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(l.at)}}
	}
}

func (l *life) runs(p *corev1.Pod) {
	switch l.rng.IntN(7) {
	case 0:
		p.DeletionTimestamp = &metav1.Time{Time: l.at}
	case 1:
		p.Status.Phase = corev1.PodSucceeded
	case 2:
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
	default:
		p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &metav1.Time{Time: l.at}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(p.CreationTimestamp.Time)},
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(l.at)}}
	}
}

// instance changes a node, or its claim.
func (l *life) instance() func(*witness) {
	name := l.one("n1", "n2", "n3", "n4")
	gone := l.maybe(6)
	if l.maybe(2) {
		n := node(name)
		n.Labels[api.LabelInstanceType], n.Labels[api.LabelZone], n.Labels[api.LabelCapacityType] = "m5.large", "a", "on-demand"
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionStatus(l.one("True", "True", "False"))}}
		if l.maybe(2) {
			n.Spec.Taints = []corev1.Taint{{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule}}
		}
		if gone {
			return func(w *witness) { w.Gone(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}) }
		}
		return func(w *witness) { w.Seen(n) }
	}
	c := claimOf(name)
	c.Status.NodeName, c.CreationTimestamp = name, metav1.NewTime(start.Add(-time.Hour))
	c.Labels[api.LabelInstanceType], c.Labels[api.LabelZone], c.Labels[api.LabelCapacityType] = "m5.large", "a", "on-demand"
	for _, kind := range []string{karpv1.ClaimRegistered, karpv1.ClaimInitialized, karpv1.ClaimDrifted, karpv1.ClaimInstanceTerminating}[:[]int{0, 1, 2, 2, 2, 2, 3, 4}[l.rng.IntN(8)]] {
		condition.SetTrue(c, kind, start.Add(-time.Minute))
	}
	if l.maybe(9) {
		c.Annotations = map[string]string{api.AnnotationEnds: start.Add(time.Hour).Format(time.RFC3339)}
	}
	if l.maybe(4) {
		c.DeletionTimestamp = &metav1.Time{Time: l.at}
	}
	if l.maybe(3) {
		c.Annotations = map[string]string{l.one(api.AnnotationReplaces, api.AnnotationTakes): "claim-" + l.one("n1", "n2")}
	}
	if l.maybe(5) {
		c.Annotations = map[string]string{api.AnnotationAdopt: c.Status.ProviderID}
	}
	if l.maybe(6) {
		c.Status.ProviderID = ""
	}
	if gone {
		return func(w *witness) { w.Gone(c) }
	}
	return func(w *witness) { w.Seen(c) }
}

// rare changes what people and other processes say seldom.
func (l *life) rare() func(*witness) {
	switch l.rng.IntN(11) {
	case 0:
		p := pool("default")
		p.Annotations = map[string]string{api.AnnotationKeepReady: l.one("true", "false")}
		if l.maybe(2) {
			p.Annotations[api.AnnotationRoll] = mark.Roll{Since: l.at, All: true}.String()
		}
		if l.maybe(3) {
			p.Disruption.Budgets = []karpv1.Budget{{Nodes: "0", Schedule: new("*/20 * * * *"), Duration: new("10m")}}
		}
		return func(w *witness) { w.PoolSeen(p) }
	case 1:
		return func(w *witness) { w.PoolGone(pool("default").ID) }
	case 2:
		offered := &cluster.Catalogue{Revision: l.rng.Uint64(), InstanceTypes: []cluster.InstanceType{{Name: "m5.large", Attachable: []cluster.Attachable{{Driver: "ebs.csi.aws.com", Count: 3}},
			Offerings: []cluster.Offering{{Zone: "a", Option: cluster.OnDemand, Priced: true, Available: true, Price: 1000 + quantity.MicroUSDPerHour(l.rng.IntN(9))}}}}}
		return func(w *witness) { w.offered = offered; w.Touch() }
	case 3:
		f := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: api.ConfigMapFreeze}, Data: map[string]string{"reason": "a sale", "until": l.at.Add(5 * time.Minute).Format(time.RFC3339)}}
		return func(w *witness) { w.Seen(f) }
	case 4:
		list := []v1alpha1.DisruptionPolicy{{ObjectMeta: metav1.ObjectMeta{Name: "night"}, Spec: v1alpha1.DisruptionPolicySpec{Breaker: &v1alpha1.Breaker{Nodes: l.one("50%", "100%"), Within: "30m"}}}}
		return func(w *witness) { w.PoliciesAre(list) }
	case 5:
		o := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner"}, Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(1 + l.rng.IntN(8))),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": l.one("a", "b")}}}}
		if l.maybe(3) {
			j := &batchv1.Job{ObjectMeta: o.ObjectMeta, Spec: batchv1.JobSpec{Parallelism: o.Spec.Replicas, BackoffLimit: new(int32(l.rng.IntN(3)))}}
			if l.maybe(4) {
				return func(w *witness) {
					w.Gone(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner"}})
				}
			}
			return func(w *witness) { w.Seen(j) }
		}
		if l.maybe(6) {
			return func(w *witness) {
				w.Gone(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner"}})
			}
		}
		return func(w *witness) { w.Seen(o) }
	case 6:
		m := Memory{Moved: map[string]pods.Moved{fmt.Sprint("u", l.rng.IntN(l.created+1)): {Times: 1 + l.rng.IntN(2), At: l.at}}}
		return func(w *witness) { w.Remember(m) }
	case 7, 8:
		b := l.pdb(metav1.ObjectMeta{Namespace: "default", Name: l.one("g1", "g2", "g3")})
		b.Spec.MaxUnavailable, b.Status.DisruptionsAllowed = new(intstr.FromInt32(int32(l.rng.IntN(2)))), int32(l.rng.IntN(2))
		return func(w *witness) { w.Seen(b) }
	case 9:
		volume := l.one("v1", "v2")
		left := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: volume + "-on-n1"}}
		left.Spec.Attacher, left.Spec.NodeName, left.Spec.Source.PersistentVolumeName = "ebs.csi.aws.com", "n1", &volume
		return func(w *witness) { w.Seen(left) }
	}
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: l.one("s1", "s2")}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": l.one("a", "b")}}}
	return func(w *witness) { w.Seen(s) }
}

// TestASnapshotKeptEqualsOneMadeAtOnce: whatever happens, and whenever snapshots are
// taken meanwhile, the next one says in every field what a cluster state says that was shown the
// same and never made one before; and none that was handed out changes any more.
func TestASnapshotKeptEqualsOneMadeAtOnce(t *testing.T) {
	var seen struct{ last, returns, protected, controller, promised, instance, left, frozen, moved, kept, rolled, oneOff, unwanted bool }
	for seed := range uint64(40) {
		l := &life{shop: &shop{rng: rand.New(rand.NewPCG(seed, 5)), have: map[string]client.Object{}}, at: start, live: map[string]*corev1.Pod{}}
		kept := newWitness(seed%2 == 0)
		var story []func(*witness)
		handed := map[*cluster.Snapshot]string{}
		for step := range 90 {
			event := l.next()
			story = append(story, event)
			event(kept)
			if seed%3 == 0 && l.maybe(3) {
				continue // several changes between two snapshots
			}
			fresh := newWitness(seed%2 == 0)
			for _, event := range story {
				event(fresh)
			}
			got, want := kept.Snapshot(), fresh.Snapshot()
			want.Revision = got.Revision // it counts changes: a rule that none has asked for yet changes nothing
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, step %d: the kept snapshot is\n%s\nwant\n%s", seed, step, scenario.Print(got), scenario.Print(want))
			}
			if step%10 == 0 {
				handed[got] = scenario.Print(got)
			}
			seen.instance = seen.instance || len(got.Instances) > 0
			seen.frozen = seen.frozen || got.Freeze != ""
			for i := range got.Nodes {
				n := &got.Nodes[i]
				seen.controller = seen.controller || n.Controller != ""
				seen.rolled = seen.rolled || n.Drifted == translate.RollRequested
				seen.left = seen.left || len(n.Attachable) > 0 && n.Attachable[0].Count < 0
				for _, p := range n.Pods {
					seen.last = seen.last || p.LastOf != ""
					seen.returns = seen.returns || p.Ending && p.Returns
					seen.protected = seen.protected || p.DoNotDisrupt && !p.ProtectedUntil.IsZero()
					seen.promised = seen.promised || p.Node == ""
					seen.kept = seen.kept || p.Kept
					seen.moved = seen.moved || p.Moved > 0
					seen.oneOff = seen.oneOff || p.OneOff != ""
					seen.unwanted = seen.unwanted || !p.Returns && p.OneOff == "" && !p.Ending && p.Owner == "ReplicaSet/owner"
				}
			}
		}
		for s, text := range handed {
			if now := scenario.Print(s); now != text {
				t.Fatalf("seed %d: a snapshot that was handed out was\n%s\nand is now\n%s", seed, text, now)
			}
		}
	}
	for v, i := reflect.ValueOf(seen), 0; i < v.NumField(); i++ {
		if !v.Field(i).Bool() {
			t.Errorf("no snapshot showed %s: the test does not reach it", v.Type().Field(i).Name)
		}
	}
}

// TestSnapshotsAreReadWhileOthersAreMade: what one shows is written by none, also
// where it shares what the next one shows.
func TestSnapshotsAreReadWhileOthersAreMade(t *testing.T) {
	l := &life{shop: &shop{rng: rand.New(rand.NewPCG(7, 5)), have: map[string]client.Object{}}, at: start, live: map[string]*corev1.Pod{}}
	w := newWitness(true)
	var readers sync.WaitGroup
	for range 200 {
		l.next()(w)
		s := w.Snapshot()
		text := scenario.Print(s)
		readers.Go(func() {
			if again := scenario.Print(s); again != text {
				t.Errorf("a snapshot was\n%s\nand is\n%s", text, again)
			}
		})
	}
	readers.Wait()
}
