package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/observe/record"
)

// Input is what a view is made from. All but Snapshot may be missing: then less is shown.
type Input struct {
	Snapshot   *cluster.Snapshot
	Offers     bool                          // the snapshot knows what pools may launch
	Statements []record.Statement            // of the controller's record
	Usage      map[string]quantity.Resources // what is used on each node by its name, where metrics-server says so
	Prices     Prices                        // of instance types, for nodes whose price the snapshot does not have
	Deadlines  map[string]time.Time          // by NodeClaim: when its drain ends at the latest
	Bound      float64                       // dollars an hour: no instances that pools may launch hold the pods for less; 0: not known
	Controller *Controller                   // nil: nothing is known of it
	Troubles   []string                      // what could not be read, and the way out
}

// Prices are list prices in dollars an hour by instance type, zone and capacity type.
type Prices interface {
	Price(instanceType, zone, capacityType string) (dollars float64, ok bool)
}

// Cluster is what screens show of a cluster at one moment.
type Cluster struct {
	At         time.Time   `json:"at"`
	Revision   uint64      `json:"revision"` // of the snapshot
	Controller *Controller `json:"controller"`
	Totals     Totals      `json:"totals"`
	Problems   []Problem   `json:"problems"` // the worst first
	Pools      []Pool      `json:"pools"`    // by name
	Nodes      []Node      `json:"nodes"`    // by name; instances that are no node yet come last, by NodeClaim
	Waiting    []Waiting   `json:"waiting"`  // most pods first
	Events     []Event     `json:"events"`   // what was decided and done lately, the newest first
	Troubles   []string    `json:"troubles"` // what could not be read, and the way out
	Came       []Came      `json:"-"`        // the pods of Waiting, each
}

// Of is the view of what is known.
func Of(in Input) Cluster {
	s := in.Snapshot
	known := newKnown(&in)
	c := Cluster{
		At: s.Now, Revision: s.Revision, Controller: in.Controller, Pools: []Pool{}, Nodes: make([]Node, 0, len(s.Nodes)+len(s.Instances)), Events: eventsOf(in.Statements),
		Troubles: append([]string{}, in.Troubles...),
	}
	for i := range s.Nodes {
		c.Nodes = append(c.Nodes, known.node(&s.Nodes[i]))
	}
	for i := range s.Instances {
		c.Nodes = append(c.Nodes, known.instance(&s.Instances[i]))
	}
	c.Waiting, c.Came = known.waiting(), cameOf(s)
	for i := range s.Pools {
		c.Pools = append(c.Pools, known.pool(&s.Pools[i], c.Nodes))
	}
	c.Totals = totalsOf(&c, in.Bound)
	c.Problems = known.problems(&c)
	return c
}

// known is what an Input says, by the objects that it is about.
type known struct {
	*Input
	said map[subject]*record.Statement
	went map[instanceOf]string // why nodes were disrupted
}

// instanceOf names a node of a NodeClaim: names that come from IP addresses come again.
type instanceOf struct{ node, claim string }

// subject is what a statement that holds is about.
type subject struct {
	record.Object
	record.Topic
}

func newKnown(in *Input) *known {
	k := &known{Input: in, said: map[subject]*record.Statement{}, went: map[instanceOf]string{}}
	for i := range in.Statements {
		s := &in.Statements[i]
		if s.Until.IsZero() && s.Topic != "" {
			k.said[subject{s.About, s.Topic}] = s
		}
		if s.Disrupted() {
			k.went[instanceOf{s.About.Name, s.Claim}] = because(s)
		}
	}
	return k
}

// says is what the record holds about an object; nil: nothing.
func (k *known) says(kind record.Kind, name string, topic record.Topic) *record.Statement {
	return k.said[subject{record.Object{Kind: kind, Name: name}, topic}]
}

// eventsMost is how many events a view has.
const eventsMost = 200

// Event is something that was decided or done.
type Event struct {
	At    time.Time     `json:"at"`
	About record.Object `json:"about"`
	Said  string        `json:"said"`
	Why   string        `json:"why,omitempty"`
	More  []string      `json:"more,omitempty"`
	Cost  *record.Costs `json:"cost,omitempty"` // of the cluster, of something that was carried out
}

// eventsOf are the statements that say that something happened: not what goes on.
func eventsOf(list []record.Statement) []Event {
	out := []Event{}
	for i := range list {
		if s := &list[i]; s.Topic == "" && !s.Repeats() {
			out = append(out, Event{s.From, s.About, s.Said, s.Why, s.More, s.Cost})
		}
	}
	slices.SortStableFunc(out, func(a, b Event) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.About.Kind, b.About.Kind),
			cmp.Compare(a.About.Name, b.About.Name))
	})
	return out[:min(len(out), eventsMost)]
}
