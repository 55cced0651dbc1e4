package record

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/apply"
)

// Clerk writes plans and what came of them into a record. It listens to the
// planner.
type Clerk struct {
	Record *Record
	Now    func() time.Time

	claims map[string]string    // of the launches of this plan, by name
	owed   map[string]time.Time // nodes of which it is not recorded yet what keeps their pods from others, and since when they are kept
	ticks  map[string]tick      // by node: the latest pod of a Job there
	cost   atomic.Int64         // of the cluster before this plan, in millionths of a dollar an hour
	basis  atomic.Uint64        // of this plan; moves end on goroutines of their own

	planned atomic.Pointer[cluster.Snapshot] // that this plan was made from
}

// Planned reports a new plan, before it is carried out.
func (c *Clerk) Planned(s *cluster.Snapshot, p plan.Plan, _ time.Duration) {
	c.claims = map[string]string{}
	c.planned.Store(s)
	c.basis.Store(p.Basis)
	c.cost.Store(int64(cost.AsBilled(s, p).CostBefore))
}

// Gathered reports that claims were annotated to wait for each other.
func (c *Clerk) Gathered(error) {}

// Sought is nothing to record: what was found is part of the next plan.
func (c *Clerk) Sought(time.Duration) {}

// Explain writes down the plan, once it is carried out.
func (c *Clerk) Explain(s *cluster.Snapshot, p plan.Plan) {
	c.Record.Begin()
	billed := cost.AsBilled(s, p)
	(&minutes{c, s, &billed}).write()
	c.Record.Finish(s.Now)
}

// happened notes something that came of plans.
func (c *Clerk) happened(about Object, claim, said, why string, more ...string) {
	c.Record.Note(Statement{About: about, Claim: claim, Said: said, Why: why, More: more, From: c.Now().UTC(), Basis: c.basis.Load()})
}

// carriedOut notes something that a plan asked for, and that changes what the cluster costs by so much.
func (c *Clerk) carriedOut(about Object, claim, said, why string, by quantity.MicroUSDPerHour, more ...string) {
	before := quantity.MicroUSDPerHour(c.cost.Load())
	c.Record.Note(Statement{
		About: about, Claim: claim, Said: said, Why: why, More: more, From: c.Now().UTC(), Basis: c.basis.Load(),
		Cost: &Costs{before.Dollars(), (before + by).Dollars()},
	})
}

// Launched reports claims that were created, or could not be.
func (c *Clerk) Launched(list []apply.Launched) {
	for _, l := range list {
		pool := ofPool(l.Launch.Pool)
		if l.Err != nil {
			c.happened(pool, "", "could not create a NodeClaim for "+l.Launch.Whose(), l.Err.Error())
			continue
		}
		c.claims[l.Launch.Name] = l.Claim.Name
		c.happened(pool, "", fmt.Sprintf(createdClaim+"%s: %s", l.Claim.Name, l.Launch.Choice), l.Launch.Reason, grounds(&l.Launch)...)
		c.carriedOut(Object{Claim, l.Claim.Name}, "", "was created: "+l.Launch.Choice.String(), l.Launch.Reason,
			l.Launch.Choice.Cost(), grounds(&l.Launch)...)
	}
}

// grounds says which pods an instance is for and what it was chosen from.
func grounds(l *plan.Launch) []string {
	out := []string{"for " + l.Whose() + ": " + l.Requests.String()}
	for _, r := range l.RunnersUp {
		out = append(out, fmt.Sprintf("not %s: %s", r, r.WhyNot))
	}
	return append(out, l.Notes...)
}

// Withdrawn reports launches that were withdrawn, or could not be.
func (c *Clerk) Withdrawn(list []apply.Withdrawn) {
	for _, w := range list {
		if w.Err != nil {
			c.happened(Object{Claim, w.Claim}, "", "was not needed and is kept", w.Err.Error(), w.Note)
			continue
		}
		c.happened(Object{Claim, w.Claim}, "", "was withdrawn", w.Note)
		c.happened(ofPool(w.Pool), "", withdrewClaim+w.Claim, w.Note)
	}
}

// Replacing reports an instance that was launched in place of nodes, or could not be.
func (c *Clerk) Replacing(m plan.Move, l apply.Launched) {
	for _, r := range m.Removals {
		node := Object{Node, r.Node}
		if l.Err != nil {
			c.happened(node, r.Claim, "could not be replaced: no replacement was created", l.Err.Error())
			continue
		}
		c.happened(node, r.Claim, fmt.Sprintf("is to be replaced by claim %s: %s", l.Claim.Name, l.Launch.Choice), "", grounds(&l.Launch)...)
	}
	if l.Err == nil {
		c.happened(Object{Claim, l.Claim.Name}, "", "was created in place of "+nodesOf(m.Removals)+": "+l.Launch.Choice.String(), "", grounds(&l.Launch)...)
	}
}

// Stuck reports that a move waits for lack of live state.
func (c *Clerk) Stuck(m plan.Move, err error) {
	for _, r := range m.Removals {
		c.happened(Object{Node, r.Node}, r.Claim, "is not touched while the live state cannot be read", err.Error())
	}
}

// These begin what is said of a pool that is said of a node or NodeClaim too.
const (
	createdClaim  = "created claim "
	withdrewClaim = "withdrew claim "
	disruptedNode = "disrupted node "
)

// Repeats reports whether a statement says of a pool what another says of its node or NodeClaim.
func (s *Statement) Repeats() bool {
	ofPool := s.About.Kind == Pool || s.About.Kind == Provisioner
	return ofPool && (strings.HasPrefix(s.Said, createdClaim) || strings.HasPrefix(s.Said, withdrewClaim) || strings.HasPrefix(s.Said, disruptedNode))
}

// disrupted begins what is said of a node that goes, once its NodeClaim is deleted.
const disrupted = "was disrupted: "

// Disrupted reports whether a statement says that a node was disrupted, and why.
func (s *Statement) Disrupted() bool {
	return s.About.Kind == Node && s.Topic == "" && strings.HasPrefix(s.Said, disrupted)
}

// Moved reports how letting nodes go ended.
func (c *Clerk) Moved(e apply.Ended) {
	for i, r := range e.Removals {
		node := Object{Node, r.Node}
		switch {
		case e.Gone[i]:
			c.went(r)
			c.happened(ofPool(r.Pool), "", fmt.Sprintf(disruptedNode+"%s: %s", r.Node, r.Reason), r.Note)
		case e.Err == nil:
		case errors.Is(e.Err, context.Canceled):
			c.happened(node, r.Claim, "was about to be disrupted when the controller ended", "")
		default:
			c.Record.End(node, TopicStay, c.Now().UTC())
			c.happened(node, r.Claim, "stayed after all", e.Err.Error())
		}
	}
}

// went notes that a node goes, and what the cluster costs without it: what comes in its place is noted by itself.
func (c *Clerk) went(r plan.Removal) {
	node, said := Object{Node, r.Node}, disrupted+string(r.Reason)
	if price := c.costOf(r); price > 0 {
		c.carriedOut(node, r.Claim, said, r.Note, -price)
	} else {
		c.happened(node, r.Claim, said, r.Note)
	}
}

// costOf is what the node cost when the last plan was made; 0 where that is not known.
func (c *Clerk) costOf(r plan.Removal) quantity.MicroUSDPerHour {
	s := c.planned.Load()
	if s == nil {
		return 0
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Name == r.Node {
			if pool, has := s.Pool(n.Pool); has {
				return pool.CostOf(n)
			}
			return n.Price
		}
	}
	return 0
}

// nodesOf names the nodes that go, the first few of many.
func nodesOf(list []plan.Removal) string {
	text := "node "
	for i, r := range list {
		switch {
		case i == namesMax:
			return text + fmt.Sprintf(" and %d more", len(list)-i)
		case i > 0:
			text += ", "
		}
		text += r.Node
	}
	return text
}
