package devices

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/device"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/resourceclaim"
)

// world is what amounts stand for devices, and what instance types have of them. The zero value: no pod requests any.
type world struct {
	from       from
	dimensions *device.Dimensions
	same       string                               // equal for dimensions that mean the same
	expected   map[string][]resourceclaim.Published // by instance type; all types of the catalogues are there
	offers     map[string][]quantity.Extended       // by instance type, where it has any
	onRequest  map[string][]string                  // those that an instance lacks unless launched for them
	catalogues map[*cluster.Catalogue]*cluster.Catalogue
	common     bool            // several nodes can use some devices
	local      map[string]bool // if so: by the name of a bundle, whether a node has it on its own, or is expected to
	beside     map[string]bool // if so: whether it has none on its own, and some device of several nodes does for it
}

// newWorld works out the amounts for bundles. What has not changed since the last time stays the same value.
func (t *Table) newWorld(bundles []*device.Bundle, catalogues []*cluster.Catalogue) world {
	was := &t.world
	out := world{from: from{pools: was.from.pools, catalogues: catalogues, served: t.served},
		expected: map[string][]resourceclaim.Published{}, offers: map[string][]quantity.Extended{},
		onRequest: map[string][]string{}, catalogues: map[*cluster.Catalogue]*cluster.Catalogue{}}
	if t.moved || was.dimensions == nil {
		out.from.pools = resourceclaim.Pools(t.slices)
	}
	for _, b := range bundles {
		out.from.bundles = append(out.from.bundles, b.Name)
	}
	slices.Sort(out.from.bundles)
	out.from.bundles = slices.Compact(out.from.bundles)
	out.from.teachers = t.teachers(out.from.pools)
	if !t.moved && was.dimensions != nil && out.from.equal(&was.from) {
		return *was
	}

	var all []*device.Inventory
	bare := map[string]*device.Inventory{} // of instances that are launched for nothing that has to be requested
	ofTypes := map[string]*device.Inventory{}
	for _, c := range catalogues {
		for i := range c.InstanceTypes {
			k := &c.InstanceTypes[i]
			if _, known := out.expected[k.Name]; known {
				continue
			}
			out.expected[k.Name] = out.from.expect(k)
			if list := out.expected[k.Name]; len(list) > 0 {
				ofTypes[k.Name] = t.inventory(list)
				all = append(all, ofTypes[k.Name])
				if without := withoutRequest(list); len(without) < len(list) {
					bare[k.Name] = t.inventory(without)
				}
			}
		}
	}
	for i := range out.from.pools {
		if p := &out.from.pools[i]; p.Complete {
			inv := &device.Inventory{}
			for _, node := range p.Nodes() {
				t.reader.AddPool(inv, p, node, resourceclaim.Allocated{})
			}
			all = append(all, inv)
		}
	}
	out.dimensions = device.New(bundles, all)
	out.same = out.dimensions.Key()
	if out.same == was.same {
		out.dimensions = was.dimensions
	}
	for name, inv := range ofTypes {
		out.offers[name] = slices.Concat(out.dimensions.Offers(inv), servedBy(t.served, inv))
		if bare[name] == nil {
			continue
		}
		least := device.With(quantity.Resources{Extended: out.dimensions.Offers(bare[name])}, servedBy(t.served, bare[name]))
		for _, e := range out.offers[name] {
			if least.Get(e.Name) < e.Amount {
				out.onRequest[name] = append(out.onRequest[name], e.Name)
			}
		}
	}
	if out.common = slices.ContainsFunc(out.from.pools, resourceclaim.Pool.IsCommon); out.common {
		out.local = map[string]bool{}
		for _, inv := range all {
			for _, e := range out.dimensions.Offers(inv) {
				out.local[strings.TrimPrefix(e.Name, device.Prefix)] = true
			}
		}
		out.findBeside(bundles, t.reader.Commons(out.from.pools, resourceclaim.Allocated{}))
	}
	if out.same == was.same && sameOffers(out.offers, was.offers) {
		out.catalogues = was.catalogues
	}
	return out
}

// servedBy is what devices that are free come to in extended resources that drivers serve, by name.
func servedBy(served map[string]int, inv *device.Inventory) (out []quantity.Extended) {
	for _, name := range slices.Sorted(maps.Keys(served)) {
		if free := inv.Free(served[name]); free > 0 {
			out = append(out, quantity.Extended{Name: name, Amount: free})
		}
	}
	return out
}

// findBeside finds the bundles that no node has on its own, and some of the commons does for.
func (w *world) findBeside(bundles []*device.Bundle, commons []resourceclaim.Common) {
	w.beside = map[string]bool{}
	for _, b := range bundles {
		does := func(d device.Device) bool { return b.MayUse(&d) }
		any := func(c resourceclaim.Common) bool { return slices.ContainsFunc(c.Devices, does) }
		w.beside[b.Name] = !w.local[b.Name] && slices.ContainsFunc(commons, any)
	}
}

// ofNode is those of the bundles of a DaemonSet's pods that are counted at each node: devices of several nodes count as
// there, so that its pods do.
func (w *world) ofNode(of []device.Counted) []device.Counted {
	return slices.DeleteFunc(slices.Clone(of), func(b device.Counted) bool { return w.beside[b.Name] })
}

// withoutRequest is what is expected of an instance that is launched for nothing that has to be requested.
func withoutRequest(list []resourceclaim.Published) []resourceclaim.Published {
	return slices.DeleteFunc(slices.Clone(list), func(p resourceclaim.Published) bool { return p.OnRequest })
}

func (t *Table) inventory(list []resourceclaim.Published) *device.Inventory {
	inv := &device.Inventory{}
	for _, p := range list {
		t.reader.Add(inv, p)
	}
	return inv
}

func sameOffers(a, b map[string][]quantity.Extended) bool {
	if len(a) != len(b) {
		return false
	}
	for name := range a {
		if !slices.Equal(a[name], b[name]) {
			return false
		}
	}
	return true
}

// from is what a world is worked out from, beside the objects that are watched.
type from struct {
	bundles    []string       // names, sorted
	served     map[string]int // see Table
	catalogues []*cluster.Catalogue
	pools      []resourceclaim.Pool
	teachers   map[teaching]teacher
}

// teaching is what is learned from a node: what a driver publishes of instances of a type.
type teaching struct{ instanceType, driver string }

// teacher is the node that it is learned from, and the position of the pool there.
type teacher struct {
	node string
	pool int
}

func (f *from) equal(g *from) bool {
	return slices.Equal(f.bundles, g.bundles) && maps.Equal(f.served, g.served) && slices.Equal(f.catalogues, g.catalogues) &&
		maps.Equal(f.teachers, g.teachers)
}

// teachers finds from which node is learned what a driver publishes of an instance type: the newest that is
// initialized, or none of ours; of two of one age the last by the name of its pool. One that is going teaches only what
// no other node does, since drivers may withdraw devices there. A node that was launched without adapters says nothing
// of how many its type has.
func (t *Table) teachers(pools []resourceclaim.Pool) map[teaching]teacher {
	out := map[teaching]teacher{}
	for i := range pools {
		names := pools[i].Nodes()
		if !pools[i].Complete || len(names) != 1 {
			continue
		}
		n := t.nodes.Node(names[0])
		if n == nil || n.Labels[cluster.LabelInstanceType] == "" ||
			n.Labels[api.LabelRegistered] != "" && n.Labels[api.LabelInitialized] != "true" {
			continue
		}
		if (pools[i].Driver == resourceclaim.DriverEFA || translate.IsLeaving(n)) && pools[i].IsEmpty() {
			continue
		}
		what := teaching{n.Labels[cluster.LabelInstanceType], pools[i].Driver}
		before := t.nodes.Node(out[what].node)
		if before == nil || teachesBetter(n, before) {
			out[what] = teacher{names[0], i}
		}
	}
	return out
}

// teachesBetter says whether to learn from node n rather than from another: from one that stays, and of those from the
// newest.
func teachesBetter(n, other *corev1.Node) bool {
	if leaves := translate.IsLeaving(n); leaves != translate.IsLeaving(other) {
		return !leaves
	}
	return !other.CreationTimestamp.After(n.CreationTimestamp.Time)
}

// expect is what drivers will publish of instances of a type: what they do of a node of it, else what is known of it.
func (f *from) expect(k *cluster.InstanceType) (out []resourceclaim.Published) {
	for _, e := range resourceclaim.Expected(k) {
		if _, known := f.teachers[teaching{k.Name, e.Driver}]; !known {
			out = append(out, e)
		}
	}
	for what, by := range f.teachers {
		if what.instanceType == k.Name {
			out = append(out, resourceclaim.Learn(&f.pools[by.pool], by.node))
		}
	}
	for i := range out {
		out[i].OnRequest = resourceclaim.OnRequest(k, out[i].Driver)
	}
	slices.SortFunc(out, func(a, b resourceclaim.Published) int { return cmp.Compare(a.Driver, b.Driver) })
	return out
}

// needs is what pods take whose claims consist of the bundles.
func (w *world) needs(of []device.Counted) []quantity.Extended {
	if w.dimensions == nil {
		return nil
	}
	return w.dimensions.Needs(of)
}

func (w *world) drivers(of []device.Counted) []string {
	if w.dimensions == nil {
		return nil
	}
	return w.dimensions.Drivers(of)
}

// catalogue is a catalogue with what its instance types have of the amounts: what was made of it before, if it was.
func (w *world) catalogue(c *cluster.Catalogue, before map[*cluster.Catalogue]*cluster.Catalogue) *cluster.Catalogue {
	if c == nil {
		return nil
	}
	out, known := w.catalogues[c]
	if !known {
		if out, known = before[c]; !known {
			out = w.extend(c, before)
		}
		w.catalogues[c] = out
	}
	return out
}

func (w *world) extend(c *cluster.Catalogue, before map[*cluster.Catalogue]*cluster.Catalogue) *cluster.Catalogue {
	out := &cluster.Catalogue{Revision: c.Revision, Disk: c.Disk, InstanceTypes: slices.Clone(c.InstanceTypes)}
	for i := range out.InstanceTypes {
		k := &out.InstanceTypes[i]
		amounts := slices.DeleteFunc(slices.Clone(w.offers[k.Name]), func(e quantity.Extended) bool {
			return !device.Counts(e.Name) && k.Allocatable.Get(e.Name) > 0 // a device plugin has it
		})
		k.Allocatable, k.Capacity = device.With(k.Allocatable, amounts), device.With(k.Capacity, amounts)
		if names := w.onRequest[k.Name]; len(names) > 0 {
			k.OnRequest = slices.Concat(k.OnRequest, names)
			slices.Sort(k.OnRequest)
		}
	}
	if c.Base != nil {
		out.Base = w.catalogue(c.Base, before)
	}
	return out
}
