package web

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/daemok/daemok/ui/view"
)

// How many rows of a kind go to a browser; Totals and More count the rest.
const (
	waitingMost  = 500
	problemsMost = 200
)

// message is what the stream says: a whole state, or what differs from the one before. A part that is missing has not
// changed.
type message struct {
	At         time.Time        `json:"at"`
	Controller *view.Controller `json:"controller,omitempty"`
	Totals     *view.Totals     `json:"totals,omitempty"`
	Problems   *[]view.Problem  `json:"problems,omitempty"`
	Pools      *[]view.Pool     `json:"pools,omitempty"`
	Waiting    *[]view.Waiting  `json:"waiting,omitempty"`
	Troubles   *[]string        `json:"troubles,omitempty"`
	More       *more            `json:"more,omitempty"`
	Events     []view.Event     `json:"events,omitempty"` // those that are new, the newest first
	Nodes      map[string]node  `json:"nodes,omitempty"`  // by ID: those that are new, and what has changed of others
	Gone       []string         `json:"gone,omitempty"`   // IDs of nodes
	Points     []Point          `json:"points,omitempty"` // of the history, those that are new
}

// more counts the rows that are left out.
type more struct {
	Waiting  int `json:"waiting"`
	Problems int `json:"problems"`
}

// node is what has changed of a node.
type node struct {
	Head   *view.Node         `json:"head,omitempty"`   // without labels and pods
	Labels *map[string]string `json:"labels,omitempty"` //
	Pods   []view.Pod         `json:"pods,omitempty"`   // those that are new or have changed
	Gone   []string           `json:"gone,omitempty"`   // pods that are not there any more: "shop/web-1"
}

// whole says all of a state.
func whole(c *view.Cluster, points []Point) message { return between(&view.Cluster{}, c, points) }

// between says what differs of two states.
func between(old, c *view.Cluster, points []Point) message {
	m := message{At: c.At, Points: points, Nodes: map[string]node{}}
	fresh := old.At.IsZero()
	if c.Controller != nil && (fresh || !reflect.DeepEqual(old.Controller, c.Controller)) {
		m.Controller = c.Controller
	}
	if fresh || !reflect.DeepEqual(old.Totals, c.Totals) {
		m.Totals = &c.Totals
	}
	m.Problems = part(fresh, old.Problems, c.Problems, problemsMost)
	m.Pools = part(fresh, old.Pools, c.Pools, len(c.Pools))
	m.Waiting = part(fresh, old.Waiting, c.Waiting, waitingMost)
	m.Troubles = part(fresh, old.Troubles, c.Troubles, len(c.Troubles))
	if m.Problems != nil || m.Waiting != nil {
		m.More = &more{max(0, len(c.Waiting)-waitingMost), max(0, len(c.Problems)-problemsMost)}
	}
	m.Events = newEvents(old.Events, c.Events)
	m.nodes(old.Nodes, c.Nodes)
	return m
}

// empty reports whether a browser would show the same without it.
func (m *message) empty() bool {
	bare := message{At: m.At, Nodes: m.Nodes}
	return len(m.Nodes) == 0 && reflect.DeepEqual(*m, bare)
}

// part is a list if it has changed, at most so many rows of it; nil: it has not.
func part[T any](fresh bool, old, list []T, most int) *[]T {
	old, list = old[:min(len(old), most)], list[:min(len(list), most)]
	if !fresh && (len(old) == 0 && len(list) == 0 || reflect.DeepEqual(old, list)) {
		return nil
	}
	if list == nil {
		list = []T{}
	}
	return &list
}

// happened is what distinguishes events.
type happened struct {
	at          time.Time
	about, said string
}

func newEvents(old, list []view.Event) (out []view.Event) {
	key := func(e *view.Event) happened { return happened{e.At, e.About.String(), e.Said} }
	known := make(map[happened]bool, len(old))
	for i := range old {
		known[key(&old[i])] = true
	}
	for i := range list {
		if !known[key(&list[i])] {
			out = append(out, list[i])
		}
	}
	return out
}

// nodes says what differs of two lists of nodes.
func (m *message) nodes(old, list []view.Node) {
	before := make(map[string]*view.Node, len(old))
	for i := range old {
		before[old[i].ID()] = &old[i]
	}
	for i := range list {
		n, id := &list[i], list[i].ID()
		was, known := before[id]
		if !known {
			was = &view.Node{}
		}
		delete(before, id)
		if d, differs := nodeBetween(was, n, known); differs {
			m.Nodes[id] = d
		}
	}
	m.Gone = slices.Sorted(maps.Keys(before))
}

func nodeBetween(old, n *view.Node, known bool) (d node, differs bool) {
	if !known || !sameHead(old, n) {
		head := *n
		head.Pods, head.Labels = nil, nil
		d.Head = &head
	}
	if !maps.Equal(old.Labels, n.Labels) {
		labels := n.Labels
		d.Labels = &labels
	}
	d.Pods, d.Gone = podsBetween(old.Pods, n.Pods)
	return d, d.Head != nil || d.Labels != nil || len(d.Pods) > 0 || len(d.Gone) > 0
}

// sameHead compares nodes without labels and pods.
func sameHead(a, b *view.Node) bool {
	return a.Name == b.Name && a.Claim == b.Claim && a.Instance == b.Instance && a.Owner == b.Owner &&
		a.Type == b.Type && a.Zone == b.Zone && a.CapacityType == b.CapacityType && a.Arch == b.Arch && a.Cost == b.Cost &&
		a.Created.Equal(b.Created) && a.Expires.Equal(b.Expires) && a.Until.Equal(b.Until) &&
		a.Status == b.Status && a.Reason == b.Reason && a.Stays == b.Stays && slices.EqualFunc(a.Use, b.Use, sameUse)
}

func sameUse(a, b view.Use) bool {
	used := a.Used == b.Used || a.Used != nil && b.Used != nil && *a.Used == *b.Used
	return used && a.Resource == b.Resource && a.Requested == b.Requested && a.Allocatable == b.Allocatable
}

// podsBetween are the pods that are new or differ, and those that are gone. Most often the lists are the same.
func podsBetween(old, list []view.Pod) (changed []view.Pod, gone []string) {
	switch {
	case len(old) == 0:
		return list, nil
	case slices.Equal(old, list):
		return nil, nil
	}
	key := func(p *view.Pod) string { return p.Namespace + "/" + p.Name }
	before := make(map[string]*view.Pod, len(old))
	for i := range old {
		before[key(&old[i])] = &old[i]
	}
	for i := range list {
		p := &list[i]
		if was, known := before[key(p)]; !known || *was != *p {
			changed = append(changed, *p)
		}
		delete(before, key(p))
	}
	return changed, slices.Sorted(maps.Keys(before))
}
