package provisioningrequest

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
)

// parameters of a request, by their names.
type parameters = map[string]v1.Parameter

// A request is for the autoscaler that it names, and for the one without a name if it names none.
func TestOurs(t *testing.T) {
	none, blue := parameters{}, parameters{"processorInstance": "blue"}
	tests := map[string]struct {
		class    string
		is       parameters
		instance string
		want     bool
	}{
		"check-capacity":                 {v1.ClassCheckCapacity, none, "", true},
		"best-effort-atomic":             {v1.ClassBestEffortAtomic, none, "", true},
		"another class":                  {"queued-provisioning.gke.io", none, "", false},
		"one that names another":         {v1.ClassCheckCapacity, blue, "", false},
		"one that names this one":        {v1.ClassCheckCapacity, blue, "blue", true},
		"one without a name, for a name": {v1.ClassCheckCapacity, none, "blue", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := &v1.ProvisioningRequest{}
			r.Spec.ProvisioningClassName, r.Spec.Parameters = tt.class, tt.is
			if got := Ours(r, tt.instance); got != tt.want {
				t.Errorf("Ours(%s, %v, %q) = %v, want %v", tt.class, tt.is, tt.instance, got, tt.want)
			}
			r.DeletionTimestamp = &metav1.Time{Time: time.Now()}
			if Ours(r, tt.instance) {
				t.Error("one that is being deleted is served")
			}
		})
	}
}

// A pod names its request by annotations of today or of earlier releases of Cluster Autoscaler, and the class beside it.
func TestConsumed(t *testing.T) {
	const now, before = "autoscaling.x-k8s.io/", "cluster-autoscaler.kubernetes.io/"
	tests := map[string]struct {
		annotations map[string]string
		want        string
	}{
		"none":               {nil, ""},
		"a name alone":       {map[string]string{now + "consume-provisioning-request": "train"}, "train"},
		"the name of before": {map[string]string{before + "consume-provisioning-request": "train"}, "train"},
		"with its class": {map[string]string{now + "consume-provisioning-request": "train",
			now + "provisioning-class-name": v1.ClassCheckCapacity}, "train"},
		"of another class": {map[string]string{now + "consume-provisioning-request": "train",
			now + "provisioning-class-name": "queued-provisioning.gke.io"}, ""},
		"of another class, before": {map[string]string{before + "consume-provisioning-request": "train",
			before + "provisioning-class-name": "queued-provisioning.gke.io"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: tt.annotations}}
			if got := Consumed(pod); got != tt.want {
				t.Errorf("Consumed(%v) = %q, want %q", tt.annotations, got, tt.want)
			}
		})
	}
}

// Capacity is sought for as long as a request says, and for a week where it does not; what cannot be served says what to
// do.
func TestInvalid(t *testing.T) {
	created := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		is    parameters
		count int32
		until time.Duration // from its creation
		want  string        // in the error; empty: it is valid
	}{
		"a week":               {nil, 1, 7 * 24 * time.Hour, ""},
		"an hour":              {parameters{"ValidUntilSeconds": "3600"}, 1, time.Hour, ""},
		"no number":            {parameters{"ValidUntilSeconds": "soon"}, 1, 0, `ValidUntilSeconds is "soon": write a whole number`},
		"no time":              {parameters{"ValidUntilSeconds": "0"}, 1, 0, "a whole number of seconds above 0"},
		"as many pods as may":  {nil, 2500, 7 * 24 * time.Hour, ""},
		"more pods than there": {nil, 2501, 7 * 24 * time.Hour, "5002 pods, and 5000 is the most of one request: split it"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := &v1.ProvisioningRequest{}
			r.CreationTimestamp, r.Spec.Parameters = metav1.NewTime(created), tt.is
			r.Spec.PodSets = []v1.PodSet{{Count: tt.count}, {Count: tt.count}}
			if got := Invalid(r); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("Invalid = %q, want %q", got, tt.want)
			}
			if at, err := ValidUntil(r); err == nil && !at.Equal(created.Add(tt.until)) {
				t.Errorf("it is valid until %v, want %v after its creation", at, tt.until)
			}
		})
	}
}
