package drift

import (
	"slices"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// Prospect is a claim as it would be, and what it would be compared with.
type Prospect struct {
	Claim     *karpv1.NodeClaim // with the labels that its instance has
	Pool      translate.PoolObject
	Class     Class
	Offerings *cluster.Catalogue // of the class; nil: not known
	Instances []cloud.Instance   // among them the claim's, by its provider ID; else nothing of it is compared
}

// Predict says by which reason the claim would be found to have drifted, and in which
// words, were it there for long; both are empty where it would not. It is the comparison
// that claims of a cluster get, but for what DaemonSets lack.
func Predict(p Prospect, now time.Time) (reason, text string) {
	requirements, err := translate.PoolRequirements(p.Pool)
	c := p.Claim.DeepCopy()
	condition.Clear(c, karpv1.ClaimDrifted)
	s := &subject{
		claim: c, labels: constraint.NewLabels(c.Labels), stable: true,
		pool: &pool{p.Pool, requirements, err == nil},
		class: &class{Class: p.Class, id: translate.ClassID(c.Spec.NodeClassRef),
			instanceTypes: instanceTypesOf(p.Offerings)},
	}
	id := translate.InstanceID(c.Status.ProviderID)
	if i := slices.IndexFunc(p.Instances, func(m cloud.Instance) bool { return m.ID == id }); i >= 0 {
		s.instance = instanceOf(p.Instances[i])
	}
	s.at, s.reported, s.since = now, now, since{now.Add(-missingFor), now.Add(-missingFor)}
	found := s.judge(slices.DeleteFunc(slices.Clone(checks),
		func(c check) bool { return c.reason == karpv1.ReasonDaemonSetUnplaced }))
	return found.reason, found.text
}
