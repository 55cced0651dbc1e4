package cluster

import "fmt"

// Buffer keeps capacity free for pods that may come: a CapacityBuffer. Its pods are virtual: plans find places for
// them after all others, and nothing ever writes them.
type Buffer struct {
	Namespace, Name string
	Shape           *Shape // of its pods, as if they were real ones; nil: it is not known, and NotReady says why
	Pods            int64  // that capacity is kept for
	NotReady        string // why it is not known for which pods it keeps capacity; it keeps none then. Empty: it is
}

// BufferPodsMax is for how many pods of one buffer a plan keeps capacity at most, so that a wrong number does not
// occupy the planner.
const BufferPodsMax = 5000

// String prints "CapacityBuffer default/web".
func (b *Buffer) String() string { return "CapacityBuffer " + b.Namespace + "/" + b.Name }

// Virtual returns the pods that places are sought for, BufferPodsMax at most, as pods that wait. They have one
// shape of their own, and names that no real pod can have. Whatever protects real pods does not protect them.
func (b *Buffer) Virtual() []Pod {
	if b.NotReady != "" || b.Shape == nil {
		return nil
	}
	shape := *b.Shape
	shape.Virtual = true
	out := make([]Pod, min(max(0, b.Pods), BufferPodsMax))
	for i := range out {
		name := fmt.Sprintf("%s/%d", b.Name, i)
		uid := "CapacityBuffer/" + b.Namespace + "/" + name
		out[i] = Pod{Namespace: b.Namespace, Name: name, UID: uid, Shape: &shape, Returns: true}
	}
	return out
}
