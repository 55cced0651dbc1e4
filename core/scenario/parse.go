package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// Parse reads a snapshot. An error names the line.
func Parse(text string) (*cluster.Snapshot, error) {
	p := &parser{out: &cluster.Snapshot{}, shapes: map[string]*cluster.Shape{}, catalogues: map[string]*cluster.Catalogue{}}
	for i, line := range strings.Split(text, "\n") {
		w, err := words(line)
		if err == nil && len(w) > 0 {
			err = p.read(w)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return p.out, nil
}

type parser struct {
	out        *cluster.Snapshot
	shapes     map[string]*cluster.Shape
	catalogues map[string]*cluster.Catalogue
	catalogue  *cluster.Catalogue // the last one
	parent     parent             // the last thing that other lines may belong to
	wanted     []wanted
}

// parent is where the lines that follow go; what is nil the thing has not.
type parent struct {
	noun         string
	labels       *constraint.Labels
	requirements *constraint.Requirements
	taints       *[]constraint.Taint
	startup      *[]constraint.Taint
	allocatable  *quantity.Resources
	capacity     *quantity.Resources
	attachable   *[]cluster.Attachable
	selector     *cluster.Selector
	sized        bool // capacity was given
	shape        *cluster.Shape
	instanceType *cluster.InstanceType
	pool         *cluster.Pool
	node         *cluster.Node
	machine      *cluster.Machine
}

// wanted is a waiting pod that a node or a machine names before all pods are known.
type wanted struct {
	node    string // or
	machine string
	at      int // position in LaunchedFor
	pod     cluster.Pod
}

// nouns lists what a line may begin with.
var nouns = map[string]func(*parser, []string) error{
	"snapshot": (*parser).snapshot, "shape": (*parser).shape, "tolerate": ofShape((*parser).tolerate), "term": ofShape((*parser).term),
	"require": (*parser).require, "floor": (*parser).floor, "room": (*parser).room, "waiting": (*parser).waiting, "expected": (*parser).expected, "daemon": (*parser).daemon,
	"catalogue": (*parser).newCatalogue, "kind": (*parser).kind, "allocatable": (*parser).allocatable,
	"capacity": (*parser).capacity, "labels": (*parser).labels, "offer": (*parser).offering, "pool": (*parser).pool,
	"taint": (*parser).taint, "startup-taint": (*parser).startupTaint, "limit": (*parser).limit, "usage": (*parser).usage,
	"policy": (*parser).policy, "node": (*parser).node, "pod": (*parser).pod, "machine": (*parser).machine,
	"for": (*parser).launchedFor, "attachable": (*parser).attachable, "sustained": (*parser).sustained, "last-resort": (*parser).lastResort, "on-request": (*parser).onRequest, "select": (*parser).selects,
	"volume-term": ofShape((*parser).volumeTerm), "prefer": ofShape((*parser).prefer), "spread": ofShape((*parser).spread),
	"near": ofShape((*parser).near), "apart": ofShape((*parser).apart), "port": ofShape((*parser).port),
	"volume": ofShape((*parser).volume), "allow": (*parser).allow, "guard": (*parser).pdb, "freeze": (*parser).freeze,
	"breaker": (*parser).breaker, "repair": (*parser).repair, "repair-most": (*parser).repairMost, "ailing": (*parser).ailing,
}

// ofShape is for lines that stand below a shape.
func ofShape(read func(*parser, []string) error) func(*parser, []string) error {
	return func(p *parser, w []string) error {
		if p.parent.shape == nil {
			return fmt.Errorf("want it below a shape")
		}
		return read(p, w)
	}
}

func (p *parser) read(w []string) error {
	f, known := nouns[w[0]]
	if !known {
		return fmt.Errorf("no line begins with %q", w[0])
	}
	if err := f(p, w[1:]); err != nil {
		return fmt.Errorf("%s: %w", w[0], err)
	}
	return nil
}

// enter begins a thing that other lines may belong to.
func (p *parser) enter(next parent) {
	p.leave()
	p.parent = next
}

// leave fills in what the last thing left out.
func (p *parser) leave() {
	at := p.parent
	if at.capacity != nil && !at.sized {
		*at.capacity = *at.allocatable
	}
	p.parent = parent{}
}

// finish checks and sorts what was read.
func (p *parser) finish() error {
	p.leave()
	s := p.out
	for _, c := range p.catalogues {
		slices.SortFunc(c.InstanceTypes, func(a, b cluster.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	}
	s.Sort()
	if err := p.resolve(); err != nil {
		return err
	}
	return errors.Join(
		unique("waiting pod", s.Waiting, podName), unique("node", s.Nodes, func(n cluster.Node) string { return n.Name }),
		unique("machine", s.Machines, func(m cluster.Machine) string { return m.Claim }),
		unique("pool", s.Pools, func(p cluster.Pool) string { return poolID(p.ID) }),
		unique("daemon", s.Daemons, func(d cluster.Daemon) string { return slashed(d.Namespace, d.Name) }),
		p.uniqueInside())
}

func (p *parser) uniqueInside() error {
	for i := range p.out.Nodes {
		if err := unique("pod of node "+p.out.Nodes[i].Name, p.out.Nodes[i].Pods, podName); err != nil {
			return err
		}
	}
	for _, pool := range p.out.Pools {
		if pool.Catalogue == nil {
			continue
		}
		if err := unique("kind", pool.Catalogue.InstanceTypes, func(k cluster.InstanceType) string { return k.Name }); err != nil {
			return err
		}
	}
	return nil
}

func podName(p cluster.Pod) string { return slashed(p.Namespace, p.Name) }

// unique rejects two neighbours of one name in a sorted list.
func unique[T any](what string, list []T, name func(T) string) error {
	for i := 1; i < len(list); i++ {
		if name(list[i]) == name(list[i-1]) {
			return fmt.Errorf("%s %s is there twice", what, name(list[i]))
		}
	}
	return nil
}

// resolve looks up the waiting pods that machines were ordered for.
func (p *parser) resolve() error {
	if len(p.wanted) == 0 {
		return nil
	}
	lists, waiting := map[[2]string][]cluster.Pod{}, byName(p.out.Waiting)
	for i := range p.out.Nodes {
		lists[[2]string{p.out.Nodes[i].Name, ""}] = p.out.Nodes[i].LaunchedFor
	}
	for i := range p.out.Machines {
		lists[[2]string{"", p.out.Machines[i].Claim}] = p.out.Machines[i].LaunchedFor
	}
	for _, w := range p.wanted {
		list := lists[[2]string{w.node, w.machine}]
		pod := waiting[[2]string{w.pod.Namespace, w.pod.Name}]
		if pod == nil || w.at >= len(list) {
			return fmt.Errorf("machine %s is for pod %s, which does not wait: give its shape", w.node+w.machine, podName(w.pod))
		}
		list[w.at] = *pod
	}
	return nil
}

func byName(pods []cluster.Pod) map[[2]string]*cluster.Pod {
	out := make(map[[2]string]*cluster.Pod, len(pods))
	for i := range pods {
		out[[2]string{pods[i].Namespace, pods[i].Name}] = &pods[i]
	}
	return out
}
