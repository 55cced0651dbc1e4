package aws

import (
	"context"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/commitment"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/quantity"
)

var _ cloud.Commitments = (*Provider)(nil)

// RefreshCommitments reads what the account is committed to, and which instances use that, where Options.Commitments
// says so. Without a right, and where Savings Plans cannot be asked for, what was read before remains, which is
// reported to Options.Warn once.
func (p *Provider) RefreshCommitments(ctx context.Context) error {
	if !p.options.Commitments {
		return nil
	}
	prices := p.prices.View()
	r := commitment.Reader{EC2: p.clients.EC2, Region: p.clients.Region, Own: p.ofCluster,
		Price: func(instanceType string) quantity.MicroUSDPerHour {
			price, _ := prices.OnDemand(instanceType)
			return price
		}}
	if p.clients.Plans != nil && !p.options.IsolatedVPC {
		r.Plans = p.clients.Plans
	}
	return p.committed.Refresh(ctx, r, p.options.Warn)
}

// ReadsCommitments reports whether RefreshCommitments reads anything.
func (p *Provider) ReadsCommitments() bool { return p.options.Commitments }

// Commitments implements cloud.Commitments.
func (p *Provider) Commitments() cloud.AccountCommitments { return p.committed.Now() }

// ofCluster reports whether an instance has tags of the cluster: as those that Daemok and Karpenter launch, as nodes
// that join EKS by themselves, or as those of managed node groups. Another cluster of its name has another UID. What
// only shares something with the cluster, as a bastion does, is none of its instances.
func (p *Provider) ofCluster(tags map[string]string) bool {
	if uid := tags[nodeclass.TagUID]; uid != "" && p.options.ClusterUID != "" && uid != p.options.ClusterUID {
		return false
	}
	name := p.options.Cluster
	return tags[nodeclass.TagOwned+name] == nodeclass.ClusterOwned || tags["eks:cluster-name"] == name ||
		tags[nodeclass.TagOfEKS] == name
}
