package oracle

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
)

// outcomesMax is up to how many ways in which instances may turn out together are all
// checked. Of more than that, those that lie nearest to a refusal and some by chance are.
const outcomesMax = 256

// undecidedMachine is an instance with what it may turn out to be, as far as that makes a
// difference.
type undecidedMachine struct {
	name    string
	options []option
}

// eachOutcome shows the ways in which instances being launched may turn out together as
// long as holds is true, and reports whether it always was. The nodes are what they were
// before when it returns.
func (st *stage) eachOutcome(ctx context.Context, pod *corev1.Pod, node string, holds func() bool) bool {
	machines := st.undecidedMachines(pod)
	if len(machines) == 0 {
		return true
	}
	defer st.asBefore()()
	tries := func(choose func(m *undecidedMachine) int) bool {
		for i := range machines {
			m := &machines[i]
			st.become(ctx, m.name, m.options[choose(m)])
		}
		return holds()
	}
	if n := outcomes(machines); n <= outcomesMax {
		for at := range n {
			rest := at
			if !tries(func(m *undecidedMachine) int {
				digit := rest % len(m.options)
				rest /= len(m.options)
				return digit
			}) {
				return false
			}
		}
		return true
	}
	return st.telling(pod, node, tries) && byLot(st.world.Seed, tries)
}

// telling tries the outcomes in which all instances are in the node's domain, or none is
// that need not be; and the same where spreads of the pod count those in the domain and,
// where that can be, no others.
func (st *stage) telling(pod *corev1.Pod, node string, tries func(func(*undecidedMachine) int) bool) bool {
	counted := nodeaffinity.GetRequiredNodeAffinity(pod)
	for _, key := range st.keysAbout(pod) {
		value := st.nodes.byName[node].Node().Labels[key]
		for _, inside := range []bool{true, false} {
			for _, apart := range []bool{false, true} {
				reported := func(o option) (points int) {
					there := valueOf(o, key) == value
					if there == inside {
						points += 2
					}
					if does, err := counted.Match(nodeObject(node, o.instanceType, o.labels)); apart && err == nil && does == there {
						points++
					}
					return points
				}
				if !tries(func(m *undecidedMachine) int { return best(m.options, reported) }) {
					return false
				}
			}
		}
	}
	return true
}

// best returns the position of the first option with the most points.
func best(options []option, points func(option) int) int {
	at, most := 0, -1
	for i, o := range options {
		if n := points(o); n > most {
			at, most = i, n
		}
	}
	return at
}

// byLot tries some outcomes by chance.
func byLot(seed uint64, tries func(func(*undecidedMachine) int) bool) bool {
	d := dice{rand.New(rand.NewPCG(seed, 38))}
	for range outcomesMax {
		if !tries(func(m *undecidedMachine) int { return d.IntN(len(m.options)) }) {
			return false
		}
	}
	return true
}

func outcomes(machines []undecidedMachine) int {
	n := 1
	for _, m := range machines {
		if n *= len(m.options); n > outcomesMax {
			return n
		}
	}
	return n
}

// undecidedMachines lists, in an order that is always the same, the instances of which it
// makes a difference to rules about the pod what they become.
func (st *stage) undecidedMachines(pod *corev1.Pod) []undecidedMachine {
	keys := st.keysAbout(pod)
	var out []undecidedMachine
	for _, name := range slices.Sorted(maps.Keys(st.options)) {
		if st.nodes.byName[name] == nil {
			continue
		}
		m := undecidedMachine{name: name}
		for _, o := range st.options[name] {
			if !slices.ContainsFunc(m.options, func(other option) bool { return alike(o, other, keys) }) {
				m.options = append(m.options, o)
			}
		}
		if len(m.options) > 1 {
			out = append(out, m)
		}
	}
	return out
}

// alike reports whether two options are the same by the keys.
func alike(a, b option, keys []string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { return valueOf(a, key) != valueOf(b, key) })
}

// keysAbout lists the labels of nodes that rules of the pod name, or rules of other pods
// that keep it away.
func (st *stage) keysAbout(pod *corev1.Pod) []string {
	seen := map[string]bool{}
	note := func(p *corev1.Pod) {
		if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
			for _, t := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				seen[t.TopologyKey] = true
			}
		}
	}
	for _, p := range st.pods {
		note(p)
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		for _, t := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			seen[t.TopologyKey] = true
		}
	}
	for _, c := range pod.Spec.TopologySpreadConstraints {
		seen[c.TopologyKey] = true
	}
	for _, key := range nodeKeys(pod) {
		seen[key] = true
	}
	if slices.ContainsFunc(claimsOf(pod), func(name string) bool { return st.made[pod.Namespace+"/"+name] != "" }) {
		seen[api.LabelZone] = true
	}
	if len(pod.Spec.ResourceClaims) > 0 {
		seen[api.LabelInstanceType] = true
		if len(st.devices.slices[""]) > 0 {
			seen[api.LabelZone], seen[api.LabelCapacityType] = true, true
		}
	}
	delete(seen, cluster.LabelHostname)
	return slices.SortedFunc(maps.Keys(seen), cmp.Compare[string])
}

// nodeKeys lists the labels of nodes that the pod asks for.
func nodeKeys(pod *corev1.Pod) []string {
	keys := slices.Collect(maps.Keys(pod.Spec.NodeSelector))
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, r := range t.MatchExpressions {
				keys = append(keys, r.Key)
			}
		}
	}
	return keys
}

// become makes the node the one that the instance is if it turns out so, with the daemon
// pods that it has then.
func (st *stage) become(ctx context.Context, name string, o option) {
	before := st.nodes.byName[name]
	changed := nodeObject(name, o.instanceType, o.labels.With(cluster.LabelHostname, name))
	changed.Spec.Taints = before.Node().Spec.Taints
	info := framework.NewNodeInfo()
	info.SetNode(changed)
	for _, p := range before.GetPods() {
		if pod := p.GetPod(); len(pod.OwnerReferences) == 0 || pod.OwnerReferences[0].Kind != "DaemonSet" {
			info.AddPod(pod)
		}
	}
	for _, ds := range st.world.Daemons {
		if pod := daemonPod(ds, changed); pod != nil {
			info.AddPod(pod)
		}
	}
	st.nodes.replace(name, info)
	st.devices.become(ctx, changed)
	st.moveVolumes(changed)
	var limits *storagev1.CSINode
	if len(o.instanceType.Attachable) > 0 {
		limits = csiNode(name, o.instanceType.Attachable)
	}
	st.showLimits(name, limits)
}

// moveVolumes makes the volumes that are made for pods on the node where it is
// now.
func (st *stage) moveVolumes(n *corev1.Node) {
	for key, node := range st.made {
		if node != n.Name {
			continue
		}
		if v, class := st.volumeOf(key); v != nil {
			moved := v.DeepCopy()
			moved.Spec.NodeAffinity = reachFrom(class, n)
			_ = st.store(moved).Update(moved)
		}
	}
}

// volumeOf returns the volume of a claim and its class.
func (st *stage) volumeOf(claim string) (*corev1.PersistentVolume, *storagev1.StorageClass) {
	stored, found, _ := st.store(&corev1.PersistentVolumeClaim{}).GetByKey(claim)
	if !found {
		return nil, nil
	}
	c := stored.(*corev1.PersistentVolumeClaim)
	volume, found, _ := st.store(&corev1.PersistentVolume{}).GetByKey(c.Spec.VolumeName)
	class, known, _ := st.store(&storagev1.StorageClass{}).GetByKey(*c.Spec.StorageClassName)
	if !found || !known {
		return nil, nil
	}
	return volume.(*corev1.PersistentVolume), class.(*storagev1.StorageClass)
}

// showLimits makes the drivers of a node say these limits, or nothing.
func (st *stage) showLimits(name string, limits *storagev1.CSINode) {
	store := st.store(&storagev1.CSINode{})
	if stored, found, _ := store.GetByKey(name); found && limits == nil {
		_ = store.Delete(stored)
	} else if limits != nil {
		_ = store.Update(limits)
	}
}

// asBefore returns what undoes everything that become does from now on.
func (st *stage) asBefore() func() {
	nodes, devices, limits := st.nodes.saved(), st.devices.saved(), map[string]*storagev1.CSINode{}
	var volumes []*corev1.PersistentVolume
	for claim := range st.made {
		if v, _ := st.volumeOf(claim); v != nil {
			volumes = append(volumes, v)
		}
	}
	for name := range st.options {
		if stored, found, _ := st.store(&storagev1.CSINode{}).GetByKey(name); found {
			limits[name] = stored.(*storagev1.CSINode)
		}
	}
	return func() {
		st.nodes.restore(nodes)
		devices()
		for _, v := range volumes {
			_ = st.store(v).Update(v)
		}
		for name := range st.options {
			st.showLimits(name, limits[name])
		}
	}
}
