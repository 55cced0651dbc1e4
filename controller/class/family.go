package class

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// mismatch is the error of an image whose nodes would not read the user data of the class's
// family, and so never join: by its name where that says the family, else by what nodes of
// it report. With the class's own nodes there, or user data of the user's that starts them,
// they do; where the name does not say it, nodes count that the class launched before it
// was edited: what an operating system reports says too little of an image of the user's
// own.
func (r *Reconciler) mismatch(ctx context.Context, c *Subject, images []nodeclass.Image) error {
	family := c.Spec.EffectiveFamily()
	if family == nodeclass.Custom {
		return nil
	}
	var joined map[string]seenFamily
	for _, image := range images {
		is := image.Family()
		if is != "" && family.Boots(is) {
			continue
		}
		if joined == nil {
			joined = r.seenFamilies(ctx, c)
		}
		seen := joined[image.ID]
		if is == "" && seen.before {
			continue
		}
		if is == "" {
			is = seen.family
		}
		if seen.own || family.Boots(is) || is.BootsBy(c.Spec.UserData) {
			continue
		}
		return &nodeclass.MissingError{Reason: nodeclass.AMIFamilyMismatch, Text: fmt.Sprintf(
			"spec.amiSelectorTerms selects image %s (%s), which is of the family %s, and spec.amiFamily is %s: its nodes would not understand their user data and never join: %s",
			image.ID, image.Name, is, family, c.waysOfFamily(family, is))}
	}
	return nil
}

// waysOfFamily is what helps where images are of another family than the class.
func (c *Subject) waysOfFamily(family, is nodeclass.Family) string {
	images := fmt.Sprintf("select images of %s", family)
	if c.Kind.Name != KindEC2NodeClass && is == nodeclass.AL2023 {
		return images + ", move to an EC2NodeClass of the family AL2023, which daemok migrate writes, or write Custom and user data of your own"
	}
	return fmt.Sprintf("%s, or write %s there", images, is)
}

// seenFamily is what nodes showed of an image.
type seenFamily struct {
	family nodeclass.Family
	own    bool // a node of the class as it is has joined
	before bool // a node of the class has joined, as it is or was
}

// seenFamilies are the families that nodes report, by image.
func (r *Reconciler) seenFamilies(ctx context.Context, c *Subject) map[string]seenFamily {
	out := map[string]seenFamily{}
	var claims karpv1.NodeClaimList
	if err := r.Store.List(ctx, &claims); err != nil {
		return out // the next check will know
	}
	for i := range claims.Items {
		claim, node := &claims.Items[i], &corev1.Node{}
		if claim.Status.NodeName == "" || r.Store.Get(ctx, client.ObjectKey{Name: claim.Status.NodeName}, node) != nil {
			continue
		}
		seen := out[claim.Status.ImageID]
		if family := nodeclass.FamilyOfOS(node.Status.NodeInfo.OSImage); family != "" {
			seen.family = family
		}
		ref := claim.Spec.NodeClassRef
		ours := ref.Group == c.Kind.Group && ref.Kind == c.Kind.Name && ref.Name == c.GetName()
		seen.before = seen.before || ours
		seen.own = seen.own || ours && claim.Annotations[api.AnnotationNodeClassHash] == c.GetAnnotations()[api.AnnotationNodeClassHash]
		out[claim.Status.ImageID] = seen
	}
	return out
}
