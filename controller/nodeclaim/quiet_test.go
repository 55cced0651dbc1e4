package nodeclaim

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// watched is what the watches show of one node and its pool.
type watched struct {
	last  time.Time
	pools map[string]translate.PoolObject
}

func (w *watched) LastPodEvent(string) time.Time { return w.last }
func (w *watched) Pool(id cluster.PoolID) (translate.PoolObject, bool) {
	p, known := w.pools[id.Name]
	return p, known
}

func poolWith(after karpv1.DurationOrNever, static bool) translate.PoolObject {
	out := translate.PoolObject{Disruption: karpv1.Disruption{ConsolidateAfter: after}}
	if static {
		out.Replicas = new(int64(1))
	}
	return out
}

func TestConsolidatable(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	initialised := func(ago time.Duration) func(*karpv1.NodeClaim) {
		return func(c *karpv1.NodeClaim) { condition.SetTrue(c, karpv1.ClaimInitialized, now.Add(-ago)) }
	}
	was := func(c *karpv1.NodeClaim) { condition.SetTrue(c, karpv1.ClaimConsolidatable, now.Add(-time.Hour)) }
	both := func(change ...func(*karpv1.NodeClaim)) func(*karpv1.NodeClaim) {
		return func(c *karpv1.NodeClaim) {
			for _, f := range change {
				f(c)
			}
		}
	}
	quarter := poolWith("15m", false)
	tests := map[string]struct {
		claim func(*karpv1.NodeClaim)
		pool  translate.PoolObject
		none  bool // the pool is not there
		last  time.Duration
		want  bool
		again time.Duration // 0: as usual
	}{
		"SC-326 quiet for long enough since it began": {claim: initialised(15 * time.Minute), pool: quarter,
			want: true},
		"SC-326 not quiet for long enough": {claim: initialised(15*time.Minute - 3*time.Second),
			pool: quarter, again: 3 * time.Second},
		"SC-326 counts from the last pod event": {claim: initialised(time.Hour), pool: quarter,
			last: 15*time.Minute - time.Second, again: time.Second},
		"SC-326 long ago": {claim: initialised(time.Hour), pool: quarter,
			last: 16 * time.Minute, want: true},
		"SC-326 an event that another process saw": {claim: both(initialised(time.Hour), func(c *karpv1.NodeClaim) {
			c.Status.LastPodEventTime = metav1.NewTime(now.Add(-14*time.Minute - 59*time.Second))
		}), pool: quarter, again: time.Second},
		"cleared when a pod comes": {claim: both(initialised(time.Hour), was), pool: quarter,
			last: time.Second},
		"kept while nothing happens": {claim: both(initialised(time.Hour), was), pool: quarter,
			last: 20 * time.Minute, want: true},
		"at once where the pool does not wait": {claim: initialised(0), pool: poolWith("0s", false),
			last: time.Nanosecond, want: true},
		"nothing said is the same": {claim: initialised(0), pool: poolWith("", false), want: true},
		"never": {claim: both(initialised(time.Hour), was),
			pool: poolWith("Never", false)},
		"SC-329 a pool of fixed size": {claim: both(initialised(time.Hour), was), pool: poolWith("0s", true)},
		"not initialised":             {claim: was, pool: poolWith("0s", false)},
		"a pool that is gone":         {claim: both(initialised(time.Hour), was), none: true},
		"SC-300 one of no pool": {claim: both(initialised(time.Hour), was, func(c *karpv1.NodeClaim) {
			delete(c.Labels, api.LabelNodePool)
		}), pool: poolWith("0s", false)},
		"a node that leaves is let alone": {claim: both(initialised(time.Hour), was, func(c *karpv1.NodeClaim) {
			c.DeletionTimestamp, c.Finalizers = &metav1.Time{Time: now}, []string{api.FinalizerTermination}
		}), pool: poolWith("Never", false), want: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a",
				Labels: map[string]string{api.LabelNodePool: "default"}}, Status: karpv1.NodeClaimStatus{NodeName: "n"}}
			tt.claim(c)
			store, known := storeOf(c), &watched{pools: map[string]translate.PoolObject{"default": tt.pool}}
			if tt.last != 0 {
				known.last = now.Add(-tt.last)
			}
			if tt.none {
				known.pools = nil
			}
			q := &Quiet{Store: store, Known: known, Now: func() time.Time { return now }}
			again, err := q.Round(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if tt.again == 0 {
				tt.again = podEventEvery
			}
			if tt.last == time.Second {
				tt.again = podEventEvery // far from due
			}
			live := &karpv1.NodeClaim{}
			if err := store.Get(t.Context(), client.ObjectKey{Name: "a"}, live); err != nil {
				t.Fatal(err)
			}
			got := condition.Get(live, karpv1.ClaimConsolidatable)
			if (got != nil) != tt.want || got != nil && got.Status != metav1.ConditionTrue {
				t.Errorf("Consolidatable: %+v, want it true: %v", got, tt.want)
			}
			if again != tt.again {
				t.Errorf("looks again in %v, want %v", again, tt.again)
			}
			if last := live.Status.LastPodEventTime; tt.last > time.Second && c.DeletionTimestamp == nil && !last.Equal(&metav1.Time{Time: now.Add(-tt.last)}) {
				t.Errorf("the last pod event is written as %v, want %v ago", last, tt.last)
			}
		})
	}
}

// TestQuietIsNotWrittenAgain (SC-249): a look at a claim that says it already writes
// nothing, and one that the cache is behind on is looked at again soon.
func TestQuietIsNotWrittenAgain(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a",
		Labels: map[string]string{api.LabelNodePool: "default"}}, Status: karpv1.NodeClaimStatus{NodeName: "n"}}
	condition.SetTrue(c, karpv1.ClaimInitialized, now.Add(-time.Hour))
	writes, store := 0, storeOf(c)
	counting := interceptor.NewClient(store.(client.WithWatch), interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, inner client.Client, sub string, o client.Object,
			patch client.Patch, options ...client.SubResourcePatchOption) error {
			writes++
			return inner.SubResource(sub).Patch(ctx, o, patch, options...)
		},
		List: func(ctx context.Context, inner client.WithWatch, list client.ObjectList,
			options ...client.ListOption) error {
			if err := inner.List(ctx, list, options...); err != nil || writes != 1 {
				return err
			}
			c.DeepCopyInto(&list.(*karpv1.NodeClaimList).Items[0]) // as it was before the first look
			return nil
		},
	})
	known := &watched{pools: map[string]translate.PoolObject{"default": poolWith("1m", false)}}
	q := &Quiet{Store: counting, Known: known, Now: func() time.Time { return now }}
	for i, want := range []struct {
		writes int
		again  time.Duration
	}{{1, podEventEvery}, {2, quietMin}, {2, podEventEvery}} {
		again, err := q.Round(t.Context())
		if err != nil || writes != want.writes || again != want.again {
			t.Errorf("look %d: %d writes, again in %v, %v; want %+v", i+1, writes, again, err, want)
		}
	}
}

func storeOf(c *karpv1.NodeClaim) client.Client {
	s := runtime.NewScheme()
	_ = karpv1.AddToScheme(s)
	return fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(&karpv1.NodeClaim{}).WithObjects(c).Build()
}
