package drain

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/translate"
)

// lastReady says of which Service the pod is the last that is ready, while
// another may become so; empty: of none. Where the pod is the only one that
// there is, and the only one wanted, waiting would help nobody.
//
// It asks the API server for pods rather than for EndpointSlices: these are
// written a moment after a pod begins to end, so that two pods of a Service
// would see each other as ready and go at the same time.
func (r *Reconciler) lastReady(ctx context.Context, p *corev1.Pod) (string, error) {
	if !translate.IsUp(p) {
		return "", nil
	}
	var services corev1.ServiceList
	if err := r.Live.List(ctx, &services, client.InNamespace(p.Namespace)); err != nil {
		return "", fmt.Errorf("list the Services of pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	for i := range services.Items {
		s := &services.Items[i]
		selector := labels.SelectorFromSet(s.Spec.Selector)
		if len(s.Spec.Selector) == 0 || !selector.Matches(labels.Set(p.Labels)) {
			continue
		}
		ready, others, err := r.others(ctx, p, selector)
		if err != nil {
			return "", err
		}
		if ready > 0 {
			continue
		}
		if others == 0 {
			wanted, err := r.replicasOf(ctx, p)
			if err != nil {
				return "", err
			}
			if wanted <= 1 {
				continue
			}
		}
		return "it is the last ready pod of Service " + s.Name, nil
	}
	return "", nil
}

// others counts the pods beside this one that a selector is about, and how many
// of them are ready and stay so for now.
func (r *Reconciler) others(ctx context.Context, p *corev1.Pod, selector labels.Selector) (ready, all int, err error) {
	var pods corev1.PodList
	if err := r.Live.List(ctx, &pods, client.InNamespace(p.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return 0, 0, fmt.Errorf("list the pods beside %s/%s: %w", p.Namespace, p.Name, err)
	}
	for i := range pods.Items {
		o := &pods.Items[i]
		if o.UID == p.UID || translate.IsTerminal(o) {
			continue
		}
		all++
		if translate.IsUp(o) {
			ready++
		}
	}
	return ready, all, nil
}

// turns keeps decisions about one namespace from being made at the same time.
// The zero value is ready.
type turns struct {
	mu    sync.Mutex
	taken map[string]bool // by namespace
}

// take reports whether the caller may decide now; it then gives the turn back.
func (t *turns) take(namespace string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken[namespace] {
		return false
	}
	if t.taken == nil {
		t.taken = map[string]bool{}
	}
	t.taken[namespace] = true
	return true
}

func (t *turns) give(namespace string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.taken, namespace)
}
