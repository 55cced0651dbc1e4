package removal

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/internal/chance"
)

// TestPoolsThatOfferTheSameAreAskedOnce compares, where pools are much alike, with
// answers for which every one of them is asked.
func TestPoolsThatOfferTheSameAreAskedOnce(t *testing.T) {
	spared, launched := 0, 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 41))
		s := chance.Inhabited(r)
		for i := range s.Pools {
			if r.IntN(4) == 0 {
				kinds, _ := constraint.NewSet(constraint.Exists)
				s.Pools[i].Requirements = s.Pools[i].Requirements.And(constraint.Requirement{Key: cluster.LabelInstanceType, Set: kinds, MinValues: 3 + r.IntN(5)})
			}
			for n := range 1 + r.IntN(3) {
				s.Pools = append(s.Pools, muchLike(r, s.Pools[i], n))
			}
		}
		s.Sort()
		g, all := New(s, Taken{}, place.Options{}), New(s, Taken{}, place.Options{})
		askEach(all)
		for range 4 {
			q := anyQuestion(r, len(s.Nodes))
			got, want := g.Ask(q), all.Ask(q)
			if full(got) != full(want) {
				t.Fatalf("seed %d: %+v:\n%s\nwhere each pool is asked:\n%s", seed, q, full(got), full(want))
			}
			d := g.evaluator()
			if d.run.Provisioner.Values.Pools != nil && len(d.run.Provisioner.Values.Pools) < len(d.run.Candidates) {
				spared++
				launched += len(got.Launches)
			}
			g.evaluators.Give(d)
			if len(got.Launches) > 0 && r.IntN(2) == 0 && !got.Expensive && len(got.Unplaced) == 0 {
				g.Take(q.Leave, got)
				all.Take(q.Leave, want)
				askEach(all)
			}
		}
	}
	if spared < 200 || launched < 200 {
		t.Errorf("%d questions in which some pool was not asked, with %d machines: too few to say anything", spared, launched)
	}
}

// TestPoolsThatHaveTheSameAreValuedOnce compares what options of much alike pools yield
// with what they do where every pool is reckoned by itself.
func TestPoolsThatHaveTheSameAreValuedOnce(t *testing.T) {
	shared, unlike := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 43))
		s := chance.Inhabited(r)
		for i := range s.Pools {
			for n := range 1 + r.IntN(3) {
				s.Pools = append(s.Pools, muchLike(r, s.Pools[i], n))
			}
		}
		s.Sort()
		apart := *s // the same, with a catalogue for each pool
		apart.Pools = slices.Clone(s.Pools)
		for i := range apart.Pools {
			if p := &apart.Pools[i]; p.Catalogue != nil {
				p.Catalogue = &cluster.Catalogue{Revision: p.Catalogue.Revision, Disk: p.Catalogue.Disk, InstanceTypes: p.Catalogue.InstanceTypes}
			}
		}
		options := place.Options{LimitCost: float64(r.IntN(2)), LeastInterrupted: r.IntN(2) == 0}
		together, unleashed := place.NewRun(s, s.Waiting, options), map[int]bool{}
		for range 3 {
			unleashed[r.IntN(3*len(s.Pools))] = true
			alone, worth := place.NewRun(&apart, s.Waiting, options), float64(1+r.IntN(5))
			for _, run := range []*place.Run{together, alone} {
				for i, b := range run.Candidates {
					if unleashed[i] {
						b.Unleash()
					}
				}
				values := &run.Provisioner.Values
				values.Pools, run.Demand.Groups = run.Candidates, run.Waiting
				values.Worth = values.Usual()
				values.Worth[0] *= worth
				values.Set()
			}
			for i, b := range together.Candidates {
				own := alone.Candidates[i]
				if !slices.Equal(b.Yield, own.Yield) || !slices.Equal(b.ByYield, own.ByYield) || !slices.Equal(b.Cost, own.Cost) || !slices.Equal(b.Risk, own.Risk) {
					t.Fatalf("seed %d: options of %s yield %v, and by themselves %v", seed, b.ID, b.Yield, own.Yield)
				}
				if slices.ContainsFunc(together.Candidates[:i], func(x *supply.Candidate) bool {
					return len(b.Yield) > 0 && len(x.Yield) > 0 && &x.Yield[0] == &b.Yield[0]
				}) {
					shared++
				} else {
					unlike++
				}
			}
		}
	}
	if shared < 200 || unlike < 200 {
		t.Errorf("%d pools were valued as another and %d by themselves: too few to say anything", shared, unlike)
	}
}

// askEach has every pool asked.
func askEach(g *Simulator) {
	d := g.evaluator()
	for _, b := range d.run.Candidates {
		b.Like = b
	}
	clear(d.twins.Spare)
	g.evaluators.Give(d)
}

// muchLike is a pool that differs from another one in little more than its name.
func muchLike(r *rand.Rand, p cluster.Pool, n int) cluster.Pool {
	p.ID.Name += string(rune('x' + n))
	p.Labels = p.Labels.Merge(constraint.NewLabels(map[string]string{"pool": p.ID.Name}))
	p.Requirements = slices.Clone(p.Requirements)
	switch r.IntN(6) {
	case 0:
		p.Weight += 10
	case 1:
		p.Limits = cluster.Limits{}
	case 2:
		p.Taints = nil
	case 3:
		p.Requirements = p.Requirements.And(constraint.Requirement{Key: "team", Set: constraint.Values("1")})
	case 4:
		for i := range p.Requirements {
			p.Requirements[i].MinValues = 0
		}
	}
	return p
}
