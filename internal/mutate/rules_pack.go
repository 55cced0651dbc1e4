package main

const (
	decideFile    = "core/decide/decide.go"
	packFill      = "core/pack/fill.go"
	packClasses   = "core/pack/classes.go"
	packExact     = "core/pack/exact.go"
	packLimits    = "core/pack/limits.go"
	packOfferings = "core/pack/offerings.go"
	packSolver    = "core/pack/solver.go"
	packSearch    = "core/pack/search.go"
	packPricer    = "core/pack/pricer.go"
	packFloor     = "core/pack/floor.go"
	packPack      = "core/pack/pack.go"
	packRound     = "core/pack/round.go"
)

// packRules are about machines that are chosen together.
func packRules() []Rule {
	return []Rule{
		off("a machine has room for its pods", packFill, "n = f.room[d] / v", "_ = v"),
		off("caps keep pods off a machine", packFill, "if free <= 0 {\n\t\t\treturn 0\n\t\t}\n\t\tif free < n", "if free < n"),
		off("caps count pods that join together", packFill, "if free < n && slices.Contains(it.InstanceTypes, c.InstanceType) {", "if false {"),
		off("who waits is put on one machine alone", packFill, "n := f.s.left[row] - f.taken[row]", "n := f.s.left[row]"),
		off("resources are used up together", packFill, "if !l.even {", "if true {"),
		off("classes have prices of their own", packClasses, "n < 2 || n > classesMax", "n > 0"),
		off("pods that can be nowhere else come first", packClasses, "out[class] = 2*mine.Count() <= most", "out[class] = mine.Count() < 0"),
		off("a cheaper offering must be open to all on the machine", packFill, "if f.options[i/64]&(1<<(i%64)) == 0 {", "if false {"),
		off("offerings are open to some pods alone", packSolver, "return s.allowed[s.classes[row]].Has(offering)", "return true"),
		off("machines take of limits", packSolver, "s.limits[t.Limit] -= t.Amount * n", "_ = t"),
		off("limits that would be exceeded forbid an offering", packSolver, "n = min(n, s.limits[t.Limit]/t.Amount)", "_ = n"),
		off("what another offering is not open to is kept", packOfferings, "if other != c && includes(other.open, c.open) {", "if other != c {"),
		off("a larger offering is preferable", packOfferings, "return holds(o.useful, other.useful) &&", "return true &&"),
		off("what takes more of a limit is not preferable", packOfferings, "return takesOf(other.takes, t.Limit) < t.Amount", "return false"),
		off("few pods are looked at in all sets", packExact, "if !s.few(rows, min(pairsMax, steps)) {", "if true {"),
		off("what is best for few pods keeps to limits", packExact, "if !ok || !s.keeps(best, s.limits) {", "if !ok {"),
		off("sets keep to caps", packExact, "if n >= c.Most {", "if false {"),
		off("pods of one set are counted together", packExact, "n += parts[at].n - 1", "n += 0"),
		off("what is not open to a set is not launched for it", packExact, "return !e.s.may(p.row, i)", "return false"),
		off("limits are taken again when nothing changes", packSearch, "n.s.take(n.machines[i].offering, 1)", "_ = i"),
		off("what is searched takes of limits", packSearch, "s.takeAll(n.machines, 1)", "_ = n"),
		off("a start gives back what it took of limits", packPack, "s.takeAll(found, -1)", "_ = found"),
		off("a limit out of reach is none", packLimits, "idle[i] = beyondPods(batch, i, classes, sets)", "_ = i"),
		off("a limit is in reach of all pods together", packLimits, "left -= each * pods", "_ = pods"),
		off("a limit that would cost more to reach is none", packPack, "s.forget(float64(s.cost(start) * (1 + Fewer)))", ""),
		off("a limit that costs less to reach is one", packLimits, "float64(cost/o.cost)*float64(takesOf(o.takes, i))", "0*float64(cost/o.cost)*float64(takesOf(o.takes, i))"),
		off("machines are first opened for pods that must be apart", packPack, "return []bool{false, true}", "return []bool{false}"),
		off("limits that are hard to keep have a price", packPack, "if !ok && len(s.limits) > 0 {", "if false {"),
		off("fewer machines are looked for at last", packPack, "s.searchFewer(found, until)", "_ = until"),
		off("few machines are preferred among the cheapest", packPack, ".fewest(Fewer))", ".fewest(0))"),
		off("few machines are preferred to nearly as cheap ones that were chosen otherwise", decideFile, "answers[cheapest].Cost*(1+pack.Fewer)", "answers[cheapest].Cost"),
		off("machines are sought that are fewer for a little more", "core/decide/fewer.go", "toFewer[:fewerTries]", "toFewer[:0]"),
		off("pods that are alike are divided by the program", packPack, "len(rows) <= programGroups &&", "false &&"),
		off("a load is for sale to its pods", packPricer, "if x == but || !r.p.s.may(x, r.offering) {", "if x == but {"),
		off("fractions are made whole in several ways", packRound, "const divesMax = 64", "const divesMax = 0"),
		off("first fit keeps to offerings", packFloor, "if !s.may(row, int(b.offering)) {", "if false {"),
		off("first fit keeps to limits", packFloor, "; s.keeps(found, s.limits) {", "; true {"),
		off("first fit keeps to caps", packFloor, "if free <= 0 {", "if false {"),

		off("no pods are left for a lower cost", decideLean, "cmp.Or(compareLeft(a, b), ", "cmp.Or(").and(decideFile, "compareLeft(a, b) == 0 && a.Unpriced", "a.Unpriced"),
		off("unknown prices decide before the cost does", decideLean, "cmp.Compare(a.Unpriced, b.Unpriced), cmp.Compare(a.Cost", "cmp.Compare(a.Cost"),
		off("what costs much more is not chosen for fewer machines", decideFile, "a.Cost <= most &&", "a.Cost <= 2*most &&"),
		off("pods that must leave nodes count as effort", decideFile, "pack.Usual(place.Pods(s))", "pack.Usual(len(s.Waiting))"),
	}
}
