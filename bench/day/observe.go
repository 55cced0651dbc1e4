package day

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/bill"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// meterEvery is how often instances are checked, which is how exactly their end is known.
const meterEvery = time.Second

// life is one instance: from its launch until it was seen last. EC2 charges for no instance that shuts down.
type life struct {
	from, seen time.Time
	price      float64 // dollars an hour
}

// track is what one pod comes to.
type track struct {
	from, bound time.Time // when it was seen first, and when it had a node or was gone without
	node        string
}

// record is what is seen of the lab.
type record struct {
	mu       sync.Mutex
	lives    map[string]*life // by instance
	pods     map[types.UID]*track
	evicted  map[types.UID]bool
	nodes    map[string]string // of NodeClaims
	meant    map[string]string // the first NodeClaim for a pod, by its UID
	boots    map[string]float64
	problems []error
}

func newRecord() *record {
	return &record{lives: map[string]*life{}, pods: map[types.UID]*track{}, evicted: map[types.UID]bool{}, nodes: map[string]string{}, meant: map[string]string{}, boots: map[string]float64{}}
}

// follow takes in what happens until the context ends.
func (r *record) follow(ctx context.Context, u user, account bill.Account) {
	var all sync.WaitGroup
	all.Go(func() { r.watch(ctx, u, &corev1.PodList{}, client.InNamespace(metav1.NamespaceDefault)) })
	all.Go(func() { r.watch(ctx, u, &karpv1.NodeClaimList{}) })
	all.Go(func() { r.meter(ctx, account) })
	all.Wait()
}

func (r *record) problem(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, err)
}

func (r *record) watch(ctx context.Context, u user, list client.ObjectList, of ...client.ListOption) {
	for ctx.Err() == nil { // a watch ends now and then; the next begins with all that there is
		events, err := u.Watch(ctx, list, of...)
		if err != nil {
			if ctx.Err() == nil {
				r.problem(fmt.Errorf("watch the lab: %w", err))
			}
			return
		}
		for e := range events.ResultChan() {
			r.see(e, time.Now())
		}
		events.Stop()
	}
}

func (r *record) see(e watch.Event, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch o := e.Object.(type) {
	case *corev1.Pod:
		r.seePod(o, e.Type == watch.Deleted, now)
	case *karpv1.NodeClaim:
		r.seeClaim(o, now)
	}
}

func (r *record) seePod(p *corev1.Pod, gone bool, now time.Time) {
	t := r.pods[p.UID]
	if t == nil {
		t = &track{from: now}
		r.pods[p.UID] = t
	}
	if t.bound.IsZero() && (gone || p.Spec.NodeName != "") {
		t.bound, t.node = now, p.Spec.NodeName
	}
	if slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == "EvictionByEvictionAPI"
	}) {
		r.evicted[p.UID] = true
	}
}

func (r *record) seeClaim(c *karpv1.NodeClaim, now time.Time) {
	if c.Status.NodeName != "" {
		r.nodes[c.Name] = c.Status.NodeName
	}
	uids, _ := translate.ForPods(c)
	for _, uid := range uids {
		if r.meant[uid] == "" {
			r.meant[uid] = c.Name
		}
	}
	for i := range c.Status.Conditions {
		if x := &c.Status.Conditions[i]; x.Type == "Initialized" && x.Status == metav1.ConditionTrue && r.boots[c.Name] == 0 {
			r.boots[c.Name] = now.Sub(c.CreationTimestamp.Time).Seconds()
		}
	}
}

// meter checks the instances again and again.
func (r *record) meter(ctx context.Context, account bill.Account) {
	for tick := time.Tick(meterEvery); ; {
		running, err := account.Running(ctx, "default")
		if err != nil && ctx.Err() == nil {
			r.problem(fmt.Errorf("read the meter: %w", err))
		}
		r.seeInstances(running, time.Now())
		select {
		case <-tick:
		case <-ctx.Done():
			return
		}
	}
}

func (r *record) seeInstances(running []bill.Running, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range running {
		if r.lives[i.ID] == nil {
			r.lives[i.ID] = &life{from: i.LaunchedAt, price: i.USDPerHour}
		}
		r.lives[i.ID].seen = now
	}
}
