package main

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/daemok/daemok/cloud/aws/ec2data"
)

// predecessors names, for families newer than any published price, the
// families whose prices stand in, best first. Families not named have only
// themselves: another size, or another region.
var predecessors = map[string][]string{
	"c8a": {"c7a"}, "c8gb": {"c7gn"}, "c8gn": {"c7gn"}, "c8i": {"c7i"}, "c8i-flex": {"c7i-flex"},
	"c8ib": {"c6in"}, "c8id": {"c6id"}, "c8in": {"c6in"}, "c8ine": {"c6in"},
	"dl2q": {"inf2"}, "g6f": {"g6"}, "gr6f": {"gr6"}, "g7e": {"g6e"},
	"hpc8a": {"hpc7a"}, "i7i": {"i4i"}, "i8ge": {"i7ie"},
	"m8a": {"m7a"}, "m8azn": {"m5zn"}, "m8gb": {"m6in"}, "m8gn": {"m6in"}, "m8i": {"m7i"}, "m8i-flex": {"m7i-flex"},
	"m8ib": {"m6in"}, "m8id": {"m6id"}, "m8in": {"m6in"}, "m8ine": {"m6in"},
	"p5e": {"p5en"}, "p6-b200": {"p5en"}, "p6-b300": {"p5en"},
	"r8a": {"r7a"}, "r8gb": {"r6in"}, "r8gn": {"r6in"}, "r8i": {"r7i"}, "r8i-flex": {"r7i"},
	"r8ib": {"r6in"}, "r8id": {"r6id"}, "r8in": {"r6in"},
	"x8aedz": {"x2iezn"}, "x8i": {"x2idn"},
}

// home is the region with the most published prices.
const home = "us-east-1"

// yardstick is a type that every region offers and prices: what it costs there
// relative to home carries a price from one region to another.
const yardstick = "m5.large"

// estimate adds an on-demand price, marked as estimated, wherever a type is
// offered without one: its own price elsewhere, else that of its predecessor
// family. Types that only dedicated hosts run (mac) stay without.
func estimate(data *ec2data.Data) {
	families := map[string][]*ec2data.Type{}
	for i := range data.Types {
		families[data.Types[i].Family] = append(families[data.Types[i].Family], &data.Types[i])
	}
	measure, _ := data.Type(yardstick)
	for i := range data.Types {
		t := &data.Types[i]
		for _, region := range slices.Sorted(maps.Keys(t.Zones)) {
			if _, _, ok := t.OnDemandUSD(region); ok || strings.HasPrefix(t.Family, "mac") {
				continue
			}
			if price, ok := guess(t, region, families, measure); ok {
				if t.OnDemandEstimate == nil {
					t.OnDemandEstimate = map[string]float64{}
				}
				t.OnDemandEstimate[region] = math.Round(price*1e5) / 1e5
			}
		}
	}
}

// guess derives one price. It reads published prices alone, never another guess.
func guess(t *ec2data.Type, region string, families map[string][]*ec2data.Type, measure *ec2data.Type) (float64, bool) {
	if price, ok := elsewhere(t, region, measure); ok {
		return price, true
	}
	for _, family := range append(slices.Clone(predecessors[t.Family]), t.Family) {
		if like, scale := nearest(t, families[family]); like != nil {
			price, ok := elsewhere(like, region, measure)
			return price * scale, ok
		}
	}
	return 0, false
}

// elsewhere returns a type's published price in the region, or carries it
// over from home or the first region by name that has one.
func elsewhere(t *ec2data.Type, region string, measure *ec2data.Type) (float64, bool) {
	if price, ok := t.OnDemand[region]; ok {
		return price, true
	}
	for _, from := range append([]string{home}, slices.Sorted(maps.Keys(t.OnDemand))...) {
		price, ok := t.OnDemand[from]
		if ok && measure.OnDemand[from] > 0 && measure.OnDemand[region] > 0 {
			return price * measure.OnDemand[region] / measure.OnDemand[from], true
		}
	}
	return 0, false
}

// nearest picks the priced type of a family that stands in for t, and the
// factor between them: the same size as it is, else the largest by work done.
func nearest(t *ec2data.Type, family []*ec2data.Type) (*ec2data.Type, float64) {
	var best *ec2data.Type
	for _, x := range family {
		switch {
		case len(x.OnDemand) == 0:
		case x.Size == t.Size && x.VCPUs == t.VCPUs:
			return x, 1
		case best == nil || x.VCPUs > best.VCPUs:
			best = x
		}
	}
	if best == nil {
		return nil, 0
	}
	if a, b := processors(t), processors(best); a > 0 && b > 0 {
		return best, a / b
	}
	return best, float64(t.VCPUs) / float64(best.VCPUs)
}

// processors counts GPUs and accelerators: what such an instance is launched for.
func processors(t *ec2data.Type) float64 {
	n := 0.0
	for _, g := range t.GPUs {
		n += float64(g.Count) + g.Share
	}
	for _, a := range t.Accelerators {
		if a.Kind == "neuron" {
			return float64(a.Count)
		}
		n += float64(a.Count)
	}
	return n
}
