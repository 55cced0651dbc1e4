package main

const (
	fitNode    = "core/feasibility/node.go"
	fitDaemon  = "core/feasibility/daemon.go"
	fitMachine = "core/feasibility/machine.go"
	fitPool    = "core/feasibility/pool.go"
	fitTerm    = "core/feasibility/term.go"
)

// fitRules are about single places: labels, taints, amounts and ports.
func fitRules() []Rule {
	return []Rule{
		off("taints keep pods off nodes", fitNode, "if r := untolerated(LastingTaints(n), s.Tolerations); !r.OK() {", "if r := untolerated(LastingTaints(n), s.Tolerations); false {"),
		off("nodes must have the labels", fitNode, "Reason { return nodeTerm(term, n) }", "Reason { return Reason{} }"),
		off("where volumes are narrows places", "core/feasibility/alternatives.go", "return Cross(s.NodeTerms, s.VolumeTerms)", "return s.NodeTerms"),
		off("taints of foreign nodes last", fitNode, `if n.Claim == "" || len(n.Taints) == 0 {`, `if len(n.Taints) == 0 {`),
		off("a node that fell ill is waited for", fitNode, "(!started || t.Key == taintNotReady ||", "(!started && !n.Initialized || t.Key == \"\" ||"),
		off("taints of starting nodes vanish", fitNode, "return Ephemeral(t) &&", "return false && Ephemeral(t) &&"),
		off("startup taints vanish", fitNode, "!n.Initialized && slices.ContainsFunc(", "false && slices.ContainsFunc("),
		off("startup taints count once they come back", fitNode, "!n.Initialized && slices.ContainsFunc(", "slices.ContainsFunc("),
		off("pods of a node take room", fitNode, "bound = bound.Add(n.Pods[i].Takes())", "bound = bound.Add(quantity.Resources{})"),
		off("daemons still to come take room", fitNode, "expected = expected.Add(daemons[i].Shape.Requests)", "expected = expected.Add(quantity.Resources{})"),
		off("daemons that came are not counted twice", fitNode, "present = present.Add(n.Pods[i].Takes())", "present = present.Add(quantity.Resources{})"),
		off("daemons that are left over give nothing back", fitNode, ".Sub(expected.Sub(present).ClampNegative())", ".Sub(expected.Sub(present))"),
		off("a starting node's devices are counted on", fitNode, "out = out.With(e.Name, e.Amount)", "_ = e.Amount"),
		off("a device that failed is not", fitNode, `if n.Initialized || n.Claim == "" {`, `if n.Claim == "" {`),
		off("pods of a node take ports", fitNode, "out = append(out, n.Pods[i].Shape.Ports...)", "_ = n.Pods[i].Shape.Ports"),
		off("daemons still to come take ports", fitNode, "out = append(out, s.Ports...)", "_ = s.Ports"),
		off("daemons mind the taints of nodes", fitNode, "if !untolerated(LastingTaints(n), s.Tolerations).OK() {", "if false {"),
		off("any of several terms will do", fitNode, "why := try(term)\n\t\tif why.OK() {", "why := try(term)\n\t\tif why.OK() && i == 0 {"),

		off("daemons mind the taints of pools", fitDaemon, "if !untolerated(p.Taints, s.Tolerations).OK() {", "if false {"),
		off("daemons take room on new machines", fitDaemon, "o.amounts = o.amounts.Add(s.Requests)", "_ = s.Requests"),
		off("daemons take ports on new machines", fitDaemon, "o.ports = append(o.ports, s.Ports...)", "_ = s.Ports"),
		off("daemons of a zone are on machines there alone", fitDaemon, "if comes[d].Has(i) {", "if comes[d] != nil {"),
		off("daemons of a zone are on machines there", fitDaemon, "if comes[d].Has(i) {", "if false {"),
		off("what is left open is no part of a instanceType with less room", "core/place/launch.go", "if b.parted {\n\t\toptions, instanceTypes", "if false {\n\t\toptions, instanceTypes"),
		off("daemons run on the types they select", fitDaemon, "if !assumed(r) && !p.daemonWants(r, instanceType) {", "if false && assumed(r) {"),
		off("a daemon's host name is left out", fitDaemon, "case cluster.LabelHostname:\n\t\treturn true", "case cluster.LabelHostname:\n\t\treturn false"),
		off("every node gets registered", fitDaemon, `return r.Set.Allows("true")`, `return false`),

		off("taints keep pods off ordered machines", fitMachine, "if r := untolerated(m.Taints, s.Tolerations); !r.OK() {", "if r := untolerated(m.Taints, s.Tolerations); false {"),
		off("ordered machines must have the labels", fitMachine, "why := anyTerm(alternatives, m.term)", "why := Reason{}"),
		off("all that an ordered machine may become must do", fitMachine, "if o := m.pool.Options[i]; !m.pool.meets(o, r) {", "if o := m.pool.Options[i]; false {"),
		off("one alternative of several holds whatever a machine becomes", fitMachine, "!why.OK() && len(alternatives) > 1 &&", "false &&"),
		off("daemons take room on launched machines by what these are", fitMachine, "if m.Launched {\n\t\tout.expect", "if false {\n\t\tout.expect"),
		off("daemons take room on ordered machines", fitMachine, "daemons = daemons.Max(", "_ = daemons.Max("),
		off("who asks for what is there on request gets it", "core/cluster/cluster.go", "if requests.Get(name) == 0 {", "if true {").by("./core/cluster"),
		off("who does not ask has none of it", "core/cluster/cluster.go", "if requests.Get(name) == 0 {", "if false {").by("./core/cluster"),
		off("a machine of the plan has what its pods ask for", "core/forecast/spot.go", "instanceType.Ordered(l.Requests)", "instanceType.Ordered(instanceType.Allocatable)").by("./core/forecast"),
		off("machines of the plan differ by what their pods ask for", "core/forecast/model.go", "extendedIn(l.Requests), ", `"", `).by("./core/forecast"),
		off("a machine's requirements narrow what it becomes", fitMachine, "out.And(p.Matching(r))", "_ = r"),

		off("a pool's requirements narrow what is launched", fitPool, "from.within(out.rules, p.Floor.Size)", "from.within(p.Floor.Size)"),
		off("a pool's floor leaves small machines out", fitPool, "from.within(out.rules, p.Floor.Size)", "from.within(out.rules)"),
		off("machines leave room to pods", "core/place/buyer.go", "roomy != nil {", "roomy != nil && false {"),
		off("room for pods gives way to limits", "core/place/roomy.go", "if !b.within.Has(i) || ", "if "),
		off("daemon pods count for room for pods", "core/feasibility/daemon.go", "Keeps(&p.instanceTypes[k], free.Memory)", "Keeps(&p.instanceTypes[k], p.instanceTypes[k].Allocatable.Memory)"),
		off("what the hypervisor keeps counts for room for pods", "core/cluster/floor.go", "if sold, err := strconv.ParseInt(text, 10, 64); err == nil {", "if sold, err := strconv.ParseInt(text, 10, 64); err == nil && false {"),
		off("of pools that are not ready pods hear after others", "core/explanation/pool.go", "case wanted && p.Closed():\n\t\treturn closed", "case wanted && p.Closed():\n\t\treturn selected"),
		off("of pools that pods do not select they hear last", "core/explanation/pool.go", "cmp.Or(cmp.Compare(c.rank, other.rank), ", "cmp.Or("),
		off("a floor that is in the way is named", "core/feasibility/why.go", "case p.floored(r):", "case false:"),
		off("a pool's labels narrow what is launched", fitPool, "for _, l := range p.Labels {\n\t\tif p.Defines(l.Key) {", "for _, l := range p.Labels {\n\t\tif false {"),
		off("what must be asked for is not for others", fitPool, "if offering.Asked(p.rules) {", "if true {"),
		off("a pool asks for what must be asked for", fitPool, "if offering.Asked(p.rules) {", `if offering.Unless.Key == "" {`),
		off("a pod asks for what must be asked for", fitPool, "if !rulesOut(s.unless) {", "if true {"),
		off("an order becomes what none asked for", fitMachine, "return labelled && value != l.Value || ", "return labelled || value == \"\" || "),
		off("what is sold out is not launched", fitPool, "if p.Offering(o).Available {", "if p.Offering(o) != nil {"),
		off("reserved capacity comes first", fitPool, "case o.Option == cluster.Reserved:\n\t\treturn 0", "case o.Option == cluster.Reserved:\n\t\treturn 1"),
		off("what has no price comes last", fitPool, "case o.Priced:\n\t\treturn 1", "case true:\n\t\treturn 1"),
		off("the cheapest comes first", fitPool, "cmp.Compare(x.Price, y.Price),", "cmp.Compare(y.Price, x.Price),"),

		off("a pool that is not ready launches nothing", fitTerm, `if p.NotReady != "" || p.Catalogue == nil {`, `if p.Catalogue == nil {`),
		off("taints keep pods off pools", fitTerm, "if r := untolerated(p.Taints, s.Tolerations); !r.OK() {", "if r := untolerated(p.Taints, s.Tolerations); false {"),
		off("types must have the labels", fitTerm, "out.Options.And(p.remembered(r))", "_ = r"),
		off("no machine is launched by its host name", fitTerm, "if r.Key == cluster.LabelHostname {\n\t\treturn newHostname(r)", "if r.Key == cluster.LabelHostname {\n\t\treturn Reason{}"),
		off("a pool's labels must be those asked for", fitTerm, `return wants("pool", r, p.Labels)`, "return Reason{}"),
		off("a pool's open labels must allow what is asked for", fitTerm, "case own.Intersects(r.Set.Possible()):", "case true:"),
		off("a label that none sets is absent", fitTerm, "if r.Set.AllowsAbsent() {\n\t\treturn Reason{}\n\t}\n\ttext", "if true {\n\t\treturn Reason{}\n\t}\n\ttext"),
		off("absence of a label that none sets is met", fitTerm, "if r.Set.AllowsAbsent() {\n\t\treturn Reason{}\n\t}\n\ttext", "if false {\n\t\treturn Reason{}\n\t}\n\ttext"),
		off("a label that a pod asks for is stable", fitTerm, "out.Custom = out.Custom.And(own).And(r)", "out.Custom = out.Custom.And(own)"),
	}
}
