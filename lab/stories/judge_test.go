package stories_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	resourcehelper "k8s.io/component-helpers/resource"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	storagehelper "k8s.io/component-helpers/storage/volume"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// discard is where helpers of Kubernetes may log.
var discard = logr.Discard()

// world is what decides whether pods are where their own rules say.
type world struct {
	pods       []corev1.Pod // of all namespaces, those that have ended left out
	nodes      map[string]*corev1.Node
	namespaces map[string]labels.Set
	claims     map[string]*corev1.PersistentVolumeClaim // by "namespace/name"
	volumes    map[string]*corev1.PersistentVolume
	attaches   map[string]int32 // EBS volumes by node, as its driver says
}

// look reads the world as it is now.
func (s *story) look() world {
	s.Helper()
	w := world{nodes: map[string]*corev1.Node{}, namespaces: map[string]labels.Set{}, claims: map[string]*corev1.PersistentVolumeClaim{},
		volumes: map[string]*corev1.PersistentVolume{}, attaches: map[string]int32{}}
	var (
		pods       corev1.PodList
		nodes      corev1.NodeList
		namespaces corev1.NamespaceList
		claims     corev1.PersistentVolumeClaimList
		volumes    corev1.PersistentVolumeList
		drivers    storagev1.CSINodeList
	)
	for _, list := range []client.ObjectList{&pods, &nodes, &namespaces, &claims, &volumes, &drivers} {
		if err := s.client.List(context.Background(), list); err != nil {
			s.Fatalf("read the cluster: %v", err)
		}
	}
	w.pods = slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool {
		return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	})
	for i := range nodes.Items {
		w.nodes[nodes.Items[i].Name] = &nodes.Items[i]
	}
	for i := range namespaces.Items {
		w.namespaces[namespaces.Items[i].Name] = namespaces.Items[i].Labels
	}
	for i := range claims.Items {
		w.claims[claims.Items[i].Namespace+"/"+claims.Items[i].Name] = &claims.Items[i]
	}
	for i := range volumes.Items {
		w.volumes[volumes.Items[i].Name] = &volumes.Items[i]
	}
	for _, n := range drivers.Items {
		for _, d := range n.Spec.Drivers {
			if d.Allocatable != nil && d.Allocatable.Count != nil {
				w.attaches[n.Name] = *d.Allocatable.Count
			}
		}
	}
	return w
}

// judge returns what is wrong with where the pods of a namespace are, by the
// rules that they carry themselves. It knows nothing of plans.
func (w world) judge(namespace string) (wrong []string) {
	for i := range w.pods {
		p := &w.pods[i]
		node := w.nodes[p.Spec.NodeName]
		if p.Namespace != namespace {
			continue
		}
		if node == nil {
			wrong = append(wrong, fmt.Sprintf("pod %s is on node %q, which is not there", p.Name, p.Spec.NodeName))
			continue
		}
		for _, fault := range slices.Concat(w.nodeFaults(p, node), w.spreadFaults(p), w.neighbourFaults(p, node), w.portFaults(p), w.diskFaults(p, node)) {
			wrong = append(wrong, fmt.Sprintf("pod %s on node %s: %s", p.Name, node.Name, fault))
		}
	}
	return append(wrong, w.roomFaults(namespace)...)
}

// nodeFaults judges selectors, affinity to nodes and taints.
func (w world) nodeFaults(p *corev1.Pod, n *corev1.Node) (wrong []string) {
	if ok, err := nodeaffinity.GetRequiredNodeAffinity(p).Match(n); err != nil || !ok {
		wrong = append(wrong, fmt.Sprintf("it wants another kind of node, %v", err))
	}
	if taint, found := scheduling.FindMatchingUntoleratedTaint(discard, n.Spec.Taints, p.Spec.Tolerations, forbids, true); found {
		wrong = append(wrong, "it does not tolerate taint "+taint.ToString())
	}
	return wrong
}

// ofKubelets begins the taints that say how a node is doing: they come and go where a
// kubelet of a busy instance is late, and pods that run need not tolerate them.
const ofKubelets = "node.kubernetes.io/"

// emptyingTaint is on nodes that plans name as those to empty; it comes and goes, and no pod goes for its sake.
const emptyingTaint = "daemok.sh/emptying"

func forbids(t *corev1.Taint) bool {
	return t.Effect != corev1.TaintEffectPreferNoSchedule && !strings.HasPrefix(t.Key, ofKubelets)
}

// spreadFaults judges the spreads that must hold, among the domains of the
// nodes that count for the pod.
func (w world) spreadFaults(p *corev1.Pod) (wrong []string) {
	for _, c := range p.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable != corev1.DoNotSchedule {
			continue
		}
		counts := w.domains(p, c)
		least, most := int32(1<<30), int32(0)
		for _, n := range counts {
			least, most = min(least, n), max(most, n)
		}
		if c.MinDomains != nil && int32(len(counts)) < *c.MinDomains {
			least = 0
		}
		if most-least > c.MaxSkew {
			wrong = append(wrong, fmt.Sprintf("it is spread by %s as %v, want a skew of %d at most", c.TopologyKey, counts, c.MaxSkew))
		}
	}
	return wrong
}

// domains counts by the values of a spread's key the pods that it chooses.
func (w world) domains(p *corev1.Pod, c corev1.TopologySpreadConstraint) map[string]int32 {
	chosen := spreadSelector(p, c)
	counts := map[string]int32{}
	for name, n := range w.nodes {
		domain, has := n.Labels[c.TopologyKey]
		if !has || !countsFor(p, c, n) {
			continue
		}
		counts[domain] += 0
		for i := range w.pods {
			q := &w.pods[i]
			if q.Spec.NodeName == name && q.Namespace == p.Namespace && q.DeletionTimestamp == nil && chosen.Matches(labels.Set(q.Labels)) {
				counts[domain]++
			}
		}
	}
	return counts
}

func spreadSelector(p *corev1.Pod, c corev1.TopologySpreadConstraint) labels.Selector {
	s := selectorOf(c.LabelSelector)
	for _, key := range c.MatchLabelKeys {
		if value, has := p.Labels[key]; has {
			more, _ := labels.SelectorFromSet(labels.Set{key: value}).Requirements()
			s = s.Add(more...)
		}
	}
	return s
}

// countsFor reports whether a node is a domain for a spread: it has every key that the
// pod's hard spreads name, and the policies do not leave it out.
func countsFor(p *corev1.Pod, c corev1.TopologySpreadConstraint, n *corev1.Node) bool {
	for _, other := range p.Spec.TopologySpreadConstraints {
		if _, has := n.Labels[other.TopologyKey]; !has && other.WhenUnsatisfiable == corev1.DoNotSchedule {
			return false
		}
	}
	if c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor {
		if ok, _ := nodeaffinity.GetRequiredNodeAffinity(p).Match(n); !ok {
			return false
		}
	}
	if c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor {
		_, repelled := scheduling.FindMatchingUntoleratedTaint(discard, n.Spec.Taints, p.Spec.Tolerations, forbids, true)
		return !repelled
	}
	return true
}

// neighbourFaults judges the affinity and anti-affinity that must hold.
func (w world) neighbourFaults(p *corev1.Pod, n *corev1.Node) (wrong []string) {
	a := p.Spec.Affinity
	if a == nil {
		return nil
	}
	if a.PodAffinity != nil {
		for _, term := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			anywhere, here := w.chosen(p, n, term)
			if here == "" && (anywhere > 0 || !w.chooses(p, p, term)) {
				wrong = append(wrong, fmt.Sprintf("no pod that it must be beside has its %s, %d are elsewhere", term.TopologyKey, anywhere))
			}
		}
	}
	if a.PodAntiAffinity != nil {
		for _, term := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			if _, here := w.chosen(p, n, term); here != "" {
				wrong = append(wrong, fmt.Sprintf("it must keep off pod %s and both have one %s", here, term.TopologyKey))
			}
		}
	}
	return wrong
}

// chosen counts the other pods that a term chooses, and names one that is in
// the domain of the node.
func (w world) chosen(p *corev1.Pod, n *corev1.Node, term corev1.PodAffinityTerm) (anywhere int, here string) {
	for i := range w.pods {
		q := &w.pods[i]
		other := w.nodes[q.Spec.NodeName]
		if q.UID == p.UID || other == nil || !w.chooses(p, q, term) {
			continue
		}
		anywhere++
		domain, has := n.Labels[term.TopologyKey]
		if has && other.Labels[term.TopologyKey] == domain {
			here = q.Namespace + "/" + q.Name
		}
	}
	return anywhere, here
}

func (w world) chooses(p, q *corev1.Pod, term corev1.PodAffinityTerm) bool {
	within := slices.Contains(term.Namespaces, q.Namespace)
	if term.NamespaceSelector != nil {
		within = within || selectorOf(term.NamespaceSelector).Matches(w.namespaces[q.Namespace])
	} else if len(term.Namespaces) == 0 {
		within = q.Namespace == p.Namespace
	}
	return within && selectorOf(term.LabelSelector).Matches(labels.Set(q.Labels))
}

func selectorOf(s *metav1.LabelSelector) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		panic(err) // the API server has let it pass
	}
	return selector
}

// portFaults judges that no other pod of the node has a port of the pod.
func (w world) portFaults(p *corev1.Pod) (wrong []string) {
	for i := range w.pods {
		q := &w.pods[i]
		if q.UID == p.UID || q.Spec.NodeName != p.Spec.NodeName {
			continue
		}
		for _, a := range hostPorts(p) {
			for _, b := range hostPorts(q) {
				if a.HostPort == b.HostPort && a.Protocol == b.Protocol && (everywhere(a.HostIP) || everywhere(b.HostIP) || a.HostIP == b.HostIP) {
					wrong = append(wrong, fmt.Sprintf("pod %s has port %d too", q.Name, a.HostPort))
				}
			}
		}
	}
	return wrong
}

func everywhere(ip string) bool { return ip == "" || ip == "0.0.0.0" || ip == "::" }

func hostPorts(p *corev1.Pod) (ports []corev1.ContainerPort) {
	for _, c := range p.Spec.Containers {
		for _, port := range c.Ports {
			if port.HostPort != 0 {
				ports = append(ports, port)
			}
		}
	}
	return ports
}

// diskFaults judges that the pod's volumes can be where it is, and that one
// for a pod alone has no other.
func (w world) diskFaults(p *corev1.Pod, n *corev1.Node) (wrong []string) {
	for _, name := range claimsOf(p) {
		claim := w.claims[p.Namespace+"/"+name]
		if claim == nil || w.volumes[claim.Spec.VolumeName] == nil {
			wrong = append(wrong, "claim "+name+" has no volume")
			continue
		}
		if err := storagehelper.CheckNodeAffinity(w.volumes[claim.Spec.VolumeName], n.Labels); err != nil {
			wrong = append(wrong, fmt.Sprintf("volume of claim %s cannot be there: %v", name, err))
		}
		if !slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOncePod) {
			continue
		}
		for i := range w.pods {
			if q := &w.pods[i]; q.UID != p.UID && q.Spec.NodeName != "" && q.Namespace == p.Namespace && slices.Contains(claimsOf(q), name) {
				wrong = append(wrong, fmt.Sprintf("pod %s has claim %s too", q.Name, name))
			}
		}
	}
	return wrong
}

func claimsOf(p *corev1.Pod) (names []string) {
	for _, v := range p.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			names = append(names, p.Name+"-"+v.Name)
		}
	}
	return names
}

// roomFaults judges the nodes of the namespace's pods: what all pods there
// ask for is what the node has at most, disks among it.
func (w world) roomFaults(namespace string) (wrong []string) {
	for name, n := range w.nodes {
		left, pods, disks, concerned := n.Status.Allocatable.DeepCopy(), int64(0), map[string]bool{}, false
		for i := range w.pods {
			p := &w.pods[i]
			if p.Spec.NodeName != name {
				continue
			}
			concerned = concerned || p.Namespace == namespace
			pods++
			for resource, asked := range resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{}) {
				amount := left[resource]
				amount.Sub(asked)
				left[resource] = amount
			}
			for _, claim := range claimsOf(p) {
				disks[p.Namespace+"/"+claim] = true
			}
		}
		if !concerned {
			continue
		}
		for resource, amount := range left {
			if amount.Sign() < 0 {
				wrong = append(wrong, fmt.Sprintf("node %s has %s %s too little", name, resource, amount.String()))
			}
		}
		if most := n.Status.Allocatable.Pods().Value(); pods > most {
			wrong = append(wrong, fmt.Sprintf("node %s has %d pods, want %d at most", name, pods, most))
		}
		if most, known := w.attaches[name]; known && int32(len(disks)) > most {
			wrong = append(wrong, fmt.Sprintf("node %s has %d volumes, want %d at most", name, len(disks), most))
		}
	}
	return wrong
}
