package aws

import (
	"context"
	"fmt"
	"slices"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/fleet"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/userdata"
	"github.com/daemok/daemok/core/cluster"
)

// tokenMax is how many characters EC2 takes as a token.
const tokenMax = 64

// Launch implements cloud.Instances. An instance just launched may be invisible to List for
// some seconds; its PrivateDNS is not known yet.
func (p *Provider) Launch(ctx context.Context, r cloud.LaunchRequest) ([]cloud.Instance, error) {
	if err := check(r); err != nil {
		return nil, err
	}
	request, err := p.fleetRequest(r)
	if err != nil {
		return nil, err
	}
	instances, err := p.launcher.Launch(ctx, request)
	for _, m := range instances {
		p.instances.Launched(m.ID)
	}
	p.countLaunched(instances)
	return instances, err
}

// Prepare implements cloud.Instances: it makes the launch templates that the
// launch would be made from, since EC2's fleets see new ones only after a
// while.
func (p *Provider) Prepare(ctx context.Context, r cloud.LaunchRequest) error {
	if err := checkOfferings(r); err != nil {
		return err
	}
	request, err := p.fleetRequest(r)
	if err != nil {
		return err
	}
	return p.launcher.Prepare(ctx, request)
}

// fleetRequest joins a request with what is known of its class.
func (p *Provider) fleetRequest(r cloud.LaunchRequest) (fleet.Request, error) {
	k, err := p.known(r.Class)
	if err != nil {
		return fleet.Request{}, err
	}
	class, err := classOf(r.Class)
	if err != nil {
		return fleet.Request{}, err
	}
	short := p.short.View()
	open := slices.DeleteFunc(slices.Clone(class.Resolved.Subnets), func(s nodeclass.Subnet) bool { _, away := short.Shifted(s.ZoneID); return away })
	return fleet.Request{
		Launch: r, Class: class, Kinds: k.kinds, Cluster: p.clusterFacts(), OpenReservations: p.options.NoReservedCapacity,
		Subnets: p.addresses.Choose(open, func(id string) bool { return !short.Subnet(id) }),
	}, nil
}

// check refuses requests that break the port's rules.
func check(r cloud.LaunchRequest) error {
	switch {
	case r.Count < 1:
		return fmt.Errorf("launch %s requests %d instances", r.Token, r.Count)
	case r.Token == "" || len(r.Token) > tokenMax:
		return fmt.Errorf("launch token %q must have 1 to %d characters", r.Token, tokenMax)
	}
	return checkOfferings(r)
}

func checkOfferings(r cloud.LaunchRequest) error {
	switch {
	case len(r.Options) == 0:
		return fmt.Errorf("launch %s names no offerings", r.Token)
	case slices.ContainsFunc(r.Options, func(o cloud.OfferingChoice) bool { return o.Option != r.Options[0].Option }):
		return fmt.Errorf("launch %s mixes capacity types; request one at a time", r.Token)
	case slices.ContainsFunc(r.Options, func(o cloud.OfferingChoice) bool { return o.Dedicated != r.Options[0].Dedicated }):
		return fmt.Errorf("launch %s mixes tenancies; request one at a time", r.Token)
	}
	return nil
}

// Terminate implements cloud.Instances.
func (p *Provider) Terminate(ctx context.Context, ids ...string) (gone []string, err error) {
	gone, err = p.instances.Terminate(ctx, ids...)
	if err == nil {
		p.quotas.GaveBack(ids...)
		p.reserved.Leaves(ids...)
	}
	p.reserved.Ended(gone...)
	return gone, err
}

// List implements cloud.Instances.
func (p *Provider) List(ctx context.Context, f cloud.Filter) ([]cloud.Instance, error) {
	found, err := p.instances.List(ctx, f)
	for i := range found {
		found[i] = p.asLaunched(found[i])
	}
	p.recordUnmet(found)
	if err == nil {
		p.recordEnds(f, found)
	}
	return found, err
}

// recordEnds keeps count of which instances have reserved capacity. Those that were looked
// for by their IDs and not found have it no more.
func (p *Provider) recordEnds(f cloud.Filter, found []cloud.Instance) {
	there := map[string]bool{}
	for _, m := range found {
		there[m.ID] = true
		if m.ReservedCapacity != "" {
			p.reserved.Holds(m.ID, m.ReservedCapacity)
		}
	}
	lost := slices.DeleteFunc(slices.Clone(f.IDs), func(id string) bool { return there[id] })
	p.reserved.Ended(lost...)
}

// asLaunched has an instance be one on demand that EC2 has put into an open capacity
// reservation, where these are left to EC2.
func (p *Provider) asLaunched(m cloud.Instance) cloud.Instance {
	if p.options.NoReservedCapacity && m.Option == cluster.Reserved {
		m.Option, m.ReservedCapacity = cluster.OnDemand, ""
	}
	return m
}

// Tag implements cloud.Instances.
func (p *Provider) Tag(ctx context.Context, m cloud.Instance, tags map[string]string) error {
	return p.instances.Tag(ctx, m, tags)
}

// Adoptable implements cloud.Adopter.
func (p *Provider) Adoptable(ctx context.Context, id string) (cloud.Instance, error) {
	m, err := p.instances.Adoptable(ctx, id)
	return p.asLaunched(m), err
}

// Adopt implements cloud.Adopter. The instance's volumes and interfaces keep the tags they
// have.
func (p *Provider) Adopt(ctx context.Context, m cloud.Instance, c cloud.Class, tags map[string]string) error {
	class, err := classOf(c)
	if err != nil {
		return err
	}
	own := fleet.OwnTags(class, p.clusterFacts(), tags)
	if name, given := class.Spec.Tags[nodeclass.TagName]; given && m.Tags[nodeclass.TagName] == "" {
		own[nodeclass.TagName] = name
	}
	return p.instances.Adopt(ctx, m, own, class.Spec.Tags)
}

func (p *Provider) clusterFacts() userdata.Cluster {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cluster
}
