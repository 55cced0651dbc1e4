package plancmd

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/whatif"
	"github.com/daemok/daemok/ui/changes"
)

// suppose makes a plan for the situation under each of the questions.
func suppose(s *cluster.Snapshot, policy decide.Policy, questions []whatif.Question) ([]changes.Supposition, error) {
	var out []changes.Supposition
	for _, q := range questions {
		changed, notes, err := q.Apply(s)
		if err != nil {
			return nil, fmt.Errorf("--what-if %s: %w", q.Text, err)
		}
		out = append(out, changes.Supposition{Question: q.Text, Plan: planOf(changed, policy), Notes: notes})
	}
	return out, nil
}

func readQuestions(texts []string) ([]whatif.Question, error) {
	var out []whatif.Question
	for _, text := range texts {
		q, err := whatif.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("--what-if %s: %w", text, err)
		}
		out = append(out, q)
	}
	return out, nil
}

// planOf is the plan, with what the cluster costs as other screens show it.
func planOf(s *cluster.Snapshot, policy decide.Policy) plan.Plan {
	return cost.AsBilled(s, decide.Decide(s, policy, decide.Usual(s)))
}

// whatIfJSON is the plan under a question beside the plan as it is.
type whatIfJSON struct {
	Question   string   `json:"question"`
	Difference float64  `json:"difference"`      // of costAfter; negative is cheaper
	Notes      []string `json:"notes,omitempty"` // pools that stay as they are, and why
	outcomeJSON
}

// outcomeJSON is what another plan comes to.
type outcomeJSON struct {
	LaunchCost float64        `json:"launchCost"`
	CostAfter  float64        `json:"costAfter"`
	Instances  int            `json:"machines"`
	Unplaced   int            `json:"unplaced"`   // pods
	LowerBound *float64       `json:"lowerBound"` // null where none is known
	Gap        *float64       `json:"gap"`        // launchCost / lowerBound - 1
	Launches   []launchedJSON `json:"buys"`
}

// launchedJSON is instances of one type that are launched one way.
type launchedJSON struct {
	Type   string `json:"type"`
	Option string `json:"option"`
	Count  int    `json:"count"`
}

func whatIfView(x changes.Supposition, asIs *plan.Plan) whatIfJSON {
	return whatIfJSON{x.Question, dollars(x.Plan.CostAfter - asIs.CostAfter), x.Notes, outcomeView(&x.Plan)}
}

func outcomeView(p *plan.Plan) outcomeJSON {
	view := outcomeJSON{
		LaunchCost: dollars(p.LaunchCost()), CostAfter: dollars(p.CostAfter), Instances: len(p.Launches), Unplaced: p.PodsUnplaced(),
		Launches: launched(p),
	}
	if gap, ok := p.Gap(); ok {
		least := dollars(p.Bound)
		view.LowerBound, view.Gap = &least, &gap
	}
	return view
}

// launched counts the launches of a plan by what is chosen, the most first.
func launched(p *plan.Plan) []launchedJSON {
	out := []launchedJSON{}
	for i := range p.Launches {
		c := p.Launches[i].Choice
		at := slices.IndexFunc(out, func(b launchedJSON) bool { return b.Type == c.Kind && b.Option == string(c.Option) })
		if at < 0 {
			at = len(out)
			out = append(out, launchedJSON{c.Kind, string(c.Option), 0})
		}
		out[at].Count++
	}
	slices.SortStableFunc(out, func(a, b launchedJSON) int { return b.Count - a.Count })
	return out
}
