package snapshot

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
)

// of makes a pod one of a workload.
func of(workload string) func(*corev1.Pod) {
	yes := true
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", Name: workload, Controller: &yes}}
	}
}

// upAfter makes a pod say that it was so long after it had a node.
func upAfter(after time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Time{Time: start}},
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Time{Time: start.Add(after)}},
		}
	}
}

func comingUp(p *corev1.Pod) {
	upAfter(0)(p)
	p.Status.Conditions[1].Status = corev1.ConditionFalse
}

// startsFor is what a snapshot says of how long a pod takes to start.
func startsFor(k *Keeper, name string) time.Duration {
	for _, n := range k.Snapshot().Nodes {
		for _, p := range n.Pods {
			if p.Name == name {
				return p.StartsFor
			}
		}
	}
	return -1
}

// How long pods take from having a node to being ready is told of all pods of their
// workload: the median of those that were seen to start. A pod that is ready again
// after a while did not start anew, and of one that had a node before this process
// looked it is not known whether it was ready before.
func TestHowLongPodsTakeToStart(t *testing.T) {
	k := newKeeper()
	k.NodeSeen(node("n"))
	starts := func(name, workload string, took time.Duration) {
		k.PodSeen(pod(name, "1", "", of(workload)), false)
		k.PodSeen(pod(name, "1", "n", of(workload), comingUp), false)
		k.PodSeen(pod(name, "1", "n", of(workload), upAfter(took)), false)
	}
	starts("web-1", "web", 40*time.Second)
	starts("web-2", "web", 10*time.Minute) // its node was slow
	starts("web-3", "web", 50*time.Second)
	starts("db-1", "db", 3*time.Minute)
	k.PodSeen(pod("web-1", "1", "n", of("web"), comingUp), false)
	k.PodSeen(pod("web-1", "1", "n", of("web"), upAfter(time.Hour)), false)
	for i := range 3 {
		name := fmt.Sprintf("old-%d", i)
		k.PodSeen(pod(name, "1", "n", of("old"), comingUp), true)
		k.PodSeen(pod(name, "1", "n", of("old"), upAfter(time.Hour)), false)
	}
	k.PodSeen(pod("waited", "1", "", of("waits")), true)
	k.PodSeen(pod("waited", "1", "n", of("waits"), upAfter(20*time.Second)), false)
	k.PodSeen(pod("db-1", "1", "n", of("db"), comingUp, func(p *corev1.Pod) { p.UID = "another" }), false) // in place of the first
	k.PodSeen(pod("db-1", "1", "n", of("db"), upAfter(5*time.Minute), func(p *corev1.Pod) { p.UID = "another" }), false)
	starts("alone", "", time.Minute)
	k.PodSeen(pod("alone", "1", "n", upAfter(time.Minute)), false)

	for name, want := range map[string]time.Duration{
		"web-1": 50 * time.Second, "web-2": 50 * time.Second, "db-1": 5 * time.Minute, "old-0": 0, "waited": 20 * time.Second, "alone": 0,
	} {
		if got := startsFor(k, name); got != want {
			t.Errorf("%s is told to take %v, want %v", name, got, want)
		}
	}
}

// Each run of a CronJob is a Job of its own: what its pods took tells of those of the
// next one. A Job that somebody made is nothing that comes again.
func TestHowLongPodsOfACronJobTakeToStart(t *testing.T) {
	k := newKeeper()
	k.NodeSeen(node("n"))
	job := func(name string, made time.Time) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: name, Controller: new(true)}}
			p.CreationTimestamp = metav1.Time{Time: made}
		}
	}
	run := func(at time.Time) string { return fmt.Sprintf("report-%d", at.Unix()/60) }
	starts := func(name string, of func(*corev1.Pod), took time.Duration) {
		k.PodSeen(pod(name, "1", "", of), false)
		k.PodSeen(pod(name, "1", "n", of, comingUp), false)
		k.PodSeen(pod(name, "1", "n", of, upAfter(took)), false)
	}
	starts("today", job(run(start), start.Add(20*time.Second)), 40*time.Second)
	starts("once", job("load-7", start), time.Minute)
	tomorrow := start.Add(24 * time.Hour)
	k.PodSeen(pod("tomorrow", "1", "n", job(run(tomorrow), tomorrow.Add(10*time.Minute))), false) // it was late
	k.PodSeen(pod("again", "1", "n", job("load-8", tomorrow)), false)
	k.PodSeen(pod("old-number", "1", "n", job(run(start), tomorrow)), false)
	for name, want := range map[string]time.Duration{
		"today": 40 * time.Second, "tomorrow": 40 * time.Second, "once": time.Minute, "again": 0, "old-number": 0,
	} {
		if got := startsFor(k, name); got != want {
			t.Errorf("%s is told to take %v, want %v", name, got, want)
		}
	}
}

// A workload that changed takes as long as its latest pods.
func TestTheLatestPodsTellHowLongTheyTake(t *testing.T) {
	k := newKeeper()
	for i := range 2 * startsKept {
		took := 10 * time.Second
		if i >= startsKept {
			took = time.Minute
		}
		k.noteStart(owner{"default", "Deployment/web"}, took)
	}
	if got := k.startsFor(&cluster.Pod{Namespace: "default", Owner: "Deployment/web"}); got != time.Minute {
		t.Errorf("they are told to take %v, want a minute", got)
	}
}

// Workloads that come and go, as Jobs do, do not have others forgotten that still
// have pods.
func TestWhatHasNoPodsIsForgottenFirst(t *testing.T) {
	k := newKeeper()
	k.PodSeen(pod("web-1", "1", "n", of("web")), true)
	k.noteStart(owner{"default", "StatefulSet/web"}, time.Minute)
	for i := range 2 * memoryMost {
		k.noteStart(owner{"default", fmt.Sprintf("Job/%d", i)}, time.Second)
	}
	if got := k.startsFor(&cluster.Pod{Namespace: "default", Owner: "StatefulSet/web"}); got != time.Minute || len(k.starts) > memoryMost {
		t.Errorf("the workload is told to take %v, want a minute; of %d it is known, want %d at most", got, len(k.starts), memoryMost)
	}
}

// What was seen to start is known to the next process, where it has not seen any of
// the workload itself.
func TestHowLongPodsTakeIsHandedOn(t *testing.T) {
	k, next := newKeeper(), newKeeper()
	web, db := owner{"default", "Deployment/web"}, owner{"default", "StatefulSet/db"}
	k.noteStart(web, time.Minute)
	k.noteStart(db, time.Minute)
	next.noteStart(db, time.Hour)
	next.Remember(k.Memory())
	for of, want := range map[owner]time.Duration{web: time.Minute, db: time.Hour} {
		if got := next.startsFor(&cluster.Pod{Namespace: of.namespace, Owner: of.name}); got != want {
			t.Errorf("pods of %v are told to take %v, want %v", of, got, want)
		}
	}
}
