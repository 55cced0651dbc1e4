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

// register links a claim with its node: the node gets what the claim knows,
// and the taint that kept pods off goes, now or when others have joined. It
// returns how long the node waits for these at most. Nothing is done while waits
// says what is to be known before.
func (r *Reconciler) register(ctx context.Context, c *karpv1.NodeClaim, nodes []corev1.Node, waits string) (time.Duration, error) {
	if condition.IsTrue(c, karpv1.ClaimRegistered) {
		return 0, r.registerAgain(ctx, c, nodes)
	}
	switch len(nodes) {
	case 0:
		condition.SetUnknown(c, karpv1.ClaimRegistered, karpv1.ReasonNodeNotFound, r.missing(c), r.Now())
		return 0, nil
	case 1:
	default:
		condition.SetFalse(c, karpv1.ClaimRegistered, karpv1.ReasonMultipleNodesFound,
			fmt.Sprintf("%d nodes carry provider ID %s", len(nodes), c.Status.ProviderID), r.Now())
		return 0, nil
	}
	if waits != "" {
		condition.SetUnknown(c, karpv1.ClaimRegistered, karpv1.ReasonRegistrationHookPending, waits, r.Now())
		return askAgain, nil
	}
	before, node := &nodes[0], nodes[0].DeepCopy()
	if differs := mismatch(c, node); differs != "" && translate.HasTaint(node, api.TaintUnregistered) {
		condition.SetFalse(c, karpv1.ClaimRegistered, karpv1.ReasonInstanceMismatch, differs, r.Now())
		return 0, nil
	}
	why, left, err := r.held(ctx, c, node)
	if err != nil {
		return 0, err
	}
	if !translate.HasTaint(node, api.TaintUnregistered) && !translate.Adopts(c) && node.Labels[api.LabelRegistered] != "true" {
		r.untainted(c, node)
	}
	reason := karpv1.ReasonAwaitingSpreadDomains
	if why == "" {
		reason = karpv1.ReasonRegistrationHookPending
		if why, left, err = r.nominate(ctx, c, node); err != nil {
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
		condition.SetUnknown(c, karpv1.ClaimRegistered, reason, why, r.Now())
		return left, nil
	}
	c.Status.NodeName = node.Name
	condition.SetTrue(c, karpv1.ClaimRegistered, r.Now())
	return 0, nil
}

// registerAgain writes what the claim knows on a node whose object was deleted by force while its
// machine ran, and that the kubelet has made again. It waits for nobody: what it waited for is
// over. An object that is older than the registration is as it was before that.
func (r *Reconciler) registerAgain(ctx context.Context, c *karpv1.NodeClaim, nodes []corev1.Node) error {
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

func (r *Reconciler) writeNode(ctx context.Context, c *karpv1.NodeClaim, before, node *corev1.Node) error {
	if equality.Semantic.DeepEqual(before, node) {
		return nil
	}
	if err := r.Store.Patch(ctx, node, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("register node %s of claim %s: %w", node.Name, c.Name, err)
	}
	return nil
}

// untainted tells that a node was open to pods before its labels and taints were written.
// User data of the v1alpha5 API's users knows nothing of that taint.
func (r *Reconciler) untainted(c *karpv1.NodeClaim, node *corev1.Node) {
	older := translate.PoolOf(c).Kind == translate.KindProvisioner
	r.Events.Publish(observe.Event{About: c, Key: "NodeClaim/" + c.Name, Warning: !older, Reason: "UnregisteredTaintMissing",
		Message: fmt.Sprintf("node %s joined without taint %s:NoExecute, so pods that its own taints keep off may have come before these were written; where user data of one's own starts the kubelet, have it register the taint (--register-with-taints)",
			node.Name, api.TaintUnregistered)})
}

// syncNode writes on the node what its claim knows. Taints are added once, and
// only where the kubelet was not already told them, so that a start-up taint
// that somebody removed does not come back.
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
var ownNotes = []string{api.AnnotationLaunchAttempt, api.AnnotationWithdrawn, api.AnnotationJoins, api.AnnotationForPods, api.AnnotationAdopt, api.AnnotationAdoptFrom}

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
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == api.TaintUnregistered })
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

// initialise notes when the node is ready for what it was launched for.
func (r *Reconciler) initialise(ctx context.Context, c *karpv1.NodeClaim, node *corev1.Node) error {
	if condition.IsTrue(c, karpv1.ClaimInitialized) {
		if node == nil || node.Labels[api.LabelInitialized] == "true" {
			return nil
		}
		if reason, _ := notInitialised(c, node); reason != "" {
			return nil // it was made again, and starts again
		}
		return r.markInitialised(ctx, c, node)
	}
	if node == nil {
		condition.SetUnknown(c, karpv1.ClaimInitialized, karpv1.ReasonNodeNotFound, "the node is not there", r.Now())
		return nil
	}
	if reason, message := notInitialised(c, node); reason != "" {
		condition.SetUnknown(c, karpv1.ClaimInitialized, reason, message, r.Now())
		return nil
	}
	if err := r.markInitialised(ctx, c, node); err != nil {
		return err
	}
	condition.SetTrue(c, karpv1.ClaimInitialized, r.Now())
	return nil
}

// markInitialised puts the label on the node that says so. Whoever sees it knows
// that what a starting node has and loses was gone before.
func (r *Reconciler) markInitialised(ctx context.Context, c *karpv1.NodeClaim, node *corev1.Node) error {
	if node.Labels[api.LabelInitialized] == "true" {
		return nil
	}
	before := node.DeepCopy()
	metav1.SetMetaDataLabel(&node.ObjectMeta, api.LabelInitialized, "true")
	if err := r.Store.Patch(ctx, node, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("mark node %s of claim %s as initialised: %w", node.Name, c.Name, err)
	}
	return nil
}

// notInitialised says what the node still lacks; an empty reason means nothing.
func notInitialised(c *karpv1.NodeClaim, node *corev1.Node) (reason, message string) {
	if !translate.IsReady(node) {
		return karpv1.ReasonNodeNotReady, "the kubelet does not report Ready"
	}
	for _, t := range c.Spec.StartupTaints {
		if slices.ContainsFunc(node.Spec.Taints, func(n corev1.Taint) bool { return n.MatchTaint(&t) }) {
			return karpv1.ReasonStartupTaintsExist, fmt.Sprintf("startup taint %s is still there", t.ToString())
		}
	}
	for _, t := range node.Spec.Taints {
		if translate.IsEphemeral(t) {
			return karpv1.ReasonKnownEphemeralTaintsExist, fmt.Sprintf("taint %s is still there", t.ToString())
		}
	}
	for _, name := range wantedExtended(c) {
		if q, there := node.Status.Allocatable[name]; !there || q.IsZero() {
			return karpv1.ReasonResourceNotRegistered, fmt.Sprintf("resource %s was asked for and is not in the node's allocatable", name)
		}
	}
	return "", ""
}

// wantedExtended lists the extended resources that the claim was sized for.
func wantedExtended(c *karpv1.NodeClaim) []corev1.ResourceName {
	var names []corev1.ResourceName
	for name, amount := range c.Spec.Resources.Requests {
		switch name {
		case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods:
		default:
			if !amount.IsZero() {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}
