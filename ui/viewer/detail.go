package viewer

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/ui/status"
	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
)

// facts is a list of what is known, a line each; what is not known has none.
type facts struct{ text.Table }

func newFacts() *facts {
	return &facts{text.Table{Indent: 2, Columns: []text.Column{{}, {Wraps: true}}}}
}

func (f *facts) add(what, value string) {
	if value != "" {
		f.Add(text.Say(text.Faint, "%s", what), text.Of(value))
	}
}

func moment(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	when := status.Ago(now.Sub(t)) + " ago"
	if t.After(now) {
		when = "in " + status.Ago(t.Sub(now))
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC") + ", " + when
}

func (s *nodes) detail(p *text.Printer, row int, now time.Time) {
	n := s.node(row)
	p.Line(s.foot(row, now)[:2]...)
	f := newFacts()
	f.add("why", n.Reason)
	if left := leftOf(n, now); left != "" {
		f.add("at the latest", moment(n.Until, now))
	}
	f.add("decided", n.Stays)
	f.add("owner", n.Owner.String())
	f.add("NodeClaim", n.Claim)
	f.add("instance", strings.Join(brief.NonEmpty(n.Instance, n.Type, n.Zone, n.CapacityType, n.Arch), ", "))
	f.add("costs", price(n.Cost))
	f.add("created", moment(n.Created, now))
	f.add("expires", moment(n.Expires, now))
	p.Table(f.Table)
	writeUses(p, n.Use)
	writePods(p, n.Pods)
	writeAbout(p, s.c, now, n.Name, n.Claim)
	writeLabels(p, n.Labels)
}

func price(c view.Cost) string {
	switch {
	case !c.Known:
		return "its price is not known"
	case c.Listed:
		return status.Dollars(c) + ", by the list price"
	}
	return status.Dollars(c)
}

func heading(p *text.Printer, format string, args ...any) {
	p.Gap()
	p.Line(text.Say(text.Strong, format, args...))
}

func writeUses(p *text.Printer, uses []view.Use) {
	heading(p, "Resources")
	t := text.Table{Indent: 2, Columns: []text.Column{{}, {}, {Right: true}, {}, {Right: true}, {}}}
	for _, u := range uses {
		used := ""
		if u.Used != nil {
			used = view.Amount(u.Resource, *u.Used) + " used"
		}
		t.Add(text.Of(u.Resource), text.Of(gauge(u, 10, true)), text.Of(view.Amount(u.Resource, u.Requested)),
			text.Of("of "+view.Amount(u.Resource, u.Allocatable)+" requested"),
			text.Say(text.Plain, "%.0f %%", 100*u.Share()), text.Of(used))
	}
	p.Table(t)
}

func writePods(p *text.Printer, pods []view.Pod) {
	heading(p, "%s", brief.Counted(len(pods), "pod"))
	t := text.Table{Indent: 2, Columns: []text.Column{
		{Title: "POD", Wraps: true}, {Title: "OF", Wraps: true}, {Title: "CPU", Right: true},
		{Title: "MEMORY", Right: true}, {Title: "STATE", Wraps: true},
	}}
	for i := range pods {
		x := &pods[i]
		owner := x.Owner
		if x.Daemon && !strings.HasPrefix(owner, "DaemonSet/") {
			owner = strings.TrimSpace("daemon " + owner)
		}
		state := x.State
		if x.Keeps != "" {
			state = strings.Join(brief.NonEmpty(state, "keeps the node: "+x.Keeps), ", ")
		}
		t.Add(text.Of(x.Namespace+"/"+x.Name), text.Of(owner), text.Of(view.Amount(quantity.NameCPU, x.CPU)),
			text.Of(view.Amount(quantity.NameMemory, x.Memory)), text.Say(text.Warn, "%s", state))
	}
	p.Table(t)
}

// writeAbout writes what is wrong with an object, and what was done to it, by any of its names.
func writeAbout(p *text.Printer, c *view.Cluster, now time.Time, names ...string) {
	names = brief.NonEmpty(names...)
	wrong := text.Table{Indent: 2, Columns: []text.Column{{}, {Wraps: true}}}
	for i := range c.Problems {
		x := &c.Problems[i]
		if _, name, _ := strings.Cut(x.About, "/"); slices.Contains(names, name) {
			wrong.Add(text.Say(problemTones[x.Severity], "!"), text.Of(x.Text))
		}
	}
	if len(wrong.Rows) > 0 {
		heading(p, "What is wrong")
		p.Table(wrong)
	}
	lately := text.Table{Indent: 2, Columns: []text.Column{{Right: true}, {Wraps: true}}}
	for i := range c.Events {
		if e := &c.Events[i]; slices.Contains(names, e.About.Name) {
			lately.Add(text.Say(text.Faint, "%s ago", status.Ago(now.Sub(e.At))), text.Of(sentence(e)))
		}
	}
	if len(lately.Rows) > 0 {
		heading(p, "Lately")
		p.Table(lately)
	}
}

func writeLabels(p *text.Printer, all map[string]string) {
	if len(all) == 0 {
		return
	}
	heading(p, "Labels")
	for _, key := range slices.Sorted(maps.Keys(all)) {
		p.Line(text.Of("  "+key+"="), text.Of(all[key]))
	}
}
