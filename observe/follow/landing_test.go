package follow

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

func expected(on plan.Destination, target string) plan.Plan {
	return plan.Plan{Placements: []plan.Placement{{Pod: cluster.Pod{UID: "u"}, On: on, Target: target}}}
}

func TestWherePodsLandIsCounted(t *testing.T) {
	ordered := func(s *story) {
		s.Decided(expected(plan.OnLaunch, "new-1"))
		s.Ordered("c1", []cluster.Pod{{UID: "u"}})
	}
	registered := func(s *story, name, node string) {
		s.claims.OnUpdate(&karpv1.NodeClaim{}, claim(func(c *karpv1.NodeClaim) { c.Name, c.Status.NodeName = name, node }))
	}
	none := func(*story) {}
	tests := map[string]struct {
		before func(*story) // what is planned before the pod is bound to n1
		want   []string
	}{
		"nobody expected it anywhere":   {none, nil},
		"the node it was expected on":   {func(s *story) { s.Decided(expected(plan.OnNode, "n1")) }, []string{"as_planned=true on=node 1"}},
		"another node":                  {func(s *story) { s.Decided(expected(plan.OnNode, "n2")) }, []string{"as_planned=false on=node 1"}},
		"the machine ordered for it":    {func(s *story) { ordered(s); registered(s, "c1", "n1") }, []string{"as_planned=true on=machine 1"}},
		"a node though one was ordered": {ordered, []string{"as_planned=false on=machine 1"}},
		"another machine than its own":  {func(s *story) { ordered(s); registered(s, "c2", "n1") }, []string{"as_planned=false on=machine 1"}},
		"a machine that a later plan has": {func(s *story) {
			ordered(s)
			s.Decided(expected(plan.OnInstance, "c2"))
			registered(s, "c2", "n1")
		}, []string{"as_planned=true on=machine 1"}},
		"its machine, a node by now": {func(s *story) {
			ordered(s)
			registered(s, "c1", "n1")
			s.Decided(expected(plan.OnNode, "n1"))
		}, []string{"as_planned=true on=machine 1"}},
		"a place though the last plan has none": {func(s *story) {
			s.Decided(expected(plan.OnNode, "n1"))
			s.Decided(plan.Plan{Unplaced: []plan.Unplaced{{Pods: []cluster.Pod{{UID: "u"}}}}})
		}, nil},
		"another process leads": {func(s *story) {
			s.Decided(expected(plan.OnNode, "n1"))
			s.leading = false
		}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := begin(t)
			s.pods.OnAdd(pod(), false)
			tt.before(s)
			s.pods.OnUpdate(pod(), pod(onNode))
			s.pods.OnUpdate(pod(onNode), pod(onNode, running))
			s.says("daemok_pods_landed_total", tt.want...)
		})
	}
}

func TestANodeIsForgottenWithItsClaim(t *testing.T) {
	s := begin(t)
	c := claim(func(c *karpv1.NodeClaim) { c.Name, c.Status.NodeName = "c1", "n1" })
	s.claims.OnAdd(c, false)
	s.claims.OnDelete(c)
	if len(s.made) != 0 {
		t.Errorf("nodes remembered: %v, want none", s.made)
	}
}
