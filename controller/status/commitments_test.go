package status

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cloud"
)

// An event on the controller's pod names each right that is missing. What may be read soon has none, and without a pod
// there is none.
func TestCommitmentsThatMayNotBeReadAreReported(t *testing.T) {
	self := types.NamespacedName{Namespace: "kube-system", Name: "daemok-1"}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: self.Namespace, Name: self.Name}}
	refused := cloud.UnreadCommitments{What: "Savings Plans", Rights: "a:Read", Lasting: true, Err: errors.New("no")}
	throttled := cloud.UnreadCommitments{What: "Reserved Instances", Err: errors.New("slow down")}
	said := "Pod/kube-system/daemok-1 CommitmentsUnreadable " +
		"Plans go on with what was read before of Savings Plans: no; let the controller's role call a:Read"
	for name, tt := range map[string]struct {
		unread []cloud.UnreadCommitments
		pod    types.NamespacedName
		want   []string
	}{
		"all is read":         {nil, self, nil},
		"a right is missing":  {[]cloud.UnreadCommitments{throttled, refused}, self, []string{said}},
		"it may be read soon": {[]cloud.UnreadCommitments{throttled}, self, nil},
		"there is no pod":     {[]cloud.UnreadCommitments{refused}, types.NamespacedName{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got heard
			c := &Commitments{
				Reporter: Reporter{Store: fake.NewClientBuilder().WithObjects(pod).Build(), Events: &got}, Pod: tt.pod,
				Account: func() cloud.AccountCommitments { return cloud.AccountCommitments{Unread: tt.unread} },
			}
			if _, err := c.Round(t.Context()); err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("events are %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
