package translate

import (
	"fmt"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// What a claim says of the pods it was made for stays small, and reports when it is not all.
func TestForWhomAClaimWasMade(t *testing.T) {
	for n, whole := range map[int]bool{0: true, 1: true, 100: true, 101: false, 5000: false} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var pods []cluster.Pod
			var want []string
			for i := range n {
				pods = append(pods, cluster.Pod{UID: fmt.Sprintf("0d6e1f0e-7c9c-4a57-9a0c-%012d", i)})
				want = append(want, pods[i].UID)
			}
			c := &karpv1.NodeClaim{}
			c.Annotations = map[string]string{api.AnnotationForPods: forPods(pods)}
			got, all := ForPods(c)
			if !slices.Equal(got, want[:min(n, 100)]) || all != whole || len(c.Annotations[api.AnnotationForPods]) > 4000 {
				t.Errorf("read %d pods, all of them: %v, from %d bytes", len(got), all, len(c.Annotations[api.AnnotationForPods]))
			}
		})
	}
	if got, all := ForPods(&karpv1.NodeClaim{}); len(got) != 0 || all {
		t.Errorf("of a claim that says nothing: %v, all of them: %v", got, all)
	}
}
