package main

const (
	topologyRoom    = "core/topology/room.go"
	topologyRules   = "core/topology/rules.go"
	topologyFilter  = "core/topology/filter.go"
	topologyChosen  = "core/topology/chosen.go"
	topologyTally   = "core/topology/tally.go"
	topologyEven    = "core/topology/even.go"
	placeOpening    = "core/place/opening.go"
	placeFill       = "core/place/fill.go"
	placeColocation = "core/place/colocation.go"
	placeCalm       = "core/place/buyer.go"
	placeCredit     = "core/place/credit.go"
)

// aboutOtherPods lists what depends on other pods: spreads, affinity and anti-affinity.
func aboutOtherPods() []Rule {
	return []Rule{
		off("a spread keeps its skew", topologyRoom, "return max(0, least+s.maxSkew-has)", "return Unlimited"),
		off("a spread that does not count its own pods keeps its skew", topologyRoom, "if has-least > s.maxSkew {", "if false {"),
		off("nodes open one by one where a spread has them in one domain", placeOpening, "if len(theirs) < 2 {", "if false {"),
		off("nodes open one by one where each domain has a node", placeOpening, "return all > len(g.offered) &&", "return"),
		off("nodes open one by one where pods ask for as many domains", placeOpening, " && int(g.spread.MinDomains) < all", ""),
		off("nodes open one by one where other domains bound how many pods come", placeOpening, " && r.mayCrowd(g)", ""),
		off("many hosts open one by one", placeOpening, "cluster.LabelHostname && len(g.entrants) > hostsMax", "cluster.LabelHostname && len(g.entrants) > 1<<20"),
		off("only nodes that a spread looks at make their domain known", placeOpening, "s.ordered == nil && r.board.Looks(g.spread, s.place)", "s.ordered == nil"),
		off("machines of earlier plans open with others", placeOpening, "joining[m.target] = with(joining[m.target], join)", "_ = with"),
		off("a spread needs its key", topologyRoom, "case d == None || d == Unknown || !b.daring:\n\t\treturn 0", "case d == None:\n\t\treturn Unlimited\n\tcase d == Unknown || !b.daring:\n\t\treturn 0"),
		off("pods keep away from those they do not want", topologyRoom, "if b.mostAt(&b.tallies[a.tally], d) > 0 {", "if false {"),
		off("pods keep away from their own instanceType", topologyRoom, "if a.self {\n\t\t\troom = 1", "if false {\n\t\t\troom = 1"),
		off("pods are kept away by those that are there", topologyRoom, "b.mostAt(&b.tallies[t], d) > 0 {", "b.mostAt(&b.tallies[t], d) > 1<<30 {"),
		off("pods go where those are that they want near", topologyRoom, "if !b.nearEnough(r, at) {", "if false {"),
		off("pods near others need the key", topologyRoom, "case d == None || d == Unknown || !b.daring:\n\t\t\treturn false", "case d == None:\n\t\t\tcontinue\n\t\tcase d == Unknown || !b.daring:\n\t\t\treturn false"),
		off("pods on one machine are near each other wherever it turns up", topologyRoom, "t.with[d] > 0 || ", ""),
		off("a machine that is stable brings what it brings", topologyRoom, "return at.own(len(b.keys)) == None", "return len(at) > 0"),
		off("a volume may be made where there is no zone", topologyRoom, "case d == None && n.volume:", "case false && n.volume:"),
		off("pods may follow a volume to where there is no zone", topologyRoom, "t.gather(p.spot.own(len(b.keys)), n)", ""),
		off("a volume that is made where there is no zone is made once", topologyRoom, "case t.volume && p.spot[t.key] == None:", "case t.volume && false:"),
		off("the first of a instanceType that wants its own instanceType may be anywhere", topologyRoom, "return there || !anywhere && n.selfish\n}", "return there\n}"),
		off("no more than the first of a instanceType may be anywhere", topologyRoom, "anywhere = anywhere || t.total > 0", "_ = t.total"),
		off("pods that end are not counted by spreads", topologyRoom, "case ending || !b.filters[t.filter].at[place]:", "case !b.filters[t.filter].at[place]:"),
		off("pods on nodes that a spread does not see are not counted", topologyRoom, "case ending || !b.filters[t.filter].at[place]:", "case ending:"),
		off("a machine that is not decided yet turns up nowhere but where it may", topologyTally, "if len(reach) == 0 {", "if true {"),
		off("a machine that is not decided yet takes pods that may be wherever it turns up", topologyRoom, "room = min(room, s.roomIn(t, d))", "room = s.roomIn(t, d) * 0"),
		off("a machine that is not decided yet may turn up in any domain", topologyTally, "out += t.may[domain]", "_ = t.may[domain]"),
		off("daemon pods of a new machine are beside other pods", placeFill, "there.host.Put(rules, 1)", "_ = rules"),
		off("new machines bring daemon pods to be near to", topologyRoom, "t.brought && b.isNew(at)", "false"),
		off("a domain is chosen by what all machines cost there", placeHomes, "r.priceSites(g, lv, sites, last && r.round == 1)", ""),
		off("followers have a say in what a domain costs", placeBulk, "following = append(following, r.several(o, f.podClass.required(), n))", "_ = n"),
		off("a domain with too little left of a limit is a expensive one", placeGoods, "if float64(it.buyer.more(it.option)) <", "if 0*float64(it.buyer.more(it.option)) >"),
		off("a domain is chosen by the machine that is cheapest for all", placeGoods, "costs[i], order[i] = seeming(&from[i], pods), i", "order[i] = i"),
		off("machines for followers alone count for a domain", placeGoods, "out = append(out, it)\n\t}\n\tif !some", "if amount.Fits(it.free, g.need) {\n\t\t\tout = append(out, it)\n\t\t}\n\t}\n\tif !some"),
		off("a domain is chosen where followers can be had", placeHomes, "cmp.Compare(s.strays, other.strays),", ""),
		off("bare metal is a last resort", placeCalm, "!bursts(instanceType) && !instanceType.LastResort", "!bursts(instanceType)"),
		off("burstable machines are filled with what they can do for ever", placeCalm, "b.free[k][amount.CPU] -= int64", "_ = int64"),
		off("a pool of nothing but burstable machines fills them by credits", placeCalm, "!others && b.creditOf(k) != nil", "!others && b.creditOf(k) == nil"),
		off("surplus credits are billed by use", placeCredit, "- b.surplus(instanceType, b.free[instanceType]) + b.surplus(instanceType, sum)", "- b.surplus(instanceType, sum) + b.surplus(instanceType, sum)"),
		off("burstable machines take a little more where that is cheapest", placeCredit, "b.byCredit(l, open)", "_ = open"),
		off("a burstable machine is not left open where another is cheaper", placeCredit, "b.inOrder(open, l.sum)", "_ = open"),
		off("what each machine costs counts when machines compare", "core/place/worth.go", "out[i] += float64(b.PerMachine())", "_ = i"),
		off("a plan reports what each machine costs beside its type", "core/place/launch.go", "Beside: b.PerMachine(), ", ""),
		off("volumes count", "core/cluster/price.go", "return p.MachineCost + p.Catalogue.Disk", "return p.MachineCost"),
		off("what is declared for machines counts", "core/cluster/price.go", "return p.MachineCost + p.Catalogue.Disk", "return p.Catalogue.Disk"),
		off("nodes cost what each machine does", "core/cluster/price.go", "return n.Price + p.PerMachine()", "return n.Price + 0*p.PerMachine()"),
		off("what must share a host is launched for together", placeColocation, "	c.follow()\n", ""),
		off("followers are shared out among those that they may be beside", placeColocation, "c.left[g.at]/c.over(g)-c.had(g)", "c.left[g.at]"),
		off("pods that others need beside them are kept for these", placeFill, "n -= max(0, wants[t]-f.met[t])", "_ = wants[t]"),
		off("crews ride along", placeFill, "if c == nil || f.refused[c] ||", "if c != nil || f.refused[c] ||"),
		off("a colocation goes to the pool that has room for it", "core/place/buy.go", "amount.Fits(b.free[b.Options[i].InstanceType], c.sum)", "amount.Fits(b.free[b.Options[i].InstanceType], c.sum[:0])"),
		off("those who are left of a colocation hear why", "core/explanation/explain.go", "if torn, ok := u.Search.Torn(); ok {", "if torn, ok := u.Search.Torn(); ok && false {"),
		off("a chain of zones is followed to its end", "core/place/follow.go", "visit(out[i].podClass.required(), out[i].keys)", "_ = i"),
		off("a volume that pods share is judged by itself", topologyRules, "!n.Apart && n.Volume == volume {\n\t\t\twho", "!n.Apart && !volume {\n\t\t\twho"),

		off("a spread over hosts holds on a new machine", topologyRoom, "room = min(room, most-has)", "_ = has"),
		off("new hosts get as many pods as those that are there", topologyEven, "most := t.ground(s.minDomains) + s.maxSkew", "most := s.maxSkew"),
		off("where there is no host new ones are compared with empty ones", topologyEven, "if t.domains == 0 {", "if false {"),
		off("new hosts get about as many pods as each other", topologyEven, "if t.expected == 0 {", "if true {"),
		off("hosts are not filled evenly where that is moreExpensive", "core/decide/decide.go", "cmp.Compare(other.cost(), c.cost())) < 0", "0) <= 0"),
		off("a spread over hosts by others holds on a new machine", topologyRoom, "} else if has > most {", "} else if false {").
			and(placeReplay, "if board.Room(rules, board.Spot(place)) <= 0 {", "if false {"),
		off("pods apart by host are so on a new machine", topologyRoom, "if h.counts[a.tally] > 0 {", "if false {").
			and(placeReplay, "if board.Room(rules, board.Spot(place)) <= 0 {", "if false {"),
		off("pods of one instanceType are apart on a new machine", topologyRoom, "room = min(room, 1)", "_ = a").
			and(placeReplay, "if board.Room(rules, board.Spot(place)) <= 0 {", "if false {"),
		off("pods keep others off a new machine", topologyRoom, "if b.tallies[t].key == host && h.counts[t] > 0 {", "if b.tallies[t].key < 0 {").
			and(placeReplay, "if board.Room(rules, board.Spot(place)) <= 0 {", "if false {"),
		off("pods are near others on a new machine", topologyRoom, "if !h.nearEnough(r, host) {", "if false {"),

		off("too few domains hold pods back", "core/topology/tally.go", "if t.domains < int(minDomains) {", "if false {"),
		off("only what is required keeps others away", topologyRules, "n.Apart && n.Weight == 0 {", "n.Apart {"),
		off("pods that must be apart keep others away", topologyRules, "r.owns = append(r.owns, b.owner(n))", "_ = n"),

		off("node terms decide what is a domain", topologyFilter, "f.terms = s.NodeTerms", "_ = s.NodeTerms"),
		off("node terms are ignored where that is asked for", topologyFilter, "if !spread.IgnoreNodeTerms {", "if true {"),
		off("taints decide what is a domain where that is asked for", topologyFilter, "honour: spread.HonourTaints}", "honour: false}"),
		off("taints do not decide what is a domain by default", topologyFilter, "honour: spread.HonourTaints}", "honour: true}"),
		off("nodes without the key are no domains", topologyFilter, "if !slices.Contains(p.Open, b.keys[k]) {\n\t\t\treturn no", "if !slices.Contains(p.Open, b.keys[k]) {\n\t\t\tcontinue"),

		off("other namespaces are not looked at", topologyChosen, "return (c.everywhere || slices.Contains(c.namespaces, k.namespace)) &&", "return"),
		off("all namespaces are looked at where that is asked for", topologyChosen, "(c.everywhere || slices", "(slices"),
		off("a selector chooses by labels", topologyChosen, "&& c.selector.Matches(k.labels)", ""),
		off("no selector chooses none", "core/cluster/shape.go", "if s.Nothing {\n\t\treturn false", "if s.Nothing {\n\t\treturn true").
			and(topologyChosen, "if c.selector.Nothing {\n\t\treturn true", "if c.selector.Nothing {\n\t\treturn false"),
		off("ports of one protocol clash", "core/cluster/shape.go", "return p.Protocol == q.Protocol && p.Number == q.Number &&", "return p.Number == q.Number &&"),
		off("ports of one number clash", "core/cluster/shape.go", "return p.Protocol == q.Protocol && p.Number == q.Number &&", "return p.Protocol == q.Protocol &&"),
		off("all addresses clash with each", "core/cluster/shape.go", `(p.Address == "" || q.Address == "" || p.Address == q.Address)`, "(p.Address == q.Address)"),
		off("other addresses do not clash", "core/cluster/shape.go", `(p.Address == "" || q.Address == "" || p.Address == q.Address)`, "true"),
	}
}
