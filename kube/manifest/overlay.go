package manifest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/overlay"
	overlays "github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/api/validate"
)

// overlay adds a NodeOverlay to those of the cluster, or puts it in the place of one.
func (a *applier) overlay(o Object, x *overlays.NodeOverlay) error {
	if err := a.judge(o, validate.NodeOverlay(x)); err != nil {
		return err
	}
	if !a.Overlays.Used() {
		a.Notes = append(a.Notes, fmt.Sprintf("%s changes nothing: the controller's feature gate NodeOverlay is off", o))
		return nil
	}
	if a.Overlays.Has(x.Name) {
		a.change(o, "as the manifest says")
	} else {
		a.change(o, "new")
	}
	a.Seen(x)
	return nil
}

// reportIdleOverlays notes which NodeOverlays change nothing, those of the cluster too: one of the manifests may be in
// conflict with them.
func (a *applier) reportIdleOverlays(objects []Object) {
	is := func(o Object) bool { _, is := o.Object.(*overlays.NodeOverlay); return is }
	if !slices.ContainsFunc(objects, is) {
		return
	}
	for _, o := range a.Snapshot().Overlays {
		if o.NotApplied != "" {
			a.Notes = append(a.Notes, fmt.Sprintf("NodeOverlay %s changes nothing: %s", o.Name, o.NotApplied))
		}
	}
}

// overlay takes a NodeOverlay away.
func (d *deletion) overlay(o Object) error {
	at := slices.IndexFunc(d.s.Overlays, func(x cluster.Overlay) bool { return x.Name == o.GetName() })
	if at < 0 {
		return errors.New("there is no such NodeOverlay to delete, or it has no effect")
	}
	d.s = overlay.With(d.s, slices.Delete(slices.Clone(d.s.Overlays), at, at+1))
	d.change(o, "deleted: it changes no price and no resource")
	return nil
}
