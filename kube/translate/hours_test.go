package translate

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/kube/api"
)

// Of the hours and the limit of a pool whose nodes pods decide the smaller counts; in a static pool hours replace
// spec.replicas.
func TestHoursOfAPool(t *testing.T) {
	const two = `changes: [{at: "0 7 * * *", nodes: 2}]`
	for name, tt := range map[string]struct {
		limit    string // of nodes; empty: none
		replicas *int64
		hours    string
		want     int64 // nodes that it keeps, or may have
	}{
		"hours alone":             {"", nil, two, 2},
		"hours below a limit":     {"3", nil, two, 2},
		"hours beyond a limit":    {"1", nil, two, 1},
		"hours of a static pool":  {"9", new(int64(5)), two, 2},
		"a static pool has none":  {"9", new(int64(5)), "", 5},
		"no change before is one": {"3", nil, `changes: [{at: "0 0 31 2 *", nodes: 0}]`, 3},
	} {
		t.Run(name, func(t *testing.T) {
			o := PoolObject{Replicas: tt.replicas}
			if tt.limit != "" {
				o.Limits = corev1.ResourceList{"nodes": resource.MustParse(tt.limit)}
			}
			if tt.hours != "" {
				o.Annotations = map[string]string{api.AnnotationHours: tt.hours}
			}
			p, err := Pool(o, 4, time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC))
			if err != nil {
				t.Fatal(err)
			}
			got := p.Limits.Nodes
			if tt.replicas != nil {
				got = p.Replicas
			}
			if got == nil || *got != tt.want {
				t.Errorf("it has %v nodes, want %d", got, tt.want)
			}
		})
	}
}
