package place

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/core/quantity"
)

// tear notes that no machine which may be bought now has room for the whole
// crew, for those of its pods that are left in the end.
func (r *run) tear(g *group, c *crew) {
	if g.level != g.kin.required() {
		return
	}
	for _, m := range c.parts {
		if r.torn[m.g.of] == nil {
			r.torn[m.g.of] = c
		}
	}
}

// tornApart says which pods must share a host with those of the group, what
// they need together, and what the largest machine has.
func (r *run) tornApart(g *group) (string, bool) {
	c := r.torn[g]
	if c == nil || c.pods < 2 {
		return "", false
	}
	b, option := r.roomiest(c)
	if b == nil {
		return "", false
	}
	kind := b.Options[option].Kind
	text := "it must share a host with " + c.others(g) + ": together they need "
	if fits(b.free[kind], c.sum) {
		if !r.limited {
			return "", false
		}
		return text + r.amounts(c.sum, func(i int) bool { return i <= dimMemory }) +
			", and the limits of the pools leave no machine that has room for them", true
	}
	short := func(i int) bool { return c.sum[i] > b.free[kind][i] }
	return text + r.amounts(c.sum, short) + ", and the largest machine for them, " + b.Kind(b.Options[option]).Name +
		", has " + r.amounts(b.free[kind], short), true
}

// roomiest returns the machine that has room for the greatest part of the
// crew, limits aside; the cheapest of equals.
func (r *run) roomiest(c *crew) (pool *buyer, option int) {
	most := -1.0
	for _, b := range r.buyers {
		options := c.options[b.at]
		for i := options.Next(0); options != nil && i >= 0; i = options.Next(i + 1) {
			free := b.free[b.Options[i].Kind]
			if free == nil || !b.available.Has(i) {
				continue
			}
			if part := share(free, c.sum); part > most || part == most && b == pool && b.cost[i] < b.cost[option] {
				pool, option, most = b, i, part
			}
		}
	}
	return pool, option
}

// others names the crew less one pod of the group.
func (c *crew) others(g *group) string {
	var names []string
	for _, m := range c.parts {
		n := m.n
		if m.g.of == g {
			n--
		}
		for i := int64(0); i < n && len(names) < podsNamed; i++ {
			names = append(names, m.g.pods[i].Namespace+"/"+m.g.pods[i].Name)
		}
	}
	if c.pods == 2 {
		return strings.Join(names, "")
	}
	return fmt.Sprintf("%d pods (%s%s)", c.pods-1, strings.Join(names, ", "), further(int(c.pods)-1-len(names)))
}

// amounts writes down the amounts of which the function is true.
func (r *run) amounts(list []int64, wanted func(int) bool) string {
	var words []string
	for i, v := range list {
		if !wanted(i) {
			continue
		}
		if d := i - len(r.dims.resources); d >= 0 {
			words = append(words, fmt.Sprintf("%d volumes of %s", v, r.dims.drivers[d]))
			continue
		}
		words = append(words, r.dims.resources[i]+" "+quantity.FormatAmount(r.dims.resources[i], max(0, v)))
	}
	return strings.Join(words, " and ")
}
