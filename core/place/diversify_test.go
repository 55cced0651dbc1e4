package place_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/scenario"
)

// TestAInstanceThatBecomesAnotherKindTakesPodsThatWereLeft: limits are used up,
// and one pod that wants a host of its own is left. Then half of the others'
// instances are not to be small ones any more: tall ones have room for it.
func TestAInstanceThatBecomesAnotherKindTakesPodsThatWereLeft(t *testing.T) {
	s, err := scenario.Parse(leftByLimits())
	if err != nil {
		t.Fatal(err)
	}
	r := place.Place(s, place.Options{})
	for _, u := range r.Unplaced {
		t.Errorf("%d pods are left: %v", len(u.Pods), u.Reasons)
	}
	tall := 0
	for _, l := range r.Launches {
		if l.Choice.Kind == "tall" {
			tall++
		}
	}
	if tall == 0 {
		t.Error("no instance is a tall one: the test shows nothing")
	}
}

func leftByLimits() string {
	var b strings.Builder
	b.WriteString(`shape batch namespace=blue cpu=100m memory=3000Mi
shape anywhere namespace=blue cpu=50m memory=3000Mi
shape spread namespace=blue cpu=50m memory=3000Mi
  spread kubernetes.io/hostname skew=1
shape job namespace=default cpu=250m memory=3000Mi
shape rest namespace=default cpu=100m memory=3000Mi
waiting blue/web-0 shape=anywhere owner=ReplicaSet/web
`)
	for _, x := range []struct {
		pod, shape string
		count      int
	}{{"blue/batch", "batch", 2}, {"blue/web", "spread", 9}, {"default/job", "job", 2}, {"default/rest", "rest", 6}} {
		for i := range x.count {
			_, owner, _ := strings.Cut(x.pod, "/")
			fmt.Fprintf(&b, "waiting %s-%d shape=%s owner=ReplicaSet/%s\n", x.pod, i+1, x.shape, owner)
		}
	}
	b.WriteString(`catalogue few 1
kind small cpu=4 memory=8Gi pods=58 nvidia.com/gpu=4
  offer zone-b spot 0.12
kind huge cpu=16 memory=128Gi pods=29
  offer zone-c on-demand 0.48
kind tall cpu=4 memory=16Gi pods=8
  offer zone-b spot 0.12
pool NodePool/first weight=20 catalogue=few
  require karpenter.sh/capacity-type In spot
  limit cpu=40
pool NodePool/second catalogue=few
  limit cpu=16
`)
	return b.String()
}
