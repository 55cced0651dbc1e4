package provisioning

import (
	"slices"
)

// chart notes which options are in the same domains of all keys that matter to
// pods that are launched for.
func (pr *Provisioner) chart() {
	var keys []int
	for _, g := range pr.Groups {
		for _, k := range g.Level.Rules.Fixed() {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	slices.Sort(keys)
	for _, b := range pr.Candidates {
		b.Regions = b.RegionsBy(pr.Board, keys)
	}
}
