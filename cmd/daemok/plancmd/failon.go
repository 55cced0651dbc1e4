package plancmd

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/ui/changes"
)

// conditions are those of --fail-on.
type conditions []condition

// condition holds where a count, or a cost, is above its limit.
type condition struct {
	text  string
	count string // of what; empty: it is about cost
	limit float64
	of    unit
}

// unit is what the limit of a cost is in.
type unit int

const (
	pieces        unit = iota
	dollarsInAll       // per hour, of what the cluster costs then
	dollarsMore        // per hour, of the increase
	percentOfMore      // of the increase
)

// measures are what can be counted.
var measures = []string{"unplaced", "launched", "terminated", "replaced", "removed", "moved", "drifted", "failing"}

// Conditions are the words that conditions of --fail-on are made of or begin with.
func Conditions() []string { return append(slices.Clone(measures), costWord+">") }

// costWord begins a condition about cost.
const costWord = "cost"

// hoursOfMonth is as AWS counts them.
const hoursOfMonth = 730

// String is the conditions as they were given.
func (c *conditions) String() string {
	words := make([]string, len(*c))
	for i, x := range *c {
		words[i] = x.text
	}
	return strings.Join(words, ",")
}

// Type is what help calls the value.
func (c *conditions) Type() string { return "conditions" }

// Set reads conditions with commas between, and adds them.
func (c *conditions) Set(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		x, err := readCondition(strings.ReplaceAll(word, " ", ""))
		if err != nil {
			return err
		}
		*c = append(*c, x)
	}
	return nil
}

// forms is what conditions look like, for errors.
const forms = "want one of %s, alone or with a limit as in removed>5, or cost>+10%%, cost>+$5/h, cost>$900/month"

func readCondition(word string) (condition, error) {
	wrong := func(why string) (condition, error) {
		return condition{}, fmt.Errorf("condition %q: %s; "+forms, word, why, strings.Join(measures, ", "))
	}
	if word == "" {
		return wrong("it is empty")
	}
	name, limit, limited := strings.Cut(word, ">")
	x := condition{text: word, count: name}
	switch {
	case strings.ContainsAny(word, "<=") || name == "":
		return wrong("conditions compare by > alone")
	case name == costWord && !limited:
		return wrong("say above which cost")
	case name == costWord:
		x.count = ""
		if err := x.readCost(limit); err != nil {
			return wrong(err.Error())
		}
		return x, nil
	case !slices.Contains(measures, name):
		why := "there is no such count"
		if meant := nearest.Word(name, append([]string{costWord}, measures...)); meant != "" {
			why += ", did you mean " + meant + "?"
		}
		return wrong(why)
	case !limited:
		return x, nil
	}
	n, err := strconv.ParseUint(limit, 10, 31)
	if err != nil {
		return wrong(fmt.Sprintf("limit %q is no whole number", limit))
	}
	x.limit = float64(n)
	return x, nil
}

// readCost reads +10%, +$5/h, $5/h or $900/month.
func (c *condition) readCost(limit string) error {
	amount, more := strings.CutPrefix(limit, "+")
	if share, is := strings.CutSuffix(amount, "%"); is {
		if !more {
			return errors.New("a share is one of the increase: write cost>+" + amount)
		}
		c.of = percentOfMore
		return c.readNumber(share)
	}
	amount, is := strings.CutPrefix(amount, "$")
	if !is {
		return fmt.Errorf("limit %q is neither a share nor an amount of dollars", limit)
	}
	if c.of = dollarsInAll; more {
		c.of = dollarsMore
	}
	number, per, _ := strings.Cut(amount, "/")
	if err := c.readNumber(number); err != nil {
		return err
	}
	switch per {
	case "h", "hour":
	case "month":
		c.limit /= hoursOfMonth
	default:
		return errors.New("say per what: /h or /month")
	}
	return nil
}

func (c *condition) readNumber(text string) error {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n < 1e12) || strings.ContainsAny(text, "xXeE_") {
		return fmt.Errorf("%q is no number of 0 or more", text)
	}
	c.limit = n
	return nil
}

// met says of each condition that holds how much there is.
func (c conditions) met(a *answer) (out []string) {
	for _, x := range c {
		if is, holds := x.holds(a); holds {
			out = append(out, fmt.Sprintf("%s: %s", x.text, is))
		}
	}
	return out
}

func (c condition) holds(a *answer) (is string, holds bool) {
	if c.count != "" {
		n := countOf(a, c.count)
		noun := map[string]string{
			"unplaced": "pod", "moved": "pod", "launched": "instance", "failing": "launch",
		}[c.count]
		switch {
		case noun == "":
			noun = "node"
		case noun == "launch" && n != 1:
			return fmt.Sprintf("%d launches", n), float64(n) > c.limit
		}
		is = brief.Counted(n, noun)
		if a.Manifests != nil && c.count != "failing" {
			is += " because of the manifests"
		}
		return is, float64(n) > c.limit
	}
	before, after := a.Plan.CostBefore, a.Plan.CostAfter
	if a.Manifests != nil {
		before = a.Manifests.Without.Plan.CostAfter
	}
	more := dollars(after - before)
	is = fmt.Sprintf("$%.3f/h -> $%.3f/h", dollars(before), dollars(after))
	unpriced := a.UnpricedMore()
	if c.of == dollarsInAll {
		unpriced = len(a.Unpriced())
	}
	if unpriced > 0 {
		return is + fmt.Sprintf(", and the price of %s is not known", brief.Counted(unpriced, "new instance")), true
	}
	switch c.of {
	case dollarsInAll:
		return is, dollars(after) > c.limit
	case dollarsMore:
		return is, more > c.limit
	}
	return is + share(before, after), after > before && more > c.limit/100*dollars(before)
}

// share is the increase in per cent, where it is one of something.
func share(before, after quantity.MicroUSDPerHour) string {
	if before == 0 {
		return ""
	}
	return fmt.Sprintf(" (%+.1f %%)", 100*float64(after-before)/float64(before))
}

// countOf is how much there is of something in the plan; with manifests, how much of that is because of them.
func countOf(a *answer, measure string) int {
	switch measure {
	case "failing":
		return len(a.Failing)
	case "launched":
		return launchedIn(&a.Situation) - launchedWithout(a)
	}
	with := namesOf(&a.Situation, measure)
	if a.Manifests != nil {
		for name := range namesOf(&a.Manifests.Without, measure) {
			delete(with, name)
		}
	}
	return len(with)
}

func launchedIn(s *changes.Situation) int {
	c := s.Counts()
	return c.Launched + c.Replacements
}

// launchedWithout is how many instances are launched without the manifests; 0 where there are none.
func launchedWithout(a *answer) int {
	if a.Manifests == nil {
		return 0
	}
	return launchedIn(&a.Manifests.Without)
}

// namesOf are the nodes or pods that something happens to.
func namesOf(s *changes.Situation, measure string) map[string]bool {
	out := map[string]bool{}
	switch measure {
	case "unplaced":
		for _, name := range s.WithoutPlace() {
			out[name] = true
		}
		return out
	case "drifted":
		for i := range s.Snapshot.Nodes {
			if n := &s.Snapshot.Nodes[i]; n.Drifted != "" {
				out[n.Name] = true
			}
		}
		return out
	}
	for i := range s.Plan.Moves {
		m := &s.Plan.Moves[i]
		replaced := len(m.Launches) > 0
		for j := range m.Removals {
			switch {
			case measure == "moved":
				for _, p := range m.Removals[j].Pods {
					out[p.Namespace+"/"+p.Name] = true
				}
			case measure == "removed", replaced == (measure == "replaced"):
				out[m.Removals[j].Node] = true
			}
		}
	}
	return out
}
