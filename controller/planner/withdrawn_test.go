package planner

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
)

// Each withdrawal is reported once: in the log, and on its claim if it was written.
func TestWithdrawalsAreReported(t *testing.T) {
	w := plan.Withdrawal{Claim: "default-x", Pool: cluster.PoolID{Kind: "NodePool", Name: "default"}, Note: "no pod waits for it any more"}
	object := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "default-x", UID: "u"}}
	tests := map[string]struct {
		of    apply.Withdrawn
		event string
		line  string
	}{
		"one that was written": {apply.Withdrawn{Withdrawal: w, Object: object},
			"Withdrawn: No longer needed: no pod waits for it any more; no instance is launched for it, unless the launch is already under way",
			`level=INFO msg="withdrew a nodeclaim" claim=default-x pool=default reason="no pod waits for it any more"`},
		"one that came too late": {apply.Withdrawn{Withdrawal: w, Err: fmt.Errorf("%w: claim default-x has its instance", apply.ErrOrderChanged)},
			"", `level=INFO msg="did not withdraw a nodeclaim: the cluster has changed since the plan" claim=default-x`},
		"one that could not be written": {apply.Withdrawn{Withdrawal: w, Err: errors.New("the API server is away")},
			"", `level=ERROR msg="could not withdraw a nodeclaim" claim=default-x pool=default error="the API server is away"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			reported, events, lines := recorder()
			reported.Withdrawn([]apply.Withdrawn{tt.of})
			if got := events.since(); got != tt.event {
				t.Errorf("told %q, want %q", got, tt.event)
			}
			if !strings.Contains(lines.String(), tt.line) {
				t.Errorf("the log says\n%s\nwant %s", lines, tt.line)
			}
		})
	}
}
