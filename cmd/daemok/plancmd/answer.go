package plancmd

import (
	"fmt"
	"io"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/ui/changes"
	"github.com/daemok/daemok/ui/text"
)

// answer is the plan with what it is compared with.
type answer struct{ changes.Input }

// json is the answer for scripts.
func (a *answer) json() JSON {
	v := view(&a.Plan)
	v.Allowed, v.Failing, v.Unread = allowedOf(a.Snapshot), a.Failing, a.Unread
	v.Manifests = additionView(&a.Input)
	v.WhatIf = output.Each(a.Others, func(x changes.Supposition) whatIfJSON { return whatIfView(x, &a.Plan) })
	return v
}

// printed is the answer in all forms: a row is what is done with an instance.
func (a *answer) printed(f *flags) output.Answer {
	v := a.json()
	var rows []output.Row
	add := func(kind, name string, value any) {
		rows = append(rows, output.Row{Object: output.ObjectOf(kind, name), Value: value})
	}
	for _, l := range v.Launches {
		add("NodeClaim", l.Name, l)
	}
	for _, w := range v.Withdrawals {
		add("NodeClaim", w.Claim, w)
	}
	for _, r := range v.Removals {
		add("Node", r.Node, r)
	}
	text := func(out io.Writer) error { return a.write(out, f) }
	return output.Answer{Value: v, Rows: rows, None: "the plan does nothing", Text: text}
}

// write prints the answer for people.
func (a *answer) write(out io.Writer, f *flags) error {
	if f.form.Is(html) {
		in := a.Input
		in.Medium = changes.Document
		page := changes.Page(in)
		return page.HTML(out)
	}
	page := changes.Page(a.Input)
	p := text.New(out)
	if err := page.Print(p, f.form.Is(output.Wide)); err != nil || !f.verbose {
		return err
	}
	p.Gap()
	p.Line(text.Say(text.Strong, "In full"))
	if p.Err() != nil {
		return p.Err()
	}
	_, err := fmt.Fprint(out, text.CleanLines(a.Plan.String()+a.Plan.Account()))
	return err
}

// differs reports whether the plan is another than before, for someone who has read that one.
func (a *answer) differs(before *answer) bool {
	return before == nil || plan.Diff(before.Plan, a.Plan) != "" || before.Plan.CostAfter != a.Plan.CostAfter ||
		before.Plan.CostBefore != a.Plan.CostBefore ||
		fmt.Sprint(before.Failing, before.Unread) != fmt.Sprint(a.Failing, a.Unread)
}
