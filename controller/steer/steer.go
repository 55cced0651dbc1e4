// Package steer empties the nodes that the newest plan names without evictions, by a taint and by a
// deletion cost of their pods. Because of the taint, kube-scheduler prefers other nodes for new pods
// while these have room; because of the low deletion cost, ReplicaSets that scale down delete these
// pods first.
//
// It promises never to overwrite what a user set, to undo everything when a plan names other nodes,
// and to write at most a fixed number of objects a minute. It reads from the objects alone what it did
// before, so the next leader continues. core/disruption decides which nodes to empty.
package steer

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/steering"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

const (
	// passEvery keeps passes apart.
	passEvery = time.Minute
	// firstEvery is how soon it is checked again whether there is a first plan.
	firstEvery = 5 * time.Second
	// scanEvery is how often the pods of all nodes are checked. Otherwise it is those of nodes that are to empty or
	// have the taint: no pod gets a deletion cost before its node has it, and no node loses it before its pods lost
	// theirs.
	scanEvery = time.Hour
	// indexNodeName is the field index over pods that the store must have.
	indexNodeName = "spec.nodeName"
)

type publisher interface{ Publish(observe.Event) }

// Steering is the loop. Newest may be called beside the rest.
type Steering struct {
	Store   client.Client
	Off     bool // no node is to empty: what there is is taken back
	Events  publisher
	Metrics *observe.Metrics
	Log     *slog.Logger
	Now     func() time.Time

	mu       sync.Mutex
	emptying []plan.Emptying
	planned  bool // there was a plan

	scanAt  time.Time       // all pods are checked then
	refused map[string]bool // namespaces whose pods could not be written, since the last time that all were
	said    bool            // that pods cannot be written
}

// Newest takes in a plan. One that asked about no nodes with pods and names none says nothing of them: what an earlier
// plan said holds.
func (s *Steering) Newest(p plan.Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.Asked || len(p.Emptying) > 0 {
		s.emptying, s.planned = slices.Clone(p.Emptying), true
	}
}

func (s *Steering) newest() (list []plan.Emptying, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Off {
		return nil, true
	}
	return s.emptying, s.planned
}

// Round makes one pass and returns when the next is due.
func (s *Steering) Round(ctx context.Context) (time.Duration, error) {
	emptying, known := s.newest()
	if !known {
		return firstEvery, nil
	}
	scans := !s.scanAt.After(s.Now())
	if scans {
		s.refused = map[string]bool{}
	}
	v, err := s.look(ctx, emptying, scans)
	if err != nil {
		return passEvery, err
	}
	s.reportUsersTaints(v, emptying)
	left, err := s.carryOut(ctx, steps(v, emptying))
	if scans && !left && err == nil {
		s.scanAt = s.Now().Add(scanEvery)
	}
	s.measure(v)
	return passEvery, err
}

// look reads the nodes and those pods that matter from the cache. Only what it returns may be written.
func (s *Steering) look(ctx context.Context, emptying []plan.Emptying, scans bool) (view, error) {
	var nodes corev1.NodeList
	if err := s.Store.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return view{}, fmt.Errorf("list nodes, some of which are to empty: %w", err)
	}
	wanted := map[string]bool{}
	for _, e := range emptying {
		wanted[e.Node] = true
	}
	v := view{pods: map[string][]*corev1.Pod{}}
	for i := range nodes.Items {
		v.nodes = append(v.nodes, &nodes.Items[i])
	}
	slices.SortFunc(v.nodes, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	var errs error
	if scans {
		errs = s.read(ctx, v, func(p *corev1.Pod) bool { return wanted[p.Spec.NodeName] || isNoted(p) })
	} else {
		for _, n := range v.nodes {
			if wanted[n.Name] || steering.IsTainted(n) {
				errs = cmp.Or(errs, s.read(ctx, v, func(*corev1.Pod) bool { return true }, client.MatchingFields{indexNodeName: n.Name}))
			}
		}
	}
	for _, list := range v.pods {
		slices.SortFunc(list, func(a, b *corev1.Pod) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		})
	}
	return v, errs
}

// read adds pods to what is seen.
func (s *Steering) read(ctx context.Context, v view, matters func(*corev1.Pod) bool, of ...client.ListOption) error {
	var list corev1.PodList
	if err := s.Store.List(ctx, &list, append(of, client.UnsafeDisableDeepCopy)...); err != nil {
		return fmt.Errorf("list pods of nodes that are to empty: %w", err)
	}
	for i := range list.Items {
		if p := &list.Items[i]; p.Spec.NodeName != "" && matters(p) {
			own := *p // the list with all other pods is not kept for its sake
			v.pods[p.Spec.NodeName] = append(v.pods[p.Spec.NodeName], &own)
		}
	}
	return nil
}

// measure sets the gauges.
func (s *Steering) measure(v view) {
	s.Metrics.NodesEmptying.Reset()
	for _, n := range v.nodes {
		if steering.IsTainted(n) {
			s.Metrics.NodesEmptying.WithLabelValues(translate.PoolCalled(n.Labels)).Inc()
		}
	}
	count := 0
	for _, list := range v.pods {
		for _, p := range list {
			if _, ours := steering.Cost(p); ours {
				count++
			}
		}
	}
	s.Metrics.PodsEmptying.Set(float64(count))
}
