package buffer

import (
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/buffer"
	"github.com/daemok/daemok/kube/snapshot/buffers"
)

// The condition Provisioning says how many virtual pods need new capacity, for how many there is none, and why.
func TestProvisioningSaysWhyPodsFailed(t *testing.T) {
	pool := func(name string) cluster.PoolID { return cluster.PoolID{Kind: "NodePool", Name: name} }
	one := []plan.Placement{{On: plan.OnNode}}
	const quota = "CapacityQuota/team: cpu limit reached: 4 of 4 used, m5.large needs 2 more"
	tests := map[string]struct {
		of   plan.Buffer
		want string
	}{
		"all fit": {plan.Buffer{Want: 1, Places: one},
			"True FitsExistingCapacity All 1 virtual pods fit on existing capacity"},
		"all on instances to come": {plan.Buffer{Want: 3, Places: one},
			"False RequiresNewCapacity 2/3 virtual pods required new capacity, 0 failed"},
		"a quota of two NodePools": {plan.Buffer{Want: 3, Missing: 1, Places: one,
			Reasons: []plan.Reason{{Pool: pool("a"), Text: quota}, {Pool: pool("b"), Text: quota}}},
			"False RequiresNewCapacity 2/3 virtual pods required new capacity, 1 failed: " +
				"NodePool/a, NodePool/b: " + quota},
		"another cause in each": {plan.Buffer{Want: 1, Missing: 1, Reasons: []plan.Reason{
			{Pool: pool("a"), Text: "nodes limit reached: 2 of 2 used"},
			{Pool: pool("b"), Text: "no offering is available"}}},
			"False RequiresNewCapacity 1/1 virtual pods required new capacity, 1 failed: " +
				"NodePool/a: nodes limit reached: 2 of 2 used; NodePool/b: no offering is available"},
		"no pods": {plan.Buffer{}, "False BufferEmpty spec and the replicas of the workload come to no virtual pods"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := &v1beta1.CapacityBuffer{}
			s := &buffers.State{Resolved: buffer.Resolved{Object: o}, Pods: tt.of.Want}
			setStatus(o, s, &tt.of, true, time.Now())
			c := condition.Get(o, v1beta1.BufferProvisioning)
			if got := string(c.Status) + " " + c.Reason + " " + c.Message; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
