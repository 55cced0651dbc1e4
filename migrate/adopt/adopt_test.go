package adopt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/store"
)

func clusterOf(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	hand := store.New(s, time.Now).Connect(nil)
	for _, o := range objects {
		if err := hand.Create(context.Background(), o); err != nil {
			t.Fatal(err)
		}
	}
	return hand
}

func pool(name, group string) *karpv1.NodePool {
	p := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: store.PoolSpec()}
	p.Spec.Template.Spec.NodeClassRef.Group = group
	return p
}

func node(name, pool, providerID string) *corev1.Node {
	labels := map[string]string{api.LabelNodePool: pool}
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: corev1.NodeSpec{ProviderID: providerID}}
}

// claim has an instance, or asks for it.
func claim(name, has, asks string) *karpv1.NodeClaim {
	c := &karpv1.NodeClaim{Spec: store.ClaimSpec(), ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Status.ProviderID = has
	if has != "" {
		condition.SetTrue(c, karpv1.ClaimRegistered, time.Now())
	}
	if asks != "" {
		c.Annotations = map[string]string{api.AnnotationAdopt: asks}
	}
	return c
}

// Nodes of a pool that no claim has are found, with what is against their being taken over; those
// of other providers, of none, and those that a claim has are not.
func TestFind(t *testing.T) {
	store := clusterOf(t, pool("web", api.GroupAWS), pool("theirs", "other.io"),
		node("free", "web", "aws:///a/i-1"), node("taken", "web", "aws:///a/i-2"),
		node("adopted", "web", "aws:///a/i-3"), node("asked", "web", "aws:///a/i-4"),
		node("lost", "gone", "aws:///a/i-5"), node("new", "web", ""),
		node("foreign", "theirs", "other:///a/1"), node("nobodys", "", "aws:///a/i-6"),
		node("leaving", "web", "aws:///a/i-7"),
		claim("bought", "aws:///a/i-2", ""), claim("done", "aws:///a/i-3", "aws:///a/i-3"),
		claim("waits", "", "aws:///a/i-4"), claim("ordered", "", ""))
	leaving := &corev1.Node{}
	if err := store.Get(t.Context(), client.ObjectKey{Name: "leaving"}, leaving); err != nil {
		t.Fatal(err)
	}
	leaving.Finalizers = []string{"somebody.example/waits"}
	if err := errors.Join(store.Update(t.Context(), leaving), store.Delete(t.Context(), leaving)); err != nil {
		t.Fatal(err)
	}
	found, err := Find(t.Context(), store, translate.Generations{translate.NodePools()})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, o := range found {
		fmt.Fprintf(&got, "%s of %s: %s%s\n", o.Node.Name, o.ID, o.Why, o.Claim)
	}
	want := `asked of NodePool/web: waits
free of NodePool/web: 
leaving of NodePool/web: it is being deleted
lost of NodePool/gone: there is no NodePool gone; make it, with the settings that the node has
new of NodePool/web: it has no spec.providerID
`
	if got.String() != want {
		t.Errorf("found are\n%s\nwant\n%s", &got, want)
	}
}

// A pool that keeps fewer nodes than it would have removes some, so it takes none over before its user has said so.
func TestAPoolWithTooManyNodesTakesNoneOver(t *testing.T) {
	of := func(change func(*karpv1.NodePool)) *karpv1.NodePool {
		p := pool("web", api.GroupAWS)
		change(p)
		return p
	}
	hours := map[string]string{api.AnnotationHours: `{changes: [{at: "0 0 * * *", nodes: 2}]}`}
	wrong := map[string]string{api.AnnotationHours: "soon"}
	tests := map[string]struct {
		pool *karpv1.NodePool
		want string // why its nodes are not taken over
	}{
		"as many as it keeps": {of(func(p *karpv1.NodePool) { p.Spec.Replicas = new(int64(3)) }), ""},
		"more": {of(func(p *karpv1.NodePool) { p.Spec.Replicas = new(int64(2)) }), "NodePool/web keeps 2 nodes " +
			"(spec.replicas), and would remove some of its 3; run kubectl scale nodepool web --replicas=3 first, " +
			"or delete nodes that are not needed"},
		"more than its hours say": {of(func(p *karpv1.NodePool) { p.Annotations = hours }),
			"NodePool/web may have 2 nodes (daemok.sh/hours, until "},
		"hours that are wrong": {of(func(p *karpv1.NodePool) { p.Annotations = wrong }), ""},
		"no number":            {of(func(*karpv1.NodePool) {}), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			taken := claim("bought", "aws:///a/i-1", "")
			taken.Labels = map[string]string{api.LabelNodePool: "web"}
			store := clusterOf(t, tt.pool, taken, node("taken", "web", "aws:///a/i-1"),
				node("one", "web", "aws:///a/i-2"), node("two", "web", "aws:///a/i-3"))
			found, err := Find(t.Context(), store, translate.Generations{translate.NodePools()})
			if err != nil || len(found) != 2 {
				t.Fatalf("found %v, %v; want two nodes", found, err)
			}
			for _, o := range found {
				if !strings.HasPrefix(o.Why, tt.want) || (o.Why == "") != (tt.want == "") {
					t.Errorf("node %s: %q, want %q", o.Node.Name, o.Why, tt.want)
				}
			}
		})
	}
}

// To ask twice makes one claim, and none beside that of another caller.
func TestAskingAgainMakesNoSecondClaim(t *testing.T) {
	store := clusterOf(t, pool("web", api.GroupAWS), node("free", "web", "aws:///a/i-1"),
		node("asked", "web", "aws:///a/i-4"), claim("waits", "", "aws:///a/i-4"))
	for range 2 {
		found, err := Find(t.Context(), store, translate.Generations{translate.NodePools()})
		if err != nil || len(found) != 2 {
			t.Fatalf("found %v, %v", found, err)
		}
		for _, o := range found {
			name, err := Ask(t.Context(), store, o)
			if err != nil || o.Node.Name == "asked" && name != "waits" {
				t.Errorf("to ask for node %s gives %s, %v", o.Node.Name, name, err)
			}
		}
		var claims karpv1.NodeClaimList
		if err := store.List(t.Context(), &claims); err != nil || len(claims.Items) != 2 {
			t.Errorf("there are %d claims, %v", len(claims.Items), err)
		}
	}
}
