package feasibility

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// InFlight answers for one instance being launched. What it will be may still be open: a pod fits
// only if it fits whatever the instance becomes.
type InFlight struct {
	*cluster.Instance
	Free  quantity.Resources // allocatable less daemon pods, before any pod is placed
	Ports []cluster.Port     // of the host, that daemon pods may take
	Pods  []*cluster.Shape   // daemon pods that may come
	pool  *Pool              // nil where the pool is gone
	may   bitset.Set         // the options it may become
}

// ForInstance prepares the answers for an instance; pool may be nil. One that is launched is what it
// is, whatever its pool may launch now.
func ForInstance(m *cluster.Instance, pool *Pool, daemons []cluster.Daemon) *InFlight {
	out := &InFlight{Instance: m, Free: m.Allocatable}
	if pool != nil {
		out = ForOptions(m, pool, pool.become(m))
	}
	if m.Launched {
		out.expect(daemons)
	}
	return out
}

// expect decides which daemon pods come to an instance that is launched.
func (m *InFlight) expect(daemons []cluster.Daemon) {
	m.Free, m.Ports, m.Pods = m.Allocatable, nil, nil
	for i := range daemons {
		if s := daemons[i].Shape; m.brings(s, m.Known()) {
			m.Free, m.Ports, m.Pods = m.Free.Sub(s.Requests), append(m.Ports, s.Ports...), append(m.Pods, s)
		}
	}
}

// Brings reports whether a pod of the daemon may come to the instance, and whether it does whatever
// the instance becomes.
func (m *InFlight) Brings(s *cluster.Shape) (may, sure bool) {
	if !slices.Contains(m.Pods, s) {
		return false, false
	}
	if m.Launched || m.pool == nil {
		return true, true
	}
	return m.pool.Brings(s, m.may)
}

// brings reports whether a daemon pod comes to an instance with the labels.
func (m *InFlight) brings(s *cluster.Shape, labels constraint.Labels) bool {
	return untolerated(m.Taints, s.Tolerations).OK() && anyTerm(s.NodeTerms, func(term constraint.Requirements) Reason {
		for _, r := range term {
			if why := wants("instance", r, labels); !assumed(r) && !why.OK() {
				return why
			}
		}
		return Reason{}
	}).OK()
}

// ForOptions is ForInstance where it is known which of the pool's options the instance may become.
// They are shared and not to be written.
func ForOptions(m *cluster.Instance, pool *Pool, may bitset.Set) *InFlight {
	out := &InFlight{Instance: m, Free: m.Allocatable, pool: pool, may: may}
	var daemons quantity.Resources
	for i := out.may.Next(0); i >= 0; i = out.may.Next(i + 1) {
		kind := &pool.Kinds[pool.Options[i].Kind]
		daemons = daemons.Max(kind.Daemons)
		out.Ports, out.Pods = union(out.Ports, kind.Ports), union(out.Pods, kind.Pods)
	}
	out.Free = m.Allocatable.Sub(daemons)
	return out
}

// Admits reports whether pods of the shape may run on the instance, resources aside.
func (m *InFlight) Admits(s *cluster.Shape) Reason {
	if r := unable(s.Unable); !r.OK() {
		return r
	}
	if m.Deleting {
		return Reason{Deleting, "", "instance is being deleted"}
	}
	if r := untolerated(m.Taints, s.Tolerations); !r.OK() {
		return r
	}
	alternatives := Alternatives(s)
	why := anyTerm(alternatives, m.term)
	if !why.OK() && len(alternatives) > 1 && m.always(alternatives) {
		return Reason{}
	}
	return why
}

// always reports whether the instance meets one of the alternatives whichever option it becomes,
// although perhaps not always the same one.
func (m *InFlight) always(alternatives []constraint.Requirements) bool {
	if m.pool == nil || m.may.Next(0) < 0 {
		return false
	}
	for i := m.may.Next(0); i >= 0; i = m.may.Next(i + 1) {
		o := m.pool.Options[i]
		if !slices.ContainsFunc(alternatives, func(t constraint.Requirements) bool { return m.meetsAs(o, t) }) {
			return false
		}
	}
	return true
}

func (m *InFlight) meetsAs(o Option, term constraint.Requirements) bool {
	return !slices.ContainsFunc(term, func(r constraint.Requirement) bool {
		if _, known := m.Labels.Get(r.Key); !known && m.pool.Defines(r.Key) {
			return !m.pool.meets(o, r)
		}
		return !m.wants(r).OK()
	})
}

func (m *InFlight) term(term constraint.Requirements) Reason {
	for _, r := range term {
		if why := m.wants(r); !why.OK() {
			return why
		}
	}
	return Reason{}
}

// wants judges by the instance's labels, else by every option it may become, else by what its
// requirements leave open.
func (m *InFlight) wants(r constraint.Requirement) Reason {
	if _, known := m.Labels.Get(r.Key); known {
		return wants("instance", r, m.Labels)
	}
	if r.Key == cluster.LabelHostname {
		return newHostname(r)
	}
	if r.Key == labelRegistered || r.Key == labelInitialized {
		return wants("instance", r, constraint.Labels{{Key: r.Key, Value: "true"}})
	}
	if m.pool != nil && m.pool.Defines(r.Key) && m.may.Next(0) >= 0 {
		return m.everyOption(r)
	}
	open := m.Requirements.Get(r.Key)
	if !m.Requirements.Has(r.Key) {
		return wants("instance", r, m.Labels)
	}
	if r.Set.Covers(open) {
		return Reason{}
	}
	return Reason{Label, r.Key, "instance label " + r.Key + " may be " + open.String() + ", want " + r.Set.String()}
}

func (m *InFlight) everyOption(r constraint.Requirement) Reason {
	for i := m.may.Next(0); i >= 0; i = m.may.Next(i + 1) {
		if o := m.pool.Options[i]; !m.pool.meets(o, r) {
			value, _ := m.pool.Label(o, r.Key)
			return Reason{Label, r.Key, "instance label " + r.Key + " may be " + quoted(value) + ", want " + r.Set.String()}
		}
	}
	return Reason{}
}

// become returns the options that the instance may still turn out to be, by its labels and
// requirements.
func (p *Pool) become(m *cluster.Instance) bitset.Set {
	out := p.open(func(l constraint.Label) bool {
		value, labelled := m.Labels.Get(l.Key)
		return labelled && value != l.Value || !m.Requirements.Get(l.Key).Allows(l.Value)
	}).Clone()
	for _, r := range m.Requirements {
		if p.Defines(r.Key) {
			out.And(p.Matching(r))
		}
	}
	for _, l := range m.Labels {
		if p.Defines(l.Key) {
			out.And(p.Matching(constraint.Requirement{Key: l.Key, Set: constraint.Values(l.Value)}))
		}
	}
	return out
}

func union[T comparable](list, more []T) []T {
	for _, x := range more {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}
