package plan_test

import (
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

var (
	pool  = cluster.PoolID{Kind: "NodePool", Name: "default"}
	small = plan.Choice{Kind: "m5.large", Zone: "a", Option: cluster.Spot, Price: 30000, Priced: true}
	other = plan.Choice{Kind: "m6.large", Zone: "b", Option: cluster.OnDemand, Price: 96000, Priced: true, WhyNot: "$0.066000/h more"}
	odd   = plan.Choice{Kind: "x1", Zone: "a", Option: cluster.OnDemand, WhyNot: "its price is not known"}
)

func pods(names ...string) []cluster.Pod {
	var out []cluster.Pod
	for _, n := range names {
		out = append(out, cluster.Pod{Namespace: "default", Name: n})
	}
	return out
}

func TestDecisionNamesTheChoiceAndTheNextTwo(t *testing.T) {
	l := plan.Launch{Choice: small, RunnersUp: []plan.Choice{other, odd}}
	want := "m5.large in a, spot, $0.030000/h; not m6.large in b, on-demand, $0.096000/h: $0.066000/h more; " +
		"not x1 in a, on-demand, price unknown: its price is not known"
	if got := l.Decision(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestNamesCountsWhatItDoesNotList(t *testing.T) {
	tests := map[string]struct {
		pods []cluster.Pod
		want string
	}{
		"nobody":      {nil, ""},
		"one":         {pods("a"), "default/a"},
		"a few":       {pods("a", "b"), "default/a default/b"},
		"too many":    {pods(strings.Split("abcdefghijklmn", "")...), "default/l and 2 more"},
		"just enough": {pods(strings.Split("abcdefghijkl", "")...), "default/l"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := plan.Names(tt.pods); !strings.HasSuffix(got, tt.want) {
				t.Errorf("Names = %q, want %q at its end", got, tt.want)
			}
		})
	}
}

func TestAnEmptyPlanSaysSo(t *testing.T) {
	if got := (plan.Plan{Basis: 4}).String(); got != "nothing to do\n" {
		t.Errorf("got %q", got)
	}
}

func TestDiffReportsWhatOnlyOnePlanDoes(t *testing.T) {
	a := plan.Plan{
		Launches:   []plan.Launch{{Name: "new-1", Pool: pool, Choice: small, Pods: pods("x")}, {Name: "new-2", Pool: pool, Choice: other, Pods: pods("y")}},
		Placements: []plan.Placement{{Pod: pods("z")[0], On: plan.OnNode, Target: "n1"}, {Pod: pods("x")[0], On: plan.OnLaunch, Target: "new-1"}},
		Moves:      []plan.Move{{Removals: []plan.Removal{{Node: "n2", Pool: pool, Reason: plan.Empty}}}},
	}
	b := plan.Plan{
		Launches:   []plan.Launch{{Name: "new-1", Pool: pool, Choice: other, Pods: pods("y")}},
		Placements: []plan.Placement{{Pod: pods("z")[0], On: plan.OnNode, Target: "n2"}},
		Unplaced:   []plan.Unplaced{{Pods: pods("x"), Reasons: []plan.Reason{{Pool: pool, Text: "no room"}}}},
	}
	want := `- launch of NodePool/default: m5.large in a, spot, $0.030000/h for default/x
+ leave default/x
- place default/z on node n1
+ place default/z on node n2
- remove node n2: Empty
`
	if got := plan.Diff(a, b); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := plan.Diff(a, a); got != "" {
		t.Errorf("a plan differs from itself:\n%s", got)
	}
}

// The reasons of one shape fit into an event, whole ones as far as they do.
func TestWhyIsOneKiBAtMost(t *testing.T) {
	long := strings.Repeat("é", 300) // 600 bytes
	reason := func(texts ...string) plan.Unplaced {
		u := plan.Unplaced{Pods: pods("x")}
		for _, text := range texts {
			u.Reasons = append(u.Reasons, plan.Reason{Text: text})
		}
		return u
	}
	tests := map[string]struct {
		of   plan.Unplaced
		want string
	}{
		"one":                 {reason("a"), "a"},
		"several":             {reason("a", "b"), "a; b"},
		"what is too long":    {reason(strings.Repeat("x", 2000)), strings.Repeat("x", 1021) + "…"},
		"cut between letters": {reason("a", long+long), "a; " + strings.Repeat("é", 509) + "…"},
		"what comes after":    {reason(strings.Repeat("x", 1021), "b"), strings.Repeat("x", 1021)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := tt.of.Why()
			if got != tt.want || len(got) > 1024 {
				t.Errorf("Why() = %q (%d bytes), want %q", got, len(got), tt.want)
			}
			if lines := "leave x\n  " + strings.ReplaceAll(got, "; ", "\n  ") + "\n"; !strings.HasSuffix(tt.of.String(), lines[strings.Index(lines, "\n"):]) {
				t.Errorf("the plan says %q, not what events say", tt.of.String())
			}
		})
	}
}

func TestAccountSaysCostsInWords(t *testing.T) {
	launches := []plan.Launch{{Choice: small}, {Choice: small}}
	cost := plan.Plan{Launches: launches}.LaunchCost()
	tests := map[string]struct {
		of   plan.Plan
		want string
	}{
		"nothing bought":  {plan.Plan{Bound: 1, Fewer: &plan.Summary{Instances: 1}}, ""},
		"nothing known":   {plan.Plan{Launches: launches}, ""},
		"cost and bound":  {plan.Plan{Launches: launches, Bound: cost}, "new instances cost " + cost.String() + ", the least possible\n"},
		"fewer instances": {plan.Plan{Launches: launches, Fewer: &plan.Summary{Instances: 1, Cost: cost + cost/4}}, "fewer instances: 1 instead of 2 for " + (cost + cost/4).String() + ", 25.0 % more\n"},
		"fewer instances that pods may outgrow": {plan.Plan{Launches: launches, Fewer: &plan.Summary{Instances: 1, Cost: cost - cost/4},
			Likely: &plan.Likely{Cost: cost, Relaxed: plan.Summary{Instances: 1, Cost: cost - cost/4}, RelaxedCost: 2 * cost}},
			"with pods where kube-scheduler may put them: about " + cost.String() + "; 1 instance for " + (cost - cost/4).String() + " would come to about " + (2 * cost).String() +
				"\nfewer instances: 1 instead of 2 for " + (cost - cost/4).String() + ", 25.0 % cheaper on paper, but likely to come to about " + (2 * cost).String() + "\n"},
		"what binds where": {plan.Plan{Launches: launches, Bound: cost, Margins: []plan.Margin{{Resource: "cpu", Price: 30_000}, {Resource: "memory", Zone: "b", Price: 6_000}}},
			"new instances cost " + cost.String() + ", the least possible\n" +
				"at the margin: a core $0.030000/h, a GiB of memory in b $0.006000/h\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.of.Account(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
