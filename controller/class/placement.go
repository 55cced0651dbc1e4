package class

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
)

// findPlacement looks the class's placement group up and writes it on the class: as an
// annotation of ours, since its status has no field for it. look says why there is
// none; without an answer what was written stays.
func (r *Reconciler) findPlacement(ctx context.Context, c *Subject) (look, err error) {
	settings, _ := Settings(c) // good for looking up
	found, look := r.Finder.Placement(ctx, settings)
	if !answered(look) {
		return look, nil
	}
	before := c.copy()
	if err := writePlacement(c, found); err != nil {
		return look, err
	}
	if before.GetAnnotations()[api.AnnotationPlacementGroup] == c.GetAnnotations()[api.AnnotationPlacementGroup] {
		return look, nil
	}
	if err := r.Store.Patch(ctx, c.Object, client.MergeFromWithOptions(before.Object, client.MergeFromWithOptimisticLock{})); err != nil {
		return look, fmt.Errorf("write placement group of %s: %w", c.ID(), err)
	}
	return look, nil
}

// unasked sets the condition of what a class does not ask for: true, since clients that
// are built on the types of an EC2NodeClass take a missing condition for unknown. An
// older API version has no such condition.
func (r *Reconciler) unasked(c *Subject, kind string) {
	if c.Kind.Name != KindEC2NodeClass {
		condition.Clear(c, kind)
		return
	}
	condition.SetTrue(c, kind, r.Now())
}

func writePlacement(c *Subject, g *nodeclass.PlacementGroup) error {
	if g == nil {
		annotate(c, api.AnnotationPlacementGroup, "")
		return nil
	}
	text, err := json.Marshal(g)
	if err != nil {
		return fmt.Errorf("write placement group %s: %w", g.ID, err)
	}
	annotate(c, api.AnnotationPlacementGroup, string(text))
	return nil
}

// annotate writes an annotation, or removes it where there is nothing to say.
func annotate(c *Subject, key, value string) {
	annotations := maps.Clone(c.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	if value == "" {
		delete(annotations, key)
	}
	c.SetAnnotations(annotations)
}

// placementOf reads it back; nil where none is written, or another than is selected.
func placementOf(c *Subject) *nodeclass.PlacementGroup {
	selected, g := c.Spec.Placement, &nodeclass.PlacementGroup{}
	text := c.GetAnnotations()[api.AnnotationPlacementGroup]
	if selected == nil || json.Unmarshal([]byte(text), g) != nil || selected.ID != "" && selected.ID != g.ID || selected.ID == "" && selected.Name != g.Name {
		return nil
	}
	return g
}

// placement says whether the class's placement group was found.
func (r *Reconciler) placement(c *Subject, look error) error {
	if c.Spec.Placement == nil {
		r.unasked(c, awsv1.ClassPlacementGroupReady)
		return nil
	}
	return r.conclude(c, awsv1.ClassPlacementGroupReady, look)
}
