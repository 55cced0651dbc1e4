package nodeclaim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/translate"
)

// initialization sees whether registered nodes are ready for what they were launched for.
type initialization struct {
	store      client.Client
	now        func() time.Time
	autoscaler mark.ClusterAutoscaler
	devices    devices // nil: devices of dynamic resource allocation are not planned for
}

// devices says what drivers of dynamic resource allocation publish of a node.
type devices interface {
	Serves(node, resource string) bool
	Unpublished(node string, drivers []string) []string
}

// publishedEvery is how often it is checked whether drivers publish the devices of a node: slices do not wake the loop.
const publishedEvery = 5 * time.Second

// awaitsDevices reports whether a claim may wait for drivers to publish devices: those of ResourceClaims, or those that
// serve an extended resource.
func (i initialization) awaitsDevices(c *karpv1.NodeClaim) bool {
	is := condition.Get(c, karpv1.ClaimInitialized)
	return i.devices != nil && is != nil &&
		(is.Reason == karpv1.ReasonDRAPoolsNotPublished || is.Reason == karpv1.ReasonResourceNotRegistered)
}

// initialise notes when the node is ready for what it was launched for.
func (i initialization) initialise(ctx context.Context, c *karpv1.NodeClaim, node *corev1.Node) error {
	if condition.IsTrue(c, karpv1.ClaimInitialized) {
		if node == nil || node.Labels[api.LabelInitialized] == "true" {
			return nil
		}
		if reason, _ := i.lacks(c, node); reason != "" {
			return nil // it was made again, and starts again
		}
		return i.markInitialised(ctx, c, node)
	}
	if node == nil {
		condition.SetUnknown(c, karpv1.ClaimInitialized, karpv1.ReasonNodeNotFound, "the node is not there", i.now())
		return nil
	}
	if reason, message := i.lacks(c, node); reason != "" {
		condition.SetUnknown(c, karpv1.ClaimInitialized, reason, message, i.now())
		return nil
	}
	if err := i.markInitialised(ctx, c, node); err != nil {
		return err
	}
	condition.SetTrue(c, karpv1.ClaimInitialized, i.now())
	return nil
}

// markInitialised puts the label on the node that says so. Whoever sees it knows
// that what a starting node has and loses was gone before.
func (i initialization) markInitialised(ctx context.Context, c *karpv1.NodeClaim, node *corev1.Node) error {
	if node.Labels[api.LabelInitialized] == "true" {
		return nil
	}
	before := node.DeepCopy()
	metav1.SetMetaDataLabel(&node.ObjectMeta, api.LabelInitialized, "true")
	if err := i.store.Patch(ctx, node, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("label node %s of claim %s as initialized: %w", node.Name, c.Name, err)
	}
	return nil
}

// lacks says what the node still lacks; an empty reason means nothing.
func (i initialization) lacks(c *karpv1.NodeClaim, node *corev1.Node) (reason, message string) {
	if !translate.IsReady(node) {
		return karpv1.ReasonNodeNotReady, "the kubelet does not report Ready"
	}
	for _, t := range c.Spec.StartupTaints {
		if slices.ContainsFunc(node.Spec.Taints, func(n corev1.Taint) bool { return n.MatchTaint(&t) }) {
			return karpv1.ReasonStartupTaintsExist, fmt.Sprintf("startup taint %s is still there", t.ToString())
		}
	}
	for _, t := range node.Spec.Taints {
		if i.autoscaler.Starts(t) {
			return karpv1.ReasonStartupTaintsExist, fmt.Sprintf("startup taint %s is still there", t.ToString())
		}
		if translate.IsEphemeral(t) {
			return karpv1.ReasonKnownEphemeralTaintsExist, fmt.Sprintf("taint %s is still there", t.ToString())
		}
	}
	for _, name := range translate.ExtendedOf(c) {
		q := node.Status.Allocatable[corev1.ResourceName(name)]
		if q.IsZero() && (i.devices == nil || !i.devices.Serves(node.Name, name)) {
			return karpv1.ReasonResourceNotRegistered, fmt.Sprintf("resource %s was asked for and is not in the node's allocatable", name)
		}
	}
	if drivers := translate.RequestedDrivers(c); i.devices != nil && len(drivers) > 0 {
		if missing := i.devices.Unpublished(node.Name, drivers); len(missing) > 0 {
			return karpv1.ReasonDRAPoolsNotPublished, "DRA driver " + strings.Join(missing, ", ") +
				" has not published a complete pool of ResourceSlices for the node"
		}
	}
	return "", ""
}
