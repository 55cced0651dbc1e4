package viewer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/ui/status"
	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
)

// nodes is the sheet of nodes.
type nodes struct {
	c    *view.Cluster
	look look
	rows []int // of c.Nodes, in the order in which they are shown
	all  int   // nodes of the pools and with the labels that are asked for
	cols []column
	left bool // the status of one of them ends by itself
}

func newNodes(c *view.Cluster, l look) *nodes {
	s := &nodes{c: c, look: l}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if !l.Shows(n) {
			continue
		}
		s.all++
		if l.filter.matches(n) {
			s.rows = append(s.rows, i)
		}
	}
	s.sort()
	s.cols = s.layout()
	return s
}

// Shows reports whether a node is of the pools and has the labels that are asked for.
func (o *Options) Shows(n *view.Node) bool {
	if len(o.Pools) > 0 && !slices.Contains(o.Pools, n.Owner.Name) {
		return false
	}
	return o.Selector == nil || o.Selector.Matches(labels.Set(n.Labels))
}

func (s *nodes) size() (rows, all int) { return len(s.rows), s.all }

func (s *nodes) node(row int) *view.Node { return &s.c.Nodes[s.rows[row]] }

func (s *nodes) id(row int) string { return s.node(row).ID() }

// sortKey is what a node is sorted by: numbers before texts.
type sortKey struct {
	row    int
	number float64
	text   string
}

func (s *nodes) sort() {
	keys := make([]sortKey, len(s.rows))
	for i, row := range s.rows {
		keys[i] = keyOf(&s.c.Nodes[row], s.look.Sort.By)
		keys[i].row = row
	}
	way := 1
	if s.look.Sort.Descending {
		way = -1
	}
	slices.SortFunc(keys, func(a, b sortKey) int {
		return cmp.Or(way*cmp.Compare(a.number, b.number), way*cmp.Compare(a.text, b.text), cmp.Compare(a.row, b.row))
	})
	for i := range keys {
		s.rows[i] = keys[i].row
	}
}

// keyOf is what a node has of what nodes are sorted by.
func keyOf(n *view.Node, by string) sortKey {
	switch by {
	case byName:
		return sortKey{text: n.Called()}
	case byStatus:
		return sortKey{number: float64(slices.Index(view.Statuses(), n.Status))}
	case byType:
		return sortKey{text: n.Type}
	case byZone:
		return sortKey{text: n.Zone}
	case byCapacity:
		return sortKey{text: n.CapacityType}
	case byCost:
		return sortKey{number: n.Cost.PerHour}
	case byAge: // the newest is the youngest; what is no node yet may have no age, and is younger still
		switch {
		case n.Created.IsZero() && n.Name == "":
			return sortKey{number: -math.MaxFloat64}
		case n.Created.IsZero():
			return sortKey{number: math.MaxFloat64}
		}
		return sortKey{number: -float64(n.Created.Unix())}
	case byPods:
		return sortKey{number: float64(len(n.Pods))}
	case byOwner:
		return sortKey{text: n.Owner.String()}
	}
	if u, has := n.UseOf(by); has {
		return sortKey{number: u.Share()}
	}
	if value, has := n.Labels[by]; has {
		return sortKey{text: value}
	}
	return sortKey{number: -1}
}

// The columns of nodes, which have the importance of their place in this list: the first are shown where
// there is room for few.
const (
	rankName = iota
	rankStatus
	rankUse
	rankCost
	rankAsked
	rankLeft
	rankPods
	rankAge
	rankType
	rankCapacity
	rankOwner
	rankZone
	rankReason
)

// layout are the columns of these nodes.
func (s *nodes) layout() []column {
	name, kind, zone := widest{8, 63}, widest{4, 16}, widest{4, 16}
	state, capacity, owner := widest{6, 11}, widest{8, 14}, widest{5, 40}
	extra := make([]widest, len(s.look.Labels))
	for i, l := range s.look.Labels {
		extra[i] = widest{wide(titleOf(l)), 24}
	}
	reason := widest{0, unlimited}
	for _, row := range s.rows {
		n := &s.c.Nodes[row]
		name.see(n.Called())
		kind.see(n.Type)
		zone.see(n.Zone)
		state.see(string(n.Status))
		capacity.see(n.CapacityType)
		owner.see(n.Owner.String())
		reason.see(n.Reason)
		for i, l := range s.look.Labels {
			extra[i].see(labelOf(n, l))
		}
		s.left = s.left || !n.Until.IsZero()
	}
	out := []column{
		{title: "NODE", least: min(name.least, 13), most: name.least, rank: rankName},
		fixed("STATUS", state.least, rankStatus),
	}
	if s.left {
		out = append(out, fixed("LEFT", 5, rankLeft).toTheRight())
	}
	for i, r := range s.look.Resources {
		rank := rankAsked
		if i < 2 {
			rank = rankUse
		}
		out = append(out, column{title: strings.ToUpper(shortened(r)), least: 9, most: 16, rank: rank})
	}
	out = append(out,
		fixed("PODS", 7, rankPods).toTheRight(),
		fixed("TYPE", kind.least, rankType),
		fixed("ZONE", zone.least, rankZone),
		fixed("CAPACITY", capacity.least, rankCapacity),
		fixed("$/H", 6, rankCost).toTheRight(),
		fixed("AGE", 5, rankAge).toTheRight(),
		column{title: "OWNER", least: min(owner.least, 16), most: owner.least, rank: rankOwner},
	)
	for i, l := range s.look.Labels {
		most := extra[i].least
		out = append(out, column{title: titleOf(l), least: min(most, 10), most: most, rank: rankAsked})
	}
	if reason.least > 0 {
		out = append(out, column{title: "REASON", least: min(reason.least, 20), most: reason.least, rank: rankReason})
	}
	for i := range out { // by what they are sorted is seen, with a mark
		if c := &out[i]; c.title == titleOfKey(s.look.Sort.By) {
			c.least, c.rank = max(c.least, wide(c.title)+1), min(c.rank, rankUse)
			c.most = max(c.least, c.most)
		}
	}
	return out
}

// shortened is a resource without the domain before it.
func shortened(resource string) string { return resource[strings.LastIndex(resource, "/")+1:] }

func titleOf(label string) string { return strings.ToUpper(text.Clean(shortened(label))) }

// labelOf is what a node has of a label, or of what eks-node-viewer computes in the place of one.
func labelOf(n *view.Node, label string) string {
	if value, has := n.Labels[label]; has {
		return value
	}
	if u, has := n.UseOf(label); has {
		return fmt.Sprintf("%.0f %%", 100*u.Share())
	}
	return "-"
}

var statusTones = map[view.Status]text.Tone{
	view.Pending: text.Warn, view.Joining: text.Warn, view.Starting: text.Warn,
	view.Ready: text.Good, view.NotReady: text.Bad, view.Cordoned: text.Plain,
	view.Emptying: text.Plain, view.Draining: text.Warn, view.Terminating: text.Warn,
}

func (s *nodes) columns() []column { return s.cols }

func (s *nodes) cells(row int, now time.Time) []cell {
	n := s.node(row)
	out := []cell{of(n.Called()), say(statusTones[n.Status], "%s", n.Status)}
	if s.left {
		out = append(out, of(leftOf(n, now)))
	}
	for _, r := range s.look.Resources {
		u, has := n.UseOf(r)
		if !has {
			out = append(out, say(text.Faint, "-"))
			continue
		}
		out = append(out, cell{use: &u})
	}
	out = append(out, of(podsOf(n)), of(cmp.Or(n.Type, "-")), of(cmp.Or(n.Zone, "-")), of(cmp.Or(n.CapacityType, "-")),
		costOf(n.Cost), of(ageOf(n.Created, now)), of(n.Owner.String()))
	for _, l := range s.look.Labels {
		if l == byAge {
			out = append(out, of(ageOf(n.Created, now)))
			continue
		}
		out = append(out, of(labelOf(n, l)))
	}
	return append(out, of(n.Reason))
}

func podsOf(n *view.Node) string {
	most := "-"
	if u, has := n.UseOf(quantity.NamePods); has {
		most = fmt.Sprint(u.Allocatable)
	}
	return fmt.Sprintf("%d/%s", len(n.Pods), most)
}

// costOf is a price an hour; one of a list is marked.
func costOf(c view.Cost) cell {
	switch {
	case !c.Known:
		return say(text.Faint, "?")
	case c.PerHour >= 100:
		return of(fmt.Sprintf("%.1f", c.PerHour))
	}
	return of(fmt.Sprintf("%.3f", c.PerHour))
}

func ageOf(from, now time.Time) string {
	if from.IsZero() {
		return "-"
	}
	return status.Ago(now.Sub(from))
}

// leftOf is how much time a status has left.
func leftOf(n *view.Node, now time.Time) string {
	if n.Until.IsZero() {
		return ""
	}
	if !n.Until.After(now) {
		return "over"
	}
	return status.Ago(n.Until.Sub(now))
}

func (s *nodes) foot(row int, now time.Time) []text.Cell {
	n := s.node(row)
	out := []text.Cell{text.Say(text.Strong, "%s", n.Called()), text.Say(statusTones[n.Status], " %s", n.Status)}
	if left := leftOf(n, now); left != "" {
		out = append(out, text.Of(", "+left+" left"))
	}
	if n.Reason != "" {
		return append(out, text.Of(": "+n.Reason))
	}
	if n.Stays != "" {
		return append(out, text.Of("; "+n.Stays))
	}
	return out
}
