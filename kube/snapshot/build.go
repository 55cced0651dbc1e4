package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// Snapshot is what is known now. Cost: linear in pods and nodes, and that of
// working out what classes offer, for which no watch waits.
func (k *ClusterState) Snapshot() *cluster.Snapshot {
	byClass := map[karpv1.NodeClassReference]offered{}
	for {
		s, missing := k.build(byClass)
		if len(missing) == 0 {
			return s
		}
		for _, ref := range missing {
			catalogue, whyNot := k.kinds(ref)
			byClass[ref] = offered{catalogue, whyNot}
		}
	}
}

// build makes a snapshot if it is known what each class offers; otherwise it
// lists the classes to ask for. A class may come into use while others are
// asked.
func (k *ClusterState) build(byClass map[karpv1.NodeClassReference]offered) (s *cluster.Snapshot, missing []karpv1.NodeClassReference) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if missing = k.classesBeside(byClass); len(missing) > 0 {
		return nil, missing
	}
	k.reshape()
	k.pdbAgain()
	now := k.now().UTC()
	b := builder{k: k, out: k.recalled.start(), byClass: byClass, repairs: map[cluster.PoolID]cluster.Repair{}}
	b.out.Revision, b.out.Now = k.revision, now
	if len(k.repair.Rules) > 0 {
		b.out.Repair = k.repair
	}
	b.remember()
	b.nodesAndMachines()
	b.unwanted()
	b.lastReady()
	b.wait()
	b.targetExpected()
	b.left()
	b.closed()
	b.controllers()
	b.pools()
	b.policiesHold()
	b.daemons()
	b.out.PDBs = k.pdbFacts()
	b.freeze()
	b.out.SortLists()
	return b.out, nil
}

// classesBeside lists the classes that pools and claims name, each once,
// without those that were asked.
func (k *ClusterState) classesBeside(asked map[karpv1.NodeClassReference]offered) []karpv1.NodeClassReference {
	var out []karpv1.NodeClassReference
	for ref := range k.classes {
		if _, known := asked[ref]; !known {
			out = append(out, ref)
		}
	}
	return out
}

// builder assembles one snapshot; the cluster state's lock is held meanwhile.
type builder struct {
	k       *ClusterState
	out     *cluster.Snapshot
	byClass map[karpv1.NodeClassReference]offered
	repairs map[cluster.PoolID]cluster.Repair // by pool, as they were asked for
	keeps   bool                              // some pod asks to be kept while it is the last ready one of a Service
}

type offered struct {
	catalogue *cluster.Catalogue
	whyNot    string
}

// remember keeps what classes offer for the time when they are not ready, as long as
// a pool or claim names them.
func (b *builder) remember() {
	maps.DeleteFunc(b.k.offered, func(ref karpv1.NodeClassReference, _ *cluster.Catalogue) bool { return b.k.classes[ref] == 0 })
	for ref, class := range b.byClass {
		if class.catalogue != nil && class.catalogue != b.k.offered[ref] {
			b.k.offered[ref] = class.catalogue
			b.k.views.allAreOld() // prices are others
		}
	}
}

// instanceTypesOf is what the class offers, or last offered: what was ordered stays
// what it is while its class is not ready.
func (b *builder) instanceTypesOf(ref karpv1.NodeClassReference) []cluster.InstanceType {
	if c := b.k.offered[ref]; c != nil {
		return c.InstanceTypes
	}
	return nil
}

// nodesAndMachines sorts claims into those whose node has registered and
// those that are still ordered machines; the node of the latter is left out.
func (b *builder) nodesAndMachines() {
	orders, joined := &b.k.orders, map[string]bool{}
	from := [2]uint64{orders.round, b.k.views.round}
	again, come := from == orders.from, []*view(nil)
	b.out.Nodes = make([]cluster.Node, 0, len(b.k.views.shown)+len(b.k.recalled.nodes))
	for _, v := range b.k.views.shown {
		if !again {
			v.ours = b.k.claimFor(v.node.Spec.ProviderID)
		}
		if v.ours != nil && !hasJoined(v.ours, v.node) {
			come = append(come, v)
			continue
		}
		if v.ours != nil && !again {
			joined[v.ours.Name] = true
		}
		b.look(v, v.ours)
		b.out.Nodes = append(b.out.Nodes, v.is)
	}
	if !again {
		orders.listed, orders.from = b.machines(joined), from
	}
	b.out.Machines = slices.Clip(orders.listed)
	for _, v := range come {
		b.takeRoom(v)
	}
	b.recall()
}

// takeRoom takes the room of pods on a node that has come, and is not seen to take pods yet, from its machine on order:
// they are no longer among those that wait for it, and a watch of pods may be ahead of that of nodes.
func (b *builder) takeRoom(v *view) {
	var taken quantity.Resources
	for _, e := range v.pods {
		if !e.pod.Daemon && !e.pod.Mirror && e.subject.shape != nil {
			taken = taken.Add(e.subject.shape.Requests)
		}
	}
	at, found := slices.BinarySearchFunc(b.out.Machines, v.ours.Name, func(m cluster.Machine, claim string) int { return cmp.Compare(m.Claim, claim) })
	if !found || taken.IsZero() {
		return
	}
	b.out.Machines = slices.Clone(b.out.Machines) // it is the list of later snapshots too
	m := &b.out.Machines[at]
	m.Allocatable = m.Allocatable.Sub(taken).ClampNegative()
}

// hasJoined reports whether the node of the claim is as it takes pods. It is opened to them, with
// the labels of its claim, just before that says that it has registered; and a watch may
// show the claim first. Before it is seen to be so it is a machine on order.
func hasJoined(c *karpv1.NodeClaim, n *corev1.Node) bool {
	return n.Labels[api.LabelRegistered] == "true" || condition.IsTrue(c, karpv1.ClaimRegistered) && !translate.HasTaint(n, api.TaintUnregistered)
}

// sameStanding reports whether two states of a node are alike for that.
func sameStanding(a, b *corev1.Node) bool {
	return a.Labels[api.LabelRegistered] == b.Labels[api.LabelRegistered] && translate.HasTaint(a, api.TaintUnregistered) == translate.HasTaint(b, api.TaintUnregistered)
}

// look finds out what is shown of a node, where that may have changed.
func (b *builder) look(v *view, claim *karpv1.NodeClaim) {
	from := basis{node: v.node, claim: claim, awaits: claim != nil && b.awaitsPods(claim), round: b.k.views.round}
	if v.old || v.from != from {
		v.is, v.from = b.node(v.node, claim, from.awaits), from
	}
	v.is.Pods = b.pods(v, v.is.Uproots(b.out.Now))
	b.keeps = b.keeps || v.keeps
}

// node is what the snapshot shows of a node, without its pods.
func (b *builder) node(n *corev1.Node, claim *karpv1.NodeClaim, awaits bool) cluster.Node {
	node := translate.Node(n, claim)
	if claim != nil {
		node.Price = b.priceOf(claim)
		node.ChangedAt = translate.Latest(translate.OpenedAt(claim, b.out.Now), b.k.podEvent[n.Name])
		if !awaits {
			node.QuietSince = b.quietSince(n, claim, node)
		}
		node.Ailments = translate.Ailments(n, claim, b.repairOf(node.Pool))
		translate.MarkAdvised(b.k.pools[node.Pool], claim, &node)
		translate.MarkRolled(b.k.pools[node.Pool], claim, &node)
		translate.MarkDeleted(b.k.pools[node.Pool], claim, &node)
	}
	node.Attachable = b.attachable(&node, claim)
	return node
}

// quietSince is when the time began after which the node may go to save money, in the
// words of its pool.
func (b *builder) quietSince(n *corev1.Node, claim *karpv1.NodeClaim, node cluster.Node) time.Time {
	if b.k.pools[node.Pool].Punctual {
		return translate.EmptySince(n, claim, b.k.podEvent[n.Name], b.out.Now)
	}
	return translate.QuietSince(claim, b.k.podEvent[n.Name])
}

// at finds a node of the snapshot by its name; nil where it shows none.
func (b *builder) at(node string) *cluster.Node {
	i := sort.Search(len(b.out.Nodes), func(i int) bool { return b.out.Nodes[i].Name >= node })
	if i == len(b.out.Nodes) || b.out.Nodes[i].Name != node {
		return nil
	}
	return &b.out.Nodes[i]
}

// repairOf is when nodes of the pool are repaired.
func (b *builder) repairOf(id cluster.PoolID) cluster.Repair {
	if id == (cluster.PoolID{}) {
		return b.k.repair
	}
	r, known := b.repairs[id]
	if !known {
		r = translate.Repair(b.k.pools[id])
		b.repairs[id] = r
	}
	return r
}

// attachable is how many volumes the node takes: what its drivers say and,
// until one has registered on a new node, what its kind takes.
func (b *builder) attachable(n *cluster.Node, claim *karpv1.NodeClaim) []cluster.Attachable {
	registered := b.k.csiNodes[n.Name]
	var out []cluster.Attachable
	if registered != nil {
		out = translate.Attachable(registered)
		for i := range out {
			out[i].Count -= b.leftBehind(n.Name, out[i].Driver)
		}
	}
	if claim == nil || n.Initialized {
		return out
	}
	if instanceType := b.instanceTypeOf(claim); instanceType != nil {
		out = translate.Expect(out, registered, instanceType.Attachable)
	}
	return out
}

// leftBehind is how many volumes of a driver are attached to a node although
// no pod on it uses them: the scheduler counts these too.
func (b *builder) leftBehind(node, driver string) int64 {
	left := int64(0)
	for _, a := range b.k.attachments[node] {
		if a.driver == driver && !b.used(a.volume, node) {
			left++
		}
	}
	return left
}

// used reports whether a pod on the node uses the volume.
func (b *builder) used(volume, node string) bool {
	for claim := range b.k.claimOf[volume] {
		for s := range b.k.subjects.claimUsers[claim] {
			if s.node == node {
				return true
			}
		}
	}
	return false
}

func (b *builder) instanceTypeOf(c *karpv1.NodeClaim) *cluster.InstanceType {
	instanceTypes := b.instanceTypesOf(translate.ClassOf(c))
	i, found := slices.BinarySearchFunc(instanceTypes, c.Labels[api.LabelInstanceType], func(k cluster.InstanceType, name string) int {
		return cmp.Compare(k.Name, name)
	})
	if !found {
		return nil
	}
	return &instanceTypes[i]
}

func (b *builder) priceOf(c *karpv1.NodeClaim) quantity.MicroUSDPerHour {
	instanceType := b.instanceTypeOf(c)
	if instanceType == nil {
		return 0
	}
	if o := instanceType.Offering(func(key string) string { return c.Labels[key] }); o != nil && o.Priced {
		return o.Price
	}
	return 0
}

// wait puts pods that wait for a node among the waiting, unless the scheduler has
// promised them a live one: those count as placed there, for as long as the promise counts.
// Those that have just come are expected: the scheduler may place them in a moment, and room
// that they would need otherwise is not given up meanwhile.
func (b *builder) wait() {
	var promised []*podEntry
	for name := range b.k.seatless {
		switch e := b.k.pods[name]; {
		case e.ended:
		case !b.k.waits(e, b.out.Now):
			if e.unjudged {
				b.out.Expected = append(b.out.Expected, b.pod(e))
			}
		case e.nominated != "":
			promised = append(promised, e)
		default:
			b.out.Waiting = append(b.out.Waiting, b.pod(e))
		}
	}
	slices.SortFunc(promised, byPromise)
	for _, e := range promised {
		if node := b.at(e.nominated); node != nil && e.isPromised(node, b.out.Now) {
			node.Add(b.placed(e, node.Uproots(b.out.Now)))
			continue
		}
		b.out.Waiting = append(b.out.Waiting, b.pod(e))
	}
}

// closed shows nodes that carry the taint of a move, and that nobody has deleted, as what
// they are; and so those that were deleted and whose drain is held, since their claims
// were lost: their pods need no other place meanwhile.
func (b *builder) closed() {
	for i := range b.out.Nodes {
		n := &b.out.Nodes[i]
		if !n.Deleting {
			continue
		}
		node, claim := b.k.nodes[n.Name], b.k.claims[n.Claim]
		if node == nil {
			continue // recalled, as it is
		}
		if ends := node.DeletionTimestamp != nil || claim != nil && claim.DeletionTimestamp != nil; !ends || claim == nil && b.k.drainsHeld() {
			n.Close()
		}
	}
}

// pools adds up what each pool owns: its nodes and its ordered machines.
func (b *builder) pools() {
	now, shares, boots, owned := b.out.Now, disruption.Shares(b.out.Nodes), b.k.bootsOf(), b.owned()
	for _, o := range b.k.pools {
		p, err := translate.Pool(o, shares[o.ID].Nodes, now)
		if err != nil {
			p = cluster.Pool{ID: o.ID, NotReady: err.Error()}
		}
		class := b.byClass[o.Class]
		p.Catalogue = class.catalogue
		if p.NotReady == "" && class.catalogue == nil {
			p.NotReady = class.whyNot
		}
		if p.NotReady == "" {
			p.NotReady = translate.Unoffered(&p)
		}
		if own := owned[o.ID]; own != nil {
			p.Usage, p.Nodes = own.amounts, own.count
		}
		p.Usage.Pods = 0
		p.Boot = boots[o.ID]
		b.out.Pools = append(b.out.Pools, p)
	}
	for _, p := range b.k.recalled.pools {
		if _, changed := b.k.pools[p.ID]; !changed {
			b.out.Pools = append(b.out.Pools, p)
		}
	}
}

// owned are nodes and ordered machines of one pool.
type owned struct {
	amounts quantity.Resources
	count   int64
}

// owned adds up what each pool owns.
func (b *builder) owned() map[cluster.PoolID]*owned {
	out := map[cluster.PoolID]*owned{}
	add := func(pool cluster.PoolID, amounts quantity.Resources) {
		o := out[pool]
		if o == nil {
			o = &owned{}
			out[pool] = o
		}
		o.amounts, o.count = o.amounts.Add(amounts), o.count+1
	}
	for i := range b.out.Nodes {
		if n := &b.out.Nodes[i]; n.Claim != "" {
			add(n.Pool, n.Capacity)
		}
	}
	for i := range b.out.Machines {
		add(b.out.Machines[i].Pool, b.out.Machines[i].Capacity)
	}
	return out
}

func (b *builder) daemons() {
	for _, name := range sortedKeys(b.k.daemons) {
		e := b.k.daemons[name]
		if e.template != nil {
			b.out.Daemons = append(b.out.Daemons, cluster.Daemon{Namespace: name.Namespace, Name: name.Name, Shape: e.shape()})
		}
	}
}

func sortedKeys[V any](m map[types.NamespacedName]V) []types.NamespacedName {
	keys := make([]types.NamespacedName, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, byName)
	return keys
}

func byName(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
