package oracle

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/storage/ephemeral"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// nodeList is the scheduler's view of nodes and their pods, kept by
// increments: plugins read it through the interfaces of the framework.
type nodeList struct {
	order  []fwk.NodeInfo // by the order in which nodes were added
	byName map[string]*framework.NodeInfo
	claims map[string]int // volume claims in use: "namespace/name", by how many pods
}

var _ fwk.SharedLister = &nodeList{}

func newNodeList() *nodeList {
	return &nodeList{byName: map[string]*framework.NodeInfo{}, claims: map[string]int{}}
}

func (l *nodeList) add(n *corev1.Node) {
	info := framework.NewNodeInfo()
	info.SetNode(n)
	l.order, l.byName[n.Name] = append(l.order, info), info
}

// object is a node; nil: it is gone.
func (l *nodeList) object(name string) *corev1.Node {
	if n := l.byName[name]; n != nil {
		return n.Node()
	}
	return nil
}

func (l *nodeList) remove(name string) {
	l.order = slices.DeleteFunc(l.order, func(n fwk.NodeInfo) bool { return n.Node().Name == name })
	delete(l.byName, name)
}

// replace puts another node in the place of the one with the name.
func (l *nodeList) replace(name string, with *framework.NodeInfo) {
	for i, n := range l.order {
		if n.Node().Name == name {
			l.order[i] = with
		}
	}
	l.byName[name] = with
}

// saved returns what restore needs to undo everything that replace does from
// now on.
func (l *nodeList) saved() []fwk.NodeInfo { return slices.Clone(l.order) }

func (l *nodeList) restore(order []fwk.NodeInfo) {
	l.order = order
	for _, n := range order {
		l.byName[n.Node().Name] = n.(*framework.NodeInfo)
	}
}

// target puts a pod on the node that its spec names.
func (l *nodeList) target(pod *corev1.Pod) {
	l.byName[pod.Spec.NodeName].AddPod(pod)
	for _, name := range claimsOf(pod) {
		l.claims[pod.Namespace+"/"+name]++
	}
}

// claimsOf lists the names of the volume claims that a pod uses.
func claimsOf(pod *corev1.Pod) []string {
	var out []string
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		switch {
		case v.PersistentVolumeClaim != nil:
			out = append(out, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			out = append(out, ephemeral.VolumeClaimName(pod, v))
		}
	}
	return out
}

// NodeInfos is the list itself.
func (l *nodeList) NodeInfos() fwk.NodeInfoLister { return l }

// StorageInfos is the list itself.
func (l *nodeList) StorageInfos() fwk.StorageInfoLister { return l }

// PodGroupStates knows no groups.
func (l *nodeList) PodGroupStates() fwk.PodGroupStateLister { return noGroups{} }

// IsPVCUsedByPods reports whether a pod on a node uses the claim.
func (l *nodeList) IsPVCUsedByPods(key string) bool { return l.claims[key] > 0 }

// List returns all nodes.
func (l *nodeList) List() ([]fwk.NodeInfo, error) { return l.order, nil }

// Get returns one node.
func (l *nodeList) Get(name string) (fwk.NodeInfo, error) {
	if info, found := l.byName[name]; found {
		return info, nil
	}
	return nil, fmt.Errorf("node %s is not in the list", name)
}

// HavePodsWithAffinityList returns the nodes with pods that have affinity.
func (l *nodeList) HavePodsWithAffinityList() ([]fwk.NodeInfo, error) {
	return l.where(func(n fwk.NodeInfo) bool { return len(n.GetPodsWithAffinity()) > 0 }), nil
}

// HavePodsWithRequiredAntiAffinityList returns the nodes with pods that keep
// others away.
func (l *nodeList) HavePodsWithRequiredAntiAffinityList() ([]fwk.NodeInfo, error) {
	return l.where(func(n fwk.NodeInfo) bool { return len(n.GetPodsWithRequiredAntiAffinity()) > 0 }), nil
}

func (l *nodeList) where(holds func(fwk.NodeInfo) bool) []fwk.NodeInfo {
	var out []fwk.NodeInfo
	for _, n := range l.order {
		if holds(n) {
			out = append(out, n)
		}
	}
	return out
}

type noGroups struct{}

func (noGroups) Get(namespace, name string) (fwk.PodGroupState, error) {
	return nil, fmt.Errorf("there is no pod group %s/%s", namespace, name)
}
