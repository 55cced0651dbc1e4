package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// sizes draws the amounts of one pod.
type sizes func(r *rand.Rand) pod

// distributions lists what generate can draw; see Distributions.
var distributions = map[string]sizes{
	"plain": func(r *rand.Rand) pod {
		return pod{CPUMilli: choose(r, 100, 250, 500, 1000, 1500), MemMi: choose(r, 100, 256, 512, 1024, 2048, 4096)}
	},
	"uniform":   func(r *rand.Rand) pod { return even(uniform(r, 100, 4000), uniform(r, 128, 8192)) },
	"realistic": realistic,
	"memheavy": func(r *rand.Rand) pod {
		cpu := 250 * math.Exp(0.7*r.NormFloat64())
		return even(cpu, cpu/1000*uniform(r, 8, 16)*1024)
	},
	"cpuheavy": func(r *rand.Rand) pod {
		cpu := clamp(1000*math.Exp(0.8*r.NormFloat64()), 250, 16000)
		return even(cpu, cpu/1000*uniform(r, 0.5, 1.5)*1024)
	},
	"bigmix": func(r *rand.Rand) pod {
		switch u := r.Float64(); {
		case u < 0.90:
			return realistic(r)
		case u < 0.98:
			return even(uniform(r, 4000, 16000), uniform(r, 8, 64)*1024)
		}
		return even(uniform(r, 24000, 48000), uniform(r, 64, 256)*1024)
	},
}

// Distributions names what Generate may be, in order.
func Distributions() []string {
	names := []string{"deploy"}
	for name := range distributions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// generate draws n pods; equal arguments give equal pods.
func generate(name string, n int, seed uint64) ([]pod, error) {
	if n < 1 {
		return nil, fmt.Errorf("pods: want 1 or more, not %d", n)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	switch draw := distributions[name]; {
	case name == "deploy":
		return deployments(r, n), nil
	case name == "deployspread":
		return nil, fmt.Errorf("generate deployspread needs topology spread and anti-affinity, which are not built yet")
	case draw == nil:
		return nil, fmt.Errorf("generate %s is not known: use one of %v", name, Distributions())
	default:
		out := make([]pod, n)
		for i := range out {
			out[i] = draw(r)
		}
		return out, nil
	}
}

// deployments draws groups of 1 to 200 equal pods with realistic, round sizes.
func deployments(r *rand.Rand, n int) []pod {
	var out []pod
	for len(out) < n {
		p := realistic(r)
		p.CPUMilli, p.MemMi = roundUp(p.CPUMilli, 50), roundUp(p.MemMi, 64)
		for range min(1+r.IntN(200), n-len(out)) {
			out = append(out, p)
		}
	}
	return out
}

func realistic(r *rand.Rand) pod {
	a, b := r.NormFloat64(), r.NormFloat64()
	correlated := 0.5*a + math.Sqrt(0.75)*b
	return even(clamp(400*math.Exp(a), 100, 8000), clamp(900*math.Exp(1.2*correlated), 128, 32*1024))
}

// even rounds up to 10 millicores and 16 MiB, as people write requests.
func even(cpuMilli, memMi float64) pod {
	return pod{CPUMilli: roundUp(int64(math.Ceil(cpuMilli)), 10), MemMi: roundUp(int64(math.Ceil(memMi)), 16)}
}

func roundUp(n, step int64) int64 { return (n + step - 1) / step * step }

func clamp(x, low, high float64) float64 { return min(max(x, low), high) }

func uniform(r *rand.Rand, low, high float64) float64 { return low + r.Float64()*(high-low) }

func choose(r *rand.Rand, values ...int64) int64 { return values[r.IntN(len(values))] }
