package decide_test

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scenario"
)

const sizes = `
catalogue sizes 1
kind small cpu=2 memory=8Gi pods=30
  offer a on-demand 0.09
kind large cpu=8 memory=32Gi pods=90
  offer a on-demand 0.40
kind huge cpu=32 memory=128Gi pods=200
  offer a on-demand 3
pool NodePool/default catalogue=sizes
`

func TestTheRunnerUpHasFewerInstances(t *testing.T) {
	tests := map[string]struct {
		pods string
		want *plan.Summary
	}{
		"a larger machine that is a little more expensive": {"shape web namespace=default cpu=1 memory=4Gi\nwaiting default/web shape=web count=8", &plan.Summary{Instances: 1, Cost: 400_000}},
		"one machine cannot be fewer":                      {"shape web namespace=default cpu=1 memory=4Gi\nwaiting default/web shape=web count=2", nil},
		"every pod needs one of its own": {"shape web namespace=default cpu=1 memory=4Gi\n  labels app=web\n  apart kubernetes.io/hostname\n" +
			"    select app In web\nwaiting default/web shape=web count=3", nil},
		"nobody waits": {"", nil},
		"pods that may come decide some of the instances": {"shape web namespace=default cpu=1 memory=4Gi\n" +
			"buffer default/spare shape=web pods=8", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.Parse(sizes + tt.pods)
			if err != nil {
				t.Fatal(err)
			}
			effort := decide.Usual(s)
			p := decide.Decide(s, decide.Policy{}, effort)
			got := decide.Fewer(s, decide.Policy{}, effort, &p)
			if (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want {
				t.Errorf("the runner-up of %d machines for %s is %+v, want %+v", len(p.Launches), p.LaunchCost(), got, tt.want)
			}
			if decide.Fewer(&cluster.Snapshot{}, decide.Policy{}, decide.Quick(), &p) != nil {
				t.Error("a runner-up is sought without effort for it")
			}
		})
	}
}
