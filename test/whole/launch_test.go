package whole_test

import (
	"slices"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

// What a launch needs is made ready while pods are still being gathered, and
// the instances carry the names of their nodes, claims and cluster in the end.
func TestALaunchIsPreparedBeforeAndNamedAfter(t *testing.T) {
	report(t, fakecloud.Options{Seed: 40}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		c := w.start(setup{lag: fixed(60 * time.Millisecond)})
		time.Sleep(10 * time.Second) // what comes at the start is planned for at once
		w.scale("web", 3)
		w.until(5*time.Minute, "three machines with their tags noted", func() bool {
			noted := func(c karpv1.NodeClaim) bool {
				return c.Annotations[api.AnnotationInstanceTagged] == "true" && c.Annotations[api.AnnotationClusterNameTagged] == "true"
			}
			return len(w.claims()) == 3 && !slices.ContainsFunc(w.claims(), func(c karpv1.NodeClaim) bool { return !noted(c) })
		})
		calls := c.ordeal.made()
		if prepared, launched := slices.Index(calls, "Prepare"), slices.Index(calls, "Launch"); prepared < 0 || launched < prepared {
			t.Errorf("the calls were %v; want Prepare before Launch", calls)
		}
		for _, claim := range w.claims() {
			found, err := w.cloud.List(t.Context(), cloud.Filter{})
			i := slices.IndexFunc(found, func(m cloud.Instance) bool { return m.ProviderID == claim.Status.ProviderID })
			if err != nil || i < 0 || found[i].Tags[api.TagName] != claim.Status.NodeName || found[i].Tags[api.TagNodeClaim] != claim.Name || found[i].Tags[api.TagEKSCluster] != "test" {
				t.Errorf("claim %s on node %s: machines %+v (%v)", claim.Name, claim.Status.NodeName, found, err)
			}
		}
	})
}
