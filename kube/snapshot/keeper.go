// Package snapshot turns watches into numbered snapshots.
//
// It promises that the snapshot kept by increments equals one built anew from
// the same objects, and that a snapshot handed out never changes. It holds
// core values of pods, not the raw objects. It decides nothing.
package snapshot

import (
	"reflect"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/daemok/daemok/core/cluster"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// Kinds tells what a class offers now; nil with the reason where it offers
// nothing yet.
type Kinds func(ref karpv1.NodeClassReference) (*cluster.Catalogue, string)

// Keeper holds what the watches have shown. Every method is safe for
// concurrent use. Build it with NewKeeper.
type Keeper struct {
	kinds   Kinds
	now     func() time.Time
	changed chan struct{}

	mu       sync.Mutex
	revision uint64
	shapes   interner
	pods     map[types.NamespacedName]podEntry
	nodes    map[string]*corev1.Node
	claims   map[string]*karpv1.NodeClaim
	pools    map[cluster.PoolID]translate.PoolObject
	daemons  map[types.NamespacedName]daemonEntry
	offered  map[karpv1.NodeClassReference]*cluster.Catalogue // the last of each class
	podEvent map[string]time.Time                             // by node: when a pod last came or went
	followed []toolscache.InformerSynced
}

type podEntry struct {
	pod       cluster.Pod
	waiting   bool      // the scheduler found no place
	unjudged  bool      // the scheduler has not looked yet
	seenAt    time.Time // first seen without a node
	ended     bool      // succeeded or failed: holds nothing any more
	nominated string
}

type daemonEntry struct {
	template *cluster.Shape
	newest   *cluster.Shape // of the newest pod; nil before there is one
	podAt    time.Time
}

func (d daemonEntry) shape() *cluster.Shape {
	if d.newest != nil {
		return d.newest
	}
	return d.template
}

// NewKeeper returns a keeper that has seen nothing.
func NewKeeper(kinds Kinds, now func() time.Time) *Keeper {
	return &Keeper{
		kinds: kinds, now: now, changed: make(chan struct{}, 1),
		pods:     map[types.NamespacedName]podEntry{},
		nodes:    map[string]*corev1.Node{},
		claims:   map[string]*karpv1.NodeClaim{},
		pools:    map[cluster.PoolID]translate.PoolObject{},
		daemons:  map[types.NamespacedName]daemonEntry{},
		podEvent: map[string]time.Time{},
		offered:  map[karpv1.NodeClassReference]*cluster.Catalogue{},
	}
}

// Changed receives a value after something changed that a plan may depend on;
// changes in quick succession give one value.
func (k *Keeper) Changed() <-chan struct{} { return k.changed }

// Touch says that something outside the watches changed, such as prices.
func (k *Keeper) Touch() {
	k.mu.Lock()
	k.bump()
	k.mu.Unlock()
}

func (k *Keeper) bump() {
	k.revision++
	select {
	case k.changed <- struct{}{}:
	default:
	}
}

// PodSeen takes in a pod as a watch shows it. first is true while the watch
// lists what was there before.
func (k *Keeper) PodSeen(pod *corev1.Pod, first bool) {
	now := k.now()
	shape, p := translate.Shape(pod), translate.Pod(pod, now)
	name := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	entry := podEntry{pod: p, waiting: translate.IsWaiting(pod), ended: translate.IsTerminal(pod), nominated: pod.Status.NominatedNodeName}

	k.mu.Lock()
	defer k.mu.Unlock()
	before, known := k.pods[name]
	entry.unjudged, entry.seenAt = translate.IsUnjudged(pod), now
	if known {
		entry.seenAt = before.seenAt
	}
	entry.pod.Shape = k.shapes.intern(shape)
	if known {
		k.shapes.release(before.pod.Shape)
	}
	k.pods[name] = entry
	if p.Daemon {
		k.daemonPodSeen(pod)
	} else if !first && !p.Mirror && (p.Node != before.pod.Node || p.Ending != before.pod.Ending) && p.Node != "" {
		k.podEvent[p.Node] = now
	}
	if known && samePod(before, entry) {
		return
	}
	k.bump()
}

// samePod compares everything that a snapshot shows; shapes are shared, so
// equal ones are the same.
func samePod(a, b podEntry) bool { return a == b }

// PodGone takes in that a pod was deleted.
func (k *Keeper) PodGone(namespace, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := types.NamespacedName{Namespace: namespace, Name: name}
	entry, known := k.pods[key]
	if !known {
		return
	}
	if p := entry.pod; p.Node != "" && !p.Daemon && !p.Mirror {
		k.podEvent[p.Node] = k.now()
	}
	k.shapes.release(entry.pod.Shape)
	delete(k.pods, key)
	k.bump()
}

// daemonPodSeen remembers the newest pod of a DaemonSet, which shows requests
// that admission filled in better than the template does.
func (k *Keeper) daemonPodSeen(pod *corev1.Pod) {
	for _, o := range pod.OwnerReferences {
		if o.Kind != "DaemonSet" {
			continue
		}
		key := types.NamespacedName{Namespace: pod.Namespace, Name: o.Name}
		entry := k.daemons[key] // without template: seen before its DaemonSet
		if at := pod.CreationTimestamp.UTC(); !at.Before(entry.podAt) {
			entry.podAt = at
			k.replace(&entry.newest, translate.DaemonShape(pod))
			k.daemons[key] = entry
		}
	}
}

// DaemonSetSeen takes in a DaemonSet.
func (k *Keeper) DaemonSetSeen(ds *appsv1.DaemonSet) {
	pod := &corev1.Pod{ObjectMeta: ds.Spec.Template.ObjectMeta, Spec: ds.Spec.Template.Spec}
	shape := translate.DaemonShape(pod)
	k.mu.Lock()
	defer k.mu.Unlock()
	key := types.NamespacedName{Namespace: ds.Namespace, Name: ds.Name}
	entry := k.daemons[key]
	before := entry.template
	k.replace(&entry.template, shape)
	if before != nil && before != entry.template && entry.newest != nil {
		k.shapes.release(entry.newest) // pods of the older template say nothing any more
		entry.newest, entry.podAt = nil, time.Time{}
	}
	k.daemons[key] = entry
	k.bump()
}

// DaemonSetGone takes in that a DaemonSet was deleted.
func (k *Keeper) DaemonSetGone(namespace, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := types.NamespacedName{Namespace: namespace, Name: name}
	k.shapes.release(k.daemons[key].template)
	k.shapes.release(k.daemons[key].newest)
	delete(k.daemons, key)
	k.bump()
}

// replace puts the shared form of a shape in the place of another.
func (k *Keeper) replace(place **cluster.Shape, by cluster.Shape) {
	next := k.shapes.intern(by)
	k.shapes.release(*place)
	*place = next
}

// NodeSeen takes in a node. It must not be written any more.
func (k *Keeper) NodeSeen(n *corev1.Node) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.nodes[n.Name]
	k.nodes[n.Name] = n
	if before != nil && reflect.DeepEqual(translate.Node(before, nil), translate.Node(n, nil)) {
		return // a heartbeat
	}
	k.bump()
}

// NodeGone takes in that a node was deleted.
func (k *Keeper) NodeGone(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.nodes, name)
	delete(k.podEvent, name)
	k.bump()
}

// ClaimSeen takes in a claim. It must not be written any more.
func (k *Keeper) ClaimSeen(c *karpv1.NodeClaim) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.claims[c.Name] = c
	k.bump()
}

// ClaimGone takes in that a claim was deleted.
func (k *Keeper) ClaimGone(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.claims, name)
	k.bump()
}

// PoolSeen takes in a pool.
func (k *Keeper) PoolSeen(p translate.PoolObject) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pools[p.ID] = p
	k.bump()
}

// PoolGone takes in that a pool was deleted.
func (k *Keeper) PoolGone(id cluster.PoolID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.pools, id)
	k.bump()
}

// Pool returns a pool as it was last seen.
func (k *Keeper) Pool(id cluster.PoolID) (translate.PoolObject, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, known := k.pools[id]
	return p, known
}

// LastPodEvent is when a pod last came to or left the node, as far as this
// process has seen it; zero if it has not.
func (k *Keeper) LastPodEvent(node string) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.podEvent[node]
}
