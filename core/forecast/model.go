package forecast

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// model is what spots have in common that differ in nothing but their names, as instances of one
// type in one zone do. A node that is there is one of its own.
type model struct {
	at     int
	single bool
	spot   spot     // empty
	admits []answer // by shape
}

type answer int8

const (
	unasked answer = iota
	yes
	no
)

// modelKey distinguishes launches.
type modelKey struct {
	pool       cluster.PoolID
	kind, zone string
	option     cluster.Option
	labels     string
	asked      string // extended resources
	name       string // where it matters
}

// model adds one that is like the node.
func (w *World) model(n *cluster.Node, single bool) *model {
	m := &model{at: len(w.models), single: single, spot: *w.spotOf(n), admits: make([]answer, len(w.kinds))}
	w.models = append(w.models, m)
	return m
}

// lets reports whether pods of the shape may run there, room and other pods aside.
func (m *model) lets(k *kind) bool {
	if m.admits[k.at] == unasked {
		m.admits[k.at] = no
		if feasibility.NodeAdmits(k.shape, m.spot.node).OK() {
			m.admits[k.at] = yes
		}
	}
	return m.admits[k.at] == yes
}

// named returns the model's spot with a name.
func (m *model) named(name string) *spot {
	x, n := m.spot, *m.spot.node
	n.Name, n.Claim, n.Labels = name, name, n.Labels.With(cluster.LabelHostname, name)
	x.node, x.model = &n, m
	return &x
}

// launch is the spot that a launch becomes if its choice is had; nil where the
// snapshot does not know what that is.
func (w *World) launch(l *plan.Launch) *spot {
	key := modelKey{l.Pool, l.Choice.Kind, l.Choice.Zone, l.Choice.Option, textOf(l.Labels), extendedIn(l.Requests), ""}
	if w.named {
		key.name = l.Name
	}
	m, known := w.launches[key]
	if !known {
		if n := w.Node(l); n != nil {
			m = w.model(n, w.named)
		}
		w.launches[key] = m
	}
	if m == nil {
		return nil
	}
	x := m.named(l.Name)
	x.node.Price, x.joins = l.Choice.Price, l.Joins
	return x
}

// asksByName reports whether nodes that differ by their names alone may differ
// for pods of the shape.
func asksByName(s *cluster.Shape) bool {
	terms := slices.Concat(s.NodeTerms, s.VolumeTerms)
	for i := range s.Preferences {
		terms = append(terms, s.Preferences[i].Term)
	}
	return slices.ContainsFunc(terms, func(t constraint.Requirements) bool {
		return t.Has(cluster.LabelHostname)
	})
}

// extendedIn names the extended resources that are asked for: by these instances of one
// instance type may differ.
func extendedIn(requests quantity.Resources) (names string) {
	for _, e := range requests.Extended {
		names += e.Name + " "
	}
	return names
}

func textOf(labels constraint.Labels) string {
	if len(labels) == 0 {
		return ""
	}
	return fmt.Sprint(labels)
}

// onOrder notes what is being launched. Some labels of it may not be decided yet.
func (w *World) onOrder() {
	same := map[string]*model{}
	for i := range w.snapshot.Instances {
		o := &w.snapshot.Instances[i]
		if o.Deleting {
			continue
		}
		labels := feasibility.ForInstance(o, w.pools[o.Pool], nil).Known()
		text := fmt.Sprint(o.Pool, labels, o.Taints, o.Allocatable, o.Attachable)
		if w.named || same[text] == nil {
			same[text] = w.model(w.node(o.Claim, o.Pool, labels, o.Taints, o.Allocatable, o.Attachable), w.named)
		}
		x := same[text].named(o.Claim)
		x.ordered = true
		w.ordered = append(w.ordered, x)
	}
}

// field is the open spots of a model.
type field struct {
	model  *model
	crowds []*crowd
	with   map[uint64]*crowd // by the pods on each spot
	shut   []*kind           // that had no room on any of them
}

// crowd is spots of a field that have the same pods beside what they had at first, so that they are
// the same to every pod.
type crowd struct {
	at    int // among those of the field
	pods  uint64
	field *field
	spots []*spot
}

// enlist adds a spot that has just opened to those of its model.
func (g *game) enlist(x *spot) {
	for len(g.fields) < len(g.world.models) {
		g.fields = append(g.fields, nil)
	}
	f := g.fields[x.model.at]
	if f == nil {
		f = &field{model: x.model, with: map[uint64]*crowd{}, shut: g.world.kinds}
		g.fields[x.model.at] = f
	}
	f.enter(x, 0)
	for _, k := range f.shut {
		g.steps++
		if amount.Fits(x.free, k.need) && x.model.lets(k) {
			g.open[k.at] = append(g.open[k.at], f)
		}
	}
	f.shut = nil
}

// enter puts a spot among those with the same pods.
func (f *field) enter(x *spot, pods uint64) {
	c := f.with[pods]
	if c == nil {
		c = &crowd{at: len(f.crowds), pods: pods, field: f}
		f.crowds, f.with[pods] = append(f.crowds, c), c
	}
	c.spots = append(c.spots, x)
}

// leave takes a spot that got a pod to those which have the same ones. Sets of pods are
// distinguished by sums of their numbers, each scattered over all that there are: two sums that are
// equal by chance are rarer than faults of memory.
func (c *crowd) leave(i int, p *waiter) {
	f, x, pods := c.field, c.spots[i], c.pods+scatter(uint64(p.sort)+1)
	if f.model.single {
		return
	}
	if len(c.spots) == 1 && f.with[pods] == nil {
		delete(f.with, c.pods)
		c.pods, f.with[pods] = pods, c
		return
	}
	last := len(c.spots) - 1
	c.spots[i] = c.spots[last]
	c.spots = c.spots[:last]
	if last == 0 {
		delete(f.with, c.pods)
		end := len(f.crowds) - 1
		f.crowds[c.at] = f.crowds[end]
		f.crowds[c.at].at = c.at
		f.crowds = f.crowds[:end]
	}
	f.enter(x, pods)
}

func scatter(z uint64) uint64 {
	z *= 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
