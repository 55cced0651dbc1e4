package oracle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
)

// delivery is which of the instances that a launch leaves open the cloud gives.
type delivery int

const (
	asChosen delivery = iota // the plan's own choice
	byChance                 // any that the launch allows
)

// stage is a cluster in which a plan is carried out.
type stage struct {
	*scheduler
	world    *World
	snapshot *cluster.Snapshot
	plan     *plan.Plan
	dice     dice
	pods     map[string]*corev1.Pod // of the world: by namespace/name
	open     []string               // nodes that may take pods, in order
	options  map[string][]option    // by launch: what it may turn out to be
	found    []Disagreement
	excused  []string // pods that wait on purpose, and where they could be
}

// replay carries the plan out step by step and asks the scheduler at each.
func replay(ctx context.Context, w *World, s *cluster.Snapshot, p *plan.Plan, d delivery) ([]Disagreement, error) {
	st, end, err := newStage(ctx, w, s, p, d)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := st.place(ctx); err != nil {
		return nil, err
	}
	if len(st.found) == 0 && !p.Exhausted {
		st.judgeLeft(ctx)
	}
	if len(st.found) == 0 && !p.Exhausted {
		err = st.judgeBuffers(ctx)
	}
	return st.found, err
}

// newStage sets the stage: every node that is there or will be, and running
// pods. The caller ends it.
func newStage(ctx context.Context, w *World, s *cluster.Snapshot, p *plan.Plan, d delivery) (st *stage, end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	built, err := newScheduler(ctx, w)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	st = &stage{scheduler: built, world: w, snapshot: s, plan: p, dice: dice{rand.New(rand.NewPCG(w.Seed, 37))},
		pods: map[string]*corev1.Pod{}, options: map[string][]option{}}
	for _, step := range []func() error{
		st.makeEphemeral, st.addNodes, func() error { return st.addMachines(d) }, func() error { return st.addLaunches(d) }, st.targetRunning, st.targetDaemons,
	} {
		if err := step(); err != nil {
			cancel()
			return nil, nil, err
		}
	}
	return st, cancel, nil
}

// makeEphemeral makes the claims of volumes that live as long as their pods,
// where the controller has not come to it yet.
func (st *stage) makeEphemeral() error {
	claims := st.store(&corev1.PersistentVolumeClaim{})
	for _, pod := range st.world.Pods {
		for i := range pod.Spec.Volumes {
			if v := &pod.Spec.Volumes[i]; v.Ephemeral != nil {
				c := ephemeralClaim(pod, v)
				if _, there, err := claims.Get(c); err != nil || there {
					continue
				}
				if err := claims.Add(c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// addNodes shows the nodes that exist. Taints that vanish by themselves while
// a node starts are gone by the time the plan counts on it, and drivers of
// volumes have said how many they take.
func (st *stage) addNodes() error {
	known := map[string]*cluster.Node{}
	for i := range st.snapshot.Nodes {
		known[st.snapshot.Nodes[i].Name] = &st.snapshot.Nodes[i]
	}
	for _, n := range st.world.Nodes {
		as, seen := known[n.Name]
		if !seen {
			continue
		}
		shown := n.DeepCopy()
		lasting := feasibility.LastingTaints(as)
		shown.Spec.Taints = slices.DeleteFunc(shown.Spec.Taints, func(t corev1.Taint) bool {
			return !slices.ContainsFunc(lasting, func(l constraintTaint) bool {
				return l.Key == t.Key && l.Value == t.Value && string(l.Effect) == string(t.Effect)
			})
		})
		if err := st.add(shown, st.driversToCome(shown)); err != nil {
			return err
		}
		if starts(n) {
			st.devices.publish(n.Name, n.Labels[api.LabelInstanceType])
		}
		if !as.Deleting {
			st.open = append(st.open, n.Name)
		}
	}
	return nil
}

// driversToCome is what the drivers of volumes of a starting node of ours will
// say that they take; nil where they have said it or the node is no starting
// one. The scheduler sees no bound until they do, and sends more volumes than
// can be attached.
func (st *stage) driversToCome(n *corev1.Node) *storagev1.CSINode {
	if _, said, _ := st.store(&storagev1.CSINode{}).GetByKey(n.Name); said || n.Labels[api.LabelNodePool] == "" || n.Labels[api.LabelInitialized] != "" {
		return nil
	}
	at := slices.IndexFunc(st.world.Catalogue.InstanceTypes, func(k cluster.InstanceType) bool { return k.Name == n.Labels[api.LabelInstanceType] })
	if at < 0 || len(st.world.Catalogue.InstanceTypes[at].Attachable) == 0 {
		return nil
	}
	return csiNode(n.Name, st.world.Catalogue.InstanceTypes[at].Attachable)
}

// addMachines shows the nodes that launched instances will become.
func (st *stage) addMachines(d delivery) error {
	for i := range st.snapshot.Instances {
		m := &st.snapshot.Instances[i]
		pool, found := st.snapshot.Pool(m.Pool)
		if !found && !m.Launched {
			continue
		}
		options := optionsOfMachine(st.world.Catalogue, pool, m)
		if len(options) == 0 {
			continue
		}
		if err := st.arrive(m.Claim, st.deliver(options, 0, d), m.Taints); err != nil {
			return err
		}
		if !m.Deleting {
			st.options[m.Claim] = options
			st.open = append(st.open, m.Claim)
		}
	}
	return nil
}

// addLaunches shows the nodes that the plan's launches will become.
func (st *stage) addLaunches(d delivery) error {
	for i := range st.plan.Launches {
		l := &st.plan.Launches[i]
		pool, _ := st.snapshot.Pool(l.Pool)
		options := optionsOf(st.world.Catalogue, pool, l.Requirements, l.Labels)
		options = slices.DeleteFunc(options, func(o option) bool { return !o.offering.Available })
		chosen := slices.IndexFunc(options, func(o option) bool {
			return o.instanceType.Name == l.Choice.Kind && o.offering.Zone == l.Choice.Zone && o.offering.Option == l.Choice.Option
		})
		if chosen < 0 {
			st.report(Disagreement{Kind: Broken, Node: l.Name, Plugin: "launch", Reason: "its choice " + l.Choice.String() + " is not among what its requirements allow"})
			continue
		}
		if err := st.arrive(l.Name, st.deliver(options, chosen, d), pool.Taints); err != nil {
			return err
		}
		st.options[l.Name] = options
		st.open = append(st.open, l.Name)
	}
	return nil
}

func (st *stage) deliver(options []option, chosen int, d delivery) option {
	if d == byChance {
		return pick(st.dice, st.alikeToSpreads(options, chosen)...)
	}
	return options[chosen]
}

// alikeToSpreads lists the options that are like the chosen one for every preference for nodes
// that a spread goes by. Which of the nodes that a launch leaves open count for such a spread
// is known when the instance is there; until then plans take the choice for granted.
func (st *stage) alikeToSpreads(options []option, chosen int) []option {
	var keys []string
	note := func(pod *corev1.Pod) {
		if len(pod.Spec.TopologySpreadConstraints) > 0 {
			keys = append(keys, nodeKeys(pod)...)
		}
	}
	for _, pod := range st.world.Pods {
		note(pod)
	}
	for _, t := range st.world.Templates {
		note(&corev1.Pod{Spec: t.Template.Spec})
	}
	return slices.DeleteFunc(slices.Clone(options), func(o option) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return valueOf(o, key) != valueOf(options[chosen], key) })
	})
}

// arrive shows the node that an instance becomes, started and without pods.
func (st *stage) arrive(name string, o option, taints []constraintTaint) error {
	n := nodeObject(name, o.instanceType, o.labels.With(api.LabelHostname, name))
	for _, t := range taints {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	var limits *storagev1.CSINode
	if len(o.instanceType.Attachable) > 0 {
		limits = csiNode(name, o.instanceType.Attachable)
	}
	st.devices.publish(name, n.Labels[api.LabelInstanceType])
	return st.add(n, limits)
}

// targetRunning puts running pods where they are, but for those that must leave
// a node which is going away: these wait, and the plan has a place for them.
func (st *stage) targetRunning() error {
	moving := map[string]bool{}
	for _, n := range st.snapshot.Nodes {
		for _, p := range n.Pods {
			if n.Deleting && p.Moves() {
				moving[p.Namespace+"/"+p.Name] = true
			}
		}
	}
	for _, pod := range st.world.Pods {
		name := pod.Namespace + "/" + pod.Name
		pod = st.devices.withClaims(pod)
		if moving[name] {
			st.devices.release(resourceClaimsOf(pod)...)
		}
		st.pods[name] = pod
		_, placed := st.nodes.byName[pod.Spec.NodeName]
		if placed && !moving[name] && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			if err := st.bind(pod, pod.Spec.NodeName); err != nil {
				return err
			}
		}
	}
	return nil
}

// targetDaemons adds the pods of DaemonSets that nodes do not have yet.
func (st *stage) targetDaemons() error {
	present := map[string]bool{}
	for _, pod := range st.world.Pods {
		if len(pod.OwnerReferences) > 0 && pod.OwnerReferences[0].Kind == "DaemonSet" {
			present[pod.OwnerReferences[0].Name+" "+pod.Spec.NodeName] = true
		}
	}
	for _, ds := range st.world.Daemons {
		for _, name := range st.open {
			pod := daemonPod(ds, st.nodes.byName[name].Node())
			if pod == nil || present[ds.Name+" "+name] {
				continue
			}
			if err := st.bind(pod, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// place replays the placements in the plan's order.
func (st *stage) place(ctx context.Context) error {
	for _, x := range st.plan.Placements {
		pod := st.waitingPod(x.Pod)
		if pod == nil {
			return fmt.Errorf("the plan places pod %s/%s, which the world does not have", x.Pod.Namespace, x.Pod.Name)
		}
		if _, there := st.nodes.byName[x.Target]; !there {
			st.report(Disagreement{Kind: Broken, Pod: nameOf(pod), Node: x.Target, Plugin: "target", Reason: "there is no such " + string(x.On)})
			continue
		}
		v := st.judge(ctx, pod, x.Target)[0]
		if v.plugin == names.PodTopologySpread && st.gone() {
			v = st.judge(ctx, pod, x.Target)[0]
		}
		on := st.nodes.byName[x.Target].Node()
		if (v.accepted || v.plugin == names.DynamicResources) && st.devices.plan(ctx, on, pod, st.nodes.object) {
			v = st.judge(ctx, pod, x.Target)[0]
		}
		if !v.accepted {
			st.report(Disagreement{Kind: Refused, Pod: nameOf(pod), Node: x.Target, Plugin: v.plugin, Reason: v.reason})
		}
		if err := st.bind(pod, x.Target); err != nil {
			return err
		}
	}
	return nil
}

// waitingPod is the pod as it will be when the scheduler sees it next: a pod
// that leaves its node comes back without one.
func (st *stage) waitingPod(p cluster.Pod) *corev1.Pod {
	pod := st.pods[p.Namespace+"/"+p.Name]
	if pod == nil || pod.Spec.NodeName == "" {
		return pod
	}
	again := pod.DeepCopy()
	again.Spec.NodeName = ""
	return again
}

func (st *stage) report(d Disagreement) { st.found = append(st.found, d) }

func nameOf(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }
