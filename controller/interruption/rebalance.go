package interruption

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/translate"
)

const (
	// adviseAfter is how old an instance must be for a recommendation to be followed. Where
	// spot capacity is short, replacements soon get the same recommendation as the
	// instances they replaced.
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

// doneTo says what was done to a node, by api's words.
var doneTo = map[string]string{api.RebalanceCordon: "cordoned", api.RebalanceReplace: "replaced"}

// respect decides what follows, by what the pool says, for an instance of that age whose
// node is nil where it has none. take is asked where anything would be done, and says
// whether it may be to one more of the pool.
func respect(annotations map[string]string, age time.Duration, node *corev1.Node, most int, take func() bool) advice {
	does, err := mark.Rebalance(annotations)
	switch {
	case err != nil:
		return advice{api.RebalanceIgnore, ", and is ignored: the pool's " + err.Error()}
	case does == api.RebalanceIgnore:
		return advice{does, ", and is ignored: the pool says nothing else by the annotation " + api.AnnotationRebalance}
	case does == api.RebalanceCordon && node == nil:
		return advice{api.RebalanceIgnore, ", and is ignored: the instance has no node yet that could be cordoned"}
	case does == api.RebalanceCordon && node.Spec.Unschedulable:
		return advice{api.RebalanceIgnore, ": the node is cordoned already"}
	case does == api.RebalanceReplace && age < adviseAfter:
		return advice{api.RebalanceIgnore, fmt.Sprintf(", and is ignored: the instance is younger than %s, and its replacement might soon get the same recommendation", adviseAfter)}
	case !take():
		return advice{api.RebalanceIgnore, fmt.Sprintf(", and is ignored: of such nodes of the pool no more than %d (%d%%) are %s within %s", most, adviseShare, doneTo[does], adviseFor)}
	case does == api.RebalanceCordon:
		return advice{does, ": the node is cordoned, so that nothing new comes to it"}
	}
	return advice{does, ": the node is replaced, as the budgets of its pool allow"}
}

// advise does what follows from a recommendation about a claim's instance. Of its pool
// there are so many claims.
func (r *Actor) advise(ctx context.Context, c *karpv1.NodeClaim, claims int) error {
	if c.Annotations[api.AnnotationAdvised] != "" {
		return nil // it was followed before
	}
	id := translate.PoolOf(c)
	pool, err := r.Serves.Read(ctx, r.Store, id)
	if err = client.IgnoreNotFound(err); err != nil {
		return fmt.Errorf("read pool %s of claim %s: %w", id, c.Name, err)
	}
	node, err := r.nodeOf(ctx, c)
	if err != nil {
		return fmt.Errorf("read node %s of claim %s: %w", c.Status.NodeName, c.Name, err)
	}
	called := translate.Called(id)
	most, now := (claims*adviseShare+99)/100, r.Now()
	a := respect(pool.Annotations, now.Sub(c.CreationTimestamp.Time), node, most, func() bool { return r.advised.take(called, most, now) })
	switch a.does {
	case api.RebalanceCordon:
		before := node.DeepCopy()
		node.Spec.Unschedulable = true
		err = r.markAdvised(ctx, node, before, now)
	case api.RebalanceReplace:
		err = r.markAdvised(ctx, c, c.DeepCopy(), now)
	}
	if err != nil {
		r.advised.giveBack(called, now)
		return fmt.Errorf("follow a rebalance recommendation for claim %s (%s): %w", c.Name, a.does, err)
	}
	if a.does != api.RebalanceIgnore {
		r.short(c)
		r.Log.Info("AWS recommends replacing an instance", "claim", c.Name, "pool", called, "does", a.does)
	}
	r.report(c, "SpotRebalanceRecommendation", "Spot rebalance recommendation was received"+a.why)
	return nil
}

// nodeOf is the claim's node; nil where it has none.
func (r *Actor) nodeOf(ctx context.Context, c *karpv1.NodeClaim) (*corev1.Node, error) {
	if c.Status.NodeName == "" {
		return nil, nil
	}
	node := &corev1.Node{}
	err := r.Store.Get(ctx, client.ObjectKey{Name: c.Status.NodeName}, node)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return node, err
}

// markAdvised writes what was changed of an object, and when that was advised.
func (r *Actor) markAdvised(ctx context.Context, o, before client.Object, now time.Time) error {
	annotations := maps.Clone(o.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[api.AnnotationAdvised] = now.UTC().Format(time.RFC3339)
	o.SetAnnotations(annotations)
	return client.IgnoreNotFound(r.Store.Patch(ctx, o, client.MergeFrom(before)))
}

// recallAdvice has the first check of a process count what earlier processes did.
func (r *Actor) recallAdvice(ctx context.Context, claims owners, list []karpv1.NodeClaim) error {
	if r.advised.isRecalled() {
		return nil
	}
	var nodes corev1.NodeList
	if err := r.Store.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil { // only read
		return fmt.Errorf("list nodes to find those cordoned recently: %w", err)
	}
	r.advised.recall(claims, list, nodes.Items)
	return nil
}

// pace remembers when nodes of pools were marked to be replaced, or cordoned. The zero value is
// ready, and it is safe for concurrent use.
type pace struct {
	mu       sync.Mutex
	when     map[string][]time.Time // by pool
	recalled bool
}

func (p *pace) isRecalled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.recalled
}

// recall has the first check of a process count what earlier processes marked, by the nodes
// and claims that are there: marked ones, and those gone for which instances have come lately.
// Why these went is not known any more, so they are counted as if they had been marked.
func (p *pace) recall(claims owners, list []karpv1.NodeClaim, nodes []corev1.Node) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.recalled {
		return
	}
	p.recalled, p.when = true, map[string][]time.Time{}
	count := func(pool, advisedAt string) {
		if at, err := time.Parse(time.RFC3339, advisedAt); err == nil {
			p.when[pool] = append(p.when[pool], at)
		}
	}
	for i := range nodes {
		count(translate.PoolCalled(nodes[i].Labels), nodes[i].Annotations[api.AnnotationAdvised])
	}
	for i := range list {
		c := &list[i]
		pool := translate.PoolCalled(c.Labels)
		count(pool, c.Annotations[api.AnnotationAdvised])
		for name := range strings.SplitSeq(c.Annotations[api.AnnotationReplaces], ",") {
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

// giveBack takes back what take noted of a node to which nothing could be done after all.
func (p *pace) giveBack(pool string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.when[pool], now); i >= 0 {
		p.when[pool] = slices.Delete(p.when[pool], i, i+1)
	}
}
