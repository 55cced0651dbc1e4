package feasibility

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/device"
	"github.com/daemok/daemok/core/quantity"
)

// Labels that every node of ours has by the time that daemon pods matter.
const (
	labelRegistered  = cluster.LabelRegistered
	labelInitialized = cluster.LabelInitialized
)

// Promised lists the labels that every node of ours gets with the value true.
func Promised() []string { return []string{labelInitialized, labelRegistered} }

// assumed reports whether a daemon's requirement holds whatever the node: the
// DaemonSet controller pins each pod to its node's name, and every node gets
// registered and initialized.
func assumed(r constraint.Requirement) bool {
	switch r.Key {
	case cluster.LabelHostname:
		return true
	case labelRegistered, labelInitialized:
		return r.Set.Allows("true")
	}
	return false
}

// placeDaemons finds out what daemon pods take of the instances that the pool may launch. An
// instance type is split where its offerings get different daemon pods, such as those bound to a
// zone: all options of one part get the same daemon pods. Such a pool has options of its own.
func (p *Pool) placeDaemons() {
	var byOffering []*cluster.Shape
	loads := make([]overhead, len(p.instanceTypes))
	for i := range p.daemons {
		s := p.daemons[i].Shape
		if !untolerated(p.Taints, s.Tolerations).OK() {
			continue
		}
		if p.offeringDecides(s) {
			byOffering = append(byOffering, s)
			continue
		}
		for k := range p.instanceTypes {
			if p.runsOnInstanceType(s, &p.instanceTypes[k]) {
				loads[k].add(s, &p.instanceTypes[k])
			}
		}
	}
	of := make([]int, len(p.instanceTypes))
	for k := range of {
		of[k] = k
	}
	if len(byOffering) > 0 {
		loads, of = p.part(byOffering, loads, of)
	}
	for k, l := range loads {
		free := p.instanceTypes[k].Allocatable.Sub(l.amounts)
		cramped := !p.Floor.Room.Keeps(&p.instanceTypes[k], free.Memory)
		p.Kinds = append(p.Kinds, Space{free, l.amounts, l.ports, l.pods, cramped, of[k]})
	}
}

// portDaemon names the first DaemonSet whose pods take a host port on instances of the type.
func (p *Pool) portDaemon(port cluster.Port, kind int) string {
	return firstOn(port, p.daemons, func(s *cluster.Shape) bool { return slices.Contains(p.Kinds[kind].Pods, s) })
}

// PortDaemon names the first DaemonSet whose pod, yet to come, takes a host port on the
// node; empty if there is none.
func PortDaemon(port cluster.Port, n *cluster.Node, daemons []cluster.Daemon) string {
	return firstOn(port, daemons, func(s *cluster.Shape) bool { return daemonOnNode(s, n) })
}

func firstOn(port cluster.Port, daemons []cluster.Daemon, comes func(*cluster.Shape) bool) string {
	for i := range daemons {
		if d := &daemons[i]; slices.ContainsFunc(d.Shape.Ports, port.Conflicts) && comes(d.Shape) {
			return "DaemonSet " + d.Namespace + "/" + d.Name
		}
	}
	return ""
}

// part makes an instance type for every lot of daemon pods that comes by some offerings of one in
// the catalogue, where there are several.
func (p *Pool) part(daemons []*cluster.Shape, loads []overhead, of []int) ([]overhead, []int) {
	comes := make([]bitset.Set, len(daemons))
	for i, s := range daemons {
		comes[i] = p.comesBy(s)
	}
	own := *p.catalogueIndex
	own.instanceTypes = slices.Clip(own.instanceTypes)
	type lot struct {
		kind int
		pods string
	}
	parts, met := map[lot]int{}, make([]bool, len(own.instanceTypes))
	plain := slices.Clone(loads)
	for i := range p.Options {
		o := &p.Options[i]
		pods := make([]byte, len(daemons))
		for d := range daemons {
			if comes[d].Has(i) {
				pods[d] = 1
			}
		}
		key := lot{o.Kind, string(pods)}
		at, known := parts[key]
		if !known {
			if at = o.Kind; met[o.Kind] {
				at = len(own.instanceTypes)
				own.instanceTypes, loads, of = append(own.instanceTypes, own.instanceTypes[o.Kind]), append(loads, plain[o.Kind].clone()), append(of, o.Kind)
			}
			for d, s := range daemons {
				if pods[d] == 1 {
					loads[at].add(s, &own.instanceTypes[at])
				}
			}
			parts[key], met[o.Kind] = at, true
		}
		o.Kind = at
	}
	p.catalogueIndex = &own
	return loads, of
}

// overhead is what daemon pods take of an instance.
type overhead struct {
	amounts quantity.Resources
	ports   []cluster.Port
	pods    []*cluster.Shape
}

// add counts a daemon pod of an instance type. Daemon pods never have more devices than there are: one that lacks some
// stays pending.
func (o *overhead) add(s *cluster.Shape, k *cluster.InstanceType) {
	if lacksDevices(s, k.Allocatable) {
		return
	}
	o.amounts = o.amounts.Add(s.Requests)
	for _, e := range device.Only(o.amounts) {
		o.amounts = o.amounts.With(e.Name, min(e.Amount, k.Allocatable.Get(e.Name)))
	}
	o.ports = append(o.ports, s.Ports...)
	o.pods = append(o.pods, s)
}

// lacksDevices reports whether a daemon pod requests more devices by ResourceClaims than there are: it stays pending
// there, and takes nothing.
func lacksDevices(s *cluster.Shape, has quantity.Resources) bool {
	return slices.ContainsFunc(s.Requests.Extended, func(e quantity.Extended) bool {
		return device.Counts(e.Name) && e.Amount > has.Get(e.Name)
	})
}

func (o overhead) clone() overhead {
	o.ports, o.pods = slices.Clip(o.ports), slices.Clip(o.pods)
	return o
}

// offeringDecides reports whether a daemon pod asks for what differs between the offerings of an
// instance type.
func (p *Pool) offeringDecides(s *cluster.Shape) bool {
	return slices.ContainsFunc(s.NodeTerms, func(term constraint.Requirements) bool {
		return slices.ContainsFunc(term, func(r constraint.Requirement) bool { return p.ofOfferings(r.Key) })
	})
}

// comesBy returns the options by which a daemon pod comes.
func (p *Pool) comesBy(s *cluster.Shape) bitset.Set {
	out := bitset.New(len(p.Options))
	for _, term := range s.NodeTerms {
		by := bitset.Full(len(p.Options))
		for _, r := range term {
			switch {
			case assumed(r):
			case p.Defines(r.Key):
				by.And(p.Matching(r))
			case !p.custom(r).OK():
				by = bitset.New(len(p.Options))
			}
		}
		out.Or(by)
	}
	return out
}

// runsOnInstanceType reports whether a daemon pod that asks for nothing of offerings runs on
// instances of the type.
func (p *Pool) runsOnInstanceType(s *cluster.Shape, instanceType *cluster.InstanceType) bool {
	return anyTerm(s.NodeTerms, func(term constraint.Requirements) Reason {
		for _, r := range term {
			if !assumed(r) && !p.daemonWants(r, instanceType) {
				return Reason{Rule: Label}
			}
		}
		return Reason{}
	}).OK()
}

func (p *Pool) daemonWants(r constraint.Requirement, instanceType *cluster.InstanceType) bool {
	if !p.Defines(r.Key) {
		return p.custom(r).OK()
	}
	return wants("type", r, instanceType.Labels).OK()
}

// Brings reports whether instances of the pool may get a pod of the daemon if they become one of
// the options, and whether they do whichever it is.
func (p *Pool) Brings(s *cluster.Shape, options bitset.Set) (may, sure bool) {
	sure = true
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		comes := p.BringsAs(s, i)
		may, sure = may || comes, sure && comes
	}
	return may, may && sure
}

// BringsAs is Brings for one option.
func (p *Pool) BringsAs(s *cluster.Shape, option int) bool {
	if lacksDevices(s, p.instanceTypes[p.Options[option].Kind].Allocatable) {
		return false
	}
	return untolerated(p.Taints, s.Tolerations).OK() && anyTerm(s.NodeTerms, func(term constraint.Requirements) Reason {
		return p.daemonTerm(term, p.Options[option])
	}).OK()
}

func (p *Pool) daemonTerm(term constraint.Requirements, o Option) Reason {
	for _, r := range term {
		if assumed(r) || p.Defines(r.Key) && p.meets(o, r) || !p.Defines(r.Key) && p.custom(r).OK() {
			continue
		}
		return Reason{Rule: Label}
	}
	return Reason{}
}
