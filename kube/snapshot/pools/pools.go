// Package pools is the table of NodePools, pools of older APIs, and the classes that they and
// NodeClaims name, with the offerings of these classes, as NodeOverlays change them.
package pools

import (
	"cmp"
	"maps"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/translate"
)

// Offered is what a class offers now; without a catalogue why it offers nothing yet.
type Offered struct {
	Catalogue *cluster.Catalogue
	WhyNot    string
}

// Table holds pools. It is not safe for concurrent use. Build it with New.
type Table struct {
	Defaults translate.PoolDefaults // set before anything is seen

	pools    map[cluster.PoolID]translate.PoolObject
	recalled []cluster.Pool
	classes  map[karpv1.NodeClassReference]int                // how many pools and claims name each
	offered  map[karpv1.NodeClassReference]*cluster.Catalogue // the last of each class
	overlays overlays
}

// New returns an empty table.
func New() *Table {
	return &Table{
		pools: map[cluster.PoolID]translate.PoolObject{}, classes: map[karpv1.NodeClassReference]int{}, offered: map[karpv1.NodeClassReference]*cluster.Catalogue{},
		overlays: overlays{objects: map[string]*v1alpha1.NodeOverlay{}},
	}
}

// Recall begins with the pools of a saved snapshot, which count until they are seen.
func (t *Table) Recall(list []cluster.Pool) { t.recalled = slices.Clone(list) }

// Seen takes in a pool. It reports false for one of another provider, which means nothing, and whether nodes may be
// shown otherwise.
func (t *Table) Seen(p translate.PoolObject) (changed, nodes bool) {
	if translate.IsForeign(p.Template.Spec.NodeClassRef) {
		return false, false
	}
	p.PoolDefaults = t.Defaults
	before, known := t.pools[p.ID]
	t.pools[p.ID] = p
	t.Use(p.Class, 1)
	if known {
		t.Use(before.Class, -1)
	}
	return true, !known || !sameForNodes(before, p)
}

// Gone takes in that a pool was deleted, and reports whether it was known.
func (t *Table) Gone(id cluster.PoolID) bool {
	p, known := t.pools[id]
	if known {
		t.Use(p.Class, -1)
	}
	delete(t.pools, id)
	return known
}

// sameForNodes compares what a pool says of the nodes that it has. One that is being
// deleted may own others now.
func sameForNodes(a, b translate.PoolObject) bool {
	return a.DeletedAt.IsZero() && b.DeletedAt.IsZero() && a.Punctual == b.Punctual && a.Made == b.Made && a.ClassMade == b.ClassMade && maps.Equal(a.Annotations, b.Annotations)
}

// Pool returns a pool as it was last seen; the zero value where none was.
func (t *Table) Pool(id cluster.PoolID) (translate.PoolObject, bool) {
	p, known := t.pools[id]
	return p, known
}

// Every are the pools with what is known of them: of one that was recalled its
// name alone. It must not be written.
func (t *Table) Every() map[cluster.PoolID]translate.PoolObject {
	if len(t.recalled) == 0 {
		return t.pools
	}
	out := maps.Clone(t.pools)
	for _, p := range t.recalled {
		if _, changed := out[p.ID]; !changed {
			out[p.ID] = translate.PoolObject{ID: p.ID, Object: &karpv1.NodePool{}}
		}
	}
	return out
}

// KeepReady are the pools whose nodes stay while a pod on them is the last ready one of a Service.
func (t *Table) KeepReady() map[cluster.PoolID]bool {
	out := map[cluster.PoolID]bool{}
	for id, o := range t.pools {
		if leave, _ := (mark.Leave{}).Over(o.Annotations); leave.KeepReady {
			out[id] = true
		}
	}
	return out
}

// Use counts how often a class is named, by so many more.
func (t *Table) Use(class karpv1.NodeClassReference, more int) {
	if t.classes[class] += more; t.classes[class] == 0 {
		delete(t.classes, class)
	}
}

// Beside lists the classes that pools and claims name, each once, in no order,
// without those that were asked.
func (t *Table) Beside(asked map[karpv1.NodeClassReference]Offered) []karpv1.NodeClassReference {
	var out []karpv1.NodeClassReference
	for class := range t.classes {
		if _, known := asked[class]; !known {
			out = append(out, class)
		}
	}
	return out
}

// Catalogues lists what classes offer, without NodeOverlays, those of a saved snapshot included, in a fixed order.
func (t *Table) Catalogues(asked map[karpv1.NodeClassReference]Offered) (out []*cluster.Catalogue) {
	add := func(c *cluster.Catalogue) {
		if c != nil && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	for _, o := range asked {
		add(o.Catalogue)
	}
	for i := range t.recalled {
		add(t.recalled[i].Catalogue.Listed())
	}
	slices.SortFunc(out, func(a, b *cluster.Catalogue) int { return cmp.Compare(a.Revision, b.Revision) })
	return out
}

// Offering takes in what classes offer, and keeps it for the time when they are not ready, as long as
// a pool or claim names them. It reports whether any offers something else than before, by NodeOverlays too.
func (t *Table) Offering(byClass map[karpv1.NodeClassReference]Offered) (changed bool) {
	maps.DeleteFunc(t.offered, func(class karpv1.NodeClassReference, _ *cluster.Catalogue) bool { return t.classes[class] == 0 })
	for class, now := range byClass {
		if now.Catalogue != nil && now.Catalogue != t.offered[class] {
			t.offered[class], changed = now.Catalogue, true
		}
	}
	return t.resolve() || changed
}

// Offered is what the class offers, or last offered: what was launched stays
// what it is while its class is not ready. It is nil where that is not known.
func (t *Table) Offered(class karpv1.NodeClassReference) *cluster.Catalogue { return t.offered[class] }

// InstanceTypeOf is the instance type of a claim; nil where its class does not offer it.
func (t *Table) InstanceTypeOf(c *karpv1.NodeClaim) *cluster.InstanceType {
	catalogue := t.OfferedTo(c)
	if catalogue == nil {
		return nil
	}
	i, found := slices.BinarySearchFunc(catalogue.InstanceTypes, c.Labels[api.LabelInstanceType], func(k cluster.InstanceType, name string) int { return cmp.Compare(k.Name, name) })
	if !found {
		return nil
	}
	return &catalogue.InstanceTypes[i]
}

// PriceOf is the price of a claim's instance; 0 where it is not known.
func (t *Table) PriceOf(c *karpv1.NodeClaim) quantity.MicroUSDPerHour {
	instanceType := t.InstanceTypeOf(c)
	if instanceType == nil {
		return 0
	}
	if o := instanceType.Offering(c.Labels); o != nil && o.Priced {
		return o.Price
	}
	return 0
}
