package termination

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/kube/serving"
)

// lastReady says of which Service the pod is the last that is ready, while
// another may become so; empty: of none.
func (r *Reconciler) lastReady(ctx context.Context, p *corev1.Pod) (string, error) {
	service, err := serving.LastOf(ctx, r.Live, p)
	if err != nil || service == "" {
		return "", err
	}
	return "it is the last ready pod of Service " + service, nil
}

// turns keeps decisions about one namespace from being made at the same time.
// The zero value is ready.
type turns struct {
	mu    sync.Mutex
	taken map[string]bool // by namespace
}

// take reports whether the caller may decide now; it then releases the turn.
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
