package claim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// rack is a cloud with one machine, i-1, of which it counts the calls.
type rack struct {
	tags   map[string]string // nil: the machine is not to be seen
	err    error             // of Tag
	listed int
	tagged []string // keys, call by call
}

func (r *rack) List(_ context.Context, f cloud.Filter) ([]cloud.Machine, error) {
	r.listed++
	if r.tags == nil || !slices.Contains(f.IDs, "i-1") {
		return nil, nil
	}
	return []cloud.Machine{{ID: "i-1", Tags: maps.Clone(r.tags)}}, nil
}

func (r *rack) Tag(_ context.Context, _ string, tags map[string]string) error {
	r.tagged = append(r.tagged, fmt.Sprint(slices.Sorted(maps.Keys(tags))))
	if r.err == nil {
		maps.Copy(r.tags, tags)
	}
	return r.err
}

// atOnce lets everybody go on.
type atOnce struct{ waits int }

func (a *atOnce) Wait(ctx context.Context) error { a.waits++; return ctx.Err() }

// boughtOn holds claim a with its machine, on the node of that name.
func boughtOn(t *testing.T, node string, change func(*karpv1.NodeClaim)) client.Client {
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

func TestMachinesAreNamedAfterTheirNodes(t *testing.T) {
	marked := func(c *karpv1.NodeClaim) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, api.AnnotationInstanceTagged, "true")
	}
	tests := map[string]struct {
		node   string
		change func(*karpv1.NodeClaim)
		rack   rack
		want   map[string]string // tags at the end
		calls  string
		noted  bool
		again  time.Duration
		fails  bool
	}{
		"SC-486 a machine without either tag gets both": {"ip-1", nil, rack{tags: map[string]string{}},
			map[string]string{"Name": "ip-1", "karpenter.sh/nodeclaim": "a"}, "[[Name karpenter.sh/nodeclaim]]", true, 0, false},
		"SC-486 a name that the class gives stays": {"ip-1", nil, rack{tags: map[string]string{"Name": "web"}},
			map[string]string{"Name": "web", "karpenter.sh/nodeclaim": "a"}, "[[karpenter.sh/nodeclaim]]", true, 0, false},
		"SC-486 a machine that has both is noted alone": {"ip-1", nil, rack{tags: map[string]string{"Name": "ip-1", "karpenter.sh/nodeclaim": "a"}},
			map[string]string{"Name": "ip-1", "karpenter.sh/nodeclaim": "a"}, "[]", true, 0, false},
		"before the node has joined there is no name": {"", nil, rack{tags: map[string]string{}},
			map[string]string{}, "[]", false, 0, false},
		"what was done is not done again": {"ip-1", marked, rack{tags: map[string]string{}},
			map[string]string{}, "[]", true, 0, false},
		"a machine that is not to be seen is looked for later": {"ip-1", nil, rack{},
			nil, "[]", false, lookForMachine, false},
		"so is one that vanishes meanwhile": {"ip-1", nil, rack{tags: map[string]string{}, err: &cloud.NotFoundError{MachineID: "i-1"}},
			map[string]string{}, "[[Name karpenter.sh/nodeclaim]]", false, lookForMachine, false},
		"a refusal is an error, and tried again": {"ip-1", nil, rack{tags: map[string]string{}, err: errors.New("no rights")},
			map[string]string{}, "[[Name karpenter.sh/nodeclaim]]", false, 0, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			store := boughtOn(t, tt.node, tt.change)
			tagger := &Tagger{Store: store, Machines: &tt.rack, Pace: &atOnce{}}
			again, err := tagger.Reconcile(t.Context(), "a")
			if (err != nil) != tt.fails || again != tt.again {
				t.Errorf("Reconcile = %v, %v; want %v, failure %v", again, err, tt.again, tt.fails)
			}
			if !maps.Equal(tt.rack.tags, tt.want) || fmt.Sprint(tt.rack.tagged) != tt.calls {
				t.Errorf("tags %v by calls %v; want %v by %s", tt.rack.tags, tt.rack.tagged, tt.want, tt.calls)
			}
			c := &karpv1.NodeClaim{}
			if err := store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil {
				t.Fatal(err)
			}
			if noted := c.Annotations[api.AnnotationInstanceTagged] == "true"; noted != tt.noted {
				t.Errorf("annotations %v; noted must be %v", c.Annotations, tt.noted)
			}
		})
	}
}

// TestClaimsWithNothingToTagDoNotWait: the loop sees every change of every
// claim, and few of them mean a call.
func TestClaimsWithNothingToTagDoNotWait(t *testing.T) {
	store := boughtOn(t, "ip-1", nil)
	cloud, turns := &rack{tags: map[string]string{}}, &atOnce{}
	tagger := &Tagger{Store: store, Machines: cloud, Pace: turns}
	for range 3 {
		if _, err := tagger.Reconcile(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Delete(t.Context(), &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a"}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "nobody"} {
		if _, err := tagger.Reconcile(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if turns.waits != 1 || cloud.listed != 1 || len(cloud.tagged) != 1 {
		t.Errorf("waited %d times for %d looks and %d calls, want one each", turns.waits, cloud.listed, len(cloud.tagged))
	}
}
