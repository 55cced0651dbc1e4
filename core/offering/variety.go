package offering

import (
	"fmt"
	"maps"
	"slices"

	"github.com/daemok/daemok/core/constraint"
)

// asksVariety reports whether some key must keep several values open.
func asksVariety(want constraint.Requirements) bool {
	return slices.ContainsFunc(want, func(r constraint.Requirement) bool { return r.MinValues > 0 })
}

// variety is one minValues over a list of offerings.
type variety struct {
	key    string
	least  int
	brings [][]string // values of each offering of the list
}

// varietiesOf are the minValues that instances have a say on: those on labels
// that no offering carries are about something else.
func varietiesOf(want constraint.Requirements, list []Named) []variety {
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
func byOffering(key string, least int, list []Named) variety {
	v := variety{key, least, make([][]string, len(list))}
	for i, n := range list {
		if value, ok := n.label(key); ok {
			v.brings[i] = []string{value}
		}
	}
	return v
}

// byType counts for each offering of the list whatever its type brings with any
// of all offerings: what a list of one capacity type cannot bring by itself,
// such as a second capacity type, is counted so.
func byType(key string, least int, list, all []Named) variety {
	values := map[string]map[string]bool{}
	for _, n := range all {
		if value, ok := n.label(key); ok {
			if values[n.Type.Name] == nil {
				values[n.Type.Name] = map[string]bool{}
			}
			values[n.Type.Name][value] = true
		}
	}
	out := variety{key, least, make([][]string, len(list))}
	for i, n := range list {
		out.brings[i] = slices.Sorted(maps.Keys(values[n.Type.Name]))
	}
	return out
}

// have counts the different values that the whole list brings.
func (v variety) have() int {
	seen := map[string]bool{}
	for i := range v.brings {
		v.see(i, seen)
	}
	return len(seen)
}

// see notes the values of one offering and says how many were new.
func (v variety) see(i int, seen map[string]bool) (fresh int) {
	before := len(seen)
	for _, value := range v.brings[i] {
		seen[value] = true
	}
	return len(seen) - before
}

// shortOf says which minValues not even all offerings together keep; it is empty
// where they keep all.
func shortOf(want constraint.Requirements, all []Named) string {
	for _, v := range varietiesOf(want, all) {
		if have := v.have(); have < v.least {
			return fmt.Sprintf("minValues of %s is %d, and only %d values can be had now", v.key, v.least, have)
		}
	}
	return ""
}

// withinLimits cuts a list, cheapest first, to what one request may name. The
// cheapest come first; where minValues asks for more variety than they bring,
// the most expensive of them make room for the cheapest offerings that bring it. all is
// what the list was chosen from. The order stays.
func (c *chooser) withinLimits(list, all []Named) []Named {
	var varieties []variety
	for _, v := range varietiesOf(c.ask.Requirements, all) {
		own := byOffering(v.key, v.least, list)
		if own.have() < v.least {
			own = byType(v.key, v.least, list, all)
		}
		varieties = append(varieties, own)
	}
	needed := cheapestOf(varieties, len(list))
	if typesIn(list, needed) > TypesMax {
		needed = fewestOf(varieties, len(list))
	}
	return c.cut(list, needed)
}

// cut keeps the needed offerings and as many of the others, from the first on,
// as one request has room for.
func (c *chooser) cut(list []Named, needed map[int]bool) []Named {
	kept, types, count := make([]bool, len(list)), map[string]bool{}, 0
	for _, first := range []bool{true, false} {
		for i := range list {
			if needed[i] != first || count == Max || !types[list[i].Type.Name] && len(types) == TypesMax {
				continue
			}
			list[i].Needed = first
			kept[i], types[list[i].Type.Name], count = true, true, count+1
		}
	}
	at := -1
	return c.keep(list, OverLimit, func(*Named) bool { at++; return kept[at] })
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

// fewestOf marks offerings that bring much variety each, the first of equals, so
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

func typesIn(list []Named, marked map[int]bool) int {
	types := map[string]bool{}
	for i := range marked {
		types[list[i].Type.Name] = true
	}
	return len(types)
}
