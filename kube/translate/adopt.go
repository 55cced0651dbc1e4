package translate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// Adoption is the claim by which a pool takes over the instance of a node that is there, from the
// claim named from, or from none. Where the node carries a label of the pool's template with
// another value, as one of an older template does, it keeps it. The same pool and instance give the
// same name, so that adopting can be repeated. It returns an error for a pool whose requirements
// cannot be read.
func Adoption(pool PoolObject, node *corev1.Node, from string) (*karpv1.NodeClaim, error) {
	requirements, err := PoolRequirements(pool)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pool.ID, err)
	}
	requirements = slices.DeleteFunc(requirements, func(r constraint.Requirement) bool { return api.IsOfOlderAPI(r.Key) })
	labels := PoolLabels(pool).Map()
	for key := range pool.Template.Metadata.Labels {
		if value, there := node.Labels[NormaliseKey(key)]; there {
			labels[NormaliseKey(key)] = value
		}
	}
	annotations := map[string]string{}
	maps.Copy(annotations, pool.Template.Metadata.Annotations)
	recordMaking(annotations, pool)
	annotations[api.AnnotationAdopt] = node.Spec.ProviderID
	if from != "" {
		annotations[api.AnnotationAdoptFrom] = from
	}
	template := pool.Template.Spec
	return &karpv1.NodeClaim{
		TypeMeta: metav1.TypeMeta{APIVersion: karpv1.GroupVersion.String(), Kind: "NodeClaim"},
		ObjectMeta: metav1.ObjectMeta{
			Name:            adoptionName(pool, node.Spec.ProviderID),
			Labels:          labels,
			Annotations:     annotations,
			Finalizers:      []string{api.FinalizerTermination},
			OwnerReferences: []metav1.OwnerReference{ownedByPool(pool)},
		},
		Spec: karpv1.NodeClaimSpec{
			Taints:                 template.Taints,
			StartupTaints:          template.StartupTaints,
			Requirements:           withPool(pool, requirements),
			NodeClassRef:           template.NodeClassRef,
			ExpireAfter:            template.ExpireAfter,
			TerminationGracePeriod: template.TerminationGracePeriod,
		},
	}, nil
}

// adoptionName differs between pools of the same name and different kinds.
func adoptionName(pool PoolObject, providerID string) string {
	sum := sha256.Sum256([]byte(pool.ID.Kind + " " + providerID))
	return pool.ID.Name + "-" + hex.EncodeToString(sum[:5])
}

// Adopts reports whether the claim takes over an instance rather than being launched one, or has
// done so. One that was seen to stays so without its annotation.
func Adopts(claim *karpv1.NodeClaim) bool {
	if claim.Annotations[api.AnnotationAdopt] != "" {
		return true
	}
	launched := condition.Get(claim, karpv1.ClaimLaunched)
	return launched != nil && launched.Reason == karpv1.ReasonNotAdopted
}

// IsListed reports whether the cloud lists the instance of the claim, where it has one, as the
// cluster's. One that is taken over is not before it is tagged.
func IsListed(claim *karpv1.NodeClaim) bool {
	return !Adopts(claim) || claim.Annotations[api.AnnotationInstanceTagged] == "true"
}

// recordMaking writes what nodes of the pool are made from now.
func recordMaking(annotations map[string]string, pool PoolObject) {
	if pool.Hash != "" {
		annotations[api.AnnotationNodePoolHash] = pool.Hash
		annotations[api.AnnotationNodePoolHashVersion] = pool.HashVersion
	}
	if pool.Made != "" {
		annotations[api.AnnotationProvisionerHash] = pool.Made
	}
	if pool.ClassMade != "" {
		annotations[api.AnnotationNodeTemplateHash] = pool.ClassMade
	}
}

// TakesFrom reports whether the claim takes its instance over from the other one, which goes
// without it. Of two that name each other, as after nodes went to a pool and back, the one created
// last does; of equals, the one whose name comes last.
func TakesFrom(c, other *karpv1.NodeClaim) bool {
	if c.Annotations[api.AnnotationAdoptFrom] != other.Name {
		return false
	}
	return other.Annotations[api.AnnotationAdoptFrom] != c.Name ||
		cmp.Or(c.CreationTimestamp.Compare(other.CreationTimestamp.Time), cmp.Compare(c.Name, other.Name)) > 0
}
