package snapshot

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/kube/translate/resourceclaim"
)

// SC-625: TestPlansWithDevicesAreWhatKubeSchedulerAllocates makes plans for small random clusters, and has
// kube-scheduler's allocator allocate devices to all pods that a plan places on one node, or on one new instance. It
// can; and of a pod that a plan leaves, where requests are single devices, no node has what it requests.
func TestPlansWithDevicesAreWhatKubeSchedulerAllocates(t *testing.T) {
	placed, left := 0, 0
	compiled := cel.NewCache(100, cel.Features{EnableConsumableCapacity: true})
	for seed := range uint64(300) {
		w := drawDevices(t, seed)
		w.compiled = compiled
		s := w.state.Snapshot()
		p := decide.Decide(s, decide.Policy{}, decide.Usual(s))
		of := map[string][]string{} // pods by node or launch
		types := map[string]string{}
		for _, l := range p.Launches {
			types[l.Name] = l.Choice.Kind
		}
		for _, x := range p.Placements {
			of[x.Target] = append(of[x.Target], x.Pod.Name)
		}
		for target, pods := range of {
			devices := w.slices[target]
			if instanceType, launched := types[target]; launched {
				devices = w.expected(instanceType, target)
			}
			if placed += len(pods); !w.allocates(t, target, devices, pods) {
				t.Fatalf("seed %d: %v cannot be allocated on %s (%s)\n%s", seed, pods, target, types[target], does(p))
			}
		}
		for _, u := range p.Unplaced {
			for _, pod := range u.Pods {
				for node, devices := range w.slices {
					left++
					if w.simple && w.allocates(t, node, devices, append(slices.Clone(of[node]), pod.Name)) {
						t.Fatalf("seed %d: %s is left, and can be allocated on %s\n%s", seed, pod.Name, node, does(p))
					}
				}
			}
		}
	}
	if placed < 500 || left < 50 {
		t.Errorf("%d pods were placed and %d questions asked of those that are left: too few", placed, left)
	}
}

// deviceWorld is a cluster with devices.
type deviceWorld struct {
	*rand.Rand
	state    *ClusterState
	classes  map[string]*resourcev1.DeviceClass
	slices   map[string][]*resourcev1.ResourceSlice // by node
	has      []structured.DeviceID
	specs    map[string]*resourcev1.ResourceClaimSpec // by template
	of       map[string]string                        // templates by pod
	simple   bool                                     // all requests are of single devices
	compiled *cel.Cache
}

func drawDevices(t *testing.T, seed uint64) *deviceWorld {
	w := &deviceWorld{Rand: rand.New(rand.NewPCG(seed, 8)), classes: map[string]*resourcev1.DeviceClass{},
		slices: map[string][]*resourcev1.ResourceSlice{}, specs: map[string]*resourcev1.ResourceClaimSpec{},
		of: map[string]string{}, simple: seed%2 == 0}
	requests := func(fields string) string {
		return "{requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, " + fields + "}}]"
	}
	large := `selectors: [{cel: {expression: "device.capacity['gpu.nvidia.com'].memory` +
		`.compareTo(quantity('40Gi')) >= 0"}}]`
	templates := map[string]string{"one": requests("count: 1") + "}", "two": requests("count: 2") + "}",
		"large": requests(large) + "}"}
	if !w.simple {
		templates["pair"] = requests("count: 2") + ", constraints: [{matchAttribute: gpu.nvidia.com/root}]}"
		templates["three"] = requests("count: 3") + ", constraints: [{matchAttribute: gpu.nvidia.com/root}]}"
		templates["all"] = requests("allocationMode: All") + "}"
		templates["either"] = "{requests: [{name: gpu, firstAvailable: [{name: l, deviceClassName: gpu.nvidia.com, " +
			large + "}, {name: two, deviceClassName: gpu.nvidia.com, count: 2}]}]}"
	}
	manifests := []string{gpuClass}
	for name, text := range templates {
		manifests = append(manifests, template(name, text))
	}
	for i := range w.IntN(4) {
		manifests = append(manifests, w.node(fmt.Sprint("node-", i))...)
	}
	names := []string{"one", "two", "large", "pair", "three", "all", "either"}[:len(templates)]
	for i := range 1 + w.IntN(8) {
		name := fmt.Sprint("pod-", i)
		w.of[name] = names[w.IntN(len(names))]
		manifests = append(manifests, claimant(name, w.of[name]))
	}
	saved, _, _ := strings.Cut(gpus, "pool NodePool/web") // nothing can be launched
	if seed%4 > 0 {
		saved = gpus
	}
	w.state = devicesIn(t, saved, manifests...)
	for _, o := range objectsOf(t, manifests...) {
		switch o := o.(type) {
		case *resourcev1.DeviceClass:
			w.classes[o.Name] = o
		case *resourcev1.ResourceClaimTemplate:
			w.specs[o.Name] = &o.Spec.Spec
		case *resourcev1.ResourceSlice:
			w.slices[*o.Spec.NodeName] = append(w.slices[*o.Spec.NodeName], o)
		case *resourcev1.ResourceClaim:
			r := o.Status.Allocation.Devices.Results[0]
			w.has = append(w.has, structured.MakeDeviceID(r.Driver, r.Pool, r.Device))
		}
	}
	return w
}

// node draws a node with up to six GPUs of two roots and sizes, of which some are taken.
func (w *deviceWorld) node(name string) []string {
	gpus := w.IntN(7)
	slice, out := publishes(name, gpus, 1), []string{gpuNode(name, "other")}
	for i := range gpus {
		uuid := fmt.Sprintf("uuid: {string: %s-%d}}", name, i)
		memory := fmt.Sprintf(", capacity: {memory: {value: %dGi}}", 24*(1+w.IntN(3)))
		root := fmt.Sprintf(", root: {string: root-%d}}", w.IntN(2))
		slice = strings.Replace(slice, uuid, strings.TrimSuffix(uuid, "}")+root+memory, 1)
		if w.IntN(4) == 0 {
			out = append(out, has(fmt.Sprint(name, "-", i), name, fmt.Sprint("gpu-", i)))
		}
	}
	return append(out, slice)
}

// expected are the slices of a new node of a type.
func (w *deviceWorld) expected(instanceType, node string) []*resourcev1.ResourceSlice {
	s := w.state.Snapshot()
	s1 := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}}
	s1.Spec = resourcev1.ResourceSliceSpec{NodeName: &node,
		Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1}}
	for _, p := range resourceclaim.Expected(s.Pools[0].Catalogue.InstanceType(instanceType)) {
		s1.Spec.Driver, s1.Spec.Devices = p.Driver, p.Devices
	}
	return []*resourcev1.ResourceSlice{s1}
}

// List and Get list classes for the allocator.
func (w *deviceWorld) List() ([]*resourcev1.DeviceClass, error) {
	return []*resourcev1.DeviceClass{w.classes["gpu.nvidia.com"]}, nil
}

func (w *deviceWorld) Get(name string) (*resourcev1.DeviceClass, error) { return w.classes[name], nil }

// allocates reports whether kube-scheduler's allocator has devices of a node for all of the pods.
func (w *deviceWorld) allocates(t *testing.T, node string, devices []*resourcev1.ResourceSlice, pods []string) bool {
	var claims []*resourcev1.ResourceClaim
	for _, pod := range pods {
		claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: pod}}
		claim.Spec = *w.specs[w.of[pod]].DeepCopy()
		for i := range claim.Spec.Devices.Requests { // as the API server fills in
			r := &claim.Spec.Devices.Requests[i]
			if e := r.Exactly; e != nil && e.AllocationMode == "" {
				e.AllocationMode, e.Count = resourcev1.DeviceAllocationModeExactCount, max(1, e.Count)
			}
			for k := range r.FirstAvailable {
				x := &r.FirstAvailable[k]
				x.AllocationMode, x.Count = resourcev1.DeviceAllocationModeExactCount, max(1, x.Count)
			}
		}
		claims = append(claims, claim)
	}
	state := structured.AllocatedState{AllocatedDevices: sets.New(w.has...)}
	features := structured.Features{PrioritizedList: true}
	allocator, err := structured.NewAllocator(t.Context(), features, state, w, devices, w.compiled)
	if err != nil {
		t.Fatal(err)
	}
	found, err := allocator.Allocate(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, claims)
	return err == nil && len(found) == len(claims)
}
