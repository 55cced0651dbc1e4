package launch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// handover hands the instances of a batch over to its claims.
type handover struct {
	roster    *roster
	instances cloud.Instances
	outcome   outcomes
	turn      turn
}

// errUnwritten says that instances are there for claims of the batch, but could
// not be written on them.
var errUnwritten = errors.New("not all instances could be written to their claims")

// handOver gives instances of the batch that no claim has yet to its claims,
// in name order. Where the instances are not known they are looked up by tag.
// Claims that went meanwhile, or have their instance, leave the batch.
// It returns errUnwritten where instances were found and not all handed over.
func (d handover) handOver(ctx context.Context, b *batch, instances []cloud.Instance) error {
	if err := d.turn.take(ctx); err != nil {
		return err
	}
	defer d.turn.leave()
	if instances == nil {
		found, err := d.instances.List(ctx, cloud.Filter{Batch: b.attempt.batch})
		if err != nil {
			return fmt.Errorf("list instances of batch %s: %w", b.attempt.batch, err)
		}
		instances = found
	}
	members, err := d.roster.inBatch(ctx, b.attempt.batch)
	if err != nil {
		return err
	}
	b.claims = stillWaiting(b.claims, members)
	if err := d.record(ctx, b, unassigned(instances, members)); err != nil {
		return fmt.Errorf("%w: %w", errUnwritten, err)
	}
	return nil
}

// record writes one instance on each claim in parallel; claims that got none
// stay in the batch.
func (d handover) record(ctx context.Context, b *batch, instances []cloud.Instance) error {
	n := min(len(instances), len(b.claims))
	errs := make([]error, n)
	var writes sync.WaitGroup
	for i := range n {
		writes.Go(func() { errs[i] = d.outcome.Launched(ctx, b.claims[i], instances[i]) })
	}
	writes.Wait()
	left := slices.Clone(b.claims[n:])
	for i, err := range errs {
		if client.IgnoreNotFound(err) != nil {
			left = append(left, b.claims[i])
		}
	}
	slices.SortFunc(left, func(a, b *karpv1.NodeClaim) int { return strings.Compare(a.Name, b.Name) })
	b.claims = left
	return client.IgnoreNotFound(errors.Join(errs...))
}
