package status

import (
	"fmt"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/roll"
	"github.com/daemok/daemok/kube/translate"
)

// way is what a user can do who wants the nodes to go, or to go sooner.
func (d *departure) way(g translate.Generation, name string) string {
	fast := fmt.Sprintf("all at once: kubectl annotate %s %s %s=%s", g.Resource, name, api.AnnotationDelete, api.DeleteFast)
	switch {
	case !d.stuck():
		return fast
	case d.Allowed > 0:
		return "the way out is to change that, as by room for its pods in another pool, or " + fast
	case !d.byBudget:
		return "the way out is to end that, or " + fast
	case g.Kind == translate.KindProvisioner:
		return fmt.Sprintf("the way out is a budget that allows more: kubectl annotate --overwrite %s %s %s=1, or %s", g.Resource, name, api.AnnotationBudgets, fast)
	}
	return fmt.Sprintf("the way out is a budget that allows more, in spec.disruption.budgets: kubectl edit %s %s, or %s", g.Resource, name, fast)
}

// departure is how far a pool is that is being deleted.
type departure struct {
	roll.Progress
	starting int    // instances that have not started: they go when they have
	first    string // a node that stays though budgets allow it to go
	keeps    string // what keeps it; empty where there is none
	others   int    // that stay as well
	byBudget bool   // where none may go: a budget says so
	forever  bool   // and no other ever will
}

func departureOf(s *cluster.Snapshot, o translate.PoolObject, stays func(node string) string) departure {
	id := o.ID
	out := departure{Progress: roll.Draining(s, o)}
	if pool, found := s.Pool(id); found && out.Allowed == 0 && s.Freeze == "" {
		allowed := pool.Policy.Drifted
		out.byBudget = allowed.Closed == "" && disruption.Shares(s.Nodes)[id].Used >= allowed.Most
		out.forever = out.byBudget && allowed.Most == 0 && pool.Policy.BudgetsChange.IsZero()
	}
	for i := range s.Instances {
		if s.Instances[i].Pool == id {
			out.starting++
		}
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		switch {
		case n.Pool != id || n.Claim == "" || n.Deleting:
		case !n.Initialized:
			out.starting++
			out.Left--
		default:
			out.keep(n.Name, stays(n.Name))
		}
	}
	return out
}

// keep records what keeps a node, where budgets would let one go: what was said of others
// that were going is over then.
func (d *departure) keep(node, why string) {
	switch {
	case why == "" || d.Allowed == 0 || disruption.ByNumber(why):
	case d.keeps == "":
		d.first, d.keeps = node, why
	default:
		d.others++
	}
}

// stuck reports whether nodes are left and nothing happens to them.
func (d *departure) stuck() bool {
	return d.Left > 0 && d.Going == 0 && (d.Allowed == 0 || d.keeps != "")
}

// String is one sentence for people.
func (d *departure) String() string {
	if d.Left+d.Going == 0 && d.starting == 0 {
		return "its last instances are terminating"
	}
	text := fmt.Sprintf("nodes left: %d, going: %d, allowed now: %d", d.Left+d.Going, d.Going, d.Allowed)
	if d.starting > 0 {
		text += fmt.Sprintf("; instances that have not started: %d", d.starting)
	}
	switch {
	case d.Left == 0:
	case d.Allowed == 0:
		text += "; no more may go: " + d.Because
		if d.forever {
			text += ", which holds for ever"
		}
	case d.keeps != "":
		text += fmt.Sprintf("; node %s stays: %s", d.first, d.keeps)
	}
	if d.Lasts > 0 && d.keeps == "" && d.Left+d.Going > 0 {
		text += fmt.Sprintf("; about %s left", d.Lasts.Round(time.Minute))
	}
	if d.others > 0 {
		text += fmt.Sprintf("; others that stay: %d", d.others)
	}
	return text
}
