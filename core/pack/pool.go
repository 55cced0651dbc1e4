package pack

const (
	poolMax  = 8000 // patterns that a search leaves at most
	poolGood = 0.01 // share of its cost that a load may waste to be one of them
)

// pool is the loads of instances that a search comes by. Most are of no use beside the others of
// their answer, but the linear program over patterns finds which of them go together.
type pool struct {
	known map[uint64]bool
	list  []pattern
}

// keep adds the loads that waste little, each once.
func (p *pool) keep(s *solver, instances []instance) {
	if p == nil {
		return
	}
	for i := range instances {
		m := &instances[i]
		s.steps++
		if m.waste > poolGood || len(p.list) >= poolMax || i > 0 && &m.parts[0] == &instances[i-1].parts[0] {
			continue
		}
		key := m.key()
		s.steps += int64(len(m.parts))
		if p.known[key] {
			continue
		}
		p.known[key] = true
		p.list = append(p.list, pattern{m.offering, m.parts, s.offerings[m.offering].cost})
	}
}

// key is the same for equal loads, in whatever order their pods joined, and
// nearly never for others.
func (m *instance) key() uint64 {
	c := chance(m.offering)
	sum := c.next()
	for _, p := range m.parts {
		c := chance(uint64(p.group)<<32 + uint64(p.n))
		sum += c.next()
	}
	return sum
}
