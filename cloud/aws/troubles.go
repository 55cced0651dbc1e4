package aws

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/notice"
)

// Troubles implements cloud.Checks: status checks, what is scheduled and, shortly
// before, the end of machines in capacity blocks. Those are told where status checks may
// not be asked for, too.
func (p *Provider) Troubles(ctx context.Context) ([]cloud.Trouble, error) {
	ends, err := p.blockEnds(ctx)
	if err != nil {
		return nil, err
	}
	found, err := notice.Checks{API: p.clients.EC2}.Troubles(ctx)
	if err != nil && len(ends) == 0 {
		return nil, err
	}
	all := slices.Concat(found, ends)
	slices.SortStableFunc(all, cloud.Trouble.Compare)
	return all, nil
}

// noteBlocks keeps in mind which capacity blocks there are: their machines end with
// them whether or not a class selects the block until then.
func (p *Provider) noteBlocks(found []nodeclass.Reservation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range found {
		if r.Block {
			p.blocks[r.ID] = r
		}
	}
}

// blockEnds tells of the machines in capacity blocks that are about to end. It asks EC2
// for machines while there are such blocks.
func (p *Provider) blockEnds(ctx context.Context) ([]cloud.Trouble, error) {
	now := p.options.Now()
	expiring := p.expiring(now)
	if len(expiring) == 0 {
		return nil, nil
	}
	machines, err := p.instances.InReservations(ctx, slices.Sorted(maps.Keys(expiring))...)
	if err != nil {
		return nil, fmt.Errorf("list machines in capacity blocks that end: %w", err)
	}
	out := make([]cloud.Trouble, 0, len(machines))
	for _, m := range machines {
		block := expiring[m.Stock]
		out = append(out, cloud.Trouble{MachineID: m.ID, Kind: cloud.CapacityEnds, StartsAt: block.MachinesEndAt(),
			What: fmt.Sprintf("capacity block %s ends at %s", block.ID, block.EndsAt.UTC().Format(time.RFC3339))})
	}
	return out, nil
}

func (p *Provider) expiring(now time.Time) map[string]nodeclass.Reservation {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.blocks, func(_ string, r nodeclass.Reservation) bool { return !r.EndsAt.IsZero() && !now.Before(r.EndsAt) })
	out := map[string]nodeclass.Reservation{}
	for id, r := range p.blocks {
		if r.IsExpiring(now) {
			out[id] = r
		}
	}
	return out
}
