package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// namesMax is how many pods a line names; it counts the others.
const namesMax = 12

// String prints the plan for users: what is launched and what else was examined, which pods go
// where, what is withdrawn and removed, which pods are left and why, and the cost.
func (p Plan) String() string {
	var b strings.Builder
	for i := range p.Launches {
		p.Launches[i].write(&b)
	}
	writePlacements(&b, p.Placements)
	p.writeJoins(&b)
	for _, w := range p.Withdrawals {
		fmt.Fprintln(&b, w)
	}
	for i := range p.Moves {
		p.Moves[i].write(&b)
	}
	for _, h := range p.Holds {
		fmt.Fprintln(&b, h)
	}
	for _, u := range p.Unplaced {
		fmt.Fprint(&b, u)
	}
	for i := range p.Short {
		fmt.Fprintln(&b, &p.Short[i])
	}
	for _, d := range p.Dropped {
		fmt.Fprintln(&b, d)
	}
	if p.Exhausted {
		fmt.Fprintf(&b, "stopped after %d steps\n", p.Steps)
	}
	if p.CostBefore != p.CostAfter || b.Len() > 0 {
		fmt.Fprintf(&b, "cost %s -> %s\n", p.CostBefore, p.CostAfter)
	}
	if b.Len() == 0 {
		b.WriteString("nothing to do\n")
	}
	for _, k := range p.Kept {
		fmt.Fprintln(&b, k)
	}
	for _, e := range p.Emptying {
		fmt.Fprintln(&b, e)
	}
	for i := range p.Buffers {
		fmt.Fprintln(&b, &p.Buffers[i])
	}
	for i := range p.Requested {
		fmt.Fprintln(&b, &p.Requested[i])
	}
	return b.String()
}

// IsEmpty reports whether there is nothing to do: no launch, no withdrawal and
// no node to let go.
func (p Plan) IsEmpty() bool { return len(p.Launches)+len(p.Withdrawals)+len(p.Moves) == 0 }

func (l *Launch) write(b *strings.Builder) {
	fmt.Fprintf(b, "launch %s of %s: %s\n", l.Name, l.Pool, l.Choice)
	for _, c := range l.RunnersUp {
		fmt.Fprintf(b, "  not %s: %s\n", c, c.WhyNot)
	}
	if l.Static {
		fmt.Fprintf(b, "  since %s\n", l.Reason)
		if len(l.Pods) > 0 {
			fmt.Fprintf(b, "  with room for %s\n", Names(l.Pods))
		}
	} else {
		fmt.Fprintf(b, "  for %s: %s\n", l.Whose(), l.Requests)
	}
	for _, r := range l.Requirements {
		fmt.Fprintf(b, "  require %s\n", constraint.Requirements{r})
	}
	for _, x := range l.Labels {
		fmt.Fprintf(b, "  label %s=%s\n", x.Key, x.Value)
	}
	if l.Relaxed {
		fmt.Fprintln(b, "  fewer values stay open than minValues asks")
	}
	for _, note := range l.Notes {
		fmt.Fprintf(b, "  %s\n", note)
	}
}

// Whose names the pods that the launch is for, and the buffers and requests of virtual ones.
func (l *Launch) Whose() string {
	switch {
	case len(l.Virtual) == 0:
		return Names(l.Pods)
	case len(l.Pods) == 0:
		return VirtualText(l.Virtual)
	}
	return Names(l.Pods) + ", " + VirtualText(l.Virtual)
}

// Decision says in one line what is launched and the next two best with what speaks against them.
func (l *Launch) Decision() string {
	out := l.Choice.String()
	for _, c := range l.RunnersUp {
		out += fmt.Sprintf("; not %s: %s", c, c.WhyNot)
	}
	return out
}

// String prints "m5.large in us-west-2a, on-demand, $0.096000/h", and behind it " ($0.098200/h in
// all)" where the instance costs more than its type.
func (c Choice) String() string {
	price := "price unknown"
	if c.Priced {
		price = c.Price.String()
		if c.Beside != 0 {
			price += " (" + c.Cost().String() + " in all)"
		}
		if c.Cover.By != "" {
			price += ", " + c.covered() + " by " + c.Cover.By
		}
	}
	return fmt.Sprintf("%s in %s, %s, %s", c.Kind, c.Zone, c.Option, price)
}

// covered says whether the commitment pays for all that costs anything.
func (c Choice) covered() string {
	if c.Price > c.Cover.Listed/100 {
		return "partly covered"
	}
	return "covered"
}

// String prints "withdraw claim c of NodePool/default: no pod waits for it".
func (w Withdrawal) String() string {
	return fmt.Sprintf("withdraw claim %s of %s: %s", w.Claim, w.Pool, w.Note)
}

// String prints "remove node n of NodePool/default: Empty, empty for 30s".
func (r Removal) String() string {
	out := fmt.Sprintf("remove node %s of %s: %s", r.Node, r.Pool, r.Reason)
	if r.Note != "" {
		out += ", " + r.Note
	}
	return out
}

// write prints what goes, and what comes first in its stead.
func (m *Move) write(b *strings.Builder) {
	for _, r := range m.Removals {
		fmt.Fprintln(b, r)
	}
	if len(m.Launches) == 0 && len(m.Placements) == 0 {
		return
	}
	fmt.Fprintf(b, "  saves %s", m.Saves)
	switch {
	case m.Payback >= time.Minute:
		fmt.Fprintf(b, ", moving pays back in %s", m.Payback.Round(time.Minute))
	case m.Payback > 0:
		b.WriteString(", moving pays back in less than a minute")
	}
	fmt.Fprintln(b)
	var inner strings.Builder
	for i := range m.Launches {
		m.Launches[i].write(&inner)
	}
	writePlacements(&inner, m.Placements)
	for _, d := range m.Dropped {
		fmt.Fprintln(&inner, d)
	}
	for line := range strings.Lines(inner.String()) {
		b.WriteString("  " + line)
	}
}

// String prints "keep node n, Drifted: budget nodes: 0".
func (k Kept) String() string { return fmt.Sprintf("keep node %s, %s: %s", k.Node, k.Reason, k.Why) }

// String prints "hold on node n: ns/a ns/b: until new-1 has started, at the latest at 2026-11-21T04:01:15Z".
func (h Hold) String() string {
	return fmt.Sprintf("hold on node %s: %s: %s", h.Node, Names(h.Pods), h.Why())
}

// Why reports what the pods wait for, and how long at most.
func (h Hold) Why() string {
	latest := h.Until.UTC().Format(time.RFC3339)
	switch len(h.For) {
	case 0:
		return "there is no place for them yet; they are evicted by " + latest
	case 1:
		return fmt.Sprintf("until %s has started, at the latest at %s", h.For[0], latest)
	}
	return fmt.Sprintf("until %s have started, at the latest at %s", few(h.For), latest)
}

// String prints "preferences dropped for ns/a ns/b: an even spread over zone; saves about $0.100000/h".
func (d Dropped) String() string {
	out := fmt.Sprintf("preferences dropped for %s: %s", Names(d.Pods), strings.Join(d.Preferences, ", "))
	if d.Saves > 0 {
		out += "; saves about " + d.Saves.String()
	}
	return out
}

// String prints the pods and a line for each reason.
func (u Unplaced) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "leave %s\n", Names(u.Pods))
	for _, line := range u.Lines() {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return b.String()
}

// String prints "NodePool/default lacks 2 of 3 nodes: limit nodes is 1 short".
func (x *Short) String() string {
	return fmt.Sprintf("%s lacks %d of %d nodes: %s", x.Pool, x.Missing, x.Want, x.Why())
}

// Why gives the reasons in one line.
func (x *Short) Why() string {
	var out []string
	for _, r := range x.Reasons {
		out = append(out, r.Text)
	}
	return strings.Join(out, separator)
}

// whyMax is how many bytes of reasons are reported: what an event can hold.
const whyMax = 1024

// Why gives the reasons in one line of 1 KiB at most, the same for events, the log and the plan's
// own text.
func (u Unplaced) Why() string { return strings.Join(u.Lines(), separator) }

// Topic is Why without the summary of further pools, whose names and number change when other pools do: the rest need
// not be reported to users again.
func (u Unplaced) Topic() string {
	u.Reasons = slices.DeleteFunc(slices.Clone(u.Reasons), func(r Reason) bool { return r.Others })
	return u.Why()
}

const separator = "; "

// Lines lists the reasons, the nearest pool first, as far as all of them together are at most 1 KiB.
func (u Unplaced) Lines() []string {
	var out []string
	left := whyMax
	for _, text := range u.together() {
		if len(text) > left {
			return append(out, clip(text, left))
		}
		out = append(out, text)
		if left -= len(text) + len(separator); left <= len(separator) {
			break
		}
	}
	return out
}

// poolsNamed is how many pools with one reason are named.
const poolsNamed = 3

// together prints the reasons, those that are the same for several pools once.
func (u Unplaced) together() []string {
	var out []string
	reported := map[string]bool{}
	for i, r := range u.Reasons {
		if r.Pool == (cluster.PoolID{}) {
			out = append(out, r.Text)
			continue
		}
		if reported[r.Text] {
			continue
		}
		reported[r.Text] = true
		names, named, more := r.Pool.String(), 1, 0
		for _, other := range u.Reasons[i+1:] {
			switch same := other.Text == r.Text && other.Pool != (cluster.PoolID{}); {
			case same && named < poolsNamed:
				names += ", " + other.Pool.String()
				named++
			case same:
				more++
			}
		}
		if more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, names+": "+r.Text)
	}
	return out
}

// clip cuts a text down to so many bytes, between letters.
func clip(text string, most int) string {
	const mark = "…"
	return strings.ToValidUTF8(text[:max(0, most-len(mark))], "") + mark
}

// String prints "NodePool/default: limit cpu is 4 short".
func (r Reason) String() string {
	if r.Pool == (cluster.PoolID{}) {
		return r.Text
	}
	return r.Pool.String() + ": " + r.Text
}

// Names lists pods as namespace/name, the first twelve at most.
func Names(pods []cluster.Pod) string {
	names := make([]string, 0, min(len(pods), namesMax))
	for _, p := range pods[:min(len(pods), namesMax)] {
		names = append(names, p.Namespace+"/"+p.Name)
	}
	text := strings.Join(names, " ")
	if more := len(pods) - namesMax; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// writePlacements names the pods that go to what is there already; launches name their own pods.
func writePlacements(b *strings.Builder, list []Placement) {
	type target struct {
		on   Destination
		name string
	}
	var order []target
	pods := map[target][]cluster.Pod{}
	for _, p := range list {
		if p.On == OnLaunch {
			continue
		}
		t := target{p.On, p.Target}
		if pods[t] == nil {
			order = append(order, t)
		}
		pods[t] = append(pods[t], p.Pod)
	}
	slices.SortStableFunc(order, func(x, y target) int {
		return cmp.Or(cmp.Compare(y.on, x.on), cmp.Compare(x.name, y.name)) // nodes before instances
	})
	for _, t := range order {
		fmt.Fprintf(b, "place on %s %s: %s\n", t.on, t.name, Names(pods[t]))
	}
}

// writeJoins names the instances of each group that waits with taking pods.
func (p *Plan) writeJoins(b *strings.Builder) {
	for _, g := range p.Groups() {
		how := "together, since that leaves fewer pods without room"
		switch {
		case g.Turn > 0:
			how = fmt.Sprintf("in turn %d, since their pods are larger than those of others", g.Turn)
		case g.Key != "":
			how = "together, to spread pods over " + g.Key
		}
		fmt.Fprintf(b, "open %s: %s\n", how, few(g.Instances))
	}
}

// few lists the first twelve names at most and counts the others.
func few(names []string) string {
	text := strings.Join(names[:min(len(names), namesMax)], " ")
	if more := len(names) - namesMax; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// String says in words that the node is to empty.
func (e Emptying) String() string { return fmt.Sprintf("empty %s: %s", e.Node, e.Note) }
