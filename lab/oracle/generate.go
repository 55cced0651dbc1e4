package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// Generate draws the world of a seed.
func Generate(seed uint64) *World {
	g := &generator{dice: dice{rand.New(rand.NewPCG(seed, 36))}, World: &World{Seed: seed}}
	g.features = g.feature()
	g.Catalogue = g.catalogue()
	g.drivers = newDrivers(g.World)
	g.namespaces()
	g.pools()
	g.storageClasses()
	g.daemons()
	for i := range g.few(50) {
		g.node(i)
	}
	g.drivers.publish()
	for i := range g.few(4) {
		g.machine(i)
	}
	g.apps()
	g.kept()
	return g.World
}

// generator draws a world part by part.
type generator struct {
	dice
	*World
	features features
	used     map[string]corev1.ResourceList // by node
	drivers  *drivers
}

// features are what the pods of a world may use, so that most worlds are
// about a few rules at once.
type features struct {
	nodeTerms, taints, spread, neighbours, ports, volumes, extended, priorities, daemons, deleting bool
}

func (g *generator) feature() features {
	any := func() bool { return g.one(2) }
	return features{any(), any(), any(), any(), any(), any(), any(), any(), any(), g.one(4)}
}

// few draws a number up to most, usually a small one.
func (g *generator) few(most int) int {
	if g.one(4) {
		return g.IntN(most + 1)
	}
	return g.IntN(min(most, 2+most/6) + 1)
}

var namespaceNames = []string{"default", "blue", "green"}

func (g *generator) namespaces() {
	for i, name := range namespaceNames {
		labels := map[string]string{corev1.LabelMetadataName: name}
		if i > 0 {
			labels["env"] = pick(g.dice, "test", "live")
		}
		g.Namespaces = append(g.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	}
}

// taint draws one of a few taints that tolerations are drawn for too.
func (g *generator) taint() corev1.Taint {
	effect := pick(g.dice, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
	return corev1.Taint{Key: pick(g.dice, "dedicated", "special"), Value: pick(g.dice, "", "db", "web"), Effect: effect}
}

func (g *generator) pools() {
	for i := range 1 + g.IntN(3) {
		p := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pool-%d", i), UID: types.UID(fmt.Sprintf("uid-pool-%d", i))}}
		condition.SetTrue(p, karpv1.NodePoolValidationSucceeded, began)
		p.Spec.Weight = pick(g.dice, nil, nil, new(int32(10)), new(int32(20)))
		t := &p.Spec.Template
		t.Spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: classKind, Name: className}
		if g.features.taints && g.one(3) {
			t.Spec.Taints = []corev1.Taint{g.taint()}
		}
		if g.one(5) {
			t.Spec.StartupTaints = []corev1.Taint{{Key: "example.com/starting", Effect: corev1.TaintEffectNoSchedule}}
		}
		if g.one(3) {
			t.Metadata.Labels = map[string]string{labelTeam: pick(g.dice, "a", "b")}
		}
		p.Spec.Template.Spec.Requirements = g.poolRequirements()
		if g.one(4) {
			p.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(int64(4*g.IntN(20)), resource.DecimalSI)}
		}
		g.Pools = append(g.Pools, p)
	}
}

func (g *generator) poolRequirements() []karpv1.Requirement {
	var out []karpv1.Requirement
	in := func(key string, values ...string) {
		out = append(out, karpv1.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values})
	}
	if g.one(4) {
		in(api.LabelCapacityType, some(g.dice, "on-demand", "spot")...)
	}
	if g.one(4) {
		in(api.LabelArch, some(g.dice, "amd64", "arm64")...)
	}
	if g.one(4) {
		in(api.LabelZone, some(g.dice, "zone-a", "zone-b", "zone-c")...)
	}
	if g.one(3) {
		in(labelRack, some(g.dice, "r1", "r2", "r3")...)
	}
	return out
}

// offering draws what an instance of the pool is, and its labels; ok is false where the
// pool's rules leave nothing.
func (g *generator) offering(p *karpv1.NodePool) (instanceType *cluster.InstanceType, labels constraint.Labels, ok bool) {
	o, err := translate.Pool(translate.FromNodePool(p), 0, began)
	if err != nil {
		return nil, nil, false
	}
	all := optionsOf(g.Catalogue, &o, o.Requirements, o.Labels)
	if len(all) == 0 {
		return nil, nil, false
	}
	chosen := pick(g.dice, all...)
	return chosen.instanceType, chosen.labels, true
}

// node draws a registered instance: most are of a pool, some of none.
func (g *generator) node(i int) {
	pool := pick(g.dice, g.Pools...)
	instanceType, labels, ok := g.offering(pool)
	if !ok {
		return
	}
	name := fmt.Sprintf("node-%02d", i)
	n := nodeObject(name, instanceType, labels.With(api.LabelHostname, name))
	n.CreationTimestamp = metav1.NewTime(began.Add(-time.Duration(i+1) * time.Hour))
	if g.features.taints && g.one(6) {
		n.Spec.Taints = append(n.Spec.Taints, g.taint())
	}
	if g.one(12) {
		n.Spec.Unschedulable = true
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	if g.one(6) {
		delete(n.Labels, pick(g.dice, api.LabelZone, api.LabelHostname, api.LabelCapacityType, labelTeam))
	}
	if len(instanceType.Attachable) > 0 && !g.one(5) {
		g.CSINodes = append(g.CSINodes, csiNode(name, instanceType.Attachable))
	}
	g.Nodes = append(g.Nodes, n)
	if g.one(6) {
		g.foreign(n)
		return
	}
	g.owned(n, pool, claimObject("claim-"+name, pool, instanceType, labels.Map()))
}

// foreign makes the node one that another program runs.
func (g *generator) foreign(n *corev1.Node) {
	for _, key := range []string{api.LabelNodePool, api.LabelNodeClass, api.LabelCapacityType, api.LabelRegistered, api.LabelInitialized} {
		delete(n.Labels, key)
	}
	n.Spec.ProviderID = ""
}

// owned adds the claim of a node of ours; some nodes are still starting and
// some are on their way out.
func (g *generator) owned(n *corev1.Node, pool *karpv1.NodePool, c *karpv1.NodeClaim) {
	c.Status.ProviderID, c.Status.NodeName = n.Spec.ProviderID, n.Name
	condition.SetTrue(c, karpv1.ClaimRegistered, began.Add(-time.Minute))
	n.Spec.Taints = append(n.Spec.Taints, pool.Spec.Template.Spec.Taints...)
	if g.one(8) {
		n.Spec.Taints = append(n.Spec.Taints, pool.Spec.Template.Spec.StartupTaints...)
		delete(n.Labels, api.LabelInitialized)
	} else {
		condition.SetTrue(c, karpv1.ClaimInitialized, began.Add(-time.Minute))
	}
	if g.features.deleting && g.one(4) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule})
		at := metav1.NewTime(began.Add(-time.Minute))
		n.DeletionTimestamp, c.DeletionTimestamp = &at, &at
		n.Finalizers, c.Finalizers = []string{api.FinalizerTermination}, []string{api.FinalizerTermination}
	}
	g.Claims = append(g.Claims, c)
}

// machine draws a claim whose node has not come up: launched, or still open.
func (g *generator) machine(i int) {
	pool := pick(g.dice, g.Pools...)
	instanceType, labels, ok := g.offering(pool)
	if !ok {
		return
	}
	c := claimObject(fmt.Sprintf("claim-new-%d", i), pool, instanceType, labels.Map())
	if g.one(3) {
		c.Status = karpv1.NodeClaimStatus{}
		for _, key := range []string{api.LabelInstanceType, api.LabelCPU, api.LabelArch, api.LabelOS, api.LabelZone, api.LabelCapacityType} {
			delete(c.Labels, key)
		}
		c.Spec.Requirements = append(c.Spec.Requirements, karpv1.Requirement{Key: api.LabelInstanceType, Operator: corev1.NodeSelectorOpIn, Values: []string{instanceType.Name}})
	}
	g.Claims = append(g.Claims, c)
}

// daemons draws DaemonSets; their pods run on most nodes.
func (g *generator) daemons() {
	if !g.features.daemons {
		return
	}
	for i := range 1 + g.IntN(2) {
		labels := map[string]string{"app": fmt.Sprintf("daemon-%d", i)}
		ds := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: labels["app"], UID: types.UID("uid-" + labels["app"])}}
		ds.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		ds.Spec.Template.Labels = labels
		c := containerOf(g.dice)
		if g.features.ports && g.one(3) {
			c.Ports = []corev1.ContainerPort{{ContainerPort: 9000, HostPort: 9000, Protocol: corev1.ProtocolTCP}}
		}
		ds.Spec.Template.Spec = corev1.PodSpec{Containers: []corev1.Container{c}}
		if g.one(2) {
			ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		}
		if g.one(3) {
			ds.Spec.Template.Spec.NodeSelector = map[string]string{api.LabelArch: pick(g.dice, "amd64", "arm64")}
		}
		ds.Spec.Template = templateOf(admitted(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "template", Namespace: "default", Labels: labels}, Spec: ds.Spec.Template.Spec}))
		g.Daemons = append(g.Daemons, ds)
	}
}

func templateOf(pod *corev1.Pod) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: pod.Spec}
}

// take accounts for a pod on a node, if there is room for it.
func (g *generator) take(n *corev1.Node, pod *corev1.Pod) bool {
	if g.used == nil {
		g.used = map[string]corev1.ResourceList{}
	}
	need := translate.ResourceList(podspec.PodRequests(pod))
	used := g.used[n.Name].DeepCopy()
	if used == nil {
		used = corev1.ResourceList{}
	}
	for name, amount := range need {
		sum := used[name]
		sum.Add(amount)
		if free := n.Status.Allocatable[name]; sum.Cmp(free) > 0 {
			return false
		}
		used[name] = sum
	}
	g.used[n.Name] = used
	return true
}

func csiNode(name string, limits []cluster.Attachable) *storagev1.CSINode {
	out := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, l := range limits {
		count := int32(l.Count)
		out.Spec.Drivers = append(out.Spec.Drivers, storagev1.CSINodeDriver{
			Name: l.Driver, NodeID: name, TopologyKeys: []string{api.LabelZone}, Allocatable: &storagev1.VolumeNodeResources{Count: &count},
		})
	}
	return out
}

// nodeObject is a node of the instance type that is ready.
func nodeObject(name string, instanceType *cluster.InstanceType, labels constraint.Labels) *corev1.Node {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Labels: labels.Map()},
		Spec:       corev1.NodeSpec{ProviderID: "aws:///zone/i-" + name},
		Status: corev1.NodeStatus{
			Capacity: translate.ResourceList(instanceType.Capacity), Allocatable: translate.ResourceList(instanceType.Allocatable),
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	n.Labels[api.LabelRegistered], n.Labels[api.LabelInitialized] = "true", "true"
	return n
}

// claimObject is the claim of an instance of the type that was launched.
func claimObject(name string, pool *karpv1.NodePool, instanceType *cluster.InstanceType, labels map[string]string) *karpv1.NodeClaim {
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{}, CreationTimestamp: metav1.NewTime(began.Add(-time.Hour))}}
	for key, value := range labels {
		if !slices.Contains([]string{api.LabelHostname, api.LabelRegistered, api.LabelInitialized}, key) {
			c.Labels[key] = value
		}
	}
	t := pool.Spec.Template.DeepCopy()
	c.Spec = karpv1.NodeClaimSpec{Taints: t.Spec.Taints, StartupTaints: t.Spec.StartupTaints, Requirements: t.Spec.Requirements, NodeClassRef: t.Spec.NodeClassRef}
	c.Status.ProviderID = "aws:///zone/i-" + name
	c.Status.Capacity, c.Status.Allocatable = translate.ResourceList(instanceType.Capacity), translate.ResourceList(instanceType.Allocatable)
	return c
}
