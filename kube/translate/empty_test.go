package translate_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// TestSinceWhenANodeIsEmpty: what the node says holds for a process that has seen no pod
// come or go, and what that has seen, where it was later.
func TestSinceWhenANodeIsEmpty(t *testing.T) {
	noon := time.Date(2023, 6, 1, 12, 0, 0, 0, time.UTC)
	at := func(ago time.Duration) time.Time { return noon.Add(-ago) }
	never := time.Time{}
	tests := map[string]struct {
		says    string
		pods    time.Time // the last one that this process saw come or go
		earlier time.Time // the last one that the claim reports
		want    time.Time
	}{
		"no pod ever came: since it began":                     {"", never, never, at(time.Hour)},
		"a pod went, and nobody has said so yet":               {"", at(time.Second), at(time.Minute), at(time.Second)},
		"said by another process":                              {"2023-06-01T11:59:30Z", never, at(time.Minute), at(30 * time.Second)},
		"said in the time of another zone":                     {"2023-06-01T13:59:30+02:00", never, never, at(30 * time.Second)},
		"said before it began, as one that was taken over may": {"2023-06-01T10:00:00Z", never, never, at(2 * time.Hour)},
		"a pod has come and gone since":                        {"2023-06-01T11:59:30Z", at(time.Second), never, at(time.Second)},
		"pods went while nobody looked":                        {"", never, at(time.Minute), never},
		"not a time":                                           {"just now", at(time.Second), never, at(time.Second)},
		"a time to come":                                       {"2023-06-01T12:00:30Z", at(time.Second), never, at(time.Second)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := &karpv1.NodeClaim{Status: karpv1.NodeClaimStatus{LastPodEventTime: metav1.NewTime(tt.earlier)}}
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{api.AnnotationEmptinessTimestamp: tt.says}}}
			if got := translate.EmptySince(n, c, tt.pods, noon); !got.IsZero() {
				t.Errorf("before it is initialised it is empty since %v", got)
			}
			condition.SetTrue(c, karpv1.ClaimInitialized, at(time.Hour))
			if got := translate.EmptySince(n, c, tt.pods, noon); !got.Equal(tt.want) {
				t.Errorf("empty since %v, want %v", got, tt.want)
			}
		})
	}
}
