package whole_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/controller/planner"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/share"
)

const (
	crowded   = "crowd"               // the namespace of a crowd
	crowdSize = 60                    // its pods, each of a shape of its own
	onePlan   = 200                   // the effort of one plan of a storm: twenty of those pods
	eachUnit  = 20 * time.Millisecond // of effort takes a plan so long
)

// crowd has another namespace deploy many pods of as many shapes, or ends them. They are small:
// what takes long is to plan for them.
func (w *world) crowd(is bool) {
	ctx, there := context.Background(), &corev1.PodList{}
	if err := w.hand.List(ctx, there, client.InNamespace(crowded)); err != nil {
		w.t.Fatal(err)
	}
	if is == (len(there.Items) > 0) {
		return
	}
	if !is {
		for i := range there.Items {
			_ = w.hand.Delete(ctx, &there.Items[i]) // it may have gone by itself
		}
		return
	}
	w.story.add("a crowd of pods comes")
	for i := range crowdSize {
		labels := map[string]string{"member": fmt.Sprint(i)}
		w.mu.Lock()
		w.pods++
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: crowded, Name: fmt.Sprintf("member-%d", w.pods), Labels: labels}}
		w.mu.Unlock()
		pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(fmt.Sprintf("%dm", 1+i%3))}}}}
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: labels}}}}}
		w.create(pod)
	}
}

// thinker makes plans take their time: the more, the more pods they are the first for.
type thinker struct {
	kept    *promises
	mu      sync.Mutex
	planned map[string]bool // UIDs of pods that a plan was made for
}

// effort is that of plans that think.
func (t *thinker) effort() planner.Effort {
	return planner.Effort{Part: onePlan, Of: func(s *cluster.Snapshot) decide.Effort {
		units, of := t.firstFor(s)
		t.kept.sharesPlans(units, of)
		time.Sleep(time.Duration(units) * eachUnit)
		return decide.Usual(s)
	}}
}

// firstFor is the effort of the pods that no plan was made for yet, nor a NodeClaim, and how many there are of
// each namespace.
func (t *thinker) firstFor(s *cluster.Snapshot) (units int64, of map[string]int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	of, shapes := map[string]int{}, map[*cluster.Shape]bool{}
	for i := range s.Nodes {
		t.orderedFor(s.Nodes[i].LaunchedFor)
	}
	for i := range s.Instances {
		t.orderedFor(s.Instances[i].LaunchedFor)
	}
	for i := range s.Waiting {
		p := &s.Waiting[i]
		if t.planned[p.UID] {
			continue
		}
		t.planned[p.UID] = true
		of[p.Namespace]++
		if shapes[p.Shape] {
			continue
		}
		shapes[p.Shape] = true
		units += share.EffortOf(p.Shape)
	}
	return units, of
}

// orderedFor notes pods that a NodeClaim is for. The caller holds the lock.
func (t *thinker) orderedFor(pods []cluster.Pod) {
	for i := range pods {
		t.planned[pods[i].UID] = true
	}
}

// sharesPlans looks at a plan that is about to be made: none waits long for the plan of another namespace.
func (p *promises) sharesPlans(units int64, of map[string]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(of) > 1 && units > onePlan {
		p.breaks("pods of one namespace do not wait for those of another", fmt.Sprint(of), "they share a plan that takes %s, and at most %s are right",
			time.Duration(units)*eachUnit, onePlan*eachUnit)
	}
}
