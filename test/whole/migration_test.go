package whole_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/kube/api"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/steering"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/migrate/convert"
	"github.com/daemok/daemok/migrate/live"
	"github.com/daemok/daemok/migrate/move"
	"github.com/daemok/daemok/test/store"
)

// older makes a Provisioner that consolidates, on instances of which each has room for one
// pod of a core, and runs pods on it.
func (w *world) older(pods int) *controller {
	w.t.Helper()
	w.nodeTemplate("older", func(s *awsv1alpha1.AWSNodeTemplateSpec) { s.InstanceProfile = new(nodeProfile) })
	w.provisioner("default", func(s *v1alpha5.ProvisionerSpec) {
		s.Consolidation = &v1alpha5.Consolidation{Enabled: new(true)}
		s.ProviderRef = &v1alpha5.ProviderReference{Name: "older"}
		s.Labels = map[string]string{"team": "web"}
		s.Requirements = []v1alpha5.Requirement{{Key: api.LabelInstanceType, Operator: "In", Values: []string{"m5.large"}}}
	})
	c := w.start(setup{})
	w.scale("web", pods)
	w.until(5*time.Minute, "all pods run", func() bool { return w.run(pods) })
	return c
}

// planned is what the converter makes of the cluster.
func (w *world) planned() move.Plan {
	w.t.Helper()
	documents, err := live.Read(context.Background(), w.hand, "kube-system")
	if err != nil {
		w.t.Fatal(err)
	}
	converter, err := convert.New()
	if err != nil {
		w.t.Fatal(err)
	}
	r := converter.Convert(documents, convert.Options{Kubernetes: "1.36", NoDrift: true})
	if r.Refused() > 0 {
		w.t.Fatal(r.Report)
	}
	var templates awsv1alpha1.AWSNodeTemplateList
	w.list(&templates)
	return move.Plan{Older: []client.Object{w.provisionerNow("default"), &templates.Items[0]}, Newer: r.New()}
}

var errEnded = errors.New("the user has ended it")

// mover is ended at its nth write; 0: never.
func (w *world) mover(n int) *move.Mover {
	writes := 0
	store := w.server.Connect(func(c store.Call) (error, error) {
		if c.Writes() {
			writes++
		}
		if n > 0 && writes >= n {
			return errEnded, nil
		}
		return nil, nil
	})
	return &move.Mover{Store: store, Namespace: "kube-system", Pause: pause.For, Report: w.story.add}
}

// scenery is which pods run where, and which nodes there are, so that it shows if one was made
// again. That a node is to empty is no part of it: plans change their mind, and no pod goes for its sake.
func (w *world) scenery() map[string]string {
	out := map[string]string{}
	for _, p := range w.allPods() {
		out["pod "+p.Name] = fmt.Sprintf("%s on %s, %v", p.UID, p.Spec.NodeName, p.DeletionTimestamp)
	}
	for _, n := range w.nodes() {
		steering.Untaint(&n)
		out["node "+n.Name] = fmt.Sprintf("%s %s, %v %v", n.UID, n.Spec.ProviderID, n.DeletionTimestamp, n.Spec.Taints)
	}
	return out
}

// ownedBy reports whether all claims are of the one kind of pools, and their nodes name
// them as owners.
func (w *world) ownedBy(kind string) bool {
	uids := map[string]string{}
	for _, c := range w.claims() {
		if translate.PoolOf(&c).Kind != kind || len(c.OwnerReferences) != 1 || c.OwnerReferences[0].Kind != kind {
			return false
		}
		uids[c.Status.ProviderID] = string(c.UID)
	}
	for _, n := range w.nodes() {
		is := func(o metav1.OwnerReference) bool { return string(o.UID) == uids[n.Spec.ProviderID] }
		if translate.PoolOfNode(&n).Kind != kind || len(n.OwnerReferences) != 1 || !is(n.OwnerReferences[0]) {
			return false
		}
	}
	return len(uids) > 0
}

// A cluster is moved while its pods run: no pod moves, no node is replaced and nothing is
// launched; then nodes go under the new pool as they did under the old. Wherever the move is
// ended, it goes on to that end.
func TestAMigrationDisturbsNothing(t *testing.T) {
	for i, n := range []int{7, 0, 1, 2, 4, 6, 9, 11, 13, 15} {
		if *deaths > 0 && i%3 != 0 {
			continue
		}
		t.Run(fmt.Sprintf("ended at write %d", n), func(t *testing.T) {
			reportAWS(t, 3, func(t *testing.T, w *world) {
				w.older(4)
				before, launched, plan := w.scenery(), w.launched(), w.planned()
				_, err := w.mover(n).Apply(context.Background(), plan)
				if n > 0 {
					if !errors.Is(err, errEnded) {
						t.Fatalf("it was not ended: %v", err)
					}
					time.Sleep(10 * time.Minute)
					_, err = w.mover(0).Apply(context.Background(), plan)
				}
				if err != nil {
					t.Fatal(err)
				}
				w.until(time.Minute, "claims of the NodePool", func() bool { return w.ownedBy(translate.KindNodePool) && w.run(4) })
				time.Sleep(30 * time.Minute)
				if after := w.scenery(); !maps.Equal(after, before) || w.launched() != launched {
					t.Errorf("before\n%v\nafter, with %d machines bought in place of %d,\n%v",
						before, w.launched(), launched, after)
				}
				var left v1alpha5.ProvisionerList
				if w.list(&left); len(left.Items) > 0 {
					t.Errorf("Provisioners are left: %v", left.Items)
				}
				w.sound()
				w.tagsSay(api.TagNodePool)
				w.scale("web", 2)
				w.until(time.Hour, "nodes go under the NodePool", func() bool { return w.run(2) && len(w.nodes()) == 2 && len(w.liveInstances()) == 2 })
				w.scale("web", 5)
				w.until(10*time.Minute, "machines come for the NodePool", func() bool { return w.run(5) && w.ownedBy(translate.KindNodePool) })
				w.sound()
			})
		})
	}
}

// tagsSay checks that the instances carry a tag, and that of their claims.
func (w *world) tagsSay(key string) {
	w.t.Helper()
	names := w.claimNames()
	list, err := w.provider(&carrier{account: w.aws, story: w.story}).List(context.Background(), cloud.Filter{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, m := range list {
		if m.Tags[key] == "" || !slices.Contains(names, m.Tags[api.TagNodeClaim]) {
			w.t.Errorf("machine %s has the tags %v", m.ID, m.Tags)
		}
	}
}

// Rolled back, done or half done, all is the Provisioner's again, and nothing was disturbed; and
// so it is when it is moved, and moved back, once more.
func TestARollbackOfAMigrationDisturbsNothing(t *testing.T) {
	for _, n := range []int{8, 0} {
		t.Run(fmt.Sprintf("ended at write %d", n), func(t *testing.T) {
			reportAWS(t, 4, func(t *testing.T, w *world) {
				w.older(4)
				was, err := json.Marshal(w.provisionerNow("default").Spec)
				if err != nil {
					t.Fatal(err)
				}
				before, launched := w.scenery(), w.launched()
				if _, err := w.mover(n).Apply(context.Background(), w.planned()); n == 0 && err != nil || n > 0 && !errors.Is(err, errEnded) {
					t.Fatal(err)
				}
				if err := w.mover(0).Rollback(context.Background()); err != nil {
					t.Fatal(err)
				}
				w.until(time.Minute, "claims of the Provisioner", func() bool { return w.ownedBy(translate.KindProvisioner) && w.run(4) })
				time.Sleep(30 * time.Minute)
				if after := w.scenery(); !maps.Equal(after, before) || w.launched() != launched {
					t.Errorf("before\n%v\nafter\n%v", before, after)
				}
				if is, err := json.Marshal(w.provisionerNow("default").Spec); err != nil || string(is) != string(was) {
					t.Errorf("the Provisioner says\n%s\nand said\n%s", is, was)
				}
				w.sound()
				if _, err := w.mover(0).Apply(context.Background(), w.planned()); err != nil {
					t.Fatal(err)
				}
				if after := w.scenery(); !maps.Equal(after, before) || w.launched() != launched {
					t.Errorf("before\n%v\nmoved again\n%v", before, after)
				}
				if err := w.mover(0).Rollback(context.Background()); err != nil {
					t.Fatal(err)
				}
				w.scale("web", 2)
				w.until(time.Hour, "nodes go under the Provisioner", func() bool { return w.run(2) && len(w.nodes()) == 2 && w.ownedBy(translate.KindProvisioner) })
			})
		})
	}
}
