package class

import (
	"context"
	"encoding/json"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
)

// findPlacement looks the class's placement group up and writes it on the class: as an
// annotation of ours, since its status has no field for it. look says why there is
// none; without an answer what was written stays.
func (r *Reconciler) findPlacement(ctx context.Context, c *awsv1.EC2NodeClass) (look, err error) {
	settings, _ := Settings(c) // good for looking up
	found, look := r.Finder.Placement(ctx, settings)
	if !answered(look) {
		return look, nil
	}
	before := c.DeepCopy()
	if err := writePlacement(c, found); err != nil {
		return look, err
	}
	if before.Annotations[api.MarkPlacementGroup] == c.Annotations[api.MarkPlacementGroup] {
		return look, nil
	}
	if err := r.Store.Patch(ctx, c, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return look, fmt.Errorf("write placement group of EC2NodeClass %s: %w", c.Name, err)
	}
	return look, nil
}

func writePlacement(c *awsv1.EC2NodeClass, g *nodeclass.PlacementGroup) error {
	if g == nil {
		delete(c.Annotations, api.MarkPlacementGroup)
		return nil
	}
	text, err := json.Marshal(g)
	if err != nil {
		return fmt.Errorf("write placement group %s: %w", g.ID, err)
	}
	c.Annotations[api.MarkPlacementGroup] = string(text)
	return nil
}

// placementOf reads it back; nil where none is written, or another than is selected.
func placementOf(c *awsv1.EC2NodeClass) *nodeclass.PlacementGroup {
	selected, g := c.Spec.PlacementGroupSelector, &nodeclass.PlacementGroup{}
	text := c.Annotations[api.MarkPlacementGroup]
	if selected == nil || json.Unmarshal([]byte(text), g) != nil || selected.ID != "" && selected.ID != g.ID || selected.ID == "" && selected.Name != g.Name {
		return nil
	}
	return g
}

// placement says whether the class's placement group was found; nothing of a class
// that names none.
func (r *Reconciler) placement(c *awsv1.EC2NodeClass, look error) error {
	if c.Spec.PlacementGroupSelector == nil {
		condition.Clear(c, awsv1.ClassPlacementGroupReady)
		return nil
	}
	return r.conclude(c, awsv1.ClassPlacementGroupReady, look)
}
