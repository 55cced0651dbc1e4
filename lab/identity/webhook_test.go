package identity

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// A token lives for as long as the pod says, or else its service account, and ten minutes at least.
func TestTokensLiveAsLongAsAnnotationsSay(t *testing.T) {
	for name, tt := range map[string]struct {
		account, pod string
		want         int64
	}{
		"nothing is said":                   {"", "", 86400},
		"the service account says it":       {"7200", "", 7200},
		"the pod goes first":                {"7200", "3600", 3600},
		"ten minutes are enough":            {"600", "", 600},
		"the service account asks for less": {"60", "", 600},
		"the pod asks for less":             {"7200", "0", 600},
		"what is no number does not count":  {"1h", "soon", 86400},
	} {
		t.Run(name, func(t *testing.T) {
			account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a", Annotations: map[string]string{
				roleARN: "arn:aws:iam::111122223333:role/r", tokenExpiration: tt.account,
			}}}
			o := Options{
				Client:     fake.NewClientset(account),
				Associated: func(context.Context, string, string) (bool, error) { return false, nil },
			}
			k, err := o.kindFor(t.Context(), "n", "a")
			if err != nil {
				t.Fatal(err)
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{tokenExpiration: tt.pod}}}
			k.give(pod)
			if got := *pod.Spec.Volumes[0].Projected.Sources[0].ServiceAccountToken.ExpirationSeconds; got != tt.want {
				t.Errorf("the pod's token lives for %d s, want %d s", got, tt.want)
			}
		})
	}
}
