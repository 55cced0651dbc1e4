package planner

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
)

// Users search the log for messages that Karpenter writes: those of the pool's own
// generation.
func TestALaunchIsLoggedInMessagesThatAreSearchedFor(t *testing.T) {
	older, newer := cluster.PoolID{Kind: "Provisioner", Name: "old"}, cluster.PoolID{Kind: "NodePool", Name: "new"}
	pod := func(name string) cluster.Pod {
		return cluster.Pod{Namespace: "shop", Name: name, UID: name, Shape: &cluster.Shape{}}
	}
	var pods []cluster.Pod
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		pods = append(pods, pod(name))
	}
	launch := func(pool cluster.PoolID) plan.Launch {
		return plan.Launch{Pool: pool, Pods: pods[:2], Requests: quantity.Resources{CPU: 1500, Memory: 3 * quantity.GiB, Pods: 2},
			Requirements: constraint.Requirements{{Key: cluster.LabelInstanceType, Set: constraint.Values("m5.large", "c5.large")}}}
	}
	found := `msg="found provisionable pod(s)" pods="shop/a, shop/b, shop/c, shop/d, shop/e and 2 other(s)" count=7`
	tests := map[string]struct {
		pools    []cluster.PoolID
		launches []plan.Launch
		want     []string
	}{
		"from a NodePool": {[]cluster.PoolID{newer}, []plan.Launch{launch(newer)}, []string{
			found, `msg="computed new nodeclaim(s) to fit pod(s)" nodeclaims=1 pods=2`, `msg="created nodeclaim" claim=x pool=new`}},
		"from a Provisioner": {[]cluster.PoolID{older}, []plan.Launch{launch(older)}, []string{
			found, `msg="Found 7 provisionable pod(s)"`, `msg="computed new nodeclaim(s) to fit pod(s)" nodeclaims=1 pods=2`, `msg="Computed 1 new node(s) will fit 2 pod(s)"`,
			`msg="created nodeclaim" claim=x pool=provisioner/old`,
			`msg="Launching node with 2 pods requesting {\"cpu\":\"1500m\",\"memory\":\"3Gi\",\"pods\":\"2\"} from types c5.large, m5.large" provisioner=old`}},
		"from both": {[]cluster.PoolID{newer, older}, []plan.Launch{launch(newer), launch(older)}, []string{
			found, `msg="Found 7 provisionable pod(s)"`, `msg="computed new nodeclaim(s) to fit pod(s)" nodeclaims=2 pods=4`, `msg="Computed 1 new node(s) will fit 2 pod(s)"`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			reported, _, lines := recorder()
			s := &cluster.Snapshot{Waiting: pods}
			for _, id := range tt.pools {
				s.Pools = append(s.Pools, cluster.Pool{ID: id})
			}
			reported.Planned(s, plan.Plan{Launches: tt.launches}, time.Second)
			var list []apply.Launched
			for _, l := range tt.launches {
				list = append(list, apply.Launched{Launch: l, Claim: &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "x"}}})
			}
			reported.Launched(list)
			for _, want := range tt.want {
				if !strings.Contains(lines.String(), want) {
					t.Errorf("the log lacks %s:\n%s", want, lines)
				}
			}
			if older := slices.Contains(tt.pools, older); !older && strings.Contains(lines.String(), "Found") {
				t.Errorf("the log speaks of Provisioners:\n%s", lines)
			}
		})
	}
}
