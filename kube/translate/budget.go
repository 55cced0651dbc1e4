package translate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/daemok/daemok/core/cluster"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// Allowed is how many nodes of a pool may be going away at once now, for a reason, and what says
// so. Percentages are of nodes, rounded up. A budget whose schedule cannot be read allows none, so
// that a typing error never costs a node.
func Allowed(budgets []karpv1.Budget, reason karpv1.DisruptionReason, nodes int64, now time.Time) cluster.Allowance {
	return readBudgets(budgets, now).allow(reason, nodes)
}

// budgets are those of one pool, at one moment.
type budgets []budget

type budget struct {
	karpv1.Budget
	window  window
	inForce bool
	err     error
}

// window is the times at which a budget with a schedule is in force, all in
// UTC, where no hour is skipped or comes twice: from each moment of the schedule
// on, for a length of time.
type window struct {
	words  string
	opens  cron.Schedule // nil: it is in force always
	length time.Duration
}

func readBudgets(list []karpv1.Budget, now time.Time) budgets {
	if len(list) == 0 {
		list = []karpv1.Budget{{Nodes: "10%"}}
	}
	out := make(budgets, len(list))
	for i, b := range list {
		out[i].Budget = b
		if out[i].window, out[i].err = readWindow(b); out[i].err == nil {
			out[i].inForce, out[i].err = out[i].window.isOpen(now)
		}
	}
	return out
}

func (bs budgets) allow(reason karpv1.DisruptionReason, nodes int64) cluster.Allowance {
	least, note := nodes, "no budget is in force"
	for _, b := range bs {
		if len(b.Reasons) > 0 && !slices.Contains(b.Reasons, reason) {
			continue
		}
		if b.err != nil {
			return cluster.Allowance{Closed: b.err.Error()}
		}
		if !b.inForce {
			continue
		}
		n, err := share(b.Nodes, nodes)
		if err != nil {
			return cluster.Allowance{Closed: err.Error()}
		}
		if n < least || note == "no budget is in force" {
			least, note = n, "budget nodes: "+b.Nodes
		}
	}
	return cluster.Allowance{Most: least, Note: note}
}

// change is the next moment at which a budget comes into force or no longer
// is; zero: never.
func (bs budgets) change(now time.Time) time.Time {
	var next time.Time
	for _, b := range bs {
		if b.err != nil || b.window.opens == nil {
			continue
		}
		if at := b.window.change(now); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

func readWindow(b karpv1.Budget) (window, error) {
	if b.Schedule == nil || b.Duration == nil {
		return window{}, nil
	}
	opens, err := cron.ParseStandard("TZ=UTC " + *b.Schedule)
	if err != nil {
		return window{}, fmt.Errorf("budget schedule %q cannot be read, so nothing is disrupted: %w", *b.Schedule, err)
	}
	length, err := time.ParseDuration(*b.Duration)
	if err != nil {
		return window{}, fmt.Errorf("budget duration %q cannot be read, so nothing is disrupted: %w", *b.Duration, err)
	}
	return window{*b.Schedule, opens, length}, nil
}

// overlapsMax bounds how many openings are examined one after another where each comes before the
// one before it has ended.
const overlapsMax = 24

func (w window) isOpen(now time.Time) (bool, error) {
	if w.opens == nil {
		return true, nil
	}
	first := w.opens.Next(now.Add(-w.length))
	if first.IsZero() {
		return false, fmt.Errorf("budget schedule %q names a day that does not come for years, so nothing is disrupted", w.words)
	}
	return !first.After(now), nil
}

// change is when an open window closes, or a closed one opens. It is a moment
// before that where overlapsMax was not enough.
func (w window) change(now time.Time) time.Time {
	opens := w.opens.Next(now.Add(-w.length))
	if opens.After(now) {
		return opens.UTC()
	}
	for range overlapsMax {
		next := w.opens.Next(opens)
		if next.IsZero() || next.After(opens.Add(w.length)) {
			break
		}
		opens = next
	}
	return opens.Add(w.length).UTC()
}

func share(text string, nodes int64) (int64, error) {
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("budget nodes %q is neither a number nor a percentage, so nothing is disrupted", text)
	}
	if percent {
		n = (n*nodes + 99) / 100
	}
	return n, nil
}
