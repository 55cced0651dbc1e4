package footprint

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

func TestClustersThatCannotBeMeasuredAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		nodes, pods int
		want        string // in the error; empty: none
	}{
		"an empty one":                        {0, 0, ""},
		"full nodes":                          {500, 15_000, ""},
		"pods without nodes":                  {0, 10, "no node"},
		"less than none":                      {-1, 0, "want 0 or more"},
		"nodes that are not full":             {10, 101, "multiple"},
		"nodes with pods of DaemonSets alone": {10, 30, "multiple"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Options{Nodes: tt.nodes, Pods: tt.pods, Over: time.Second}.check()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// The controller finds nothing to do: there are as many pods as their owners want, and as many
// as fill the nodes.
func TestPodsAreAsManyAsTheirOwnersWant(t *testing.T) {
	w, err := open(Options{Nodes: 100, Pods: 3000})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	}()
	pods, err := w.populate(rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	if len(pods) != 2700 {
		t.Errorf("%d pods wait, want 27 for each of 100 nodes", len(pods))
	}
	owned := map[string]int32{}
	for _, p := range pods {
		owned[p.Namespace+"/"+p.OwnerReferences[0].Name]++
	}
	var sets appsv1.ReplicaSetList
	if err := w.hand.List(t.Context(), &sets); err != nil {
		t.Fatal(err)
	}
	for _, s := range sets.Items {
		if have := owned[s.Namespace+"/"+s.Name]; have != *s.Spec.Replicas {
			t.Errorf("ReplicaSet %s wants %d pods and has %d", s.Name, *s.Spec.Replicas, have)
		}
	}
	var pool karpv1.NodePool
	if err := w.hand.Get(t.Context(), client.ObjectKey{Name: "default"}, &pool); err != nil {
		t.Error(err)
	}
}
