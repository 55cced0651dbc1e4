package settle_test

import (
	"fmt"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/core/settle"
)

// lonely is pods of which each takes a machine of its own, by the rule.
const lonely = `catalogue shop 1
kind c2 cpu=1900m memory=4Gi pods=20
  offer a on-demand 0.08
  offer b on-demand 0.08
shape s namespace=d cpu=100m
  labels app=s
  %s
waiting d/s shape=s count=%d
pool NodePool/p catalogue=shop
`

// TestLooksGrowNoFasterThanPods: machines that pods cannot tell apart are looked at
// together, and pods of a kind that has no room are not tried again in vain.
func TestLooksGrowNoFasterThanPods(t *testing.T) {
	for phrase, rule := range map[string]string{
		"kept apart":       "apart kubernetes.io/hostname\n    select app In s",
		"with a host port": "port TCP 80",
	} {
		for _, together := range []bool{true, false} {
			how := settle.Opening{Together: together, Seed: 1}
			few, many := play(t, fmt.Sprintf(lonely, rule, 100), 100, how), play(t, fmt.Sprintf(lonely, rule, 800), 800, how)
			if len(few.Left)+len(many.Left) > 0 {
				t.Errorf("%s: %d of 100 and %d of 800 pods are left", phrase, len(few.Left), len(many.Left))
			}
			if many.Steps > 10*few.Steps {
				t.Errorf("%s, together %v: %d looks for 100 pods, %d for 800", phrase, together, few.Steps, many.Steps)
			}
		}
	}
}

// TestPlayEndsWhenLooksAreUsedUp, and says so.
func TestPlayEndsWhenLooksAreUsedUp(t *testing.T) {
	text := fmt.Sprintf(lonely, "port TCP 80", 100)
	o := play(t, text, 100, settle.Opening{Together: true, Seed: 1, Most: 50})
	if !o.Exhausted || len(o.Left) == 0 || o.Steps > 60 {
		t.Errorf("%d looks of 50, %d pods left, exhausted %v", o.Steps, len(o.Left), o.Exhausted)
	}
	if o := play(t, text, 100, settle.Opening{Together: true, Seed: 1}); o.Exhausted {
		t.Error("exhausted without a bound")
	}
}

func play(t *testing.T, text string, pods int, how settle.Opening) settle.Outcome {
	t.Helper()
	s, err := scenario.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p := decide.Decide(s, decide.Policy{}, decide.Quick())
	if len(p.Launches) != pods {
		t.Fatalf("%d machines for %d pods", len(p.Launches), pods)
	}
	var waiting []cluster.Pod
	for i := range p.Placements {
		waiting = append(waiting, p.Placements[i].Pod)
	}
	return settle.New(s, waiting).Play(p.Launches, p.Joining, how)
}
