package nodeclaim

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// What is said of a node that has not joined is what is known: until when it may, and once that takes long, why it
// may not.
func TestAMissingNodeIsNamedWithItsDeadline(t *testing.T) {
	launched := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(launched)},
		Status: karpv1.NodeClaimStatus{ProviderID: "aws:///a/i-1"}}
	const early = "no node has joined the cluster for instance aws:///a/i-1 yet; 15m0s after its launch it is replaced"
	if got := missing(c, launched.Add(time.Minute)); got != early {
		t.Errorf("after a minute: %q, want %q", got, early)
	}
	const late = "in 2m0s; 15m0s after its launch it is replaced. " +
		"If its image does not always take as long, likely causes: "
	if got := missing(c, launched.Add(3*time.Minute)); !strings.Contains(got, late) {
		t.Errorf("after three minutes: %q, want %q", got, late)
	}
}
