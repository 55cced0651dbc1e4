package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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
	names := []string{"deploy", "deployspread"}
	for name := range distributions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// generate draws n pods, of so many different ones at most where classes are
// given; deployments are classes of their own.
func generate(name string, n, classes int, r *rand.Rand) ([]pod, error) {
	switch draw := distributions[name]; {
	case name == "deploy":
		return deployments(r, n, false), nil
	case name == "deployspread":
		return deployments(r, n, true), nil
	case draw == nil:
		return nil, fmt.Errorf("generate %s is not known: use one of %s", name, strings.Join(Distributions(), ", "))
	default:
		out := make([]pod, n)
		for i := range out {
			if classes > 0 && i >= classes {
				out[i] = out[r.IntN(classes)]
				continue
			}
			out[i] = draw(r)
		}
		return out, nil
	}
}

// deployments draws groups of 1 to 200 equal pods with realistic, round
// sizes, and rules about each other if asked for.
func deployments(r *rand.Rand, n int, rules bool) []pod {
	var out []pod
	for d := 0; len(out) < n; d++ {
		p := rounded(realistic(r))
		p.App = app(fmt.Sprintf("app-%d", d))
		replicas := min(1+r.IntN(200), n-len(out))
		if rules {
			p.ZoneSpread, p.HostAntiAff = rule(r, replicas)
		}
		for range replicas {
			out = append(out, p)
		}
	}
	return out
}

func rounded(p pod) pod {
	p.CPUMilli, p.MemMi = roundUp(p.CPUMilli, 50), roundUp(p.MemMi, 64)
	return p
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
