package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/catalog"
	"github.com/daemok/daemok/cloud/aws/quota"
	"github.com/daemok/daemok/core/cluster"
)

// RefreshQuotas reads how many vCPUs the account may run, and how many run or are reserved. Without the
// right to read Service Quotas limits are learnt by meeting them, which is reported to Options.Warn
// once; in an isolated VPC they are not asked for.
func (p *Provider) RefreshQuotas(ctx context.Context) error {
	if p.options.IsolatedVPC {
		return nil
	}
	api := quota.API{Quotas: p.clients.Quotas, EC2: p.clients.EC2}
	limits, account, err := api.Limits(ctx)
	if refused, ok := errors.AsType[*cloud.RefusedError](err); ok {
		p.reportNoQuotas(refused)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read how many vCPUs the account may run: %w", err)
	}
	if len(limits) == 0 {
		p.quotas.Saw(nil, nil)
		return nil
	}
	reserved, counted, err := p.reservedShares(ctx, api, account)
	if err != nil {
		return fmt.Errorf("count the vCPUs that the account has reserved: %w", err)
	}
	shares, err := api.Running(ctx, counted, p.countOf)
	if err != nil {
		return fmt.Errorf("count the vCPUs that the account runs: %w", err)
	}
	maps.Copy(shares, reserved)
	p.mu.Lock()
	p.reservedCount = counted
	p.mu.Unlock()
	p.quotas.Saw(limits, shares)
	return nil
}

// reservedShares are what the account's own capacity reservations count. They are not
// counted, and instances in them are, where the account or the right to read reservations
// is not known, and where instances on demand may run in open ones.
func (p *Provider) reservedShares(ctx context.Context, api quota.API, account string) (shares map[string]quota.Share, counted bool, err error) {
	if account == "" || p.options.NoReservedCapacity {
		return nil, false, nil
	}
	shares, err = api.Reserved(ctx, account, p.countOf)
	if _, refused := errors.AsType[*cloud.RefusedError](err); refused {
		return nil, false, nil
	}
	return shares, err == nil, err
}

func (p *Provider) reportNoQuotas(why *cloud.RefusedError) {
	p.mu.Lock()
	reported := p.noQuotas
	p.noQuotas = true
	p.mu.Unlock()
	if !reported && p.options.Warn != nil {
		p.options.Warn(fmt.Errorf("limits of vCPUs are not known before a launch reaches them: let the controller's role call servicequotas:ListServiceQuotas (%w)", why))
	}
}

// countOf is against which limit instances of an instance type count, and for how many
// vCPUs; an instance type that is not known counts nothing.
func (p *Provider) countOf(kind string, option cluster.Option) (group string, vCPUs int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, found := slices.BinarySearchFunc(p.types, kind, func(t catalog.Type, name string) int { return cmp.Compare(t.Name, name) })
	if !found {
		return "", 0
	}
	return p.types[i].Quota.By(option), p.types[i].CPUs
}

// countLaunched counts instances that were just launched against limits, but for those
// whose reservation counts.
func (p *Provider) countLaunched(instances []cloud.Instance) {
	p.mu.Lock()
	reservedCount := p.reservedCount
	p.mu.Unlock()
	for _, m := range instances {
		if reservedCount && m.ReservedCapacity != "" {
			continue
		}
		option := m.Option
		if option == cluster.Reserved {
			option = cluster.OnDemand
		}
		group, vCPUs := p.countOf(m.Kind, option)
		p.quotas.Launched(m.ID, quota.Share{Limit: quota.Limit{Group: group, Option: option}, VCPUs: vCPUs})
	}
}
