package whole_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/market"
)

// lateWatches is how long after a pod came or went the controller may still not know.
const lateWatches = time.Minute

// demand is how many pods wanted a place lately.
type demand struct{ changes []wanting }

type wanting struct {
	n     int
	may   int // more: of requests, which get all that they ask for or nothing
	since time.Time
}

func (d *demand) is(n, may int) {
	now := time.Now()
	if last := len(d.changes) - 1; last < 0 || d.changes[last].n != n || d.changes[last].may != may {
		d.changes = append(d.changes, wanting{n, may, now})
	}
	for len(d.changes) > 1 && now.Sub(d.changes[1].since) > lateWatches {
		d.changes = d.changes[1:]
	}
}

// lately is the least and the most of the last lateWatches.
func (d *demand) lately() (least, most int) {
	least = math.MaxInt
	for i, w := range d.changes {
		if i+1 < len(d.changes) && time.Since(d.changes[i+1].since) > lateWatches {
			continue
		}
		least, most = min(least, w.n), max(most, w.n+w.may)
	}
	return least, most
}

// isSlot reports whether the pod is one of those of a whole core that slots are counted
// for.
func isSlot(p *corev1.Pod) bool {
	return len(p.Spec.Containers) == 1 && p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue() == 1000
}

// slots is how many pods of a whole core a node of the instance type has room for.
func slots(instanceType string) int { return max(0, vcpus(instanceType)-1) }

func vcpus(instanceType string) int {
	t, known := ec2data.Load().Type(instanceType)
	if !known {
		return 0
	}
	return t.VCPUs
}

func isWithdrawn(c *karpv1.NodeClaim) bool { return c.Annotations[api.AnnotationWithdrawn] != "" }

// instanceOf is the instance of a NodeClaim.
func (p *promises) instanceOf(c *karpv1.NodeClaim) (market.Machine, bool) {
	if c.Status.ProviderID == "" {
		return market.Machine{}, false
	}
	return p.instance(translate.InstanceID(c.Status.ProviderID))
}

// leastOf is the smallest figure of the types that the NodeClaim's instance is, or may
// become.
func (p *promises) leastOf(c *karpv1.NodeClaim, figure func(string) int) int {
	if m, known := p.instanceOf(c); known {
		return figure(m.Pool.Kind)
	}
	return leastAllowed(c, figure)
}

// leastAllowed is the smallest figure of the types that the NodeClaim allows.
func leastAllowed(c *karpv1.NodeClaim, figure func(string) int) int {
	least := 0
	for _, r := range c.Spec.Requirements {
		if r.Key != api.LabelInstanceType || r.Operator != "In" {
			continue
		}
		for _, name := range r.Values {
			if n := figure(name); least == 0 || n < least {
				least = n
			}
		}
	}
	return least
}

// limits asks whether the pool of a NodeClaim has more than it may, those left out whose
// instances have begun to end.
func (p *promises) limits(of *karpv1.NodeClaim) {
	pool := p.pools[of.Labels[api.LabelNodePool]]
	if pool == nil || len(pool.Spec.Limits) == 0 {
		return
	}
	cpu, nodes := 0, 0
	for _, c := range p.claims {
		m, launched := p.instanceOf(c)
		if c.Labels[api.LabelNodePool] == pool.Name && (!launched || isThere(&m)) {
			cpu, nodes = cpu+p.leastOf(c, vcpus), nodes+1
		}
	}
	if p.claims[of.Name] == nil {
		cpu, nodes = cpu+p.leastOf(of, vcpus), nodes+1
	}
	if most, limited := pool.Spec.Limits["nodes"]; limited && int64(nodes) > most.Value() {
		p.breaks("limits hold", "NodePool "+pool.Name, "%d nodes with NodeClaim %s, and %s are allowed", nodes, of.Name, &most)
	}
	if most, limited := pool.Spec.Limits[corev1.ResourceCPU]; limited && int64(cpu) > most.Value() {
		p.breaks("limits hold", "NodePool "+pool.Name, "%d CPU with NodeClaim %s, and %s are allowed", cpu, of.Name, &most)
	}
}

// quotasHold asks whether quotas of all nodes are exceeded, those left out whose instances have begun to end.
func (p *promises) quotasHold(of *karpv1.NodeClaim) {
	for _, q := range p.quotas {
		if q.Spec.Selector != nil {
			continue
		}
		cpu, nodes := 0, 0
		for _, c := range p.claims {
			if m, launched := p.instanceOf(c); c.Name != of.Name && (!launched || isThere(&m)) {
				cpu, nodes = cpu+p.leastOf(c, vcpus), nodes+1
			}
		}
		cpu, nodes = cpu+p.leastOf(of, vcpus), nodes+1
		for name, has := range map[corev1.ResourceName]int{"nodes": nodes, corev1.ResourceCPU: cpu} {
			if most, limited := q.Spec.Limits.Resources[name]; limited && int64(has) > most.Value() {
				p.breaks("quotas hold", "CapacityQuota "+q.Name,
					"%d %s with NodeClaim %s, and %s are allowed", has, name, of.Name, &most)
			}
		}
	}
}

// joinsWithin is how long an instance is waited for; one that takes longer may never join.
const joinsWithin = 2 * time.Minute

// serves reports whether the NodeClaim has, or will have, a node that pods may rely on.
func (p *promises) serves(c *karpv1.NodeClaim) bool {
	if c.DeletionTimestamp != nil || isWithdrawn(c) && c.Status.ProviderID == "" || condition.IsTrue(c, karpv1.ClaimDisruptionReason) {
		return false
	}
	node := p.nodeOf(c.Status.ProviderID)
	if node == nil {
		return time.Since(c.CreationTimestamp.Time) < joinsWithin && !condition.IsTrue(c, karpv1.ClaimRegistered)
	}
	return translate.IsReady(node) && node.DeletionTimestamp == nil && !translate.HasTaint(node, api.TaintDisrupted)
}

func (p *promises) nodeOf(providerID string) *corev1.Node {
	if providerID == "" {
		return nil
	}
	for _, n := range p.nodes {
		if n.Spec.ProviderID == providerID {
			return n
		}
	}
	return nil
}

// room is for how many pods there are nodes, or will be.
func (p *promises) room(of func(*karpv1.NodeClaim) int) (n int) {
	for _, c := range p.claims {
		if p.serves(c) {
			n += of(c)
		}
	}
	return n
}

// places lists the pods with their nodes, or those they were promised, and which NodeClaims serve.
func (p *promises) places() string {
	var out []string
	for _, pod := range p.pods {
		out = append(out, pod.Name+"@"+cmp.Or(pod.Spec.NodeName, "("+pod.Status.NominatedNodeName+")"))
	}
	for _, c := range p.claims {
		out = append(out, fmt.Sprintf("%s=%s %v", c.Name, c.Status.ProviderID, p.serves(c)))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// onHeld counts the pods that need no other place yet, as far as the controller knows: on
// nodes that are not ready and stay, on nodes that lost their NodeClaims, whose drains may be
// held, on nodes whose NodeClaims were deleted so lately that it may not know, and on nodes that
// stay because they came; and those that the scheduler promised a node that lost its NodeClaim.
func (p *promises) onHeld() (n int) {
	for _, pod := range p.pods {
		if node := p.nodes[pod.Status.NominatedNodeName]; pod.Spec.NodeName == "" && node != nil && node.DeletionTimestamp == nil && p.lostItsClaim(node) {
			n++
			continue
		}
		node := p.nodes[pod.Spec.NodeName]
		if node == nil || pod.DeletionTimestamp != nil || !isSlot(pod.Pod) {
			continue
		}
		if node.DeletionTimestamp == nil && !translate.IsReady(node) || p.lostItsClaim(node) || p.wentLately(node) || p.keeps(pod, node) {
			n++
		}
	}
	return n
}

// leftOnUnclaimed is for how many pods more nodes that lost their NodeClaims have room: pods may come there, and
// capacity be kept, until it is known that these nodes are drained.
func (p *promises) leftOnUnclaimed() (n int) {
	for _, node := range p.nodes {
		ended := node.DeletionTimestamp != nil && time.Since(node.DeletionTimestamp.Time) >= lateWatches
		if ended || !translate.IsReady(node) || !p.lostItsClaim(node) {
			continue
		}
		left := slots(node.Labels[api.LabelInstanceType])
		for _, pod := range p.pods {
			if pod.Spec.NodeName == node.Name && isSlot(pod.Pod) {
				left--
			}
		}
		n += max(0, left)
	}
	return n
}

// keeps reports whether the pod came to a node that was closed to be removed by choice, or so
// shortly before that it may not have been known: such a node stays.
func (p *promises) keeps(pod *podLife, node *corev1.Node) bool {
	closedAt := apply.TaintedAt(node)
	return !closedAt.IsZero() && !p.goes(node) && pod.boundAt.After(closedAt.Add(-lateWatches))
}

// goes reports whether the node, or its NodeClaim, is deleted.
func (p *promises) goes(node *corev1.Node) bool {
	for _, c := range p.claims {
		if c.Status.ProviderID == node.Spec.ProviderID && c.DeletionTimestamp != nil {
			return true
		}
	}
	return node.DeletionTimestamp != nil
}

func (p *promises) wentLately(node *corev1.Node) bool {
	for _, c := range p.claims {
		if c.Status.ProviderID == node.Spec.ProviderID && c.DeletionTimestamp != nil && time.Since(c.DeletionTimestamp.Time) < lateWatches {
			return true
		}
	}
	return false
}

func (p *promises) lostItsClaim(node *corev1.Node) bool {
	for _, c := range p.claims {
		if c.Status.ProviderID == node.Spec.ProviderID {
			return false
		}
	}
	return true
}

// isRoom is what a NodeClaim's instance has room for.
func (p *promises) isRoom(c *karpv1.NodeClaim) int { return p.leastOf(c, slots) }

// knownRoom is what it is sure to be known to have room for: that the instance turned out
// larger than its NodeClaim had to be may not be known yet.
func (p *promises) knownRoom(c *karpv1.NodeClaim) int {
	if time.Since(c.CreationTimestamp.Time) < lateWatches {
		return leastAllowed(c, slots)
	}
	return p.isRoom(c)
}

// isStatic reports whether a NodeClaim is of a static pool, for which pods decide nothing.
func (p *promises) isStatic(c *karpv1.NodeClaim) bool {
	pool := p.pools[c.Labels[api.LabelNodePool]]
	return pool != nil && pool.Spec.Replicas != nil
}

// orders looks at a NodeClaim that is created: pods need it, or it takes the place of others.
func (p *promises) orders(c *karpv1.NodeClaim) {
	if !has(needless) || p.isStatic(c) || c.Annotations[api.AnnotationReplaces] != "" || c.Annotations[api.AnnotationTakes] != "" {
		return
	}
	_, most := p.wanted.lately()
	if room := p.room(p.knownRoom); room >= most {
		p.breaks("nothing is launched that no pod needs", "NodeClaim "+c.Name, "nodes there are, or will be, have room for %d pods, and there were %d at most in the last %s", room, most, lateWatches)
	}
}

// withdraws looks at a NodeClaim that is not needed any more: its pods have gone, or there is
// room for them elsewhere. Nodes that stopped to be ready a moment ago are room as far as the
// controller knows, and so are those whose NodeClaims others have just deleted, and what has been ordered and has not
// joined yet.
func (p *promises) withdraws(c *karpv1.NodeClaim) {
	if pool := p.pools[c.Labels[api.LabelNodePool]]; p.isStatic(c) || pool != nil && pool.Annotations[api.AnnotationHours] != "" {
		return // its pool has too many, whatever pods need
	}
	least, _ := p.wanted.lately()
	without := p.onHeld() + p.leftOnUnclaimed()
	for _, o := range p.claims {
		if o.Name != c.Name && (p.serves(o) || p.servedLately(o) || p.boots(o)) {
			without += p.isRoom(o)
		}
	}
	for _, o := range p.deleted {
		if o.UID != c.UID && time.Since(o.at) < lateWatches {
			without += p.isRoom(o.NodeClaim)
		}
	}
	if without < least {
		p.breaks("nothing is withdrawn that pods need", "NodeClaim "+c.Name, "nodes there are, or will be, have room for %d pods without it, and there were %d at least in the last %s: %s; %s",
			without, least, lateWatches, c.Annotations[api.AnnotationWithdrawn], p.places())
	}
}

// boots reports whether the NodeClaim has an instance that has not joined, or waits for one, however
// long that takes.
func (p *promises) boots(c *karpv1.NodeClaim) bool {
	if c.DeletionTimestamp != nil || c.Status.ProviderID == "" {
		return c.DeletionTimestamp == nil && !isWithdrawn(c)
	}
	return p.nodeOf(c.Status.ProviderID) == nil && !condition.IsTrue(c, karpv1.ClaimRegistered)
}

// deletedClaim is a NodeClaim that another client than the controller deleted, and when.
type deletedClaim struct {
	*karpv1.NodeClaim
	at time.Time
}

// servedLately reports whether the NodeClaim has a node that was ready a moment ago.
func (p *promises) servedLately(c *karpv1.NodeClaim) bool {
	node := p.nodeOf(c.Status.ProviderID)
	if node == nil || c.DeletionTimestamp != nil || node.DeletionTimestamp != nil {
		return false
	}
	for _, on := range node.Status.Conditions {
		if on.Type == corev1.NodeReady {
			return on.Status != corev1.ConditionTrue && time.Since(on.LastTransitionTime.Time) < lateWatches
		}
	}
	return false
}

// launchedRight looks whether each instance is a NodeClaim's, or one waits for it. NodeClaims that
// one call launched for have its instances in any order: where one vanished another may have its
// instance, and leave its own without any.
func (p *promises) launchedRight(instances []market.Machine) {
	for _, c := range p.claims {
		if c.Status.ProviderID == "" {
			continue
		}
		id := translate.InstanceID(c.Status.ProviderID)
		if by := p.taken[id]; by != "" && by != c.Name && p.claims[by] == nil {
			p.vanished = append(p.vanished, time.Now())
		}
		p.taken[id] = c.Name
	}
	waiting := 0
	for _, c := range p.claims {
		if c.Status.ProviderID == "" {
			waiting++
		}
	}
	p.vanished = slices.DeleteFunc(p.vanished, func(at time.Time) bool { return time.Since(at) > 5*time.Minute })
	var nobodys []string
	for i := range instances {
		if m := &instances[i]; isThere(m) && p.taken[m.ID] == "" {
			nobodys = append(nobodys, m.ID)
		}
	}
	if len(nobodys) > waiting+len(p.vanished) {
		p.breaks("no instance is launched twice", "instance "+nobodys[len(nobodys)-1], "no NodeClaim has %v, and %d wait for an instance", nobodys, waiting)
	}
}

func isThere(m *market.Machine) bool {
	at := m.At(time.Now())
	return at == market.Pending || at == market.Running
}

// said is what an instance is, in the words of labels.
func said(m *market.Machine) map[string]string {
	return map[string]string{api.LabelInstanceType: m.Pool.Kind, api.LabelZone: m.Pool.Zone, api.LabelCapacityType: string(m.Pool.Option)}
}

// claimAgrees compares a NodeClaim with its instance: what it is labelled with and what it asks for.
func (p *promises) claimAgrees(c *karpv1.NodeClaim) {
	m, known := p.instanceOf(c)
	if !known {
		return
	}
	for key, is := range said(&m) {
		if says, labelled := c.Labels[key]; labelled && says != is {
			p.breaks("NodeClaims and instances agree", "NodeClaim "+c.Name, "label %s is %s, and instance %s is %s", key, says, m.ID, is)
		}
		for _, r := range c.Spec.Requirements {
			if r.Key == key && r.Operator == "In" && !slices.Contains(r.Values, is) {
				p.breaks("NodeClaims and instances agree", "NodeClaim "+c.Name, "it requires %s in %v, and instance %s is %s", key, r.Values, m.ID, is)
			}
		}
		if pool := p.pools[c.Labels[api.LabelNodePool]]; pool != nil {
			if wants, labelled := pool.Spec.Template.Metadata.Labels[key]; labelled && wants != is {
				p.breaks("NodeClaims and instances agree", "NodeClaim "+c.Name, "its pool labels nodes with %s=%s, and instance %s is %s", key, wants, m.ID, is)
			}
		}
	}
}

// nodeAgrees compares a node with its instance.
func (p *promises) nodeAgrees(n *corev1.Node) {
	m, known := p.instance(translate.InstanceID(n.Spec.ProviderID))
	if !known {
		return
	}
	for key, is := range said(&m) {
		if says, labelled := n.Labels[key]; labelled && says != is {
			p.breaks("nodes and instances agree", "node "+n.Name, "label %s is %s, and instance %s is %s", key, says, m.ID, is)
		}
	}
}
