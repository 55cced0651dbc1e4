package decide_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/coverage"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/scenario"
)

// committedWorlds is how many small clusters are tried.
const committedWorlds = 1000

// What AWS bills for launches by a plan that knows commitments is never more than by one that does not, by its own
// rules of how they are divided.
func TestCommitmentsLowerTheBillOfLaunches(t *testing.T) {
	effort := decide.Effort{Place: 1_000_000, Pack: 100_000}
	lower := 0
	eachCommittedWorld(t, effort, func(seed uint64, s *cluster.Snapshot, with, without *plan.Plan) {
		is, was := with.CostAfter, billAfter(s, without)
		if is > was+100 { // what is covered counts as costing a ten thousandth
			t.Errorf("seed %d: the bill is %v, and %v without commitments\n%s\nwith:\n%s\nwithout:\n%s", seed, is, was,
				scenario.Print(s), with, without)
		}
		if is < was {
			lower++
		}
	})
	if lower < committedWorlds/10 {
		t.Errorf("the bill is lower in %d clusters of %d: want more of them", lower, committedWorlds)
	}
}

// Where nodes may go too, no plan that launches nothing for waiting pods raises the bill, and all bills together are
// lower by a tenth: nodes go one after the other, so that a plan without commitments may be lucky in some cluster.
func TestCommitmentsLowerTheBillOfMoves(t *testing.T) {
	effort := decide.Effort{Place: 1_000_000, Pack: 100_000, Disruption: decide.DisruptionQuestions}
	var is, was quantity.MicroUSDPerHour
	worse := 0
	eachCommittedWorld(t, effort, func(seed uint64, s *cluster.Snapshot, with, without *plan.Plan) {
		if len(with.Launches) == 0 && with.CostAfter > with.CostBefore+100 {
			t.Errorf("seed %d: the bill rises\n%s\n%s", seed, scenario.Print(s), with)
		}
		if with.CostAfter > billAfter(s, without)+100 {
			worse++
		}
		is, was = is+with.CostAfter, was+billAfter(s, without)
	})
	if float64(is) > 0.9*float64(was) || worse > committedWorlds/100 {
		t.Errorf("the bills come to %v, and to %v without commitments; they are higher in %d clusters of %d", is, was,
			worse, committedWorlds)
	}
}

// eachCommittedWorld makes plans for small clusters, by knowing commitments and without knowing them.
func eachCommittedWorld(t *testing.T, effort decide.Effort,
	do func(seed uint64, s *cluster.Snapshot, with, without *plan.Plan)) {
	shop, err := os.ReadFile("testdata/shop.txt")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(committedWorlds) {
		text := string(shop) + committedWorld(rand.New(rand.NewPCG(seed, 7)))
		s, err := scenario.Parse(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		unaware := *s
		unaware.Commitments = commitment.Commitments{}
		with, without := decide.Decide(s, decide.Policy{}, effort), decide.Decide(&unaware, decide.Policy{}, effort)
		if with.PodsUnplaced() != without.PodsUnplaced() {
			t.Errorf("seed %d: %d pods have no place with commitments, %d without them", seed, with.PodsUnplaced(),
				without.PodsUnplaced())
		}
		do(seed, s, &with, &without)
	}
}

// billAfter is what AWS bills after a plan that was made without commitments.
func billAfter(s *cluster.Snapshot, p *plan.Plan) quantity.MicroUSDPerHour {
	change := coverage.Change{Launches: slices.Clone(p.Launches)}
	for i := range p.Moves {
		change.Launches = append(change.Launches, p.Moves[i].Launches...)
	}
	for _, r := range p.Removals() {
		change.Nodes = append(change.Nodes, r.Node)
	}
	return p.CostAfter - coverage.PaidAfter(s, change)
}

func committedWorld(r *rand.Rand) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	types := []struct {
		name, price, cpu, memory string
		room                     int
	}{
		{"c.small", "0.08", "1900m", "3Gi", 3}, {"c.medium", "0.16", "3900m", "7Gi", 7},
		{"c.large", "0.32", "7900m", "15Gi", 15}, {"r.medium", "0.25", "3900m", "30Gi", 7},
	}
	line("snapshot 1 2026-11-21T04:00:00Z")
	line("shape web cpu=500m memory=512Mi")
	line("shape db cpu=1500m memory=2Gi")
	for i := range r.IntN(4) {
		line("waiting default/w%d shape=%s", i, []string{"web", "db"}[r.IntN(2)])
	}
	for i := range 1 + r.IntN(2) {
		kind := types[r.IntN(len(types))].name
		switch r.IntN(4) {
		case 0:
			line("reserved-instances ri-%d type=%s count=%d", i, kind, 1+r.IntN(2))
		case 1:
			line("reserved-instances ri-%d type=%s count=%d size-flexible", i, kind, 1+r.IntN(2))
		case 2:
			line("reserved-instances ri-%d type=%s count=1 zone=%s", i, kind, []string{"a", "b"}[r.IntN(2)])
		default:
			line("savings-plan sp-%d commitment=0.%02d discount=0.3", i, 1+r.IntN(40))
		}
	}
	line("pool NodePool/default catalogue=shop")
	line("  labels karpenter.sh/nodepool=default")
	line("  require karpenter.sh/capacity-type In %s", []string{"on-demand", "on-demand spot"}[r.IntN(2)])
	line("  require kubernetes.io/arch In amd64")
	line("  policy after=30s")
	line("  allow 10")
	for i := range r.IntN(4) {
		k := types[r.IntN(len(types))]
		line("node n%d claim=n%d-c pool=NodePool/default ready initialized price=%s "+
			"created=2026-11-20T04:00:00Z quiet-since=2026-11-21T03:00:00Z", i, i, k.price)
		line("  labels karpenter.sh/nodepool=default topology.kubernetes.io/zone=%s "+
			"karpenter.sh/capacity-type=on-demand node.kubernetes.io/instance-type=%s kubernetes.io/arch=amd64 "+
			"kubernetes.io/os=linux kubernetes.io/hostname=n%d",
			[]string{"a", "b"}[r.IntN(2)], k.name, i)
		line("  allocatable cpu=%s memory=%s pods=40", k.cpu, k.memory)
		for j := range 1 + r.IntN(min(4, k.room-1)) {
			line("  pod default/p%d-%d shape=web returns started=2026-11-20T05:00:00Z", i, j)
		}
	}
	return b.String()
}
