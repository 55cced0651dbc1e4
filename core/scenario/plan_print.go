package scenario

import (
	"strconv"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
)

// PrintPlan writes a plan in full, in the language of snapshots; plan.String
// is for people. Pods are named, so reading it takes the snapshot it is for.
//
//	plan 12 steps=4711 exhausted asked cost-before=0.1 cost-after=0.2 bound=0.09
//	  margin memory zone=us-west-2b price=0.006
//	  fewer 3 price=0.11
//	  likely cost=0.12 left=2 together tight=3 tight-price=0.1 tight-cost=0.13
//	launch new-1 pool=NodePool/default relaxed reason="2 pods wait"
//	  choice m5.large us-west-2a on-demand 0.096 beside=0.0022
//	  runner-up m6i.large us-west-2a on-demand 0.1 why="$0.004000/h more"
//	  requests cpu=1 memory=2Gi
//	  labels team=a
//	  require topology.kubernetes.io/zone In us-west-2a
//	  note "default/web-1 gave up topology.kubernetes.io/zone=us-west-2b"
//	  join 3f9a2c1b key=topology.kubernetes.io/zone opens
//	  for default/web-1
//	place default/web-2 on=node target=ip-10-0-0-1
//	withdraw default-x7k2p pool=NodePool/default note="no pod waits for it any more"
//	move saves=0.1 payback=20m            what follows up to "end" is of the move
//	remove ip-10-0-0-2 claim=c pool=NodePool/default reason=Empty note="empty for 30s"
//	  for default/web-3
//	end
//	keep ip-10-0-0-3 reason=Drifted by=budget why="budget nodes: 0"
//	hold ip-10-0-0-4 until=2026-11-21T04:01:15Z
//	  machine new-1                       that the pods wait for
//	  for default/web-4
//	joining default-x7k2p
//	  join 3f9a2c1b key=topology.kubernetes.io/zone
//	unplaced
//	  for default/giant
//	  reason "no type has room" pool=NodePool/default
//	dropped saves=1.08
//	  preference "an even spread over kubernetes.io/hostname"
//	  for default/web-1
func PrintPlan(pl *plan.Plan) string {
	p := &printer{}
	p.line(0, "plan", strconv.FormatUint(pl.Basis, 10), number("steps", pl.Steps), flag("exhausted", pl.Exhausted), flag("asked", pl.Asked),
		priced("cost-before", pl.CostBefore), priced("cost-after", pl.CostAfter), priced("bound", pl.Bound), priced("spot-more", pl.SpotMore))
	for _, m := range pl.Margins {
		p.line(1, "margin", quote(m.Resource), field("zone", m.Zone), priced("price", m.Price))
	}
	if f := pl.Fewer; f != nil {
		p.line(1, "fewer", strconv.Itoa(f.Machines), priced("price", f.Cost))
	}
	if l := pl.Likely; l != nil {
		p.line(1, "likely", priced("cost", l.Cost), number("left", int64(l.Left)), number("turns", int64(l.Turns)), number("tight", int64(l.Relaxed.Machines)),
			priced("tight-price", l.Relaxed.Cost), priced("tight-cost", l.RelaxedCost))
	}
	for i := range pl.Launches {
		p.launch(&pl.Launches[i])
	}
	p.placements(pl.Placements)
	for _, w := range pl.Withdrawals {
		p.line(0, "withdraw", quote(w.Claim), poolField(w.Pool), field("note", w.Note))
	}
	for i := range pl.Moves {
		p.move(&pl.Moves[i])
	}
	for _, k := range pl.Kept {
		p.line(0, "keep", quote(k.Node), field("reason", string(k.Reason)), field("by", string(k.By)), field("why", k.Why))
	}
	for _, e := range pl.Emptying {
		p.line(0, "empty", quote(e.Node), field("claim", e.Claim), poolField(e.Pool), field("note", e.Note))
	}
	for _, h := range pl.Holds {
		p.line(0, "hold", quote(h.Node), timed("until", h.Until))
		for _, on := range h.For {
			p.line(1, "machine", quote(on))
		}
		p.names(h.Pods)
	}
	for _, m := range pl.Joining {
		p.line(0, "joining", quote(m.Claim))
		p.joins(m.Joins)
	}
	for _, u := range pl.Unplaced {
		p.line(0, "unplaced", flag("early", u.Early))
		p.names(u.Pods)
		for _, r := range u.Reasons {
			p.line(1, "reason", quote(r.Text), poolField(r.Pool), flag("minvalues", r.MinValues), field("rule", r.Rule), flag("others", r.Others))
		}
	}
	p.dropped(pl.Dropped)
	return p.text.String()
}

func (p *printer) dropped(list []plan.Dropped) {
	for _, d := range list {
		p.line(0, "dropped", priced("saves", d.Saves))
		for _, preference := range d.Preferences {
			p.line(1, "wish", quote(preference))
		}
		p.names(d.Pods)
	}
}

func (p *printer) move(m *plan.Move) {
	p.line(0, "move", priced("saves", m.Saves), length("payback", m.Payback))
	for _, r := range m.Removals {
		p.line(0, "remove", quote(r.Node), field("claim", r.Claim), poolField(r.Pool), field("reason", string(r.Reason)), field("note", r.Note))
		p.names(r.Pods)
	}
	for i := range m.Launches {
		p.launch(&m.Launches[i])
	}
	p.placements(m.Placements)
	p.dropped(m.Dropped)
	p.line(0, "end")
}

func (p *printer) placements(list []plan.Placement) {
	for _, x := range list {
		p.line(0, "place", slashed(x.Pod.Namespace, x.Pod.Name), field("on", string(x.On)), field("target", x.Target))
	}
}

func (p *printer) launch(l *plan.Launch) {
	p.line(0, "launch", quote(l.Name), poolField(l.Pool), flag("relaxed", l.Relaxed), field("reason", l.Reason))
	p.choice("choice", &l.Choice)
	for i := range l.RunnersUp {
		p.choice("runner-up", &l.RunnersUp[i])
	}
	p.amounts(1, "requests", l.Requests)
	p.labels(1, l.Labels, constraint.Labels(nil))
	p.requirements("require", 1, l.Requirements)
	for _, note := range l.Notes {
		p.line(1, "note", quote(note))
	}
	p.joins(l.Joins)
	p.names(l.Pods)
}

func (p *printer) choice(noun string, c *plan.Choice) {
	p.line(1, noun, quote(c.Kind), quote(c.Zone), quote(string(c.Option)), price(c.Priced, c.Price), priced("beside", c.Beside), field("why", c.WhyNot))
}

func (p *printer) joins(list []plan.Join) {
	for _, j := range list {
		p.line(1, "join", quote(j.Group), field("key", j.Key), flag("opens", j.Opens), number("turn", int64(j.Turn)))
	}
}

func (p *printer) names(pods []cluster.Pod) {
	for _, pod := range pods {
		p.line(1, "for", slashed(pod.Namespace, pod.Name))
	}
}
