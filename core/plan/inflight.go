package plan

import "github.com/daemok/daemok/core/cluster"

// InFlight returns the instance being launched that the launch leads to, under this name, and counts it against limits as
// the most that it may become. The lists of pools and quotas must be the snapshot's own. It has no room for pods.
func (l *Launch) InFlight(s *cluster.Snapshot, name string) cluster.Instance {
	m := cluster.Instance{Claim: name, Pool: l.Pool, Labels: l.Labels, Requirements: l.Requirements, Planned: true}
	p, known := s.Pool(l.Pool)
	if !known {
		return m
	}
	m.Labels, m.Taints = p.Labels.Merge(l.Labels), p.Taints
	if p.Catalogue != nil {
		kinds := l.Requirements.Get(cluster.LabelInstanceType)
		for k := range p.Catalogue.InstanceTypes {
			if instanceType := &p.Catalogue.InstanceTypes[k]; kinds.Allows(instanceType.Name) {
				m.Capacity = m.Capacity.Max(instanceType.Capacity)
			}
		}
	}
	s.Charge(&m)
	return m
}

// MayBeSpot reports whether the instance may become a spot instance.
func (l *Launch) MayBeSpot() bool {
	return l.Requirements.Get(cluster.LabelCapacityType).Allows(string(cluster.Spot))
}
