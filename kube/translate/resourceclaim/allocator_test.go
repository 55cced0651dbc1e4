package resourceclaim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"

	"github.com/daemok/daemok/core/device"
	"github.com/daemok/daemok/core/effort"
)

// TestDevicesAreAllocatedAsKubeSchedulerDoes compares with kube-scheduler's own allocator, in small random clusters:
// what it can allocate on a node to claims that have none yet.
func TestDevicesAreAllocatedAsKubeSchedulerDoes(t *testing.T) {
	yes, no := 0, 0
	compiled := NewReader().compiled
	for seed := range uint64(8000) {
		c := draw(seed)
		c.compiled = compiled
		want, err := c.scheduler(t)
		if errors.Is(err, errBroken) || err != nil && strings.Contains(err.Error(), "cannot add device") {
			continue // it gives up where a request for all devices is in the way, without trying others for the rest
		} else if err != nil { // of requests for all devices, where a pool is not complete
			want = false
		}
		got := c.ours(t)
		if got != want {
			t.Fatalf("seed %d: allocated %v, want %v (%v):\n%s", seed, got, want, err, c)
		}
		if want {
			yes++
		} else {
			no++
		}
	}
	if yes < 500 || no < 500 {
		t.Errorf("%d can be allocated and %d cannot: too few of one", yes, no)
	}
}

// drawn is a node with devices, and claims of which some have devices already.
type drawn struct {
	*rand.Rand
	compiled *cel.Cache
	classes  map[string]*resourcev1.DeviceClass
	slices   map[string]*resourcev1.ResourceSlice
	has      map[types.NamespacedName]*resourcev1.ResourceClaim
	wants    []*resourcev1.ResourceClaim
}

const driver = "gpu.example.com"

// modelOf begins an expression about the model of a device: an error of one, as of what a device lacks, ends the search
// of kube-scheduler, or does not, by the order of devices.
const modelOf = "'model' in device.attributes['" + driver + "'] && device.attributes['" + driver + "']."

func draw(seed uint64) *drawn {
	c := &drawn{Rand: rand.New(rand.NewPCG(seed, 5)), classes: map[string]*resourcev1.DeviceClass{},
		slices: map[string]*resourcev1.ResourceSlice{}, has: map[types.NamespacedName]*resourcev1.ResourceClaim{}}
	for name, expression := range map[string]string{
		"any":    "device.driver == '" + driver + "'",
		"large":  modelOf + "model >= 2",
		"shared": "device.allowMultipleAllocations == true",
	} {
		class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
		class.Spec.Selectors = []resourcev1.DeviceSelector{selects(expression)}
		c.classes[name] = class
	}
	for p := range 1 + c.IntN(2) {
		c.pool(fmt.Sprint("pool-", p))
	}
	for i := range 1 + c.IntN(3) {
		c.wants = append(c.wants, c.claim(i))
	}
	return c
}

func (c *drawn) one(n int) bool { return c.IntN(n) == 0 }

func selects(expression string) resourcev1.DeviceSelector {
	return resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}
}

// pool draws the slices of a pool: devices in one or two, and counters in another.
func (c *drawn) pool(name string) {
	node := "n"
	count, counters := int64(1+c.IntN(2)), c.one(3)
	if counters {
		count++
	}
	published := count
	if c.one(12) {
		published++ // one that is missing
	}
	for i := range count {
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(name, "-", i)}}
		s.Spec = resourcev1.ResourceSliceSpec{Driver: driver, NodeName: &node,
			Pool: resourcev1.ResourcePool{Name: name, Generation: 2, ResourceSliceCount: published}}
		if counters && i == count-1 {
			s.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{
				"slices": {Value: *apiresource.NewQuantity(int64(c.IntN(4)), apiresource.DecimalSI)}}}}
		} else {
			for k := range c.IntN(4) {
				s.Spec.Devices = append(s.Spec.Devices, c.device(fmt.Sprint(name, "-", i, "-", k), counters))
			}
		}
		c.slices[s.Name] = s
		for k := range s.Spec.Devices {
			if d := &s.Spec.Devices[k]; c.one(6) && published == count {
				c.allocate(name, d)
			}
		}
	}
	if c.one(8) { // an older generation says nothing any more
		old := c.slices[name+"-0"].DeepCopy()
		old.Name, old.Spec.Pool.Generation = name+"-old", 1
		for range 2 {
			old.Spec.Devices = append(old.Spec.Devices, c.device(fmt.Sprint("old-", len(old.Spec.Devices)), false))
		}
		c.slices[old.Name] = old
	}
}

func (c *drawn) device(name string, counters bool) resourcev1.Device {
	root, model := fmt.Sprint("root-", c.IntN(2)), int64(1+c.IntN(3))
	d := resourcev1.Device{Name: name, Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
		"model": {IntValue: &model}}}
	if !c.one(8) {
		d.Attributes["resource.kubernetes.io/pcieRoot"] = resourcev1.DeviceAttribute{StringValue: &root}
	}
	if c.one(8) {
		delete(d.Attributes, "model")
	}
	if counters && c.one(2) {
		some := *apiresource.NewQuantity(int64(1+c.IntN(2)), apiresource.DecimalSI)
		d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "set",
			Counters: map[string]resourcev1.Counter{"slices": {Value: some}}}}
	}
	if c.one(2) {
		has := resourcev1.DeviceCapacity{Value: *apiresource.NewQuantity(8, apiresource.BinarySI)}
		if c.one(3) {
			d.AllowMultipleAllocations = new(true)
			if c.one(2) {
				has.RequestPolicy = c.policy()
			}
		}
		d.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": has}
	}
	if c.one(8) {
		d.Taints = []resourcev1.DeviceTaint{{Key: "broken", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
	}
	return d
}

func (c *drawn) policy() *resourcev1.CapacityRequestPolicy {
	amount := func(n int64) *apiresource.Quantity { return apiresource.NewQuantity(n, apiresource.BinarySI) }
	if c.one(2) {
		return &resourcev1.CapacityRequestPolicy{Default: amount(2),
			ValidValues: []apiresource.Quantity{*amount(2), *amount(5)}}
	}
	return &resourcev1.CapacityRequestPolicy{Default: amount(2),
		ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: amount(2), Max: amount(6), Step: amount(2)}}
}

// allocate gives a device to a claim that is there.
func (c *drawn) allocate(pool string, d *resourcev1.Device) {
	result := resourcev1.DeviceRequestAllocationResult{Request: "r", Driver: driver, Pool: pool, Device: d.Name}
	if d.AllowMultipleAllocations != nil {
		id := types.UID("share-" + d.Name)
		result.ShareID = &id
		result.ConsumedCapacity = map[resourcev1.QualifiedName]apiresource.Quantity{
			"memory": *apiresource.NewQuantity(4, apiresource.BinarySI)}
	}
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "has-" + d.Name}}
	claim.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{
		Results: []resourcev1.DeviceRequestAllocationResult{result}}}
	c.has[types.NamespacedName{Namespace: "default", Name: claim.Name}] = claim
}

func (c *drawn) claim(i int) *resourcev1.ResourceClaim {
	name := fmt.Sprint("claim-", i)
	out := &resourcev1.ResourceClaim{}
	out.Namespace, out.Name, out.UID = "default", name, types.UID(name)
	d := &out.Spec.Devices
	for r := range 1 + c.IntN(2) {
		request := resourcev1.DeviceRequest{Name: fmt.Sprint("r", r)}
		exact := resourcev1.ExactDeviceRequest{DeviceClassName: []string{"any", "any", "large", "shared"}[c.IntN(4)],
			AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(1 + c.IntN(2))}
		if c.one(8) {
			exact.AllocationMode, exact.Count = resourcev1.DeviceAllocationModeAll, 0
		}
		if c.one(4) {
			exact.Selectors = []resourcev1.DeviceSelector{selects(modelOf + "model == 1")}
		}
		if c.one(4) {
			exact.Capacity = &resourcev1.CapacityRequirements{
				Requests: map[resourcev1.QualifiedName]apiresource.Quantity{
					"memory": *apiresource.NewQuantity(int64(1+c.IntN(9)), apiresource.BinarySI)}}
		}
		if c.one(4) {
			broken := resourcev1.DeviceToleration{Key: "broken", Operator: resourcev1.DeviceTolerationOpExists}
			exact.Tolerations = []resourcev1.DeviceToleration{broken}
		}
		if c.one(4) {
			for k, count := range []int64{2, 1} {
				request.FirstAvailable = append(request.FirstAvailable, resourcev1.DeviceSubRequest{
					Name: fmt.Sprint("s", k), DeviceClassName: exact.DeviceClassName, Selectors: exact.Selectors,
					AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count,
					Tolerations: exact.Tolerations, Capacity: exact.Capacity})
			}
		} else {
			request.Exactly = &exact
		}
		d.Requests = append(d.Requests, request)
	}
	if c.one(3) {
		of := resourcev1.FullyQualifiedName("resource.kubernetes.io/pcieRoot")
		if c.one(3) {
			of = driver + "/model"
		}
		k := resourcev1.DeviceConstraint{MatchAttribute: &of}
		if c.one(4) {
			k = resourcev1.DeviceConstraint{DistinctAttribute: &of}
		}
		if c.one(2) {
			k.Requests = []string{"r0"}
		}
		d.Constraints = []resourcev1.DeviceConstraint{k}
	}
	return out
}

// List and Get list classes for the allocator.
func (c *drawn) List() ([]*resourcev1.DeviceClass, error) { return nil, errors.New("not asked for") }

func (c *drawn) Get(name string) (*resourcev1.DeviceClass, error) { return c.classes[name], nil }

// scheduler is what kube-scheduler's allocator says.
func (c *drawn) scheduler(t *testing.T) (bool, error) {
	features := structured.Features{PrioritizedList: true, PartitionableDevices: true, DeviceTaints: true,
		ConsumableCapacity: true}
	state := structured.AllocatedState{AllocatedDevices: sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection()}
	for _, claim := range c.has {
		r := claim.Status.Allocation.Devices.Results[0]
		id := structured.MakeDeviceID(r.Driver, r.Pool, r.Device)
		if r.ShareID == nil {
			state.AllocatedDevices.Insert(id)
			continue
		}
		state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, r.ShareID))
		state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, r.ConsumedCapacity))
	}
	var all []*resourcev1.ResourceSlice
	for _, p := range Pools(c.slices) {
		all = append(all, p.Slices...)
	}
	for _, s := range c.slices {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	allocator, err := structured.NewAllocator(t.Context(), features, state, c, all, c.compiled)
	if err != nil {
		t.Fatal(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	results, err := allocator.Allocate(t.Context(), node, c.wants)
	if err == nil && c.breaksDistinct(results) {
		return false, errBroken
	}
	return len(results) == len(c.wants) && err == nil, err
}

// errBroken is that kube-scheduler has allocated devices with one value of an attribute in which they are to differ:
// its allocator of version 1.36 does not always undo what it has noted of them when it tries other devices.
var errBroken = errors.New("devices of a claim do not differ as it requests")

func (c *drawn) breaksDistinct(results []resourcev1.AllocationResult) bool {
	for i := range results {
		for _, k := range c.wants[i].Spec.Devices.Constraints {
			seen := map[string]bool{}
			for _, r := range results[i].Devices.Results {
				of, _, _ := strings.Cut(r.Request, "/")
				if k.DistinctAttribute == nil || len(k.Requests) > 0 && !slices.Contains(k.Requests, of) {
					continue
				}
				value := c.value(r.Device, string(*k.DistinctAttribute))
				if seen[value] {
					return true
				}
				seen[value] = true
			}
		}
	}
	return false
}

// value is that of an attribute of a device.
func (c *drawn) value(name, attribute string) string {
	for _, s := range c.slices {
		for _, d := range s.Spec.Devices {
			for key, value := range d.Attributes {
				if d.Name == name && qualified(string(key), driver) == attribute {
					return valueOf(value)
				}
			}
		}
	}
	return ""
}

// ours is what we say.
func (c *drawn) ours(t *testing.T) bool {
	r := NewReader()
	r.Classes, r.compiled = c.classes, c.compiled
	var bundles []*device.Bundle
	for _, claim := range c.wants {
		read, err := r.Claim(&claim.Spec)
		if err != nil {
			t.Fatal(err)
		}
		bundles = append(bundles, &device.Bundle{Claim: read})
	}
	inv := &device.Inventory{}
	allocated := AllocatedTo(c.has)
	for _, p := range Pools(c.slices) {
		r.AddPool(inv, &p, "n", allocated)
	}
	return inv.Allocates(bundles, &effort.Count{})
}

func (c *drawn) String() (out string) {
	for _, s := range c.slices {
		out += fmt.Sprintf("slice %s: %+v\n", s.Name, s.Spec)
	}
	for _, claim := range c.has {
		out += fmt.Sprintf("has %+v\n", claim.Status.Allocation.Devices.Results)
	}
	for _, claim := range c.wants {
		out += fmt.Sprintf("wants %+v\n", claim.Spec.Devices)
	}
	return out
}
