package retire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// budgets counts down what the disruption budgets of pools, and breakers, still
// allow.
type budgets struct {
	shares   map[cluster.PoolID]Share
	breakers []cluster.Breaker
}

func budgetsOf(s *cluster.Snapshot) *budgets {
	return &budgets{Shares(s.Nodes), slices.Clone(s.Breakers)}
}

// closed says why no more nodes of the pools may go for the reason, where each
// node of a pool is listed by its pool; empty: they may.
func (b *budgets) closed(nodes []*candidate, reason plan.RemovalReason) string {
	if reason == plan.Expired && !nodes[0].ExpiresAt.IsZero() {
		return ""
	}
	asked := map[cluster.PoolID]int64{}
	for _, c := range nodes {
		asked[c.Pool]++
		if allowed := Allowance(&c.pool.Policy, reason); b.shares[c.Pool].Used+asked[c.Pool] > allowed.Most {
			return b.why(c.pool, allowed)
		}
	}
	for i := range b.breakers {
		if why := tripping(&b.breakers[i], nodes); why != "" {
			return why
		}
	}
	return ""
}

// tripping says how the breaker would be overcome if the nodes went; empty: it
// would not.
func tripping(b *cluster.Breaker, nodes []*candidate) string {
	asked := countOf(b, nodes)
	if asked == 0 || b.Gone+asked <= b.Most {
		return ""
	}
	return stops(b)
}

func stops(b *cluster.Breaker) string {
	return fmt.Sprintf("%d nodes of its pools are going or have gone, "+byBreaker+"%s stops at %d", b.Gone, b.Name, b.Most)
}

// What is said where so many nodes are going that no more may.
const (
	byBreaker = "and the breaker of "
	byBudget  = " are going or not ready, and no more than "
)

// ByNumber reports whether a node stays, by what was said of it, since so many others were
// going then that budgets, or a breaker, allowed no more.
func ByNumber(why string) bool {
	return strings.Contains(why, byBudget) || strings.Contains(why, byBreaker)
}

func countOf(b *cluster.Breaker, nodes []*candidate) (n int64) {
	for _, c := range nodes {
		if b.Counts(c.Pool) {
			n++
		}
	}
	return n
}

// why says what allows no more nodes of the pool to go than may, and until when
// that is so. What keeps all of them says by itself when that ends.
func (b *budgets) why(pool *cluster.Pool, allowed cluster.Allowance) string {
	text := b.shares[pool.ID].Against(pool.ID, allowed)
	if at := pool.Policy.BudgetsChange; allowed.Closed == "" && !at.IsZero() {
		text += ", until " + at.Format("2006-01-02 15:04 MST") + " at least"
	}
	return text
}

// use counts nodes that go, for whatever reason.
func (b *budgets) use(nodes []*candidate) {
	for _, c := range nodes {
		share := b.shares[c.Pool]
		if c.Ready { // one that is not uses the budget already
			share.Used++
		}
		b.shares[c.Pool] = share
	}
	for i := range b.breakers {
		b.breakers[i].Gone += countOf(&b.breakers[i], nodes)
	}
}

// Allowance is what the budgets of a pool say of the reason, which is one that
// has budgets.
func Allowance(p *cluster.Policy, reason plan.RemovalReason) cluster.Allowance {
	switch reason {
	case plan.Empty:
		return p.Empty
	case plan.Drifted, plan.Expired: // in good order, that is
		return p.Drifted
	}
	return p.Underutilized
}
