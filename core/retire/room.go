package retire

import (
	"fmt"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/quantity"
)

// What a move must save that does not make machines fewer, as a share of what its
// nodes cost, while pods come. Source: daemok simulate. Half a day of services-b costs
// 1.4 % more with a third more evictions where half of the price suffices, and days of a
// recorded cluster up to 8 % more where every saving of 2 % counts.
const (
	roomShare    = 0.7  // in all, of the price of their types: more than the next size that is half as large saves
	cheaperShare = 0.15 // or by machines that are cheaper for what they have
)

// givesUpRoom says why it is not worth it to have smaller machines in place of as
// many nodes. Room that nodes have beside their pods is no waste where pods come:
// they find a place at once, on a machine that costs less for each pod than one
// that is bought for them alone, and nodes with little room are hard to join to
// fewer. Pods come if one did, other than by a move, within the time ahead for
// which savings count. Empty: they do not, the machines are fewer or cheaper for
// what they have, or what is saved is worth it.
func (x *consolidator) givesUpRoom(nodes []*candidate, a *place.Result, saves quantity.MicroUSDPerHour) string {
	p, types := x.payback(nodes), quantity.MicroUSDPerHour(0)
	for _, c := range nodes {
		types += c.Price
	}
	if p.Off || len(a.Launches) < len(nodes) || float64(saves) >= float64(roomShare*float64(types)) {
		return ""
	}
	var last *cluster.Pod
	for _, c := range nodes {
		if p := x.cameLast(c.Pool); last == nil || p != nil && p.StartedAt.After(last.StartedAt) {
			last = p
		}
	}
	if last == nil || x.snapshot.Now.Sub(last.StartedAt) >= p.Horizon {
		return ""
	}
	if x.cheaper(nodes, a) >= float64(cheaperShare*float64(costOf(nodes))) {
		return ""
	}
	return fmt.Sprintf("%s would be saved by giving up room, less than %.0f %% of the price, and pods come that may need it: %s/%s did, which counts until %s",
		saves, 100*roomShare, last.Namespace, last.Name, last.StartedAt.Add(p.Horizon).Format("2006-01-02 15:04 MST"))
}

// cheaper is by how much less the machines of the answer cost than the nodes for
// what they have, in millionths of a dollar an hour: what is saved but for room
// that is given up.
func (x *consolidator) cheaper(nodes []*candidate, a *place.Result) float64 {
	out := 0.0
	for _, c := range nodes {
		out += float64(nodeCost(c)) - x.market.worthOfAll(c.Node)
	}
	for i := range a.Launches {
		l := &a.Launches[i]
		if pool, found := x.snapshot.Pool(l.Pool); found {
			if kind := pool.Catalogue.Kind(l.Choice.Kind); kind != nil {
				out -= float64(l.Choice.Cost()) - x.market.worthOfRoom(kind.Allocatable, kind.Attachable)
			}
		}
	}
	return out
}

// cameLast is the pod that was started last on nodes of the pool, but for those
// that only moved; nil: none is known.
func (x *Search) cameLast(pool cluster.PoolID) *cluster.Pod {
	if x.came == nil {
		x.came = map[cluster.PoolID]*cluster.Pod{}
		for i := range x.snapshot.Nodes {
			n := &x.snapshot.Nodes[i]
			for j := range n.Pods {
				p, last := &n.Pods[j], x.came[n.Pool]
				if p.Moves() && p.Moved == 0 && (last == nil || p.StartedAt.After(last.StartedAt)) {
					x.came[n.Pool] = p
				}
			}
		}
	}
	return x.came[pool]
}
