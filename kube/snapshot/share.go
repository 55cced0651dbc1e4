package snapshot

import (
	"sync"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Sharing returns a transform for informers that does what Strip does, and has pods share
// what is equal in them: most are one of many that their owner made after one template. As
// all that a cache holds, it must not be written.
func Sharing() func(any) (any, error) {
	s := &sharing{}
	return func(o any) (any, error) {
		out, err := Strip(o)
		if pod, is := out.(*corev1.Pod); is && err == nil {
			s.pod(pod)
		}
		return out, err
	}
}

// partsMax is how many different parts are known at once. With one more they are all
// forgotten, and pods that come later share again: so parts of pods that are gone do not stay.
const partsMax = 10_000

type sharing struct {
	mu    sync.Mutex
	parts map[string]any // by how they are encoded
}

// part is something that is equal where it is encoded alike.
type part interface {
	comparable
	Marshal() ([]byte, error)
}

// share returns the part that came first of those that are equal. kind distinguishes types.
func share[P part](s *sharing, kind string, p P) P {
	text, err := p.Marshal()
	if err != nil {
		return p
	}
	key := kind + string(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if first, known := s.parts[key]; known {
		return first.(P)
	}
	if s.parts == nil || len(s.parts) == partsMax {
		s.parts = map[string]any{}
	}
	s.parts[key] = p
	return p
}

// pod leaves a pod what is its own: its name, node, host name and volumes, and the affinity to one node that
// the owner of daemon pods gives it.
func (s *sharing) pod(p *corev1.Pod) {
	p.Labels = share(s, "meta", &metav1.ObjectMeta{Labels: p.Labels}).Labels
	p.Annotations = share(s, "meta", &metav1.ObjectMeta{Annotations: p.Annotations}).Annotations
	p.OwnerReferences = share(s, "meta", &metav1.ObjectMeta{OwnerReferences: p.OwnerReferences}).OwnerReferences
	spec, affinity := p.Spec, p.Spec.Affinity
	spec.NodeName, spec.Hostname, spec.Volumes = "", "", nil
	daemon := metav1.GetControllerOfNoCopy(p)
	if daemon != nil && daemon.Kind == "DaemonSet" {
		spec.Affinity = nil
	} else {
		affinity = nil
	}
	spec = *share(s, "spec", &spec)
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

// one is the one copy of a text.
func one[T ~string](text T) T { return unique.Make(text).Value() }
