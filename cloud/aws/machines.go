package aws

import (
	"context"
	"fmt"
	"slices"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/fleet"
	"github.com/daemok/daemok/cloud/aws/userdata"
)

// tokenMax is how many characters EC2 takes as a token.
const tokenMax = 64

// Launch implements cloud.Machines. A machine just bought may be invisible to
// List for some seconds; its PrivateDNS is not known yet.
func (p *Provider) Launch(ctx context.Context, r cloud.LaunchRequest) ([]cloud.Machine, error) {
	if err := check(r); err != nil {
		return nil, err
	}
	k, err := p.known(r.Class)
	if err != nil {
		return nil, err
	}
	class, err := classOf(r.Class)
	if err != nil {
		return nil, err
	}
	short := p.short.View()
	machines, err := p.buyer.Launch(ctx, fleet.Request{
		Launch: r, Class: class, Kinds: k.kinds, Cluster: p.clusterFacts(),
		Subnets: p.addresses.Choose(class.Resolved.Subnets, func(id string) bool { return !short.Subnet(id) }),
	})
	for _, m := range machines {
		p.instances.Bought(m.ID)
	}
	return machines, err
}

// check refuses requests that break the port's rules.
func check(r cloud.LaunchRequest) error {
	switch {
	case r.Count < 1:
		return fmt.Errorf("launch %s asks for %d machines", r.Token, r.Count)
	case r.Token == "" || len(r.Token) > tokenMax:
		return fmt.Errorf("launch token %q must have 1 to %d characters", r.Token, tokenMax)
	case len(r.Options) == 0:
		return fmt.Errorf("launch %s names no offers", r.Token)
	case slices.ContainsFunc(r.Options, func(o cloud.OfferChoice) bool { return o.Option != r.Options[0].Option }):
		return fmt.Errorf("launch %s mixes purchase options; ask for one at a time", r.Token)
	}
	return nil
}

// Terminate implements cloud.Machines.
func (p *Provider) Terminate(ctx context.Context, ids ...string) (gone []string, err error) {
	return p.instances.Terminate(ctx, ids...)
}

// List implements cloud.Machines.
func (p *Provider) List(ctx context.Context, f cloud.Filter) ([]cloud.Machine, error) {
	return p.instances.List(ctx, f)
}

// Tag implements cloud.Machines.
func (p *Provider) Tag(ctx context.Context, id string, tags map[string]string) error {
	return p.instances.Tag(ctx, id, tags)
}

func (p *Provider) clusterFacts() userdata.Cluster {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cluster
}
