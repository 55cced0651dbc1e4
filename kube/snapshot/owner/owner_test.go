package owner

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestOwnersThatAreWatchedHaveNames(t *testing.T) {
	tests := map[string]struct {
		version, kind string
		want          string
	}{
		"a ReplicaSet":                      {"apps/v1", "ReplicaSet", "default/ReplicaSet/web"},
		"a Job":                             {"batch/v1", "Job", "default/Job/web"},
		"a StatefulSet of another group":    {"example.com/v1", "StatefulSet", "//"},
		"a DaemonSet, which is no such one": {"apps/v1", "DaemonSet", "//"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			yes := true
			id := Of(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", OwnerReferences: []metav1.OwnerReference{{APIVersion: tt.version, Kind: tt.kind, Name: "web", Controller: &yes}}}})
			if id.String() != tt.want || Parse(id.String()) != id {
				t.Errorf("it is %s, read again %+v; want %s", id, Parse(id.String()), tt.want)
			}
		})
	}
}
