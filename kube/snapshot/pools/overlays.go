package pools

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/core/quantity"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/translate"
)

// overlays are the NodeOverlays, and what they make of what classes offer.
type overlays struct {
	objects  map[string]*v1alpha1.NodeOverlay
	recalled []cluster.Overlay // of a saved snapshot, which count until they are seen
	stale    bool              // they have changed since they were resolved
	partial  bool              // more of them are yet to be listed
	pools    []overlay.Pool    // that they were resolved for
	set      *overlay.Set      // nil: there are none
	made     map[ofPool]*cluster.Catalogue
}

// ofPool is what one pool launches from of what one class offers.
type ofPool struct {
	id     cluster.PoolID
	listed *cluster.Catalogue
}

// Overlay is a NodeOverlay and what became of it.
type Overlay struct {
	Object  *v1alpha1.NodeOverlay // as it was last seen; it must not be written
	Invalid string                // what in it cannot be used, and the way out; empty: nothing
	Idle    string                // why it is not applied, though it is valid; empty: it is
	Known   bool                  // the rest is known of it as it is now
	Unsure  bool                  // it may yet be in conflict, for pools of which it is not known what they may launch
}

// OverlaySeen takes in a NodeOverlay, and reports whether plans depend on what has changed.
func (t *Table) OverlaySeen(o *v1alpha1.NodeOverlay) bool {
	before := t.overlays.objects[o.Name]
	t.overlays.objects[o.Name] = o
	if before != nil && equality.Semantic.DeepEqual(before.Spec, o.Spec) {
		return false
	}
	t.overlays.stale = true
	return true
}

// OverlayGone takes in that a NodeOverlay was deleted, and reports whether it was known.
func (t *Table) OverlayGone(o *v1alpha1.NodeOverlay) bool {
	_, known := t.overlays.objects[o.Name]
	delete(t.overlays.objects, o.Name)
	t.overlays.stale = t.overlays.stale || known
	return known
}

// OverlaysArePartial says whether more NodeOverlays are yet to be listed: of some of them alone nothing is made, since
// one that is missing may be in conflict with one that is not, or decide before it.
func (t *Table) OverlaysArePartial(partial bool) { t.overlays.partial = partial }

// RecallOverlays begins with the NodeOverlays of a saved snapshot, which count until they are seen.
func (t *Table) RecallOverlays(list []cluster.Overlay) {
	t.overlays.recalled, t.overlays.stale = slices.Clone(list), len(list) > 0
}

// Overlays lists the NodeOverlays with what they came to when the last snapshot was made, by name.
func (t *Table) Overlays() []Overlay {
	var out []Overlay
	unknown := func(p overlay.Pool) bool { return p.Listed == nil }
	unsure := slices.ContainsFunc(t.overlays.pools, unknown)
	for _, o := range t.overlays.objects {
		one := Overlay{Object: o, Known: !t.overlays.stale, Unsure: unsure}
		if _, err := translate.Overlay(o); err != nil {
			one.Invalid = err.Error()
		} else if t.overlays.set != nil {
			one.Idle = t.overlays.set.NotApplied(o.Name)
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b Overlay) int { return cmp.Compare(a.Object.Name, b.Object.Name) })
	return out
}

// Stale reports whether NodeOverlays have changed since a snapshot was made.
func (t *Table) Stale() bool { return t.overlays.stale }

// HasOverlay reports whether a NodeOverlay of that name was seen, or recalled.
func (t *Table) HasOverlay(name string) bool {
	named := func(o cluster.Overlay) bool { return o.Name == name }
	return t.overlays.objects[name] != nil || slices.ContainsFunc(t.overlays.recalled, named)
}

// resolve works out what NodeOverlays make of what classes offer, or last offered, and reports whether any pool may
// launch from something else than before.
func (t *Table) resolve() (changed bool) {
	v := &t.overlays
	if v.partial {
		return false
	}
	if len(v.objects) == 0 && len(v.recalled) == 0 && v.set == nil {
		v.stale = false
		return false
	}
	pools := t.overlaid()
	same := func(a, b overlay.Pool) bool { return a.Listed == b.Listed && slices.Equal(a.Labels, b.Labels) }
	if !v.stale && slices.EqualFunc(pools, v.pools, same) {
		return false
	}
	v.set = overlay.New(v.valid(), pools, v.set)
	v.stale, v.pools, v.made = false, pools, map[ofPool]*cluster.Catalogue{}
	return true
}

// valid are the NodeOverlays that can be used.
func (v *overlays) valid() (out []cluster.Overlay) {
	for _, o := range v.objects {
		if one, err := translate.Overlay(o); err == nil {
			out = append(out, one)
		}
	}
	for _, o := range v.recalled {
		if v.objects[o.Name] == nil {
			out = append(out, o)
		}
	}
	return out
}

// overlaid are the pools that NodeOverlays are resolved for, by name.
func (t *Table) overlaid() []overlay.Pool {
	type named struct {
		id cluster.PoolID
		overlay.Pool
	}
	var all []named
	for id, o := range t.pools {
		p := overlay.Pool{Labels: translate.PoolLabels(o), Listed: t.Offered(o.Class)}
		all = append(all, named{id, p})
	}
	for i := range t.recalled {
		if p := &t.recalled[i]; !t.isSeen(p.ID) {
			all = append(all, named{p.ID, overlay.Pool{Labels: p.Labels, Listed: p.Catalogue.Listed()}})
		}
	}
	slices.SortFunc(all, func(a, b named) int { return cmp.Compare(a.id.String(), b.id.String()) })
	out := make([]overlay.Pool, len(all))
	for i := range all {
		out[i] = all[i].Pool
	}
	return out
}

func (t *Table) isSeen(id cluster.PoolID) bool {
	_, seen := t.pools[id]
	return seen
}

// Overlaid is what NodeOverlays make of what a class offers, for the nodes of a pool: what the class offers where
// none changes it, or the pool is not known.
func (t *Table) Overlaid(id cluster.PoolID, listed *cluster.Catalogue) *cluster.Catalogue {
	v := &t.overlays
	if v.set == nil || listed == nil {
		return listed
	}
	out, known := v.made[ofPool{id, listed}]
	if known {
		return out
	}
	out = listed
	if labels, known := t.labelsOf(id); known {
		out = v.set.Of(overlay.Pool{Labels: labels, Listed: listed})
	}
	v.made[ofPool{id, listed}] = out
	return out
}

func (t *Table) labelsOf(id cluster.PoolID) (constraint.Labels, bool) {
	if o, known := t.pools[id]; known {
		return translate.PoolLabels(o), true
	}
	at := slices.IndexFunc(t.recalled, func(p cluster.Pool) bool { return p.ID == id })
	if at < 0 {
		return nil, false
	}
	return t.recalled[at].Labels, true
}

// OfferedTo is what the class of a claim offers, or last offered, as NodeOverlays have it for the claim's pool; nil
// where that is not known.
func (t *Table) OfferedTo(c *karpv1.NodeClaim) *cluster.Catalogue {
	return t.Overlaid(translate.PoolOf(c), t.Offered(translate.ClassOf(c)))
}

// ShowOverlays adds the NodeOverlays to a snapshot whose pools have what their classes offer.
func (t *Table) ShowOverlays(s *cluster.Snapshot) {
	s.Overlays = nil
	if t.overlays.set != nil {
		t.overlays.set.Show(s)
	}
}

// Repriced is what a node of a saved snapshot costs by NodeOverlays as they are now.
func (t *Table) Repriced(n *cluster.Node) quantity.MicroUSDPerHour {
	at := slices.IndexFunc(t.recalled, func(p cluster.Pool) bool { return p.ID == n.Pool })
	if at < 0 {
		return n.Price
	}
	was := t.recalled[at].Catalogue
	return overlay.Repriced(n, was, t.Overlaid(n.Pool, was.Listed()))
}
