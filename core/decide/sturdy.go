package decide

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/place"
)

// sturdy is how a plan is made ready for pods that do not go where it wants
// them: machines are chosen that suit the mix of all pods together, so that it
// matters little which of them come to which. Machines for pods with much memory
// alone strand their memory once others fill their cores. Where some pods must
// be in certain zones, those that need not are divided among the zones, since
// they would else take the room of the former. Pods that no such machine can
// have are bought for as usual.
type sturdy struct {
	band  float64 // by what share a machine may cost more for an even part of all pods than the cheapest
	least int     // how many machines are to share all pods at least; 0: any number
}

const (
	evenBand = 0.02            // types that suit the mix about as well as the best
	anyBand  = math.MaxFloat32 // any type
)

// kept is the share of a machine's room that a cheaper type must have to be
// bought instead of it.
const kept = 0.97

// of lets a packer choose so.
func (x sturdy) of(packer place.Packer) place.Packer {
	return func(b place.Batch) []place.BatchMachine {
		rows, from := divide(&b, x.even(&b))
		b.Rows = rows
		out := packer(b)
		for i := range out {
			m := &out[i]
			m.Room = roomOf(b.Offers[m.Offer].Free)
			for j := range m.Parts {
				m.Parts[j].Row = from[m.Parts[j].Row]
			}
		}
		return out
	}
}

// roomOf keeps the cpu and memory of a machine for its pods.
func roomOf(free []int64) []int64 {
	out := make([]int64, len(free))
	for d := range min(2, len(out)) {
		out[d] = int64(float64(kept * float64(free[d])))
	}
	return out
}

// even returns by row the offers that suit the mix of all rows which ask for the
// same rare resources, such as GPUs: who asks for none needs no machine with them.
func (x sturdy) even(b *place.Batch) []bitset.Set {
	out := make([]bitset.Set, len(b.Rows))
	rare := rareOf(b)
	of := func(row int) string {
		var asks []byte
		for _, d := range rare {
			asks = append(asks, byte(min(1, b.Rows[row].Need[d])))
		}
		return string(asks)
	}
	mixes := map[string][]float64{}
	for i := range b.Rows {
		if mixes[of(i)] == nil {
			mixes[of(i)] = make([]float64, len(b.Rows[i].Need))
		}
		for d, v := range b.Rows[i].Need {
			mixes[of(i)][d] += float64(float64(v) * float64(b.Rows[i].Count))
		}
	}
	suit := map[string]bitset.Set{}
	for mix, all := range mixes {
		suit[mix] = x.suiting(b, all)
	}
	for i := range b.Rows {
		out[i] = suit[of(i)]
	}
	return out
}

// rareOf lists the resources that some offers have none of.
func rareOf(b *place.Batch) []int {
	var out []int
	for d := range b.Rows[0].Need {
		if slices.ContainsFunc(b.Offers, func(o place.BatchOffer) bool { return o.Free[d] <= 0 }) {
			out = append(out, d)
		}
	}
	return out
}

// suiting returns the offers that suit the mix.
func (x sturdy) suiting(b *place.Batch, all []float64) bitset.Set {
	parts, least := make([]float64, len(b.Offers)), math.Inf(1)
	for i := range b.Offers {
		parts[i] = part(b.Offers[i].Free, all)
		least = min(least, b.Offers[i].Cost/parts[i])
	}
	out := bitset.New(len(b.Offers))
	for i := range b.Offers {
		if b.Offers[i].Cost/parts[i] <= float64(least*(1+x.band)) && float64(parts[i]*float64(x.least)) <= 1 {
			out.Add(i)
		}
	}
	return out
}

// part is which part of all pods a machine holds if it gets as much of each
// resource.
func part(free []int64, all []float64) float64 {
	out := math.Inf(1)
	for d, v := range all {
		if v > 0 {
			out = min(out, float64(free[d])/v)
		}
	}
	return out
}

// divide leaves each row the even offers, where one of these holds a pod. If some
// rows may be in fewer zones than others, these are divided by zone. It
// returns of each new row which one it was.
func divide(b *place.Batch, even []bitset.Set) (rows []place.BatchRow, from []int) {
	zones := make([][]string, len(b.Rows))
	fewest, most := math.MaxInt, 0
	narrowed := slices.Clone(b.Rows)
	for i := range narrowed {
		offers := narrowed[i].Offers.Clone()
		offers.And(even[i])
		if holds(offers, b, narrowed[i].Need) {
			narrowed[i].Offers = offers
		}
		zones[i] = zonesOf(narrowed[i].Offers, b)
		fewest, most = min(fewest, len(zones[i])), max(most, len(zones[i]))
	}
	turn := 0
	for i, row := range narrowed {
		if fewest == most || len(zones[i]) < 2 {
			rows, from = append(rows, row), append(from, i)
			continue
		}
		n := int64(len(zones[i]))
		for k := range zones[i] {
			share := row
			share.Count = row.Count / n
			if int64(k) < row.Count%n {
				share.Count++
			}
			share.Offers = inZone(row.Offers, b, zones[i][(k+turn)%len(zones[i])])
			if share.Count > 0 {
				rows, from = append(rows, share), append(from, i)
			}
		}
		turn += int(row.Count % n)
	}
	return rows, from
}

func zonesOf(offers bitset.Set, b *place.Batch) []string {
	var out []string
	for i := offers.Next(0); i >= 0; i = offers.Next(i + 1) {
		if !slices.Contains(out, b.Offers[i].Zone) {
			out = append(out, b.Offers[i].Zone)
		}
	}
	slices.Sort(out)
	return out
}

func inZone(offers bitset.Set, b *place.Batch, zone string) bitset.Set {
	out := offers.Clone()
	for i := out.Next(0); i >= 0; i = out.Next(i + 1) {
		if b.Offers[i].Zone != zone {
			out.Remove(i)
		}
	}
	return out
}

func holds(offers bitset.Set, b *place.Batch, need []int64) bool {
	for i := offers.Next(0); i >= 0; i = offers.Next(i + 1) {
		fits := true
		for d, v := range need {
			fits = fits && (v == 0 || v <= b.Offers[i].Free[d])
		}
		if fits {
			return true
		}
	}
	return false
}
