package notice

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/translate"
)

const (
	// adviseAfter is how old a machine must be for a recommendation to be heeded. Where
	// spot capacity is short, new machines are soon told the same as those in whose
	// place they came.
	adviseAfter = 30 * time.Minute
	// Of a pool no more than a tenth, and one, is marked to be replaced within adviseFor.
	adviseShare = 10
	adviseFor   = 10 * time.Minute
)

// advice is what follows from a rebalance recommendation.
type advice struct {
	does string // one of api's words
	why  string // completes "Spot rebalance recommendation was received"
}

// heed decides what follows, by what the pool says. take is asked where the machine
// would be replaced, and says whether one more of the pool may be.
func heed(annotations map[string]string, age time.Duration, most int, take func() bool) advice {
	does, err := mark.Rebalance(annotations)
	switch {
	case err != nil:
		return advice{api.RebalanceIgnore, ", and is ignored: the pool's " + err.Error()}
	case does == api.RebalanceIgnore:
		return advice{does, ", and is ignored: the pool says nothing else by the annotation " + api.MarkRebalance}
	case does == api.RebalanceCordon:
		return advice{does, ": the node is cordoned, so that nothing new comes to it"}
	case age < adviseAfter:
		return advice{api.RebalanceIgnore, fmt.Sprintf(", and is ignored: the machine is younger than %s, and one in its place might soon be told the same", adviseAfter)}
	case !take():
		return advice{api.RebalanceIgnore, fmt.Sprintf(", and is ignored: of such nodes of the pool no more than %d (%d%%) are replaced within %s", most, adviseShare, adviseFor)}
	}
	return advice{does, ": the node is replaced, as the budgets of its pool allow"}
}

// advise does what follows from a recommendation about a claim's machine. Of its pool
// there are so many claims.
func (r *Actor) advise(ctx context.Context, c *karpv1.NodeClaim, claims int) error {
	if c.Annotations[api.MarkAdvised] != "" {
		return nil // it was heeded before
	}
	id := translate.PoolOf(c)
	pool, err := r.Serves.Read(ctx, r.Store, id)
	if err = client.IgnoreNotFound(err); err != nil {
		return fmt.Errorf("read pool %s of claim %s: %w", id, c.Name, err)
	}
	called := translate.Called(id)
	most, now := (claims*adviseShare+99)/100, r.Now()
	a := heed(pool.Annotations, now.Sub(c.CreationTimestamp.Time), most, func() bool { return r.advised.take(called, most, now) })
	switch a.does {
	case api.RebalanceCordon:
		err = r.cordon(ctx, c)
	case api.RebalanceReplace:
		before := c.DeepCopy()
		if c.Annotations == nil {
			c.Annotations = map[string]string{}
		}
		c.Annotations[api.MarkAdvised] = now.UTC().Format(time.RFC3339)
		err = client.IgnoreNotFound(r.Store.Patch(ctx, c, client.MergeFrom(before)))
	}
	if err != nil {
		return fmt.Errorf("heed a rebalance recommendation for claim %s (%s): %w", c.Name, a.does, err)
	}
	if a.does != api.RebalanceIgnore {
		r.short(c)
		r.Log.Info("the cloud recommends to replace a machine", "claim", c.Name, "pool", called, "does", a.does)
	}
	r.tell(c, "SpotRebalanceRecommendation", "Spot rebalance recommendation was received"+a.why)
	return nil
}

// cordon keeps new pods off the claim's node, where it has one.
func (r *Actor) cordon(ctx context.Context, c *karpv1.NodeClaim) error {
	node := &corev1.Node{}
	if c.Status.NodeName == "" {
		return nil
	}
	if err := r.Store.Get(ctx, client.ObjectKey{Name: c.Status.NodeName}, node); err != nil || node.Spec.Unschedulable {
		return client.IgnoreNotFound(err)
	}
	before := node.DeepCopy()
	node.Spec.Unschedulable = true
	return client.IgnoreNotFound(r.Store.Patch(ctx, node, client.MergeFrom(before)))
}

// pace remembers when nodes of pools were marked to be replaced. The zero value is
// ready, and it is safe for concurrent use.
type pace struct {
	mu       sync.Mutex
	when     map[string][]time.Time // by pool
	recalled bool
}

// recall has the first look of a process count what others before it marked, by the
// claims that are there: marked ones, and those gone for which machines have come lately.
// Why these went is not known any more, so they are counted as if they had been marked.
func (p *pace) recall(claims owners, list []karpv1.NodeClaim) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.recalled {
		return
	}
	p.recalled, p.when = true, map[string][]time.Time{}
	for i := range list {
		c := &list[i]
		pool := translate.PoolCalled(c.Labels)
		if at, err := time.Parse(time.RFC3339, c.Annotations[api.MarkAdvised]); err == nil {
			p.when[pool] = append(p.when[pool], at)
		}
		for name := range strings.SplitSeq(c.Annotations[api.MarkReplaces], ",") {
			if name != "" && !claims.names[name] {
				p.when[pool] = append(p.when[pool], c.CreationTimestamp.Time)
			}
		}
	}
}

// take notes one more, if there were fewer than most within adviseFor.
func (p *pace) take(pool string, most int, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	lately := slices.DeleteFunc(p.when[pool], func(at time.Time) bool { return now.Sub(at) >= adviseFor })
	ok := len(lately) < most
	if ok {
		lately = append(lately, now)
	}
	if p.when[pool] = lately; len(lately) == 0 {
		delete(p.when, pool)
	}
	return ok
}
