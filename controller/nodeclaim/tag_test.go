package nodeclaim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// rack is a cloud with one instance, i-1, and more that lack nothing to be tagged; it
// counts the calls.
type rack struct {
	tags   map[string]string // nil: the instance is not to be seen
	err    error             // of Tag for it
	listed int
	tagged []string // keys of i-1, call by call
	others []string // that were tagged beside it
}

func (r *rack) List(_ context.Context, f cloud.Filter) (out []cloud.Instance, err error) {
	r.listed++
	for _, id := range slices.Sorted(slices.Values(f.IDs)) {
		switch {
		case id != "i-1":
			out = append(out, cloud.Instance{ID: id})
		case r.tags != nil:
			out = append(out, cloud.Instance{ID: id, Tags: maps.Clone(r.tags)})
		}
	}
	return out, nil
}

func (r *rack) Tag(_ context.Context, m cloud.Instance, tags map[string]string) error {
	if m.ID != "i-1" {
		r.others = append(r.others, m.ID)
		return nil
	}
	r.tagged = append(r.tagged, fmt.Sprint(slices.Sorted(maps.Keys(tags))))
	if r.err == nil {
		maps.Copy(r.tags, tags)
	}
	return r.err
}

// atOnce lets everybody go on.
type atOnce struct{ waits int }

func (a *atOnce) Wait(ctx context.Context) error { a.waits++; return ctx.Err() }

// launchedOn holds claim a with its instance, on the node of that name.
func launchedOn(t *testing.T, node string, change func(*karpv1.NodeClaim)) client.Client {
	t.Helper()
	store := storeWith("a")
	c := &karpv1.NodeClaim{}
	if err := store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil {
		t.Fatal(err)
	}
	c.Finalizers = []string{api.FinalizerTermination}
	if err := store.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	c.Status.ProviderID, c.Status.NodeName = "aws:///us-east-1a/i-1", node
	if err := store.Status().Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(c)
		if err := store.Update(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

var tagsFrom = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

func TestInstancesAreNamedAfterTheirNodes(t *testing.T) {
	marked := func(c *karpv1.NodeClaim) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, api.AnnotationInstanceTagged, "true")
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, api.AnnotationClusterNameTagged, "true")
	}
	unmarked := func(c *karpv1.NodeClaim) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, api.AnnotationInstanceTagged, "true")
	}
	const of = "eks:eks-cluster-name"
	launched := func(more ...string) rack {
		tags := map[string]string{of: "lab"}
		for i := 0; i < len(more); i += 2 {
			tags[more[i]] = more[i+1]
		}
		return rack{tags: tags}
	}
	tests := map[string]struct {
		node   string
		change func(*karpv1.NodeClaim)
		rack   rack
		want   map[string]string // tags at the end
		calls  string
		noted  bool
		fails  bool
	}{
		"SC-486 a machine without either tag gets both": {"ip-1", nil, launched(),
			map[string]string{"Name": "ip-1", "karpenter.sh/nodeclaim": "a",
				of: "lab"}, "[[Name karpenter.sh/nodeclaim]]", true, false},
		"SC-486 a name that the class gives stays": {"ip-1", nil, launched("Name", "web"),
			map[string]string{"Name": "web", "karpenter.sh/nodeclaim": "a",
				of: "lab"}, "[[karpenter.sh/nodeclaim]]", true, false},
		"SC-486 a machine that has both is noted alone": {"ip-1", nil,
			launched("Name", "ip-1", "karpenter.sh/nodeclaim", "a"),
			map[string]string{"Name": "ip-1", "karpenter.sh/nodeclaim": "a", of: "lab"}, "[]", true, false},
		"the cluster's name is put back once the annotation is removed": {"ip-1", unmarked,
			rack{tags: map[string]string{"Name": "ip-1", "karpenter.sh/nodeclaim": "a"}},
			map[string]string{"Name": "ip-1", "karpenter.sh/nodeclaim": "a", of: "lab"}, "[[" + of + "]]", true, false},
		"before the node has joined there is no name": {"", nil, rack{tags: map[string]string{}},
			map[string]string{}, "[]", false, false},
		"what was done is not done again": {"ip-1", marked, rack{tags: map[string]string{}},
			map[string]string{}, "[]", true, false},
		"a machine that is not to be seen is looked for later": {"ip-1", nil, rack{},
			nil, "[]", false, false},
		"so is one that vanishes meanwhile": {"ip-1", nil,
			rack{tags: map[string]string{}, err: &cloud.NotFoundError{InstanceID: "i-1"}},
			map[string]string{}, "[[Name " + of + " karpenter.sh/nodeclaim]]", false, false},
		"a refusal is an error, and tried again": {"ip-1", nil,
			rack{tags: map[string]string{}, err: errors.New("no rights")},
			map[string]string{}, "[[Name " + of + " karpenter.sh/nodeclaim]]", false, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			store := launchedOn(t, tt.node, tt.change)
			tagger := &Tagger{Store: store, Instances: &tt.rack, Cluster: "lab", Pace: &atOnce{},
				Now: func() time.Time { return tagsFrom }}
			again, err := tagger.Round(t.Context())
			if (err != nil) != tt.fails || again != tagEvery {
				t.Errorf("Round = %v, %v; want %v, failure %v", again, err, tagEvery, tt.fails)
			}
			if !maps.Equal(tt.rack.tags, tt.want) || fmt.Sprint(tt.rack.tagged) != tt.calls {
				t.Errorf("tags %v by calls %v; want %v by %s", tt.rack.tags, tt.rack.tagged, tt.want, tt.calls)
			}
			c := &karpv1.NodeClaim{}
			if err := store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil {
				t.Fatal(err)
			}
			if noted := c.Annotations[api.AnnotationInstanceTagged] == "true" && c.Annotations[api.AnnotationClusterNameTagged] == "true"; noted != tt.noted {
				t.Errorf("annotations %v; noted must be %v", c.Annotations, tt.noted)
			}
		})
	}
}

// Rounds with nothing to tag ask the cloud nothing and hold none up.
func TestClaimsWithNothingToTagDoNotWait(t *testing.T) {
	store := launchedOn(t, "ip-1", nil)
	cloud, turns := &rack{tags: map[string]string{}}, &atOnce{}
	tagger := &Tagger{Store: store, Instances: cloud, Pace: turns, Now: func() time.Time { return tagsFrom }}
	for range 3 {
		if _, err := tagger.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Delete(t.Context(), &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := tagger.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	if turns.waits != 1 || cloud.listed != 1 || len(cloud.tagged) != 1 {
		t.Errorf("waited %d times for %d looks and %d calls, want one each", turns.waits, cloud.listed,
			len(cloud.tagged))
	}
}

// 150 nodes have joined: three looks show their instances, and each is tagged once. The
// instance that cannot be tagged is tried less and less often, and keeps no other waiting.
func TestOneLookShowsManyInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := launchedOn(t, "ip-1", nil)
		for i := range 149 {
			c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("web-%03d", i)}}
			if err := store.Create(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			c.Status.ProviderID, c.Status.NodeName = fmt.Sprintf("aws:///us-east-1a/i-web-%03d",
				i), fmt.Sprintf("ip-web-%03d", i)
			if err := store.Status().Update(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		cloud := &rack{tags: map[string]string{}, err: errors.New("no rights")}
		tagger := &Tagger{Store: store, Instances: cloud, Now: time.Now}
		for round, want := range []struct{ tries, others int }{{1, 59}, {1, 119}, {2, 149}, {2, 149}, {2, 149}, {2, 149}} {
			if _, err := tagger.Round(t.Context()); (err != nil) != (round == 0 || round == 2) {
				t.Fatalf("round %d = %v", round, err)
			}
			if len(cloud.tagged) != want.tries || len(cloud.others) != want.others {
				t.Errorf("after round %d: %d tries of the one, %d others tagged; want %+v", round, len(cloud.tagged),
					len(cloud.others), want)
			}
			time.Sleep(6 * time.Second)
		}
		if cloud.listed != 3 {
			t.Errorf("%d looks, want 3", cloud.listed)
		}
	})
}
