package decide_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/internal/chance"
)

// TestNoPlanBreaksAMinimumOfAWorkload makes worlds by chance in which workloads ask for on-demand nodes. A plan puts a
// pod on a spot node only if enough pods of its owner are left for others, and takes none off the on-demand nodes that
// its owner needs.
func TestNoPlanBreaksAMinimumOfAWorkload(t *testing.T) {
	effort := decide.Effort{Place: 1_000_000, Pack: 20_000, Disruption: decide.DisruptionQuestions}
	toSpot, toOnDemand := 0, 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 29))
		s := chance.Crowded(r)
		if seed%3 > 0 {
			s = chance.Inhabited(r)
		}
		addMinimums(s, r)
		for i := range s.Pools {
			s.Pools[i].OnDemand = cluster.Minimum{}
		}
		addWorkloads(s, r)
		p := decide.Decide(s, decide.Policy{Disruption: disruption.Options{SpotToSpot: true}}, effort)
		for name, w := range ownersAfter(s, &p) {
			toSpot, toOnDemand = toSpot+w.newOnSpot, toOnDemand+w.newOnDemand
			if w.newOnSpot > 0 && w.onSpot > w.all-w.least || w.onDemand < min(w.least, w.before) && w.lost == 0 {
				t.Fatalf("seed %d: %s is %+v\n%s\n%s", seed, name, *w, scenario.Print(s), p)
			}
		}
	}
	if toSpot < 100 || toOnDemand < 100 {
		t.Errorf("%d pods go to spot nodes and %d to others: minimums have little to say", toSpot, toOnDemand)
	}
}

// addWorkloads gives shapes a minimum, and pods that wait an owner. Some of them are only expected; some of those that
// run end.
func addWorkloads(s *cluster.Snapshot, r *rand.Rand) {
	for _, shape := range s.Shapes() {
		switch r.IntN(3) {
		case 0:
			shape.OnDemand = cluster.Minimum{Least: 1 + r.Int64N(4)}
		case 1:
			shape.OnDemand = cluster.Minimum{Least: 1 + r.Int64N(100), Percent: true}
		}
	}
	for i := range s.Waiting {
		s.Waiting[i].Owner = fmt.Sprintf("Deployment/%d", r.IntN(4))
	}
	for i := range s.Nodes {
		for j := range s.Nodes[i].Pods {
			p := &s.Nodes[i].Pods[j]
			p.UID, p.Ending = fmt.Sprintf("%d-%d", i, j), p.Ending || p.Returns && r.IntN(9) == 0
		}
	}
	for i := range s.Waiting {
		s.Waiting[i].UID = fmt.Sprintf("waits-%d", i)
	}
	for n := len(s.Waiting) - r.IntN(3); len(s.Waiting) > max(0, n); s.Waiting = s.Waiting[:len(s.Waiting)-1] {
		s.Expected = append(s.Expected, s.Waiting[len(s.Waiting)-1])
	}
}

// ownerAfter is the pods of an owner that have a minimum, once a plan is carried out.
type ownerAfter struct {
	all, least             int
	before                 int // on on-demand nodes that stay, before the plan
	onDemand, onSpot, lost int // lost: their nodes go, and they have no place
	newOnSpot, newOnDemand int // placed by the plan, and not from one spot node on another
}

func ownersAfter(s *cluster.Snapshot, p *plan.Plan) map[string]*ownerAfter {
	spot, gone, placed := map[string]bool{}, map[string]bool{}, map[string]plan.Placement{}
	record := func(launches []plan.Launch, placements []plan.Placement) {
		for i := range launches {
			spot[launches[i].Name] = launches[i].MayBeSpot()
		}
		for _, x := range placements {
			placed[x.Pod.UID] = x
		}
	}
	for i := range s.Nodes {
		spot[s.Nodes[i].Name] = s.Nodes[i].IsSpot()
	}
	for i := range s.Instances {
		spot[s.Instances[i].Claim] = s.Instances[i].MayBeSpot()
	}
	record(p.Launches, p.Placements)
	for i := range p.Moves {
		record(p.Moves[i].Launches, p.Moves[i].Placements)
	}
	for _, r := range p.Removals() {
		gone[r.Node] = true
	}
	out, minimums := map[string]*ownerAfter{}, map[string][]cluster.Minimum{}
	count := func(pod *cluster.Pod, n *cluster.Node) {
		if !pod.Shape.OnDemand.Any() || pod.Ending && !pod.Returns || pod.Daemon || pod.Mirror {
			return
		}
		id := pod.Namespace + " " + pod.Owner
		if pod.Owner == "" {
			id += pod.Name
		}
		if out[id] == nil {
			out[id] = &ownerAfter{}
		}
		w := out[id]
		w.all++
		if pod.Ending {
			return
		}
		minimums[id] = append(minimums[id], pod.Shape.OnDemand)
		if n != nil && !n.Deleting && !n.IsSpot() {
			w.before++
		}
		to, moves := placed[pod.UID]
		switch {
		case moves && spot[to.Target] && n != nil && !n.Deleting && n.IsSpot(): // as before
			w.onSpot++
		case moves && spot[to.Target]:
			w.onSpot, w.newOnSpot = w.onSpot+1, w.newOnSpot+1
		case moves:
			w.onDemand, w.newOnDemand = w.onDemand+1, w.newOnDemand+1
		case n == nil, n.Deleting, gone[n.Name]:
			w.lost++
		case n.IsSpot():
			w.onSpot++
		default:
			w.onDemand++
		}
	}
	for i := range s.Waiting {
		count(&s.Waiting[i], nil)
	}
	for i := range s.Expected {
		count(&s.Expected[i], nil)
	}
	for i := range s.Nodes {
		for j := range s.Nodes[i].Pods {
			count(&s.Nodes[i].Pods[j], &s.Nodes[i])
		}
	}
	for id, w := range out {
		for _, m := range minimums[id] {
			w.least = max(w.least, int(m.Of(int64(w.all))))
		}
	}
	return out
}
