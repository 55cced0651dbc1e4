package offering

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Summary counts by reason what is left out, the most frequent reason first; empty where nothing is.
func (c *Choice) Summary() string {
	counts := map[Reason]int{}
	for _, l := range c.LeftOut {
		counts[l.Why]++
	}
	var words []string
	for _, why := range slices.SortedFunc(maps.Keys(counts), func(a, b Reason) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	}) {
		words = append(words, fmt.Sprintf("%d %s", counts[why], why))
	}
	return strings.Join(words, ", ")
}
