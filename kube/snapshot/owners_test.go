package snapshot

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
)

// No place is sought for pods that their owner does not create again. A StatefulSet
// that is scaled down ends one pod after another, the highest ordinal first: those
// that are yet to end do not return either.
func TestOnlyPodsThatTheirOwnerCreatesAgainReturn(t *testing.T) {
	set := func(replicas, first int32, deleted bool) *appsv1.StatefulSet {
		s := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{}, Ordinals: &appsv1.StatefulSetOrdinals{Start: first}}}
		if deleted {
			s.DeletionTimestamp = &metav1.Time{Time: start}
		}
		return s
	}
	replicaSet := func(replicas int32, change ...func(*metav1.ObjectMeta)) func(*ClusterState) {
		return func(k *ClusterState) {
			rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{}}}
			for _, c := range change {
				c(&rs.ObjectMeta)
			}
			k.Seen(rs)
		}
	}
	deleted := func(m *metav1.ObjectMeta) { m.DeletionTimestamp = &metav1.Time{Time: start} }
	job := func(limit, failed int32, change ...func(*batchv1.Job)) func(*ClusterState) {
		return func(k *ClusterState) {
			j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: batchv1.JobSpec{BackoffLimit: &limit}, Status: batchv1.JobStatus{Failed: failed}}
			for _, c := range change {
				c(j)
			}
			k.Seen(j)
		}
	}
	complete := func(j *batchv1.Job) {
		j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	}
	ends := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} }
	runs := func(*corev1.Pod) {}
	is := func(replicas, first int32, deleted bool) func(*ClusterState) {
		return func(k *ClusterState) { k.Seen(set(replicas, first, deleted)) }
	}
	for what, tt := range map[string]struct {
		kind  string
		phase func(*corev1.Pod)
		then  func(*ClusterState)
		want  bool
		work  bool // it does not return, and its work ends with it
	}{
		"an ordinal that is wanted ends":             {"StatefulSet", ends, is(3, 0, false), true, false},
		"the StatefulSet is scaled down and it ends": {"StatefulSet", ends, is(1, 0, false), false, false},
		"the StatefulSet is scaled down and it runs": {"StatefulSet", runs, is(1, 0, false), false, false},
		"ordinals start at its own":                  {"StatefulSet", ends, is(1, 1, false), true, false},
		"ordinals start above its own":               {"StatefulSet", ends, is(3, 2, false), false, false},
		"the StatefulSet is deleted after its pods":  {"StatefulSet", runs, is(3, 0, true), false, false},
		"the StatefulSet is gone and it ends": {"StatefulSet", ends, func(k *ClusterState) {
			k.Gone(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}})
		}, false, false},
		"the StatefulSet is made again": {"StatefulSet", ends, func(k *ClusterState) {
			k.Gone(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}})
			is(2, 0, false)(k)
		}, true, false},
		"the StatefulSet is scaled down and up again": {"StatefulSet", ends, func(k *ClusterState) { is(1, 0, false)(k); k.Snapshot(); is(2, 0, false)(k) }, true, false},
		"the ReplicaSet wants pods":                   {"ReplicaSet", runs, replicaSet(1), true, false},
		"the ReplicaSet is scaled to none":            {"ReplicaSet", runs, replicaSet(0), false, false},
		"the ReplicaSet is being deleted":             {"ReplicaSet", runs, replicaSet(2, deleted), false, false},
		"the ReplicaSet is gone, and its pods are yet to be collected": {"ReplicaSet", runs, func(k *ClusterState) {
			k.Gone(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}})
		}, false, false},
		"the ReplicaSet is being deleted and leaves its pods behind": {"ReplicaSet", runs, replicaSet(2, deleted, func(m *metav1.ObjectMeta) { m.Finalizers = []string{metav1.FinalizerOrphanDependents} }), false, true},
		"the StatefulSet is gone and it runs": {"StatefulSet", runs, func(k *ClusterState) {
			k.Gone(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}})
		}, false, false},
		"more pods of the Job may fail":    {"Job", runs, job(6, 2), true, false},
		"no more pods of the Job may fail": {"Job", runs, job(6, 6), false, true},
		"the Job is complete":              {"Job", runs, job(6, 0, complete), false, false},
		"the Job is suspended":             {"Job", runs, job(6, 0, func(j *batchv1.Job) { j.Spec.Suspend = new(true) }), false, false},
		"the Job is suspended and resumed": {"Job", runs, func(k *ClusterState) {
			job(6, 0, func(j *batchv1.Job) { j.Spec.Suspend = new(true) })(k)
			k.Snapshot()
			job(6, 0)(k)
		}, true, false},
		"the Job is gone": {"Job", runs, func(k *ClusterState) {
			k.Gone(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}})
		}, false, false},
	} {
		t.Run(what, func(t *testing.T) {
			k, group := newClusterState(), "apps/v1"
			if tt.kind == "Job" {
				group = "batch/v1"
			}
			is(2, 0, false)(k)
			replicaSet(2)(k)
			job(6, 0)(k)
			k.Seen(node("n"))
			k.Listed(pod("web-1", "1", "n", by(group, tt.kind), tt.phase))
			if p := k.Snapshot().Nodes[0].Pods[0]; !p.Returns {
				t.Fatalf("at first the pod does not return: %+v", p)
			}
			tt.then(k)
			if p := k.Snapshot().Nodes[0].Pods[0]; p.Returns != tt.want || (p.OneOff != "") != tt.work {
				t.Errorf("the pod returns: %v, work ends with it: %q; want %v, %v", p.Returns, p.OneOff, tt.want, tt.work)
			}
		})
	}
}

// A plan is made when a StatefulSet is scaled down: places that were sought for its
// pods are not needed any more.
func TestAScaledStatefulSetAsksForAPlan(t *testing.T) {
	k := newClusterState()
	wanting(2)(k)
	k.Seen(node("n"))
	k.Listed(pod("web-1", "1", "n", by("apps/v1", "StatefulSet")))
	k.Listed(pod("web-2", "1", "n", by("apps/v1", "StatefulSet")))
	k.Snapshot()
	select {
	case <-k.Changed():
	default:
	}
	fewer := int32(1)
	k.Seen(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.StatefulSetSpec{Replicas: &fewer, Selector: &metav1.LabelSelector{}}})
	select {
	case <-k.Changed():
	default:
		t.Error("no plan is asked for")
	}
}

// A ReplicaSet that is scaled down creates no pod in place of the first that are evicted.
// Which it ends is known when it has done so; until then as many pods do not return,
// beginning with those that Kubernetes would end first. Which of them wait for a node
// counts: they go first, and need no other place.
func TestAsManyPodsAsAreTooManyDoNotReturn(t *testing.T) {
	wants := func(k *ClusterState, n int32) {
		k.Seen(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: appsv1.ReplicaSetSpec{Replicas: &n, Selector: &metav1.LabelSelector{}}})
	}
	web := by("apps/v1", "ReplicaSet")
	ready := func(p *corev1.Pod) {
		p.Status.Phase, p.Status.Conditions = corev1.PodRunning, []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	young := func(p *corev1.Pod) { p.CreationTimestamp = metav1.Time{Time: start.Add(-time.Minute)} }
	cheap := func(p *corev1.Pod) { // as Daemok has it, of a node that is to empty
		p.Annotations = map[string]string{api.AnnotationPodDeletionCost: "-5", api.AnnotationDeletionCost: "-5"}
	}
	for what, tt := range map[string]struct {
		then func(k *ClusterState)
		want []string // that return
	}{
		"all are wanted":   {func(*ClusterState) {}, []string{"cheap", "old", "unready", "young"}},
		"one is too many":  {func(k *ClusterState) { wants(k, 3) }, []string{"cheap", "old", "young"}},
		"two are":          {func(k *ClusterState) { wants(k, 2) }, []string{"old", "young"}},
		"three are":        {func(k *ClusterState) { wants(k, 1) }, []string{"old"}},
		"one of two waits": {func(k *ClusterState) { k.Listed(pod("waits", "1", "", web)); wants(k, 3) }, []string{"cheap", "old", "young"}},
		"the one that was ends": {func(k *ClusterState) {
			wants(k, 3)
			k.Snapshot()
			k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "old"}})
		}, []string{"cheap", "unready", "young"}},
		"they are wanted after all": {func(k *ClusterState) { wants(k, 1); k.Snapshot(); wants(k, 4) }, []string{"cheap", "old", "unready", "young"}},
	} {
		t.Run(what, func(t *testing.T) {
			k := newClusterState()
			wants(k, 4)
			k.Seen(node("n"))
			k.Listed(pod("old", "1", "n", web, ready))
			k.Listed(pod("young", "1", "n", web, ready, young))
			k.Listed(pod("cheap", "1", "n", web, ready, cheap))
			k.Listed(pod("unready", "1", "n", web))
			k.Snapshot()
			tt.then(k)
			var got []string
			for _, p := range k.Snapshot().Nodes[0].Pods {
				if p.OneOff != "" {
					t.Errorf("work ends with pod %s: %s", p.Name, p.OneOff)
				}
				if p.Returns {
					got = append(got, p.Name)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v return, want %v", got, tt.want)
			}
		})
	}
}

// A plan is made when a Job fails with one more failed pod, and when it allows more: its
// pods keep their nodes, or do not any more.
func TestAJobThatAllowsFewerFailuresAsksForAPlan(t *testing.T) {
	k := newClusterState()
	is := func(limit, failed int32) {
		k.Seen(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: batchv1.JobSpec{BackoffLimit: &limit}, Status: batchv1.JobStatus{Failed: failed}})
	}
	asked := func() bool {
		select {
		case <-k.Changed():
			return true
		default:
			return false
		}
	}
	is(2, 1)
	k.Seen(node("n"))
	k.Listed(pod("web-x", "1", "n", by("batch/v1", "Job")))
	k.Snapshot()
	asked()
	for _, next := range [][3]int32{{2, 1, 0}, {2, 2, 1}, {3, 2, 1}} {
		if is(next[0], next[1]); asked() != (next[2] == 1) {
			t.Errorf("a Job with %d of %d failed: is a plan asked for: %v", next[1], next[0], next[2] != 1)
		}
	}
}
