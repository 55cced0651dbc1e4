package plan

import (
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

// On lists the buffers that keep capacity on the node, the instance being launched or the launch of the plan, with
// how much.
func (p *Plan) On(to Destination, target string) []BufferPods {
	var pods []cluster.Pod
	for i := range p.Buffers {
		for _, x := range p.Buffers[i].Places {
			if x.On == to && x.Target == target {
				pods = append(pods, x.Pod)
			}
		}
	}
	return BufferPodsOf(pods)
}

// BufferPods is some virtual pods of one CapacityBuffer.
type BufferPods struct {
	Namespace, Name string
	Pods            int
}

// String prints "3 pods of CapacityBuffer default/web".
func (x BufferPods) String() string {
	return fmt.Sprintf("%s of CapacityBuffer %s/%s", counted(x.Pods, "pod"), x.Namespace, x.Name)
}

// BufferPodsOf counts virtual pods by buffer, sorted; real pods do not count.
func BufferPodsOf(pods []cluster.Pod) []BufferPods {
	var out []BufferPods
	for i := range pods {
		name, virtual := bufferOf(&pods[i])
		if !virtual {
			continue
		}
		of := BufferPods{Namespace: pods[i].Namespace, Name: name}
		at := slices.IndexFunc(out, func(x BufferPods) bool { return x.Namespace == of.Namespace && x.Name == of.Name })
		if at < 0 {
			at = len(out)
			out = append(out, of)
		}
		out[at].Pods++
	}
	slices.SortFunc(out, func(a, b BufferPods) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return out
}

// BufferText prints "3 pods of CapacityBuffer default/web, 1 pod of CapacityBuffer default/batch".
func BufferText(list []BufferPods) string {
	var out []string
	for _, x := range list {
		out = append(out, x.String())
	}
	return strings.Join(out, ", ")
}

func bufferOf(p *cluster.Pod) (name string, virtual bool) {
	if p.Shape == nil || !p.Shape.Virtual {
		return "", false
	}
	name, _, _ = strings.Cut(p.Name, "/")
	return name, true
}

// KeepForBuffers moves the virtual pods among those that the launch is for to its Buffers.
func (l *Launch) KeepForBuffers() {
	l.Buffers = BufferPodsOf(l.Pods)
	if len(l.Buffers) == 0 {
		return
	}
	l.Pods = slices.DeleteFunc(slices.Clone(l.Pods), func(p cluster.Pod) bool { return p.Shape.Virtual })
	if len(l.Pods) == 0 {
		l.Pods, l.Reason = nil, "capacity is kept for "+BufferText(l.Buffers)
		return
	}
	l.Reason = WaitText(len(l.Pods)) + ", and capacity is kept for " + BufferText(l.Buffers)
}

// ForBuffers reports whether the launch is for virtual pods alone.
func (l *Launch) ForBuffers() bool { return len(l.Buffers) > 0 && len(l.Pods) == 0 }
