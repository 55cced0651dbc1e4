package whole_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	product "github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/controller/nodepool"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/kube/translate/provisioner"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/market"
)

// tick is how often the cluster's people look round.
const tick = 200 * time.Millisecond

// people play everybody else in the cluster. They look often, and copies cost
// most of a story: what they saw they keep until something has changed.
type people struct {
	*world
	sawNodes  sight[corev1.Node]
	sawPods   sight[corev1.Pod]
	seen      []seenNodes          // by the scheduler, the oldest first
	wasSilent string               // the node whose kubelet says nothing
	lost      map[string]time.Time // nodes that pods are bound to and that are not there, and since when
}

// seenNodes are the nodes at a moment.
type seenNodes struct {
	at    time.Time
	nodes []corev1.Node
}

// nodesBefore are the nodes as they were so long ago.
func (w *people) nodesBefore(ago time.Duration) []corev1.Node {
	now := time.Now()
	w.seen = append(w.seen, seenNodes{now, w.nodes()})
	for len(w.seen) > 1 && now.Sub(w.seen[1].at) >= ago {
		w.seen = w.seen[1:]
	}
	return w.seen[0].nodes
}

// sight is what was seen at a revision.
type sight[T any] struct {
	revision uint64
	items    []T
}

// look returns what list returns, or returned if nothing has changed since.
func (s *sight[T]) look(w *world, list func() []T) []T {
	if now := w.server.Revision(); now != s.revision {
		s.revision, s.items = now, list()
	}
	return s.items
}

func (w *people) nodes() []corev1.Node  { return w.sawNodes.look(w.world, w.world.nodes) }
func (w *people) allPods() []corev1.Pod { return w.sawPods.look(w.world, w.world.allPods) }

// live plays until ctx ends.
func (w *people) live(ctx context.Context) {
	last := uint64(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(tick):
		}
		instances := w.cloud.Market().Machines()
		w.kept.look(instances)
		if w.isAway() {
			continue // none can do anything
		}
		w.instancesJoin(ctx, instances)
		w.mu.Lock()
		driver := w.driver
		w.mu.Unlock()
		if driver != nil {
			driver.publish(ctx)
			driver.makeClaims(ctx)
		}
		w.deploymentsAct(ctx)
		w.hastyHand(ctx)
		w.heartbeats(ctx, running(instances))
		now := w.server.Revision() // before looking, so that no change is missed
		if now == last && !w.binds() && !w.someEnd() && len(w.lost) == 0 && len(w.seen) < 2 {
			continue
		}
		w.garbage(ctx)
		w.kubelets(ctx)
		w.schedule(ctx)
		w.budgets(ctx)
		last = now
	}
}

// binds reports whether calls that bind pods work again which did not: the scheduler tries them
// again though nothing else has changed.
func (w *people) binds() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	again := w.bindsAgain
	w.bindsAgain = false
	return again
}

// someEnd reports whether a pod is ending: then time alone changes something.
func (w *people) someEnd() bool {
	return slices.ContainsFunc(w.allPods(), func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
}

// instancesJoin registers the nodes of instances that have booted, and makes
// those of instances that are gone not ready.
func (w *people) instancesJoin(ctx context.Context, instances []market.Machine) {
	there := map[string]*corev1.Node{}
	for _, n := range w.nodes() {
		there[n.Spec.ProviderID] = &n
	}
	alive := map[string]bool{}
	for _, m := range instances {
		provider := "aws:///" + m.Pool.Zone + "/" + m.ID
		running := m.At(time.Now()) == market.Running
		alive[provider] = running || m.At(time.Now()) == market.ShuttingDown
		boot, ok := w.bootOf(m)
		if running && ok && there[provider] == nil && !boot.JoinsAt.IsZero() && !time.Now().Before(w.joinsAt(m, boot)) && !w.hasJoined(m.ID) {
			w.join(ctx, m, provider, boot.Node)
		}
	}
	for provider, n := range there {
		if strings.HasPrefix(provider, "aws:") && !alive[provider] {
			w.lose(ctx, n)
		}
	}
}

// running are the provider IDs of instances that run.
func running(instances []market.Machine) map[string]bool {
	out := map[string]bool{}
	for i := range instances {
		if m := &instances[i]; m.At(time.Now()) == market.Running {
			out["aws:///"+m.Pool.Zone+"/"+m.ID] = true
		}
	}
	return out
}

// joinsAt is when the node of an instance comes: as drawn, unless a story says
// how long instances of the zone take.
func (w *people) joinsAt(m market.Machine, boot fakecloud.Boot) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if after, reported := w.joinsAfter[m.Pool.Zone]; reported {
		return m.LaunchedAt.Add(after)
	}
	return boot.JoinsAt
}

// lose marks the node of an instance that is gone as not ready, and deletes it
// a minute later, as the controllers for nodes do.
func (w *people) lose(ctx context.Context, n *corev1.Node) {
	before := n.DeepCopy()
	if translate.IsReady(n) {
		n.Status.Conditions = []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: metav1.NewTime(time.Now()),
		}}
		_ = w.hand.Status().Patch(ctx, n, client.MergeFrom(before))
		before = n.DeepCopy()
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule})
		_ = w.hand.Patch(ctx, n, client.MergeFrom(before))
		return
	}
	if since := n.Status.Conditions[0].LastTransitionTime.Time; n.DeletionTimestamp == nil && time.Since(since) > time.Minute {
		_ = w.hand.Delete(ctx, n)
	}
}

// hasJoined tells whether the instance's node was here before: a node that was
// deleted does not come back.
func (w *people) hasJoined(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.joined[id] {
		return true
	}
	w.joined[id] = true
	return false
}

func (w *people) join(ctx context.Context, m market.Machine, provider string, setup cloud.NodeSetup) {
	kinds, err := w.cloud.Kinds(ctx, cloud.Class{ID: "EC2NodeClass/default"})
	if err != nil {
		return
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + m.ID[len(m.ID)-4:], Labels: map[string]string{}}}
	maps.Copy(node.Labels, setup.Labels)
	maps.Copy(node.Labels, map[string]string{
		api.LabelInstanceType: m.Pool.Kind, api.LabelZone: m.Pool.Zone, api.LabelArch: "amd64", api.LabelHostname: node.Name,
	})
	node.Spec.ProviderID = provider
	for _, t := range setup.Taints {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	for _, k := range kinds.InstanceTypes {
		if k.Name == m.Pool.Kind {
			node.Status.Capacity = translate.ResourceList(k.Capacity)
			node.Status.Allocatable = translate.ResourceList(k.Allocatable.Sub(w.keeps).ClampNegative())
		}
	}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	_ = w.hand.Create(ctx, node)
}

// deploymentsAct keeps as many pods as each deployment wants.
func (w *people) deploymentsAct(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.deployments) == 0 || time.Since(w.actedAt) < w.actsEvery {
		return
	}
	w.actedAt = time.Now()
	have := map[string][]corev1.Pod{}
	for _, p := range w.allPods() {
		if p.DeletionTimestamp == nil {
			have[p.Labels["app"]] = append(have[p.Labels["app"]], p)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.deployments)) {
		d := w.deployments[name]
		for made := range d.replicas - len(have[name]) {
			if made == w.actsMost && made > 0 {
				break
			}
			w.pods++
			p := d.template.DeepCopy()
			p.Name = fmt.Sprintf("%s-%d", name, w.pods)
			w.recommendedFor(ctx, p)
			_ = w.hand.Create(ctx, p)
		}
		slices.SortStableFunc(have[name], func(a, b corev1.Pod) int { return cmp.Compare(deletionCost(&a), deletionCost(&b)) })
		for i := range len(have[name]) - d.replicas {
			_ = w.hand.Delete(ctx, &have[name][i])
		}
	}
}

// deletionCost is what it costs that a ReplicaSet which scales down deletes the pod: the lowest first.
func deletionCost(p *corev1.Pod) int {
	cost, _ := strconv.Atoi(p.Annotations[api.AnnotationPodDeletionCost])
	return cost
}

// quarantine is how long Kubernetes' garbage collector leaves pods whose node is gone.
const quarantine = 40 * time.Second

// garbage deletes claims whose pool is gone, and pods whose node has been for a while.
func (w *people) garbage(ctx context.Context) {
	pools, nodes := map[string]bool{}, map[string]bool{}
	for _, g := range product.Served([]nodepool.Generation{product.NodePools(), product.Provisioners(provisioner.Generation())}) {
		all, err := g.List(ctx, w.hand)
		if err != nil {
			w.t.Error(err)
		}
		for _, p := range all {
			pools[g.ID(p.GetName()).String()] = true
		}
	}
	for _, n := range w.nodes() {
		nodes[n.Name] = true
	}
	for _, c := range w.claims() {
		if len(c.OwnerReferences) > 0 && !pools[c.OwnerReferences[0].Kind+"/"+c.OwnerReferences[0].Name] && c.DeletionTimestamp == nil {
			_ = w.hand.Delete(ctx, &c)
		}
	}
	lost := map[string]time.Time{}
	for _, p := range w.allPods() {
		node := p.Spec.NodeName
		if node == "" || nodes[node] {
			continue
		}
		if lost[node] = w.lost[node]; lost[node].IsZero() {
			lost[node] = time.Now()
		}
		if time.Since(lost[node]) >= quarantine {
			_ = w.hand.Delete(ctx, &p, client.GracePeriodSeconds(0))
		}
	}
	w.lost = lost
}

// slowly marks pods that take all the time that they are given to end.
const slowly = "example.com/ends-slowly"

// kubelets start pods that were bound and end those that are to go: two
// seconds after they were told, or slowly. Those of nodes that are not ready do nothing.
func (w *people) kubelets(ctx context.Context) {
	silent := map[string]bool{}
	for _, n := range w.nodes() {
		silent[n.Name] = !translate.IsReady(&n)
	}
	for _, p := range w.allPods() {
		if p.Spec.NodeName == "" || silent[p.Spec.NodeName] {
			continue
		}
		if p.DeletionTimestamp != nil {
			takes := time.Duration(*p.DeletionGracePeriodSeconds) * time.Second
			reported := p.DeletionTimestamp.Add(-takes)
			if p.Annotations[slowly] == "" {
				takes = min(2*time.Second, takes)
			}
			if time.Since(reported) > takes {
				_ = w.hand.Delete(ctx, &p, client.GracePeriodSeconds(0))
			}
			continue
		}
		if p.Status.Phase != corev1.PodRunning {
			before := p.DeepCopy()
			p.Status.Phase = corev1.PodRunning
			_ = w.hand.Status().Patch(ctx, &p, client.MergeFrom(before))
		}
	}
}

// schedule binds each pod to the first node that has room, and says of the
// others that there is none; and of those that it cannot bind, that it failed.
func (w *people) schedule(ctx context.Context) {
	w.mu.Lock()
	driver := w.driver
	works, contrary, unbound, losesBind, lateBy := w.schedules, w.contrary, w.unbound, w.losesBind, w.lateBy
	w.mu.Unlock()
	if !works {
		w.seen = nil // it lists all nodes when it begins again
		return
	}
	pods, nodes := slices.Clone(w.allPods()), slices.Clone(w.nodesBefore(lateBy))
	if contrary {
		slices.Reverse(pods)
		slices.Reverse(nodes)
	}
	used := map[string]quantity.Resources{}
	for i := range pods {
		used[pods[i].Spec.NodeName] = used[pods[i].Spec.NodeName].Add(podspec.PodRequests(&pods[i]))
	}
	for i := range pods {
		p := &pods[i]
		if p.Spec.NodeName != "" || p.DeletionTimestamp != nil {
			continue
		}
		before, wants := p.DeepCopy(), podspec.PodRequests(p)
		at := slices.IndexFunc(nodes, func(n corev1.Node) bool {
			return admits(&n, p) && asksForLess(p, n.Status.Allocatable) &&
				used[n.Name].Add(wants).FitsIn(translate.Resources(n.Status.Allocatable)) &&
				(len(p.Spec.ResourceClaims) == 0 || driver != nil && driver.allocate(ctx, p, n.Name))
		})
		if at < 0 {
			unscheduled(p, corev1.PodReasonUnschedulable, "no node is available: Insufficient resources.")
			_ = w.hand.Status().Patch(ctx, p, client.MergeFrom(before))
			continue
		}
		lost := losesBind != nil && losesBind(p)
		if !lost {
			used[nodes[at].Name] = used[nodes[at].Name].Add(wants)
		}
		if unbound || lost {
			if lost {
				p.Status.NominatedNodeName = nodes[at].Name
			}
			unscheduled(p, corev1.PodReasonSchedulerError, "running Bind plugin: context deadline exceeded")
			_ = w.hand.Status().Patch(ctx, p, client.MergeFrom(before))
			continue
		}
		p.Spec.NodeName = nodes[at].Name
		_ = w.hand.Patch(ctx, p, client.MergeFrom(before))
	}
}

// bindsNothing has the scheduler's calls that bind pods run out of time, or work again.
func (w *world) bindsNothing(fails bool) {
	w.mu.Lock()
	w.unbound, w.bindsAgain = fails, true
	w.mu.Unlock()
}

func unscheduled(p *corev1.Pod, reason, message string) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message}}
}

// asksForLess reports whether each resource of which the pod's containers ask is enough for them
// all. It counts as kube-scheduler does, not as the product.
func asksForLess(p *corev1.Pod, allocatable corev1.ResourceList) bool {
	sums := corev1.ResourceList{}
	for i := range p.Spec.Containers {
		for name, amount := range p.Spec.Containers[i].Resources.Requests {
			sum := sums[name]
			sum.Add(amount)
			sums[name] = sum
		}
	}
	for name, sum := range sums {
		if most := allocatable[name]; sum.Cmp(most) > 0 {
			return false
		}
	}
	return true
}

func admits(n *corev1.Node, p *corev1.Pod) bool {
	if !translate.IsReady(n) || n.Spec.Unschedulable {
		return false
	}
	for key, value := range p.Spec.NodeSelector {
		if n.Labels[key] != value {
			return false
		}
	}
	return !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule })
}
