package snapshot

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// TestNamesStayInOrder has pods come, go and come back by chance, some of them before
// anybody asks, and compares with all names sorted anew.
func TestNamesStayInOrder(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 3))
		var o order
		pods := map[types.NamespacedName]podEntry{}
		for range 200 {
			name := types.NamespacedName{Namespace: fmt.Sprint("ns-", r.IntN(3)), Name: fmt.Sprint("pod-", r.IntN(30))}
			if _, there := pods[name]; there {
				delete(pods, name)
			} else {
				pods[name] = podEntry{}
				o.add(name)
			}
			if r.IntN(4) > 0 {
				continue
			}
			if got, want := o.of(pods), sortedKeys(pods); !slices.Equal(got, want) {
				t.Fatalf("seed %d: names are %v, want %v", seed, got, want)
			}
		}
	}
}
