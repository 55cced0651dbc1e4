package planner

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
)

var heavy = cluster.PoolID{Kind: "NodePool", Name: "heavy"}

// A NodeClaim that the API server refuses will be refused again: it is reported on its pool
// and its pods. An error that may pass is for the log alone.
func TestRefusedNodeClaimsAreReported(t *testing.T) {
	refused := apierrors.NewInvalid(schema.GroupKind{Group: "karpenter.sh", Kind: "NodeClaim"}, "heavy-x",
		field.ErrorList{field.Invalid(field.NewPath("spec", "requirements"), "x", "too few values")})
	tests := map[string]struct {
		err      error
		reported bool
	}{
		"an invalid one": {refused, true},
		"one of a policy": {apierrors.NewForbidden(schema.GroupResource{Resource: "nodeclaims"},
			"heavy-x", errors.New("a policy")), true},
		"a server that is busy":       {apierrors.NewTooManyRequests("busy", 1), false},
		"a connection that is closed": {errors.New("connection reset by peer"), false},
		"a pool that changed":         {apply.ErrPoolChanged, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			reported, events, _ := recorder()
			launched := []apply.Launched{{Launch: plan.Launch{Pool: heavy, Pods: []cluster.Pod{web}},
				Err: fmt.Errorf("create claim of heavy: %w", tt.err)}}
			reported.Launched(launched)
			got := events.since()
			for _, want := range []string{"NodeClaimRefused: The API server refuses NodeClaims of this pool: ", "FailedScheduling: NodePool/heavy: the API server refused the NodeClaim: "} {
				if strings.Contains(got, want) != tt.reported {
					t.Errorf("told %q, want %q among it: %v", got, want, tt.reported)
				}
			}
			if !tt.reported && got != "" {
				t.Errorf("told %q, want nothing", got)
			}
			reported.Replacing(plan.Move{Removals: []plan.Removal{{Node: "n"}}},
				apply.Launched{Launch: plan.Launch{Pool: heavy}, Claim: &karpv1.NodeClaim{}, Err: tt.err})
			if got := events.since(); strings.HasPrefix(got, "NodeClaimRefused: ") != tt.reported {
				t.Errorf("replacing: told %q, want it to be told: %v", got, tt.reported)
			}
		})
	}
}

// A pool hears that its minValues keep pods from a launch, and of nothing else that does.
func TestPoolsHearOfTheirMinValues(t *testing.T) {
	reported, events, _ := recorder()
	reported.Explain(&cluster.Snapshot{},
		plan.Plan{Unplaced: []plan.Unplaced{{Pods: []cluster.Pod{web}, Reasons: []plan.Reason{
			{Pool: heavy, Text: "minValues of x is 3, and only one value has room", MinValues: true},
			{Pool: cluster.PoolID{Kind: "NodePool", Name: "other"}, Text: "cpu limit reached"},
		}}}})
	want := "MinValuesNotMet: Nothing is launched for default/web: minValues of x is 3, and only one value has room; " +
		"lower minValues, allow more values, or set MIN_VALUES_POLICY=BestEffort"
	if got := events.since(); !strings.Contains(got, want) || strings.Count(got, "MinValuesNotMet") != 1 {
		t.Errorf("told\n%s\nwant once\n%s", got, want)
	}
}

// A pool at its limit hears once how many pods that keeps pending, and by which numbers.
func TestPoolsHearOfTheirLimits(t *testing.T) {
	reported, events, _ := recorder()
	limited := func(pods int, text, rule string) plan.Unplaced {
		return plan.Unplaced{Pods: make([]cluster.Pod, pods),
			Reasons: []plan.Reason{{Pool: heavy, Text: text, Rule: rule}}}
	}
	explain := func(list ...plan.Unplaced) { reported.Explain(&cluster.Snapshot{}, plan.Plan{Unplaced: list}) }
	const text = "cpu limit reached: 16 of 20 used, m5.2xlarge needs 4 more"
	explain(limited(7, "no type has room for cpu 200", "resource"))
	if got := events.since(); strings.Contains(got, "LimitReached") {
		t.Errorf("no limit is in the way, told\n%s", got)
	}
	explain(limited(2, text, "limit"), limited(1, "cpu limit reached: 16 of 20 used, m5.large needs 2 more", "limit"),
		limited(7, "no type has room for cpu 200", "resource"))
	want := "LimitReached: Nothing is launched for 3 pending pods: " + text + "; raise spec.limits, or let another NodePool take them"
	if got := events.since(); strings.Count(got, "LimitReached") != 1 || !strings.Contains(got, want) {
		t.Errorf("told\n%s\nwant once\n%s", got, want)
	}
}
