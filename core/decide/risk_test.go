package decide_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/scenario"
)

// No instance is launched on demand because spot instances are likely to be interrupted, where a
// cheaper spot instance would hold the same pods, and none is launched as spot that is more
// expensive than one on demand.
func TestTheRiskOfInterruptionMovesNothingToOnDemand(t *testing.T) {
	launched := map[cluster.Option]int{}
	moved, cheaper, effort := 0, 0, decide.Effort{Place: 1_000_000, Pack: 100_000}
	for seed := range 300 {
		text := riskyMarket(uint64(seed))
		risky := readSnapshot(t, text)
		quiet := readSnapshot(t, withoutRisk(text))
		p, before := decide.Decide(risky, decide.Policy{}, effort), decide.Decide(quiet, decide.Policy{}, effort)
		for i := range p.Launches {
			l := &p.Launches[i]
			launched[l.Choice.Option]++
			if other, ok := rival(&risky.Pools[0], l); ok {
				t.Errorf("seed %d: %s for %v, and %s in %s costs %v", seed, l.Choice.Kind, l.Choice.Price, other.Option, other.Zone, other.Price)
			}
		}
		if onDemand(&p) > onDemand(&before) {
			moved++
		}
		if p.LaunchCost() < before.LaunchCost() {
			cheaper++
		}
	}
	t.Logf("%d spot and %d on-demand machines; of 300 plans %d spend more on demand than without risk, %d are cheaper", launched[cluster.Spot], launched[cluster.OnDemand], moved, cheaper)
	if moved > 3 { // the search finds another plan now and then
		t.Errorf("%d of 300 plans spend more on demand than without risk", moved)
	}
	if launched[cluster.Spot] == 0 || launched[cluster.OnDemand] == 0 {
		t.Errorf("bought %v, so that nothing is tested", launched)
	}
}

func onDemand(p *plan.Plan) quantity.MicroUSDPerHour {
	sum := quantity.MicroUSDPerHour(0)
	for i := range p.Launches {
		if p.Launches[i].Choice.Option == cluster.OnDemand {
			sum += p.Launches[i].Choice.Cost()
		}
	}
	return sum
}

// rival is a cheaper offering of the other capacity type that would hold the load.
func rival(pool *cluster.Pool, l *plan.Launch) (cluster.Offering, bool) {
	for k := range pool.Catalogue.InstanceTypes {
		instanceType := &pool.Catalogue.InstanceTypes[k]
		if !l.Requests.FitsIn(instanceType.Allocatable) {
			continue
		}
		for _, o := range instanceType.Offerings {
			if o.Option != l.Choice.Option && o.Price < l.Choice.Price {
				return o, true
			}
		}
	}
	return cluster.Offering{}, false
}

func readSnapshot(t *testing.T, text string) *cluster.Snapshot {
	t.Helper()
	s, err := scenario.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func withoutRisk(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		at := strings.Index(line, " risk=")
		if at >= 0 {
			line = line[:at] + "\n"
		}
		out = append(out, line)
	}
	return strings.Join(out, "")
}

// riskyMarket is a pool whose spot prices are near those on demand, and pods.
func riskyMarket(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	b.WriteString("catalogue many 1\n")
	for k := range 4 + r.IntN(5) {
		cpu := 2 << r.IntN(3)
		memory := cpu * (2 << r.IntN(3))
		fmt.Fprintf(&b, "kind k%02d cpu=%d memory=%dGi pods=30\n  labels kubernetes.io/arch=amd64 node.kubernetes.io/instance-type=k%02d\n", k, cpu, memory, k)
		price := float64(cpu)*0.03 + float64(memory)*0.004
		for _, zone := range []string{"a", "b"} {
			fmt.Fprintf(&b, "  offer %s spot %.4f risk=%.3f\n", zone, price*(0.6+0.6*r.Float64()), 0.3*r.Float64()*float64(r.IntN(2)))
			fmt.Fprintf(&b, "  offer %s on-demand %.4f\n", zone, price*(0.9+0.2*r.Float64()))
		}
	}
	for s := range 1 + r.IntN(3) {
		fmt.Fprintf(&b, "shape s%d namespace=default cpu=%dm memory=%dMi\nwaiting default/w%d shape=s%d count=%d\n", s, 200+100*r.IntN(17), 500*(1+r.IntN(8)), s, s, 1+r.IntN(9))
	}
	b.WriteString("pool NodePool/default catalogue=many\n  labels karpenter.sh/nodepool=default\n  require karpenter.sh/capacity-type In on-demand spot\n  policy after=30s\n  allow 10\n")
	return b.String()
}
