package decide_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/forecast"
	"github.com/daemok/daemok/core/scenario"
)

// TestRoomForPodsThatAreLikelyToBeLeftIsLaunchedAtOnce: kube-scheduler puts pods on other instances
// than they were planned for, and some find no room then. It is launched with the plan, and not
// when the instances of the plan have joined and are full.
func TestRoomForPodsThatAreLikelyToBeLeftIsLaunchedAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	text := "catalogue sizes 1\n"
	for _, size := range []int{2, 4, 8, 16, 32} {
		for _, ratio := range []int{2, 4, 8} { // GiB for each core
			text += fmt.Sprintf("kind k%d-%02d cpu=%d900m memory=%dGi pods=60\n  offer a on-demand %.3f\n", ratio, size, size-1, size*ratio-1, float64(size)*(0.04+0.003*float64(ratio)))
		}
	}
	for i := range 20 {
		text += fmt.Sprintf("shape s%02d namespace=default cpu=%dm memory=%dMi\n", i, 100+r.IntN(3900), 128+r.IntN(8000))
	}
	text += "pool NodePool/default catalogue=sizes\n  labels karpenter.sh/nodepool=default\n"
	for i := range 300 {
		text += fmt.Sprintf("waiting default/p-%03d shape=s%02d\n", i, r.IntN(20))
	}
	s, err := scenario.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	effort := decide.Effort{Pack: 100_000, Simulation: 6_000_000}
	p := decide.Decide(s, decide.Policy{}, effort)
	left := 0
	for seed := range uint64(6) {
		left += decide.Simulate(s, decide.Policy{}, effort, &p, forecast.Opening{Seed: 20 + seed}).Left
	}
	if left > 12 {
		t.Errorf("%d pods of six times 300 are left, want 12 at most\n%s", left, p.Account())
	}
}
