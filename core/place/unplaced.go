package place

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/fit"
	"github.com/daemok/daemok/core/parallel"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/topology"
)

// unplaced tells what would have to be different for the rest of the group to
// find a place: the least of it, at the nearest pool first.
func (r *run) unplaced(u *unlucky) plan.Unplaced {
	out := plan.Unplaced{Shape: u.shape, Reasons: u.known}
	if out.Reasons == nil {
		out.Reasons = r.reasons(u)
	}
	g := u.group
	for _, w := range g.pods[g.placed:] {
		out.Pods = append(out.Pods, *w.Pod)
	}
	return out
}

// unlucky is a group of which pods have no place.
type unlucky struct {
	*group
	known   []plan.Reason // where nothing is looked for
	changes []fit.Changes // by buyer: what would have to be different; see lookAhead
}

// leftOver lists the groups of which pods have no place, and finds out for
// them together what takes most of the time.
func (r *run) leftOver() []*unlucky {
	var out, sought []*unlucky
	for _, g := range r.waiting {
		if g.left() == 0 {
			continue
		}
		u := &unlucky{group: g}
		out = append(out, u)
		switch {
		case g.shape.Unable != "":
			u.known = []plan.Reason{{Text: g.shape.Unable}}
		case len(sought) < reasonsMax:
			sought = append(sought, u)
		default:
			u.known = []plan.Reason{{Text: fmt.Sprintf("no place was found; reasons are worked out for %d kinds of pods at a time, and others come before", reasonsMax)}}
		}
	}
	r.lookAhead(sought)
	return out
}

// lookAhead asks all pools at once what they lack for the groups, where their
// taints do not make it likely that others are nearer. Pools remember what
// they are asked, so each is asked by one goroutine.
func (r *run) lookAhead(list []*unlucky) {
	list = slices.DeleteFunc(slices.Clone(list), func(u *unlucky) bool { return r.used(u.kin) || pinned(u.shape) })
	for _, u := range list {
		u.changes = make([]fit.Changes, len(r.buyers))
	}
	parallel.Each(len(r.buyers), func(i int) {
		b := r.buyers[i]
		for _, u := range list {
			if !excluded(u.shape, b) && b.AtLeast(u.shape).Effort() == 0 {
				u.changes[i] = r.changesAt(b, u.group)
			}
		}
	})
}

func (r *run) reasons(u *unlucky) []plan.Reason {
	g := u.group
	switch {
	case r.used(g.kin):
		return []plan.Reason{{Text: r.claimInUse(g)}}
	case len(r.buyers) == 0:
		return []plan.Reason{{Text: "no pool exists, and " + r.onNodes(g)}}
	case pinned(g.shape):
		return []plan.Reason{{Text: "it may run on nodes of certain names alone, which new ones cannot have: " + r.nearestNode(g)}}
	}
	near := r.nearest(u)
	if len(near) == 0 {
		return r.noSuchPool(g)
	}
	if text, torn := r.tornApart(g); torn {
		return []plan.Reason{{Text: text}}
	}
	if text, crowded := r.crowded(g, r.spotsFor(g)); crowded {
		return []plan.Reason{{Text: text}}
	}
	if len(near[0].changes) == 0 {
		return []plan.Reason{{Pool: near[0].pool, Text: r.noChange(g)}}
	}
	return inWords(near)
}

// reasonsMax is for how many shapes a plan works out what would help: more than
// people read. It is what bounds the work, since no effort for a plan does: each
// of these shapes is compared with every option of every pool that its taints
// do not keep far off and, where no new machine will do, with every node.
const reasonsMax = 200

// noChange is why pods are left that a pool has machines for: another plan
// finds them a place.
func (r *run) noChange(g *group) string {
	switch {
	case !r.out.Exhausted && r.board.NearOnHost(g.kin.required().rules):
		return "its affinity over " + cluster.LabelHostname + " wants more pods beside each other than any one machine that can be had holds"
	case r.out.Exhausted:
		return "not tried: the effort for this plan was used up; the next plan goes on"
	}
	if text := r.board.Adrift(g.kin.required().rules); text != "" {
		return text + ": looked at again when it is launched"
	}
	if d := r.daemonInTheWay(g); d != "" {
		return "every new machine brings a pod of daemon set " + d + ", which it must not be beside"
	}
	return "no place keeps the rules of all pods in this plan; the next plan tries again"
}

// candidate is a pool with what keeps pods of a group from it.
type candidate struct {
	pool    cluster.PoolID
	changes fit.Changes
}

// nearest lists the pools that pods of the group do not exclude by name, the
// nearest first. Of those that cannot be among the nearest two it says no more
// than that.
func (r *run) nearest(u *unlucky) []candidate {
	var out []candidate
	g := u.group
	least, second := 1<<30, 1<<30
	for i, b := range r.buyers {
		if excluded(g.shape, b) {
			continue
		}
		c := candidate{pool: b.ID, changes: b.AtLeast(g.shape)}
		switch e := c.changes.Effort(); {
		case e == 0:
			c.changes = u.changes[i]
		case e <= second:
			c.changes = r.changesAt(b, g)
		}
		switch e := c.changes.Effort(); {
		case e < least:
			least, second = e, least
		case e < second:
			second = e
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(x, y candidate) int { return cmp.Compare(x.changes.Effort(), y.changes.Effort()) })
	return out
}

// changesAt lists what would have to be different for one pod of the group to
// have a machine of the pool.
func (r *run) changesAt(b *buyer, g *group) fit.Changes {
	changes, options := b.NearestOptions(g.shape, r.bounds(b)...)
	return append(changes, r.tooFewValues(b, options)...)
}

// tooFewValues tells by how much minValues of the pool asks for too many, if
// these options are left.
func (r *run) tooFewValues(b *buyer, options bitset.Set) fit.Changes {
	if r.options.MinValues == BestEffort || options == nil || options.Next(0) < 0 {
		return nil
	}
	short := b.minValuesShort(options, b.firstKinds(options))
	if short == nil {
		return nil
	}
	return fit.Changes{fit.NewChange(short.Rule, short.Key, 0, short.Text)}
}

// namedMax is how many pools a summary names.
const namedMax = 3

// inWords names the nearest pool, the next one where it is not much farther
// away, and sums up the others.
func inWords(near []candidate) []plan.Reason {
	named := 1
	if len(near) > 1 && near[1].changes.Effort() <= 2*near[0].changes.Effort() {
		named = 2
	}
	var out []plan.Reason
	for _, c := range near[:named] {
		out = append(out, plan.Reason{Pool: c.pool, Text: c.changes.String()})
	}
	if others := near[named:]; len(others) > 0 {
		names := make([]string, 0, namedMax)
		for _, c := range others[:min(len(others), namedMax)] {
			names = append(names, c.pool.Name)
		}
		out = append(out, plan.Reason{Text: others1(len(others)) + strings.Join(names, ", ") + further(len(others)-len(names))})
	}
	return out
}

func others1(n int) string {
	if n == 1 {
		return "one more pool is farther from it: "
	}
	return fmt.Sprintf("%d more pools are farther from it: ", n)
}

func further(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// excluded reports whether the pods choose pools by name, and not this one.
func excluded(s *cluster.Shape, b *buyer) bool {
	key, ok := nameKey(b)
	return ok && len(s.NodeTerms) > 0 && !slices.ContainsFunc(s.NodeTerms, func(t constraint.Requirements) bool {
		return t.Get(key).Allows(b.ID.Name)
	})
}

// nameKey returns the label by which nodes say of which pool they are.
func nameKey(b *buyer) (string, bool) {
	for _, l := range b.Labels {
		if l.Value == b.ID.Name && (l.Key == labelPool || l.Key == labelProvisioner) {
			return l.Key, true
		}
	}
	return "", false
}

// Labels that name the pool of a node, in two generations of the API.
const (
	labelPool        = "karpenter.sh/nodepool"
	labelProvisioner = "karpenter.sh/provisioner-name"
)

// noSuchPool is for pods that exclude every pool by name: probably the name
// is misspelt.
func (r *run) noSuchPool(g *group) []plan.Reason {
	var names []string
	key := labelPool
	for _, b := range r.buyers {
		names = append(names, b.ID.Name)
		key, _ = nameKey(b)
	}
	slices.Sort(names)
	want := g.shape.NodeTerms[0].Get(key)
	values, _ := want.Finite()
	text := "it excludes every pool by its wish for " + fit.WantWord(constraint.Requirement{Key: key, Set: want})
	if len(values) > 0 {
		text = "no pool has the name that it asks for by " + fit.WantWord(constraint.Requirement{Key: key, Set: want})
	}
	for _, v := range values {
		if near, ok := fit.NearValue(v, names); ok {
			return []plan.Reason{{Text: text + " (did you mean " + near + "?)"}}
		}
	}
	names = slices.Compact(names)
	more := further(len(names) - min(len(names), namesMax))
	return []plan.Reason{{Text: text + " (there are " + strings.Join(names[:min(len(names), namesMax)], ", ") + more + ")"}}
}

// namesMax is how many names a list for choosing from has at most.
const namesMax = 8

// pinned reports whether the pods may only run on nodes of certain names.
func pinned(s *cluster.Shape) bool {
	return len(s.NodeTerms) > 0 && !slices.ContainsFunc(s.NodeTerms, func(t constraint.Requirements) bool {
		_, finite := t.Get(cluster.LabelHostname).Finite()
		return !finite
	})
}

// spotsFor lists where machines for pods of the group can be bought, other
// pods and limits aside.
func (r *run) spotsFor(g *group) []topology.Spot {
	var out []topology.Spot
	for _, m := range r.marketsOf(g.kin.required()) {
		if _, _, ok := m.first(g, true); ok {
			out = append(out, m.spot)
		}
	}
	return out
}

// seatsFor lists the places that are there and have room for a pod of the
// group, other pods aside.
func (r *run) seatsFor(g *group) []topology.Spot {
	var out []topology.Spot
	if !r.counted {
		return nil
	}
	for _, s := range r.seats {
		if n, _ := r.within(s.free, g, &s.guests); n > 0 && g.kin.required().admitted(s, len(r.seats)) {
			out = append(out, r.board.Spot(s.place))
		}
	}
	return out
}

// onNodes is why no node has a pod of the group.
func (r *run) onNodes(g *group) string {
	if text, crowded := r.crowded(g, r.seatsFor(g)); crowded {
		return text
	}
	return r.nearestNode(g)
}

// daemonInTheWay names a daemon set whose pods are where those of the group
// must not be.
func (r *run) daemonInTheWay(g *group) string {
	r.scout.reset()
	for i := range r.snapshot.Daemons {
		d := &r.snapshot.Daemons[i]
		rules := r.daemons[d.Shape]
		if rules == nil {
			continue
		}
		r.scout.host.Put(rules, 1)
		if r.scout.host.Off(g.kin.required().rules) {
			return d.Namespace + "/" + d.Name
		}
	}
	return ""
}
