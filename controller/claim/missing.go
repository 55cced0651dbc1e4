package claim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// group is the claims whose nodes open to pods together. For the same pods
// those of earlier plans are in it as well.
type group struct {
	opened  time.Time // when the last node of it was let go; zero: none was
	joined  []*karpv1.NodeClaim
	opening []*karpv1.NodeClaim // not joined, and their machines bring domains that had no node
	missing []*karpv1.NodeClaim // of these, those that the others wait for
	settled bool
}

// groups is all groups by their names.
type groups map[string]*group

// groupsOf finds the groups that claims are in. The claim of that name counts
// as joined.
func groupsOf(list []karpv1.NodeClaim, joined string) groups {
	all := groups{}
	for i := range list {
		c := &list[i]
		for _, j := range translate.Joins(c.Annotations) {
			if all[j.Group] == nil {
				all[j.Group] = &group{}
			}
			all[j.Group].add(c, j.Opens, c.Name == joined)
		}
	}
	return all
}

func (g *group) add(c *karpv1.NodeClaim, opens, joined bool) {
	registered := condition.Get(c, karpv1.ClaimRegistered)
	isRegistered := registered != nil && registered.Status == metav1.ConditionTrue
	if isRegistered && registered.LastTransitionTime.After(g.opened) {
		g.opened = registered.LastTransitionTime.Time
	}
	switch {
	case c.DeletionTimestamp != nil:
	case isRegistered, joined, RegisteredReason(c) == karpv1.ReasonAwaitingSpreadDomains:
		g.joined = append(g.joined, c)
	case opens && comes(c):
		g.opening = append(g.opening, c)
	}
}

// comes reports whether the claim's node may be expected soon: nothing is known
// to be in its way but other purchases.
func comes(c *karpv1.NodeClaim) bool {
	if condition.IsFalse(c, karpv1.ClaimRegistered) || c.Annotations[api.MarkWithdrawn] != "" {
		return false
	}
	launched := condition.Get(c, karpv1.ClaimLaunched)
	return launched == nil || launched.Status == metav1.ConditionTrue ||
		launched.Reason == condition.ReasonAwaiting || launched.Reason == karpv1.ReasonLaunchThrottled
}

// missingIn returns the claims of the group that bring domains which none of
// its nodes has. A claim is not waited for again once nodes were let go
// without it.
func (all groups) missingIn(j plan.Join) []*karpv1.NodeClaim {
	g := all[j.Group]
	if g == nil {
		return nil // the claim is not in the list yet
	}
	if g.settled {
		return g.missing
	}
	offered := map[string]bool{}
	for _, c := range g.joined {
		offered[c.Labels[j.Key]] = true
	}
	for _, c := range g.opening {
		values := labelsOf(c, j.Key)
		there := len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return !offered[v] })
		if !there && !g.opened.After(c.CreationTimestamp.Time) {
			g.missing = append(g.missing, c)
		}
	}
	slices.SortFunc(g.missing, func(a, b *karpv1.NodeClaim) int { return strings.Compare(a.Name, b.Name) })
	g.settled = true
	return g.missing
}

// labelsOf lists what the label of the claim's node may be; nothing at all
// means that it is not known.
func labelsOf(c *karpv1.NodeClaim, key string) []string {
	if value, known := c.Labels[key]; known {
		return []string{value}
	}
	for _, r := range c.Spec.Requirements {
		if r.Key == key && r.Operator == "In" {
			return r.Values
		}
	}
	return nil
}

// namesMax is how many claims a message names.
const namesMax = 3

// waitText says for whom the claim's node, which has joined, waits; it is
// empty when that is nobody.
func (all groups) waitText(joins []plan.Join) string {
	for _, j := range joins {
		missing := all.missingIn(j)
		if len(missing) == 0 {
			continue
		}
		var names []string
		for _, c := range missing[:min(len(missing), namesMax)] {
			names = append(names, c.Name)
		}
		text := strings.Join(names, ", ")
		if more := len(missing) - namesMax; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		if j.Key == "" {
			return fmt.Sprintf("fewer pods find no room where all machines of a plan take pods at once: "+
				"no node yet of NodeClaim %s, waited for %v at most", text, holdFor)
		}
		return fmt.Sprintf("pods are to be spread over %s, and the scheduler counts only values that a node has: "+
			"no node yet of NodeClaim %s, waited for %v at most", j.Key, text, holdFor)
	}
	return ""
}
