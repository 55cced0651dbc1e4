package whole_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

// gpuDriver is a driver of dynamic resource allocation (DRA), with a class of the same name for all of its devices.
const gpuDriver = "gpu.nvidia.com"

// publishesAfter is how long after a node has come the driver publishes its devices.
const publishesAfter = 20 * time.Second

// driver is the GPU driver, the controller that makes ResourceClaims from templates, and the scheduler's plugin that
// allocates devices to claims for so many devices of the class.
type driver struct {
	*world
	broken bool // it publishes nothing; the world's lock protects it
}

// drives installs the driver, and returns it.
func (w *world) drives() *driver {
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: gpuDriver}}
	expression := "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"
	class.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}}
	w.create(class)
	d := &driver{world: w}
	w.mu.Lock()
	w.driver = d
	w.mu.Unlock()
	return d
}

// breaks has the driver publish nothing any more, or work again.
func (d *driver) breaks(broken bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.broken = broken
}

// publish keeps one slice for each node that has GPUs.
func (d *driver) publish(ctx context.Context) {
	d.mu.Lock()
	broken := d.broken
	d.mu.Unlock()
	var slicesThere resourcev1.ResourceSliceList
	d.list(&slicesThere)
	there := map[string]bool{}
	for _, n := range d.nodes() {
		there[n.Name] = true
		gpus, _ := strconv.Atoi(n.Labels[api.LabelGPUCount])
		is := func(s resourcev1.ResourceSlice) bool { return s.Spec.NodeName != nil && *s.Spec.NodeName == n.Name }
		published := slices.ContainsFunc(slicesThere.Items, is)
		if gpus == 0 || published || broken || time.Since(n.CreationTimestamp.Time) < publishesAfter {
			continue
		}
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: n.Name}}
		s.Spec = resourcev1.ResourceSliceSpec{Driver: gpuDriver, NodeName: &n.Name,
			Pool: resourcev1.ResourcePool{Name: n.Name, Generation: 1, ResourceSliceCount: 1}}
		for i := range gpus {
			kind := "gpu"
			s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", i),
				Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"type": {StringValue: &kind}}})
		}
		_ = d.hand.Create(ctx, s)
	}
	for i := range slicesThere.Items {
		if s := &slicesThere.Items[i]; s.Spec.NodeName != nil && !there[*s.Spec.NodeName] {
			_ = d.hand.Delete(ctx, s)
		}
	}
}

// makeClaims makes the claims of pods, and deletes those of pods that are gone.
func (d *driver) makeClaims(ctx context.Context) {
	pods := map[types.UID]bool{}
	for _, p := range d.allPods() {
		pods[p.UID] = true
		if len(p.Spec.ResourceClaims) == 0 || len(p.Status.ResourceClaimStatuses) > 0 || p.DeletionTimestamp != nil {
			continue
		}
		of := p.Spec.ResourceClaims[0]
		var template resourcev1.ResourceClaimTemplate
		key := client.ObjectKey{Namespace: p.Namespace, Name: *of.ResourceClaimTemplateName}
		if d.hand.Get(ctx, key, &template) != nil {
			continue
		}
		c := &resourcev1.ResourceClaim{Spec: template.Spec.Spec}
		c.Namespace, c.Name = p.Namespace, p.Name+"-"+of.Name
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID}}
		if d.hand.Create(ctx, c) != nil {
			continue
		}
		before := p.DeepCopy()
		p.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: of.Name, ResourceClaimName: &c.Name}}
		_ = d.hand.Status().Patch(ctx, &p, client.MergeFrom(before))
	}
	for _, c := range d.resourceClaims() {
		if !pods[c.OwnerReferences[0].UID] {
			_ = d.hand.Delete(ctx, &c)
		}
	}
}

func (d *driver) resourceClaims() []resourcev1.ResourceClaim {
	var l resourcev1.ResourceClaimList
	d.list(&l)
	return l.Items
}

// allocate gives the pod its devices on a node, and reports whether it can.
func (d *driver) allocate(ctx context.Context, p *corev1.Pod, node string) bool {
	if len(p.Spec.ResourceClaims) == 0 {
		return true
	}
	var mine *resourcev1.ResourceClaim
	taken := map[string]bool{}
	for _, c := range d.resourceClaims() {
		if len(p.Status.ResourceClaimStatuses) > 0 && c.Name == *p.Status.ResourceClaimStatuses[0].ResourceClaimName {
			mine = &c
		}
		if c.Status.Allocation != nil {
			for _, r := range c.Status.Allocation.Devices.Results {
				taken[r.Pool+"/"+r.Device] = true
			}
		}
	}
	var s resourcev1.ResourceSlice
	if mine == nil {
		return false
	}
	if d.hand.Get(ctx, client.ObjectKey{Name: node}, &s) != nil {
		return d.allocateCommon(ctx, p, mine, node, taken)
	}
	before, request := mine.DeepCopy(), mine.Spec.Devices.Requests[0]
	mine.Status.Allocation = &resourcev1.AllocationResult{NodeSelector: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}}}}
	to := &mine.Status.Allocation.Devices
	for _, device := range s.Spec.Devices {
		if len(to.Results) < int(max(1, request.Exactly.Count)) && !taken[node+"/"+device.Name] {
			to.Results = append(to.Results, resourcev1.DeviceRequestAllocationResult{
				Request: request.Name, Driver: gpuDriver, Pool: node, Device: device.Name})
		}
	}
	if len(to.Results) < int(max(1, request.Exactly.Count)) {
		return false
	}
	mine.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: p.Name, UID: p.UID}}
	return d.hand.Status().Patch(ctx, mine, client.MergeFrom(before)) == nil
}

// allocateCommon gives a claim the device that nodes of one instance type can use, if it is free and the node is one.
func (d *driver) allocateCommon(ctx context.Context, p *corev1.Pod, mine *resourcev1.ResourceClaim, node string,
	taken map[string]bool) bool {
	var s resourcev1.ResourceSlice
	if d.hand.Get(ctx, client.ObjectKey{Name: commonSlice}, &s) != nil || taken[commonSlice+"/gpu"] {
		return false
	}
	term := s.Spec.NodeSelector.NodeSelectorTerms[0].MatchExpressions[0]
	of := func(n corev1.Node) bool { return n.Name == node && slices.Contains(term.Values, n.Labels[term.Key]) }
	if !slices.ContainsFunc(d.nodes(), of) {
		return false
	}
	before, request := mine.DeepCopy(), mine.Spec.Devices.Requests[0]
	mine.Status.Allocation = &resourcev1.AllocationResult{NodeSelector: s.Spec.NodeSelector}
	mine.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{
		{Request: request.Name, Driver: gpuDriver, Pool: commonSlice, Device: "gpu"}}
	mine.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: p.Name, UID: p.UID}}
	return d.hand.Status().Patch(ctx, mine, client.MergeFrom(before)) == nil
}

// commonSlice is the slice of the device that several nodes can use, and its pool.
const commonSlice = "common"

// sharesDevice publishes a GPU that all nodes of an instance type can use.
func (w *world) sharesDevice(instanceType string) {
	kind := "gpu"
	term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
		{Key: api.LabelInstanceType, Operator: corev1.NodeSelectorOpIn, Values: []string{instanceType}}}}
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: commonSlice}}
	s.Spec = resourcev1.ResourceSliceSpec{Driver: gpuDriver,
		Pool:         resourcev1.ResourcePool{Name: commonSlice, Generation: 1, ResourceSliceCount: 1},
		NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}},
		Devices: []resourcev1.Device{{Name: "gpu",
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"type": {StringValue: &kind}}}}}
	w.create(s)
}

// claimTemplate is a ResourceClaimTemplate for so many GPUs.
func (w *world) claimTemplate(name string, gpus int64) {
	t := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	t.Spec.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpu",
		Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: gpuDriver, Count: gpus,
			AllocationMode: resourcev1.DeviceAllocationModeExactCount}}}
	w.create(t)
}

// claims has each pod of a deployment have devices by a claim of its own.
func claims(template string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: &template}}
	}
}

// typesWithGPUs are a type with one GPU and one with four, and one without any.
var typesWithGPUs = []string{"m5.large", "g4dn.xlarge", "g4dn.12xlarge"}

func withGPUs(p *karpv1.NodePool) { p.Spec.Template.Spec.Requirements[0].Values = typesWithGPUs }

// SC-214 Pods with ResourceClaims get nodes with the devices that they request, which count as initialized once their
// driver publishes these. Nodes whose devices are on others as well go.
func TestPodsWithResourceClaimsGetNodesWithDevices(t *testing.T) {
	report(t, fakecloud.Options{Seed: 95, Types: typesWithGPUs}, func(t *testing.T, w *world) {
		w.pool("default", withGPUs)
		w.drives()
		w.claimTemplate("one", 1)
		w.start(setup{devices: true})
		w.deploy("train", 4, claims("one"))
		w.until(10*time.Minute, "four pods with devices", func() bool { return w.run(4) })
		for _, c := range w.claims() {
			if got := c.Annotations[api.AnnotationRequestedDRADrivers]; got != gpuDriver {
				t.Errorf("NodeClaim %s requests drivers %q, want %s", c.Name, got, gpuDriver)
			}
		}
		w.until(time.Minute, "all nodes initialized", func() bool { return w.has(4) })
		launched := w.launched()
		time.Sleep(20 * time.Minute)
		if !w.run(4) || w.launched() != launched {
			t.Errorf("%d instances were launched, and then %d for the same pods; %s", launched, w.launched(), w.state())
		}
		w.deploy("train", 1, claims("one"))
		w.until(30*time.Minute, "one node for the pod that is left", func() bool {
			return w.run(1) && len(w.nodes()) == 1
		})
		if w.types()["g4dn.xlarge"] != 1 {
			t.Errorf("the pod that is left is on %v, want g4dn.xlarge", w.types())
		}
		w.claimTemplate("three", 3)
		w.deploy("large", 1, claims("three"))
		w.until(10*time.Minute, "a node with three GPUs and more", func() bool { return w.runs("large", 1) })
		w.until(time.Hour, "both pods on it, since it has a GPU for the other", func() bool {
			return w.runs("large", 1) && w.runs("train", 1) && len(w.nodes()) == 1 && w.types()["g4dn.12xlarge"] == 1
		})
		w.deploy("train", 0, claims("one"))
		w.deploy("large", 0, claims("three"))
		w.until(30*time.Minute, "an empty cluster", w.empty)
		w.sound()
	})
}

// SC-660, SC-661, SC-664: The device that several nodes can use comes before one of a new node, each is used once, and
// a pod that has it keeps it while nodes are consolidated.
func TestDevicesThatSeveralNodesCanUse(t *testing.T) {
	report(t, fakecloud.Options{Seed: 98, Types: typesWithGPUs}, func(t *testing.T, w *world) {
		w.pool("default", withGPUs)
		w.drives()
		w.sharesDevice("m5.large")
		w.claimTemplate("one", 1)
		w.start(setup{devices: true})
		w.deploy("first", 1, claims("one"))
		w.until(10*time.Minute, "a node that can use the device", func() bool { return w.runs("first", 1) })
		if got := w.types(); len(got) != 1 || got["m5.large"] != 1 {
			t.Errorf("launched %v for the first pod, want m5.large", got)
		}
		w.deploy("second", 1, claims("one"))
		w.until(10*time.Minute, "a node with a device for the other", func() bool { return w.runs("second", 1) })
		launched := w.launched()
		time.Sleep(time.Hour)
		if got := w.types(); got["m5.large"] != 1 || got["g4dn.xlarge"] != 1 || !w.run(2) || w.launched() != launched {
			t.Errorf("there are %v after %d launches, and then %d; %s", got, launched, w.launched(), w.state())
		}
		w.deploy("first", 0, claims("one"))
		w.deploy("second", 0, claims("one"))
		w.until(time.Hour, "an empty cluster", w.empty)
		w.sound()
	})
}

// SC-220, SC-624: A node whose driver does not publish what it was launched for says so, and nothing is launched in
// addition meanwhile.
func TestANodeWaitsForItsDriver(t *testing.T) {
	report(t, fakecloud.Options{Seed: 96, Types: typesWithGPUs}, func(t *testing.T, w *world) {
		w.pool("default", withGPUs)
		driver := w.drives()
		driver.breaks(true)
		w.claimTemplate("one", 1)
		w.start(setup{devices: true})
		w.deploy("train", 1, claims("one"))
		w.until(10*time.Minute, "the condition of the NodeClaim", func() bool {
			return len(w.claims()) == 1 &&
				condition.Get(&w.claims()[0], karpv1.ClaimInitialized).Reason == karpv1.ReasonDRAPoolsNotPublished
		})
		time.Sleep(5 * time.Minute)
		if w.launched() != 1 {
			t.Errorf("launched %d instances, want the one that waits for its driver; %s", w.launched(), w.state())
		}
		driver.breaks(false)
		w.until(2*time.Minute, "the pod running", func() bool {
			return w.run(1) && condition.IsTrue(&w.claims()[0], karpv1.ClaimInitialized)
		})
		w.sound()
	})
}

// SC-216 Pods with ResourceClaims are left alone where these are ignored, and an event says so.
func TestPodsWithResourceClaimsAreLeftAloneUnlessAskedFor(t *testing.T) {
	report(t, fakecloud.Options{Seed: 97}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.drives()
		w.claimTemplate("one", 1)
		w.start(setup{})
		w.deploy("train", 1, claims("one"))
		w.until(5*time.Minute, "the event", func() bool {
			return w.events.said("the pod has ResourceClaims, which the controller leaves alone")
		})
		time.Sleep(10 * time.Minute)
		if w.launched() != 0 {
			t.Errorf("launched %d instances, want none", w.launched())
		}
	})
}

// Calls that fail, and watches that are late, neither launch a node twice for a pod with a ResourceClaim nor lose one:
// a leader that starts anew knows what devices are taken.
func TestDevicesInTrouble(t *testing.T) {
	for _, seed := range []uint64{0, 3} {
		report(t, fakecloud.Options{Seed: 100 + seed, Types: typesWithGPUs}, func(t *testing.T, w *world) {
			w.pool("default", withGPUs)
			w.drives()
			w.claimTemplate("one", 1)
			w.claimTemplate("three", 3)
			late := func(o client.Object) time.Duration {
				switch o.(type) {
				case *resourcev1.ResourceClaim, *resourcev1.ResourceSlice:
					return time.Duration(seed) * time.Second
				}
				return 0
			}
			first := w.start(setup{devices: true, chance: 0.1, seed: seed, lag: late})
			w.deploy("train", 3, claims("one"))
			w.deploy("large", 1, claims("three"))
			w.until(5*time.Minute, "four claims", func() bool { return len(w.claims()) >= 2 })
			first.stop()
			w.start(setup{devices: true, chance: 0.1, seed: seed + 100, lag: late})
			w.until(30*time.Minute, "all pods running", func() bool { return w.run(4) })
			time.Sleep(time.Hour)
			if !w.run(4) || w.launched() > 4 {
				t.Errorf("seed %d: %d instances were launched for four pods; %s", seed, w.launched(), w.state())
			}
			w.deploy("train", 0, claims("one"))
			w.deploy("large", 0, claims("three"))
			w.until(time.Hour, "an empty cluster", w.empty)
			w.sound()
		})
	}
}

// typesOfGPUs are a type with one GPU and one with four.
var typesOfGPUs = typesWithGPUs[1:]

// hasDevices reports whether pods that request devices come and go in the trouble.
func hasDevices(u draws) bool { return u("devices") < 0.3 }

// offersDevices has a pool of its own offer instances with GPUs, and a driver publish these.
func (w *world) offersDevices() {
	w.pool("gpu", func(p *karpv1.NodePool) { p.Spec.Template.Spec.Requirements[0].Values = typesOfGPUs })
	w.drives()
	w.claimTemplate("one", 1)
}

// trains wants so many pods with a GPU each. The driver publishes nothing of nodes that come while it is broken.
func (w *world) trains(pods int, broken bool) {
	w.mu.Lock()
	driver := w.driver
	w.mu.Unlock()
	driver.breaks(broken)
	w.deploy("train", pods, claims("one"))
}
