package stories_test

import (
	"context"
	"errors"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/daemok/daemok/lab/await"
)

// launches are the claims that were ever seen, by pool.
type purchases struct {
	mu  sync.Mutex                 // guards all
	all map[string]map[string]bool // pool, UID
}

// followPurchases remembers every claim from now on until the story ends.
func (s *story) followPurchases() *purchases {
	s.Helper()
	p := &purchases{all: map[string]map[string]bool{}}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	all := s.resource(claims)
	go func() { done <- await.Until(ctx, all, metav1.ListOptions{}, p.note) }()
	s.Cleanup(func() {
		stop()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			s.Errorf("follow the claims: %v", err)
		}
	})
	return p
}

func (p *purchases) note(seen []*unstructured.Unstructured) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range seen {
		pool := c.GetLabels()["karpenter.sh/nodepool"]
		if p.all[pool] == nil {
			p.all[pool] = map[string]bool{}
		}
		p.all[pool][string(c.GetUID())] = true
	}
	return false, nil
}

// of counts the claims ever made for pools.
func (p *purchases) of(pools []string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pool := range pools {
		n += len(p.all[pool])
	}
	return n
}
