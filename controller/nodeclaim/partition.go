package nodeclaim

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// onePartition keeps one of the offerings that differ in the partition of a placement
// group alone. Where all of them fit, the cloud is left to choose, which fills
// partitions evenly; else the first that fits is asked for.
func onePartition(fitting []priced) []priced {
	if !slices.ContainsFunc(fitting, priced.parted) {
		return fitting
	}
	type offering struct {
		kind, zone, reservation string
		option                  cluster.Option
		unless                  constraint.Label
	}
	of := func(k *cluster.InstanceType, o *cluster.Offering) offering {
		return offering{k.Name, o.Zone, o.Reservation(), o.Option, o.Unless}
	}
	fit, all := map[offering]int{}, map[offering]int{}
	for _, p := range fitting {
		fit[of(p.instanceType, p.offering)]++
	}
	counted := map[*cluster.InstanceType]bool{}
	var out []priced
	for _, p := range fitting {
		partition, parted := p.label(api.LabelPlacementGroupPartition)
		if !parted {
			out = append(out, p)
			continue
		}
		if !counted[p.instanceType] {
			counted[p.instanceType] = true
			for i := range p.instanceType.Offerings {
				all[of(p.instanceType, &p.instanceType.Offerings[i])]++
			}
		}
		at := of(p.instanceType, p.offering)
		switch fit[at] {
		case 0: // one is kept
			continue
		case all[at]:
		default:
			p.partition = partition
		}
		fit[at] = 0
		out = append(out, p)
	}
	return out
}

// parted reports whether it is of one partition of a placement group.
func (p priced) parted() bool {
	_, parted := p.label(api.LabelPlacementGroupPartition)
	return parted
}

// inPartition is the offering with the label of the partition that a machine is in, and
// without one while that is not known.
func inPartition(o cluster.Offering, partition string) cluster.Offering {
	if _, parted := o.Labels.Get(api.LabelPlacementGroupPartition); !parted {
		return o
	}
	labels := o.Labels.Map()
	delete(labels, api.LabelPlacementGroupPartition)
	if partition != "" {
		labels[api.LabelPlacementGroupPartition] = partition
	}
	o.Labels = constraint.NewLabels(labels)
	return o
}

// partitionHook is the name of what a registration waits for here.
const partitionHook = "placement-group-partition"

// findPartition labels the claim with the partition of its machine where the cloud
// chose it, before its node takes pods: some may ask for it. It returns what the
// registration waits for; nothing once it need not.
func (r *Reconciler) findPartition(ctx context.Context, c *karpv1.NodeClaim, nodes []corev1.Node) (waits string, err error) {
	reported := c.Labels[api.LabelPlacementGroupID] == "" || c.Labels[api.LabelPlacementGroupPartition] != ""
	if reported || len(nodes) == 0 || condition.IsTrue(c, karpv1.ClaimRegistered) {
		return "", nil
	}
	list, err := r.Machines.List(ctx, cloud.Filter{IDs: []string{translate.MachineID(c.Status.ProviderID)}})
	switch {
	case err != nil:
		return "", fmt.Errorf("ask which partition the machine of claim %s is in: %w", c.Name, err)
	case len(list) == 0:
		return partitionHook + ": the cloud does not tell of the machine yet", nil
	case list[0].Partition == "":
		return "", nil // the group has none
	}
	labelled := c.DeepCopy()
	labelled.Labels[api.LabelPlacementGroupPartition] = list[0].Partition
	if err := r.Store.Patch(ctx, labelled, client.MergeFromWithOptions(c, client.MergeFromWithOptimisticLock{})); err != nil {
		return "", fmt.Errorf("write partition of claim %s: %w", c.Name, err)
	}
	*c = *labelled
	return "", nil
}
