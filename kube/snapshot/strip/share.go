package strip

import (
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/compact"
)

// Sharing returns a transform for informers that does what Strip does, and has pods, nodes and
// NodeClaims share what is equal in them: most pods are one of many that their owner made after
// one template, and nodes of a NodePool differ in few labels. As all that a cache holds, it must not be written.
func Sharing() func(any) (any, error) {
	s := &sharing{}
	return func(o any) (any, error) {
		out, err := Strip(o)
		if err != nil {
			return out, err
		}
		switch o := out.(type) {
		case *corev1.Pod:
			s.pod(o)
		case *corev1.Node:
			shareNode(o)
		case *karpv1.NodeClaim:
			s.claim(o)
		}
		return out, nil
	}
}

type sharing struct{ common compact.Common }

// pod leaves a pod what is its own: its name, node, host name and volumes, and the affinity to one node that
// the owner of daemon pods gives it.
func (s *sharing) pod(p *corev1.Pod) {
	p.Labels = compact.Share(&s.common, "meta", &metav1.ObjectMeta{Labels: p.Labels}).Labels
	p.Annotations = compact.Share(&s.common, "meta", &metav1.ObjectMeta{Annotations: p.Annotations}).Annotations
	p.OwnerReferences = compact.Share(&s.common, "meta", &metav1.ObjectMeta{OwnerReferences: p.OwnerReferences}).OwnerReferences
	spec, affinity := p.Spec, p.Spec.Affinity
	spec.NodeName, spec.Hostname, spec.Volumes = "", "", nil
	daemon := metav1.GetControllerOfNoCopy(p)
	if daemon != nil && daemon.Kind == "DaemonSet" {
		spec.Affinity = nil
	} else {
		affinity = nil
	}
	spec = *compact.Share(&s.common, "spec", &spec)
	spec.NodeName, spec.Hostname, spec.Volumes = one(p.Spec.NodeName), p.Spec.Hostname, p.Spec.Volumes
	if affinity != nil {
		spec.Affinity = affinity
	}
	p.Spec = spec
	p.Namespace = one(p.Namespace)
	p.Status.Phase = one(p.Status.Phase)
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		c.Type, c.Status, c.Reason = one(c.Type), one(c.Status), one(c.Reason)
	}
}

// shareNode leaves a node its name, addresses and what differs from node to node.
func shareNode(n *corev1.Node) {
	n.Labels, n.Annotations = texts(n.Labels), texts(n.Annotations)
	for i := range n.Spec.Taints {
		t := &n.Spec.Taints[i]
		t.Key, t.Value, t.Effect = one(t.Key), one(t.Value), one(t.Effect)
	}
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		c.Type, c.Status, c.Reason, c.Message = one(c.Type), one(c.Status), one(c.Reason), one(c.Message)
	}
	is := &n.Status.NodeInfo
	is.KernelVersion, is.OSImage, is.ContainerRuntimeVersion = one(is.KernelVersion), one(is.OSImage), one(is.ContainerRuntimeVersion)
	is.KubeletVersion, is.OperatingSystem, is.Architecture = one(is.KubeletVersion), one(is.OperatingSystem), one(is.Architecture)
}

// claim leaves a NodeClaim its names, and its requirements as far as no other has the same.
func (s *sharing) claim(c *karpv1.NodeClaim) {
	c.Labels, c.Annotations = texts(c.Labels), texts(c.Annotations)
	for i := range c.Spec.Requirements {
		r := &c.Spec.Requirements[i]
		r.Key, r.Operator = one(r.Key), one(r.Operator)
		r.Values = compact.Share(&s.common, "meta", &metav1.ObjectMeta{Finalizers: r.Values}).Finalizers // a list of texts that can be encoded
	}
	for i := range c.Status.Conditions {
		is := &c.Status.Conditions[i]
		is.Type, is.Status, is.Reason, is.Message = one(is.Type), one(is.Status), one(is.Reason), one(is.Message)
	}
}

// texts returns a map of its own with the one copy of each key and value.
func texts(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for key, value := range m {
		out[one(key)] = one(value)
	}
	return out
}

// one is the one copy of a text.
func one[T ~string](text T) T { return unique.Make(text).Value() }
