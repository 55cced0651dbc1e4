package decide

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/pack"
	"github.com/daemok/daemok/core/provisioning"
)

// robust is how a plan is made ready for pods that do not go where it wants them: instances are
// chosen that suit the mix of all pods together, so that it matters little which of them come to
// which. Instances for pods with much memory alone strand their memory once others fill their
// cores. Where some pods must be in certain zones, those that need not are divided among the zones,
// since they would else take the room of the former. Pods that no such instance can have are
// launched for as usual.
type robust struct {
	band  float64 // by what share an instance may cost more for an even part of all pods than the cheapest
	least int     // how many instances are to share all pods at least; 0: any number
}

const (
	evenBand = 0.02            // types that suit the mix about as well as the best
	anyBand  = math.MaxFloat32 // any type
)

// kept is the share of an instance's room that a cheaper type must have to be launched instead of
// it.
const kept = 0.97

// robustPacker chooses as its packer would from what makes a plan robust.
type robustPacker struct {
	robust
	packer provisioning.Packer
}

func (x robustPacker) Pack(b pack.Batch) []pack.Instance {
	groups, from := divide(&b, x.even(&b))
	b.Groups = groups
	out := x.packer.Pack(b)
	for i := range out {
		m := &out[i]
		m.Room = roomOf(b.Offerings[m.Offering].Free)
		for j := range m.Parts {
			m.Parts[j].Group = from[m.Parts[j].Group]
		}
	}
	return out
}

// roomOf keeps the cpu and memory of an instance for its pods.
func roomOf(free []int64) []int64 {
	out := make([]int64, len(free))
	for d := range min(2, len(out)) {
		out[d] = int64(float64(kept * float64(free[d])))
	}
	return out
}

// even returns by group the offerings that suit the mix of all groups which ask for the same rare
// resources, such as GPUs: a group that asks for none needs no instance with them.
func (x robust) even(b *pack.Batch) []bitset.Set {
	out := make([]bitset.Set, len(b.Groups))
	rare := rareOf(b)
	of := func(group int) string {
		var asks []byte
		for _, d := range rare {
			asks = append(asks, byte(min(1, b.Groups[group].Need[d])))
		}
		return string(asks)
	}
	mixes := map[string][]float64{}
	for i := range b.Groups {
		if mixes[of(i)] == nil {
			mixes[of(i)] = make([]float64, len(b.Groups[i].Need))
		}
		for d, v := range b.Groups[i].Need {
			mixes[of(i)][d] += float64(float64(v) * float64(b.Groups[i].Count))
		}
	}
	suit := map[string]bitset.Set{}
	for mix, all := range mixes {
		suit[mix] = x.suiting(b, all)
	}
	for i := range b.Groups {
		out[i] = suit[of(i)]
	}
	return out
}

// rareOf lists the resources that some offerings have none of.
func rareOf(b *pack.Batch) []int {
	var out []int
	for d := range b.Groups[0].Need {
		if slices.ContainsFunc(b.Offerings, func(o pack.Offering) bool { return o.Free[d] <= 0 }) {
			out = append(out, d)
		}
	}
	return out
}

// suiting returns the offerings that suit the mix.
func (x robust) suiting(b *pack.Batch, all []float64) bitset.Set {
	parts, least := make([]float64, len(b.Offerings)), math.Inf(1)
	for i := range b.Offerings {
		parts[i] = part(b.Offerings[i].Free, all)
		least = min(least, b.Offerings[i].Cost/parts[i])
	}
	out := bitset.New(len(b.Offerings))
	for i := range b.Offerings {
		if b.Offerings[i].Cost/parts[i] <= float64(least*(1+x.band)) && float64(parts[i]*float64(x.least)) <= 1 {
			out.Add(i)
		}
	}
	return out
}

// part is which part of all pods an instance holds if it gets as much of each resource.
func part(free []int64, all []float64) float64 {
	out := math.Inf(1)
	for d, v := range all {
		if v > 0 {
			out = min(out, float64(free[d])/v)
		}
	}
	return out
}

// divide leaves each group the even offerings, where one of these holds a pod. If some groups may
// be in fewer zones than others, these are divided by zone. It returns of each new group which one
// it was.
func divide(b *pack.Batch, even []bitset.Set) (groups []pack.Group, from []int) {
	zones := make([][]string, len(b.Groups))
	fewest, most := math.MaxInt, 0
	narrowed := slices.Clone(b.Groups)
	for i := range narrowed {
		offerings := narrowed[i].Offerings.Clone()
		offerings.And(even[i])
		if holds(offerings, b, narrowed[i].Need) {
			narrowed[i].Offerings = offerings
		}
		zones[i] = zonesOf(narrowed[i].Offerings, b)
		fewest, most = min(fewest, len(zones[i])), max(most, len(zones[i]))
	}
	turn := 0
	for i, group := range narrowed {
		if fewest == most || len(zones[i]) < 2 {
			groups, from = append(groups, group), append(from, i)
			continue
		}
		n := int64(len(zones[i]))
		for k := range zones[i] {
			share := group
			share.Count = group.Count / n
			if int64(k) < group.Count%n {
				share.Count++
			}
			share.Offerings = inZone(group.Offerings, b, zones[i][(k+turn)%len(zones[i])])
			if share.Count > 0 {
				groups, from = append(groups, share), append(from, i)
			}
		}
		turn += int(group.Count % n)
	}
	return groups, from
}

func zonesOf(offerings bitset.Set, b *pack.Batch) []string {
	var out []string
	for i := offerings.Next(0); i >= 0; i = offerings.Next(i + 1) {
		if !slices.Contains(out, b.Offerings[i].Zone) {
			out = append(out, b.Offerings[i].Zone)
		}
	}
	slices.Sort(out)
	return out
}

func inZone(offerings bitset.Set, b *pack.Batch, zone string) bitset.Set {
	out := offerings.Clone()
	for i := out.Next(0); i >= 0; i = out.Next(i + 1) {
		if b.Offerings[i].Zone != zone {
			out.Remove(i)
		}
	}
	return out
}

func holds(offerings bitset.Set, b *pack.Batch, need []int64) bool {
	for i := offerings.Next(0); i >= 0; i = offerings.Next(i + 1) {
		fits := true
		for d, v := range need {
			fits = fits && (v == 0 || v <= b.Offerings[i].Free[d])
		}
		if fits {
			return true
		}
	}
	return false
}
