package interruption

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/store"
)

// heeds has the pool say what follows from recommendations.
func (d *evaluator) heeds(what string) {
	d.t.Helper()
	p := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: store.PoolSpec()}
	if what != "" {
		p.Annotations = map[string]string{api.AnnotationRebalance: what}
	}
	if err := d.hand.Create(context.Background(), p); err != nil {
		d.t.Fatal(err)
	}
}

// advised lists the claims that are to be replaced.
func (d *evaluator) advised() (out []string) {
	d.t.Helper()
	var list karpv1.NodeClaimList
	if err := d.hand.List(context.Background(), &list); err != nil {
		d.t.Fatal(err)
	}
	for i := range list.Items {
		if list.Items[i].Annotations[api.AnnotationAdvised] != "" {
			out = append(out, list.Items[i].Name)
		}
	}
	return out
}

func TestWhatFollowsFromARecommendation(t *testing.T) {
	tests := map[string]struct {
		pool     string
		age      time.Duration
		cordoned bool
		advised  bool
		says     string
	}{
		"a pool that says nothing":                    {"", time.Hour, false, false, "ignored: the pool says nothing else by the annotation daemok.sh/rebalance"},
		"a pool that ignores it":                      {"ignore", time.Hour, false, false, "is ignored"},
		"a pool that says something that is no word":  {"drain", time.Hour, false, false, `ignored: the pool's metadata.annotations[daemok.sh/rebalance]: "drain" means nothing`},
		"a pool that cordons":                         {"cordon", time.Minute, true, false, "the node is cordoned"},
		"a pool that replaces":                        {"replace", time.Hour, false, true, "the node is replaced, as the budgets of its pool allow"},
		"a pool that replaces, and a machine too new": {"replace", 29 * time.Minute, false, false, "ignored: the instance is younger than 30m0s"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := newEvaluator(t)
			d.heeds(tt.pool)
			d.claim("one", "i-1")
			if err := d.hand.Create(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-one"}}); err != nil {
				t.Fatal(err)
			}
			d.Now = func() time.Time { return d.one().CreationTimestamp.Add(tt.age) }
			for range 2 { // the second time changes nothing
				if _, err := d.hear(about(cloud.Rebalance, "i-1")); err != nil {
					t.Fatal(err)
				}
			}
			node := &corev1.Node{}
			if err := d.hand.Get(context.Background(), client.ObjectKey{Name: "node-one"}, node); err != nil {
				t.Fatal(err)
			}
			if node.Spec.Unschedulable != tt.cordoned || (len(d.advised()) > 0) != tt.advised || len(d.leaving()) > 0 || len(d.done) != 2 {
				t.Errorf("cordoned: %v, to be replaced: %q, %q leave, done %q", node.Spec.Unschedulable, d.advised(), d.leaving(), d.done)
			}
			if !strings.Contains(d.words[0], tt.says) {
				t.Errorf("it is said %q, want %q", d.words[0], tt.says)
			}
			if acts := tt.cordoned || tt.advised; (len(d.short) > 0) != acts {
				t.Errorf("short: %v, want that where anything is done", d.short)
			}
		})
	}
}

// An instance whose node has not come, and a node that is cordoned already, are left be,
// and do not count.
func TestWhatCannotBeCordonedIsLeftBe(t *testing.T) {
	for name, tt := range map[string]struct {
		node *corev1.Node
		says string
	}{
		"no node yet":     {nil, "is ignored: the instance has no node yet that could be cordoned"},
		"one that is so":  {&corev1.Node{Spec: corev1.NodeSpec{Unschedulable: true}}, "the node is cordoned already"},
		"one that is not": {&corev1.Node{}, "the node is cordoned, so that nothing new comes to it"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newEvaluator(t)
			d.heeds(api.RebalanceCordon)
			d.claim("one", "i-1")
			if tt.node != nil {
				tt.node.Name = "node-one"
				if err := d.hand.Create(t.Context(), tt.node); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := d.hear(about(cloud.Rebalance, "i-1")); err != nil {
				t.Fatal(err)
			}
			acts := name == "one that is not"
			if !strings.Contains(d.words[0], tt.says) || (len(d.short) > 0) != acts || d.Actor.advised.take("web", 1, d.Now()) == acts {
				t.Errorf("it is said %q, short %v; want %q, and another to be heeded unless it was", d.words[0], d.short, tt.says)
			}
		})
	}
}

// No more than a tenth of a pool's nodes are cordoned within ten minutes, also where one
// controller took over from another meanwhile.
func TestNodesAreCordonedAtAPace(t *testing.T) {
	d := newEvaluator(t)
	d.heeds(api.RebalanceCordon)
	var all []cloud.InterruptionMessage
	for i := range 11 {
		name := fmt.Sprintf("c-%02d", i)
		d.claim(name, "i-"+name)
		if err := d.hand.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + name, Labels: map[string]string{api.LabelNodePool: "web"}}}); err != nil {
			t.Fatal(err)
		}
		all = append(all, about(cloud.Rebalance, "i-"+name))
	}
	now := start.Add(time.Minute)
	for round, want := range []int{2, 2, 4} {
		d.Reader = &Reader{InterruptionMessages: d, Actor: &Actor{Shortages: d, Store: d.Store, Serves: d.Serves, Events: d, Metrics: d.Metrics, Log: d.Log, Now: func() time.Time { return now }}}
		if _, err := d.hear(slices.Clone(all)...); err != nil {
			t.Fatal(err)
		}
		var nodes corev1.NodeList
		if err := d.hand.List(t.Context(), &nodes); err != nil {
			t.Fatal(err)
		}
		cordoned := slices.DeleteFunc(nodes.Items, func(n corev1.Node) bool { return !n.Spec.Unschedulable })
		if len(cordoned) != want {
			t.Errorf("round %d: %d nodes are cordoned, want %d", round, len(cordoned), want)
		}
		now = now.Add(5 * time.Minute)
	}
	if !slices.ContainsFunc(d.words, func(s string) bool {
		return strings.Contains(s, "no more than 2 (10%) are cordoned within 10m0s")
	}) {
		t.Errorf("nobody said why others are ignored: %q", d.words)
	}
}

// What could not be written does not count: it is followed when it comes again.
func TestARecommendationThatCouldNotBeHeededIsHeededLater(t *testing.T) {
	d := newEvaluator(t)
	d.heeds(api.RebalanceReplace)
	d.claim("one", "i-1")
	d.Now = func() time.Time { return start.Add(time.Hour) }
	d.deny = errors.New("no")
	if _, err := d.hear(about(cloud.Rebalance, "i-1")); err == nil {
		t.Error("Round has no error")
	}
	d.deny = nil
	if _, err := d.hear(about(cloud.Rebalance, "i-1")); err != nil || len(d.advised()) != 1 {
		t.Errorf("Round = %v, %q are to be replaced", err, d.advised())
	}
}

// However many recommendations come at once, a tenth of the pool's instances, rounded up,
// are marked to be replaced within ten minutes.
func TestRecommendationsAreHeededAtAPace(t *testing.T) {
	d := newEvaluator(t)
	d.heeds(api.RebalanceReplace)
	var all []cloud.InterruptionMessage
	for i := range 11 {
		id := fmt.Sprintf("i-%d", i)
		d.claim(fmt.Sprintf("c-%02d", i), id)
		all = append(all, about(cloud.Rebalance, id))
	}
	now := start.Add(time.Hour)
	d.Now = func() time.Time { return now }
	for round, want := range []int{2, 2, 4} {
		if _, err := d.hear(slices.Clone(all)...); err != nil {
			t.Fatal(err)
		}
		if got := d.advised(); len(got) != want {
			t.Errorf("round %d: %q are to be replaced, want %d", round, got, want)
		}
		now = now.Add(5 * time.Minute)
	}
	if !slices.ContainsFunc(d.words, func(s string) bool {
		return strings.Contains(s, "no more than 2 (10%) are replaced within 10m0s")
	}) {
		t.Errorf("nobody said why others are ignored: %q", d.words)
	}
}

// mark has a claim carry an annotation.
func (d *evaluator) mark(name, key, value string) {
	d.t.Helper()
	c := &karpv1.NodeClaim{}
	if err := d.hand.Get(context.Background(), client.ObjectKey{Name: name}, c); err != nil {
		d.t.Fatal(err)
	}
	before := c.DeepCopy()
	c.Annotations = map[string]string{key: value}
	if err := d.hand.Patch(context.Background(), c, client.MergeFrom(before)); err != nil {
		d.t.Fatal(err)
	}
}

// young has a claim that was made then in place of another.
func (d *evaluator) young(name string, at time.Time, replaces string) {
	d.t.Helper()
	d.stored = at
	d.claim(name, "i-"+name)
	d.mark(name, api.AnnotationReplaces, replaces)
}

// A controller that begins again goes on at the pace of the one before: it counts the
// claims that are marked, and those that are gone and have another in their place.
func TestThePaceOfRecommendationsOutlivesTheController(t *testing.T) {
	at := start.Add(time.Hour)
	tests := map[string]struct {
		before func(d *evaluator) // done lately, of eleven claims; two may be marked
		want   int                // marked in the end
	}{
		"nothing was done": {func(*evaluator) {}, 2},
		"two were marked and are still there": {func(d *evaluator) {
			d.mark("c-07", api.AnnotationAdvised, at.Add(-9*time.Minute).Format(time.RFC3339))
			d.mark("c-08", api.AnnotationAdvised, at.Add(-time.Minute).Format(time.RFC3339))
		}, 2},
		"one was marked too long ago to count": {func(d *evaluator) {
			d.mark("c-07", api.AnnotationAdvised, at.Add(-10*time.Minute).Format(time.RFC3339))
			d.mark("c-08", api.AnnotationAdvised, at.Add(-time.Minute).Format(time.RFC3339))
		}, 3},
		"one is gone, and a machine has come in its place": {func(d *evaluator) {
			d.young("c-10", at.Add(-3*time.Minute), "c-gone")
		}, 1},
		"one has another in its place already and is still there, unmarked": {func(d *evaluator) {
			d.young("c-10", at.Add(-3*time.Minute), "c-09")
		}, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := newEvaluator(t)
			d.heeds(api.RebalanceReplace)
			var all []cloud.InterruptionMessage
			for i := range 10 {
				id := fmt.Sprintf("i-%d", i)
				d.claim(fmt.Sprintf("c-%02d", i), id)
				all = append(all, about(cloud.Rebalance, id))
			}
			d.claim("c-11", "i-11")
			tt.before(d)
			d.Now = func() time.Time { return at }
			for range 2 {
				if _, err := d.hear(all[:5]...); err != nil {
					t.Fatal(err)
				}
			}
			if got := d.advised(); len(got) != tt.want {
				t.Errorf("%q are to be replaced, want %d", got, tt.want)
			}
		})
	}
}
