package decide_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/forecast"
	"github.com/daemok/daemok/core/scenario"
)

// mixed is pods with much cpu and pods with much memory, for each of which
// there are types that suit it alone, and types for both at a little more.
func mixed(t *testing.T, evenPrice string) string {
	t.Helper()
	var out strings.Builder
	out.WriteString(`catalogue sizes 1
kind c8 cpu=8 memory=8100Mi pods=40
  offer a on-demand 0.20
kind r8 cpu=8 memory=64100Mi pods=40
  offer a on-demand 0.40
kind m8 cpu=8 memory=36100Mi pods=40
  offer a on-demand ` + evenPrice + `
shape cpu namespace=default cpu=1 memory=1Gi
shape memory namespace=default cpu=1 memory=8Gi
pool NodePool/default catalogue=sizes
  labels karpenter.sh/nodepool=default
`)
	for i := range 32 {
		fmt.Fprintf(&out, "waiting default/cpu-%02d shape=cpu\nwaiting default/memory-%02d shape=memory\n", i, i)
	}
	return out.String()
}

// TestInstancesThatSuitAllPodsAreLaunchedWhereThatPays: kube-scheduler mixes pods, and instances for
// one class of pods alone then have no room for the rest.
func TestInstancesThatSuitAllPodsAreLaunchedWhereThatPays(t *testing.T) {
	for price, want := range map[string]string{"0.300": "m8", "0.395": "c8"} {
		s, err := scenario.Parse(mixed(t, price))
		if err != nil {
			t.Fatal(err)
		}
		effort := decide.Effort{Pack: 100_000, Simulation: 1_000_000}
		p := decide.Decide(s, decide.Policy{}, effort)
		if got := p.Launches[0].Choice.Kind; got != want && want == "m8" {
			t.Errorf("with even machines at $%s %s is bought first, want %s\n%s", price, got, want, p.Account())
		}
		if l := p.Likely; l == nil || l.Cost > l.RelaxedCost || l.Relaxed.Cost > p.LaunchCost() {
			t.Errorf("with even machines at $%s the plan does not cost least in the end: %+v", price, l)
		}
		left := 0
		for seed := range uint64(4) {
			o := decide.Simulate(s, decide.Policy{}, effort, &p, forecast.Opening{Seed: 10 + seed})
			if left += o.Left; want == "m8" && o.AsPlanned != 64-o.Left {
				t.Errorf("in order %d %d pods are left, %d go where they are meant to: want all others", seed, o.Left, o.AsPlanned)
			}
		}
		if want == "m8" && left > 1 {
			t.Errorf("%d pods of four times 64 are left", left)
		}
	}
}

// TestOnePodWithAGPUSpoilsNoOthers: that most types have no GPU matters to no other pod.
func TestOnePodWithAGPUSpoilsNoOthers(t *testing.T) {
	text := mixed(t, "0.300") + "waiting default/gpu shape=gpu\n"
	text = strings.Replace(text, "shape cpu ", `kind g8 cpu=8 memory=37100Mi pods=40 nvidia.com/gpu=1
  offer a on-demand 3
shape gpu namespace=default cpu=8 memory=36Gi nvidia.com/gpu=1 priority=10
shape cpu `, 1)
	s, err := scenario.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p := decide.Decide(s, decide.Policy{}, decide.Effort{Pack: 100_000, Simulation: 1_000_000})
	kinds := map[string]int{}
	for i := range p.Launches {
		kinds[p.Launches[i].Choice.Kind]++
	}
	if kinds["m8"] < 8 || kinds["g8"] != 1 {
		t.Errorf("machines %v: want g8 once, and m8 for all other pods\n%s", kinds, p.Account())
	}
}

// TestLooksAreBounded: where the steps do not suffice to find what becomes of a plan, it is carried
// out as it is, and nothing is said about it.
func TestLooksAreBounded(t *testing.T) {
	s, err := scenario.Parse(mixed(t, "0.300"))
	if err != nil {
		t.Fatal(err)
	}
	relaxed := decide.Decide(s, decide.Policy{}, decide.Effort{Pack: 100_000})
	for _, looks := range []int64{1, 50, 100} {
		p := decide.Decide(s, decide.Policy{}, decide.Effort{Pack: 100_000, Simulation: looks})
		if p.Likely != nil || p.LaunchCost() != relaxed.LaunchCost() {
			t.Errorf("with %d looks: %s instead of %s, likely %+v", looks, p.LaunchCost(), relaxed.LaunchCost(), p.Likely)
		}
		if most := relaxed.Steps + looks + 10; p.Steps > most {
			t.Errorf("with %d looks: %d steps, at most %d", looks, p.Steps, most)
		}
	}
}

// TestNamesOfPodsChangeNothing: the order in which pods of one age are tried is
// drawn, and equal whatever they are called.
func TestNamesOfPodsChangeNothing(t *testing.T) {
	text := mixed(t, "0.300")
	swapped := strings.NewReplacer("default/cpu-", "default/xyz-", "default/memory-", "default/abc-").Replace(text)
	var costs []string
	for _, text := range []string{text, swapped} {
		s, err := scenario.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p := decide.Decide(s, decide.Policy{}, decide.Effort{Pack: 100_000, Simulation: 1_000_000})
		costs = append(costs, fmt.Sprint(p.LaunchCost(), p.Likely.Cost, p.Likely.RelaxedCost))
	}
	if costs[0] != costs[1] {
		t.Errorf("%s; with other names %s", costs[0], costs[1])
	}
}

// TestInstancesForLargePodsOpenLast: where they opened with the others, small pods
// would come there first, and a second one would be launched for a large pod.
func TestInstancesForLargePodsOpenLast(t *testing.T) {
	text := `catalogue sizes 1
kind small cpu=8 memory=32100Mi pods=40
  offer a on-demand 0.40
kind large cpu=64100m memory=256100Mi pods=40
  offer a on-demand 3.40
shape small namespace=default cpu=2 memory=8Gi
shape large namespace=default cpu=60 memory=240Gi
pool NodePool/default catalogue=sizes
  labels karpenter.sh/nodepool=default
waiting default/large shape=large
`
	for i := range 16 {
		text += fmt.Sprintf("waiting default/small-%02d shape=small\n", i)
	}
	s, err := scenario.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	effort := decide.Effort{Pack: 100_000, Simulation: 1_000_000}
	p := decide.Decide(s, decide.Policy{}, effort)
	for i := range p.Launches {
		l, want := &p.Launches[i], 1
		if l.Choice.Kind == "large" {
			want = 2
		}
		if len(l.Joins) != 1 || l.Joins[0].Turn != want {
			t.Errorf("%s, a %s machine, takes pods by %+v, want turn %d", l.Name, l.Choice.Kind, l.Joins, want)
		}
	}
	if p.Likely == nil || p.Likely.Turns != 2 || p.Likely.Left > 0 {
		t.Errorf("likely: %+v; want two turns, and no pod left", p.Likely)
	}
	if text := p.Account(); !strings.Contains(text, "instances take pods in 2 turns, those with the largest last") {
		t.Errorf("the account does not say so:\n%s", text)
	}
	for seed := range uint64(6) {
		how := forecast.Opening{Seed: 10 + seed}
		if o := decide.Simulate(s, decide.Policy{}, effort, &p, how); o.Left > 0 {
			t.Errorf("in order %d %d pods are left", seed, o.Left)
		}
	}
	free := p
	free.Launches = slices.Clone(p.Launches)
	lost := 0
	for i := range free.Launches {
		free.Launches[i].Joins = nil
	}
	for seed := range uint64(6) {
		lost += decide.Simulate(s, decide.Policy{}, effort, &free, forecast.Opening{Seed: 10 + seed}).Left
	}
	if lost == 0 {
		t.Error("nothing is lost by opening machines as they join: the story shows nothing")
	}
}
