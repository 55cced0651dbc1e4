package main

const (
	retireFile      = "core/retire/retire.go"
	candidateFile   = "core/retire/candidate.go"
	driftFile       = "core/retire/drift.go"
	expireFile      = "core/retire/expire.go"
	consolidateFile = "core/retire/consolidate.go"
	guardsFile      = "core/retire/guards.go"
	recentFile      = "core/retire/recent.go"
	paybackFile     = "core/retire/payback.go"
	thriftFile      = "core/retire/thrift.go"
	patienceFile    = "core/decide/patience.go"
	withdrawFile    = "core/retire/withdraw.go"
	standbyFile     = "core/retire/standby.go"
)

// retireRules are about nodes that leave.
func retireRules() []Rule {
	return []Rule{
		off("nodes that are going are not removed again", candidateFile, `if n.Claim == "" || n.Deleting ||`, `if n.Claim == "" ||`),
		off("starting nodes stay", candidateFile, "|| !n.Initialized ||", "||"),
		off("nodes that must not be disturbed stay", candidateFile, "case c.DoNotDisrupt:", "case false:"),
		off("nodes that were kept a moment ago stay", candidateFile, `case c.Rests != "":`, "case false:"),
		off("nodes that were kept rest though they are too old", expireFile, `if c.Rests != "" {`, "if false {"),
		off("a controller waits for a standby", standbyFile, "case nodes[at].Controller == cluster.OneSeat:", "case false:"),
		off("the only controller does not wait where its node goes in any event", standbyFile, "case inAnyEvent:", "case false:"),
		off("the only controller is not moved to save money", standbyFile, "case inAnyEvent:", "case true:"),
		off("a standby whose node goes is none", standbyFile, "goes := n.Deleting ||", "goes :="),
		off("a standby whose node goes with an earlier move is none", standbyFile, "x.gone[i] ||", ""),
		off("a standby whose node goes with the same move is none", standbyFile, "slices.ContainsFunc(nodes, func(c *candidate) bool { return c.at == i })", "false"),
		off("a group is spared of a controller", consolidateFile, "if nodes = x.sparing(nodes); len(nodes) == 0 {", "if false {"),
		off("an old node waits for a standby", expireFile, `if why := x.leaderless([]*candidate{c}, true); why != "" && !past {`, "if why := \"\"; why != \"\" {"),
		off("and goes at its age", expireFile, `why != "" && !past {`, `why != "" {`),
		off("a drifted node waits for a standby", driftFile, "x.leaderless([]*candidate{c}, true), ", ""),
		off("a node that is too dear waits for a standby", consolidateFile, "x.leaderless([]*candidate{c}, false), ", ""),
		off("nodes that pods are bound for stay", candidateFile, "case len(c.BoughtFor) > 0:", "case len(c.BoughtFor) > 1000:"),
		off("a freeze keeps nodes", candidateFile, `case s.Freeze != "":`, "case false:"),
		off("a term for pods lets drift go on", candidateFile, "case inAnyEvent && c.HasGrace:", "case false:"),
		off("without a term it does not", candidateFile, "case inAnyEvent && c.HasGrace:", "case inAnyEvent:"),
		off("a pod that must not be disturbed holds its node", guardsFile, "if p.DoNotDisrupt {", "if false {"),
		off("a budget of pods holds a node", guardsFile, "guard.Allowed > 0 ||", "true ||"),
		off("pods that are not ready may go", guardsFile, "guard.UnreadyToo && p.Unready", "false"),
		off("several budgets hold a pod", guardsFile, `if strings.Contains(p.Guards, ",") {`, `if strings.Contains(p.Guards, ";") {`),
		off("nodes with pods stay", retireFile, "if !IsEmpty(c.Node) {", "if false {"),
		off("pools that keep empty nodes do", retireFile, "if policy.Never ||", "if"),
		off("empty nodes wait for their time", retireFile, "!ok || due.After(x.snapshot.Now) ||", "!ok || due.IsZero() ||"),
		off("nodes that waiting pods need stay", retireFile, "|| x.needed(c.Name)\n", "\n"),
		off("nodes that take pods do not go", retireFile, "x.takes[p.Target] = true", "_ = p"),
		off("the budget holds", "core/retire/budget.go", "if share.Used+asked[c.Pool] > allowed.Most {", "if false {"),
		off("a move uses the budget up", "core/retire/budget.go", "share.Used++", "_ = share"),
		off("a breaker stops nodes", "core/retire/budget.go", "b.Gone+asked <= b.Most {", "b.Gone >= 0 {"),
		off("a breaker counts what goes", "core/retire/budget.go", "b.breakers[i].Gone +=", "_ ="),
		off("a breaker counts its own pools alone", "core/cluster/policy.go", "return slices.Contains(b.Pools, pool)", "return len(b.Pools) > 0 || slices.Contains(b.Pools, pool)").by("./core/retire"),
		off("a breaker does not stop nodes that are too old", "core/retire/budget.go", "if reason == plan.Expired {", "if reason == plan.Expired && len(b.breakers) == 0 {"),
		off("a pool may ask for no payback", thriftFile, "p.Off = said.Off", "_ = said"),
		off("a pool says what moving a pod costs", thriftFile, "p.PodDollars = cmp.Or(said.PodDollars, p.PodDollars)", "_ = said"),
		off("a pool says which share must be saved", thriftFile, "p.LeastShare = cmp.Or(said.LeastShare, p.LeastShare)", "_ = said"),
		off("of several pools the strictest counts", thriftFile, "out = out.and(x.options.Payback.of(&c.pool.Policy))", "_ = c"),
		off("drift has its own budget", "core/retire/budget.go", "return p.Drifted", "return p.Empty"),
		off("daemon pods do not hold a node", retireFile, "!p.Daemon && !p.Mirror", "!p.Mirror"),
		off("static pods do not hold a node", retireFile, "!p.Daemon && !p.Mirror", "!p.Daemon"),
		off("pods that end do not hold a node", retireFile, "!p.Mirror && !p.Ending", "!p.Mirror"),
		off("pods that end and come back do", retireFile, "return p.Returns ||", "return"),
		off("the dearest goes first", retireFile, "cmp.Compare(b.Price, a.Price),", "cmp.Compare(a.Price, b.Price),"),
		off("drift takes turns", driftFile, "pools = append(pools, id)\n\t\t\tif", "pools = append([]cluster.PoolID{id}, pools...)\n\t\t\tif"),
		off("what drifted first goes first", driftFile, "a.DriftedAt.Compare(b.DriftedAt)", "b.DriftedAt.Compare(a.DriftedAt)"),
		off("drift waits for a place", driftFile, "case !no(answer):", "case true:"),
		off("drift at the limit waits", driftFile, "!c.pool.Policy.DeleteFirst ||", ""),
		off("where it may go first only what it frees counts", driftFile, "return !no(x.ask(place.Question{", "return true || !no(x.ask(place.Question{"),
		off("what goes first frees limits", driftFile, "Freed: true}", "}"),
		off("one node of a pool goes first at a time", driftFile, "|| turnsOver(x.current().Snapshot(), c.Pool) {", "{"),
		off("a pool with nodes that go turns over", driftFile, "(n.Deleting || !n.Initialized)", "!n.Initialized"),
		off("a pool with nodes that start turns over", driftFile, "(n.Deleting || !n.Initialized)", "n.Deleting"),
		off("a pool with machines on order turns over", driftFile, "bool { return m.Pool == id }", "bool { return false }"),
		off("replacements of old nodes come before", expireFile, "!orderAt(c).After(x.snapshot.Now)", "!c.ExpiresAt.After(x.snapshot.Now)"),
		off("nodes that are too old go in any event", expireFile, "case past:", "case false:"),
		off("pools that keep what is used do", consolidateFile, "|| c.pool.Policy.Consolidate == cluster.WhenEmpty:", ":"),
		off("nodes with pods wait for their time", consolidateFile, "case due.After(x.snapshot.Now):", "case false:"),
		off("what has no price stays", consolidateFile, "if c.Price == 0 {", "if false {"),
		off("busy nodes take no pods", consolidateFile, "return !n.QuietSince.Add(pool.Policy.After).After(x.snapshot.Now)", "return true"),
		off("nodes that never go take pods", consolidateFile, "|| pool.Policy.Never {", "{"),
		off("spot does not replace spot", consolidateFile, "return slices.ContainsFunc(nodes, func(c *candidate) bool { return c.option() != cluster.Spot })", "return true"),
		off("nothing is replaced by its like", consolidateFile, "return are[as{kind, option}]", "return false && are[as{kind, option}]"),
		off("dear nodes go together", consolidateFile, "if nodes := x.nextDear(); len(nodes) > 1 {", "if nodes := x.nextDear(); len(nodes) > 1000 {"),
		off("moving must pay back", paybackFile, "if payback > remains {", "if false {"),
		off("what came in place of others settles", recentFile, "c.Replacement && until.After(now)", "false && until.After(now)"),
		off("unless most of it is unused", recentFile, "&& !c.idle() {", "{"),
		off("what was moved lately rests", recentFile, "until = p.MovedAt.Add(restAfter(p.Moved)); until.After(now)", "until = p.MovedAt; until.After(now)"),
		off("longer each time", recentFile, "Lately<<min(moved-2, 10)", "Lately"),
		off("once is no matter", recentFile, "if moved < 2 {", "if moved < 0 {"),
		off("it ends with the hour", retireFile, "_, until := c.settles(s.Now); !until.IsZero()", "_, until := c.settles(s.Now); false"),
		off("nodes go each by itself where pods have rules", "core/retire/split.go", "if len(parts) > 1 && slices.", "if len(parts) > 1000 && slices."),
		off("payback can be off", paybackFile, "case p.Off:", "case false:"),
		off("Balanced weighs", paybackFile, "if float64(balance*saved) < disturbed {", "if false {"),
		off("replacements become nothing dearer", "core/retire/trim.go", "ok && worst <= limit {", "ok && worst >= 0 {"),
		off("spot replaces spot where many kinds are left", "core/retire/trim.go", "if fewest > 0 && len(fit) < fewest {", "if false {"),
		off("what people ordered is not withdrawn", withdrawFile, "if !m.Planned || m.Launched", "if m.Launched"),
		off("what is bought is not withdrawn", withdrawFile, "if !m.Planned || m.Launched", "if !m.Planned"),
		off("what goes already is not withdrawn again", withdrawFile, "m.Launched || m.Deleting ||", "m.Launched ||"),
		off("an order that pods need stays", withdrawFile, "|| needed(m.Claim) {", "{"),
		off("pods that lost their place wait for machines ordered with theirs", patienceFile, "joining && first.Before(since.Add(sameOrder))", "joining && first.IsZero()"),
		off("pods that lost their place wait until nodes are filled", patienceFile, "s.Now.Sub(n.ChangedAt) < fillsWithin", "false"),
		off("pods that lost their place wait no longer than a machine may take", patienceFile, "if s.Now.Sub(since) >= joinsWithin ||", "if"),
		off("pods whose machine is given up do not wait", patienceFile, "m := &s.Machines[i]; !m.Deleting {\n\t\t\tnote", "m := &s.Machines[i]; true {\n\t\t\tnote"),
		off("a machine that takes too long is not waited for", patienceFile, "!m.Deleting && s.Now.Sub(m.CreatedAt) < joinsWithin &&", "!m.Deleting &&"),
		off("nodes are looked at again when a freeze ends", "core/decide/due.go", "yield(s.FreezeUntil)", "yield(time.Time{})"),
		off("nodes are looked at again when a pod keeps a leaving one no longer", "core/decide/due.go", "yield(s.Nodes[i].Pods[j].ProtectedUntil)", "yield(s.Nodes[i].Pods[j].CreatedAt)"),
		off("an order whose pods have no place stays", "core/decide/decide.go", "used[m.Claim] = true", "used[m.Claim] = false"),
		off("machines that are given back use no budget", "core/retire/share.go", "|| n.MachineEnds {", "{"),
		off("nodes that are not ready use the budget", "core/retire/share.go", "if n.Deleting || !n.Ready {", "if n.Deleting {"),
	}
}
