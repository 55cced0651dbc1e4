package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/whatif"
)

// supposition is a question with the plan that answers it.
type supposition struct {
	question string
	made     plan.Plan
	notes    []string // pools that stay as they are, and why
}

// suppose makes a plan for the situation under each of the questions.
func suppose(s *cluster.Snapshot, policy decide.Policy, questions []whatif.Question) ([]supposition, error) {
	var out []supposition
	for _, q := range questions {
		changed, notes, err := q.Apply(s)
		if err != nil {
			return nil, fmt.Errorf("--what-if %s: %w", q.Text, err)
		}
		out = append(out, supposition{q.Text, planOf(changed, policy), notes})
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

func planOf(s *cluster.Snapshot, policy decide.Policy) plan.Plan {
	return decide.Decide(s, policy, decide.Usual(s))
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

func whatIfView(x supposition, asIs plan.Plan) whatIfJSON {
	return whatIfJSON{x.question, dollars(x.made.CostAfter - asIs.CostAfter), x.notes, outcomeView(x.made)}
}

func outcomeView(p plan.Plan) outcomeJSON {
	view := outcomeJSON{
		LaunchCost: dollars(p.LaunchCost()), CostAfter: dollars(p.CostAfter), Instances: len(p.Launches), Unplaced: p.PodsUnplaced(), Launches: launched(p),
	}
	if gap, ok := p.Gap(); ok {
		least := dollars(p.Bound)
		view.LowerBound, view.Gap = &least, &gap
	}
	return view
}

// launched counts the launches of a plan by what is chosen, the most first.
func launched(p plan.Plan) []launchedJSON {
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

// writeWhatIf prints the plan as it is and the others in a table, and what each
// would launch.
func writeWhatIf(out io.Writer, asIs plan.Plan, others []supposition) error {
	if len(others) == 0 {
		return nil
	}
	if err := writeTable(out, "what if", supposition{question: "as it is", made: asIs}, others); err != nil {
		return err
	}
	for _, x := range others {
		for _, note := range x.notes {
			if _, err := fmt.Fprintf(out, "what if %s: a pool stays as it is: %s\n", x.question, note); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeTable compares plans with the first one.
func writeTable(out io.Writer, title string, first supposition, others []supposition) error {
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintf(table, "\n%s\tnew instances\tcost\tcluster after\tdifference\tunplaced pods\tgap\tlaunches\n", title)
	for i, x := range append([]supposition{first}, others...) {
		p, change := x.made, "-"
		if i > 0 {
			change = differenceWords(p.CostAfter-first.made.CostAfter, first.made.LaunchCost())
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%d\t%s\t%s\n", x.question, len(p.Launches), p.LaunchCost(), p.CostAfter, change,
			p.PodsUnplaced(), gapWords(p), launchedWords(launched(p)))
	}
	return table.Flush()
}

// differenceWords states a difference, and in per cent of what new instances cost as it is.
func differenceWords(d, of quantity.MicroUSDPerHour) string {
	sign := "+"
	if d < 0 {
		sign, d = "-", -d
	}
	if of == 0 {
		return sign + d.String()
	}
	return fmt.Sprintf("%s%s (%s%.1f %%)", sign, d, sign, 100*float64(d)/float64(of))
}

func gapWords(p plan.Plan) string {
	gap, ok := p.Gap()
	if !ok {
		return "unknown"
	}
	return fmt.Sprintf("%.1f %%", 100*max(0, gap))
}

// launchedMax is how many instance types a line of the table names.
const launchedMax = 4

func launchedWords(list []launchedJSON) string {
	var words []string
	for _, b := range list[:min(len(list), launchedMax)] {
		words = append(words, fmt.Sprintf("%d %s %s", b.Count, b.Option, b.Type))
	}
	if more := len(list) - launchedMax; more > 0 {
		words = append(words, fmt.Sprintf("%d more types", more))
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, ", ")
}
