package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// ParsePlan reads what PrintPlan wrote. s is the snapshot that the plan was
// made from; pods that it does not know are an error.
func ParsePlan(text string, s *cluster.Snapshot) (*plan.Plan, error) {
	p := &planParser{out: &plan.Plan{}, pods: map[[2]string]cluster.Pod{}}
	for _, pod := range s.Waiting {
		p.pods[[2]string{pod.Namespace, pod.Name}] = pod
	}
	for _, n := range s.Nodes {
		for _, pod := range n.Pods {
			p.pods[[2]string{pod.Namespace, pod.Name}] = pod
		}
	}
	for i, line := range strings.Split(text, "\n") {
		w, err := words(line)
		if err == nil && len(w) > 0 {
			err = p.read(w)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return p.out, nil
}

type planParser struct {
	parser   // for requirements and labels of the last launch
	out      *plan.Plan
	pods     map[[2]string]cluster.Pod
	launch   *plan.Launch
	unplaced *plan.Unplaced
	named    *[]cluster.Pod // of the last thing that names pods
	move     *plan.Move     // while one is read
	dropped  *plan.Dropped  // the last one
	joins    *[]plan.Join   // of the last launch or ordered machine
}

var planNouns = map[string]func(*planParser, []string) error{
	"plan": (*planParser).plan, "launch": (*planParser).newLaunch, "choice": (*planParser).choice,
	"margin": (*planParser).margin, "fewer": (*planParser).fewer, "likely": (*planParser).likely, "runner-up": (*planParser).runnerUp, "requests": (*planParser).requests, "place": (*planParser).place,
	"withdraw": (*planParser).withdraw, "move": (*planParser).newMove, "remove": (*planParser).remove, "end": (*planParser).end, "keep": (*planParser).keep, "unplaced": (*planParser).newUnplaced, "for": (*planParser).pod, "reason": (*planParser).reason,
	"note": (*planParser).note, "dropped": (*planParser).newDropped, "wish": (*planParser).preference,
	"joining": (*planParser).joining, "hold": (*planParser).hold, "empty": (*planParser).empty, "machine": (*planParser).awaited,
	"join":    (*planParser).join,
	"labels":  func(p *planParser, w []string) error { return p.labels(w) },
	"require": func(p *planParser, w []string) error { return p.require(w) },
}

func (p *planParser) read(w []string) error {
	f, known := planNouns[w[0]]
	if !known {
		return fmt.Errorf("no line of a plan begins with %q", w[0])
	}
	if err := f(p, w[1:]); err != nil {
		return fmt.Errorf("%s: %w", w[0], err)
	}
	return nil
}

// fields reads key=value words into the setters named; flags get "".
func fields(w []string, set map[string]func(string) error) error {
	for _, word := range w {
		key, value, _, err := pair(word)
		if err != nil {
			return err
		}
		f, known := set[key]
		if !known {
			return fmt.Errorf("no field %q", key)
		}
		if err := f(value); err != nil {
			return err
		}
	}
	return nil
}

func into(target *string) func(string) error {
	return func(v string) error { *target = v; return nil }
}

func yes(target *bool) func(string) error {
	return func(string) error { *target = true; return nil }
}

func money(target *quantity.MicroUSDPerHour) func(string) error {
	return func(v string) (err error) { *target, err = readDollars(v); return err }
}

func pool(target *cluster.PoolID) func(string) error {
	return func(v string) (err error) { *target, err = readPoolID(v); return err }
}

func (p *planParser) plan(w []string) error {
	basis, rest, err := named(w)
	if err != nil {
		return err
	}
	if p.out.Basis, err = strconv.ParseUint(basis, 10, 64); err != nil {
		return fmt.Errorf("basis %s: want a revision", basis)
	}
	return fields(rest, map[string]func(string) error{
		"steps": func(v string) (err error) {
			p.out.Steps, err = strconv.ParseInt(v, 10, 64)
			return err
		},
		"exhausted": yes(&p.out.Exhausted), "asked": yes(&p.out.Asked), "cost-before": money(&p.out.CostBefore), "cost-after": money(&p.out.CostAfter), "bound": money(&p.out.Bound), "spot-more": money(&p.out.SpotMore)})
}

func (p *planParser) margin(w []string) error {
	name, rest, err := named(w)
	if err != nil {
		return err
	}
	p.out.Margins = append(p.out.Margins, plan.Margin{Resource: name})
	m := &p.out.Margins[len(p.out.Margins)-1]
	return fields(rest, map[string]func(string) error{"price": money(&m.Price), "zone": into(&m.Zone)})
}

func (p *planParser) fewer(w []string) error {
	count, rest, err := named(w)
	if err != nil {
		return err
	}
	p.out.Fewer = &plan.Summary{}
	if p.out.Fewer.Machines, err = strconv.Atoi(count); err != nil {
		return fmt.Errorf("%s: want a number of machines", count)
	}
	return fields(rest, map[string]func(string) error{"price": money(&p.out.Fewer.Cost)})
}

func (p *planParser) likely(w []string) error {
	l := &plan.Likely{}
	p.out.Likely = l
	return fields(w, map[string]func(string) error{
		"cost": money(&l.Cost), "left": counted(&l.Left), "turns": counted(&l.Turns), "tight": counted(&l.Relaxed.Machines),
		"tight-price": money(&l.Relaxed.Cost), "tight-cost": money(&l.RelaxedCost),
	})
}

func counted(into *int) func(string) error {
	return func(value string) error {
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("%s: want a number", value)
		}
		*into = n
		return nil
	}
}

func (p *planParser) newLaunch(w []string) error {
	name, rest, err := named(w)
	if err != nil {
		return err
	}
	list := &p.out.Launches
	if p.move != nil {
		list = &p.move.Launches
	}
	*list = append(*list, plan.Launch{Name: name})
	p.launch, p.unplaced = &(*list)[len(*list)-1], nil
	p.joins, p.named = &p.launch.Joins, &p.launch.Pods
	p.parent = parent{noun: "launch", labels: &p.launch.Labels, requirements: &p.launch.Requirements}
	return fields(rest, map[string]func(string) error{
		"pool": pool(&p.launch.Pool), "relaxed": yes(&p.launch.Relaxed), "reason": into(&p.launch.Reason)})
}

func (p *planParser) choice(w []string) (err error) {
	if p.launch == nil {
		return fmt.Errorf("want it below a launch")
	}
	p.launch.Choice, err = readChoice(w)
	return err
}

func (p *planParser) runnerUp(w []string) error {
	if p.launch == nil {
		return fmt.Errorf("want it below a launch")
	}
	c, err := readChoice(w)
	p.launch.RunnersUp = append(p.launch.RunnersUp, c)
	return err
}

func readChoice(w []string) (c plan.Choice, err error) {
	var name [3]string
	if len(w) < 4 {
		return c, fmt.Errorf("want type, zone, option and price")
	}
	for i := range name {
		if name[i], err = unquote(w[i]); err != nil {
			return c, err
		}
	}
	c = plan.Choice{Kind: name[0], Zone: name[1], Option: cluster.Option(name[2]), Priced: w[3] != "unpriced"}
	rest := w[3:]
	if !c.Priced {
		rest = rest[1:]
	}
	if len(rest) > 0 && !strings.Contains(rest[0], "=") {
		if c.Price, err = readDollars(rest[0]); err != nil {
			return c, err
		}
		rest = rest[1:]
	}
	return c, fields(rest, map[string]func(string) error{"why": into(&c.WhyNot), "beside": money(&c.Beside)})
}

func (p *planParser) requests(w []string) (err error) {
	if p.launch == nil {
		return fmt.Errorf("want it below a launch")
	}
	p.launch.Requests, err = readAmounts(w)
	return err
}

func (p *planParser) place(w []string) error {
	if len(w) == 0 {
		return fmt.Errorf("want a pod")
	}
	pod, err := p.find(w[0])
	if err != nil {
		return err
	}
	x := plan.Placement{Pod: pod}
	err = fields(w[1:], map[string]func(string) error{"on": into((*string)(&x.On)), "target": into(&x.Target)})
	list := &p.out.Placements
	if p.move != nil {
		list = &p.move.Placements
	}
	*list = append(*list, x)
	return err
}

func (p *planParser) withdraw(w []string) error {
	claim, rest, err := named(w)
	if err != nil {
		return err
	}
	x := plan.Withdrawal{Claim: claim}
	err = fields(rest, map[string]func(string) error{"pool": pool(&x.Pool), "note": into(&x.Note)})
	p.out.Withdrawals = append(p.out.Withdrawals, x)
	return err
}

func (p *planParser) newMove(w []string) error {
	if p.move != nil {
		return fmt.Errorf("the one before has no end")
	}
	p.out.Moves = append(p.out.Moves, plan.Move{})
	p.move = &p.out.Moves[len(p.out.Moves)-1]
	p.launch, p.unplaced, p.joins, p.named = nil, nil, nil, nil
	return fields(w, map[string]func(string) error{"saves": money(&p.move.Saves), "payback": func(v string) (err error) {
		p.move.Payback, err = time.ParseDuration(v)
		return err
	}})
}

func (p *planParser) end(w []string) error {
	if p.move == nil {
		return fmt.Errorf("want it after a move")
	}
	p.move, p.launch, p.named = nil, nil, nil
	return fields(w, nil)
}

func (p *planParser) keep(w []string) error {
	node, rest, err := named(w)
	if err != nil {
		return err
	}
	k := plan.Kept{Node: node}
	err = fields(rest, map[string]func(string) error{"reason": into((*string)(&k.Reason)), "by": into((*string)(&k.By)), "why": into(&k.Why)})
	p.out.Kept = append(p.out.Kept, k)
	return err
}

func (p *planParser) empty(w []string) error {
	node, rest, err := named(w)
	if err != nil {
		return err
	}
	e := plan.Emptying{Node: node}
	err = fields(rest, map[string]func(string) error{"claim": into(&e.Claim), "pool": pool(&e.Pool), "note": into(&e.Note)})
	p.out.Emptying = append(p.out.Emptying, e)
	return err
}

func (p *planParser) hold(w []string) error {
	node, rest, err := named(w)
	if err != nil {
		return err
	}
	h := plan.Hold{Node: node}
	err = fields(rest, map[string]func(string) error{"until": func(v string) (err error) { h.Until, err = readTime(v); return err }})
	p.out.Holds = append(p.out.Holds, h)
	p.launch, p.unplaced, p.joins, p.named = nil, nil, nil, &p.out.Holds[len(p.out.Holds)-1].Pods
	return err
}

func (p *planParser) awaited(w []string) error {
	name, rest, err := named(w)
	if err != nil {
		return err
	}
	if len(p.out.Holds) == 0 {
		return fmt.Errorf("want it below hold")
	}
	h := &p.out.Holds[len(p.out.Holds)-1]
	h.For = append(h.For, name)
	return fields(rest, nil)
}

func (p *planParser) remove(w []string) error {
	if p.move == nil {
		return fmt.Errorf("want it below a move")
	}
	node, rest, err := named(w)
	if err != nil {
		return err
	}
	r := plan.Removal{Node: node}
	err = fields(rest, map[string]func(string) error{"claim": into(&r.Claim), "pool": pool(&r.Pool),
		"reason": into((*string)(&r.Reason)), "note": into(&r.Note)})
	p.move.Removals = append(p.move.Removals, r)
	p.launch, p.unplaced, p.joins, p.named = nil, nil, nil, &p.move.Removals[len(p.move.Removals)-1].Pods
	return err
}

func (p *planParser) joining(w []string) error {
	claim, rest, err := named(w)
	if err != nil {
		return err
	}
	p.out.Joining = append(p.out.Joining, plan.Joining{Claim: claim})
	p.launch, p.unplaced, p.named, p.joins = nil, nil, nil, &p.out.Joining[len(p.out.Joining)-1].Joins
	p.parent = parent{}
	return fields(rest, nil)
}

func (p *planParser) join(w []string) error {
	group, rest, err := named(w)
	if err != nil {
		return err
	}
	if p.joins == nil {
		return fmt.Errorf("want it below a launch or joining")
	}
	j := plan.Join{Group: group}
	err = fields(rest, map[string]func(string) error{"key": into(&j.Key), "opens": yes(&j.Opens), "turn": counted(&j.Turn)})
	*p.joins = append(*p.joins, j)
	return err
}

func (p *planParser) newUnplaced(w []string) error {
	early := slices.Equal(w, []string{"early"})
	if len(w) > 0 && !early {
		return fmt.Errorf("takes nothing but early")
	}
	p.out.Unplaced = append(p.out.Unplaced, plan.Unplaced{Early: early})
	p.launch, p.unplaced, p.joins = nil, &p.out.Unplaced[len(p.out.Unplaced)-1], nil
	p.named = &p.unplaced.Pods
	p.parent = parent{}
	return nil
}

func (p *planParser) newDropped(w []string) error {
	list := &p.out.Dropped
	if p.move != nil {
		list = &p.move.Dropped
	}
	*list = append(*list, plan.Dropped{})
	p.dropped = &(*list)[len(*list)-1]
	p.launch, p.unplaced, p.joins, p.named = nil, nil, nil, &p.dropped.Pods
	return fields(w, map[string]func(string) error{"saves": money(&p.dropped.Saves)})
}

func (p *planParser) preference(w []string) error {
	if len(w) != 1 || p.dropped == nil {
		return fmt.Errorf("want one text, below dropped")
	}
	text, _, err := named(w)
	p.dropped.Preferences = append(p.dropped.Preferences, text)
	return err
}

func (p *planParser) pod(w []string) error {
	if len(w) != 1 || p.named == nil {
		return fmt.Errorf("want one pod, below a launch, a removal, unplaced or dropped")
	}
	pod, err := p.find(w[0])
	if err != nil {
		return err
	}
	*p.named = append(*p.named, pod)
	if p.unplaced != nil {
		p.unplaced.Shape = pod.Shape
	}
	return nil
}

func (p *planParser) note(w []string) error {
	text, rest, err := named(w)
	switch {
	case err != nil:
		return err
	case p.launch == nil:
		return fmt.Errorf("want it below a launch")
	case len(rest) > 0:
		return fmt.Errorf("want nothing after the text, not %q", rest[0])
	}
	p.launch.Notes = append(p.launch.Notes, text)
	return nil
}

func (p *planParser) reason(w []string) error {
	text, rest, err := named(w)
	if err != nil {
		return err
	}
	if p.unplaced == nil {
		return fmt.Errorf("want it below unplaced")
	}
	r := plan.Reason{Text: text}
	err = fields(rest, map[string]func(string) error{"pool": pool(&r.Pool), "minvalues": yes(&r.MinValues), "rule": into(&r.Rule), "others": yes(&r.Others)})
	p.unplaced.Reasons = append(p.unplaced.Reasons, r)
	return err
}

func (p *planParser) find(word string) (cluster.Pod, error) {
	namespace, name, err := readSlashed(word)
	if err != nil {
		return cluster.Pod{}, err
	}
	pod, known := p.pods[[2]string{namespace, name}]
	if !known {
		return pod, fmt.Errorf("the snapshot has no pod %s", word)
	}
	return pod, nil
}
