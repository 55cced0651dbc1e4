package offering

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// Identity is what the cloud says of an instance that says which offering it is.
type Identity struct {
	Type, Zone   string
	CapacityType cluster.Option
	Reservation  string // empty: in none
	Partition    string // of a placement group; empty: in none, or not known
	Dedicated    bool
}

// Of finds the type and the offering that an instance was launched as; known is false where the catalogue does not have
// its type. An offering that is not in the catalogue has zone and capacity type alone.
func Of(c *cluster.Catalogue, i Identity) (of cluster.InstanceType, as cluster.Offering, known bool) {
	for _, k := range c.InstanceTypes {
		if k.Name != i.Type {
			continue
		}
		for _, o := range k.Offerings {
			if o.Zone == i.Zone && o.Option == i.CapacityType && o.Reservation() == i.Reservation && isDedicated(&o) == i.Dedicated {
				return k, inPartition(o, i.Partition), true
			}
		}
		return k, cluster.Offering{Zone: i.Zone, Option: i.CapacityType}, true
	}
	return cluster.InstanceType{}, cluster.Offering{}, false
}

// inPartition is the offering with the label of the partition that an instance is in, and
// without one while that is not known.
func inPartition(o cluster.Offering, partition string) cluster.Offering {
	if _, partitioned := o.Labels.Get(labelPartition); !partitioned {
		return o
	}
	labels := o.Labels.Map()
	delete(labels, labelPartition)
	if partition != "" {
		labels[labelPartition] = partition
	}
	o.Labels = constraint.NewLabels(labels)
	return o
}
