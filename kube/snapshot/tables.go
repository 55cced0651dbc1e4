package snapshot

import (
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	vpav1 "github.com/daemok/daemok/kube/api/verticalpodautoscaler/v1"
	"github.com/daemok/daemok/kube/snapshot/admission"
	"github.com/daemok/daemok/kube/snapshot/buffers"
	"github.com/daemok/daemok/kube/snapshot/catchup"
	"github.com/daemok/daemok/kube/snapshot/change"
	"github.com/daemok/daemok/kube/snapshot/claims"
	"github.com/daemok/daemok/kube/snapshot/commitments"
	"github.com/daemok/daemok/kube/snapshot/daemons"
	"github.com/daemok/daemok/kube/snapshot/devices"
	"github.com/daemok/daemok/kube/snapshot/namespaces"
	"github.com/daemok/daemok/kube/snapshot/nodes"
	"github.com/daemok/daemok/kube/snapshot/owner"
	"github.com/daemok/daemok/kube/snapshot/pdbs"
	"github.com/daemok/daemok/kube/snapshot/pods"
	"github.com/daemok/daemok/kube/snapshot/policies"
	"github.com/daemok/daemok/kube/snapshot/pools"
	"github.com/daemok/daemok/kube/snapshot/quotas"
	"github.com/daemok/daemok/kube/snapshot/requests"
	"github.com/daemok/daemok/kube/snapshot/shapes"
	"github.com/daemok/daemok/kube/snapshot/storage"
	"github.com/daemok/daemok/kube/snapshot/workloads"
)

// tables are all that is known, by kind of object.
type tables struct {
	namespaces *namespaces.Table
	admission  *admission.Table
	workloads  *workloads.Table
	storage    *storage.Table
	devices    *devices.Table
	pdbs       *pdbs.Table
	shapes     *shapes.Table
	pods       *pods.Table
	daemons    *daemons.Table
	buffers    *buffers.Table
	requests   *requests.Table
	quotas     *quotas.Table
	pools      *pools.Table
	nodes      *nodes.Table
	claims     *claims.Table
	policies   *policies.Table
	freeze     policies.Freeze

	commitments commitments.Table
}

// newTables joins the tables: here is what each knows of others.
func newTables() *tables {
	t := &tables{
		namespaces: namespaces.New(), admission: admission.New(), workloads: workloads.New(), pdbs: pdbs.New(),
		shapes: shapes.New(), pools: pools.New(), nodes: nodes.New(),
		quotas: quotas.New(),
	}
	t.claims = claims.New(t.nodes, t.pools)
	t.policies = policies.New(t.pools, t.claims)
	t.storage = storage.New(t.shapes, t.nodes)
	t.devices = devices.New(t.shapes, t.nodes, pools.Offers{Of: t.pools}, t.claims)
	t.pods = pods.New(pods.Parts{Shapes: t.shapes, Workloads: t.workloads, Nodes: t.nodes, Claims: t.claims, PDBs: t.pdbs})
	t.daemons = daemons.New(t.shapes, t.admission)
	t.buffers = buffers.New(t.shapes, t.admission, t.namespaces)
	t.requests = requests.New(t.shapes, t.admission, t.namespaces, t.claims)
	t.shapes.Namespaces, t.shapes.Volumes, t.shapes.Workloads = t.namespaces, t.storage, t.workloads
	t.shapes.Devices, t.shapes.Pods, t.shapes.PDBs, t.shapes.Nodes = t.devices, t.pods, t.pdbs, t.pods
	return t
}

// row is how the objects of one type are taken in.
type row struct {
	object  client.Object // an empty one
	newList func() client.ObjectList
	seen    func(o client.Object, first bool) // first is true while a watch lists what was there before
	gone    func(client.Object)
	watched string // how the progress of watches calls it; empty: it is not waited for
	may     bool   // its definition may be missing, or the right to list it: FollowLate follows it, once both are there
}

// objects are the types of objects in the order in which they are read: what others depend on first. Pools are not
// among them: which types these are is a setting.
func (k *ClusterState) objects() []row {
	t := k.tables
	return []row{
		rowOf[appsv1.ReplicaSetList](k, owned[*appsv1.ReplicaSet](t), ownerGone[*appsv1.ReplicaSet](t)),
		rowOf[appsv1.StatefulSetList](k, owned[*appsv1.StatefulSet](t), ownerGone[*appsv1.StatefulSet](t)),
		rowOf[corev1.ReplicationControllerList](k, owned[*corev1.ReplicationController](t), ownerGone[*corev1.ReplicationController](t)),
		rowOf[batchv1.JobList](k, owned[*batchv1.Job](t), ownerGone[*batchv1.Job](t)),
		rowOf[karpv1.NodeClaimList](k,
			func(c *karpv1.NodeClaim) change.Effect { return change.If(t.claims.Seen(c, k.now())) },
			func(c *karpv1.NodeClaim) change.Effect { t.claims.Gone(c.Name, k.now()); return change.Planned }).as(catchup.Claims),
		rowOf[corev1.NodeList](k, ifChanged(t.nodes.Seen), k.nodeGone).as(catchup.Nodes),
		rowOf[corev1.ServiceList](k, t.serviceChanged(t.workloads.ServiceSeen), t.serviceChanged(t.workloads.ServiceGone)),
		rowOf[corev1.NamespaceList](k, t.namespaceChanged(t.namespaces.Seen), t.namespaceChanged(t.namespaces.Gone)),
		rowOf[corev1.LimitRangeList](k, t.limitsChanged(t.admission.LimitRangeSeen), t.limitsChanged(t.admission.LimitRangeGone)),
		rowOf[nodev1.RuntimeClassList](k, t.runtimesChanged(t.admission.RuntimeClassSeen), t.runtimesChanged(t.admission.RuntimeClassGone)),
		rowOf[storagev1.StorageClassList](k, ifChanged(t.storage.StorageClassSeen), ifChanged(t.storage.StorageClassGone)),
		rowOf[storagev1.CSINodeList](k, ifChanged(t.storage.CSINodeSeen), always(t.storage.CSINodeGone)),
		rowOf[storagev1.VolumeAttachmentList](k, ifChanged(t.storage.AttachmentSeen), always(t.storage.AttachmentGone)),
		rowOf[corev1.PersistentVolumeList](k, ifChanged(t.storage.VolumeSeen), ifChanged(t.storage.VolumeGone)),
		rowOf[corev1.PersistentVolumeClaimList](k, ifChanged(t.storage.ClaimSeen), ifChanged(t.storage.ClaimGone)),
		rowOf[policyv1.PodDisruptionBudgetList](k, ifChanged(t.pdbs.Seen), always(t.pdbs.Gone)),
		rowOf[appsv1.DaemonSetList](k, always(t.daemons.Seen), always(t.daemons.Gone)),
		{object: &corev1.Pod{}, newList: newList[corev1.PodList], seen: k.podSeen, gone: k.podGone, watched: catchup.Pods},
		rowOf[vpav1.VerticalPodAutoscalerList](k, t.recommended(t.workloads.RecommendationSeen),
			t.recommended(t.workloads.RecommendationGone)).maybe(),
		rowOf[v1alpha1.NodeOverlayList](k, ifChanged(t.pools.OverlaySeen), ifChanged(t.pools.OverlayGone)).maybe(),
		rowOf[resourcev1.DeviceClassList](k, ifChanged(t.devices.ClassSeen), always(t.devices.ClassGone)).maybe(),
		rowOf[resourcev1.ResourceSliceList](k, ifChanged(t.devices.SliceSeen), always(t.devices.SliceGone)).maybe(),
		rowOf[resourcev1.ResourceClaimTemplateList](k, ifChanged(t.devices.TemplateSeen),
			always(t.devices.TemplateGone)).maybe(),
		rowOf[resourcev1.ResourceClaimList](k, ifChanged(t.devices.ClaimSeen), always(t.devices.ClaimGone)).maybe(),
		rowOf[autoscalingv1.ProvisioningRequestList](k, ifChanged(t.requests.Seen), ifChanged(t.requests.Gone)).maybe(),
		rowOf[v1beta1.CapacityQuotaList](k, ifChanged(t.quotas.Seen), ifChanged(t.quotas.Gone)).maybe(),
		rowOf[corev1.ConfigMapList](k, ifChanged(t.configMapSeen), ifChanged(t.configMapGone)),
	}
}

// rowOf makes a row of what takes in objects of one type, with the lock held.
func rowOf[L, O any, LP interface {
	*L
	client.ObjectList
}, P interface {
	*O
	client.Object
}](k *ClusterState, seen, gone func(P) change.Effect) row {
	return row{
		object: P(new(O)), newList: newList[L, LP],
		seen: func(o client.Object, _ bool) { k.apply(func() change.Effect { return seen(o.(P)) }) },
		gone: func(o client.Object) { k.apply(func() change.Effect { return gone(o.(P)) }) },
	}
}

func newList[L any, P interface {
	*L
	client.ObjectList
}]() client.ObjectList {
	return P(new(L))
}

// as has the progress of watches follow the row.
func (r row) as(watched string) row {
	r.watched = watched
	return r
}

// maybe has the row do without objects where they cannot be had.
func (r row) maybe() row {
	r.may = true
	return r
}

// isOf reports whether the row is of the type of an object.
func (r row) isOf(o client.Object) bool { return reflect.TypeOf(r.object) == reflect.TypeOf(o) }

func ifChanged[P any](take func(P) bool) func(P) change.Effect {
	return func(o P) change.Effect { return change.If(take(o)) }
}

func always[P any](take func(P)) func(P) change.Effect {
	return func(o P) change.Effect { take(o); return change.Planned }
}

func owned[P client.Object](t *tables) func(P) change.Effect {
	return func(o P) change.Effect { return t.ownerChanged(t.workloads.Seen(o)) }
}

func ownerGone[P client.Object](t *tables) func(P) change.Effect {
	return func(o P) change.Effect { return t.ownerChanged(t.workloads.Gone(o)) }
}

type recommendation = vpav1.VerticalPodAutoscaler

// recommended has the pods of workloads looked at again for which VerticalPodAutoscalers recommend something else.
func (t *tables) recommended(take func(*recommendation) []owner.Change) func(*recommendation) change.Effect {
	return func(v *recommendation) (effect change.Effect) {
		for _, c := range take(v) {
			if one := t.ownerChanged(c); one != change.None {
				effect = one
			}
		}
		return effect
	}
}

func (t *tables) ownerChanged(c owner.Change) change.Effect {
	return t.pods.OwnerChanged(&c, len(t.nodes.Went()) > 0)
}

// lookAtPDBs asks which PodDisruptionBudgets pods are under where that may have changed.
func (t *tables) lookAtPDBs() {
	for _, namespace := range t.pdbs.TakeStale() {
		t.shapes.PDBsChanged(namespace)
	}
}

// serviceChanged has pods spread again that take the default spreads; a Service may also say of which pods one is
// the last that is ready.
func (t *tables) serviceChanged(take func(*corev1.Service) bool) func(*corev1.Service) change.Effect {
	return func(s *corev1.Service) change.Effect {
		switch {
		case !take(s) || !t.shapes.Has(s.Namespace):
			return change.None
		case t.workloads.SpreadByDefault():
			t.shapes.ServicesChanged(s.Namespace)
			return change.Planned
		}
		return change.Shown
	}
}

func (t *tables) namespaceChanged(take func(*corev1.Namespace)) func(*corev1.Namespace) change.Effect {
	return func(n *corev1.Namespace) change.Effect {
		take(n)
		buffers, requests := t.buffers.AdmissionChanged(n.Name), t.requests.AdmissionChanged(n.Name)
		return change.If(t.shapes.NamespacesChanged() || buffers || requests)
	}
}

func (t *tables) limitsChanged(take func(*corev1.LimitRange)) func(*corev1.LimitRange) change.Effect {
	return func(r *corev1.LimitRange) change.Effect {
		take(r)
		return t.admissionChanged(r.Namespace)
	}
}

// configMapSeen takes in a ConfigMap of the controller's namespace.
func (t *tables) configMapSeen(c *corev1.ConfigMap) bool {
	freeze, commitments := t.freeze.Seen(c), t.commitments.Seen(c)
	return freeze || commitments
}

// ownInstances are the provider IDs of the cluster's nodes, of whatever kind. Instances that NodeClaims stand for have
// the cluster's tags.
func (t *tables) ownInstances() map[string]bool {
	out := map[string]bool{}
	for n := range t.nodes.All() {
		out[n.Spec.ProviderID] = true
	}
	return out
}

func (t *tables) configMapGone(c *corev1.ConfigMap) bool {
	freeze, commitments := t.freeze.Gone(c), t.commitments.Gone(c)
	return freeze || commitments
}

func (t *tables) runtimesChanged(take func(*nodev1.RuntimeClass)) func(*nodev1.RuntimeClass) change.Effect {
	return func(c *nodev1.RuntimeClass) change.Effect {
		take(c)
		return t.admissionChanged("")
	}
}

// admissionChanged has pods that are yet to be created admitted again, of one namespace or all.
func (t *tables) admissionChanged(namespace string) change.Effect {
	daemons, buffers := t.daemons.AdmissionChanged(namespace), t.buffers.AdmissionChanged(namespace)
	requests := t.requests.AdmissionChanged(namespace)
	return change.If(daemons || buffers || requests)
}

func (k *ClusterState) nodeGone(n *corev1.Node) change.Effect {
	now := k.now()
	k.tables.nodes.Gone(n.Name, now)
	k.tables.pods.ForgetEvictions(now)
	return change.Planned
}

// podSeen reads the pod before it takes the lock: there are many.
func (k *ClusterState) podSeen(o client.Object, first bool) {
	pod, now := o.(*corev1.Pod), k.now()
	p := pods.Read(pod, now, k.tables.pools.Defaults.ClusterAutoscaler)
	k.apply(func() change.Effect {
		if p.IsDaemon() {
			k.tables.daemons.PodSeen(pod)
		}
		effect := k.tables.pods.Seen(pod, p, now, first)
		if k.tables.requests.PodSeen(pod) {
			return change.Planned
		}
		return effect
	})
}

func (k *ClusterState) podGone(o client.Object) {
	k.apply(func() change.Effect {
		k.tables.requests.PodGone(client.ObjectKeyFromObject(o))
		return change.If(k.tables.pods.Gone(types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}, k.now()))
	})
}
