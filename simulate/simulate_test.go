package simulate_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/simulate"
)

// A pod of nine cores shares an instance of ten with one of 0.9 for an hour and
// leaves. For the ten hours that the small one stays, an instance of one core does,
// at 0.30 dollars instead of 3 an hour. Both rules find that, for one eviction.
func TestPoliciesComeToWhatInstancesCost(t *testing.T) {
	const untouched, moved = 3.0 * 11, 3.0 + 0.3*10
	path := files(t, map[string]string{".csv": jobColumns + "pod,9000,1000,0,3600\npod,900,1000,0,90000\n" +
		"pod,900000,1000,60,120\n"}) + ".csv" // the last fits on no instance type
	o := simulate.Options{Budget: "10%", Seed: 1, Source: simulate.Source{Pods: path, To: 11 * 3600}, Policies: []string{"untouched", "plain", "ours"}}
	got, err := simulate.Run(o)
	if err != nil {
		t.Fatal(err)
	}
	if want := "pod job-00002, created at second 60, is left out: it requests cpu=900 memory=1000Mi pods=1, more than any instance that may be launched has"; !slices.Equal(got.Notes, []string{want}) {
		t.Errorf("notes are %q, want %q", got.Notes, want)
	}
	if got.Pods != 2 || got.TooLarge != 1 || got.Hours != 11 || !slices.Equal(got.Order, o.Policies) {
		t.Errorf("%d pods, %d too large, in %g hours under %v; want 2, 1 and 11 under %v", got.Pods, got.TooLarge, got.Hours, got.Order, o.Policies)
	}
	// 120 dollars an hour for 399.9 cores, for 9.9 cores in one hour and 0.9 in ten.
	if want := 120 / 399.9 * (9.9 + 0.9*10); math.Abs(got.BoundDollars-want) > 1e-6 {
		t.Errorf("bound is %g, want %g", got.BoundDollars, want)
	}
	for name, want := range map[string]struct {
		dollars           float64
		launched, evicted int
	}{"untouched": {untouched, 1, 0}, "plain": {moved, 2, 1}, "ours": {moved, 2, 1}} {
		c := got.Policies[name]
		if c.Launched != want.launched || c.Evictions != want.evicted {
			t.Errorf("%s: %d launched and %d evictions, want %d and %d", name, c.Launched, c.Evictions, want.launched, want.evicted)
		}
		if c.CostDollars > want.dollars*1.1 || c.CostDollars < want.dollars*0.99 || math.Abs(*c.Gap-(c.CostDollars/got.BoundDollars-1)) > 1e-9 {
			t.Errorf("%s: cost $%.2f, gap %g; want about $%.2f, compared with $%.2f", name, c.CostDollars, *c.Gap, want.dollars, got.BoundDollars)
		}
		if c.PendingP50Seconds < 15 || c.PendingP99Seconds > 120 {
			t.Errorf("%s: pods waited %g and %g s; instances boot within two minutes", name, c.PendingP50Seconds, c.PendingP99Seconds)
		}
		if last := c.Course[len(c.Course)-1]; len(c.Course) != 11*60 || last.Nodes != 1 || last.Evictions != want.evicted || last.Pending != 0 {
			t.Errorf("%s: the last of %d moments is %+v; want one of each minute, with a node and %d evictions", name, len(c.Course), last, want.evicted)
		}
	}
	again, err := simulate.Run(o)
	if err != nil || again.Policies["ours"].CostDollars != got.Policies["ours"].CostDollars || again.Policies["plain"].PendingP99Seconds != got.Policies["plain"].PendingP99Seconds {
		t.Errorf("the same again comes to %+v, %v; want %+v", again.Policies, err, got.Policies)
	}
}

// Two replicas of a core each run for an hour, four in the next and none in the third; a job of two cores comes in the second hour
// and has half an hour to run.
func TestBoundFollowsReplicasAndLengthsOfJobs(t *testing.T) {
	prefix := files(t, map[string]string{
		".deployments.csv": deploymentColumns + "web,1000,1024,2,4,taxi,0,0,,5\n",
		".replicas.csv":    replicaColumns + "0,web,2\n3600,web,4\n7200,web,0\n",
		".jobs.csv":        jobColumns + "report,2000,1024,3600,5400\n",
	})
	got, err := simulate.Run(simulate.Options{Budget: "1", Source: simulate.Source{Services: prefix, To: 3 * 3600}, Policies: []string{"untouched"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := 120 / 399.9 * (2 + 4 + 2*0.5); math.Abs(got.BoundDollars-want) > 1e-6 {
		t.Errorf("bound is %g, want %g: 7 core hours", got.BoundDollars, want)
	}
	var at []time.Duration
	for _, l := range got.Bound {
		at = append(at, l.At)
	}
	if want := []time.Duration{0, time.Hour, 90 * time.Minute, 2 * time.Hour}; !slices.Equal(at, want) {
		t.Errorf("the bound changes at %v, want %v", at, want)
	}
	if got.Bound[3].DollarsPerHour != 0 {
		t.Errorf("the bound is %g dollars an hour in the end, and nothing is wanted", got.Bound[3].DollarsPerHour)
	}
}

// Every policy runs a workload with all rules that services may have.
func TestEveryPolicyRunsServices(t *testing.T) {
	got, err := simulate.Run(simulate.Options{Budget: "10%", Seed: 1, Source: simulate.Source{Services: shop(t), To: 1800}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"ours", "plain", "karpenter", "cluster-autoscaler", "untouched"}; !slices.Equal(got.Order, want) {
		t.Errorf("policies are %v, want %v", got.Order, want)
	}
	for name, c := range got.Policies {
		if c.Launched == 0 || c.CostDollars < got.BoundDollars {
			t.Errorf("%s: %d launched for $%g, and the bound is $%g", name, c.Launched, c.CostDollars, got.BoundDollars)
		}
	}
}

// The cost is what commitments leave to pay, and lower where plans know them.
func TestCommitmentsLowerTheCost(t *testing.T) {
	all := commitment.SavingsPlan{ID: "all", Commitment: 1000_000_000, Discount: 0.5}
	var c [2]simulate.Report
	for i := range c {
		o := simulate.Options{Budget: "10%", Seed: 1, Source: simulate.Source{Services: shop(t), To: 1800}}
		o.Policies = []string{"ours"}
		if i == 1 {
			o.Commitments.Plans = []commitment.SavingsPlan{all}
		}
		var err error
		if c[i], err = simulate.Run(o); err != nil {
			t.Fatal(err)
		}
	}
	was, is := c[0].Policies["ours"], c[1].Policies["ours"]
	if was.CostDollars <= 0 || is.CostDollars > 1e-9 || is.Gap != nil {
		t.Errorf("the cost is %+v, and %+v where a Savings Plan pays for all; want none, and no gap", was, is)
	}
}

func TestOptionsThatCannotBeRun(t *testing.T) {
	prefix := shop(t)
	tests := map[string]struct {
		options simulate.Options
		want    string
	}{
		"an unknown policy":             {simulate.Options{Policies: []string{"ours", "karpentr"}}, `there is no policy "karpentr": use some of ours, uncommitted, plain, karpenter, karpenter-spot-to-spot, cluster-autoscaler, untouched, did you mean karpenter?`},
		"a budget of none":              {simulate.Options{Budget: "0%"}, `--budget is "0%": want a number`},
		"a budget of more than all":     {simulate.Options{Budget: "101%"}, "want a number"},
		"a budget that is no such":      {simulate.Options{Budget: "all"}, "want a number"},
		"a catalogue that is not there": {simulate.Options{Catalog: prefix}, "read catalogue"},
		"an unknown capacity type":      {simulate.Options{Capacity: "spots"}, "use on-demand, spot or any"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := tt.options
			if o.Services = prefix; o.Budget == "" {
				o.Budget = "1"
			}
			if _, err := simulate.Run(o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Run(%+v) = %v, want %q", o, err, tt.want)
			}
		})
	}
}
