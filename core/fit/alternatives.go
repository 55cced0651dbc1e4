package fit

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// Alternatives lists what nodes may be for pods of the shape, by their own
// wishes and by where their volumes can be attached: one must hold. None at
// all means any node.
func Alternatives(s *cluster.Shape) []constraint.Requirements {
	return Cross(s.NodeTerms, s.VolumeTerms)
}

// Cross combines two lists of alternatives of which one each must hold.
// Combinations that contradict themselves are left out, unless all do: then
// the first stays, for the reasons that it gives. An empty list asks nothing.
func Cross(a, b []constraint.Requirements) []constraint.Requirements {
	if len(b) == 0 {
		return a
	}
	if len(a) == 0 {
		return b
	}
	var out []constraint.Requirements
	for _, x := range a {
		for _, y := range b {
			if _, conflict := x.Conflict(y); !conflict {
				out = append(out, x.AndAll(y))
			}
		}
	}
	if len(out) == 0 {
		out = append(out, a[0].AndAll(b[0]))
	}
	return out
}

// Known returns the labels that the machine has or will have whatever it
// becomes, its host name aside.
func (m *Ordered) Known() constraint.Labels {
	out := m.Labels
	add := func(key, value string) {
		if _, known := out.Get(key); !known {
			out = out.With(key, value)
		}
	}
	for _, r := range m.Requirements {
		if values, finite := r.Set.Finite(); finite && len(values) == 1 && !r.Set.AllowsAbsent() {
			add(r.Key, values[0])
		}
	}
	if m.pool == nil {
		return out
	}
	for _, l := range m.pool.Labels {
		add(l.Key, l.Value)
	}
	for _, key := range m.pool.defined {
		if value, ok := m.agreed(key); ok {
			add(key, value)
		}
	}
	return out
}

// agreed returns the value of a label that all options share.
func (m *Ordered) agreed(key string) (string, bool) {
	first := m.may.Next(0)
	if first < 0 {
		return "", false
	}
	value, ok := m.pool.Label(m.pool.Options[first], key)
	for i := m.may.Next(first + 1); ok && i >= 0; i = m.may.Next(i + 1) {
		v, present := m.pool.Label(m.pool.Options[i], key)
		ok = present && v == value
	}
	return value, ok
}

// Open reports whether the machine may get a label with this key when it is
// there.
func (m *Ordered) Open(key string) bool {
	return m.Requirements.Has(key) || m.pool != nil && m.pool.Defines(key) && m.may.Next(0) >= 0
}

// Values lists what a label with this key may turn out to be, sorted, as far
// as that can be listed.
func (m *Ordered) Values(key string) []string {
	if m.pool == nil || !m.pool.Defines(key) {
		values, _ := m.Requirements.Get(key).Finite()
		return values
	}
	var out []string
	for i := m.may.Next(0); i >= 0; i = m.may.Next(i + 1) {
		if value, ok := m.pool.Label(m.pool.Options[i], key); ok && !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	slices.Sort(out)
	return out
}
