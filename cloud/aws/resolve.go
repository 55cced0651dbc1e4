package aws

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/catalog"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// Subnets finds the subnets that a class selects; *nodeclass.MissingError
// when there are none.
func (p *Provider) Subnets(ctx context.Context, class nodeclass.Class) ([]nodeclass.Subnet, error) {
	found, err := p.finder.Subnets(ctx, class.Spec.Subnets)
	if err != nil {
		return nil, err
	}
	p.addresses.Saw(found)
	if !p.offeredIn(found) {
		if err := p.RefreshTypes(ctx); err != nil && p.options.Warn != nil {
			p.options.Warn(fmt.Errorf("read instance types for a zone that is new: %w", err))
		}
	}
	return found, nil
}

// offeredIn reports whether types are known in the zones of the subnets. It says no once
// for each zone: where no type is offered there, reading them again would change nothing.
func (p *Provider) offeredIn(subnets []nodeclass.Subnet) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.typesSeq == 0 {
		return true // they are to be read anyway
	}
	all := true
	for _, s := range subnets {
		offered := slices.ContainsFunc(p.types, func(t catalog.Type) bool {
			_, found := slices.BinarySearch(t.Zones, s.Zone)
			return found
		})
		if !offered && !p.zones[s.Zone] {
			p.zones[s.Zone], all = true, false
		}
	}
	return all
}

// Groups finds the security groups that a class selects;
// *nodeclass.MissingError when there are none.
func (p *Provider) Groups(ctx context.Context, class nodeclass.Class) ([]nodeclass.Group, error) {
	return p.finder.Groups(ctx, class.Spec.Groups)
}

// Images finds the images that a class selects for the cluster's version of
// Kubernetes, a newer one once it has stayed for five minutes;
// *nodeclass.MissingError when there are none.
func (p *Provider) Images(ctx context.Context, class nodeclass.Class) ([]nodeclass.Image, error) {
	kubernetes, err := p.KubernetesVersion(ctx)
	if err != nil {
		return nil, err
	}
	return p.images.Find(ctx, class.Spec, p.steady.see(p.options.Now(), kubernetes, versionInUse(class)))
}

// versionInUse is the version of Kubernetes that the images which the class has are for, where
// they are an alias's; else it is empty.
func versionInUse(class nodeclass.Class) string {
	if !slices.ContainsFunc(class.Spec.Images, func(t nodeclass.ImageTerm) bool { return t.Alias != "" }) || len(class.Resolved.Images) == 0 {
		return ""
	}
	if minor, known := class.Resolved.Images[0].Kubelet(); known {
		return fmt.Sprintf("1.%d", minor)
	}
	return ""
}

// Profile returns the instance profile of a class, making it where the class
// names a role; *nodeclass.MissingError when the role does not exist.
func (p *Provider) Profile(ctx context.Context, class nodeclass.Class) (string, error) {
	if p.options.IsolatedVPC && class.Spec.InstanceProfile == "" {
		return "", &cloud.RefusedError{Reason: "IsolatedVPC",
			Cause: "IAM cannot be reached from an isolated VPC: name a profile in spec.instanceProfile in place of spec.role"}
	}
	return p.profiles.Ensure(ctx, class)
}

// Unsized says for which types the expressions of a class's kubelet settings have no
// amount; such types are not offered. It makes no calls.
func (p *Provider) Unsized(_ context.Context, class nodeclass.Class) (nodeclass.Unsized, error) {
	k, err := p.known(cloud.Class{ID: class.ID(), Settings: class})
	if err != nil {
		return nodeclass.Unsized{}, err
	}
	return k.kinds.Unsized, nil
}

// Crowded says which types may run more pods than they have single addresses for, as the
// class's maxPods says. It makes no calls.
func (p *Provider) Crowded(_ context.Context, class nodeclass.Class) (nodeclass.Crowded, error) {
	k, err := p.known(cloud.Class{ID: class.ID(), Settings: class})
	if err != nil {
		return nodeclass.Crowded{}, err
	}
	return k.kinds.Crowded, nil
}

// CollectProfiles removes the instance profiles that were made for classes of the cluster
// and are not among those in use, after an hour, and returns their names. Those in use by
// instances stay, whichever program launched these. One call each ProfilesEvery, and
// DescribeInstances only where something is to be removed.
func (p *Provider) CollectProfiles(ctx context.Context, used map[string]bool) ([]string, error) {
	if p.options.IsolatedVPC {
		return nil, nil
	}
	return p.collector.Collect(ctx, used, p.instances.Profiles)
}

// Reservations finds the capacity reservations that a class selects; none where it
// selects nothing, or where reserved capacity is not to be used.
func (p *Provider) Reservations(ctx context.Context, class nodeclass.Class) ([]nodeclass.Reservation, error) {
	if p.options.NoReservedCapacity || len(class.Spec.Reservations) == 0 {
		return nil, nil
	}
	found, err := p.reserves.Find(ctx, class)
	if err != nil {
		return nil, err
	}
	free := map[string]int64{}
	out := make([]nodeclass.Reservation, len(found))
	for i, f := range found {
		free[f.ID], out[i] = f.Free, f.Reservation
		out[i].Expiring, out[i].Idle = f.IsExpiring(p.options.Now()), f.Free
	}
	p.reserved.Saw(free)
	p.recordReservedCapacities(out)
	return out, nil
}

// Placement finds the placement group that a class selects, nil where it selects
// none, and learns what the group still takes; *nodeclass.MissingError where there is
// no such group.
func (p *Provider) Placement(ctx context.Context, class nodeclass.Class) (*nodeclass.PlacementGroup, error) {
	if class.Spec.Placement == nil {
		return nil, nil
	}
	g, err := p.placements.Find(ctx, *class.Spec.Placement)
	if err != nil {
		return nil, err
	}
	room, err := p.placements.Room(ctx, g, p.typeZones())
	if err != nil {
		return nil, err
	}
	p.reserved.Saw(room)
	return &g, nil
}

// typeZones are the zones of the region in which any type is offered, sorted.
func (p *Provider) typeZones() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for i := range p.types {
		for _, zone := range p.types[i].Zones {
			if !slices.Contains(out, zone) {
				out = append(out, zone)
			}
		}
	}
	slices.Sort(out)
	return out
}

// Resolve finds everything at once, for callers that need no answer for each
// part: subnets alone where a launch template of the user's own names the rest.
func (p *Provider) Resolve(ctx context.Context, class nodeclass.Class) (r nodeclass.Resolved, err error) {
	if r.Subnets, err = p.Subnets(ctx, class); err != nil {
		return r, err
	}
	if class.Spec.LaunchTemplate != "" {
		return r, nil // it brings all else
	}
	if r.Groups, err = p.Groups(ctx, class); err != nil {
		return r, err
	}
	if r.Images, err = p.Images(ctx, class); err != nil {
		return r, err
	}
	if r.Placement, err = p.Placement(ctx, class); err != nil {
		return r, err
	}
	class.Resolved.Placement = r.Placement
	if r.Reservations, err = p.Reservations(ctx, class); err != nil {
		return r, err
	}
	r.Profile, err = p.Profile(ctx, class)
	return r, err
}

// Forget removes what was made for a class: launch templates and instance
// profiles. It is safe to repeat.
func (p *Provider) Forget(ctx context.Context, class nodeclass.Class) error {
	if err := p.templates.DeleteOf(ctx, class.Name); err != nil {
		return err
	}
	p.Drop(class.ID())
	if p.options.IsolatedVPC || class.UID == "" {
		return nil
	}
	err := p.profiles.Delete(ctx, class.UID)
	if refused, ok := errors.AsType[*cloud.RefusedError](err); ok && refused.Reason == "Unauthorized" && class.Spec.Role == "" {
		return nil // it may have had a role once, but who never names one need not grant rights on profiles
	}
	return err
}

// Drop frees the catalogue of a class. One that is asked for again is worked out again.
func (p *Provider) Drop(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.classes, id)
}
