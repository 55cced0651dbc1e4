package floor

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
)

// Cluster is what the pods of pools' nodes, and those that instances are being launched for, can cost at least in
// dollars an hour, were instances of pools launched again wherever that is cheaper than what there is; what is
// unavailable or not ready at the moment counts as if it could be launched. It is never more than these nodes and
// instances cost. It is 0 where it is not known: pools offer nothing, or may have reserved capacity, or what has no
// known price. Pods that wait for anything else cost nothing yet, nor do those of nodes whose pool or price is not
// known. Pods that need no place elsewhere, such as those of DaemonSets, count with what their instances need for
// them. Cost: linear in pods, and about a tenth of a second for 800 instance types.
func Cluster(s *cluster.Snapshot) float64 {
	var pools []cluster.Pool
	for i := range s.Pools {
		if s.Pools[i].Catalogue != nil {
			pools = append(pools, s.Pools[i])
		}
	}
	offers := feasibility.ForPools(pools, s.Daemons)
	if slices.ContainsFunc(offers, uncounted) || slices.ContainsFunc(s.Nodes, reserved) {
		return 0
	}
	f := &Floor{columnsOf(pools, offers, true), map[string][2]float64{}}
	if len(f.columns) == 0 {
		return 0
	}
	var sum quantity.Resources
	for _, x := range held(s) {
		sum = sum.Add(x.Free)
		f.columns = append(f.columns, x)
	}
	least, _ := f.DollarsPerHour(sum)
	return least
}

// uncounted reports whether a pool may have an instance at a price that is not known, or in capacity that is paid for
// already.
func uncounted(p *feasibility.Pool) bool {
	return slices.ContainsFunc(p.Options, func(o feasibility.Option) bool {
		offering := p.Offering(o)
		return offering.Option == cluster.Reserved || offering.Available && !offering.Priced
	})
}

func reserved(n cluster.Node) bool {
	option, _ := n.Labels.Get(cluster.LabelCapacityType)
	return n.Pool != (cluster.PoolID{}) && option == string(cluster.Reserved)
}

// held are the nodes of pools, and the instances that are being launched, as ways to have what their pods request. A
// node may hold what no instance would that is launched now, such as one that has drifted.
func held(s *cluster.Snapshot) (out []Column) {
	add := func(cost quantity.MicroUSDPerHour, pods []cluster.Pod, counts func(*cluster.Pod) bool) {
		x := Column{Price: float64(cost)}
		for i := range pods {
			if counts(&pods[i]) {
				x.Free = x.Free.Add(pods[i].Shape.Requests)
			}
		}
		if cost > 0 && !x.Free.IsZero() {
			out = append(out, x)
		}
	}
	for i := range s.Nodes {
		if pool, has := s.Pool(s.Nodes[i].Pool); has {
			add(pool.CostOf(&s.Nodes[i]), s.Nodes[i].Pods,
				func(p *cluster.Pod) bool { return p.Returns || p.OneOff != "" })
		}
	}
	for i := range s.Instances {
		m := &s.Instances[i]
		pool, has := s.Pool(m.Pool)
		if !has {
			continue
		}
		if price, known := pool.PriceOf(m); known {
			add(price+pool.PerInstance(), m.LaunchedFor, func(p *cluster.Pod) bool { return p.Node == "" })
		}
	}
	return out
}
