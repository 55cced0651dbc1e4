package snapshot

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/snapshot/nodes"
	"github.com/daemok/daemok/kube/snapshot/pods"
	"github.com/daemok/daemok/kube/snapshot/pools"
	"github.com/daemok/daemok/kube/translate"
)

// Snapshot is what is known now. Cost: linear in pods and nodes, and that of
// working out what classes offer, for which no watch waits.
func (k *ClusterState) Snapshot() *cluster.Snapshot {
	byClass := map[karpv1.NodeClassReference]pools.Offered{}
	for {
		s, missing := k.build(byClass)
		if len(missing) == 0 {
			return s
		}
		for _, ref := range missing {
			catalogue, whyNot := k.kinds(ref)
			byClass[ref] = pools.Offered{Catalogue: catalogue, WhyNot: whyNot}
		}
	}
}

// build makes a snapshot if it is known what each class offers; otherwise it
// lists the classes to ask for. A class may come into use while others are
// asked.
func (k *ClusterState) build(byClass map[karpv1.NodeClassReference]pools.Offered) (s *cluster.Snapshot, missing []karpv1.NodeClassReference) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.tables
	if missing = t.pools.Beside(byClass); len(missing) > 0 {
		return nil, missing
	}
	t.devices.ArePartial(k.Devices.arePartial())
	t.devices.Resolve(t.pools.Catalogues(byClass))
	t.shapes.Refresh()
	t.lookAtPDBs()
	t.pools.OverlaysArePartial(k.Overlays.arePartial())
	if t.pools.Offering(byClass) {
		t.nodes.AllChanged() // prices are others
	}
	b := builder{tables: t, recalled: &k.recalled, out: k.recalled.start(), repairs: map[cluster.PoolID]cluster.Repair{}}
	b.out.Revision, b.out.Now = k.revision, k.now().UTC()
	if repair := t.pools.Defaults.Repair; len(repair.Rules) > 0 {
		b.out.Repair = repair
	}
	b.nodesAndInstances()
	b.recall()
	t.pods.Show(b.out, pods.Around{Went: t.nodes.Went(), KeepReady: t.pools.KeepReady(), AnyKeeps: b.keeps})
	b.left()
	b.closed(k.settings.HoldDrains)
	b.out.Pools = t.pools.List(b.out, byClass, t.claims.Boots())
	t.pools.ShowOverlays(b.out)
	t.devices.Show(b.out)
	t.policies.Show(b.out, b.closedOf)
	b.out.Daemons = t.daemons.List()
	t.buffers.Show(b.out)
	t.requests.Show(b.out)
	t.quotas.Show(b.out)
	t.pools.CountCosts(b.out)
	b.out.PDBs = t.pdbs.List()
	t.freeze.Show(b.out)
	b.out.Commitments = t.commitments.Now(b.out.Now, t.ownInstances)
	b.out.SortLists()
	return b.out, nil
}

// builder assembles one snapshot of the tables; the cluster state's lock is held meanwhile.
type builder struct {
	*tables
	recalled *recalled
	out      *cluster.Snapshot
	repairs  map[cluster.PoolID]cluster.Repair // by pool, as they were asked for
	keeps    bool                              // some pod asks to be kept while it is the last ready one of a Service
}

// nodesAndInstances sorts claims into those whose node has registered and
// those whose instances are still being launched; the node of the latter is left out.
func (b *builder) nodesAndInstances() {
	rounds, views := b.nodes.Rounds(), b.nodes.Views()
	by := b.claims.Basis(rounds.Joins, rounds.All)
	again, joined, come := b.claims.IsListed(by), map[string]bool{}, []*nodes.View(nil)
	b.out.Nodes = make([]cluster.Node, 0, len(views)+len(b.recalled.nodes))
	for _, v := range views {
		if !again {
			v.Claim = b.claims.Of(v.Node.Spec.ProviderID)
		}
		if v.Claim != nil && !hasJoined(v.Claim, v.Node) {
			come = append(come, v)
			continue
		}
		if v.Claim != nil && !again {
			joined[v.Claim.Name] = true
		}
		b.add(v, rounds.All)
	}
	if !again {
		b.claims.List(by, joined)
	}
	b.out.Instances = b.claims.Listed()
	for _, v := range come {
		b.takeRoom(v)
	}
}

// takeRoom takes the room of pods on a node that has come, and is not seen to take pods yet, from its instance being
// launched: they are no longer among those that wait for it, and a watch of pods may be ahead of that of nodes.
func (b *builder) takeRoom(v *nodes.View) {
	taken := b.pods.Requests(v.Node.Name)
	at, found := slices.BinarySearchFunc(b.out.Instances, v.Claim.Name, func(m cluster.Instance, claim string) int { return cmp.Compare(m.Claim, claim) })
	if !found || taken.IsZero() {
		return
	}
	b.out.Instances = slices.Clone(b.out.Instances) // it is the list of later snapshots too
	m := &b.out.Instances[at]
	m.Allocatable = m.Allocatable.Sub(taken).ClampNegative()
}

// hasJoined reports whether the node of the claim is as it takes pods. It is opened to them, with
// the labels of its claim, just before that says that it has registered; and a watch may
// show the claim first. Before it is seen to be so its instance is still being launched.
func hasJoined(c *karpv1.NodeClaim, n *corev1.Node) bool {
	return n.Labels[api.LabelRegistered] == "true" || condition.IsTrue(c, karpv1.ClaimRegistered) && !translate.HasTaint(n, api.TaintUnregistered)
}

// add shows a node with its pods.
func (b *builder) add(v *nodes.View, round uint64) {
	by := nodes.Basis{Node: v.Node, Claim: v.Claim, Awaits: v.Claim != nil && b.claims.AwaitsPods(v.Claim), Round: round}
	b.addWithPods(v.Look(by, func() cluster.Node { return b.node(v.Node, v.Claim, by.Awaits) }))
}

// addWithPods adds a node with the pods that are bound to it.
func (b *builder) addWithPods(n cluster.Node) {
	var keeps bool
	n.Pods, keeps = b.pods.On(n.Name, n.Uproots(b.out.Now), b.out.Now)
	b.keeps = b.keeps || keeps
	b.out.Nodes = append(b.out.Nodes, n)
}

// node is what the snapshot shows of a node, without its pods.
func (b *builder) node(n *corev1.Node, claim *karpv1.NodeClaim, awaits bool) cluster.Node {
	node := translate.Node(n, claim, b.tables.pools.Defaults.ClusterAutoscaler)
	var expected []cluster.Attachable // what its drivers have yet to say
	if claim != nil {
		pool, _ := b.tables.pools.Pool(node.Pool)
		node.Price = b.tables.pools.PriceOf(claim)
		node.ChangedAt = translate.Latest(translate.OpenedAt(claim, b.out.Now), b.nodes.LastPodEvent(n.Name))
		if !awaits {
			node.QuietSince = b.quietSince(n, claim, pool)
		}
		node.Ailments = translate.Ailments(n, claim, b.repairOf(node.Pool, pool))
		translate.MarkAdvised(pool, claim, &node)
		translate.MarkRolled(pool, claim, &node)
		translate.MarkDeleted(pool, claim, &node)
		if instanceType := b.tables.pools.InstanceTypeOf(claim); instanceType != nil && !node.Initialized {
			expected = instanceType.Attachable
		}
	}
	node.Attachable = b.storage.Attachable(node.Name, expected)
	return node
}

// quietSince is when the time began after which the node may go to save money, in the
// words of its pool.
func (b *builder) quietSince(n *corev1.Node, claim *karpv1.NodeClaim, pool translate.PoolObject) time.Time {
	event := b.nodes.LastPodEvent(n.Name)
	if pool.Punctual {
		return translate.EmptySince(n, claim, event, b.out.Now)
	}
	return translate.QuietSince(claim, event)
}

// repairOf is when nodes of the pool are repaired.
func (b *builder) repairOf(id cluster.PoolID, pool translate.PoolObject) cluster.Repair {
	if id == (cluster.PoolID{}) {
		return b.tables.pools.Defaults.Repair
	}
	r, known := b.repairs[id]
	if !known {
		r = translate.Repair(pool)
		b.repairs[id] = r
	}
	return r
}

// closed shows nodes that carry the taint of a move, and that nothing has deleted, as what
// they are; and so those that were deleted and whose drain is held, since their claims
// were lost: their pods need no other place meanwhile.
func (b *builder) closed(drainsHeld func() bool) {
	for i := range b.out.Nodes {
		n := &b.out.Nodes[i]
		if !n.Deleting {
			continue
		}
		node, claim := b.nodes.Node(n.Name), b.claims.Claim(n.Claim)
		if node == nil {
			continue // recalled, as it is
		}
		if ends := node.DeletionTimestamp != nil || claim != nil && claim.DeletionTimestamp != nil; !ends || claim == nil && drainsHeld != nil && drainsHeld() {
			n.Close()
		}
	}
}

// closedOf counts the nodes of pools that are to go and may yet stay.
func (b *builder) closedOf(ids []cluster.PoolID) (n int64) {
	for i := range b.out.Nodes {
		node := &b.out.Nodes[i]
		if c := b.claims.Claim(node.Claim); node.Deleting && c != nil && c.DeletionTimestamp == nil && slices.Contains(ids, node.Pool) {
			n++
		}
	}
	return n
}
