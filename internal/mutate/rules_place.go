package main

const (
	placeGuests     = "core/place/guests.go"
	amounts         = "core/amount/amount.go"
	placeTarget     = "core/place/target.go"
	placeIntake     = "core/place/intake.go"
	doubtFile       = "core/decide/backOff.go"
	clusterEnd      = "core/cluster/end.go"
	placePodClass   = "core/place/podClass.go"
	placePreference = "core/place/preference.go"
	decideWeigh     = "core/decide/weigh.go"
	placeBulk       = "core/place/bulk.go"
	placeGoods      = "core/place/priced.go"
	placeHomes      = "core/place/homes.go"
	placeReplay     = "core/place/replay.go"
	placeLimit      = "core/place/limit.go"
	placePlace      = "core/place/place.go"
	placeRescue     = "core/place/rescue.go"
	placeLean       = "core/place/variant.go"
	decideLean      = "core/decide/lean.go"
	placeFold       = "core/place/fold.go"
)

// placeRules are about choosing among places, and about pools.
func placeRules() []Rule {
	return []Rule{
		off("ports that are taken are taken", placeGuests, "if conflict(k.ports, g.ports) {", "if false {"),
		off("a host has each port once", placeGuests, "n = 1\n", "n = topology.Unlimited\n"),
		off("a shared volume is attached once", placeGuests, `if v.Driver == "" || slices.Contains(there.claims, v.Claim) {`, `if v.Driver == "" {`),
		off("a shared volume is attached", placeGuests, "first[at]++", "_ = at"),
		off("volumes of a pod's own are attached", amounts, "out[at]++", "_ = at"),
		off("machines take so many volumes", amounts, "out[at] = a.Count", "_ = at"),
		off("devices are left to pods that ask for them", placeTarget, "slices.CompareFunc(a.spare, b.spare, lessOf),", "0,"),
		off("volumes of pods that are there are attached", placeTarget, "s.free[at]--", "_ = at"),
		off("initialized nodes are filled first", placeTarget, "cmp.Compare(rank(a.node.Initialized), rank(b.node.Initialized)),", "0,"),
		off("full nodes are filled first", placeTarget, "slices.Compare(a.free, b.free),", "slices.Compare(b.free, a.free),"),
		off("nodes to be avoided are used last", placeTarget, "s.admits(lv.wants).OK() && !(lv.strict && feasibility.Avoided(s.taints, lv.wants.Tolerations))", "s.admits(lv.wants).OK()"),
		off("pods go where their machine was launched", placeTarget, "if r.used(g.podClass) || !lv.admitted(s, len(r.targets)) || r.roomOn(s, g, lv) == 0 {", "if lv != nil {"),

		off("pods of leaving nodes get a place", placeIntake, "if p := &s.Nodes[i].Pods[j]; p.Moves() {", "if p := &s.Nodes[i].Pods[j]; p.Moves() && false {"),
		off("pods that are not coming back get none", "core/cluster/cluster.go", "return p.Returns && (p.Uprooted || !p.Protected())", "return p.Uprooted || !p.Protected()"),
		off("pods that a budget keeps for ever get none", clusterEnd, "return p.DoNotDisrupt || p.Kept", "return p.DoNotDisrupt"),
		off("pods that must not be disturbed get none", clusterEnd, "return p.DoNotDisrupt || p.Kept", "return p.Kept"),
		off("but on a machine that is about to be taken away", "core/cluster/cluster.go", "(p.Uprooted || !p.Protected())", "!p.Protected()"),
		off("pods that must not be disturbed are not evicted when there is room for them", clusterEnd, "return p.works() && !p.DoNotDisrupt && p.Evictable()", "return p.works() && p.Evictable()"),
		off("a family that is likely to be sold out is left", doubtFile, "sure, doubts := s.WithoutDoubt()", "sure, doubts := s, false"),
		off("what is doubtful is launched where nothing else will do", doubtFile, "compareLeft(&all.result, &best.result) < 0", "false"),
		off("what is doubtful counts in what is said of pods that are left", doubtFile, "best.result.Unplaced = all.result.Unplaced", "_ = all"),
		off("high priority comes first", placeIntake, "cmp.Compare(y.Priority, x.Priority),", "0,"),
		off("large pods come first", placeIntake, "cmp.Compare(y.Requests.CPU, x.Requests.CPU),", "0,"),
		off("pods that leave count no more where they were", placeIntake, "!n.Deleting || !p.Moves()", "p != nil"),
		off("pods that run take what they hold", "core/cluster/cluster.go", "if p.Holds != nil {", "if false {").by("./core/disruption"),
		off("those that come in their place take what these ask for", "core/cluster/cluster.go", "p.Node, p.Holds = node, nil", "p.Node = node").by("./core/place"),
		off("a leaving node that a pod keeps is a domain", "core/cluster/cluster.go", "return n.Deleting && !slices.ContainsFunc(", "return n.Deleting || slices.ContainsFunc("),
		off("pods that found no home get a machine by itself", placePlace, "!r.fold() && !r.rescue()", "!r.fold()"),
		off("machines that others have room for are given up", placePlace, "!r.withdraw() && !r.fold()", "!r.withdraw()"),
		off("no machine is given up that a spread was launched for", placeFold, "return to[own.Key] < 0 || to[own.Key] != from[own.Key]", "return false"),
		off("machines are given up without two pods on a host for that", placeFold, "return counts.CountOf(own, to[own.Key])+more > counts.MostOnHost(own)", "return false"),
		off("preferences that are met stay so when machines are given up", placeFold, "return r.roomOn(s, x.group, x.level) > 0 && r.staysSpread(x.level, from, s, before.board, 1)", "return r.roomOn(s, x.group, x.group.podClass.required()) > 0 && r.staysSpread(x.group.podClass.required(), from, s, before.board, 1)"),
		off("machines to which other daemon pods come are tried by themselves", placeRescue, "if b.BringsAs(shape, i) {", "if b.BringsAs(shape, i) && false {"),
		off("a volume is made where its domain is known, if it can be", placeHomes, "cmp.Compare(rank(!s.astray), rank(!other.astray)),", "0,"),
		off("pods that run count for spreads and affinity", placeIntake, "r.board.Put(running[p.Shape], nodes[i], 1, p.Ending)", "_ = running[p.Shape]"),

		off("preferred neighbours are kept near", placePreference, "out = append(out, neighbourPreferences(s, false)...)", ""),
		off("preferred distances are kept", placePreference, "out = append(out, neighbourPreferences(s, true)...)", ""),
		off("preferred nodes are chosen", placePreference, "out = append(out, nodePreferences(s)...)", ""),
		off("soft spreads are kept", placePreference, "out = append(out, Preference{Part: 1, spread: &s.Spread[i]})", "_ = i"),
		off("places to be avoided come last", placePreference, "out = append(out, Preference{avoid: true})", ""),
		off("preferences are ignored where that is asked for", placePreference, "if r.options.Preferences != nil {", "if false {"),
		off("the heaviest preference is met", placePreference, "return int(b.Weight) - int(a.Weight) })\n\tvar out []Preference", "return int(a.Weight) - int(b.Weight) })\n\tvar out []Preference"),
		off("preferences are respected where that is asked for", "core/decide/preferences.go", "if p.Preferences != Weigh {", "if p.Preferences == Ignore {"),
		off("preferences that cost more than they are worth are dropped", "core/decide/preferences.go", "best := w.best()", "best := (*trial)(nil)"),
		off("preferences are worth something", decideWeigh, "parts += x.Part", "_ = x"),
		off("lighter preferences are worth less than the heaviest", decideWeigh, "parts += x.Part", "parts += max(1, x.Part)"),
		off("a weight alone says nothing", placePreference, "/ float64(heaviest)", "/ 100"),
		off("preferences about hosts are dropped without the others", decideWeigh, "w.try(place.NotOfHosts)", "_ = w"),
		off("preferences of one workload are dropped without those of others", decideWeigh, "w.tryAll(w.each())", "_ = w"),
		off("room that is there counts at its price", "core/decide/split.go", "float64(room.price * min(", "float64(0 * min("),
		off("preferences give way", placePodClass, "out := make([]*level, len(preferences)+1)", "out := make([]*level, max(1, len(preferences)))"),
		off("hard spreads hold", placePodClass, "if !s.Spread[i].Soft {\n\t\t\trules.Spread", "if false {\n\t\t\trules.Spread"),
		off("required neighbours hold", placePodClass, "if s.Neighbours[i].Weight == 0 {\n\t\t\trules.Neighbours", "if false {\n\t\t\trules.Neighbours"),

		off("pods that nothing can be done for are left alone", placeHomes, `&& g.shape.Unable == "" {`, "{").
			and(fitNode, "if r := unable(s.Unable); !r.OK() {", "if r := unable(s.Unable); false {").
			and(fitMachine, "if r := unable(s.Unable); !r.OK() {", "if r := unable(s.Unable); false {").
			and(fitTerm, "if r := unable(s.Unable); !r.OK() {", "if r := unable(s.Unable); false {"),
		off("the emptiest domain comes first", placeHomes, "best == nil || c < least || c == least && s.before(best)", "best == nil || s.before(best) && least >= 0"),
		off("pods go to what is there first", placeHomes, "cmp.Compare(rank(len(s.targets) > 0), rank(len(other.targets) > 0)),", "0,"),
		off("who sits on a node is chosen by cost", placeLean, "r.out.Choices[x.group.at].Placed++", "_ = x"),
		off("where the odd pod of a spread goes is chosen by cost", placeLean, "r.out.Choices[g.at].Turns = len(sites)", "_ = s"),
		off("important pods keep their targets", placeLean, "|| g.shape.Priority > least {", "{\n\t\t\t_ = least"),
		off("pods whose preferences are met keep their targets", placeLean, "if len(g.podClass.levels) > 1 || g.shape", "if g.shape"),
		off("a spread leans to no lighter pool", placeLean, "func(s *site) bool { return s.tier > sites[at].tier }", "func(s *site) bool { return false }"),
		off("of other targets and spreads the cheapest is taken", decideLean, "a.Cost < float64(b.Cost*(1-leanOutdoes))", "a.Cost > b.Cost"),
		off("pods that a plan places on a node count", placeTarget, "r.board.Put(lv.rules, s.place, n, false)", "_ = s"),
		off("pods that a plan launches for count", placeHomes, "r.board.PutAhead(lv.rules, s.spot, n)", "_ = n"),
		off("zones that can be launched in are domains", placeHomes, "r.board.Open(lv.rules, m.spot)", "_ = m"),
		off("a machine is launched where its pods may be", "core/place/offeringSet.go", "bound.NodeTerms = feasibility.Cross(lv.wants.NodeTerms, []constraint.Requirements{pins})", "_ = []constraint.Requirements{pins}"),
		off("every label that pods are spread over reports spots apart", "core/place/offeringSet.go", "range keys {\n\t\ttext = binary", "range keys[max(0, len(keys)-4):] {\n\t\ttext = binary"),
		off("pools to be avoided come last", "core/place/offeringSet.go", "if lv.strict && feasibility.Avoided(b.Taints, lv.wants.Tolerations) {", "if false {"),

		off("pods that were too early come late", placeReplay, "for again := len(lost) > 0; again; {", "for again := false; again; {"),
		off("a machine without pods counts no more", placeReplay, "if l.gone {\n\t\t\tcontinue", "if false {\n\t\t\tcontinue"),
		off("machines that pods are counted on bring known daemons", "core/place/launch.go", "if len(b.run.daemons) > 0 {", "if false {"),
		off("a claim for one pod is used by one", placeReplay, "return v.Exclusive && r.held[v.Claim] })", "return false })"),
		off("a claim for one pod that is planned for is used", placeReplay, "if v.Exclusive {\n\t\t\tr.held[v.Claim] = true", "if false {\n\t\t\tr.held[v.Claim] = true"),
		off("a claim for one pod is free when its pod loses its place", placeReplay, "r.release(x.group.podClass)", "_ = x"),
		off("a claim for one pod that runs is used", placePlace, `if v.Exclusive && v.Claim != "" &&`, `if false && v.Exclusive && v.Claim != "" &&`),
		off("a claim for one pod moves with it", placePlace, "&& !(n.Deleting && n.Pods[j].Moves()) {", "{"),

		off("a heavier pool comes first", "core/place/buy.go", "b.Weight > home)", "b.Weight < home)"),
		off("the cheapest of equal pools is used", "core/place/buy.go", "o >= 0 && least.beatenBy(b, o) {", "o >= 0 && (pool == nil || least.cost < 0) {"),
		off("of equal pools the one that may buy more is used", "core/place/buy.go", "b.more(option) > x.more", "false"),
		off("what a limit leaves is for all machines that were chosen together", "core/place/packing.go", "filled.modest = b.Options[filled.option].InstanceType + 1", "filled.modest = 0").by("./core/place"),
		off("machines that take less of limits are sought where pods are left", "core/decide/withLessOfLimits.go", "if !best.result.Short ||", "if best.result.Short ||"),
		off("a machine launched to spare limits becomes no other that takes more", "core/place/pick.go", "best.modest = b.Options[best.option].InstanceType + 1", "best.modest = 0"),
		off("machines that spare limits are billed at their price", "core/place/credit.go", "return b.price[option] - b.surplus", "return b.cost[option] - b.surplus").by("./core/place"),
		off("a limit on nodes holds", placeLimit, "if l.nodes != nil && *l.nodes < 1 {", "if false {"),
		off("a limit on amounts holds", placeLimit, "return capacity.Get(e.Name) > e.Amount })", "return e.Amount < -1 })"),
		off("machines of one plan share a limit on nodes", placeLimit, "*l.nodes--", "_ = l"),
		off("machines of one plan share a limit on amounts", placeLimit, "l.left[i].Amount -= capacity.Get(l.left[i].Name)", "_ = i"),
		off("what a pool has counts against its limit", placeLimit, "Amount: quantity.Difference(l.Amount, p.Usage.Get(l.Name))}", "Amount: quantity.Difference(l.Amount, 0)}"),
		off("nodes that a pool has count against its limit", placeLimit, "n := *p.Limits.Nodes - p.Nodes", "n := *p.Limits.Nodes"),
		off("a limit narrows what is left open", "core/place/launch.go", "options = modest\n", "_ = modest\n"),
		off("labels of a pool's own are decided", "core/place/launch.go", "labels = labels.With(r.Key, value)", "_ = value"),
		off("minValues are kept", "core/place/minvalues.go", "have < q.MinValues {", "have < q.MinValues && false {"),
		off("minValues tears no pods apart that a machine is launched for", "core/place/minvalues.go", "if !e.whole {", "if true {").
			and("core/place/minvalues.go", "e.g == nil || e.g.component != nil && !e.whole", "e.g == nil || e.g.component != nil"),
		off("minValues tears no pods apart that ride along", "core/place/minvalues.go", "if torn || r.groups[p.group].component == nil {", "if torn || r.groups[p.group] != nil {"),
		off("minValues are kept when pods ride along", "core/place/packing.go", "out, why := r.keepMinValues(b, full, errand{g: r.groups[own.parts[0].group]})", "out, why := full, feasibility.Reason{}").
			and("core/place/packing.go", "	\"github.com/daemok/daemok/core/cluster\"\n", "	\"github.com/daemok/daemok/core/cluster\"\n	\"github.com/daemok/daemok/core/fit\"\n"),
		off("a reservation is had as often as it says", "core/place/reservedCapacity.go", "r.reservedCapacities[s.Name]--\n\t\tif", "if"),
		off("a machine draws on all reservedCapacities of its offering", "core/place/reservedCapacity.go", "\t\t\tout = min(out, left)", "\t\t\treturn left"),
		off("machines on order count for their reservation", "core/place/reservedCapacity.go", "\t\t\tr.reservedCapacities[name]--", "\t\t\t_ = name"),
		off("a machine on order counts where it can come from nothing else", "core/cluster/reservedCapacity.go", "return !slices.Contains(o.reservedCapacityNames(), name)", "return false && !slices.Contains(o.reservedCapacityNames(), name)"),
		off("machines from a reservation are repeated as often as it says", "core/place/buy.go", "range r.mayStill(b, as.option, n) {", "range n {"),
		off("pods are reported that a reservation is used up", "core/place/bounds.go", "if r.reservedCapacities == nil {", "if true {"),
		off("half of a workload is on one spot pool", "core/place/diversify.go", "if there := c.at[w][in]; there > 0 && shareOf", "if there := c.at[w][in]; w.owner == \"\" && shareOf"),
		off("a workload stays where others are expensive", "core/place/diversify.go", "float64(o.Ranked()) <= float64(moreExpensiveOnce*float64(best.Ranked()))", "best.Priced"),
		off("what is left looks at machines that became other instanceTypes", "core/place/diversify.go", "return any && r.stillWaiting() > 0", "return any && r.stillWaiting() < 0").by("./core/place"),
		off("spot offerings are ranked by how likely they are to be interrupted", "core/cluster/risk.go", "if o.Option != Spot || o.Risk <= 0 {", "if true {"),
		off("on-demand comes after every spot offering that is cheaper", fitPool, "out[o] = max(out[o], most)", "_ = most"),
		off("spot is not launched moreExpensive than on demand for being safer", "core/place/risk.go", "if !b.risky || first < 0 || !b.isSpot(first) {", "if true {"),
		off("the risk has a say in what machines are chosen", "core/place/risk.go", "if !b.risky || b.run.options.LeastInterrupted {", "if true {").by("./core/decide"),
		off("the risk moves no plan to on-demand", "core/decide/risk.go", "if !best.result.Risky || ", "if true || ").by("./core/decide"),
		off("what a plan costs beside a node is reported by prices alone", "core/place/evaluator.go", "out.Cost-out.Risk > float64(q.Below)", "out.Cost > float64(q.Below)").by("./core/place"),
		off("runners-up say that they are likelier to be interrupted", "core/place/choices.go", "o.Ranked()-o.Price > best.Ranked()-best.Price", "false"),
		off("pods that run on spot count for their workload", "core/place/diversify.go", "return way == string(cluster.Spot)", "return false && way == \"\""),
		off("spot machines hold less to be of many instanceTypes", "core/place/flexible.go", "if amount.Fits(room, out.sum) {", "if room != nil {"),
		off("spot machines are chosen by what enough instanceTypes have room for", "core/place/rooms.go", "if first < 0 || b.leavesOpen(options, first, sum) {", "if true {"),
		off("instanceTypes without room for the load leave nothing open", "core/place/rooms.go", "if amount.Fits(b.free[k], sum) {", "if amount.Fits(b.free[k], sum[:0]) {"),
		off("spot machines with less on them cost no more than the margin", "core/place/flexible.go", "if r.muchMoreExpensive(b, &out, &l) {", "if false {").by("./core/decide"),
		off("small spot machines of few instanceTypes are launched where they save much", "core/place/supply.go", "return s.small", "return s.steady").by("./core/place"),
		off("spot machines are full where too few instanceTypes would do", "core/place/flexible.go", "if len(instanceTypes) < flexible {", "if len(instanceTypes) < 2 {"),
		off("minValues give way where that is asked for", "core/place/minvalues.go", "if r.options.MinValues == BestEffort {", "if false {"),
		off("minValues hold where nothing else is asked for", "core/place/minvalues.go", "if r.options.MinValues == BestEffort {", "if true {"),
		off("low priority does not take what a limit leaves", "core/place/pick.go", "b.limits != nil && g.shape.Priority < seed.shape.Priority", "false"),
		off("a expensive machine is not made larger for others", "core/place/pick.go", "return b.yield[option] >= wasteful*g.best", "return true"),
		off("nodes that a plan fills are not removed by it", "core/decide/decide.go", "nodes[p.Target] = true", "_ = p"),
		off("machines chosen together do not displace pods of high priority", "core/decide/decide.go", "slices.Backward(slices.Sorted(maps.Keys(more)))", "slices.All(slices.Sorted(maps.Keys(more)))"),
	}
}
