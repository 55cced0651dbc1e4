package disruption

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

// closed says why no more nodes of the node's pool may go for the reason; empty: it may.
func (b *budgets) closed(c *candidate, reason plan.RemovalReason) string {
	if reason == plan.Expired && !c.ExpiresAt.IsZero() {
		return ""
	}
	if allowed := Allowance(&c.pool.Policy, reason); b.shares[c.Pool].Used+1 > allowed.Most {
		return b.why(c.pool, allowed)
	}
	for i := range b.breakers {
		if breaker := &b.breakers[i]; breaker.Counts(c.Pool) && breaker.Gone+1 > breaker.Most {
			return stops(breaker)
		}
	}
	return ""
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

// why says what allows no more nodes of the pool to go than may, and until when
// that is so. What keeps all of them says by itself when that ends.
func (b *budgets) why(pool *cluster.Pool, allowed cluster.Allowance) string {
	text := b.shares[pool.ID].Against(pool.ID, allowed)
	if at := pool.Policy.BudgetsChange; allowed.Closed == "" && !at.IsZero() {
		text += ", until " + at.Format("2006-01-02 15:04 MST") + " at least"
	}
	return text
}

// use counts a node that goes, for whatever reason.
func (b *budgets) use(c *candidate) {
	share := b.shares[c.Pool]
	if c.Ready { // one that is not uses the budget already
		share.Used++
	}
	b.shares[c.Pool] = share
	for i := range b.breakers {
		if b.breakers[i].Counts(c.Pool) {
			b.breakers[i].Gone++
		}
	}
}

// Allowance is what the budgets of a pool say of the reason, which is one that
// has budgets.
func Allowance(p *cluster.Policy, reason plan.RemovalReason) cluster.Allowance {
	switch reason {
	case plan.Empty:
		return p.Empty
	case plan.Drifted, plan.Expired: // gracefully, that is
		return p.Drifted
	}
	return p.Underutilized
}
