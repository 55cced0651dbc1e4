package place

import (
	"slices"
)

// chart notes which options are in the same domains of all keys that matter to
// pods that are launched for.
func (r *run) chart() {
	var keys []int
	for _, g := range r.groups {
		for _, k := range g.Level.Rules.Fixed() {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	slices.Sort(keys)
	for _, b := range r.candidates {
		b.Regions = b.RegionsBy(r.board, keys)
	}
}
