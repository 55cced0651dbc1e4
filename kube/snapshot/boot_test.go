package snapshot

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

func TestHowLongInstancesUsuallyTake(t *testing.T) {
	seconds := func(list ...int) []int { return list }
	twenty := seconds()
	for i := range 20 {
		twenty = append(twenty, 20-i)
	}
	tests := map[string]struct {
		took []int // in seconds; 0: not initialised yet
		want time.Duration
	}{
		"nobody knows":                          {nil, 0},
		"two are too few":                       {seconds(40, 50), 0},
		"of three the slowest":                  {seconds(50, 40, 45), 50 * time.Second},
		"those on their way do not count":       {seconds(50, 40, 0, 0), 0},
		"of twenty one may take longer":         {twenty, 19 * time.Second},
		"of twenty-one one too":                 {append(seconds(100), twenty...), 20 * time.Second},
		"a clock that went back does not count": {seconds(50, 40, -3), 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k := newClusterState()
			k.PoolSeen(pool("default"))
			k.PoolSeen(pool("other"))
			for i, took := range tt.took {
				c := claimOf("n")
				c.Name = fmt.Sprint("c", i)
				c.CreationTimestamp = metav1.NewTime(start)
				if took != 0 {
					condition.SetTrue(c, karpv1.ClaimInitialized, start.Add(time.Duration(took)*time.Second))
				}
				k.Seen(c)
			}
			s := k.Snapshot()
			if got := s.Pools[0].Boot; got != tt.want || s.Pools[1].Boot != 0 {
				t.Errorf("they take %v, and those of the other pool %v; want %v and nothing", got, s.Pools[1].Boot, tt.want)
			}
			for i := range tt.took {
				k.Gone(&karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c", i)}})
			}
			if got := k.Snapshot().Pools[0].Boot; got != 0 {
				t.Errorf("when all are gone they take %v", got)
			}
		})
	}
}
