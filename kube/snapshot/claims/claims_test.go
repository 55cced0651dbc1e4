package claims

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

type noNodes struct{}

func (noNodes) Node(string) *corev1.Node           { return nil }
func (noNodes) LastPodEvent(string) (at time.Time) { return at }

// classes counts how often each class is named.
type named map[string]int

func (c named) Use(class karpv1.NodeClassReference, more int)            { c[class.Name] += more }
func (named) OfferedTo(*karpv1.NodeClaim) (catalogue *cluster.Catalogue) { return catalogue }

func claim(name, instance string, change ...func(*karpv1.NodeClaim)) *karpv1.NodeClaim {
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{api.LabelNodePool: "default"}}}
	c.Spec.NodeClassRef = karpv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	c.Status.ProviderID = instance
	for _, with := range change {
		with(c)
	}
	return c
}

// A claim is found by its instance, counts for its class and for the pods that it was made for, until it is gone.
func TestAClaimIsKnownUntilItIsGone(t *testing.T) {
	count := named{}
	table := New(noNodes{}, count)
	c := claim("c", "i-1", func(c *karpv1.NodeClaim) { c.Annotations = map[string]string{api.AnnotationForPods: "u"} })
	if !table.Seen(c, now) || table.Seen(c.DeepCopy(), now) {
		t.Error("want a change where it is new, and none where it says the same")
	}
	if has := table.Of("i-1"); has == nil || has.Name != "c" || !table.MadeFor("u") || count["default"] != 1 {
		t.Errorf("of i-1 is %v, its class is named %d times", has, count["default"])
	}
	table.Gone("c", now)
	if table.Of("i-1") != nil || table.Claim("c") != nil || table.MadeFor("u") || count["default"] != 0 {
		t.Errorf("it is known after it has gone; its class is named %d times", count["default"])
	}
}

// Instances whose node has not joined are listed; the list is kept while nothing changes.
func TestInstancesWithoutANodeAreListed(t *testing.T) {
	table := New(noNodes{}, named{})
	table.Seen(claim("b", "i-2"), now)
	table.Seen(claim("a", "i-1"), now)
	table.Seen(claim("joined", "i-3"), now)
	by := table.Basis(1, 1)
	if table.IsListed(by) {
		t.Error("it is listed before it was")
	}
	table.List(by, map[string]bool{"joined": true})
	if l := table.Listed(); len(l) != 2 || l[0].Claim != "a" || l[1].Claim != "b" || !table.IsListed(table.Basis(1, 1)) {
		t.Errorf("listed are %+v, want a and b", l)
	}
	if table.Seen(claim("c", ""), now); table.IsListed(table.Basis(1, 1)) {
		t.Error("a list from before the last claim counts")
	}
}

// A claim whose node was there and that goes is remembered.
func TestDeparturesAreRemembered(t *testing.T) {
	table, next := New(noNodes{}, named{}), New(noNodes{}, named{})
	pool := []cluster.PoolID{{Kind: "NodePool", Name: "default"}}
	registered := func(c *karpv1.NodeClaim) { condition.SetTrue(c, karpv1.ClaimRegistered, now) }
	table.Seen(claim("stays", "i-1", registered), now)
	table.Seen(claim("goes", "i-2", registered), now)
	table.Gone("goes", now)
	if gone, left := table.Departed(pool), table.Remaining(pool); len(gone) != 1 || gone[0].At != now || left != 1 {
		t.Errorf("departed are %+v and %d remain, want one each", gone, left)
	}
	next.Remember(table.Memory(now))
	if gone := next.Departed(pool); len(gone) != 1 {
		t.Errorf("the next process knows of %+v", gone)
	}
	if late := table.Memory(now.Add(25 * time.Hour)); len(late) != 0 {
		t.Errorf("after a day it remembers %+v", late)
	}
}
