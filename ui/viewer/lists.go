package viewer

import (
	"fmt"
	"strings"
	"time"

	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/ui/status"
	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
)

// list is what the sheets have in common that are no nodes: which rows of a cluster are shown.
type list struct {
	c    *view.Cluster
	rows []int
	all  int
	cols []column
}

func (l *list) size() (rows, all int) { return len(l.rows), l.all }
func (l *list) columns() []column     { return l.cols }

// waiting is the sheet of pods that wait for a node.
type waiting struct{ list }

func newWaiting(c *view.Cluster, f filter) *waiting {
	s := &waiting{list{c: c, all: len(c.Waiting)}}
	name := widest{8, 40}
	requests := widest{8, 40}
	for i := range c.Waiting {
		w := &c.Waiting[i]
		if f.matchesText(w.Name(), w.Reason) {
			s.rows = append(s.rows, i)
			name.see(w.Name())
			requests.see(w.Requests)
		}
	}
	s.cols = []column{
		{title: "PODS OF", least: min(name.least, 16), most: name.least, rank: 0},
		fixed("PODS", 5, 2).toTheRight(),
		fixed("SINCE", 5, 3).toTheRight(),
		{title: "REQUESTS", least: min(requests.least, 16), most: requests.least, rank: 4},
		{title: "WHAT FOR", least: 12, most: unlimited, rank: 1},
	}
	return s
}

func (s *waiting) id(row int) string {
	w := &s.c.Waiting[s.rows[row]] // an owner may have several rows
	return strings.Join([]string{w.Name(), w.Requests, w.Reason}, "\n")
}

func waitTone(w *view.Waiting) text.Tone {
	if w.Stuck() {
		return text.Bad
	}
	return text.Plain
}

func (s *waiting) cells(row int, now time.Time) []cell {
	w := &s.c.Waiting[s.rows[row]]
	return []cell{
		of(w.Name()), of(fmt.Sprint(w.Count)), of(ageOf(w.Since, now)), of(w.Requests), say(waitTone(w), "%s", w.Reason),
	}
}

func (s *waiting) foot(row int, _ time.Time) []text.Cell {
	w := &s.c.Waiting[s.rows[row]]
	return []text.Cell{text.Say(text.Strong, "%s", w.Name()), text.Say(waitTone(w), ": %s", w.Reason)}
}

func (s *waiting) detail(p *text.Printer, row int, now time.Time) {
	w := &s.c.Waiting[s.rows[row]]
	p.Line(text.Say(text.Strong, "%s", w.Name()), text.Of(": "+brief.Counted(w.Count, "pod")+" without a node"))
	f := newFacts()
	f.add("what for", w.Reason)
	f.add("requests", w.Requests)
	f.add("since", moment(w.Since, now))
	p.Table(f.Table)
	heading(p, "%s", brief.Counted(w.Count, "pod"))
	for _, name := range w.Pods {
		p.Line(text.Of("  " + w.Namespace + "/" + name))
	}
	if more := w.Count - len(w.Pods); more > 0 {
		p.Line(text.Say(text.Faint, "  and %d more", more))
	}
	var names []string
	for _, name := range w.Pods {
		names = append(names, w.Namespace+"/"+name)
	}
	writeAbout(p, s.c, now, names...)
}

// problems is the sheet of what is wrong.
type problems struct{ list }

var problemTones = map[view.Severity]text.Tone{view.Failure: text.Bad, view.Warning: text.Warn, view.Notice: text.Plain}

var problemWords = map[view.Severity]string{view.Failure: "failure", view.Warning: "warning", view.Notice: "notice"}

func newProblems(c *view.Cluster, f filter) *problems {
	s := &problems{list{c: c, all: len(c.Problems)}}
	about := widest{5, 50}
	for i := range c.Problems {
		x := &c.Problems[i]
		if f.matchesText(x.About, x.Text) {
			s.rows = append(s.rows, i)
			about.see(aboutOf(x))
		}
	}
	s.cols = []column{
		fixed("SEVERITY", 8, 2),
		{title: "ABOUT", least: min(about.least, 16), most: about.least, rank: 0},
		{title: "WHAT IS WRONG", least: 12, most: unlimited, rank: 1},
	}
	return s
}

func aboutOf(x *view.Problem) string {
	if x.About == "" {
		return "cluster"
	}
	return x.About
}

func (s *problems) id(row int) string {
	x := &s.c.Problems[s.rows[row]]
	return x.About + "\n" + x.Text
}

func (s *problems) cells(row int, _ time.Time) []cell {
	x := &s.c.Problems[s.rows[row]]
	return []cell{say(problemTones[x.Severity], "%s", problemWords[x.Severity]), of(aboutOf(x)), of(x.Text)}
}

func (s *problems) foot(row int, _ time.Time) []text.Cell {
	x := &s.c.Problems[s.rows[row]]
	return []text.Cell{text.Say(text.Strong, "%s", aboutOf(x)), text.Say(problemTones[x.Severity], ": %s", x.Text)}
}

func (s *problems) detail(p *text.Printer, row int, now time.Time) {
	x := &s.c.Problems[s.rows[row]]
	p.Line(text.Say(text.Strong, "%s", aboutOf(x)))
	p.Line(text.Say(problemTones[x.Severity], "  %s", x.Text))
	_, name, _ := strings.Cut(x.About, "/")
	for i := range s.c.Nodes {
		if n := &s.c.Nodes[i]; name != "" && n.Called() == name {
			p.Gap()
			(&nodes{c: s.c, rows: []int{i}}).detail(p, 0, now)
		}
	}
}

// events is the sheet of what was decided and done.
type events struct{ list }

func newEvents(c *view.Cluster, f filter) *events {
	s := &events{list{c: c, all: len(c.Events)}}
	about := widest{5, 50}
	for i := range c.Events {
		e := &c.Events[i]
		if f.matchesText(e.About.String(), e.Said, e.Why) {
			s.rows = append(s.rows, i)
			about.see(e.About.String())
		}
	}
	s.cols = []column{
		fixed("AGO", 5, 2).toTheRight(),
		{title: "ABOUT", least: min(about.least, 16), most: about.least, rank: 0},
		{title: "WHAT WAS DONE", least: 12, most: unlimited, rank: 1},
	}
	return s
}

func sentence(e *view.Event) string {
	if e.Why == "" {
		return e.Said
	}
	return e.Said + ": " + e.Why
}

func (s *events) id(row int) string {
	e := &s.c.Events[s.rows[row]]
	return e.At.String() + e.About.String() + e.Said
}

func (s *events) cells(row int, now time.Time) []cell {
	e := &s.c.Events[s.rows[row]]
	return []cell{say(text.Faint, "%s", ageOf(e.At, now)), of(e.About.String()), of(sentence(e))}
}

func (s *events) foot(row int, _ time.Time) []text.Cell {
	e := &s.c.Events[s.rows[row]]
	return []text.Cell{text.Say(text.Strong, "%s", e.About), text.Of(" " + sentence(e))}
}

func (s *events) detail(p *text.Printer, row int, now time.Time) {
	e := &s.c.Events[s.rows[row]]
	p.Line(text.Say(text.Strong, "%s", e.About), text.Of(" "+e.Said))
	f := newFacts()
	f.add("because", e.Why)
	f.add("at", moment(e.At, now))
	p.Table(f.Table)
	for _, m := range e.More {
		p.Line(text.Of("  " + m))
	}
	heading(p, "All of %s", e.About)
	writeAbout(p, s.c, now, e.About.Name)
}

// nodesMost is how many nodes are listed with their pool.
const nodesMost = 200

// pools is the sheet of NodePools and Provisioners.
type pools struct{ list }

func newPools(c *view.Cluster, f filter) *pools {
	s := &pools{list{c: c, all: len(c.Pools)}}
	name := widest{4, 50}
	limits := widest{6, 60}
	for i := range c.Pools {
		x := &c.Pools[i]
		if f.matchesText(x.ID(), x.Reason) {
			s.rows = append(s.rows, i)
			name.see(x.ID())
			limits.see(limitsOf(x))
		}
	}
	s.cols = []column{
		{title: "POOL", least: min(name.least, 16), most: name.least, rank: 0},
		fixed("READY", 5, 1),
		fixed("NODES", 5, 2).toTheRight(),
		fixed("$/H", 8, 3).toTheRight(),
		{title: "LIMITS", least: min(limits.least, 12), most: limits.least, rank: 4},
		{title: "MAY GO NOW", least: 10, most: unlimited, rank: 5},
	}
	return s
}

func limitsOf(p *view.Pool) string {
	var out []string
	for _, l := range p.Limits {
		out = append(out, l.Resource+" "+l.Use())
	}
	return strings.Join(out, ", ")
}

func (s *pools) pool(row int) *view.Pool { return &s.c.Pools[s.rows[row]] }

func (s *pools) id(row int) string { return s.pool(row).ID() }

func mayGo(p *view.Pool) string {
	if p.Allowed == 0 && p.Because != "" && p.Nodes > 0 {
		return "0: " + p.Because
	}
	return fmt.Sprint(p.Allowed)
}

func (s *pools) cells(row int, _ time.Time) []cell {
	p := s.pool(row)
	ready, limits := say(text.Good, "yes"), of(limitsOf(p))
	if !p.Ready {
		ready = say(text.Bad, "no")
	}
	for _, l := range p.Limits {
		if l.Reached() {
			limits.Tone = text.Warn
		}
	}
	cost := fmt.Sprintf("%.3f", p.Cost.PerHour)
	return []cell{of(p.ID()), ready, of(fmt.Sprint(p.Nodes)), of(cost), limits, of(mayGo(p))}
}

func (s *pools) foot(row int, _ time.Time) []text.Cell {
	p := s.pool(row)
	out := []text.Cell{text.Say(text.Strong, "%s", p.ID())}
	if !p.Ready {
		return append(out, text.Say(text.Bad, " may launch nothing: %s", p.Reason))
	}
	return append(out, text.Of(": "+brief.Counted(p.Nodes, "node")+", "+status.Dollars(p.Cost)))
}

func (s *pools) detail(p *text.Printer, row int, now time.Time) {
	x := s.pool(row)
	p.Line(s.foot(row, now)...)
	f := newFacts()
	f.add("limits", limitsOf(x))
	f.add("may go now", mayGo(x))
	if x.Allowed > 0 {
		f.add("no more", x.Because)
	}
	f.add("consolidation", x.Policies)
	f.add("weight", fmt.Sprint(x.Weight))
	p.Table(f.Table)
	writeAbout(p, s.c, now, x.Name)
	heading(p, "%s", brief.Counted(x.Nodes, "node"))
	t := text.Table{Indent: 2, Columns: []text.Column{{}, {}, {}, {Right: true}, {Wraps: true}}}
	for i := range s.c.Nodes {
		if len(t.Rows) == nodesMost {
			break
		}
		if n := &s.c.Nodes[i]; n.Owner == (view.Owner{Kind: x.Kind, Name: x.Name}) {
			t.Add(text.Of(n.Called()), text.Say(statusTones[n.Status], "%s", n.Status), text.Of(n.Type),
				costOf(n.Cost).Cell, text.Of(n.Reason))
		}
	}
	p.Table(t)
	if more := x.Nodes - len(t.Rows); more > 0 {
		p.Line(text.Say(text.Faint, "  and %d more", more))
	}
}
