package manifest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// hold takes in what keeps nodes from going, whatever runs on them.
func (a *applier) hold(o Object) error {
	switch x := o.Object.(type) {
	case *corev1.ConfigMap:
		a.freeze(o, x)
		addCommitments(a, o, x)
	case *v1alpha1.DisruptionPolicy:
		return a.policy(o, x)
	}
	return nil
}

// freeze takes in a ConfigMap that may forbid to disturb nodes.
func (a *applier) freeze(o Object, c *corev1.ConfigMap) {
	if c.Name != api.ConfigMapFreeze {
		return
	}
	if in := a.FreezesIn(); c.Namespace != in {
		a.Notes = append(a.Notes, fmt.Sprintf("%s freezes nothing: the controller reads the one in its own namespace, %s (SYSTEM_NAMESPACE)", o, in))
		return
	}
	f := translate.ReadFreeze(c)
	if f.Odd != "" {
		a.Notes = append(a.Notes, f.Odd)
	}
	a.Seen(c)
	if f.Holds(a.Now) {
		a.change(o, "no node may be disrupted voluntarily")
	} else {
		a.change(o, "it has ended, and keeps no node")
	}
}

// addCommitments takes in a ConfigMap that may list Reserved Instances and Savings Plans.
func addCommitments(a *applier, o Object, c *corev1.ConfigMap) {
	if c.Name != api.ConfigMapCommitments {
		return
	}
	if in := a.FreezesIn(); c.Namespace != in {
		note := "%s lists nothing that plans use: the controller reads the one in its own namespace, %s (SYSTEM_NAMESPACE)"
		a.Notes = append(a.Notes, fmt.Sprintf(note, o, in))
		return
	}
	list, err := translate.ReadCommitments(c, a.Commitments.OfAccount())
	if err != nil {
		a.Notes = append(a.Notes, err.Error())
		return
	}
	a.Seen(c)
	a.change(o, "commitments that plans use: %d of Reserved Instances, %d Savings Plans", len(list.Reserved), len(list.Plans))
}

// isKnown reports whether the object is not just any ConfigMap.
func isKnown(o any) bool {
	c, is := o.(*corev1.ConfigMap)
	return is && (c.Name == api.ConfigMapFreeze || c.Name == api.ConfigMapCommitments)
}

// isFreeze reports whether the object is the ConfigMap that freezes nodes.
func isFreeze(o any) bool {
	c, is := o.(*corev1.ConfigMap)
	return is && c.Name == api.ConfigMapFreeze
}

// breakerWithin is the time that the definition of DisruptionPolicy fills in.
const breakerWithin = "30m"

// policy adds a DisruptionPolicy to those of the cluster, or puts it in the place
// of one. Its breaker is as it was.
func (a *applier) policy(o Object, p *v1alpha1.DisruptionPolicy) error {
	if p.Spec.Breaker != nil && p.Spec.Breaker.Within == "" {
		p.Spec.Breaker.Within = breakerWithin
	}
	if err := a.judge(o, validate.DisruptionPolicy(p)); err != nil {
		return err
	}
	if a.Saved != nil {
		if s := p.Spec.NodePools; s != nil && s.Selector != nil {
			return errors.New("spec.nodePools.selector: a saved snapshot has no labels of NodePools: select them by names, or plan on the live cluster")
		}
		a.Notes = append(a.Notes, fmt.Sprintf("%s counts beside what the snapshot says of pools, which does not say by which policies; nodes removed earlier are not known", o))
	}
	list, done := []v1alpha1.DisruptionPolicy{}, "new"
	for _, known := range a.Policies() {
		if known.Object.Name != p.Name {
			list = append(list, *known.Object)
			continue
		}
		p.Status, done = known.Object.Status, "as the manifest says"
	}
	a.PoliciesAre(append(list, *p))
	for _, known := range a.Policies() {
		if why, _ := known.Closed(a.Now); known.Object.Name == p.Name && why != "" {
			done += "; " + why
		}
	}
	a.change(o, "%s", done)
	return nil
}

// budget is a PodDisruptionBudget and where it stands.
type budget struct {
	*policyv1.PodDisruptionBudget
	from Object
}

// pdbs takes in PodDisruptionBudgets, with what they allow of the pods that
// there are now.
func (a *applier) pdbs() error {
	for _, b := range a.budgets {
		a.Seen(b.DeepCopy()) // so that pods are known to be of it
	}
	if len(a.budgets) == 0 {
		return nil
	}
	s := a.Snapshot()
	for _, b := range a.budgets {
		ready, pods := counts(s, b.Namespace, b.Name)
		status, err := podspec.PDBStatus(b.PodDisruptionBudget, ready, pods)
		if err != nil {
			return fmt.Errorf("%s: %w", b.from.At(), err)
		}
		b.Status = status
		a.Seen(b.PodDisruptionBudget)
		if pods == 0 {
			a.change(b.from, "is about no pod that is known")
			continue
		}
		a.change(b.from, "is about %s, %d ready, and at least %d must be: %d may be evicted now", counted(pods), ready, status.DesiredHealthy, status.DisruptionsAllowed)
	}
	return nil
}

// counts are the pods of a PodDisruptionBudget, and those of them that are ready.
func counts(s *cluster.Snapshot, namespace, name string) (ready, pods int) {
	each(s, func(p *cluster.Pod) {
		if p.Namespace != namespace || p.Ending || !slices.Contains(strings.Split(p.PDBs, ","), name) {
			return
		}
		pods++
		if p.Node != "" && !p.Unready {
			ready++
		}
	})
	return ready, pods
}

// checkPDB finds what an API server would refuse in a PodDisruptionBudget.
func checkPDB(b *policyv1.PodDisruptionBudget) error {
	if _, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err != nil {
		return fmt.Errorf("spec.selector: %w", err)
	}
	_, err := podspec.PDBStatus(b, 0, 1)
	return err
}
