package main

const (
	placeEvaluator = "core/place/evaluator.go"
	placeQuestion  = "core/place/question.go"
	placeMove      = "core/place/move.go"
	placeWholesale = "core/place/wholesale.go"
	placeRehome    = "core/place/rehome.go"
	topologyView   = "core/topology/view.go"
)

// groundRules are about questions of which nodes may go: answers are those of
// Place.
func groundRules() []Rule {
	list := []Rule{
		off("preferences that a question leaves out are not held", placeEvaluator, "which = preferences(g.shape)", "_ = preferences"),
		off("a question puts back what it takes", placeEvaluator, "r.question.kept.giveBack()", "_ = r"),
		off("a question gives back what it takes of limits", placeEvaluator, "b.limits = before.limits.clone()", "b.limits = before.limits"),
		off("pods of a question stay off nodes that leave", placeEvaluator, "\t\td.targets[at].closed = true", "\t\t_ = at"),
		off("pods of a question stay off nodes that are not open", placeEvaluator, "at.closed = at.shutForGood || !open.Has(node)", "at.closed = at.shutForGood"),
		off("pods of a question stay off nodes that start", placeEvaluator, "if known && n.Initialized && n.Ready {", "if known {"),
		off("pods that leave a node do not count there", placeEvaluator, "view.Leave(r.here[p.Shape], d.places[at], p.Ending)", "_ = at"),
		off("daemon pods that are to come to a node that leaves do not count", placeEvaluator, "view.Leave(rules, d.places[at], false)", "_ = rules"),
		off("a node that leaves makes no domain", placeEvaluator, "view.Vacate(d.places[at], stay)", "_ = stay"),
		off("a node that keeps pods makes a domain", placeEvaluator, "if gone.Goes() {", "if gone.Deleting {"),
		off("pods that stay on a node that leaves do not count for spreads", topologyView, "if slices.Contains(f.tallies, t) {", "if false {"),
		off("a domain is one as long as a node in it stays", topologyView, "if v.closed[at]++; v.closed[at] < v.of.openers(at) {", "if v.closed[at]++; false {"),
		off("volumes of pods that leave are free", placeEvaluator, "d.hold(p.Shape, -1)", "_ = p"),
		off("volumes for one pod are for one pod in a question", placeEvaluator, "if v.Exclusive && d.held[v.Claim] > 0 {", "if false {"),
		off("no node goes whose pods would be launched for at once", placeQuestion, "r.question.launches = true", "_ = g"),
		off("pods that may find a place later do not make an answer expensive", placeWholesale, "if !r.mustLaunch(g) {", "if false {"),
		off("a node is not hopeless if its pods may be on another", placeWholesale, "|| h.targets[1] != nil {", "|| false {"),
		off("pods that are expected on machines count in a question", placeMove, "d.board.Put(k.rules[k.required()], place, 1, false)", "_, _ = k, place"),
		off("machines of the plan count for limits in a question", "core/place/ground.go", "p.Usage, p.Nodes = p.Usage.Add(m.Capacity), p.Nodes+1", "_ = p"),
		off("machines of the plan are taken from reservedCapacities in a question", placeEvaluator, "\t\t\tr.takeReservedCapacities(o.ReservedCapacities)", "\t\t\t_ = o"),
		off("nodes that went are gone for later questions", placeMove, "target.closed, target.shutForGood = true, true", "_ = target"),
		off("pods of nodes that went count there no more", placeMove, "d.board.Put(r.here[p.Shape], d.places[at], -1, p.Ending)", "_ = p"),
		off("nodes that went make no domain for later questions", placeMove, "d.board.Vacate(d.places[at], stay)", "_ = stay"),
		off("machines of answers count for limits of later questions", placeMove, "b.limits.use(m.Capacity)", "_ = m"),
		off("pods of answers take room from later questions", placeMove, "take(target.free, k.need, 1)", "_ = target"),
		off("daemon pods of machines of answers count for later questions", placeMove, "r.dueAt(ordered.Brings).put(d.board, place)", "_ = place"),
		off("the last look launches nothing", placeRehome, "now.Waiting, now.Machines, now.PDBs, now.Pools = nil, nil, nil, nil", "now.Waiting, now.Machines, now.PDBs, now.Pools = nil, nil, nil, s.Pools"),
		off("the last look counts on no machine to come", placeRehome, "now.Waiting, now.Machines, now.PDBs, now.Pools = nil, nil,", "now.Waiting, now.Machines, now.PDBs, now.Pools = nil, s.Machines,"),
		off("the last look takes pods from wherever they are shown", placeRehome, "if !r.Pods[n.Pods[i].UID] {", "if !r.Pods[n.Pods[i].UID] || !r.Nodes[n.Name] {"),
		off("nodes that are closed count in the last look", placeRehome, "&& !isClosed(&n) {", "{"),
		off("nodes that go do not", placeRehome, "n.Deleting && n.Goes() && !isClosed(&n)", "false"),
		off("nor those whose machine ends", placeRehome, "|| n.MachineEnds ||", "||"),
		off("nodes that are not ready take nothing in the last look", placeRehome, "if n.Deleting || !n.Ready || !n.Initialized {", "if n.Deleting {"),
		off("the last look knows what the plan had in mind", placeRehome, "yes := sitsOn(now, p, r.Targets[p.UID])", "yes := false"),
	}
	for i := range list {
		list[i] = list[i].by("./core/place")
	}
	return list
}
