package aws

import (
	"context"
	"errors"
	"time"

	"github.com/daemok/daemok/cloud/aws/catalog"
)

// How often the caller should refresh what the adapter knows.
const (
	TypesEvery     = 12 * time.Hour
	OnDemandEvery  = 12 * time.Hour
	SpotEvery      = 10 * time.Minute
	TemplatesEvery = 30 * time.Minute
)

// Refresh reads everything once, as is needed at the start. What one part
// fails to read does not keep the others from being read.
func (p *Provider) Refresh(ctx context.Context) error {
	return errors.Join(p.RefreshTypes(ctx), p.RefreshOnDemand(ctx), p.RefreshSpot(ctx), p.RefreshTemplates(ctx))
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

// RefreshOnDemand reads on-demand prices. Where the region's prices cannot be
// asked for, the built-in table remains and it is no error.
func (p *Provider) RefreshOnDemand(ctx context.Context) error {
	if p.clients.Pricing == nil || p.options.IsolatedVPC {
		return nil
	}
	return p.prices.RefreshOnDemand(ctx, p.clients.Pricing, p.clients.Region)
}

// RefreshSpot reads spot prices.
func (p *Provider) RefreshSpot(ctx context.Context) error {
	return p.prices.RefreshSpot(ctx, p.clients.EC2, p.options.Now())
}

// RefreshTemplates learns the cluster's launch templates and removes those
// that were not used for long.
func (p *Provider) RefreshTemplates(ctx context.Context) error { return p.templates.Refresh(ctx) }
