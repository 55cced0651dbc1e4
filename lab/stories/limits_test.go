package stories_test

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/daemok/daemok/lab/await"
)

// ofPool holds when a pool has exactly n claims, or n nodes.
func ofPool(pool string, n int) func([]*unstructured.Unstructured) bool {
	return func(objects []*unstructured.Unstructured) bool { return len(inPool(objects, pool)) == n }
}

func inPool(objects []*unstructured.Unstructured, pool string) (found []*unstructured.Unstructured) {
	for _, o := range objects {
		if o.GetLabels()["karpenter.sh/nodepool"] == pool {
			found = append(found, o)
		}
	}
	return found
}

// A pod larger than any instance waits and says so; a pod that fits runs, and nothing is
// launched for the large one.
func TestPodLargerThanAnyMachine(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.pool("")
	s.workload("giant", s.namespace, "10k", 1)
	s.workload("small", s.namespace, "1", 1)
	s.awaitEvent(s.namespace, "Pod", "giant-", "FailedScheduling", s.namespace, "cpu")
	s.await("the small pod to run", "v1/Pod", of("small", running(1)))
	s.await("one claim", claims, ofPool(s.namespace, 1))
}

// A pool never owns more than its limits say, whatever waits; pods beyond them
// say which limit is in the way, and run when it is raised.
func TestLimitsAreNeverExceeded(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.pool("limits: {cpu: 6}")
	most := s.watchMost("cpu")
	s.workload("many", s.namespace, "1500m", 8)
	s.awaitEvent(s.namespace, "Pod", "many-", "cpu limit reached")
	s.await("some pods to run", "v1/Pod", func(pods []*unstructured.Unstructured) bool { return countRunning(pods) >= 2 })
	if got := most(); got > 6 {
		t.Errorf("the pool owned %d CPUs, more than its limit of 6", got)
	}
	s.patch(pools, s.namespace, `{"spec":{"limits":{"cpu":"64"}}}`)
	s.await("all pods to run under the new limit", "v1/Pod", of("many", running(8)))
}

// watchMost follows the claims of the story's pool until the returned function is called,
// which reports to the most a resource they had at one time.
func (s *story) watchMost(name string) func() int64 {
	s.Helper()
	var most int64
	var watchErr error
	ctx, stop := context.WithCancel(s.Context())
	done := make(chan struct{})
	all := s.resource(claims)
	go func() {
		defer close(done)
		watchErr = await.Until(ctx, all, metav1.ListOptions{}, func(seen []*unstructured.Unstructured) (bool, error) {
			var sum int64
			for _, c := range inPool(seen, s.namespace) {
				if amount := text(c, "status", "capacity", name); amount != "" {
					q := resource.MustParse(amount)
					sum += q.Value()
				}
			}
			most = max(most, sum)
			return ctx.Err() != nil, nil
		})
	}()
	return func() int64 {
		stop()
		<-done
		if watchErr != nil && !errors.Is(watchErr, context.Canceled) {
			s.Errorf("follow the claims: %v", watchErr)
		}
		return most
	}
}

func countRunning(pods []*unstructured.Unstructured) int {
	n := 0
	for _, p := range pods {
		if text(p, "status", "phase") == "Running" {
			n++
		}
	}
	return n
}
