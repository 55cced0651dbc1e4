package main

const (
	retireFile   = "core/retire/retire.go"
	patienceFile = "core/decide/patience.go"
	withdrawFile = "core/retire/withdraw.go"
)

// retireRules are about nodes that leave.
func retireRules() []Rule {
	return []Rule{
		off("nodes that are going are not removed again", retireFile, `if n.Claim == "" || n.Deleting ||`, `if n.Claim == "" ||`),
		off("starting nodes stay", retireFile, "!n.Initialized || n.DoNotDisrupt", "n.DoNotDisrupt"),
		off("nodes that must not be disturbed stay", retireFile, "!n.Initialized || n.DoNotDisrupt", "!n.Initialized"),
		off("nodes with pods stay", retireFile, "|| !IsEmpty(n) {", "{"),
		off("pools that keep empty nodes do", retireFile, "if !found || pool.Policy.Never {", "if !found {"),
		off("empty nodes wait for their time", retireFile, "!ok || due.After(s.Now) ||", "!ok || due.IsZero() ||"),
		off("nodes that waiting pods need stay", retireFile, "|| needed(n.Name) {", "{"),
		off("the budget holds", retireFile, "if left[n.Pool] <= 0 {", "if false {"),
		off("nodes on their way out use the budget", retireFile, "pool.Policy.Empty.Most - shares[n.Pool].Used", "pool.Policy.Empty.Most - 0*shares[n.Pool].Used"),
		off("a pod that must not be disturbed holds its node", retireFile, "if p.DoNotDisrupt && !p.Ending {", "if false {"),
		off("daemon pods do not hold a node", retireFile, "!p.Daemon && !p.Mirror", "!p.Mirror"),
		off("static pods do not hold a node", retireFile, "!p.Daemon && !p.Mirror", "!p.Daemon"),
		off("pods that end do not hold a node", retireFile, "!p.Mirror && !p.Ending", "!p.Mirror"),
		off("pods that end and come back do", retireFile, "return p.Returns ||", "return"),
		off("the dearest goes first", retireFile, "cmp.Compare(b.Price, a.Price),", "cmp.Compare(a.Price, b.Price),"),
		off("what people ordered is not withdrawn", withdrawFile, "if !m.Planned || m.Launched", "if m.Launched"),
		off("what is bought is not withdrawn", withdrawFile, "if !m.Planned || m.Launched", "if !m.Planned"),
		off("what goes already is not withdrawn again", withdrawFile, "m.Launched || m.Deleting ||", "m.Launched ||"),
		off("an order that pods need stays", withdrawFile, "|| needed(m.Claim) {", "{"),
		off("pods that lost their place wait for machines ordered with theirs", patienceFile, "joining && first.Before(since.Add(sameOrder))", "joining && first.IsZero()"),
		off("pods that lost their place wait until nodes are filled", patienceFile, "s.Now.Sub(n.ChangedAt) < fillsWithin", "false"),
		off("pods that lost their place wait no longer than a machine may take", patienceFile, "if s.Now.Sub(since) >= joinsWithin ||", "if"),
		off("pods whose machine is given up do not wait", patienceFile, "m := &s.Machines[i]; !m.Deleting {\n\t\t\tnote", "m := &s.Machines[i]; true {\n\t\t\tnote"),
		off("a machine that takes too long is not waited for", patienceFile, "!m.Deleting && s.Now.Sub(m.CreatedAt) < joinsWithin &&", "!m.Deleting &&"),
		off("an order whose pods have no place stays", "core/decide/decide.go", "used[m.Claim] = true", "used[m.Claim] = false"),
		off("machines that are given back use no budget", "core/retire/share.go", "|| n.MachineEnds {", "{"),
		off("nodes that are not ready use the budget", "core/retire/share.go", "if n.Deleting || !n.Ready {", "if n.Deleting {"),
	}
}
