package forecast_test

import (
	"fmt"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/forecast"
	"github.com/daemok/daemok/core/scenario"
)

// lonely is pods of which each takes an instance of its own, by the rule.
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

// TestLooksGrowNoFasterThanPods: instances that are the same to pods are examined together, and
// pods of a shape that has no room are not tried again without effect.
func TestLooksGrowNoFasterThanPods(t *testing.T) {
	for phrase, rule := range map[string]string{
		"kept apart":       "apart kubernetes.io/hostname\n    select app In s",
		"with a host port": "port TCP 80",
	} {
		for _, together := range []bool{true, false} {
			how := forecast.Opening{Together: together, Seed: 1}
			few, many := simulate(t, fmt.Sprintf(lonely, rule, 100), 100, how), simulate(t, fmt.Sprintf(lonely, rule, 800), 800, how)
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
	o := simulate(t, text, 100, forecast.Opening{Together: true, Seed: 1, Most: 50})
	if !o.Exhausted || len(o.Left) == 0 || o.Steps > 60 {
		t.Errorf("%d looks of 50, %d pods left, exhausted %v", o.Steps, len(o.Left), o.Exhausted)
	}
	if o := simulate(t, text, 100, forecast.Opening{Together: true, Seed: 1}); o.Exhausted {
		t.Error("exhausted without a bound")
	}
}

func simulate(t *testing.T, text string, pods int, how forecast.Opening) forecast.Outcome {
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
	return forecast.New(s, waiting).Simulate(p.Launches, p.Joining, how)
}

// TestSimulatingCountsAsPlacingDoes: pods that leave a node do not keep away those
// that they become, and a volume that pods share is attached once.
func TestSimulatingCountsAsPlacingDoes(t *testing.T) {
	for phrase, text := range map[string]string{
		"pods that leave": `
shape s namespace=d cpu=1500m
  labels app=s
  apart topology.kubernetes.io/zone
    select app In s
node na ready initialized deleting
  labels kubernetes.io/hostname=na topology.kubernetes.io/zone=a
  allocatable cpu=2 memory=8Gi pods=20
  pod d/sa shape=s returns
node nb ready initialized deleting
  labels kubernetes.io/hostname=nb topology.kubernetes.io/zone=b
  allocatable cpu=2 memory=8Gi pods=20
  pod d/sb shape=s returns`,
		"a volume that is shared": `
shape s namespace=d cpu=100m
  volume ebs.csi.aws.com claim=d/shared
shape w namespace=d cpu=1700m
waiting d/s shape=s count=6
waiting d/w shape=w count=1`,
	} {
		s, err := scenario.Parse(`catalogue shop 1
kind c2 cpu=1900m memory=4Gi pods=20
  attachable ebs.csi.aws.com=1
  offer a on-demand 0.08
  offer b on-demand 0.08
pool NodePool/p catalogue=shop` + text + "\n")
		if err != nil {
			t.Fatal(err)
		}
		p := decide.Decide(s, decide.Policy{}, decide.Quick())
		var pods []cluster.Pod
		for i := range p.Placements {
			pods = append(pods, p.Placements[i].Pod)
		}
		if o := forecast.New(s, pods).Simulate(p.Launches, p.Joining, forecast.Opening{Together: true, Seed: 1}); len(pods) == 0 || len(o.Left) > 0 {
			t.Errorf("%s: %d of %d are left", phrase, len(o.Left), len(pods))
		}
	}
}
