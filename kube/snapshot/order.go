package snapshot

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// order is the names of all pods in the order of a snapshot, kept as pods come and
// go: to sort the pods for each snapshot took a good part of its time.
type order struct {
	sorted []types.NamespacedName // those of some that are gone are among them
	fresh  []types.NamespacedName // that came since, in any order; some may have been there before
}

// add notes a pod that was not there.
func (o *order) add(name types.NamespacedName) { o.fresh = append(o.fresh, name) }

// of lists the names of the pods, all of which were added. It is not to be written,
// and holds until it is asked for again. Cost: linear where pods came or went since.
func (o *order) of(pods map[types.NamespacedName]podEntry) []types.NamespacedName {
	if len(o.fresh) > 0 {
		slices.SortFunc(o.fresh, byName)
		o.sorted = slices.Compact(merged(o.sorted, o.fresh))
		o.fresh = nil
	}
	if len(o.sorted) != len(pods) {
		o.sorted = slices.DeleteFunc(o.sorted, func(name types.NamespacedName) bool {
			_, there := pods[name]
			return !there
		})
	}
	return o.sorted
}

// merged is one sorted list of two.
func merged(a, b []types.NamespacedName) []types.NamespacedName {
	out := make([]types.NamespacedName, 0, len(a)+len(b))
	for _, name := range b {
		n, _ := slices.BinarySearchFunc(a, name, byName)
		out, a = append(append(out, a[:n]...), name), a[n:]
	}
	return append(out, a...)
}

func byName(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
