package viewer

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/daemok/daemok/core/quantity"
)

// Options are what a user asks to see.
type Options struct {
	Cluster   string          // what the cluster is called; empty: it is not said
	Resources []string        // of which there are bars, in this order
	Labels    []string        // of nodes, with a column each
	Sort      Sort            // the order of nodes; zero: the newest first
	Selector  labels.Selector // of the nodes that are shown; nil: all are
	Pools     []string        // names of NodePools, Provisioners or groups whose nodes are shown; none: all are
}

// UsualResources are those that have bars unless a user names others.
func UsualResources() []string { return []string{quantity.NameCPU, quantity.NameMemory} }

// WithUsual are the options with labels and an order in the words of this package: eks-node-viewer has names
// of its own for some, such as eks-node-viewer/node-cpu-usage.
func (o Options) WithUsual() Options {
	if len(o.Resources) == 0 {
		o.Resources = UsualResources()
	}
	o.Labels = slices.Clone(o.Labels)
	for i, l := range o.Labels {
		o.Labels[i] = usualName(l)
	}
	if o.Sort.By == "" {
		o.Sort = Sort{By: byAge}
	}
	o.Sort.By = usualName(o.Sort.By)
	return o
}

// usualName is the word for what eks-node-viewer computes: "eks-node-viewer/node-cpu-usage" is "cpu".
func usualName(key string) string {
	if name, computed := strings.CutPrefix(key, "eks-node-viewer/node-"); computed {
		return strings.TrimSuffix(name, "-usage")
	}
	return key
}

// Sort is an order of nodes.
type Sort struct {
	By         string // one of SortKeys, a resource, or a label
	Descending bool
}

// Keys by which nodes are sorted, besides resources and labels.
const (
	byName     = "name"
	byStatus   = "status"
	byType     = "type"
	byZone     = "zone"
	byCapacity = "capacity"
	byCost     = "cost"
	byAge      = "age"
	byPods     = "pods"
	byOwner    = "owner"
)

// SortKeys are the keys by which nodes can be sorted, besides resources and labels.
func SortKeys() []string {
	return []string{byName, byStatus, byType, byZone, byCapacity, byCost, byAge, byPods, byOwner}
}

// String prints "cpu=desc".
func (s Sort) String() string {
	if s.Descending {
		return s.By + "=desc"
	}
	return s.By + "=asc"
}

// ParseSort reads "cpu", "cpu=asc" or "cpu=desc". What is no key and no resource is taken for a label; one of
// a single word is refused unless it is a key, cpu, memory or pods, because labels that people sort by have a
// slash.
func ParseSort(text string) (Sort, error) {
	by, order, _ := strings.Cut(text, "=")
	by = usualName(by)
	s := Sort{By: by}
	switch order {
	case "", "asc":
	case "desc", "dsc":
		s.Descending = true
	default:
		return Sort{}, fmt.Errorf("order %q: want asc or desc, such as cpu=desc", order)
	}
	if s.By == "creation" {
		return Sort{By: byAge, Descending: !s.Descending}, nil
	}
	known := append(SortKeys(), quantity.NameCPU, quantity.NameMemory, quantity.NameEphemeralStorage)
	if !slices.Contains(known, by) && !strings.Contains(by, "/") {
		return Sort{}, fmt.Errorf("nodes have no %q to sort by: want one of %s, or a resource or label "+
			"such as nvidia.com/gpu", by, strings.Join(known, ", "))
	}
	return s, nil
}
