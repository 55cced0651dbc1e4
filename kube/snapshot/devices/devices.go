// Package devices is the table of dynamic resource allocation (DRA): the devices that drivers publish, and what
// ResourceClaims request and have of them. It shows both as amounts of pods, nodes and instance types.
//
// core/device says what the amounts mean. Devices that several nodes can use are no amounts of nodes: the table
// divides them among the pods that wait before plans are made, and each such pod requires a node that can use its own.
package devices

import (
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/device"
	"github.com/daemok/daemok/core/quantity"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/snapshot/shapes"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/kube/translate/resourceclaim"
)

// nodes are where devices are.
type nodes interface {
	Node(name string) *corev1.Node
	All() iter.Seq[*corev1.Node]
}

// claims are what nodes and instances were launched for.
type claims interface {
	Claim(name string) *karpv1.NodeClaim
}

// offers are the pools that can launch nodes.
type offers interface {
	Pools() iter.Seq[cluster.Pool]
}

// Table holds what is known of devices. It is not safe for concurrent use. Build it with New.
type Table struct {
	Ignored bool // no pod with ResourceClaims is planned for

	shapes    *shapes.Table
	nodes     nodes
	offers    offers
	launched  claims
	reader    *resourceclaim.Reader
	slices    map[string]*resourcev1.ResourceSlice
	claims    map[types.NamespacedName]*resourcev1.ResourceClaim
	templates map[types.NamespacedName]*resourcev1.ResourceClaimTemplate

	partial bool // some are yet to be listed: of the others alone nothing is planned

	stale  bool // an object has changed since the last snapshot
	moved  bool // so has a device, or which are of a class
	read   map[*resourcev1.ResourceClaimSpec]read
	many   bitset.Set     // the selectors that shared devices meet
	served map[string]int // selectors of the classes that serve extended resources which pods request, by resource
	shared map[types.NamespacedName]sharing
	asked  asked // claims for extended resources
	world  world
	common common
	fails  failing
}

// read is what a claim consists of, or why that is not known.
type read struct {
	claim   device.Claim
	bundles []device.Counted
	whyNot  string
}

// asking is so many devices of a class, by their extended resource.
type asking struct {
	class string
	count int64
}

type asked map[asking]*resourcev1.ResourceClaimSpec

// New returns an empty table.
func New(all *shapes.Table, nodes nodes, offers offers, launched claims) *Table {
	return &Table{
		shapes: all, nodes: nodes, offers: offers, launched: launched, reader: resourceclaim.NewReader(),
		slices:    map[string]*resourcev1.ResourceSlice{},
		claims:    map[types.NamespacedName]*resourcev1.ResourceClaim{},
		templates: map[types.NamespacedName]*resourcev1.ResourceClaimTemplate{},
		asked:     asked{},
	}
}

// SliceSeen takes in a ResourceSlice, and reports whether it says something new.
func (t *Table) SliceSeen(s *resourcev1.ResourceSlice) bool {
	before := t.slices[s.Name]
	if before != nil && reflect.DeepEqual(before.Spec, s.Spec) {
		return false
	}
	t.reader.Forget(before)
	t.slices[s.Name], t.moved = s, true
	return t.changed(true)
}

// SliceGone takes in that a ResourceSlice was deleted.
func (t *Table) SliceGone(s *resourcev1.ResourceSlice) {
	t.reader.Forget(t.slices[s.Name])
	delete(t.slices, s.Name)
	t.moved = true
}

// ClassSeen takes in a DeviceClass, and reports whether it says something new.
func (t *Table) ClassSeen(c *resourcev1.DeviceClass) bool {
	before := t.reader.Classes[c.Name]
	t.reader.Classes[c.Name] = c
	if before != nil && reflect.DeepEqual(before.Spec, c.Spec) {
		return false
	}
	t.read, t.moved = nil, true
	return t.changed(true)
}

// ClassGone takes in that a DeviceClass was deleted.
func (t *Table) ClassGone(c *resourcev1.DeviceClass) {
	delete(t.reader.Classes, c.Name)
	t.read, t.moved, t.stale = nil, true, true
}

// ClaimSeen takes in a ResourceClaim, and reports whether it says something new.
func (t *Table) ClaimSeen(c *resourcev1.ResourceClaim) bool {
	name := types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
	before := t.claims[name]
	t.claims[name] = c
	return t.changed(before == nil || (before.DeletionTimestamp == nil) != (c.DeletionTimestamp == nil) ||
		!reflect.DeepEqual(before.Spec, c.Spec) || !reflect.DeepEqual(before.Status.Allocation, c.Status.Allocation))
}

// ClaimGone takes in that a ResourceClaim was deleted.
func (t *Table) ClaimGone(c *resourcev1.ResourceClaim) {
	delete(t.claims, types.NamespacedName{Namespace: c.Namespace, Name: c.Name})
	t.stale = true
}

// TemplateSeen takes in a ResourceClaimTemplate, and reports whether it says something new.
func (t *Table) TemplateSeen(c *resourcev1.ResourceClaimTemplate) bool {
	name := types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
	before := t.templates[name]
	t.templates[name] = c
	return t.changed(before == nil || !reflect.DeepEqual(before.Spec, c.Spec))
}

// TemplateGone takes in that a ResourceClaimTemplate was deleted.
func (t *Table) TemplateGone(c *resourcev1.ResourceClaimTemplate) {
	delete(t.templates, types.NamespacedName{Namespace: c.Namespace, Name: c.Name})
	t.stale = true
}

func (t *Table) changed(is bool) bool {
	t.stale = t.stale || is
	return is && !t.Ignored // nothing is planned by it otherwise
}

// ArePartial says whether more objects are yet to be listed.
func (t *Table) ArePartial(partial bool) {
	if t.partial != partial {
		t.partial, t.stale = partial, true
		t.shapes.DevicesChanged()
	}
}

// Unpublished lists those of the drivers that do not publish a complete pool of devices of the node, in their order.
func (t *Table) Unpublished(node string, drivers []string) (out []string) {
	all := resourceclaim.Pools(t.slices)
	for _, driver := range drivers {
		publishes := func(p resourceclaim.Pool) bool {
			return p.Driver == driver && p.Complete && slices.Contains(p.Nodes(), node)
		}
		if !slices.ContainsFunc(all, publishes) {
			out = append(out, driver)
		}
	}
	return out
}

// Resolve works out what the amounts are, from what pods request, drivers publish and catalogues offer, and has pods
// looked at again where that has changed. It costs nothing as long as no pod requests devices.
func (t *Table) Resolve(catalogues []*cluster.Catalogue) {
	if t.Ignored || t.partial {
		return
	}
	if t.reader.Renew() {
		t.read, t.moved = nil, true
	}
	t.served = serving(t.reader, t.shapes.Extended)
	t.readClaims()
	bundles := t.divide()
	before := t.world.same
	if len(bundles)+len(t.served) > 0 {
		t.world = t.newWorld(bundles, catalogues)
	} else {
		t.world = world{}
	}
	t.share()
	t.divideCommon()
	var fails failing
	if t.reader.Fails() && len(bundles) > 0 {
		fails = findFailing(t.reader, bundles, t.onNodes(), resourceclaim.AllocatedTo(t.claims), t.nodes.Node)
	}
	t.stale = t.stale || !maps.EqualFunc(fails, t.fails, slices.Equal)
	t.fails = fails
	if t.stale || t.world.same != before {
		t.shapes.DevicesChanged()
	}
	t.stale, t.moved = false, false
}

// serving finds the extended resources that pods request and drivers serve.
func serving(r *resourceclaim.Reader, requested func() map[string]bool) map[string]int {
	if len(r.Classes) == 0 {
		return nil
	}
	out := map[string]int{}
	for name := range requested() {
		if selector, served := r.Serving(name); served {
			out[name] = selector
		}
	}
	return out
}

// readClaims finds what the claims of pods request.
func (t *Table) readClaims() {
	before := t.read
	t.read = map[*resourcev1.ResourceClaimSpec]read{}
	for user := range t.shapes.DeviceUsers() {
		for _, use := range user.DeviceUses() {
			spec, _, _ := t.look(use)
			if spec == nil {
				continue
			}
			if _, known := t.read[spec]; known {
				continue
			}
			r, known := before[spec]
			if !known {
				r = t.readClaim(spec)
			}
			t.read[spec] = r
		}
	}
}

func (t *Table) readClaim(spec *resourcev1.ResourceClaimSpec) read {
	claim, err := t.reader.Claim(spec)
	if err != nil {
		return read{whyNot: err.Error()}
	}
	return read{claim: claim}
}

// divide finds what the claims consist of, and lists it.
func (t *Table) divide() (bundles []*device.Bundle) {
	if len(t.read) == 0 {
		return nil
	}
	many := t.reader.MetByShared(t.slices)
	again := !slices.Equal(many, t.many)
	t.many = many
	for spec, r := range t.read {
		if r.bundles == nil || again {
			r.bundles = device.Bundles(r.claim, t.reader.Names(), many)
			t.read[spec] = r
		}
		for _, b := range r.bundles {
			bundles = append(bundles, b.Bundle)
		}
	}
	return bundles
}

// look finds the claim of a pod, or what it will be; whyNot is set where the pod has to wait for something else.
func (t *Table) look(use podspec.DeviceUse) (spec *resourcev1.ResourceClaimSpec, made *resourcev1.ResourceClaim,
	whyNot string) {
	claim := t.claims[use.Claim]
	switch {
	case claim != nil && claim.DeletionTimestamp != nil:
		return nil, nil, fmt.Sprintf("ResourceClaim %s of the pod is being deleted; create it again when it is gone",
			use.Claim)
	case claim != nil:
		return &claim.Spec, claim, ""
	case use.Count > 0:
		return t.asked.spec(use), nil, ""
	case use.Template == "":
		return nil, nil, fmt.Sprintf("ResourceClaim %s of the pod does not exist; create it", use.Claim)
	}
	name := types.NamespacedName{Namespace: use.Claim.Namespace, Name: use.Template}
	if template := t.templates[name]; template != nil {
		return &template.Spec.Spec, nil, ""
	}
	return nil, nil, fmt.Sprintf("ResourceClaimTemplate %s of the pod does not exist; create it", name)
}

// spec is the claim that kube-scheduler makes for an extended resource that is named after a DeviceClass.
func (a asked) spec(use podspec.DeviceUse) *resourcev1.ResourceClaimSpec {
	of := asking{use.ClassOf(), use.Count}
	if a[of] == nil {
		exactly := &resourcev1.ExactDeviceRequest{DeviceClassName: of.class, Count: of.count,
			AllocationMode: resourcev1.DeviceAllocationModeExactCount}
		a[of] = &resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
			Requests: []resourcev1.DeviceRequest{{Name: "container", Exactly: exactly}}}}
	}
	return a[of]
}

// AddDevices says in a shape what its pods take of devices, or where those are that they have, and why no instance
// helps where that is so. placed says that they are on a node: the pods in their place get devices anew.
func (t *Table) AddDevices(shape *cluster.Shape, uses []podspec.DeviceUse, placed bool) {
	unable := func(why string) {
		if shape.Unable == "" {
			shape.Unable = why
		}
	}
	if t.Ignored {
		unable(podspec.DevicesUnplanned())
		return
	}
	if t.partial {
		unable("the pod has ResourceClaims, and devices are not known yet; see the controller's log if it stays so")
		return
	}
	var all []device.Counted
	for i, use := range uses {
		spec, claim, whyNot := t.look(use)
		if whyNot != "" {
			unable(whyNot)
			continue
		}
		if claim != nil && use.Count > 0 && i > 0 && uses[i-1].Claim == use.Claim {
			continue // kube-scheduler has made one claim for all of them
		}
		has := claim != nil && claim.Status.Allocation != nil
		if has && !(placed && podspec.IsOfOneNode(claim.Status.Allocation.NodeSelector)) {
			podspec.ReachDevices(shape, claim.Status.Allocation.NodeSelector)
			continue
		}
		r := t.read[spec]
		if r.whyNot != "" {
			unable("ResourceClaim of the pod: " + r.whyNot)
			continue
		}
		own := r.bundles
		if has {
			own = t.world.reachAllocated(shape, own, claim.Status.Allocation)
			unable(t.fails.whyNot(shape, r.bundles, beside(claim.Status.Allocation.NodeSelector, t.nodes.Node)))
		} else {
			own = t.common.reach(shape, own, partOf(use, i))
			unable(t.common.whyNot(own))
			unable(t.fails.whyNot(shape, r.bundles, t.nodes.Node))
		}
		if use.Pod == "" {
			own = t.world.ofNode(own)
		}
		s := t.shared[use.Claim]
		if use.Template != "" || s.by == use.Pod {
			all = append(all, own...)
		}
		if use.Template == "" && s.pods > 1 && (len(own) > 0 || t.world.mayBeLocal(r.bundles)) {
			podspec.ShareDevices(shape, use.Claim, s.by == use.Pod)
		}
	}
	for _, e := range t.world.needs(all) {
		shape.Requests = shape.Requests.With(e.Name, e.Amount)
	}
	shape.Drivers = t.world.drivers(all)
}

// Show adds what devices are free to the nodes of a snapshot, and what devices instances will have to its instances
// and catalogues.
func (t *Table) Show(s *cluster.Snapshot) {
	if t.partial || t.world.dimensions == nil {
		return
	}
	t.showNodes(s)
	before := t.world.catalogues
	t.world.catalogues = map[*cluster.Catalogue]*cluster.Catalogue{} // those that are not used any more are dropped
	for i := range s.Pools {
		s.Pools[i].Catalogue = t.world.catalogue(s.Pools[i].Catalogue, before)
	}
	t.showInstances(s)
}

// showNodes adds to nodes what is free there and what their pods have. What a driver has yet to publish of a node that
// is not initialized is what it is expected to.
func (t *Table) showNodes(s *cluster.Snapshot) {
	on := t.onNodes()
	allocated := resourceclaim.AllocatedTo(t.claims)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if t.nodes.Node(n.Name) == nil {
			continue // recalled, as it is
		}
		inv, published := &device.Inventory{}, map[string]bool{}
		for _, p := range on[n.Name] {
			t.reader.AddPool(inv, p, n.Name, allocated)
			published[p.Driver] = published[p.Driver] || p.Complete
		}
		if name, _ := n.Labels.Get(cluster.LabelInstanceType); !n.Initialized {
			for _, p := range t.world.expected[name] {
				if !published[p.Driver] && (!p.OnRequest || t.launchedFor(n.Claim, p.Driver)) {
					t.reader.Add(inv, p)
				}
			}
		}
		t.showServed(n, inv)
		has := quantity.Resources{Extended: t.world.dimensions.Offers(inv)}
		for j := range n.Pods {
			has = has.Add(quantity.Resources{Extended: device.Only(n.Pods[j].Takes())})
		}
		n.Allocatable, n.Capacity = device.With(n.Allocatable, has.Extended), device.With(n.Capacity, has.Extended)
	}
}

// onNodes are the pools with devices of each node.
func (t *Table) onNodes() map[string][]*resourceclaim.Pool {
	on, all := map[string][]*resourceclaim.Pool{}, t.published()
	for i := range all {
		for _, node := range all[i].Nodes() {
			on[node] = append(on[node], &all[i])
		}
	}
	return on
}

// published are the pools of all slices, as far as they have been worked out.
func (t *Table) published() []resourceclaim.Pool {
	if t.world.dimensions != nil {
		return t.world.from.pools
	}
	return resourceclaim.Pools(t.slices)
}

// showServed adds to a node the extended resources that drivers serve there and no device plugin does: what is free and
// what its pods have.
func (t *Table) showServed(n *cluster.Node, inv *device.Inventory) {
	for name, selector := range t.served {
		if n.Allocatable.Get(name) > 0 {
			continue
		}
		has := inv.Free(selector)
		for j := range n.Pods {
			has += n.Pods[j].Takes().Get(name)
		}
		n.Allocatable, n.Capacity = n.Allocatable.With(name, has), n.Capacity.With(name, has)
	}
}

// Serves reports whether a driver publishes devices of the node that serve an extended resource.
func (t *Table) Serves(node, resource string) bool {
	selector, served := t.reader.Serving(resource)
	if !served {
		return false
	}
	inv, all := &device.Inventory{}, resourceclaim.Pools(t.slices)
	for i := range all {
		if slices.Contains(all[i].Nodes(), node) {
			t.reader.AddPool(inv, &all[i], node, resourceclaim.Allocated{})
		}
	}
	return inv.Free(selector) > 0
}

// launchedFor reports whether an instance was launched with the devices of a driver that it has only then.
func (t *Table) launchedFor(claim, driver string) bool {
	c := t.launched.Claim(claim)
	return c != nil && slices.Contains(translate.RequestedDrivers(c), driver)
}

// showInstances adds what the instances that are being launched will have: the least of what they may become.
func (t *Table) showInstances(s *cluster.Snapshot) {
	if len(s.Instances) > 0 {
		s.Instances = slices.Clone(s.Instances)
	}
	for i := range s.Instances {
		m := &s.Instances[i]
		may := m.Requirements.Get(cluster.LabelInstanceType)
		launched, known := m.Labels.Get(cluster.LabelInstanceType)
		least, first := map[string]int64{}, true
		for _, name := range slices.Sorted(maps.Keys(t.world.expected)) {
			if m.Launched && known && name != launched || !may.Allows(name) {
				continue
			}
			offers := quantity.Resources{Extended: t.world.offers[name]}
			if !t.launchedFor(m.Claim, resourceclaim.DriverEFA) {
				for _, amount := range t.world.onRequest[name] {
					offers = offers.With(amount, 0)
				}
			}
			if first {
				for _, e := range offers.Extended {
					least[e.Name] = e.Amount
				}
			}
			for amount := range least {
				least[amount] = min(least[amount], offers.Get(amount))
			}
			first = false
		}
		for _, name := range slices.Sorted(maps.Keys(least)) {
			if !device.Counts(name) && m.Allocatable.Get(name) > 0 {
				continue // a device plugin has it
			}
			m.Allocatable, m.Capacity = m.Allocatable.With(name, least[name]), m.Capacity.With(name, least[name])
		}
	}
}
