package scenario

import (
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// rules replaces names in what a shape says about nodes, pods and volumes.
func (r *redactor) rules(s *cluster.Shape) {
	s.Labels = r.podLabels(s.Labels)
	s.VolumeTerms = each(s.VolumeTerms, r.requirements)
	s.Preferences = each(s.Preferences, func(x cluster.Preference) cluster.Preference {
		x.Term = r.requirements(x.Term)
		return x
	})
	s.Spread = each(s.Spread, func(x cluster.Spread) cluster.Spread {
		x.Key, x.Selector = r.key(x.Key), r.selector(x.Selector)
		return x
	})
	s.Neighbours = each(s.Neighbours, r.neighbours)
	s.Ports = each(s.Ports, func(x cluster.Port) cluster.Port {
		x.Address = r.name("address", x.Address)
		return x
	})
	sortPorts(s.Ports)
	s.Volumes = each(s.Volumes, func(v cluster.Volume) cluster.Volume {
		v.Claim = r.volumeClaim(v.Claim)
		return v
	})
	sortVolumes(s.Volumes)
}

func (r *redactor) neighbours(n cluster.Neighbours) cluster.Neighbours {
	n.Key, n.Selector = r.key(n.Key), r.selector(n.Selector)
	n.Namespaces = each(n.Namespaces, func(name string) string { return r.name("namespace", name) })
	slices.Sort(n.Namespaces)
	return n
}

func (r *redactor) volumeClaim(claim string) string {
	namespace, name, found := strings.Cut(claim, "/")
	if !found {
		return r.name("volume", claim)
	}
	return r.name("namespace", namespace) + "/" + r.name("volume", name)
}

// podLabels hides values under any key: app.kubernetes.io/name says more about
// a user than any key of a node.
func (r *redactor) podLabels(l constraint.Labels) constraint.Labels {
	var out constraint.Labels
	for _, x := range l {
		out = out.With(r.key(x.Key), r.name("value", x.Value))
	}
	return out
}

func (r *redactor) selector(s cluster.Selector) cluster.Selector {
	s.Requirements = r.renamed(s.Requirements, func(_, value string) string { return r.name("value", value) })
	return s
}
