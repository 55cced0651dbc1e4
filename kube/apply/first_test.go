package apply

import (
	"errors"
	"testing"
	"time"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// TestANodeGoesFirstOnlyWhileItsPoolSaysSo: a drifted node whose pods have no place goes before an
// instance in its place comes, by an annotation of its pool, which is read again before its claim
// is deleted.
func TestANodeGoesFirstOnlyWhileItsPoolSaysSo(t *testing.T) {
	for name, tt := range map[string]struct {
		meanwhile map[string]string
		want      string
	}{
		"it says so still":       {map[string]string{api.AnnotationDriftAtLimit: api.DeleteFirst}, "old-1"},
		"it does not any more":   {nil, "old-0 old-1"},
		"it cannot be made out":  {map[string]string{api.AnnotationDriftAtLimit: "delete"}, "old-0 old-1"},
		"it says something else": {map[string]string{api.AnnotationInstanceCost: "0.01"}, "old-0 old-1"},
	} {
		t.Run(name, func(t *testing.T) {
			report(t, 2, func(t *testing.T, y *yard) {
				says := func(annotations map[string]string) {
					edited(y, "", "default", &karpv1.NodePool{}, func(p *karpv1.NodePool) { p.Annotations = annotations })
				}
				says(map[string]string{api.AnnotationDriftAtLimit: api.DeleteFirst})
				p := y.move(plan.Drifted, 1, 0)
				p.Moves[0].Placements = nil
				y.carryOut(p, func() { time.Sleep(translate.StabilizeFor / 2); says(tt.meanwhile) })
				if got := y.state(); got != tt.want {
					t.Errorf("in the end: %s, want %s", got, tt.want)
				}
				if kept := errors.Is(y.ended[0].Err, ErrChanged); kept != (tt.want == "old-0 old-1") {
					t.Errorf("told of %+v", y.ended)
				}
			})
		})
	}
}
