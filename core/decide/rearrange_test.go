package decide_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/scenario"
)

// TestNothingIsLaunchedTwiceForPodsThatMustBeSpread: twenty instances in each of two zones are
// being launched and just hold two pods of one class and one of another, all to be spread
// over zones. They find their places again only where each gets the one that it was promised.
func TestNothingIsLaunchedTwiceForPodsThatMustBeSpread(t *testing.T) {
	var text strings.Builder
	text.WriteString(`snapshot 1
catalogue sizes 1
kind m cpu=1100m memory=8Gi pods=40
  offer a on-demand 0.1
  offer b on-demand 0.1
shape small namespace=default cpu=300m
  labels app=small
  spread topology.kubernetes.io/zone
    select app In small
shape large namespace=default cpu=500m
  labels app=large
  spread topology.kubernetes.io/zone
    select app In large
pool NodePool/default catalogue=sizes
  labels karpenter.sh/nodepool=default
`)
	for i := range 40 {
		fmt.Fprintf(&text, "waiting default/small-%02d-0 shape=small\nwaiting default/small-%02d-1 shape=small\nwaiting default/large-%02d shape=large\n", i, i, i)
	}
	for i := range 40 {
		fmt.Fprintf(&text, `machine m-%02[1]d pool=NodePool/default launched planned
  labels karpenter.sh/nodepool=default topology.kubernetes.io/zone=%[2]s
  allocatable cpu=1100m memory=8Gi pods=40
  for default/small-%02[1]d-0
  for default/small-%02[1]d-1
  for default/large-%02[1]d
`, i, []string{"a", "b"}[i/20])
	}
	s, err := scenario.Parse(text.String())
	if err != nil {
		t.Fatal(err)
	}
	if p := decide.Decide(s, decide.Policy{}, decide.Quick()); len(p.Launches) > 0 || len(p.Placements) != 120 {
		t.Errorf("%d pods have a place and %d machines are bought, want 120 and none", len(p.Placements), len(p.Launches))
	}
}
