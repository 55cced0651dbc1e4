package fakecloud

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/test/market"
)

// Terminate implements cloud.Instances. A new instance is not known before the
// market's visibility lag is over.
func (c *Cloud) Terminate(ctx context.Context, ids ...string) (gone []string, err error) {
	before, after := c.faults.next(CallTerminate)
	if err := firstOf(ctx.Err(), before); err != nil {
		return nil, fmt.Errorf("terminate %v: %w", ids, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var hidden []error
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		m, live := c.ours(id)
		if !live {
			gone = append(gone, id)
			continue
		}
		if c.clock.Now().Before(m.VisibleAt) {
			hidden = append(hidden, &cloud.NotVisibleError{InstanceID: id})
			continue
		}
		c.market.Terminate(id, "Client.UserInitiatedShutdown")
	}
	if after != nil {
		return nil, fmt.Errorf("terminate %v: %w", ids, after)
	}
	return gone, errors.Join(hidden...)
}

// List implements cloud.Instances. A new instance is not shown before the
// market's visibility lag is over.
func (c *Cloud) List(ctx context.Context, f cloud.Filter) ([]cloud.Instance, error) {
	before, after := c.faults.next(CallList)
	if err := firstOf(ctx.Err(), before, after); err != nil {
		return nil, fmt.Errorf("list instances: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	var out []cloud.Instance
	for _, m := range c.market.Machines() {
		r, ours := c.recordOf(m)
		switch {
		case !ours, m.At(now) == market.Terminated, now.Before(m.VisibleAt):
		case len(f.IDs) > 0 && !slices.Contains(f.IDs, m.ID):
		case f.Batch != "" && f.Batch != r.batch:
		default:
			out = append(out, c.convert(m))
		}
	}
	return out, nil
}

// Tag implements cloud.Instances. It knows new instances at once.
func (c *Cloud) Tag(ctx context.Context, instance cloud.Instance, tags map[string]string) error {
	id := instance.ID
	before, after := c.faults.next(CallTag)
	if err := firstOf(ctx.Err(), before); err != nil {
		return fmt.Errorf("tag instance %s: %w", id, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m, live := c.ours(id)
	if !live {
		return &cloud.NotFoundError{InstanceID: id}
	}
	r, _ := c.recordOf(m)
	r.tags = maps.Clone(r.tags)
	maps.Copy(r.tags, tags)
	c.market.SetDetails(id, r)
	if after != nil {
		return fmt.Errorf("tag instance %s: %w", id, after)
	}
	return nil
}

// ours finds an instance of this cluster that is not terminated.
func (c *Cloud) ours(id string) (market.Machine, bool) {
	m, known := c.market.Machine(id)
	if !known || m.At(c.clock.Now()) == market.Terminated {
		return market.Machine{}, false
	}
	_, ours := c.recordOf(m)
	return m, ours
}

func (c *Cloud) recordOf(m market.Machine) (record, bool) {
	r, ok := m.Details.(record)
	return r, ok && r.cluster == c.options.Cluster
}

func (c *Cloud) convert(m market.Machine) cloud.Instance {
	r, _ := c.recordOf(m)
	option, reservedCapacity := c.launchedAs(m.Pool)
	return cloud.Instance{
		ID: m.ID, ProviderID: "aws:///" + m.Pool.Zone + "/" + m.ID,
		Kind: m.Pool.Kind, Zone: m.Pool.Zone, ZoneID: ec2data.ZoneID(m.Pool.Zone), Option: option, ReservedCapacity: reservedCapacity,
		Image: r.image, Subnet: SubnetIn(m.Pool.Zone), Groups: slices.Clone(r.groups), Dedicated: r.dedicated, Class: r.class, State: cloud.State(m.At(c.clock.Now())),
		Batch: r.batch, LaunchedAt: m.LaunchedAt, Tags: maps.Clone(r.tags), PrivateDNS: c.privateDNS(m.ID),
	}
}

// SubnetIn names the subnet of a zone.
func SubnetIn(zone string) string { return "subnet-" + zone }

// privateDNS is the name under which the instance's node registers.
func (c *Cloud) privateDNS(id string) string {
	suffix := "ec2.internal"
	if c.options.Region != "us-east-1" {
		suffix = c.options.Region + ".compute.internal"
	}
	var number uint32 // the market numbers its instances in the last nine digits
	_, _ = fmt.Sscanf(id[len(id)-9:], "%09x", &number)
	return fmt.Sprintf("ip-10-%d-%d-%d.%s", number>>16&0xff, number>>8&0xff, number&0xff, suffix)
}

func hashOf(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash never fails
	return h.Sum64()
}

// Boot is what becomes of an instance in the cluster: for tests and simulators
// that play its kubelet.
type Boot struct {
	Node      cloud.NodeSetup
	RunningAt time.Time
	JoinsAt   time.Time // when its node registers; zero if it never does
}

// Boot tells what becomes of an instance of this cluster; false for one that is
// terminated or unknown.
func (c *Cloud) Boot(id string) (Boot, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, live := c.ours(id)
	if !live {
		return Boot{}, false
	}
	r, _ := c.recordOf(m)
	b := Boot{Node: cloneSetup(r.node), RunningAt: m.RunningAt}
	if !m.NeverJoins {
		b.JoinsAt = m.RunningAt.Add(m.JoinFor)
	}
	return b, true
}
