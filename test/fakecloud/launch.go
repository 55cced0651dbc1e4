package fakecloud

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/test/market"
)

// launch is a request that was carried out, and its answer.
type launch struct {
	request string // as text, to tell equal ones
	ids     []string
	err     error
}

// record is what the cloud keeps with an instance. It is replaced, not written.
type record struct {
	cluster, class, batch string
	tags                  map[string]string
	node                  cloud.NodeSetup
	image                 string
	groups                []string // sorted
	dedicated             bool
}

// Launch implements cloud.Instances. On-demand instances come from the cheapest
// offer, spot instances from the one with the best score of price and
// capacity; where the request is ordered both come from the first. What one offer is short of comes from the
// next.
func (c *Cloud) Launch(ctx context.Context, r cloud.LaunchRequest) ([]cloud.Instance, error) {
	before, after := c.faults.next(CallLaunch)
	if err := firstOf(ctx.Err(), before); err != nil {
		return nil, fmt.Errorf("launch %d for batch %s: %w", r.Count, r.Batch, err)
	}
	if err := check(r); err != nil {
		return nil, err
	}
	got, err := c.launch(r)
	if after != nil {
		return nil, fmt.Errorf("launch %d for batch %s: %w", r.Count, r.Batch, after)
	}
	return got, err
}

// Prepare implements cloud.Instances. There is nothing to make ready here; it
// is counted.
func (c *Cloud) Prepare(ctx context.Context, r cloud.LaunchRequest) error {
	before, after := c.faults.next(CallPrepare)
	if err := firstOf(ctx.Err(), before); err != nil {
		return fmt.Errorf("prepare for class %s: %w", r.Class.ID, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prepared++
	if after != nil {
		return fmt.Errorf("prepare for class %s: %w", r.Class.ID, after)
	}
	return nil
}

// Prepared counts the calls of Prepare that took effect.
func (c *Cloud) Prepared() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.prepared
}

// check refuses what no repeat can make right.
func check(r cloud.LaunchRequest) error {
	refuse := func(cause string) error { return &cloud.RefusedError{Reason: "LaunchFailed", Cause: cause} }
	switch {
	case r.Token == "":
		return refuse("a launch needs a token")
	case r.Count < 1:
		return refuse(fmt.Sprintf("cannot launch %d instances", r.Count))
	case len(r.Options) == 0:
		return refuse("a launch needs at least one offering")
	}
	for _, o := range r.Options {
		if o.Option != r.Options[0].Option {
			return refuse("one launch has one capacity type")
		}
		if o.Dedicated != r.Options[0].Dedicated {
			return refuse("one launch has one tenancy")
		}
		if o.Option == cluster.Reserved && (o.ReservedCapacity == "" || o.Dedicated) {
			return refuse("a reserved offering needs the ID of its reservation, and cannot be dedicated")
		}
		if !slices.Contains([]cluster.Option{cluster.OnDemand, cluster.Spot, cluster.Reserved}, o.Option) {
			return refuse(fmt.Sprintf("unknown capacity type %q", o.Option))
		}
	}
	return nil
}

func (c *Cloud) launch(r cloud.LaunchRequest) ([]cloud.Instance, error) {
	request, err := asText(r)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	done, repeated := c.launches[r.Token]
	if repeated && done.request != request {
		return nil, &cloud.TokenMismatchError{Token: r.Token}
	}
	if !repeated {
		done = launch{request: request}
		done.ids, done.err = c.launchOne(r)
		c.launches[r.Token] = done
	}
	var out []cloud.Instance
	for _, id := range done.ids {
		if m, known := c.market.Machine(id); known {
			out = append(out, c.convert(m))
		}
	}
	return out, done.err
}

// asText is the part of a request that must be equal under one token.
func asText(r cloud.LaunchRequest) (string, error) {
	r.Class.Settings = settingsOf(r.Class)
	text, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("launch for batch %s: %w", r.Batch, err)
	}
	return string(text), nil
}

// launch takes instances from the best offers until there are enough. The IDs
// are sorted.
func (c *Cloud) launchOne(r cloud.LaunchRequest) (ids []string, err error) {
	details := c.detailsOf(r)
	short := map[market.Pool]bool{}
	for _, pool := range c.ranked(r) {
		got := c.take(pool, r.Count-len(ids), details)
		if ids = append(ids, got...); len(ids) == r.Count {
			break
		}
		short[pool] = true
		if _, counted := pool.Option.Reserved(); counted {
			continue // its room says so, as soon as there is some again
		}
		c.short[pool] = c.clock.Now().Add(c.options.ShortageFor)
	}
	slices.Sort(ids)
	if len(ids) < r.Count {
		err = &cloud.NoCapacityError{Offerings: choices(r.Options, short), Cause: "InsufficientInstanceCapacity", Answered: true}
	}
	return ids, err
}

// detailsOf is what is kept with each instance of a request.
func (c *Cloud) detailsOf(r cloud.LaunchRequest) record {
	settings := settingsOf(r.Class)
	tags := maps.Clone(settings.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	maps.Copy(tags, r.Tags)
	class := r.Class.ID[strings.LastIndex(r.Class.ID, "/")+1:]
	maps.Copy(tags, map[string]string{TagCluster: c.options.Cluster, TagClass: class, TagBatch: r.Batch})
	groups := slices.Sorted(slices.Values(settings.Groups))
	if len(groups) == 0 {
		groups = []string{fmt.Sprintf("sg-%017x", hashOf(class))}
	}
	image := cmp.Or(settings.Image, fmt.Sprintf("ami-%017x", hashOf(class)))
	return record{cluster: c.options.Cluster, class: class, batch: r.Batch, tags: tags, node: cloneSetup(r.Node), image: image, groups: groups, dedicated: r.Options[0].Dedicated}
}

// ranked lists the pools in the order in which the cloud offers from them.
func (c *Cloud) ranked(r cloud.LaunchRequest) []market.Pool {
	now, rank := c.clock.Now(), map[market.Pool]float64{}
	var pools []market.Pool
	for _, o := range r.Options {
		pool := poolOf(o)
		if _, seen := rank[pool]; seen {
			continue
		}
		rank[pool] = c.market.PriceUSD(pool, now)
		if pool.Option == market.Spot {
			rank[pool] = c.market.Score(pool)
		}
		if r.Ordered {
			rank[pool] = o.Priority
		}
		pools = append(pools, pool)
	}
	slices.SortFunc(pools, func(a, b market.Pool) int {
		return cmp.Or(cmp.Compare(rank[a], rank[b]), comparePools(a, b))
	})
	return pools
}

// take launches up to n instances of one pool.
func (c *Cloud) take(pool market.Pool, n int, details record) (ids []string) {
	for n > 0 {
		launched, err := c.market.Launch(market.Order{Pool: pool, Count: n, Details: details, MoreExpensive: moreExpensive(pool, details.dedicated)})
		if short, ok := errors.AsType[*market.ShortageError](err); ok {
			n = min(n-1, short.Of) // another buyer may be faster, so ask again
			continue
		}
		for _, m := range launched {
			ids = append(ids, m.ID)
		}
		return ids
	}
	return nil
}

func choices(options []cloud.OfferingChoice, short map[market.Pool]bool) []cloud.OfferingChoice {
	var out []cloud.OfferingChoice
	for _, o := range options {
		if short[poolOf(o)] {
			out = append(out, o)
		}
	}
	return out
}

func comparePools(a, b market.Pool) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.Option, b.Option))
}

func cloneSetup(n cloud.NodeSetup) cloud.NodeSetup {
	return cloud.NodeSetup{Labels: maps.Clone(n.Labels), Taints: slices.Clone(n.Taints)}
}
