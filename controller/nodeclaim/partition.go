package nodeclaim

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// partitionHook is the name of what a registration waits for here.
const partitionHook = "placement-group-partition"

// findPartition labels the claim with the partition of its instance where the cloud
// chose it, before its node takes pods: some may ask for it. It returns what the
// registration waits for; nothing once it need not.
func findPartition(ctx context.Context, store client.Client, instances cloud.Instances, c *karpv1.NodeClaim,
	nodes []corev1.Node) (waits string, err error) {
	reported := c.Labels[api.LabelPlacementGroupID] == "" || c.Labels[api.LabelPlacementGroupPartition] != ""
	if reported || len(nodes) == 0 || condition.IsTrue(c, karpv1.ClaimRegistered) {
		return "", nil
	}
	list, err := instances.List(ctx, cloud.Filter{IDs: []string{translate.InstanceID(c.Status.ProviderID)}})
	switch {
	case err != nil:
		return "", fmt.Errorf("find the partition of the instance of claim %s: %w", c.Name, err)
	case len(list) == 0:
		return partitionHook + ": the cloud does not list the instance yet", nil
	case list[0].Partition == "":
		return "", nil // the group has none
	}
	labelled := c.DeepCopy()
	labelled.Labels[api.LabelPlacementGroupPartition] = list[0].Partition
	if err := store.Patch(ctx, labelled,
		client.MergeFromWithOptions(c, client.MergeFromWithOptimisticLock{})); err != nil {
		return "", fmt.Errorf("write partition of claim %s: %w", c.Name, err)
	}
	*c = *labelled
	return "", nil
}
