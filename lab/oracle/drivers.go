package oracle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate/resourceclaim"
)

// drivers draws devices of dynamic resource allocation: which instance types have some, what drivers publish of nodes,
// and which ResourceClaims pods have. Its dice are its own. The zero value has none.
type drivers struct {
	dice
	world   *World
	plain   bool                                 // all requests are for so many devices
	of      map[string][]resourceclaim.Published // by instance type
	devices *devices                             // what running pods have
	common  dice                                 // of what several nodes can use
	also    dice                                 // of what other draws are not to depend on
}

const (
	driverFPGA   = "fpga.example.com"
	attributePCI = "resource.kubernetes.io/pcieRoot"
	ofFPGA       = "device.driver == '" + driverFPGA + "'"
)

// newDrivers draws which instance types of the catalogue have devices: a third of the worlds has any. Half of these
// are plain: for them plans promise to leave no pod that could have its devices.
func newDrivers(w *World) *drivers {
	d := &drivers{dice: dice{rand.New(rand.NewPCG(w.Seed, 40))}, world: w,
		common: dice{rand.New(rand.NewPCG(w.Seed, 45))}, also: dice{rand.New(rand.NewPCG(w.Seed, 46))}}
	if !d.one(3) {
		return d
	}
	d.plain, d.of = d.one(2), map[string][]resourceclaim.Published{}
	for name, expression := range map[string]string{
		resourceclaim.DriverNVIDIA: "device.driver == 'gpu.nvidia.com' && " +
			"device.attributes['gpu.nvidia.com'].type == 'gpu'",
		"fpga":   ofFPGA,
		"large":  ofFPGA + " && device.attributes['" + driverFPGA + "'].model >= 2",
		"shared": "device.allowMultipleAllocations == true",
	} {
		class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
		class.Spec.Selectors = []resourcev1.DeviceSelector{selects(expression)}
		w.DeviceClasses = append(w.DeviceClasses, class)
	}
	slices.SortFunc(w.DeviceClasses, func(a, b *resourcev1.DeviceClass) int { return strings.Compare(a.Name, b.Name) })
	for i := range w.Catalogue.InstanceTypes {
		k := &w.Catalogue.InstanceTypes[i]
		switch d.IntN(4) {
		case 0, 1:
			d.of[k.Name] = d.gpus(k)
		case 2:
			d.of[k.Name] = []resourceclaim.Published{d.fpgas()}
		}
	}
	return d
}

func selects(expression string) resourcev1.DeviceSelector {
	return resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}
}

// gpus gives the instance type GPUs of NVIDIA, of which its driver publishes more than is known of the type: the root
// that they are attached to.
func (d *drivers) gpus(k *cluster.InstanceType) []resourceclaim.Published {
	model := pick(d.dice, [2]string{"t4", "16384"}, [2]string{"l4", "23034"}, [2]string{"a100", "40960"})
	k.Labels = k.Labels.Merge(constraint.NewLabels(map[string]string{
		api.LabelGPUManufacturer: "nvidia", api.LabelGPUName: model[0], api.LabelGPUMemory: model[1],
		api.LabelGPUCount: fmt.Sprint(pick(d.dice, 1, 2, 4)),
	}))
	out := resourceclaim.Expected(k)
	for i := range out[0].Devices {
		root := fmt.Sprintf("pci-%d", i/2)
		out[0].Devices[i].Attributes[attributePCI] = resourcev1.DeviceAttribute{StringValue: &root}
	}
	return out
}

// fpgas draws devices that are known from nodes alone. In worlds that are not plain some are shared, and some are
// partitions that consume counters.
func (d *drivers) fpgas() resourceclaim.Published {
	out := resourceclaim.Published{Driver: driverFPGA}
	counted := !d.plain && d.one(3)
	if counted {
		out.Counters = []resourcev1.CounterSet{{Name: "board", Counters: regions(4)}}
	}
	for i := range 1 + d.IntN(4) {
		model, root := int64(1+d.IntN(3)), fmt.Sprintf("pci-%d", d.IntN(2))
		x := resourcev1.Device{Name: fmt.Sprintf("fpga-%d", i)}
		x.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"model": {IntValue: &model}, attributePCI: {StringValue: &root}}
		switch {
		case counted:
			x.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "board",
				Counters: regions(int64(1 + d.IntN(2)))}}
		case !d.plain && d.one(4):
			x.AllowMultipleAllocations = new(true)
			x.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: amount(int64(pick(d.also, 8, 8, 1)))}}
		}
		out.Devices = append(out.Devices, x)
	}
	return out
}

func regions(n int64) map[string]resourcev1.Counter {
	return map[string]resourcev1.Counter{"regions": {Value: amount(n)}}
}

func amount(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.BinarySI) }

// publish has drivers publish the devices of nodes: of starting ones not always, of some with a device that is broken
// or lacks, of some not all yet.
func (d *drivers) publish() {
	if d.of == nil {
		return
	}
	for _, n := range d.world.Nodes {
		for _, p := range d.of[n.Labels[api.LabelInstanceType]] {
			if starts(n) && d.one(2) {
				continue
			}
			d.world.Slices = append(d.world.Slices, d.differ(slicesOf(n.Name, p))...)
		}
	}
	if d.common.one(3) {
		d.publishCommon()
	}
	d.devices = newDevices(d.world)
}

// publishCommon has drivers publish devices that several nodes can use: all nodes, those of a zone, those of a pool, or
// for each device other ones. The name of the pool is last of all, so that the allocator tries devices of nodes first.
func (d *drivers) publishCommon() {
	for _, driver := range []string{resourceclaim.DriverNVIDIA, driverFPGA} {
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "zz-" + driver}}
		s.Spec.Driver = driver
		s.Spec.Pool = resourcev1.ResourcePool{Name: "zz-common", Generation: 1, ResourceSliceCount: 1}
		each := d.common.one(3)
		if each {
			s.Spec.PerDeviceNodeSelection = new(true)
		} else {
			s.Spec.AllNodes, s.Spec.NodeSelector = d.some()
		}
		for i := range 1 + d.common.IntN(3) {
			model := int64(1 + d.common.IntN(3))
			x := resourcev1.Device{Name: fmt.Sprintf("common-%d", i)}
			x.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"model": {IntValue: &model}, "type": {StringValue: new("gpu")}}
			x.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
				"memory": {Value: amount(int64(pick(d.common, 16, 40)) << 30)}}
			if each {
				x.AllNodes, x.NodeSelector = d.some()
			}
			s.Spec.Devices = append(s.Spec.Devices, x)
		}
		d.world.Slices = append(d.world.Slices, s)
	}
}

// some draws nodes that can use devices.
func (d *drivers) some() (all *bool, selector *corev1.NodeSelector) {
	if d.common.one(3) {
		return new(true), nil
	}
	in := corev1.NodeSelectorRequirement{Key: api.LabelZone, Operator: corev1.NodeSelectorOpIn,
		Values: []string{pick(d.common, "zone-a", "zone-b", "zone-c")}}
	if d.common.one(3) {
		in.Key, in.Values = api.LabelCapacityType, []string{pick(d.common, "spot", "on-demand")}
	}
	term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{in}}
	return nil, &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}
}

func (d *drivers) differ(list []*resourcev1.ResourceSlice) []*resourcev1.ResourceSlice {
	s := list[0].DeepCopy()
	last := len(s.Spec.Devices) - 1
	switch d.IntN(16) {
	case 0:
		if last > 0 {
			s.Spec.Devices = s.Spec.Devices[:last]
		}
	case 1:
		broken := resourcev1.DeviceTaint{Key: "broken", Effect: resourcev1.DeviceTaintEffectNoSchedule}
		s.Spec.Devices[last].Taints = []resourcev1.DeviceTaint{broken}
	case 2:
		s.Spec.Pool.ResourceSliceCount++
	}
	return append([]*resourcev1.ResourceSlice{s}, list[1:]...)
}

// claimRules draws the claims of a deployment: from a template for each pod or, in worlds that are not plain, one for
// all of them. Some name a template or a class that is missing.
func (d *drivers) claimRules(pod *corev1.Pod) {
	if d.of == nil || d.one(2) {
		return
	}
	key := metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name + "-devices"}
	c := corev1.PodResourceClaim{Name: "devices"}
	var spec resourcev1.ResourceClaimSpec
	spec.Devices.Requests = []resourcev1.DeviceRequest{d.request("first")}
	if d.one(4) {
		spec.Devices.Requests = append(spec.Devices.Requests, d.request("second"))
	}
	if root := resourcev1.FullyQualifiedName(attributePCI); !d.plain && d.one(3) {
		spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: &root}}
		if d.also.one(3) {
			spec.Devices.Constraints = []resourcev1.DeviceConstraint{{DistinctAttribute: &root}}
		}
	}
	switch {
	case !d.plain && d.one(6):
		c.ResourceClaimName = &key.Name
		if !d.one(8) {
			key.UID = types.UID("uid-" + key.Name)
			claim := &resourcev1.ResourceClaim{ObjectMeta: key, Spec: spec}
			d.world.ResourceClaims = append(d.world.ResourceClaims, claim)
			d.devices.claims[keyOf(claim)] = claim
		}
	default:
		c.ResourceClaimTemplateName = &key.Name
		if !d.one(20) {
			t := &resourcev1.ResourceClaimTemplate{ObjectMeta: key}
			t.Spec.Spec = spec
			d.world.ClaimTemplates = append(d.world.ClaimTemplates, t)
			d.devices.made[keyOf(t)] = t
		}
	}
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{c}
	pod.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: c.Name}}
}

// request draws what a claim requests, as the API server stores it.
func (d *drivers) request(name string) resourcev1.DeviceRequest {
	e := resourcev1.ExactDeviceRequest{AllocationMode: resourcev1.DeviceAllocationModeExactCount,
		Count:           int64(pick(d.dice, 1, 1, 2)),
		DeviceClassName: pick(d.dice, resourceclaim.DriverNVIDIA, resourceclaim.DriverNVIDIA, "fpga", "large")}
	if d.one(30) {
		e.DeviceClassName = "missing"
	}
	if e.DeviceClassName == resourceclaim.DriverNVIDIA && d.one(3) {
		large := selects("device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('20Gi')) >= 0")
		e.Selectors = []resourcev1.DeviceSelector{large}
	}
	if d.plain {
		return resourcev1.DeviceRequest{Name: name, Exactly: &e}
	}
	if d.one(6) {
		e.DeviceClassName, e.Count = "shared", 1
		memory := amount(int64(1 + d.IntN(8)))
		e.Capacity = &resourcev1.CapacityRequirements{
			Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": memory}}
	}
	if d.one(4) {
		e.Tolerations = []resourcev1.DeviceToleration{{Key: "broken", Operator: resourcev1.DeviceTolerationOpExists}}
	}
	switch d.IntN(6) {
	case 0:
		e.AllocationMode, e.Count = resourcev1.DeviceAllocationModeAll, 0
	case 1:
		out := resourcev1.DeviceRequest{Name: name}
		for i, class := range []string{"large", e.DeviceClassName} {
			out.FirstAvailable = append(out.FirstAvailable, resourcev1.DeviceSubRequest{
				Name: fmt.Sprintf("choice-%d", i), DeviceClassName: class, AllocationMode: e.AllocationMode,
				Count: e.Count, Tolerations: e.Tolerations})
		}
		return out
	}
	return resourcev1.DeviceRequest{Name: name, Exactly: &e}
}

// runs gives a pod that is to run on the node its devices there, and reports whether it has got them. Claims that
// several pods use stay on nodes that stay.
func (d *drivers) runs(pod *corev1.Pod, n *corev1.Node) (*corev1.Pod, bool) {
	if len(pod.Spec.ResourceClaims) == 0 {
		return pod, true
	}
	pod = d.devices.withClaims(pod)
	keys := resourceClaimsOf(pod)
	if len(keys) == 0 || pod.Spec.ResourceClaims[0].ResourceClaimName != nil && n.DeletionTimestamp != nil {
		return nil, false
	}
	if c := d.devices.claims[keys[0]]; c != nil && c.Status.Allocation != nil {
		return pod, c.Status.Allocation.Devices.Results[0].Pool == n.Name
	}
	ok := d.devices.allocate(context.Background(), n, keys)
	d.world.ResourceClaims = d.made(keys, ok)
	return pod, ok
}

// made is the world's claims with these. Those of a pod that does not run are not there.
func (d *drivers) made(keys []types.NamespacedName, runs bool) []*resourcev1.ResourceClaim {
	for _, key := range keys {
		if c := d.devices.claims[key]; !runs && c != nil && metav1.GetControllerOf(c) != nil {
			delete(d.devices.claims, key)
		}
	}
	_, out := d.devices.store()
	return out
}

// waits makes the claims of most pods that wait, as the controller does.
func (d *drivers) waits(pod *corev1.Pod) *corev1.Pod {
	if len(pod.Spec.ResourceClaims) == 0 || d.one(3) {
		return pod
	}
	pod = d.devices.withClaims(pod)
	_, d.world.ResourceClaims = d.devices.store()
	return pod
}
