package oracle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/resourceclaim"
)

// devices is what drivers of dynamic resource allocation (DRA) publish of the nodes that are there, and the
// ResourceClaims that have some of it. No claim or slice that it holds is written: a change puts another in its place.
type devices struct {
	classes  map[string]*resourcev1.DeviceClass
	slices   map[string][]*resourcev1.ResourceSlice // by node, sorted by name; under "" those of several nodes
	claims   map[types.NamespacedName]*resourcev1.ResourceClaim
	planned  map[string][]types.NamespacedName    // by node: claims that were allocated there for pods of the plan
	expected map[string][]resourceclaim.Published // by instance type: what drivers will publish of another node
	made     map[types.NamespacedName]*resourcev1.ResourceClaimTemplate
}

func newDevices(w *World) *devices {
	d := &devices{classes: map[string]*resourcev1.DeviceClass{}, slices: map[string][]*resourcev1.ResourceSlice{},
		claims: map[types.NamespacedName]*resourcev1.ResourceClaim{}, planned: map[string][]types.NamespacedName{},
		made: map[types.NamespacedName]*resourcev1.ResourceClaimTemplate{}}
	for _, c := range w.DeviceClasses {
		d.classes[c.Name] = c
	}
	for _, s := range w.Slices {
		node := ""
		if s.Spec.NodeName != nil {
			node = *s.Spec.NodeName
		}
		d.slices[node] = append(d.slices[node], s)
	}
	for _, c := range w.ResourceClaims {
		d.claims[keyOf(c)] = c
	}
	for _, t := range w.ClaimTemplates {
		d.made[keyOf(t)] = t
	}
	d.expected = expectedOf(w)
	return d
}

func keyOf(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// expectedOf is what plans may expect of new nodes, by instance type: what drivers publish of the newest initialized
// node of the type, or what is known of it.
func expectedOf(w *World) map[string][]resourceclaim.Published {
	type learned struct {
		from *corev1.Node
		resourceclaim.Published
	}
	from := map[string]map[string]learned{} // by instance type and driver
	nodes, all := map[string]*corev1.Node{}, map[string]*resourcev1.ResourceSlice{}
	for _, n := range w.Nodes {
		nodes[n.Name] = n
	}
	for _, s := range w.Slices {
		all[s.Name] = s
	}
	for _, p := range resourceclaim.Pools(all) {
		n := nodes[p.Name] // drivers name pools after nodes
		if n == nil || !p.Complete || starts(n) || translate.IsLeaving(n) && p.IsEmpty() {
			continue
		}
		of := n.Labels[api.LabelInstanceType]
		if from[of] == nil {
			from[of] = map[string]learned{}
		}
		before := from[of][p.Driver].from
		if before != nil && translate.IsLeaving(before) != translate.IsLeaving(n) {
			if translate.IsLeaving(n) {
				continue
			}
			before = nil
		}
		if before == nil || !before.CreationTimestamp.After(n.CreationTimestamp.Time) {
			from[of][p.Driver] = learned{n, resourceclaim.Learn(&p, n.Name)}
		}
	}
	out := map[string][]resourceclaim.Published{}
	for i := range w.Catalogue.InstanceTypes {
		k := &w.Catalogue.InstanceTypes[i]
		for _, p := range resourceclaim.Expected(k) {
			if _, known := from[k.Name][p.Driver]; !known {
				out[k.Name] = append(out[k.Name], p)
			}
		}
		for _, driver := range slices.Sorted(maps.Keys(from[k.Name])) {
			out[k.Name] = append(out[k.Name], from[k.Name][driver].Published)
		}
	}
	return out
}

// starts reports whether the node is of a pool and not initialized yet.
func starts(n *corev1.Node) bool {
	return n.Labels[api.LabelNodePool] != "" && n.Labels[api.LabelInitialized] != "true"
}

// publish has drivers publish what is expected of an instance type, as far as they have not published a complete pool
// of devices of the node.
func (d *devices) publish(node, instanceType string) {
	for _, p := range d.expected[instanceType] {
		other := func(s *resourcev1.ResourceSlice) bool { return s.Spec.Driver != p.Driver }
		its := slices.DeleteFunc(slices.Clone(d.slices[node]), other)
		if len(its) == 0 || int64(len(its)) < its[0].Spec.Pool.ResourceSliceCount {
			own := func(s *resourcev1.ResourceSlice) bool { return !other(s) }
			rest := slices.DeleteFunc(slices.Clone(d.slices[node]), own)
			d.slices[node] = append(rest, slicesOf(node, p)...)
		}
	}
}

// slicesOf is a pool of devices of the node. Counters have a slice of their own.
func slicesOf(node string, p resourceclaim.Published) []*resourcev1.ResourceSlice {
	slice := func(number int) *resourcev1.ResourceSlice {
		name := fmt.Sprintf("%s-%s-%d", node, p.Driver, number)
		return &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: resourcev1.ResourceSliceSpec{Driver: p.Driver, NodeName: &node,
				Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1}}}
	}
	devices := slice(0)
	devices.Spec.Devices = p.Devices
	if len(p.Counters) == 0 {
		return []*resourcev1.ResourceSlice{devices}
	}
	counters := slice(1)
	counters.Spec.SharedCounters = p.Counters
	devices.Spec.Pool.ResourceSliceCount, counters.Spec.Pool.ResourceSliceCount = 2, 2
	return []*resourcev1.ResourceSlice{devices, counters}
}

// become has drivers publish what is expected of an instance type in place of what they have, and allocates again what
// pods of the plan have there.
func (d *devices) become(ctx context.Context, n *corev1.Node) {
	delete(d.slices, n.Name)
	d.publish(n.Name, n.Labels[api.LabelInstanceType])
	d.release(d.planned[n.Name]...)
	d.allocate(ctx, n, d.planned[n.Name])
}

// saved returns what undoes everything that become does from now on.
func (d *devices) saved() (restore func()) {
	published, claims := maps.Clone(d.slices), maps.Clone(d.claims)
	return func() { d.slices, d.claims = published, claims }
}

// withClaims is the pod with the claims that the controller makes for it from templates.
func (d *devices) withClaims(pod *corev1.Pod) *corev1.Pod {
	out := pod
	for _, c := range pod.Spec.ResourceClaims {
		if c.ResourceClaimTemplateName == nil || claimName(pod, c.Name) != "" {
			continue
		}
		template := d.made[types.NamespacedName{Namespace: pod.Namespace, Name: *c.ResourceClaimTemplateName}]
		if template == nil {
			continue
		}
		if out == pod {
			out = pod.DeepCopy()
		}
		name := pod.Name + "-" + c.Name
		owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID,
			Controller: new(true)}
		claim := &resourcev1.ResourceClaim{Spec: *template.Spec.Spec.DeepCopy()}
		claim.ObjectMeta = metav1.ObjectMeta{Namespace: pod.Namespace, Name: name, UID: types.UID("uid-" + name),
			OwnerReferences: []metav1.OwnerReference{owner}}
		if d.claims[keyOf(claim)] == nil {
			d.claims[keyOf(claim)] = claim
		}
		out.Status.ResourceClaimStatuses = append(out.Status.ResourceClaimStatuses,
			corev1.PodResourceClaimStatus{Name: c.Name, ResourceClaimName: &name})
	}
	return out
}

// claimName is the name of the claim that was made for the pod; empty where none was.
func claimName(pod *corev1.Pod, of string) string {
	for _, s := range pod.Status.ResourceClaimStatuses {
		if s.Name == of && s.ResourceClaimName != nil {
			return *s.ResourceClaimName
		}
	}
	return ""
}

// resourceClaimsOf names the claims of the pod that there are, or will be without a controller.
func resourceClaimsOf(pod *corev1.Pod) (out []types.NamespacedName) {
	for _, c := range pod.Spec.ResourceClaims {
		name := claimName(pod, c.Name)
		if c.ResourceClaimName != nil {
			name = *c.ResourceClaimName
		}
		if name != "" {
			out = append(out, types.NamespacedName{Namespace: pod.Namespace, Name: name})
		}
	}
	return out
}

// release takes devices from claims.
func (d *devices) release(claims ...types.NamespacedName) {
	for _, key := range claims {
		if c := d.claims[key]; c != nil && c.Status.Allocation != nil {
			c = c.DeepCopy()
			c.Status.Allocation = nil
			d.claims[key] = c
		}
	}
}

// allocatorFeatures are those of kube-scheduler's allocator by default, and compiled what it has compiled of selectors.
var (
	allocatorFeatures = sync.OnceValue(func() structured.Features {
		all := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
		return dynamicresources.AllocatorFeatures(all)
	})
	compiled = sync.OnceValue(func() *cel.Cache {
		return cel.NewCache(100, cel.Features{EnableConsumableCapacity: true})
	})
)

// allocate has kube-scheduler's allocator allocate devices of the node to all those of the claims that have none, at
// once, and reports whether it could: else none gets any.
func (d *devices) allocate(ctx context.Context, n *corev1.Node, keys []types.NamespacedName) bool {
	var wants []*resourcev1.ResourceClaim
	for _, key := range keys {
		c := d.claims[key]
		if c == nil {
			return false
		}
		if c.Status.Allocation == nil && !slices.Contains(wants, c) {
			wants = append(wants, c)
		}
	}
	if len(wants) == 0 {
		return true
	}
	state, _ := d.GatherAllocatedState()
	published, _ := d.ListWithDeviceTaintRules()
	allocator, err := structured.NewAllocator(ctx, allocatorFeatures(), *state, classes(d.classes), published,
		compiled())
	if err != nil {
		return false
	}
	results, err := allocator.Allocate(ctx, n, wants)
	if err != nil || len(results) != len(wants) {
		return false
	}
	for i, c := range wants {
		c = c.DeepCopy()
		c.Status.Allocation = &results[i]
		for k := range results[i].Devices.Results {
			if r := &results[i].Devices.Results[k]; r.ShareID != nil {
				id := types.UID(fmt.Sprintf("share-%s-%d", c.Name, k)) // the allocator's own is random
				r.ShareID = &id
			}
		}
		d.claims[keyOf(c)] = c
	}
	return true
}

// plan allocates devices to the claims of a pod that the plan places on the node. Where they do not do with what pods
// placed there before it have, all of them are allocated again, at once: plans promise that what they place together
// fits, while kube-scheduler keeps what it has given. The pod that it cannot serve then waits for the next plan.
func (d *devices) plan(ctx context.Context, n *corev1.Node, pod *corev1.Pod,
	nodes func(name string) *corev1.Node) bool {
	own := slices.DeleteFunc(resourceClaimsOf(pod), func(key types.NamespacedName) bool {
		return d.claims[key] != nil && d.claims[key].Status.Allocation != nil
	})
	all := slices.Concat(d.planned[n.Name], own)
	undo := d.saved()
	before := d.planned[n.Name]
	d.planned[n.Name] = all
	if d.allocate(ctx, n, own) {
		return true
	}
	d.release(all...)
	if d.allocate(ctx, n, all) || d.allocateAll(ctx, nodes) {
		return true
	}
	undo()
	d.planned[n.Name] = before
	return false
}

// allocateAll allocates all claims again that are planned for any node, where several nodes can use some devices: first
// those that cannot have these, then to the others what their nodes have, then the rest.
func (d *devices) allocateAll(ctx context.Context, nodes func(name string) *corev1.Node) bool {
	common := d.slices[""]
	if len(common) == 0 {
		return false
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(d.planned)) {
		if nodes(name) != nil && len(d.planned[name]) > 0 {
			names = append(names, name)
			d.release(d.planned[name]...)
		}
	}
	local := maps.Clone(d.slices)
	for _, name := range names {
		all := d.slices
		flexible := map[types.NamespacedName]bool{}
		for _, key := range d.planned[name] {
			d.slices = map[string][]*resourcev1.ResourceSlice{"": common}
			if undo := d.saved(); d.allocate(ctx, nodes(name), []types.NamespacedName{key}) {
				flexible[key] = true
				undo()
			}
		}
		local[""] = nil
		d.slices = local
		for _, last := range []bool{false, true} {
			for _, key := range d.planned[name] {
				if flexible[key] == last {
					d.allocate(ctx, nodes(name), []types.NamespacedName{key})
				}
			}
		}
		d.slices = all
	}
	for _, name := range names {
		if !d.allocate(ctx, nodes(name), d.planned[name]) {
			d.release(d.planned[name]...)
			if !d.allocate(ctx, nodes(name), d.planned[name]) {
				return false
			}
		}
	}
	return true
}

// countExactly reports whether plans know for each pod whether a node has the devices that it requests. Where claims
// join requests, or share devices, a few devices may stay free rather than be planned.
func (d *devices) countExactly(w *World) bool {
	for _, t := range d.made {
		if !plainClaim(&t.Spec.Spec) {
			return false
		}
	}
	for _, c := range d.claims {
		if !plainClaim(&c.Spec) || metav1.GetControllerOf(c) == nil {
			return false
		}
	}
	if len(d.slices[""]) > 0 {
		return false
	}
	shared := func(d resourcev1.Device) bool { return d.AllowMultipleAllocations != nil }
	return !slices.ContainsFunc(w.Slices, func(s *resourcev1.ResourceSlice) bool {
		return len(s.Spec.SharedCounters) > 0 || slices.ContainsFunc(s.Spec.Devices, shared)
	})
}

// plainClaim reports whether all that the claim requests is so many devices of a class.
func plainClaim(spec *resourcev1.ResourceClaimSpec) bool {
	other := func(r resourcev1.DeviceRequest) bool {
		return r.Exactly == nil || r.Exactly.AllocationMode == resourcev1.DeviceAllocationModeAll ||
			r.Exactly.Capacity != nil || len(r.Exactly.Tolerations) > 0
	}
	return len(spec.Devices.Constraints) == 0 && !slices.ContainsFunc(spec.Devices.Requests, other)
}

// store lists slices and claims as the API server would, by name.
func (d *devices) store() (published []*resourcev1.ResourceSlice, claims []*resourcev1.ResourceClaim) {
	published, _ = d.ListWithDeviceTaintRules()
	claims = slices.SortedFunc(maps.Values(d.claims), func(a, b *resourcev1.ResourceClaim) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return published, claims
}

// ListWithDeviceTaintRules lists all slices by node. Taints are those that drivers publish.
func (d *devices) ListWithDeviceTaintRules() (out []*resourcev1.ResourceSlice, _ error) {
	for _, node := range slices.Sorted(maps.Keys(d.slices)) {
		out = append(out, d.slices[node]...)
	}
	return out, nil
}

// GatherAllocatedState says which devices claims have.
func (d *devices) GatherAllocatedState() (*structured.AllocatedState, error) {
	out := &structured.AllocatedState{AllocatedDevices: sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection()}
	for _, c := range d.claims {
		if c.Status.Allocation == nil {
			continue
		}
		for _, r := range c.Status.Allocation.Devices.Results {
			id := structured.MakeDeviceID(r.Driver, r.Pool, r.Device)
			if r.ShareID == nil {
				out.AllocatedDevices.Insert(id)
				continue
			}
			out.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, r.ShareID))
			out.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, r.ConsumedCapacity))
		}
	}
	return out, nil
}

// errNotAsked is of what the plugin asks for in no case that worlds have.
var errNotAsked = errors.New("no world has any")
