package plan

import "fmt"

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
