package decide_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/internal/chance"
)

// TestNoPlanExceedsAQuota makes worlds by chance with quotas that select by what nodes are, and leave little. Whatever the
// cloud delivers of what launches leave open, it is within every quota.
func TestNoPlanExceedsAQuota(t *testing.T) {
	effort := decide.Effort{Place: 1_000_000, Pack: 20_000, Disruption: decide.DisruptionQuestions}
	launches, left := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 17))
		s := chance.Crowded(r)
		addQuotas(s, r)
		p := decide.Decide(s, decide.Policy{}, effort)
		if why := quotaExceeded(s, &p); why != "" {
			t.Fatalf("seed %d: %s\n%s\n%s", seed, why, scenario.Print(s), p)
		}
		if why := broken(s, &p); why != "" {
			t.Fatalf("seed %d: %s\n%s\n%s", seed, why, scenario.Print(s), p)
		}
		launches, left = launches+len(p.Launches), left+len(p.Unplaced)
	}
	if launches < 200 || left < 50 {
		t.Errorf("%d launches, and %d groups of pods were left: quotas have little to say in these worlds", launches, left)
	}
}

// addQuotas adds quotas that leave little beyond what is used, and limits the cost of some pools.
func addQuotas(s *cluster.Snapshot, r *rand.Rand) {
	selectors := []constraint.Requirement{
		{Key: cluster.LabelZone, Set: constraint.Values("a")},
		{Key: cluster.LabelCapacityType, Set: constraint.Values("spot")},
		{Key: cluster.LabelCapacityType, Set: constraint.Values("on-demand")},
		{Key: "team", Set: constraint.Absent()},
		{Key: cluster.LabelArch, Set: constraint.Values("arm64")},
	}
	money := func() *quantity.MicroUSDPerHour {
		most := quantity.MicroUSDPerHour(r.IntN(2_000_000))
		return &most
	}
	for i := range 1 + r.IntN(3) {
		q := cluster.Quota{Name: fmt.Sprintf("q%d", i)}
		if at := r.IntN(len(selectors) + 1); at < len(selectors) {
			q.Selector = constraint.NewRequirements(selectors[at])
		}
		s.Quotas = append(s.Quotas, q)
	}
	for i := range s.Quotas {
		q, nodes := &s.Quotas[i], int64(r.IntN(4))
		switch r.IntN(3) {
		case 0:
			q.Limits.Nodes = &nodes
		case 1:
			q.Limits.Cost = money()
		default:
			q.Limits.Amounts = []quantity.Extended{{Name: quantity.NameCPU, Amount: int64(1000 * r.IntN(20))}}
		}
	}
	for i := range s.Pools {
		if r.IntN(4) == 0 {
			s.Pools[i].Limits.Cost = money()
		}
	}
	s.Sort()
	for i := range s.Pools {
		s.CountCost(&s.Pools[i])
	}
	for i := range s.Quotas {
		q := &s.Quotas[i]
		s.CountQuota(q)
		switch {
		case q.Limits.Nodes != nil:
			*q.Limits.Nodes += q.Used.Nodes
		case q.Limits.Cost != nil:
			*q.Limits.Cost += q.Used.Cost
		default:
			q.Limits.Amounts[0].Amount += int64(q.Used.Capacity.CPU)
		}
	}
}

// counted says whether a limit counts a node of the pool with these labels.
type counted func(*cluster.Pool, constraint.Labels) bool

// quotaExceeded adds to each quota, and to each pool that limits its cost, the most that every launch may become
// by its request.
func quotaExceeded(s *cluster.Snapshot, p *plan.Plan) string {
	all := slices.Clone(p.Launches)
	for i := range p.Moves {
		all = append(all, p.Moves[i].Launches...)
	}
	for i := range s.Quotas {
		q := &s.Quotas[i]
		selects := func(_ *cluster.Pool, labels constraint.Labels) bool { return q.Selects(labels) }
		if why := exceeded(s, all, q.Limits, q.Used, selects); why != "" {
			return q.String() + ": " + why
		}
	}
	for i := range s.Pools {
		q := &s.Pools[i]
		own := func(p *cluster.Pool, _ constraint.Labels) bool { return p.ID == q.ID }
		if why := exceeded(s, all, cluster.Limits{Cost: q.Limits.Cost}, q.Used, own); why != "" {
			return q.ID.String() + ": " + why
		}
	}
	return ""
}

func exceeded(s *cluster.Snapshot, all []plan.Launch, limits cluster.Limits, used cluster.Used, counts counted) string {
	any := false
	for i := range all {
		t, may := worst(s, &all[i], limits.Cost != nil, counts)
		if !may {
			continue
		}
		if any = true; t.Unpriced {
			return fmt.Sprintf("the cost is limited, and %s may have no price", all[i].Name)
		}
		used.Add(&t)
	}
	for _, l := range limits.List() {
		if has := used.Of(l.Name); any && has > l.Amount {
			return fmt.Sprintf("%s is %d, more than %d", l.Name, has, l.Amount)
		}
	}
	return ""
}

// worst is the most that a launch takes which a limit may count; may is false where it counts nothing of it.
func worst(s *cluster.Snapshot, l *plan.Launch, priced bool, counts counted) (out cluster.Taking, may bool) {
	p, _ := s.Pool(l.Pool)
	for k := range p.Catalogue.InstanceTypes {
		t := &p.Catalogue.InstanceTypes[k]
		for i := range t.Offerings {
			o := &t.Offerings[i]
			labels := p.Labels.Merge(l.Labels).Merge(t.Labels).Merge(o.Labels).With(cluster.LabelInstanceType, t.Name)
			if !asksFor(l, t, o) || !o.Available || !counts(p, labels) {
				continue
			}
			may = true
			out.Capacity, out.Cost = out.Capacity.Max(t.Capacity), max(out.Cost, o.Price+p.PerInstance())
			out.Unpriced = out.Unpriced || priced && !o.Priced
		}
	}
	return out, may
}

func asksFor(l *plan.Launch, t *cluster.InstanceType, o *cluster.Offering) bool {
	asks := func(key, value string) bool { return l.Requirements.Get(key).Allows(value) }
	return asks(cluster.LabelInstanceType, t.Name) && asks(cluster.LabelZone, o.Zone) && o.Asked(l.Requirements) &&
		asks(cluster.LabelCapacityType, string(o.Option)) &&
		(o.Reservation() == "" || asks(cluster.LabelReservation, o.Reservation()))
}
