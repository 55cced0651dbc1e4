package changes

import (
	"fmt"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/ui/page"
	"github.com/daemok/daemok/ui/text"
)

// Headings of details that other parts of a plan refer to.
const (
	everyPod  = "Where every pod goes"
	everyNode = "Every node that stays"
	everyNote = "Every note on launches"
)

// whereTo lists every pod with its place.
func (in *Input) whereTo() page.Block {
	b := page.Block{Heading: everyPod, Tone: text.Strong, Detail: true}
	b.Table = table("POD~", "FROM", "TO", "TYPE")
	add := func(list []plan.Placement, launches []plan.Launch) {
		types := map[string]string{}
		for i := range launches {
			types[launches[i].Name] = launches[i].Choice.Kind
		}
		for i := range list {
			p := &list[i]
			b.Table.Add(text.Of(podName(&p.Pod)), text.Of(p.Pod.Node), text.Of(p.Target), text.Of(types[p.Target]))
		}
	}
	add(in.Plan.Placements, in.Plan.Launches)
	for i := range in.Plan.Moves {
		m := &in.Plan.Moves[i]
		from := map[string]string{}
		for j := range m.Removals {
			for k := range m.Removals[j].Pods {
				from[podName(&m.Removals[j].Pods[k])] = m.Removals[j].Node
			}
		}
		for _, p := range m.Placements {
			p.Pod.Node = from[podName(&p.Pod)]
			add([]plan.Placement{p}, m.Launches)
		}
	}
	return b
}

// notLaunched lists the runners-up, equal ones once.
func (in *Input) notLaunched() page.Block {
	b := page.Block{Heading: "Offerings not chosen", Tone: text.Strong, Detail: true}
	b.Table = table("FOR>", "CHOSEN", "NOT~", "WHY NOT~")
	type key struct{ chosen, not, why string }
	var all []key
	add := func(launches []plan.Launch) {
		for i := range launches {
			for _, c := range launches[i].RunnersUp {
				not := fmt.Sprintf("%s in %s, %s", c.Kind, c.Zone, c.Option)
				if c.Priced {
					not += ", " + hourly(c.Cost())
				}
				all = append(all, key{launches[i].Choice.Kind, not, c.WhyNot})
			}
		}
	}
	add(in.Plan.Launches)
	for i := range in.Plan.Moves {
		add(in.Plan.Moves[i].Launches)
	}
	for _, g := range byCount(grouped(all, func(k key) key { return k })) {
		b.Table.Add(number(len(g.items)), text.Of(g.key.chosen), text.Of(g.key.not), text.Of(g.key.why))
	}
	return b
}

// keptInFull lists every node that stays with its own reason.
func (in *Input) keptInFull() page.Block {
	b := page.Block{Heading: everyNode, Tone: text.Strong, Detail: true}
	b.Table = table("NODE", "REASON", "WHY~")
	for _, k := range in.Plan.Kept {
		b.Table.Add(text.Of(k.Node), text.Of(string(k.Reason)), text.Of(k.Why))
	}
	return b
}

// notesInFull is what launches for pending pods have to note, where the table of launches does not say all of it.
func (in *Input) notesInFull() page.Block {
	b := page.Block{Heading: everyNote, Tone: text.Strong, Detail: true}
	b.Table = table("COUNT>", "NOTE~")
	var all []*plan.Launch
	for i := range in.Plan.Launches {
		all = append(all, &in.Plan.Launches[i])
	}
	groups := notesOf(all)
	if len(groups) <= reasonsNamed+1 {
		return b
	}
	for _, g := range groups {
		b.Table.Add(number(len(g.items)), text.Of(g.key))
	}
	return b
}

// margins is what a little more of each resource would cost.
func (in *Input) margins() page.Block {
	b := page.Block{Heading: "At the margin", Tone: text.Strong, Detail: true}
	b.Table = table("ONE MORE OF", "ZONE", "$/H>")
	for _, m := range in.Plan.Margins {
		b.Table.Add(text.Of(m.Resource), text.Of(m.Zone), text.Of(fmt.Sprintf("$%.6f", float64(m.Price)/1e6)))
	}
	return b
}
