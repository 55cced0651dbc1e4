package ec2data

// MemoryKeptMost is the share of a type's memory that hypervisor and kernel are taken to
// keep where nothing better is known: Karpenter's default for vm-memory-overhead-percent.
const MemoryKeptMost = 0.075

// memoryKept are the shares that types from a size on are taken to keep, largest first. AWS
// publishes none. Users who measured their instances report 1.7 to 5.3 % (public reports of
// flat 7.5 % leaving types 20 to 37 GiB smaller than they are, which is so from some 350
// GiB on); of smaller ones some keep more than 7.5 %, since part of what is kept does not
// grow with the instance. Each share is the most that is known of its sizes, so that a pod
// that was planned for has room.
var memoryKept = []struct {
	fromMiB int64
	share   float64
}{
	{384 << 10, 0.053},
	{0, MemoryKeptMost},
}

// MemoryKept is the share of the memory of a type of so many MiB that its hypervisor and
// kernel are taken to keep, between 0 and 1, where no instance of it was seen.
func MemoryKept(typeMiB int64) float64 {
	for _, row := range memoryKept {
		if typeMiB >= row.fromMiB {
			return row.share
		}
	}
	return MemoryKeptMost
}
