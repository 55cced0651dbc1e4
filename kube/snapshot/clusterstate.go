// Package snapshot turns watches into numbered snapshots.
//
// It promises that the snapshot kept by increments equals one built again from
// the same objects, and that a snapshot handed out never changes. It holds
// core values of pods, not the raw objects. The shape of a pod also depends on
// other objects: selectors of other pods, namespaces, volume claims. When one
// changes, the pods concerned alone are looked at again, before the next
// snapshot. It decides nothing.
package snapshot

import (
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/translate"
)

// Kinds tells what a class offers now; nil with the reason where it offers
// nothing yet.
type Kinds func(ref karpv1.NodeClassReference) (*cluster.Catalogue, string)

// Cluster state holds what the watches have shown. Every method is safe for
// concurrent use. Build it with New.
type ClusterState struct {
	kinds       Kinds
	generations translate.Generations
	now         func() time.Time
	changed     chan struct{}
	sight       sight

	freezeIn    string                   // namespace of the ConfigMap that may freeze nodes; empty: none
	self        types.NamespacedName     // the pod that this process runs in; empty: none
	machineCost quantity.MicroUSDPerHour // of pools that do not say
	room        cluster.Room             // likewise
	repair      cluster.Repair           // of these, and of nodes without a pool

	mu          sync.Mutex
	revision    uint64
	shapes      interner
	rules       rulebook
	subjects    subjects
	spreading   spreading
	pdbs        pdbs
	storage     translate.Storage
	claimOf     claimsOf
	csiNodes    map[string]*storagev1.CSINode
	attachments map[string]map[string]attachment // by node and name

	namespaces  map[string]map[string]string // labels by name
	limitRanges map[types.NamespacedName]*corev1.LimitRange
	runtimes    map[string]*nodev1.RuntimeClass

	pods      map[types.NamespacedName]*podEntry // never written: one that changed is another
	seatless  map[types.NamespacedName]bool      // pods without a node
	alive     map[ownerID]int32                  // how many pods of an owner do not end
	surplus   map[ownerID]struct{}               // owners with more of those than they want
	mates     map[types.NamespacedName]struct{}  // replicas of the controller
	nodes     map[string]*corev1.Node
	views     views
	claims    map[string]*karpv1.NodeClaim
	orders    orders
	pools     map[cluster.PoolID]translate.PoolObject
	classes   map[karpv1.NodeClassReference]int // how many pools and claims name each
	daemons   map[types.NamespacedName]daemonEntry
	offered   map[karpv1.NodeClassReference]*cluster.Catalogue // the last of each class
	evictions evictions
	went      map[string]time.Time // nodes that were to go and have gone, and when
	asks      asks
	podEvent  map[string]time.Time // by node: when a pod last came or went
	followed  []toolscache.InformerSynced
	recalled  recalled
	freeze    translate.Freeze
	doubt     apiclock.Doubt
	holds     func() bool // drains of nodes without claims are held; nil: they are not
	policies  policies

	departures departures

	misread map[types.NamespacedName]misread // by pod: what it says and is not understood
}

type podEntry struct {
	name      types.NamespacedName // of the pod, unless that was taken in a saved snapshot
	pod       cluster.Pod          // without its shape and PDBs
	subject   *subject             // nil for one that ended
	waiting   bool                 // the scheduler found no place
	unjudged  bool                 // the scheduler has not looked yet
	seenAt    time.Time            // first seen without a node
	cameAt    time.Time            // came, as far as this process can tell
	ended     bool                 // succeeded or failed: holds nothing any more
	nominated string
	promised  time.Time // first seen with that node
	saved     bool      // taken from a saved snapshot, which says where it counts
	up        bool      // it is ready
	cost      int32     // its deletion cost, whoever set it
	keeps     keeping
	says      translate.Standing
}

// New returns a cluster state that has seen nothing.
func New(kinds Kinds, now func() time.Time) *ClusterState {
	k := &ClusterState{
		kinds: kinds, now: now, changed: make(chan struct{}, 1), generations: translate.Generations{translate.NodePools()},
		pods: map[types.NamespacedName]*podEntry{}, seatless: map[types.NamespacedName]bool{},
		alive: map[ownerID]int32{}, surplus: map[ownerID]struct{}{}, mates: map[types.NamespacedName]struct{}{},
		nodes: map[string]*corev1.Node{}, views: newViews(),
		claims: map[string]*karpv1.NodeClaim{}, orders: newOrders(),
		pools: map[cluster.PoolID]translate.PoolObject{}, classes: map[karpv1.NodeClassReference]int{},
		daemons:   map[types.NamespacedName]daemonEntry{},
		evictions: evictions{}, went: map[string]time.Time{}, asks: newAsks(),
		podEvent: map[string]time.Time{}, departures: departures{}, misread: map[types.NamespacedName]misread{},
		offered: map[karpv1.NodeClassReference]*cluster.Catalogue{},

		rules: newRulebook(), subjects: newSubjects(), spreading: newSpreading(), pdbs: newPDBs(), claimOf: claimsOf{},
		csiNodes:    map[string]*storagev1.CSINode{},
		attachments: map[string]map[string]attachment{},
		namespaces:  map[string]map[string]string{},
		limitRanges: map[types.NamespacedName]*corev1.LimitRange{},
		runtimes:    map[string]*nodev1.RuntimeClass{},
	}
	k.storage = translate.Storage{
		Claims:  map[types.NamespacedName]*corev1.PersistentVolumeClaim{},
		Volumes: map[string]*corev1.PersistentVolume{},
		Classes: map[string]*storagev1.StorageClass{},
		Shared:  k.subjects.shared,
	}
	return k
}

// CostByDefault sets what each machine costs beside its type and volumes, of
// pools that do not say. It is called before anything is seen.
func (k *ClusterState) CostByDefault(cost quantity.MicroUSDPerHour) { k.machineCost = cost }

// RoomByDefault sets what machines are to leave to pods, of pools that do not say.
// It is called before anything is seen.
func (k *ClusterState) RoomByDefault(room cluster.Room) { k.room = room }

// RepairByDefault sets when unhealthy nodes are repaired, of pools that do not say and
// of no pool. It is called before anything is seen.
func (k *ClusterState) RepairByDefault(r cluster.Repair) { k.repair = r }

// HoldDrains sets what says whether drains of nodes whose claims were lost are held. It is
// called before anything is seen.
func (k *ClusterState) HoldDrains(held func() bool) { k.holds = held }

func (k *ClusterState) drainsHeld() bool { return k.holds != nil && k.holds() }

// Serve sets the generations whose pools are followed; until then it is the newest
// alone. It is called before anything is seen.
func (k *ClusterState) Serve(all translate.Generations) { k.generations = all }

// Changed receives a value after something changed that a plan may depend on;
// changes in quick succession give one value.
func (k *ClusterState) Changed() <-chan struct{} { return k.changed }

// Touch says that something outside the watches changed, such as prices.
func (k *ClusterState) Touch() {
	k.mu.Lock()
	k.bump()
	k.mu.Unlock()
}

func (k *ClusterState) bump() {
	k.revision++
	select {
	case k.changed <- struct{}{}:
	default:
	}
}

// PodSeen takes in a pod as a watch shows it. first is true while the watch
// lists what was there before.
func (k *ClusterState) PodSeen(pod *corev1.Pod, first bool) {
	now := k.now()
	p := translate.Pod(pod, now)
	name := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	entry := &podEntry{name: name, pod: p, waiting: translate.IsWaiting(pod), ended: translate.IsTerminal(pod), nominated: pod.Status.NominatedNodeName,
		up: translate.IsUp(pod), cost: translate.DeletionCost(pod), keeps: keepingOf(pod), says: translate.StandingOf(pod)}

	k.mu.Lock()
	defer k.mu.Unlock()
	before, known := k.pods[name]
	entry.unjudged, entry.seenAt, entry.cameAt = translate.IsUnjudged(pod), now, cameAt(p.CreatedAt, now)
	if known && before.pod.UID == p.UID {
		entry.seenAt, entry.cameAt = before.seenAt, before.cameAt
	}
	entry.promisedAt(before, now)
	if !known {
		before = &podEntry{}
	}
	k.trace(&entry.pod, before, first)
	if entry.ended {
		k.forget(before.subject)
	} else {
		entry.subject = k.describePod(before.subject, pod)
		k.recordMade(entry.subject, pod)
	}
	k.recordMisread(name, pod)
	if p.Daemon {
		k.daemonPodSeen(pod)
	} else if !first && !p.Mirror && (p.Node != before.pod.Node || p.Ending != before.pod.Ending || entry.ended != before.ended) && p.Node != "" {
		k.podEvent[p.Node] = now
	}
	if known && samePod(before, entry) {
		return
	}
	k.put(entry)
	if known && samePod(unhurried(before), unhurried(entry)) && !k.isReplica(entry) && !entry.keeps.always {
		k.revision++
		return
	}
	k.bump()
}

// put keeps a pod, in place of what it was.
func (k *ClusterState) put(e *podEntry) {
	k.drop(e.name)
	k.pods[e.name] = e
	if e.pod.Node == "" {
		k.seatless[e.name] = true
	} else {
		k.views.target(e)
	}
	if e.lives() {
		k.alive[e.subject.owner]++
		k.recordSurplus(e.subject.owner)
	}
	k.recordMate(e)
}

// drop forgets a pod; one that is not known is none.
func (k *ClusterState) drop(name types.NamespacedName) {
	e := k.pods[name]
	if e == nil {
		return
	}
	delete(k.pods, name)
	delete(k.seatless, name)
	k.views.unseat(e)
	if e.lives() {
		if k.alive[e.subject.owner]--; k.alive[e.subject.owner] == 0 {
			delete(k.alive, e.subject.owner)
		}
		k.recordSurplus(e.subject.owner)
	}
}

// lives reports whether the pod counts among those of its owner.
func (e *podEntry) lives() bool {
	return e.subject != nil && e.subject.owner != (ownerID{}) && !e.ended && !e.pod.Ending
}

// unhurried is a pod without what changes while every pod comes up, or its node is to empty: the next
// plan knows of it, and none is made for its sake. What its budgets allow then
// is told by them.
func unhurried(e *podEntry) *podEntry {
	out := *e
	out.pod.StartedAt, out.pod.Unready, out.pod.Pending, out.up, out.cost = time.Time{}, false, false, false, 0
	return &out
}

// samePod compares everything that a snapshot shows; a pod that says the same
// keeps its subject.
func samePod(a, b *podEntry) bool { return *a == *b }

// PodGone takes in that a pod was deleted.
func (k *ClusterState) PodGone(namespace, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := types.NamespacedName{Namespace: namespace, Name: name}
	entry, known := k.pods[key]
	if !known {
		return
	}
	if p := &entry.pod; p.Node != "" && !p.Daemon && !p.Mirror && !entry.ended {
		k.podEvent[p.Node] = k.now()
	}
	k.leaves(entry)
	if len(k.evictions) > 0 {
		k.reshape() // its shape is what it was when it went
	}
	k.drop(key)
	if entry.subject != nil {
		k.forgetMade(entry.subject.owner)
	}
	k.forget(entry.subject)
	k.mateGone(key)
	delete(k.misread, key)
	k.bump()
}

// NodeSeen takes in a node. It must not be written any more.
func (k *ClusterState) NodeSeen(n *corev1.Node) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.nodes[n.Name]
	k.nodes[n.Name] = n
	delete(k.went, n.Name)
	k.views.show(n)
	if before == nil || before.Spec.ProviderID != n.Spec.ProviderID || !sameStanding(before, n) {
		k.orders.round++
	}
	if before != nil && translate.SameHealth(before, n) && translate.SameWords(before, n) && reflect.DeepEqual(translate.Node(before, nil), translate.Node(n, nil)) {
		return // a heartbeat
	}
	k.bump()
}

// NodeGone takes in that a node was deleted.
func (k *ClusterState) NodeGone(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.nodeWent(name)
	delete(k.nodes, name)
	delete(k.podEvent, name)
	k.views.hide(name)
	k.orders.round++
	k.evictions.forget(k.now())
	k.bump()
}

// ClaimSeen takes in a claim. It must not be written any more. One of another
// provider means nothing: its node is anybody's.
func (k *ClusterState) ClaimSeen(c *karpv1.NodeClaim) {
	if translate.IsForeign(c.Spec.NodeClassRef) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.claims[c.Name]
	k.claims[c.Name] = c
	k.orders.seen(before, c)
	k.names(translate.ClassOf(c), 1)
	if before != nil {
		k.names(translate.ClassOf(before), -1)
	}
	if c.DeletionTimestamp != nil {
		k.departures.note(c, k.now())
	}
	if before != nil && k.isNoted(c) && reflect.DeepEqual(withoutNotes(before), withoutNotes(c)) {
		return // our own notes, of what is known
	}
	k.bump()
}

// isNoted reports whether this process knows of the last pod event that the
// claim tells of.
func (k *ClusterState) isNoted(c *karpv1.NodeClaim) bool {
	return !c.Status.LastPodEventTime.After(k.podEvent[c.Status.NodeName])
}

// withoutNotes is a claim without what no snapshot shows and loops of ours
// write again and again.
func withoutNotes(c *karpv1.NodeClaim) karpv1.NodeClaim {
	out := *c
	out.ResourceVersion, out.ManagedFields = "", nil
	out.Status.LastPodEventTime = metav1.Time{}
	out.Status.Conditions = slices.DeleteFunc(slices.Clone(c.Status.Conditions), func(o metav1.Condition) bool { return o.Type == karpv1.ClaimConsolidatable })
	return out
}

// ClaimGone takes in that a claim was deleted.
func (k *ClusterState) ClaimGone(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c := k.claims[name]; c != nil {
		k.departures.note(c, k.now())
		k.orders.gone(c)
		k.names(translate.ClassOf(c), -1)
	}
	delete(k.claims, name)
	k.bump()
}

// PoolSeen takes in a pool; one of another provider means nothing.
func (k *ClusterState) PoolSeen(p translate.PoolObject) {
	if translate.IsForeign(p.Template.Spec.NodeClassRef) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	p.MachineCost, p.Room, p.Repair = k.machineCost, k.room, k.repair
	before, known := k.pools[p.ID]
	k.pools[p.ID] = p
	k.names(p.Class, 1)
	if known {
		k.names(before.Class, -1)
	}
	if !known || !sameForNodes(before, p) {
		k.views.allAreOld()
	}
	k.bump()
}

// PoolGone takes in that a pool was deleted.
func (k *ClusterState) PoolGone(id cluster.PoolID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p, known := k.pools[id]; known {
		k.names(p.Class, -1)
		k.views.allAreOld()
	}
	delete(k.pools, id)
	k.bump()
}

// sameForNodes compares what a pool says of the nodes that it has. One that is being
// deleted may own others now.
func sameForNodes(a, b translate.PoolObject) bool {
	return a.DeletedAt.IsZero() && b.DeletedAt.IsZero() && a.Punctual == b.Punctual && a.Made == b.Made && a.ClassMade == b.ClassMade && maps.Equal(a.Annotations, b.Annotations)
}

// names counts how often a class is named, by so many more.
func (k *ClusterState) names(class karpv1.NodeClassReference, more int) {
	if k.classes[class] += more; k.classes[class] == 0 {
		delete(k.classes, class)
	}
}

// Pool returns a pool as it was last seen.
func (k *ClusterState) Pool(id cluster.PoolID) (translate.PoolObject, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, known := k.pools[id]
	return p, known
}

// Claim returns a claim as it was last seen; nil: none was.
func (k *ClusterState) Claim(name string) *karpv1.NodeClaim {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.claims[name]
}

// LastPodEvent is when a pod last came to or left the node, as far as this
// process has seen it; zero if it has not.
func (k *ClusterState) LastPodEvent(node string) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.podEvent[node]
}
