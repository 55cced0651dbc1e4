package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
)

// Buffer is where a plan keeps the capacity of a CapacityBuffer.
type Buffer struct {
	Namespace, Name string
	Want            int64       // pods that it keeps capacity for
	Places          []Placement // of its virtual pods
	Missing         int64       // pods that no place was found for
	Reasons         []Reason    // why, as of pods without a place
	NotReady        string      // why it keeps no capacity; see cluster.Buffer
}

// String prints "CapacityBuffer default/web: all 3 virtual pods fit on existing capacity".
func (b *Buffer) String() string {
	name := fmt.Sprintf("CapacityBuffer %s/%s: ", b.Namespace, b.Name)
	switch fit := b.Fits(); {
	case b.NotReady != "":
		return name + "not ready: " + b.NotReady
	case b.Want == 0:
		return name + "no virtual pods"
	case fit == 1 && b.Want == 1:
		return name + "its virtual pod fits on existing capacity"
	case fit == b.Want:
		return fmt.Sprintf("%sall %s fit on existing capacity", name, counted(int(b.Want), "virtual pod"))
	case b.Missing > 0:
		return fmt.Sprintf("%s%d of %s fit on existing capacity, %d on instances to come, and %d nowhere: %s",
			name, fit, counted(int(b.Want), "virtual pod"), b.Want-fit-b.Missing, b.Missing, b.Why())
	default:
		return fmt.Sprintf("%s%d of %s fit on existing capacity, and %d on instances to come", name, fit,
			counted(int(b.Want), "virtual pod"), b.Want-fit)
	}
}

// Lacks says how much of the capacity cannot be had: "lacks capacity for 2 of 3 virtual pods".
func (b *Buffer) Lacks() string {
	return fmt.Sprintf("lacks capacity for %d of %s", b.Missing, counted(int(b.Want), "virtual pod"))
}

// Fits counts the pods that have room on nodes that are there.
func (b *Buffer) Fits() int64 {
	n := int64(0)
	for i := range b.Places {
		if b.Places[i].On == OnNode {
			n++
		}
	}
	return n
}

// Why gives the reasons in one line of 1 KiB at most.
func (b *Buffer) Why() string { return Unplaced{Reasons: b.Reasons}.Why() }

// Requested is what becomes of a ProvisioningRequest: all of its pods have places or none has.
type Requested struct {
	Namespace, Name string
	Want            int64       // pods that it asks for and that have not come
	Booked          bool        // it has its capacity, which is kept; else it seeks it
	Places          []Placement // of its virtual pods
	Starting        int64       // of these, on instances whose launch is not known to have succeeded
	Missing         int64       // pods that no place was found for; the others have none either, unless it is Booked
	Reasons         []Reason    // why, as of pods without a place
	Waits           string      // why its capacity is neither kept nor sought; empty: it is
}

// String prints "ProvisioningRequest default/train: all 3 pods fit".
func (r *Requested) String() string {
	name, pods := fmt.Sprintf("%s %s/%s: ", KindRequest, r.Namespace, r.Name), counted(int(r.Want), "pod")
	switch {
	case r.Waits != "":
		return name + r.Waits
	case r.Booked && r.Want == 0:
		return name + "all its pods have come"
	case r.Booked && r.Missing > 0:
		return fmt.Sprintf("%scapacity for %d of %s is lost: %s", name, r.Missing, pods, r.Why())
	case r.Booked:
		return name + "capacity is kept for " + pods
	case r.Missing > 0:
		return fmt.Sprintf("%sno capacity for %d of %s, so none is taken: %s", name, r.Missing, pods, r.Why())
	case r.Starting > 0:
		return fmt.Sprintf("%scapacity for %s, %d of them on instances to be launched", name, pods, r.Starting)
	default:
		return name + "capacity for " + pods
	}
}

// Lacks says how much capacity there is not: "has no capacity for 2 of 3 pods".
func (r *Requested) Lacks() string {
	return fmt.Sprintf("has no capacity for %d of %s", r.Missing, counted(int(r.Want), "pod"))
}

// Why gives the reasons in one line of 1 KiB at most.
func (r *Requested) Why() string { return Unplaced{Reasons: r.Reasons}.Why() }

// Found reports whether the request, which sought capacity, has it for all its pods now, on nodes and on instances that
// were launched.
func (r *Requested) Found() bool {
	return r.Waits == "" && !r.Booked && r.Missing == 0 && r.Starting == 0
}

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

// ForVirtual reports whether the launch is for virtual pods alone.
func (l *Launch) ForVirtual() bool { return len(l.Virtual) > 0 && len(l.Pods) == 0 }
