package nodeclaim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// hookAgain is how soon a node is looked at again that something must be known of before it registers.
const hookAgain = 10 * time.Second

// registration lets nodes that have joined take pods.
type registration struct {
	hold      hold
	nominator nominator
	store     client.Client
	events    publisher
	now       func() time.Time
}

// register links a claim with its node: the node gets what the claim knows,
// and the taint that kept pods off goes, now or when others have joined. It
// returns how long the node waits for these at most. Nothing is done while waits
// says what is to be known before.
func (r registration) register(ctx context.Context, c *karpv1.NodeClaim, nodes []corev1.Node,
	waits string) (time.Duration, error) {
	if condition.IsTrue(c, karpv1.ClaimRegistered) {
		return 0, r.registerAgain(ctx, c, nodes)
	}
	switch len(nodes) {
	case 0:
		condition.SetUnknown(c, karpv1.ClaimRegistered, karpv1.ReasonNodeNotFound, missing(c, r.now()), r.now())
		return 0, nil
	case 1:
	default:
		condition.SetFalse(c, karpv1.ClaimRegistered, karpv1.ReasonMultipleNodesFound,
			fmt.Sprintf("%d nodes carry provider ID %s", len(nodes), c.Status.ProviderID), r.now())
		return 0, nil
	}
	if waits != "" {
		condition.SetUnknown(c, karpv1.ClaimRegistered, karpv1.ReasonRegistrationHookPending, waits, r.now())
		return hookAgain, nil
	}
	before, node := &nodes[0], nodes[0].DeepCopy()
	if differs := mismatch(c, node); differs != "" && translate.HasTaint(node, api.TaintUnregistered) {
		condition.SetFalse(c, karpv1.ClaimRegistered, karpv1.ReasonInstanceMismatch, differs, r.now())
		return 0, nil
	}
	why, left, err := r.hold.held(ctx, c, node)
	if err != nil {
		return 0, err
	}
	if !translate.HasTaint(node,
		api.TaintUnregistered) && !translate.Adopts(c) && node.Labels[api.LabelRegistered] != "true" {
		r.untainted(c, node)
	}
	reason := karpv1.ReasonAwaitingSpreadDomains
	if why == "" {
		reason = karpv1.ReasonRegistrationHookPending
		if why, left, err = r.nominator.nominate(ctx, c, node); err != nil {
			return 0, err
		}
	}
	syncNode(c, node)
	if why == "" {
		openNode(node)
	}
	if err := r.writeNode(ctx, c, before, node); err != nil {
		return 0, err
	}
	if why != "" {
		condition.SetUnknown(c, karpv1.ClaimRegistered, reason, why, r.now())
		return left, nil
	}
	c.Status.NodeName = node.Name
	condition.SetTrue(c, karpv1.ClaimRegistered, r.now())
	return 0, nil
}

// registerAgain writes what the claim knows on a node whose object was deleted by force while its
// instance ran, and that the kubelet has made again. It waits for none: what it waited for is
// over. An object that is older than the registration is as it was before that.
func (r registration) registerAgain(ctx context.Context, c *karpv1.NodeClaim, nodes []corev1.Node) error {
	if len(nodes) != 1 || nodes[0].Labels[api.LabelRegistered] == "true" ||
		!nodes[0].CreationTimestamp.After(condition.Get(c, karpv1.ClaimRegistered).LastTransitionTime.Time) {
		return nil
	}
	node := nodes[0].DeepCopy()
	syncNode(c, node)
	openNode(node)
	if err := r.writeNode(ctx, c, &nodes[0], node); err != nil {
		return err
	}
	c.Status.NodeName = node.Name
	return nil
}

func (r registration) writeNode(ctx context.Context, c *karpv1.NodeClaim, before, node *corev1.Node) error {
	if equality.Semantic.DeepEqual(before, node) {
		return nil
	}
	if err := r.store.Patch(ctx, node,
		client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("register node %s of claim %s: %w", node.Name, c.Name, err)
	}
	return nil
}

// untainted reports that a node was open to pods before its labels and taints were written.
// User data of the v1alpha5 API's users knows nothing of that taint.
func (r registration) untainted(c *karpv1.NodeClaim, node *corev1.Node) {
	older := translate.PoolOf(c).Kind == translate.KindProvisioner
	r.events.Publish(observe.Event{About: c, Key: "NodeClaim/" + c.Name, Warning: !older,
		Reason: "UnregisteredTaintMissing",
		Message: fmt.Sprintf("node %s joined without taint %s:NoExecute, so pods that its own taints keep off may have come before these were written; where user data of one's own starts the kubelet, have it register the taint (--register-with-taints)",
			node.Name, api.TaintUnregistered)})
}

// syncNode writes on the node what its claim knows. Taints are added once, and
// only where the kubelet does not have them already, so that a start-up taint
// that a user removed does not come back.
func syncNode(c *karpv1.NodeClaim, node *corev1.Node) {
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	maps.Copy(node.Labels, c.Labels)
	for key, value := range c.Annotations {
		if !slices.Contains(ownNotes, key) {
			node.Annotations[key] = value
		}
	}
	if translate.Adopts(c) {
		disown(c, node)
	} else if node.Labels[api.LabelDoNotSyncTaints] != "true" && !owns(c, node) {
		node.Spec.Taints = mergeTaints(node.Spec.Taints, c.Spec.Taints)
		node.Spec.Taints = mergeTaints(node.Spec.Taints, c.Spec.StartupTaints)
	}
	own(c, node)
}

// ownNotes are annotations of claims that say nothing of their nodes.
var ownNotes = []string{api.AnnotationLaunchAttempt, api.AnnotationWithdrawn, api.AnnotationJoins,
	api.AnnotationForPods, api.AnnotationAdopt, api.AnnotationAdoptFrom}

// disown takes from a node that is taken over what it has of its life before: owners with
// which it would go, and the name of a pool of the newer generation where its pool is of
// the older. The name of a Provisioner stays, since pods may ask for it. Its taints are as
// users know them, and pods run there.
func disown(c *karpv1.NodeClaim, node *corev1.Node) {
	node.OwnerReferences = slices.DeleteFunc(node.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.UID != c.UID && strings.HasPrefix(o.APIVersion, api.GroupKarpenter+"/")
	})
	if c.Labels[api.LabelNodePool] == "" {
		delete(node.Labels, api.LabelNodePool)
	}
}

// openNode lets pods come. A node that they never came to needs no drain, so
// the finalizer that asks for one is set no earlier.
func openNode(node *corev1.Node) {
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints,
		func(t corev1.Taint) bool { return t.Key == api.TaintUnregistered })
	node.Labels[api.LabelRegistered] = "true"
	controllerutil.AddFinalizer(node, api.FinalizerTermination)
}

func mergeTaints(have, want []corev1.Taint) []corev1.Taint {
	for _, t := range want {
		if !slices.ContainsFunc(have, func(h corev1.Taint) bool { return h.MatchTaint(&t) }) {
			have = append(have, t)
		}
	}
	return have
}

func owns(c *karpv1.NodeClaim, node *corev1.Node) bool {
	return slices.ContainsFunc(node.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == c.UID })
}

func own(c *karpv1.NodeClaim, node *corev1.Node) {
	if owns(c, node) {
		return
	}
	block := true
	node.OwnerReferences = append(node.OwnerReferences, metav1.OwnerReference{
		APIVersion: karpv1.GroupVersion.String(), Kind: "NodeClaim", Name: c.Name, UID: c.UID, BlockOwnerDeletion: &block,
	})
}
