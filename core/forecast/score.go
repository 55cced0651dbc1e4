package forecast

import (
	"math"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// The weights of the default profile; least and balanced allocation have 1.
const (
	weightTaints   = 3
	weightAffinity = 2
	weightSpread   = 2
	weightNear     = 2
)

// full is the highest score of a plugin.
const full = 100

// score returns what the profile gives the spots of each crowd for one pod.
func (g *game) score(p *waiter, crowds []*crowd) []int64 {
	total, spots, size := g.total[:0], g.one[:0], 0
	for _, c := range crowds {
		x := c.spots[0]
		total, spots = append(total, least(x, p.kind)+balanced(x, p.kind)), append(spots, x)
		size += len(c.spots)
	}
	g.total, g.one, g.size = total, spots, size
	g.spread(p, spots, total)
	g.near(p, spots, total)
	avoided(p.Shape, g.raw[:0], spots, total)
	wanted(p.Shape, g.raw[:0], spots, total)
	return total
}

// least prefers spots with the largest share free.
func least(x *spot, k *kind) int64 {
	sum := int64(0)
	for d, all := range x.all {
		if used := x.count[d] + k.scored[d]; all > 0 && used <= all {
			sum += (all - used) * full / all
		}
	}
	return sum / 2
}

// balanced prefers spots whose shares of cpu and memory come closer to each
// other.
func balanced(x *spot, k *kind) int64 {
	with := evenness(x.taken[0]+k.need[amount.CPU], x.taken[1]+k.need[amount.Memory], x.all)
	return full/2 + (full/2+with-evenness(x.taken[0], x.taken[1], x.all))/2
}

func evenness(cpu, memory int64, all [2]int64) int64 {
	if all[0] == 0 || all[1] == 0 {
		return full
	}
	a, b := min(1, float64(cpu)/float64(all[0])), min(1, float64(memory)/float64(all[1]))
	return int64(float64(1-float64(math.Abs(a-b)/2)) * full)
}

// spread prefers domains with few pods of the same shape.
func (g *game) spread(p *waiter, spots []*spot, total []int64) {
	softs := p.kind.softs
	if len(softs) == 0 {
		softs = p.defaults
	}
	if len(softs) == 0 {
		return
	}
	raw := g.raw[:0]
	weights := g.weights(softs, spots)
	low, high := int64(math.MaxInt64), int64(0)
	for _, x := range spots {
		sum := 0.0
		for i, s := range softs {
			if n, there := g.count(x, s.counter); there {
				sum += float64(float64(n)*weights[i]) + float64(s.maxSkew-1)
			}
		}
		v := int64(math.Round(sum))
		raw = append(raw, v)
		low, high = min(low, v), max(high, v)
	}
	for i, v := range raw {
		if high == 0 {
			total[i] += weightSpread * full
			continue
		}
		total[i] += weightSpread * (full * (high + low - v) / high)
	}
	g.raw = raw
}

// weights gives keys with many values more weight.
func (g *game) weights(softs []soft, spots []*spot) []float64 {
	out := g.factors[:0]
	for _, s := range softs {
		size := g.size
		if g.world.counters[s.counter].key != cluster.LabelHostname {
			size = g.domains(s.counter, spots)
		}
		out = append(out, g.world.log(size+2))
	}
	g.factors = out
	return out
}

func (g *game) domains(counter int, spots []*spot) int {
	g.mark++
	n := 0
	for _, x := range spots {
		d := g.domain(x, counter)
		if d < 0 {
			continue
		}
		if more := int(d) + 1 - len(g.marked); more > 0 {
			g.marked = append(g.marked, make([]int, more)...)
		}
		if g.marked[d] != g.mark {
			g.marked[d] = g.mark
			n++
		}
	}
	return n
}

// near adds what the pod's own preferred terms about other pods give.
func (g *game) near(p *waiter, spots []*spot, total []int64) {
	if len(p.kind.seconds) == 0 {
		return
	}
	raw := g.raw[:0]
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for _, x := range spots {
		v := int64(0)
		for _, s := range p.kind.seconds {
			if n, there := g.count(x, s.counter); there {
				v += s.weight * n
			}
		}
		raw = append(raw, v)
		low, high = min(low, v), max(high, v)
	}
	for i, v := range raw {
		if high > low {
			total[i] += weightNear * (full * (v - low) / (high - low))
		}
	}
	g.raw = raw
}

// avoided prefers spots with few taints that ask pods to stay away.
func avoided(s *cluster.Shape, raw []int64, spots []*spot, total []int64) {
	high := int64(0)
	for _, x := range spots {
		v := int64(0)
		for _, t := range x.avoid {
			if !tolerated(s, t) {
				v++
			}
		}
		raw = append(raw, v)
		high = max(high, v)
	}
	for i, v := range raw {
		if high > 0 {
			total[i] += weightTaints * (full - full*v/high)
		}
	}
}

func tolerated(s *cluster.Shape, t constraint.Taint) bool {
	for _, have := range s.Tolerations {
		if have.Tolerates(t) {
			return true
		}
	}
	return false
}

// wanted prefers spots with the labels that the pod prefers.
func wanted(s *cluster.Shape, raw []int64, spots []*spot, total []int64) {
	if len(s.Preferences) == 0 {
		return
	}
	high := int64(0)
	for _, x := range spots {
		v := int64(0)
		for i := range s.Preferences {
			if _, ok := s.Preferences[i].Term.Allow(x.node.Labels); ok {
				v += int64(s.Preferences[i].Weight)
			}
		}
		raw = append(raw, v)
		high = max(high, v)
	}
	for i, v := range raw {
		if high > 0 {
			total[i] += weightAffinity * (full * v / high)
		}
	}
}

// log is the natural logarithm of a whole number from 1 on, the same on every
// processor.
func (w *World) log(n int) float64 {
	if len(w.logs) == 0 {
		w.logs = []float64{0, 0}
	}
	for len(w.logs) <= n {
		at := len(w.logs)
		z := 1 / float64(2*at-1) // ln(at/(at-1)) is twice the area tangent of this
		square, term, sum := float64(z*z), z, 0.0
		for k := 1; k < 30; k += 2 {
			sum += term / float64(k)
			term = float64(term * square)
		}
		w.logs = append(w.logs, w.logs[at-1]+float64(2*sum))
	}
	return w.logs[n]
}
