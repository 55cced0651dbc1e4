package snapshot

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/retire"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// Snapshot is what is known now. Cost: linear in pods and nodes, and that of
// working out what classes offer, for which no watch waits.
func (k *Keeper) Snapshot() *cluster.Snapshot {
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
func (k *Keeper) build(byClass map[karpv1.NodeClassReference]offered) (s *cluster.Snapshot, missing []karpv1.NodeClassReference) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if missing = k.classesBeside(byClass); len(missing) > 0 {
		return nil, missing
	}
	k.reshape()
	k.guardAgain()
	now := k.now().UTC()
	b := builder{k: k, out: k.recalled.start(), byClass: byClass, numbered: map[*cluster.Shape]*cluster.Shape{},
		replicas: replicas{up: map[string]bool{}}, repairs: map[cluster.PoolID]cluster.Repair{}}
	b.out.Revision, b.out.Now = k.revision, now
	if len(k.repair.Rules) > 0 {
		b.out.Repair = k.repair
	}
	b.remember()
	b.nodesAndMachines()
	b.seatPods()
	b.seatExpected()
	b.lastReady()
	b.left()
	b.closed()
	b.controllers()
	b.pools()
	b.policiesHold()
	b.daemons()
	b.guardFacts()
	b.out.Keep()
	b.freeze()
	b.out.Sort()
	b.numberShapes()
	return b.out, nil
}

// classesBeside lists the classes that pools and claims name, each once,
// without those that were asked.
func (k *Keeper) classesBeside(asked map[karpv1.NodeClassReference]offered) []karpv1.NodeClassReference {
	var out []karpv1.NodeClassReference
	found := map[karpv1.NodeClassReference]bool{}
	add := func(ref karpv1.NodeClassReference) {
		if _, known := asked[ref]; !known && !found[ref] {
			found[ref] = true
			out = append(out, ref)
		}
	}
	for _, p := range k.pools {
		add(p.Template.Spec.NodeClassRef)
	}
	for _, c := range k.claims {
		add(c.Spec.NodeClassRef)
	}
	return out
}

// builder assembles one snapshot; the keeper's lock is held meanwhile.
type builder struct {
	k        *Keeper
	out      *cluster.Snapshot
	byClass  map[karpv1.NodeClassReference]offered
	nodeAt   map[string]int // by node name: index in out.Nodes
	numbered map[*cluster.Shape]*cluster.Shape
	replicas replicas
	repairs  map[cluster.PoolID]cluster.Repair // by pool, as they were asked for
	kept     []kept                            // pods to be asked whether they are the last ready ones of Services
}

type offered struct {
	catalogue *cluster.Catalogue
	whyNot    string
}

// remember keeps what classes offer for the time when they are not ready.
func (b *builder) remember() {
	for ref, class := range b.byClass {
		if class.catalogue != nil {
			b.k.offered[ref] = class.catalogue
		}
	}
}

// kindsOf is what the class offers, or last offered: what was ordered stays
// what it is while its class is not ready.
func (b *builder) kindsOf(ref karpv1.NodeClassReference) []cluster.Kind {
	if c := b.k.offered[ref]; c != nil {
		return c.Kinds
	}
	return nil
}

// nodesAndMachines sorts claims into those whose node has registered and
// those that are still ordered machines; the node of the latter is left out.
func (b *builder) nodesAndMachines() {
	claimOf := map[string]*karpv1.NodeClaim{} // by provider ID
	for _, c := range b.k.claims {
		if c.Status.ProviderID != "" {
			claimOf[c.Status.ProviderID] = c
		}
	}
	b.nodeAt = map[string]int{}
	hasNode := map[string]bool{}
	for _, n := range b.k.nodes {
		claim := claimOf[n.Spec.ProviderID]
		if claim != nil && !condition.IsTrue(claim, karpv1.ClaimRegistered) {
			continue
		}
		node := translate.Node(n, claim)
		if claim != nil {
			hasNode[claim.Name] = true
			node.Price = b.priceOf(claim)
			node.ChangedAt = b.k.podEvent[n.Name]
			if !b.awaitsPods(claim) {
				node.QuietSince = translate.QuietSince(claim, node.ChangedAt)
			}
			node.Ailments = translate.Ailments(n, claim, b.repairOf(node.Pool))
			translate.MarkAdvised(b.k.pools[node.Pool], claim, &node)
			translate.MarkRolled(b.k.pools[node.Pool], &node)
			translate.MarkDeleted(b.k.pools[node.Pool], claim, &node)
		}
		node.Attachable = b.attachable(&node, claim)
		b.out.Nodes = append(b.out.Nodes, node)
	}
	for _, c := range b.k.claims {
		if !hasNode[c.Name] && !leaves(c) {
			b.out.Machines = append(b.out.Machines, translate.Machine(c, b.kindsOf(c.Spec.NodeClassRef)))
		}
	}
	b.recall()
	slices.SortFunc(b.out.Nodes, func(x, y cluster.Node) int { return cmp.Compare(x.Name, y.Name) })
	for i, n := range b.out.Nodes {
		b.nodeAt[n.Name] = i
	}
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

// leaves reports whether the claim's node was there and is gone.
func leaves(c *karpv1.NodeClaim) bool {
	return c.DeletionTimestamp != nil && condition.IsTrue(c, karpv1.ClaimRegistered)
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
	if kind := b.kindOf(claim); kind != nil {
		out = translate.Expect(out, registered, kind.Attachable)
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

func (b *builder) kindOf(c *karpv1.NodeClaim) *cluster.Kind {
	kinds := b.kindsOf(c.Spec.NodeClassRef)
	i, found := slices.BinarySearchFunc(kinds, c.Labels[api.LabelInstanceType], func(k cluster.Kind, name string) int {
		return cmp.Compare(k.Name, name)
	})
	if !found {
		return nil
	}
	return &kinds[i]
}

func (b *builder) priceOf(c *karpv1.NodeClaim) quantity.MicroUSDPerHour {
	kind := b.kindOf(c)
	if kind == nil {
		return 0
	}
	for _, o := range kind.Offers {
		if o.Priced && o.Zone == c.Labels[api.LabelZone] && string(o.Option) == c.Labels[api.LabelCapacityType] && o.Stock == c.Labels[api.LabelReservationID] {
			return o.Price
		}
	}
	return 0
}

// seatPods puts pods on their nodes and the others, if they wait for one,
// among the waiting. A pod that the scheduler has promised a
// live node counts as placed there.
func (b *builder) seatPods() {
	for i := range b.out.Nodes { // as many as before, and one more
		b.out.Nodes[i].Pods = slices.Grow(b.out.Nodes[i].Pods, b.k.seated[b.out.Nodes[i].Name]+1)
	}
	for _, name := range b.k.order.of(b.k.pods) {
		e := b.k.pods[name]
		p := e.pod
		if e.ended {
			continue
		}
		b.noteReplica(name, e)
		p.Shape, p.Guards = b.shape(e.subject.shape), e.subject.guards
		if !p.ProtectedUntil.After(b.out.Now) && !p.ProtectedUntil.IsZero() { // it has ended since the pod was seen
			p.DoNotDisrupt, p.ProtectedUntil = false, time.Time{}
		}
		p.StartsFor = b.k.startsFor(&p)
		seat, seated := b.nodeAt[p.Node]
		if e.waits(b.out.Now) {
			seat, seated = b.nodeAt[e.nominated]
			if !seated {
				b.out.Waiting = append(b.out.Waiting, p)
				continue
			}
		}
		if !seated {
			continue
		}
		node := &b.out.Nodes[seat]
		node.Pods = append(node.Pods, p)
		b.noteKept(name, e, seat)
	}
	b.k.seated = make(map[string]int, len(b.out.Nodes))
	for i := range b.out.Nodes {
		b.k.seated[b.out.Nodes[i].Name] = len(b.out.Nodes[i].Pods)
	}
}

// closed shows nodes that carry the taint of a move, and that nobody has deleted,
// as what they are.
func (b *builder) closed() {
	for i := range b.out.Nodes {
		n := &b.out.Nodes[i]
		node, claim := b.k.nodes[n.Name], b.k.claims[n.Claim]
		if node == nil {
			continue // recalled, as it is
		}
		ends := node.DeletionTimestamp != nil || claim != nil && claim.DeletionTimestamp != nil
		if n.Deleting && !ends {
			n.Close()
		}
	}
}

// pools adds up what each pool owns: its nodes and its ordered machines.
func (b *builder) pools() {
	now, shares, boots := b.out.Now, retire.Shares(b.out.Nodes), b.boots()
	for _, o := range b.k.pools {
		p, err := translate.Pool(o, shares[o.ID].Nodes, now)
		if err != nil {
			p = cluster.Pool{ID: o.ID, NotReady: err.Error()}
		}
		class := b.byClass[o.Template.Spec.NodeClassRef]
		p.Catalogue = class.catalogue
		if p.NotReady == "" && class.catalogue == nil {
			p.NotReady = class.whyNot
		}
		b.addUp(&p)
		p.Boot = boots[o.ID]
		b.out.Pools = append(b.out.Pools, p)
	}
	for _, p := range b.k.recalled.pools {
		if _, changed := b.k.pools[p.ID]; !changed {
			b.out.Pools = append(b.out.Pools, p)
		}
	}
}

func (b *builder) addUp(p *cluster.Pool) {
	for _, n := range b.out.Nodes {
		if n.Claim != "" && n.Pool == p.ID {
			p.Usage, p.Nodes = p.Usage.Add(n.Capacity), p.Nodes+1
		}
	}
	for _, m := range b.out.Machines {
		if m.Pool == p.ID {
			p.Usage, p.Nodes = p.Usage.Add(m.Capacity), p.Nodes+1
		}
	}
	p.Usage.Pods = 0
}

func (b *builder) daemons() {
	for _, name := range sortedKeys(b.k.daemons) {
		e := b.k.daemons[name]
		if e.template != nil {
			b.out.Daemons = append(b.out.Daemons, cluster.Daemon{Namespace: name.Namespace, Name: name.Name, Shape: b.shape(e.shape())})
		}
	}
}

// shape returns the snapshot's own copy of a shape, so that its number is
// the snapshot's and the keeper's shapes stay unnumbered.
func (b *builder) shape(s *cluster.Shape) *cluster.Shape {
	if own, known := b.numbered[s]; known {
		return own
	}
	own := *s
	b.numbered[s] = &own
	return &own
}

// numberShapes numbers shapes by their first use in the sorted lists.
func (b *builder) numberShapes() {
	seen := map[*cluster.Shape]bool{}
	number := func(s *cluster.Shape) {
		if !seen[s] {
			seen[s] = true
			s.ID = len(b.out.Shapes)
			b.out.Shapes = append(b.out.Shapes, s)
		}
	}
	for _, p := range b.out.Waiting {
		number(p.Shape)
	}
	for _, n := range b.out.Nodes {
		for _, p := range n.Pods {
			number(p.Shape)
		}
		for _, p := range n.BoughtFor {
			number(p.Shape)
		}
	}
	for _, m := range b.out.Machines {
		for _, p := range m.BoughtFor {
			number(p.Shape)
		}
	}
	for _, d := range b.out.Daemons {
		number(d.Shape)
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
