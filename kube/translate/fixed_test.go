package translate

import (
	"strings"
	"testing"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// TestPoolsOfAFixedSizeAreNotForPods: the core launches nothing from a pool that is
// not ready, see the story of one that says why.
func TestPoolsOfAFixedSizeAreNotForPods(t *testing.T) {
	tests := map[string]struct {
		replicas *int64
		barred   bool
	}{
		"SC-127 a pool of a fixed size gets no pods' machines": {new(int64(3)), true},
		"SC-127 nor does one of size zero":                     {new(int64(0)), true},
		"a pool without a size does":                           {nil, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := &karpv1.NodePool{}
			p.Name, p.Spec.Replicas = "web", tt.replicas
			why := FromNodePool(p).NotReady
			if barred := strings.Contains(why, "replicas"); barred != tt.barred {
				t.Errorf("the pool may not buy since %q; barred for its size: %t, want %t", why, barred, tt.barred)
			}
		})
	}
}
