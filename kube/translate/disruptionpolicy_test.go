package translate

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

var noon = time.Date(2026, 1, 7, 12, 0, 0, 0, time.UTC)

func policyOf(spec v1alpha1.DisruptionPolicySpec) *v1alpha1.DisruptionPolicy {
	return &v1alpha1.DisruptionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "night"}, Spec: spec}
}

func tripped(annotation string) *v1alpha1.DisruptionPolicy {
	o := policyOf(v1alpha1.DisruptionPolicySpec{Breaker: &v1alpha1.Breaker{Nodes: "3", Within: "30m"}})
	o.Status.Breaker = &v1alpha1.BreakerStatus{TrippedAt: &metav1.Time{Time: noon.Add(-time.Hour)}, Why: "too many"}
	o.Annotations = map[string]string{api.AnnotationAcknowledged: annotation}
	return o
}

func TestHoldOn(t *testing.T) {
	pool := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"team": "shop"}}}
	window := func(zone, start string) []v1alpha1.Window {
		return []v1alpha1.Window{{TimeZone: zone, Start: start, Duration: "1h"}}
	}
	named := func(names ...string) *v1alpha1.NodePoolSelection { return &v1alpha1.NodePoolSelection{Names: names} }
	labelled := func(team string) *v1alpha1.NodePoolSelection {
		return &v1alpha1.NodePoolSelection{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": team}}}
	}
	odd := &v1alpha1.NodePoolSelection{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "no value!"}}}
	closed := "no window of DisruptionPolicy night is open, the next opens 2026-01-07T22:00:00Z"
	tests := map[string]struct {
		policy *v1alpha1.DisruptionPolicy
		why    string        // its beginning; empty: nodes may go
		change time.Duration // from now; 0: never
	}{
		"a closed window holds":                  {policyOf(v1alpha1.DisruptionPolicySpec{Windows: window("", "22:00")}), closed, 10 * time.Hour},
		"an open one does not":                   {policyOf(v1alpha1.DisruptionPolicySpec{Windows: window("", "11:30")}), "", 30 * time.Minute},
		"pools that are named":                   {policyOf(v1alpha1.DisruptionPolicySpec{NodePools: named("api", "web"), Windows: window("", "22:00")}), closed, 10 * time.Hour},
		"no others":                              {policyOf(v1alpha1.DisruptionPolicySpec{NodePools: named("api"), Windows: window("", "22:00")}), "", 0},
		"pools with a label":                     {policyOf(v1alpha1.DisruptionPolicySpec{NodePools: labelled("shop"), Windows: window("", "22:00")}), closed, 10 * time.Hour},
		"none with another":                      {policyOf(v1alpha1.DisruptionPolicySpec{NodePools: labelled("bank"), Windows: window("", "22:00")}), "", 0},
		"an unknown zone holds":                  {policyOf(v1alpha1.DisruptionPolicySpec{Windows: window("Mars/Olympus", "11:30")}), `DisruptionPolicy night is not understood: spec.windows[0].timeZone: "Mars/Olympus" is no time zone`, 0},
		"all mistakes are named":                 {policyOf(v1alpha1.DisruptionPolicySpec{Windows: window("Mars/Olympus", "noon")}), `DisruptionPolicy night is not understood: spec.windows[0].timeZone: "Mars/Olympus" is no time zone, use an IANA name such as Europe/Berlin, or leave it out for UTC; spec.windows[0].start: "noon" is no time of day`, 0},
		"that of the host is none":               {policyOf(v1alpha1.DisruptionPolicySpec{Windows: window("Local", "11:30")}), `DisruptionPolicy night is not understood: spec.windows[0].timeZone: "Local" is no time zone`, 0},
		"but no pool that is not selected":       {policyOf(v1alpha1.DisruptionPolicySpec{NodePools: named("api"), Windows: window("Mars/Olympus", "11:30")}), "", 0},
		"a selector that cannot be read, all":    {policyOf(v1alpha1.DisruptionPolicySpec{NodePools: odd}), "DisruptionPolicy night is not understood: spec.nodePools.selector: ", 0},
		"a breaker that has tripped":             {tripped(""), "the breaker of DisruptionPolicy night tripped: too many; to close it: kubectl annotate --overwrite disruptionpolicy night daemok.sh/acknowledged=2026-01-07T11:00:00Z", 0},
		"not once that is acknowledged":          {tripped("2026-01-07T11:00:00Z"), "", 0},
		"the same moment said in another zone":   {tripped("2026-01-07T12:00:00+01:00"), "", 0},
		"an older word closes no breaker":        {tripped("2026-01-07T10:00:00Z"), "the breaker of DisruptionPolicy night tripped", 0},
		"nor does one for whatever may come yet": {tripped("2036-01-07T10:00:00Z"), "the breaker of DisruptionPolicy night tripped", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := HoldOn(FromNodePool(pool), []DisruptionPolicy{ReadDisruptionPolicy(tt.policy)}, noon)
			var want time.Time
			if tt.change != 0 {
				want = noon.Add(tt.change)
			}
			if !strings.HasPrefix(got.Why, tt.why) || (got.Why == "") != (tt.why == "") || !got.Changes.Equal(want) {
				t.Errorf("HoldOn = %q until %v; want %q until %v", got.Why, got.Changes, tt.why, want)
			}
		})
	}
}

// TestAHoldLeavesNothingAllowed: what budgets allow does not count then, and the next check is at
// the first change.
func TestAHoldLeavesNothingAllowed(t *testing.T) {
	some := cluster.Allowance{Most: 3, Note: "budget nodes: 3"}
	before := cluster.Policy{Empty: some, Drifted: some, Underutilized: some, BudgetsChange: noon.Add(time.Hour)}
	none := cluster.Allowance{Closed: "closed"}
	got := Hold{Why: "closed", Changes: noon.Add(time.Minute), Payback: cluster.Payback{PodDollars: 1}}.On(before)
	want := cluster.Policy{Empty: none, Drifted: none, Underutilized: none, BudgetsChange: noon.Add(time.Minute), Payback: cluster.Payback{PodDollars: 1}}
	if got != want {
		t.Errorf("held: %+v\nwant %+v", got, want)
	}
	if open := (Hold{Changes: noon.Add(2 * time.Hour)}).On(before); open != before {
		t.Errorf("open: %+v\nwant %+v", open, before)
	}
}

func TestPaybackOfSeveralPolicies(t *testing.T) {
	said := func(p *v1alpha1.Payback) DisruptionPolicy {
		return ReadDisruptionPolicy(policyOf(v1alpha1.DisruptionPolicySpec{Payback: p}))
	}
	off, cost, share := said(&v1alpha1.Payback{Disabled: true}), said(&v1alpha1.Payback{PodCost: "0.01"}), said(&v1alpha1.Payback{MinSavings: "5%", PodCost: "0.005"})
	tests := map[string]struct {
		policies []DisruptionPolicy
		want     cluster.Payback
	}{
		"none says anything":    {[]DisruptionPolicy{said(nil)}, cluster.Payback{}},
		"one switches it off":   {[]DisruptionPolicy{off, said(nil)}, cluster.Payback{Off: true}},
		"unless another asks":   {[]DisruptionPolicy{off, cost, off}, cluster.Payback{PodDollars: 0.01}},
		"the strictest of each": {[]DisruptionPolicy{cost, share}, cluster.Payback{PodDollars: 0.01, LeastShare: 0.05}},
		"in whatever order":     {[]DisruptionPolicy{share, off, cost}, cluster.Payback{PodDollars: 0.01, LeastShare: 0.05}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := HoldOn(FromNodePool(&karpv1.NodePool{}), tt.policies, noon).Payback; got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestLosses(t *testing.T) {
	gone := func(ago time.Duration) Departure { return Departure{At: noon.Add(-ago)} }
	failed := Departure{At: noon.Add(-time.Minute), Failed: true}
	three := int32(3)
	tests := map[string]struct {
		breaker      *v1alpha1.Breaker
		acknowledged time.Duration // ago; 0: never
		departed     []Departure
		remain       int64
		want         Losses
	}{
		"without a breaker nothing is counted": {nil, 0, []Departure{gone(0)}, 1, Losses{}},
		"what went before does not count":      {&v1alpha1.Breaker{Nodes: "2", Within: "30m"}, 0, []Departure{gone(time.Minute), gone(30 * time.Minute)}, 5, Losses{Gone: 1, Of: 6, Most: 2}},
		"a number":                             {&v1alpha1.Breaker{Nodes: "2", Within: "30m"}, 0, []Departure{gone(time.Minute), gone(2 * time.Minute)}, 5, Losses{Gone: 2, Of: 7, Most: 2, Why: "2 of 7 nodes went within 30m, and it stops at 2"}},
		"a share of what there was, up":        {&v1alpha1.Breaker{Nodes: "30%", Within: "30m"}, 0, []Departure{gone(time.Minute), gone(time.Minute)}, 6, Losses{Gone: 2, Of: 8, Most: 3}},
		"a share of nothing is one":            {&v1alpha1.Breaker{Nodes: "30%", Within: "30m"}, 0, nil, 0, Losses{Most: 1}},
		"machines that did not join":           {&v1alpha1.Breaker{FailedReplacements: &three, Within: "1h"}, 0, []Departure{failed, failed, failed, gone(time.Minute)}, 9, Losses{Gone: 1, Of: 10, Failed: 3, Why: "3 replacements of nodes did not join within 1h"}},
		"after it was acknowledged it begins anew": {&v1alpha1.Breaker{Nodes: "2", Within: "30m"}, 5 * time.Minute, []Departure{gone(10 * time.Minute), gone(6 * time.Minute), gone(time.Minute)}, 5,
			Losses{Gone: 1, Of: 6, Most: 2}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := policyOf(v1alpha1.DisruptionPolicySpec{Breaker: tt.breaker})
			if tt.acknowledged != 0 {
				o.Status.Breaker = &v1alpha1.BreakerStatus{AcknowledgedAt: &metav1.Time{Time: noon.Add(-tt.acknowledged)}}
			}
			p := ReadDisruptionPolicy(o)
			if got := p.Losses(tt.departed, tt.remain, noon); got != tt.want {
				t.Errorf("Losses = %+v\nwant %+v", got, tt.want)
			}
		})
	}
}
