package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
)

// On lists the buffers and requests that keep capacity on the node, the instance being launched or the launch of the
// plan, with how much.
func (p *Plan) On(to Destination, target string) []VirtualPods {
	var pods []cluster.Pod
	for _, x := range p.VirtualPlaces() {
		if x.On == to && x.Target == target {
			pods = append(pods, x.Pod)
		}
	}
	return VirtualPodsOf(pods)
}

// VirtualPlaces lists where all virtual pods are: those of requests first.
func (p *Plan) VirtualPlaces() (out []Placement) {
	for i := range p.Requested {
		out = append(out, p.Requested[i].Places...)
	}
	for i := range p.Buffers {
		out = append(out, p.Buffers[i].Places...)
	}
	return out
}

// VirtualPods is some virtual pods of one CapacityBuffer or ProvisioningRequest.
type VirtualPods struct {
	Kind, Namespace, Name string
	Pods                  int
}

// String prints "3 pods of CapacityBuffer default/web".
func (x VirtualPods) String() string {
	return fmt.Sprintf("%s of %s %s/%s", counted(x.Pods, "pod"), x.Kind, x.Namespace, x.Name)
}

// The kinds of objects that virtual pods are of.
const (
	KindBuffer  = "CapacityBuffer"
	KindRequest = "ProvisioningRequest"
)

// Booked reports whether they are of a ProvisioningRequest, which keeps their nodes.
func (x VirtualPods) Booked() bool { return x.Kind == KindRequest }

// VirtualPodsOf counts virtual pods by what they are of, sorted by kind, namespace and name; real pods do not count.
func VirtualPodsOf(pods []cluster.Pod) []VirtualPods {
	var out []VirtualPods
	for i := range pods {
		of, virtual := virtualOf(&pods[i])
		if !virtual {
			continue
		}
		at := slices.IndexFunc(out, func(x VirtualPods) bool { x.Pods = 0; return x == of })
		if at < 0 {
			at = len(out)
			out = append(out, of)
		}
		out[at].Pods++
	}
	slices.SortFunc(out, func(a, b VirtualPods) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// VirtualText prints "3 pods of CapacityBuffer default/web, 1 pod of CapacityBuffer default/batch".
func VirtualText(list []VirtualPods) string {
	var out []string
	for _, x := range list {
		out = append(out, x.String())
	}
	return strings.Join(out, ", ")
}

// virtualOf says of which object a virtual pod is, by its UID and name.
func virtualOf(p *cluster.Pod) (of VirtualPods, virtual bool) {
	if p.Shape == nil || !p.Shape.Virtual {
		return of, false
	}
	of.Kind, _, _ = strings.Cut(p.UID, "/")
	of.Name, _, _ = strings.Cut(p.Name, "/")
	of.Namespace = p.Namespace
	return of, true
}

// PartVirtual moves the virtual pods among those that the launch is for to its Virtual.
func (l *Launch) PartVirtual() {
	l.Virtual = VirtualPodsOf(l.Pods)
	if len(l.Virtual) == 0 {
		return
	}
	l.Pods = slices.DeleteFunc(slices.Clone(l.Pods), func(p cluster.Pod) bool { return p.Shape.Virtual })
	if len(l.Pods) == 0 {
		l.Pods, l.Reason = nil, "capacity is kept for "+VirtualText(l.Virtual)
		return
	}
	l.Reason = WaitText(len(l.Pods)) + ", and capacity is kept for " + VirtualText(l.Virtual)
}

// ForBuffers reports whether the launch is for virtual pods alone.
func (l *Launch) ForVirtual() bool { return len(l.Virtual) > 0 && len(l.Pods) == 0 }
