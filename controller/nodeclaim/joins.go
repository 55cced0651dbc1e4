package nodeclaim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// holdFor is how long a node that has joined is kept from pods at most, while
// instances in other domains of a spread have no node yet. Instances launched at
// the same time join within half a minute of each other; one that takes a
// minute longer has met with trouble, and pods should run meanwhile.
const holdFor = time.Minute

// turnFor is how long a node waits once those are open whose turn is before its own.
// kube-scheduler tries a pod that found no place again after ten seconds at most
// (podMaxBackoffSeconds), so that all that fit on the others have had their turn.
const turnFor = 10 * time.Second

// group is the claims whose nodes open to pods together. For the same pods
// those of earlier plans are in it as well.
type group struct {
	opened  time.Time // when the last node of it was let go; zero: none was
	joined  []*karpv1.NodeClaim
	opening []*karpv1.NodeClaim // not joined, and their instances bring domains that had no node
	missing []*karpv1.NodeClaim // of these, those that the others wait for
	stable  bool
	turns   map[int]*inTurn
}

// inTurn is the claims of a group that take pods at the same time.
type inTurn struct {
	opened time.Time // when the last node of it was let go; zero: none was
	closed []*karpv1.NodeClaim
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
				all[j.Group] = &group{turns: map[int]*inTurn{}}
			}
			all[j.Group].add(c, j, c.Name == joined)
		}
	}
	return all
}

func (g *group) add(c *karpv1.NodeClaim, j plan.Join, joined bool) {
	registered := condition.Get(c, karpv1.ClaimRegistered)
	isRegistered := registered != nil && registered.Status == metav1.ConditionTrue
	switch {
	case j.Turn > 0:
		g.takesTurn(c, j.Turn, isRegistered, joined)
		return
	case isRegistered && registered.LastTransitionTime.After(g.opened):
		g.opened = registered.LastTransitionTime.Time
	}
	switch {
	case c.DeletionTimestamp != nil:
	case isRegistered, joined, RegisteredReason(c) == karpv1.ReasonAwaitingSpreadDomains:
		g.joined = append(g.joined, c)
	case j.Opens && comes(c):
		g.opening = append(g.opening, c)
	}
}

func (g *group) takesTurn(c *karpv1.NodeClaim, number int, isRegistered, joined bool) {
	t := g.turns[number]
	if t == nil {
		t = &inTurn{}
		g.turns[number] = t
	}
	if isRegistered {
		if since := condition.Get(c, karpv1.ClaimRegistered).LastTransitionTime; since.After(t.opened) {
			t.opened = since.Time
		}
		return
	}
	if c.DeletionTimestamp == nil && (joined || comes(c)) {
		t.closed = append(t.closed, c)
	}
}

// before returns the claims with an earlier turn whose nodes take no pods yet and,
// where there are none, when the last of them began to.
func (g *group) before(number int) (closed []*karpv1.NodeClaim, opened time.Time) {
	for of, t := range g.turns {
		if of >= number {
			continue
		}
		closed = append(closed, t.closed...)
		if t.opened.After(opened) {
			opened = t.opened
		}
	}
	slices.SortFunc(closed, func(a, b *karpv1.NodeClaim) int { return strings.Compare(a.Name, b.Name) })
	return closed, opened
}

// comes reports whether the claim's node may be expected soon: nothing is known
// to be in its way but other launches.
func comes(c *karpv1.NodeClaim) bool {
	if condition.IsFalse(c, karpv1.ClaimRegistered) || c.Annotations[api.AnnotationWithdrawn] != "" {
		return false
	}
	launched := condition.Get(c, karpv1.ClaimLaunched)
	return launched == nil || launched.Status == metav1.ConditionTrue ||
		launched.Reason == condition.ReasonAwaiting || launched.Reason == karpv1.ReasonRequestLimitExceeded
}

// missingIn returns the claims of the group that bring domains which none of
// its nodes has. A claim is not waited for again once nodes were let go
// without it.
func (all groups) missingIn(j plan.Join) []*karpv1.NodeClaim {
	g := all[j.Group]
	if g == nil {
		return nil // the claim is not in the list yet
	}
	if g.stable {
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
	g.stable = true
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
// empty when that is none. Where it waits for a moment, left is for how long.
func (all groups) waitText(joins []plan.Join, now time.Time) (why string, left time.Duration) {
	for _, j := range joins {
		if j.Turn > 0 {
			if why, left = all.turnText(j, now); why != "" {
				return why, left
			}
			continue
		}
		missing := all.missingIn(j)
		switch {
		case len(missing) == 0:
		case j.Key == "":
			return "fewer pods find no room where all nodes of a plan take pods at once: no node yet of " + waitedFor(missing), 0
		default:
			return fmt.Sprintf("pods are to be spread over %s, and the scheduler counts only values that a node has: no node yet of %s", j.Key, waitedFor(missing)), 0
		}
	}
	return "", 0
}

// turnText says why it is not the node's turn yet to take pods.
func (all groups) turnText(j plan.Join, now time.Time) (why string, left time.Duration) {
	g := all[j.Group]
	if g == nil {
		return "", 0 // the claim is not in the list yet
	}
	const because = "its pods are larger than those of other nodes of its plan, and small ones are to find room there first: "
	closed, opened := g.before(j.Turn)
	if len(closed) > 0 {
		return because + "no pod can come yet to the node of " + waitedFor(closed), 0
	}
	if left = turnFor - now.Sub(opened); left <= 0 {
		return "", 0
	}
	return because + "the scheduler has until " + opened.Add(turnFor).UTC().Format(time.TimeOnly), left
}

func waitedFor(claims []*karpv1.NodeClaim) string {
	var names []string
	for _, c := range claims {
		names = append(names, c.Name)
	}
	return fmt.Sprintf("NodeClaim %s, waited for %v at most", brief.List(names, namesMax), holdFor)
}
