// Package snapshot turns watches into numbered snapshots.
//
// It promises that the snapshot kept by increments equals one built again from the same objects, and
// that a snapshot never changes once it is returned. It decides nothing.
//
// Each kind of object has a table of its own in a folder below, which knows what a snapshot shows of
// it, and keeps what does not change. No table knows another: it declares as an interface what it
// needs of others, and tables.go joins them. Revisions are assigned only here.
package snapshot

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/snapshot/catchup"
	"github.com/daemok/daemok/kube/snapshot/change"
	"github.com/daemok/daemok/kube/snapshot/pods"
	"github.com/daemok/daemok/kube/snapshot/policies"
	"github.com/daemok/daemok/kube/translate"
)

// Kinds says what a class offers now; nil with the reason where it offers
// nothing yet.
type Kinds func(ref karpv1.NodeClassReference) (*cluster.Catalogue, string)

// ClusterState holds what the watches have shown. Every method is safe for
// concurrent use. Build it with New.
type ClusterState struct {
	Buffers  Buffers  // what it knows of CapacityBuffers
	Requests Requests // what it knows of ProvisioningRequests
	Overlays Overlays // what it knows of NodeOverlays
	Devices  Devices  // what it knows of devices of dynamic resource allocation
	Quotas   Quotas   // what it knows of CapacityQuotas

	Commitments Commitments // what it knows of Reserved Instances and Savings Plans

	kinds    Kinds
	now      func() time.Time
	settings Settings
	changed  chan struct{}
	progress catchup.Progress
	followed []followed
	rows     map[reflect.Type]row // how objects are taken in, by type

	mu       sync.Mutex
	revision uint64
	tables   *tables
	recalled recalled
}

// Settings are what is set before anything is seen.
type Settings struct {
	Generations   translate.Generations             // whose pools are followed; none: the newest alone
	Pools         translate.PoolDefaults            // of pools that do not say otherwise
	Spreads       []corev1.TopologySpreadConstraint // of pods without any of their own
	FreezeIn      string                            // namespace whose ConfigMap daemok-freeze counts; empty: none does
	Doubt         apiclock.Doubt                    // says why the clock is not to be trusted: then no node goes, not even one past its age
	Self          types.NamespacedName              // the pod that this process runs in; empty: none, and no node is kept for its sake
	AwaitPolicies bool                              // DisruptionPolicies are going to be listed: until then no node is disrupted
	NoOverlays    bool                              // NodeOverlays have no effect
	PlanDevices   bool                              // pods with ResourceClaims are planned for
	AwaitDevices  bool                              // devices are going to be followed: until then none are
	NoRequests    bool                              // ProvisioningRequests have no effect
	Instance      string                            // of ProvisioningRequests that are served: their processorInstance
	NoQuotas      bool                              // CapacityQuotas have no effect
	CommitmentsIn string                            // namespace whose ConfigMap daemok-commitments counts; empty: none do
	Account       func() cloud.AccountCommitments   // what the account is committed to; nil: that is not read
	AwaitBuffers  bool                              // CapacityBuffers are going to be read: until then no node goes
	HoldDrains    func() bool                       // says whether drains of nodes whose claims were lost are held; nil: they are not
}

// New returns a cluster state that has seen nothing.
func New(kinds Kinds, now func() time.Time) *ClusterState {
	k := &ClusterState{kinds: kinds, now: now, changed: make(chan struct{}, 1), tables: newTables(), rows: map[reflect.Type]row{}}
	k.Buffers, k.Requests, k.Overlays.of, k.Devices.of = Buffers{k}, Requests{k}, k, k
	k.Quotas.of, k.Commitments.of = k, k
	for _, r := range k.objects() {
		k.rows[reflect.TypeOf(r.object)] = r
	}
	k.Configure(func(s *Settings) { s.Generations = translate.Generations{translate.NodePools()} })
	return k
}

// Configure changes settings. It is called before anything is seen.
func (k *ClusterState) Configure(set func(*Settings)) {
	set(&k.settings)
	s, t := &k.settings, k.tables
	t.pools.Defaults, t.claims.ClusterAutoscaler, t.workloads.Defaults, t.pods.Self, t.policies.Awaited = s.Pools, s.Pools.ClusterAutoscaler, s.Spreads, s.Self, s.AwaitPolicies
	t.devices.Ignored, t.requests.Instance = !s.PlanDevices, s.Instance
	t.freeze.In, t.freeze.Doubt, t.buffers.Awaited = s.FreezeIn, s.Doubt, s.AwaitBuffers
	t.commitments.In, t.commitments.Account = s.CommitmentsIn, s.Account
}

// Changed receives a value after something changed that a plan may depend on;
// changes in quick succession give one value.
func (k *ClusterState) Changed() <-chan struct{} { return k.changed }

// Touch says that something outside the watches changed, such as prices.
func (k *ClusterState) Touch() { k.apply(func() change.Effect { return change.Planned }) }

// apply makes a change, and gives it a revision.
func (k *ClusterState) apply(make func() change.Effect) {
	k.mu.Lock()
	defer k.mu.Unlock()
	effect := make()
	if effect == change.None {
		return
	}
	k.revision++
	if effect == change.Shown {
		return
	}
	select {
	case k.changed <- struct{}{}:
	default:
	}
}

// Seen takes in an object as a watch shows it after a change. It must not be written any more.
func (k *ClusterState) Seen(o client.Object) { k.rowOf(o).seen(o, false) }

// Listed takes in an object that was there before the watch began. It must not be written any more.
func (k *ClusterState) Listed(o client.Object) { k.rowOf(o).seen(o, true) }

// Gone takes in that an object was deleted. Of it the name counts, and of an attached volume the node.
func (k *ClusterState) Gone(o client.Object) { k.rowOf(o).gone(o) }

// rowOf is how objects of its type are taken in. One that no table takes in is a mistake of the caller.
func (k *ClusterState) rowOf(o client.Object) row {
	r, known := k.rows[reflect.TypeOf(o)]
	if !known {
		panic(fmt.Sprintf("snapshot: no table takes in objects of type %T", o))
	}
	return r
}

// PoolSeen takes in a pool; one of another provider means nothing.
func (k *ClusterState) PoolSeen(p translate.PoolObject) {
	k.apply(func() change.Effect {
		changed, nodes := k.tables.pools.Seen(p)
		if nodes {
			k.tables.nodes.AllChanged()
		}
		return change.If(changed)
	})
}

// PoolGone takes in that a pool was deleted.
func (k *ClusterState) PoolGone(id cluster.PoolID) {
	k.apply(func() change.Effect {
		if k.tables.pools.Gone(id) {
			k.tables.nodes.AllChanged()
		}
		return change.Planned
	})
}

// PoliciesAre takes in all DisruptionPolicies. They must not be written any more.
func (k *ClusterState) PoliciesAre(list []v1alpha1.DisruptionPolicy) {
	k.apply(func() change.Effect { return change.If(k.tables.policies.Are(list)) })
}

// Policies returns every DisruptionPolicy with its state, sorted by name.
func (k *ClusterState) Policies() []policies.State {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tables.policies.States(k.now())
}

// Pool returns a pool as it was last seen.
func (k *ClusterState) Pool(id cluster.PoolID) (translate.PoolObject, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tables.pools.Pool(id)
}

// Claim returns a claim as it was last seen; nil: none was.
func (k *ClusterState) Claim(name string) *karpv1.NodeClaim {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tables.claims.Claim(name)
}

// LastPodEvent is when a pod last came to or left the node, as far as this
// process has seen it; zero if it has not.
func (k *ClusterState) LastPodEvent(node string) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tables.nodes.LastPodEvent(node)
}

// FreezesIn is the namespace whose ConfigMap daemok-freeze is followed.
func (k *ClusterState) FreezesIn() string { return k.settings.FreezeIn }

// Frozen is why no node may be disturbed now by its user's word; empty where it may.
func (k *ClusterState) Frozen() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tables.freeze.Frozen(k.now())
}

// Arrivals lists the pods that wait now, and when the next one will unless the
// scheduler looks at it before; zero if none. Cost: linear in pods without a node.
func (k *ClusterState) Arrivals() (list []pods.Arrival, next, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now = k.now()
	list, next = k.tables.pods.Arrivals(now)
	return list, next, now
}

// Beside says what shape a pod would have if it came, and which of the pods
// that are there belong with it: those that are chosen, with the shapes they
// would have then, by name. Pods that have ended are not asked about.
func (k *ClusterState) Beside(pod *corev1.Pod, chosen func(*cluster.Pod) bool) (cluster.Shape, []cluster.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tables.pods.Beside(pod, chosen)
}

// Admit fills in what an API server adds to a pod that is created, as far as
// objects say it that the cluster state has seen, or says why that would refuse it.
func (k *ClusterState) Admit(pod *corev1.Pod) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tables.admission.Admit(pod)
}

// Has reports whether a RuntimeClass, PersistentVolume or PersistentVolumeClaim of this name has been seen.
func (k *ClusterState) Has(o client.Object) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch o.(type) {
	case *nodev1.RuntimeClass:
		return k.tables.admission.HasRuntimeClass(o.GetName())
	case *corev1.PersistentVolume:
		return k.tables.storage.HasVolume(o.GetName())
	case *corev1.PersistentVolumeClaim:
		return k.tables.storage.HasClaim(client.ObjectKeyFromObject(o))
	}
	panic(fmt.Sprintf("snapshot: it is not asked whether there are objects of type %T", o))
}
