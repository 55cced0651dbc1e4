package changes

import (
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/ui/page"
	"github.com/daemok/daemok/ui/text"
)

// Most that are named before the others are counted.
const (
	podsNamed    = 3
	nodesNamed   = 2
	reasonsNamed = 4
	troubleShown = 5
)

// trouble is what needs a person, the worst first.
func (in *Input) trouble() page.Block {
	var b page.Block
	in.withoutPlace(&b)
	failing := in.Failing
	for i, line := range failing {
		if i == troubleShown && len(failing) > troubleShown+1 {
			b.Line(text.Say(text.Bad, "! %d more launches fail", len(failing)-i))
			break
		}
		b.Line(text.Say(text.Bad, "! %s", line))
	}
	for _, line := range in.Unread {
		b.Line(text.Say(text.Warn, "! %s", line))
	}
	for i := range in.Plan.Short {
		x := &in.Plan.Short[i]
		b.Line(text.Say(text.Bad, "! %s lacks %d of %s: %s", x.Pool, x.Missing, brief.Counted(int(x.Want), "node"), x.Why()))
	}
	for i := range in.Plan.Buffers {
		switch x := &in.Plan.Buffers[i]; {
		case x.NotReady != "":
			b.Line(text.Say(text.Bad, "! CapacityBuffer %s/%s keeps no capacity: %s", x.Namespace, x.Name, x.NotReady))
		case x.Missing > 0:
			b.Line(text.Say(text.Bad, "! CapacityBuffer %s/%s %s: %s", x.Namespace, x.Name, x.Lacks(), x.Why()))
		}
	}
	for i := range in.Plan.Requested {
		switch x := &in.Plan.Requested[i]; {
		case x.Waits != "":
			b.Line(text.Say(text.Warn, "! ProvisioningRequest %s/%s: %s", x.Namespace, x.Name, x.Waits))
		case x.Missing > 0:
			b.Line(text.Say(text.Bad, "! ProvisioningRequest %s/%s %s, and takes none: %s",
				x.Namespace, x.Name, x.Lacks(), x.Why()))
		}
	}
	for _, g := range grouped(in.poolsNotReady(), func(p *cluster.Pool) string { return p.NotReady }) {
		b.Line(text.Say(text.Bad, "! nothing is launched from %s: %s", few(poolNames(g.items), podsNamed), g.key))
	}
	in.closed(&b)
	if in.Plan.Exhausted {
		b.Line(text.Say(text.Warn, "! the plan stopped after %d steps of effort: a cheaper one may exist",
			in.Plan.Steps))
	}
	return b
}

// withoutPlace names pods without a place, with the reasons.
func (in *Input) withoutPlace(b *page.Block) {
	for i := range in.Plan.Unplaced {
		u := &in.Plan.Unplaced[i]
		tone, verb := text.Bad, " has no place: "
		switch {
		case u.Early:
			tone, verb = text.Faint, " waits: "
		case u.Declined():
			tone = text.Faint
		}
		if len(u.Pods) > 1 {
			verb = strings.Replace(strings.Replace(verb, "has", "have", 1), "waits", "wait", 1)
		}
		noun := "! " + brief.Counted(len(u.Pods), "pod")
		b.Line(text.Cell{Text: noun + verb, Tone: tone}, text.Of(few(podNames(u.Pods), podsNamed)))
		lines := u.Lines()
		for j, line := range lines {
			if j == reasonsNamed && len(lines) > reasonsNamed+1 {
				where := "daemok explain pod " + podName(&u.Pods[0])
				if in.Medium == WebPages {
					where = "see the page of pod " + podName(&u.Pods[0])
				}
				b.Line(text.Say(text.Faint, "    %d more reasons: %s", len(lines)-j, where))
				break
			}
			b.Line(text.Of("    " + line))
		}
	}
}

func (in *Input) poolsNotReady() (out []*cluster.Pool) {
	for i := range in.Snapshot.Pools {
		if p := &in.Snapshot.Pools[i]; p.NotReady != "" {
			out = append(out, p)
		}
	}
	return out
}

func poolNames(pools []*cluster.Pool) []string {
	out := make([]string, len(pools))
	for i, p := range pools {
		out[i] = p.ID.String()
	}
	return out
}

// closed names the pools of which no node may be disrupted now, while some of their nodes would be.
func (in *Input) closed(b *page.Block) {
	type closed struct {
		pool *cluster.Pool
		why  string
	}
	shares := disruption.Shares(in.Snapshot.Nodes)
	var list []closed
	for i := range in.Snapshot.Pools {
		p := &in.Snapshot.Pools[i]
		if shares[p.ID].Nodes == 0 {
			continue
		}
		if n, why := disruption.Allowed(in.Snapshot, p.ID, plan.Empty, plan.Drifted, plan.Underutilized); n == 0 {
			list = append(list, closed{p, why})
		}
	}
	for _, g := range grouped(list, func(c closed) string { return c.why }) {
		var pools []*cluster.Pool
		for _, c := range g.items {
			pools = append(pools, c.pool)
		}
		b.Line(text.Say(text.Warn, "! no node of %s may be disrupted now: ", few(poolNames(pools), podsNamed)),
			text.Of(g.key))
	}
}
