package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/interruption"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// Troubles implements cloud.Checks: status checks, what is scheduled and, shortly before,
// the end of instances in capacity blocks. Those are reported where status checks may not
// be asked for, too.
func (p *Provider) Troubles(ctx context.Context) ([]cloud.Trouble, error) {
	ends, err := p.blockEnds(ctx)
	if err != nil {
		return nil, err
	}
	found, err := interruption.Checks{API: p.clients.EC2}.Troubles(ctx)
	if err != nil && len(ends) == 0 {
		return nil, err
	}
	all := slices.Concat(found, ends)
	slices.SortStableFunc(all, cloud.Trouble.Compare)
	return all, nil
}

// recordReservedCapacities keeps in mind which reservations there are: instances of a capacity block
// end with it whether or not a class selects the block until then.
func (p *Provider) recordReservedCapacities(found []nodeclass.Reservation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range found {
		p.reservedCapacities[r.ID] = r
		delete(p.unmet, r.ID)
	}
}

// recordUnmet keeps in mind that instances are in reservations that no class has shown
// since the start, as after a restart where none selects them any more.
func (p *Provider) recordUnmet(instances []cloud.Instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range instances {
		if _, known := p.reservedCapacities[m.ReservedCapacity]; !known && m.ReservedCapacity != "" {
			p.unmet[m.ReservedCapacity] = true
		}
	}
}

// meet asks EC2 for these, each once.
func (p *Provider) meet(ctx context.Context) error {
	p.mu.Lock()
	ids := slices.Sorted(maps.Keys(p.unmet))
	p.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	found, err := p.reserves.Named(ctx, ids...)
	refused, denied := errors.AsType[*cloud.RefusedError](err)
	switch {
	case denied && p.options.Warn != nil:
		p.options.Warn(fmt.Errorf("instances are in capacity reservations of which it is not known whether they are capacity blocks and end: %w", refused))
	case !denied && err != nil:
		return err
	}
	for _, id := range ids {
		p.recordReservedCapacities([]nodeclass.Reservation{{ID: id}}) // which there may be no more
	}
	p.recordReservedCapacities(found)
	return nil
}

// blockEnds reports the instances in capacity blocks that are about to end. It asks EC2 for
// instances while there are such blocks.
func (p *Provider) blockEnds(ctx context.Context) ([]cloud.Trouble, error) {
	if err := p.meet(ctx); err != nil {
		return nil, err
	}
	now := p.options.Now()
	expiring := p.expiring(now)
	if len(expiring) == 0 {
		return nil, nil
	}
	instances, err := p.instances.InReservations(ctx, slices.Sorted(maps.Keys(expiring))...)
	if err != nil {
		return nil, fmt.Errorf("list instances in capacity blocks that end: %w", err)
	}
	out := make([]cloud.Trouble, 0, len(instances))
	for _, m := range instances {
		block := expiring[m.ReservedCapacity]
		out = append(out, cloud.Trouble{InstanceID: m.ID, Kind: cloud.CapacityEnds, StartsAt: block.InstancesEndAt(),
			What: fmt.Sprintf("capacity block %s ends at %s", block.ID, block.EndsAt.UTC().Format(time.RFC3339))})
	}
	return out, nil
}

func (p *Provider) expiring(now time.Time) map[string]nodeclass.Reservation {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.reservedCapacities, func(_ string, r nodeclass.Reservation) bool { return !r.EndsAt.IsZero() && !now.Before(r.EndsAt) })
	out := map[string]nodeclass.Reservation{}
	for id, r := range p.reservedCapacities {
		if r.IsExpiring(now) {
			out[id] = r
		}
	}
	return out
}
