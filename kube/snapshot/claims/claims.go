// Package claims is the table of NodeClaims: by instance, those whose node has not joined, and those
// deleted lately.
package claims

import (
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/translate"
)

// nodes say what is known of the nodes of claims.
type nodes interface {
	Node(name string) *corev1.Node
	LastPodEvent(name string) time.Time
}

// classes count who names them, and say what they offer.
type classes interface {
	Use(class karpv1.NodeClassReference, more int)
	OfferedTo(c *karpv1.NodeClaim) *cluster.Catalogue
}

// Table holds NodeClaims. It is not safe for concurrent use. Build it with New.
type Table struct {
	ClusterAutoscaler mark.ClusterAutoscaler // set before anything is seen

	nodes   nodes
	classes classes

	claims     map[string]*karpv1.NodeClaim
	byInstance map[string][]string // by provider ID: claims, by name
	madeFor    map[string]int      // by UID of a pod: how many claims say that they were made for it
	round      uint64              // grows when a claim changes
	boots      map[cluster.PoolID]time.Duration
	departures departures
	recalled   []cluster.PoolID // of nodes of a saved snapshot that stay

	shown  map[string]instance // by claim: what was shown of it last
	listed []cluster.Instance  // as snapshots list them, never written
	from   Basis               // what they were listed by
}

// New returns an empty table.
func New(nodes nodes, classes classes) *Table {
	return &Table{
		nodes: nodes, classes: classes, claims: map[string]*karpv1.NodeClaim{}, byInstance: map[string][]string{}, madeFor: map[string]int{}, round: 1,
		departures: departures{}, shown: map[string]instance{},
	}
}

// Seen takes in a claim, which must not be written any more. It reports false where it says nothing but our own
// notes, of what is known. A claim of another provider means nothing: its node may be any.
func (t *Table) Seen(c *karpv1.NodeClaim, now time.Time) bool {
	if translate.IsForeign(c.Spec.NodeClassRef) {
		return false
	}
	before := t.claims[c.Name]
	t.claims[c.Name] = c
	t.boots = nil
	t.round++
	t.classes.Use(translate.ClassOf(c), 1)
	if before != nil {
		t.leave(before)
	}
	t.isFor(c, 1)
	if id := c.Status.ProviderID; id != "" {
		at, _ := slices.BinarySearch(t.byInstance[id], c.Name)
		t.byInstance[id] = slices.Insert(t.byInstance[id], at, c.Name)
	}
	if c.DeletionTimestamp != nil {
		t.departures.record(c, now)
	}
	knows := !c.Status.LastPodEventTime.After(t.nodes.LastPodEvent(c.Status.NodeName))
	return before == nil || !knows || !reflect.DeepEqual(withoutNotes(before), withoutNotes(c))
}

// withoutNotes is a claim without what no snapshot shows and loops of ours
// write again and again.
func withoutNotes(c *karpv1.NodeClaim) karpv1.NodeClaim {
	out := *c
	out.ResourceVersion, out.ManagedFields = "", nil
	out.Status.LastPodEventTime = metav1.Time{}
	out.Status.Conditions = slices.DeleteFunc(slices.Clone(c.Status.Conditions), func(o metav1.Condition) bool { return o.Type == karpv1.ClaimConsolidatable })
	return out
}

// Gone takes in that a claim was deleted.
func (t *Table) Gone(name string, now time.Time) {
	c := t.claims[name]
	if c == nil {
		return
	}
	t.departures.record(c, now)
	t.boots = nil
	t.round++
	t.leave(c)
	delete(t.shown, name)
	delete(t.claims, name)
}

// leave takes out what a claim says.
func (t *Table) leave(c *karpv1.NodeClaim) {
	t.classes.Use(translate.ClassOf(c), -1)
	t.isFor(c, -1)
	id := c.Status.ProviderID
	if at, found := slices.BinarySearch(t.byInstance[id], c.Name); found {
		if t.byInstance[id] = slices.Delete(t.byInstance[id], at, at+1); len(t.byInstance[id]) == 0 {
			delete(t.byInstance, id)
		}
	}
}

// isFor counts the pods that the claim was made for, so many times more.
func (t *Table) isFor(c *karpv1.NodeClaim, more int) {
	uids, _ := translate.ForPods(c)
	for _, uid := range uids {
		if t.madeFor[uid] += more; t.madeFor[uid] == 0 {
			delete(t.madeFor, uid)
		}
	}
}

// Claim returns a claim as it was last seen; nil: none was.
func (t *Table) Claim(name string) *karpv1.NodeClaim { return t.claims[name] }

// ForRequests lists the claims, sorted, that say for which ProvisioningRequests they were made, by namespace/name of
// these, without those that are being deleted. Cost: linear in claims.
func (t *Table) ForRequests() map[string][]string {
	out := map[string][]string{}
	for name, c := range t.claims {
		if c.DeletionTimestamp != nil {
			continue
		}
		for _, request := range translate.ForRequests(c) {
			out[request] = append(out[request], name)
		}
	}
	for _, names := range out {
		slices.Sort(names)
	}
	return out
}

// MadeFor reports whether any claim says that it was made for a pod.
func (t *Table) MadeFor(podUID string) bool { return t.madeFor[podUID] > 0 }

// Of is the claim of an instance; nil where it has none. One that takes it over has
// it, once its node is registered, before the one that it takes it from.
func (t *Table) Of(providerID string) (has *karpv1.NodeClaim) {
	for _, name := range t.byInstance[providerID] {
		c := t.claims[name]
		if !isToAdopt(c) && (has == nil || translate.TakesFrom(c, has)) {
			has = c
		}
	}
	return has
}
