package cluster

import (
	"fmt"
	"strconv"

	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// LabelMemory is the memory of an instance type as it is offered, in MiB.
const LabelMemory = "karpenter.k8s.aws/instance-memory"

// Floor is the least size of a pool's instances.
type Floor struct {
	Size constraint.Requirements // bounds on labels of instance types: no smaller instance type is ever launched
	Room Room                    // gives way where no instance type that keeps it will do
}

// Room is what is to be left of an instance's memory to pods that wait, beside the system and
// daemon pods. The zero value asks for nothing.
type Room struct {
	Memory quantity.Bytes // at least so much is left
	System int64          // at most so many hundredths go to the system and daemon pods; 0 and 100: no matter how many
}

// UsualRoom is what is left on instances of pools that do not say.
func UsualRoom() Room { return Room{Memory: quantity.GiB, System: 25} }

// Keeps reports whether an instance of the type keeps the room with so much memory left to pods.
func (r Room) Keeps(instanceType *InstanceType, left quantity.Bytes) bool {
	memory := int64(instanceType.Memory())
	system := quantity.Difference(memory, int64(left))
	return left >= r.Memory && (r.System == 0 || quantity.Product(system, 100) <= quantity.Product(memory, r.System))
}

// Memory is what an instance of the type is offered with, of which the hypervisor keeps a part.
func (k *InstanceType) Memory() quantity.Bytes {
	text, _ := k.Labels.Get(LabelMemory)
	if offered, err := strconv.ParseInt(text, 10, 64); err == nil {
		return max(k.Capacity.Memory, quantity.Bytes(quantity.Product(offered, int64(quantity.MiB))))
	}
	return k.Capacity.Memory
}

// String says what is to be left.
func (r Room) String() string {
	text := fmt.Sprintf("%s of memory", r.Memory)
	if r.System > 0 {
		text += fmt.Sprintf(" and %d %% of it", 100-r.System)
	}
	return text
}
