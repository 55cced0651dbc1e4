package feasibility

import (
	"encoding/binary"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// Alternatives lists what nodes may be for pods of the shape, by their own
// preferences and by where their volumes can be attached: one must hold. None at
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

// Known returns the labels that the instance has or will have whatever it becomes, its host name
// aside.
func (m *InFlight) Known() constraint.Labels {
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
func (m *InFlight) agreed(key string) (string, bool) {
	first := m.may.Next(0)
	if first < 0 {
		return "", false
	}
	c := m.pool.Column(key)
	if c == nil || c.Of[first] < 0 {
		return "", false
	}
	for i := m.may.Next(first + 1); i >= 0; i = m.may.Next(i + 1) {
		if c.Of[i] != c.Of[first] {
			return "", false
		}
	}
	return c.Values[c.Of[first]], true
}

// waysMax is in how many ways an instance may turn out, by labels that instance types do not
// decide, that are listed.
const waysMax = 64

// Ways lists what labels with these keys the instance may turn out to have, the host name aside.
// Open are the keys whose value may be any.
func (m *InFlight) Ways(keys []string) (ways []constraint.Labels, open []string) {
	known := m.Known()
	ways = []constraint.Labels{known}
	if m.pool != nil && m.may.Next(0) >= 0 {
		ways = m.pool.Ways(m.may, known, keys)
	}
	for _, key := range keys {
		if _, decided := known.Get(key); decided || !m.Requirements.Has(key) || m.pool != nil && m.pool.Defines(key) {
			continue
		}
		values, finite := m.Requirements.Get(key).Finite()
		if !finite || len(values)*len(ways) > waysMax {
			open = append(open, key)
			continue
		}
		ways = withEach(ways, key, values)
	}
	return ways, open
}

func withEach(ways []constraint.Labels, key string, values []string) []constraint.Labels {
	var out []constraint.Labels
	for _, w := range ways {
		for _, v := range values {
			out = append(out, w.With(key, v))
		}
	}
	return out
}

// Ways lists what labels with these keys instances have that become one of the options, each once,
// with the known ones.
func (p *Pool) Ways(options bitset.Set, known constraint.Labels, keys []string) []constraint.Labels {
	var own constraint.Labels
	var varied []string
	var columns []*cluster.Column // of varied
	for _, key := range keys {
		if value, ok := known.Get(key); ok {
			own = append(own, constraint.Label{Key: key, Value: value})
		} else if c := p.Column(key); c != nil {
			varied, columns = append(varied, key), append(columns, c)
		}
	}
	var out []constraint.Labels
	seen := map[string]bool{}
	var text []byte
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		text = text[:0]
		for _, c := range columns {
			text = binary.NativeEndian.AppendUint32(text, uint32(c.Of[i]))
		}
		if seen[string(text)] {
			continue
		}
		seen[string(text)] = true
		way := own
		for k, c := range columns {
			if n := c.Of[i]; n >= 0 {
				way = way.With(varied[k], c.Values[n])
			}
		}
		out = append(out, way)
	}
	return out
}
