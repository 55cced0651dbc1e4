package aws

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/catalog"
	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/shift"
	"github.com/daemok/daemok/core/quantity"
)

// How often the caller should refresh what the adapter knows.
const (
	TypesEvery     = 12 * time.Hour
	OnDemandEvery  = 12 * time.Hour
	SpotEvery      = 10 * time.Minute
	TemplatesEvery = 30 * time.Minute
	ProfilesEvery  = 30 * time.Minute
	QuotasEvery    = 5 * time.Minute

	CommitmentsEvery = time.Hour // AWS applies them by the hour
)

// Refresh reads everything once, as is needed at the start. Without types nothing can be
// launched, so failing to read them is an error. Prices have the built-in table behind them
// and templates are made when needed: failing to read those is reported to Options.Warn.
func (p *Provider) Refresh(ctx context.Context) error {
	if err := p.RefreshTypes(ctx); err != nil {
		return err
	}
	_, shifts := p.Shifts(ctx)
	errs := []error{p.RefreshOnDemand(ctx), p.RefreshSpot(ctx), p.RefreshQuotas(ctx), p.RefreshCommitments(ctx), shifts}
	if !p.options.ReadOnly { // which has no launch templates to remove
		errs = append(errs, p.RefreshTemplates(ctx))
	}
	for _, err := range errs {
		if err != nil && p.options.Warn != nil {
			p.options.Warn(err)
		}
	}
	return nil
}

// Shifts implements cloud.Shifts. It makes no calls, and knows of none, where
// Options.ZonalShift does not say so.
func (p *Provider) Shifts(ctx context.Context) ([]cloud.Shift, error) {
	if !p.options.ZonalShift {
		return nil, nil
	}
	arn, err := p.clusterARN(ctx)
	if err != nil {
		return nil, err
	}
	found, err := shift.Finder{API: p.clients.ARC, Now: p.options.Now}.Find(ctx, arn)
	if refused, ok := errors.AsType[*cloud.RefusedError](err); ok && refused.Reason == cloud.ShiftsNotRegistered {
		p.short.SetShifted(nil) // whatever was in effect went with the registration
	}
	if err != nil {
		return nil, err
	}
	zones := make(map[string]time.Time, len(found))
	for _, s := range found {
		zones[s.ZoneID] = s.EndsAt
	}
	p.short.SetShifted(zones)
	return found, nil
}

// clusterARN is how other services than EKS name the cluster.
func (p *Provider) clusterARN(ctx context.Context) (string, error) {
	p.mu.Lock()
	known := p.arn
	p.mu.Unlock()
	if known != "" {
		return known, nil
	}
	found, err := p.describeCluster(ctx)
	if err != nil {
		return "", fault.Wrap("eks:DescribeCluster", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arn = sdk.ToString(found.Arn)
	return p.arn, nil
}

// RefreshTypes reads which types exist and where they are offered.
func (p *Provider) RefreshTypes(ctx context.Context) error {
	types, err := catalog.Read(ctx, p.clients.EC2, p.clients.Region, p.facts)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.types, p.typesSeq = types, p.typesSeq+1
	return nil
}

// RefreshOnDemand reads on-demand prices. Where the region's prices cannot be asked for,
// the built-in table remains and it is no error. Entries that could not be read are
// reported to Options.Warn, once a refresh; their instances keep the price they had.
func (p *Provider) RefreshOnDemand(ctx context.Context) error {
	if p.clients.Pricing == nil || p.options.IsolatedVPC {
		p.recordListed()
		return nil
	}
	unread, err := p.prices.RefreshOnDemand(ctx, p.clients.Pricing, p.clients.Region)
	if err != nil {
		return err
	}
	p.recordListed()
	if unread.Entries > 0 && p.options.Warn != nil {
		p.options.Warn(unread.Err())
	}
	return nil
}

func (p *Provider) recordListed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listed = true
}

// HasOnDemand reports whether prices on demand were read, where they can be asked for. It
// makes no calls.
func (p *Provider) HasOnDemand() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.listed
}

// RefreshSpot reads spot prices, and which spot instances were taken away.
func (p *Provider) RefreshSpot(ctx context.Context) error {
	return errors.Join(p.prices.RefreshSpot(ctx, p.clients.EC2, p.options.Now()), p.refreshRisk(ctx))
}

// refreshRisk learns which spot instances run, and which of those that did were taken away.
func (p *Provider) refreshRisk(ctx context.Context) error {
	running, err := p.instances.Spot(ctx)
	if err != nil {
		return fmt.Errorf("list running spot instances: %w", err)
	}
	taken, err := p.instances.Taken(ctx, p.risk.Missing(running))
	if err != nil {
		return fmt.Errorf("list interrupted spot instances: %w", err)
	}
	p.risk.Saw(p.options.Now(), running, taken)
	return nil
}

// SpotSeen is how often spot instances were taken away, as far as that was seen.
func (p *Provider) SpotSeen() cloud.SpotSeen { return p.risk.Seen() }

// RecallSpot takes in what another process has seen of that.
func (p *Provider) RecallSpot(seen cloud.SpotSeen) { p.risk.Recall(p.options.Now(), seen) }

// SawMemory notes how much memory an instance turned out to have, and reports whether that
// changes what is known of its instance type.
func (p *Provider) SawMemory(kind, image string, memory quantity.Bytes) (news bool) {
	return p.measured.Saw(kind, image, memory)
}

// MemorySeen is how much memory instances turned out to have.
func (p *Provider) MemorySeen() cloud.MemorySeen { return p.measured.Seen() }

// RecallMemory takes in what another process has seen of that.
func (p *Provider) RecallMemory(seen cloud.MemorySeen) { p.measured.Recall(seen) }

// UnavailableSeen is what could not be had lately.
func (p *Provider) UnavailableSeen() []cloud.Unavailable { return p.short.Seen() }

// RecallUnavailable takes in what another process has seen of that.
func (p *Provider) RecallUnavailable(seen []cloud.Unavailable) { p.short.Recall(seen) }

// RefreshTemplates learns the cluster's launch templates and removes those
// that were not used for long.
func (p *Provider) RefreshTemplates(ctx context.Context) error { return p.templates.Refresh(ctx) }
