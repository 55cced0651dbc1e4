package nodeclaim

import (
	"fmt"
	"maps"
	"slices"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
)

// How much one fleet request names at most, and how many machines it asks for.
const (
	typesMax     = 60
	offeringsMax = 300
	machinesMax  = 1000
)

// variety is one minValues over a list of offerings.
type variety struct {
	key    string
	least  int
	brings [][]string // values of each offering of the list
}

// varietiesOf are the minValues that machines have a say on: those on labels
// that no offering carries are about something else.
func varietiesOf(want constraint.Requirements, list []priced) []variety {
	var out []variety
	for _, r := range want {
		if r.MinValues <= 0 {
			continue
		}
		if v := byOffering(r.Key, r.MinValues, list); v.have() > 0 {
			out = append(out, v)
		}
	}
	return out
}

// byOffering counts for each offering of the list its own value.
func byOffering(key string, least int, list []priced) variety {
	v := variety{key, least, make([][]string, len(list))}
	for i, p := range list {
		if value, ok := p.label(key); ok {
			v.brings[i] = []string{value}
		}
	}
	return v
}

// have counts the different values that the whole list brings.
func (v variety) have() int {
	seen := map[string]bool{}
	for i := range v.brings {
		v.see(i, seen)
	}
	return len(seen)
}

// see notes the values of one offer and tells how many were new.
func (v variety) see(i int, seen map[string]bool) (fresh int) {
	before := len(seen)
	for _, value := range v.brings[i] {
		seen[value] = true
	}
	return len(seen) - before
}

// shortOf says which minValues not even all offerings together keep; it is empty
// where they keep all.
func shortOf(want constraint.Requirements, all []priced) string {
	for _, v := range varietiesOf(want, all) {
		if have := v.have(); have < v.least {
			return fmt.Sprintf("minValues of %s is %d, and only %d values can be had now", v.key, v.least, have)
		}
	}
	return ""
}

// byType counts for each offering of the list whatever its type brings with any
// of all offerings: what a list of one capacity type cannot bring by itself,
// such as a second option, is counted so.
func byType(key string, least int, list, all []priced) variety {
	values := map[string]map[string]bool{}
	for _, p := range all {
		if value, ok := p.label(key); ok {
			if values[p.instanceType.Name] == nil {
				values[p.instanceType.Name] = map[string]bool{}
			}
			values[p.instanceType.Name][value] = true
		}
	}
	out := variety{key, least, make([][]string, len(list))}
	for i, p := range list {
		out.brings[i] = slices.Sorted(maps.Keys(values[p.instanceType.Name]))
	}
	return out
}

// firstOfferings cuts a list, cheapest first, to what one request may name. The
// cheapest come first; where minValues asks for more variety than they bring,
// the most expensive of them make room for the cheapest offerings that bring it. all is
// what the list was chosen from. The order stays.
func firstOfferings(list, all []priced, want constraint.Requirements) []cloud.OfferingChoice {
	var varieties []variety
	for _, v := range varietiesOf(want, all) {
		own := byOffering(v.key, v.least, list)
		if own.have() < v.least {
			own = byType(v.key, v.least, list, all)
		}
		varieties = append(varieties, own)
	}
	needed := cheapestOf(varieties, len(list))
	if typesIn(list, needed) > typesMax {
		needed = fewestOf(varieties, len(list))
	}
	return fill(list, needed)
}

// cheapestOf marks, for each variety in turn, the first offerings that bring what
// those marked before do not.
func cheapestOf(varieties []variety, n int) map[int]bool {
	marked := map[int]bool{}
	for _, v := range varieties {
		seen := map[string]bool{}
		for i := range marked {
			v.see(i, seen)
		}
		for i := 0; i < n && len(seen) < v.least; i++ {
			if v.see(i, seen) > 0 {
				marked[i] = true
			}
		}
	}
	return marked
}

// fewestOf marks offers that bring much variety each, the first of equals, so
// that few are needed whatever they cost.
func fewestOf(varieties []variety, n int) map[int]bool {
	marked, seen := map[int]bool{}, make([]map[string]bool, len(varieties))
	for at := range seen {
		seen[at] = map[string]bool{}
	}
	for {
		best, most := -1, 0
		for i := range n {
			if gain := gainOf(varieties, seen, i); gain > most {
				best, most = i, gain
			}
		}
		if best < 0 {
			return marked
		}
		marked[best] = true
		for at, v := range varieties {
			v.see(best, seen[at])
		}
	}
}

// gainOf counts the values that an offering would bring to varieties which still
// lack some.
func gainOf(varieties []variety, seen []map[string]bool, i int) (gain int) {
	for at, v := range varieties {
		if len(seen[at]) >= v.least {
			continue
		}
		for _, value := range v.brings[i] {
			if !seen[at][value] {
				gain++
			}
		}
	}
	return gain
}

func typesIn(list []priced, marked map[int]bool) int {
	types := map[string]bool{}
	for i := range marked {
		types[list[i].instanceType.Name] = true
	}
	return len(types)
}

// fill keeps the marked offers and as many of the others, from the first on,
// as one request has room for.
func fill(list []priced, marked map[int]bool) []cloud.OfferingChoice {
	kept, types, offerings := make([]bool, len(list)), map[string]bool{}, 0
	keepWhere := func(wanted bool) {
		for i, p := range list {
			if marked[i] != wanted || offerings == offeringsMax || !types[p.instanceType.Name] && len(types) == typesMax {
				continue
			}
			kept[i], types[p.instanceType.Name], offerings = true, true, offerings+1
		}
	}
	keepWhere(true)
	keepWhere(false)
	var out []cloud.OfferingChoice
	for i, p := range list {
		if kept[i] {
			zoneID, _ := p.label(api.LabelZoneID)
			out = append(out, cloud.OfferingChoice{
				Kind: p.instanceType.Name, Zone: p.offering.Zone, ZoneID: zoneID, Option: p.offering.Option, ReservedCapacity: p.offering.Reservation(),
				Priority: float64(p.offering.Price) / 1e6, Needed: marked[i], Partition: p.partition, Dedicated: p.dedicated(),
			})
		}
	}
	return out
}
