package cluster

import "github.com/daemok/daemok/core/constraint"

// labelManagedOption is the capacity type of a node of an EKS managed node group, which has no LabelCapacityType.
const (
	labelManagedOption = "eks.amazonaws.com/capacityType"
	managedOnDemand    = "ON_DEMAND"
	managedSpot        = "SPOT"
)

// OptionOf is the capacity type of a node with these labels, of a NodePool or of a managed node group; empty: they do
// not say it.
func OptionOf(labels constraint.Labels) Option {
	if option, known := labels.Get(LabelCapacityType); known {
		return Option(option)
	}
	switch managed, _ := labels.Get(labelManagedOption); managed {
	case managedOnDemand:
		return OnDemand
	case managedSpot:
		return Spot
	}
	return ""
}

// IsSpot reports whether the node is not known to be on demand or reserved.
func (n *Node) IsSpot() bool {
	option := OptionOf(n.Labels)
	return option != OnDemand && option != Reserved
}

// MayBeSpot reports whether the instance is a spot instance or may become one.
func (m *Instance) MayBeSpot() bool {
	if option, known := m.Labels.Get(LabelCapacityType); known {
		return option != string(OnDemand) && option != string(Reserved)
	}
	return m.Requirements.Get(LabelCapacityType).Allows(string(Spot))
}

// OnDemandTerms are the alternatives of labels that nodes have which are on demand or reserved. That of managed node
// groups is among them only where the snapshot has such a node, and is met by no node of a NodePool: these have
// LabelCapacityType. Cost: linear in nodes.
func (s *Snapshot) OnDemandTerms() []constraint.Requirements {
	option := func(set constraint.Set) constraint.Requirement {
		return constraint.Requirement{Key: LabelCapacityType, Set: set}
	}
	out := []constraint.Requirements{
		constraint.NewRequirements(option(constraint.Values(string(OnDemand), string(Reserved))))}
	for i := range s.Nodes {
		if _, own := s.Nodes[i].Labels.Get(LabelCapacityType); !own && !s.Nodes[i].IsSpot() {
			return append(out, constraint.NewRequirements(option(constraint.Absent()),
				constraint.Requirement{Key: labelManagedOption, Set: constraint.Values(managedOnDemand)}))
		}
	}
	return out
}
