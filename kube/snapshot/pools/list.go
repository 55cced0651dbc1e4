package pools

import (
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/quantity"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// List is what a snapshot shows of the pools, in no order: with what classes offer, what instances usually take to
// boot, and what each owns of the snapshot's nodes and instances.
func (t *Table) List(s *cluster.Snapshot, byClass map[karpv1.NodeClassReference]Offered, boots map[cluster.PoolID]time.Duration) []cluster.Pool {
	var out []cluster.Pool
	shares, owned := disruption.Shares(s.Nodes), ownedIn(s)
	for _, o := range t.pools {
		p, err := translate.Pool(o, shares[o.ID].Nodes, s.Now)
		if err != nil {
			p = translate.Unreadable(o, err)
		}
		class := byClass[o.Class]
		p.Catalogue = class.Catalogue
		if p.NotReady == "" && class.Catalogue == nil {
			p.NotReady = class.WhyNot
		}
		if p.NotReady == "" {
			p.NotReady = translate.Unoffered(&p)
		}
		if own := owned[o.ID]; own != nil {
			p.Used.Capacity, p.Used.Nodes = own.amounts, own.count
		}
		p.Used.Capacity.Pods = 0
		p.Boot = boots[o.ID]
		out = append(out, p)
	}
	for _, p := range t.recalled {
		if _, changed := t.pools[p.ID]; !changed {
			out = append(out, p)
		}
	}
	return out
}

// CountCosts counts what the nodes of pools cost that limit it. Those of a saved snapshot have that.
func (t *Table) CountCosts(s *cluster.Snapshot) {
	for i := range s.Pools {
		if p := &s.Pools[i]; t.isSeen(p.ID) {
			s.CountCost(p)
		}
	}
}

// owned are nodes of one pool, and instances being launched.
type owned struct {
	amounts quantity.Resources
	count   int64
}

// ownedIn adds up what each pool owns.
func ownedIn(s *cluster.Snapshot) map[cluster.PoolID]*owned {
	out := map[cluster.PoolID]*owned{}
	add := func(pool cluster.PoolID, amounts quantity.Resources) {
		o := out[pool]
		if o == nil {
			o = &owned{}
			out[pool] = o
		}
		o.amounts, o.count = o.amounts.Add(amounts), o.count+1
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Claim != "" {
			add(n.Pool, n.Capacity)
		}
	}
	for i := range s.Instances {
		add(s.Instances[i].Pool, s.Instances[i].Capacity)
	}
	return out
}
