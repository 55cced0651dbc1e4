package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// Print writes the whole snapshot in canonical form.
func Print(s *cluster.Snapshot) string {
	p := &printer{shapes: map[*cluster.Shape]string{}, catalogues: map[*cluster.Catalogue]string{}}
	p.line(0, "snapshot", strconv.FormatUint(s.Revision, 10), moment(s.Now))
	p.repair(0, s.Repair)
	for i, shape := range s.Shapes() {
		p.shapes[shape] = "s" + strconv.Itoa(i)
		p.shape(shape)
	}
	for i := range s.Waiting {
		p.pod(0, "waiting", &s.Waiting[i])
	}
	for i := range s.Expected {
		p.pod(0, "expected", &s.Expected[i])
	}
	for _, d := range s.Daemons {
		p.line(0, "daemon", slashed(d.Namespace, d.Name), field("shape", p.nameOf(d.Shape)))
	}
	for i := range s.Pools {
		p.pool(&s.Pools[i])
	}
	for _, g := range s.PDBs {
		p.line(0, "guard", slashed(g.Namespace, g.Name), number("allows", g.Allowed), flag("never", g.Never), field("why", g.Why), flag("unready-too", g.UnreadyToo))
	}
	for _, b := range s.Breakers {
		words := []string{"breaker", quote(b.Name), number("most", b.Most), number("gone", b.Gone)}
		for _, id := range b.Pools {
			words = append(words, field("pool", poolID(id)))
		}
		p.line(0, words...)
	}
	if s.Freeze != "" {
		p.line(0, "freeze", quote(s.Freeze), flag("all", s.FreezeAll), timed("until", s.FreezeUntil))
	}
	waiting := byName(s.Waiting)
	for i := range s.Nodes {
		p.node(&s.Nodes[i], waiting)
	}
	for i := range s.Machines {
		p.machine(&s.Machines[i], waiting)
	}
	return p.text.String()
}

type printer struct {
	text       strings.Builder
	shapes     map[*cluster.Shape]string
	catalogues map[*cluster.Catalogue]string
}

// line writes words that are quoted where necessary already; empty ones are
// left out.
func (p *printer) line(depth int, words ...string) {
	p.text.WriteString(strings.Repeat("  ", depth))
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	p.text.WriteString(strings.Join(words, " "))
	p.text.WriteByte('\n')
}

// nameOf names a shape; empty for none.
func (p *printer) nameOf(s *cluster.Shape) string { return p.shapes[s] }

func (p *printer) shape(s *cluster.Shape) {
	p.line(0, append([]string{"shape", p.nameOf(s), field("namespace", s.Namespace), number("priority", int64(s.Priority)),
		field("unable", s.Unable)}, shapeAmounts(s.Requests)...)...)
	p.rules(s)
}

func (p *printer) pod(depth int, noun string, pod *cluster.Pod) {
	p.line(depth, noun, slashed(pod.Namespace, pod.Name), field("shape", p.nameOf(pod.Shape)), field("uid", pod.UID),
		field("owner", pod.Owner), timed("created", pod.CreatedAt), field("on", pod.Node), flag("daemon", pod.Daemon),
		flag("mirror", pod.Mirror), flag("ending", pod.Ending), flag("do-not-disrupt", pod.DoNotDisrupt), flag("do-not-evict", pod.DoNotEvict),
		flag("returns", pod.Returns), field("one-off", pod.OneOff), number("retries", int64(pod.Retries)), flag("completes", pod.Completes), flag("stays", pod.Stays), flag("unready", pod.Unready), flag("pending", pod.Pending), timed("started", pod.StartedAt),
		timed("protected-until", pod.ProtectedUntil), number("moved", int64(pod.Moved)), timed("moved-at", pod.MovedAt), length("grace", pod.Grace),
		number("deletion-cost", int64(pod.DeletionCost)), field("guards", pod.PDBs), flag("kept", pod.Kept), flag("uprooted", pod.Uprooted), field("last-of", pod.LastOf), held(pod))
}

// held is what the pod holds, where that is not what its shape asks for.
func held(pod *cluster.Pod) string {
	if pod.Holds == nil {
		return ""
	}
	return field("holds", strings.Join(shapeAmounts(*pod.Holds), " "))
}

func (p *printer) pool(pool *cluster.Pool) {
	catalogue := ""
	if c := pool.Catalogue; c != nil {
		if p.catalogues[c] == "" {
			p.catalogues[c] = "c" + strconv.Itoa(len(p.catalogues)+1)
			p.catalogue(c)
		}
		catalogue = p.catalogues[c]
	}
	p.line(0, "pool", poolID(pool.ID), number("weight", int64(pool.Weight)), field("catalogue", catalogue),
		number("nodes", pool.Nodes), priced("machine-cost", pool.MachineCost), length("boot", pool.Boot), field("not-ready", pool.NotReady))
	p.labels(1, pool.Labels, nil)
	p.requirements("require", 1, pool.Requirements)
	p.requirements("floor", 1, pool.Floor.Size)
	if r := pool.Floor.Room; r != (cluster.Room{}) {
		p.line(1, "room", "memory="+r.Memory.String(), number("system", r.System))
	}
	p.taints(pool.Taints, pool.StartupTaints)
	p.limits(pool.Limits)
	p.amounts(1, "usage", pool.Usage)
	p.policy(pool.Policy)
	p.repair(1, pool.Repair)
}

func (p *printer) limits(l cluster.Limits) {
	var words []string
	for _, e := range l.Amounts {
		words = append(words, amount(e.Name, e.Amount))
	}
	if l.Nodes != nil {
		words = append(words, "nodes="+strconv.FormatInt(*l.Nodes, 10))
	}
	if len(words) > 0 {
		p.line(1, append([]string{"limit"}, words...)...)
	}
}

func (p *printer) policy(o cluster.Policy) {
	if o == (cluster.Policy{}) {
		return
	}
	p.line(1, "policy", field("consolidate", string(o.Consolidate)), length("after", o.After), length("lead", o.Lead), flag("never", o.Never), flag("static", o.Static),
		flag("delete-first", o.DeleteFirst), length("renew", o.Renew), timed("budgets-change", o.BudgetsChange), flag("payback-off", o.Payback.Off), share("pod-cost", o.Payback.PodDollars), share("least-share", o.Payback.LeastShare))
	if o.Empty == o.Drifted && o.Empty == o.Underutilized {
		p.allowance(o.Empty, "")
		return
	}
	p.allowance(o.Empty, plan.Empty)
	p.allowance(o.Drifted, plan.Drifted)
	p.allowance(o.Underutilized, plan.Underutilized)
}

func (p *printer) allowance(a cluster.Allowance, reason plan.RemovalReason) {
	p.line(1, "allow", strconv.FormatInt(a.Most, 10), field("reason", string(reason)), field("note", a.Note), field("closed", a.Closed))
}

func (p *printer) catalogue(c *cluster.Catalogue) {
	p.line(0, "catalogue", p.catalogues[c], strconv.FormatUint(c.Revision, 10), priced("disk", c.Disk))
	for i := range c.InstanceTypes {
		k := &c.InstanceTypes[i]
		p.line(0, append([]string{"kind", quote(k.Name)}, amounts(k.Capacity)...)...)
		if !k.Allocatable.Equal(k.Capacity) {
			p.line(1, append([]string{"allocatable"}, amounts(k.Allocatable)...)...)
		}
		if k.Sustained != 0 || k.Surplus != 0 {
			p.line(1, "sustained", k.Sustained.String(), priced("surplus", k.Surplus))
		}
		if k.LastResort {
			p.line(1, "last-resort")
		}
		p.attachable(k.Attachable)
		p.onRequest(k.OnRequest)
		p.labels(1, k.Labels, instanceTypeLabels(k))
		for j := range k.Offerings {
			p.offering(&k.Offerings[j])
		}
	}
}

func (p *printer) offering(o *cluster.Offering) {
	p.line(1, "offer", quote(o.Zone), quote(string(o.Option)), price(o.Priced, o.Price), flag("unavailable", !o.Available), flag("doubtful", o.Doubtful), field("why", o.Why), reservedCapacities(o.ReservedCapacities), share("risk", o.Risk), unless(o.Unless))
	p.labels(2, o.Labels, offeringLabels(o))
}

// reservedCapacities writes what an offering draws on, and how many are left of each.
func reservedCapacities(list []cluster.ReservedCapacity) string {
	var words []string
	for _, s := range list {
		words = append(words, field("stock", s.Name))
		if s.Left != 0 {
			words = append(words, number("left", s.Left))
		}
	}
	return strings.Join(words, " ")
}

func unless(l constraint.Label) string {
	if l.Key == "" {
		return ""
	}
	return field("unless", l.Key+"="+l.Value)
}

// share writes a number that need not be whole.
func share(key string, n float64) string {
	if n == 0 {
		return ""
	}
	return field(key, strconv.FormatFloat(n, 'g', -1, 64))
}

// price writes a price, and that it means nothing where it does not.
func price(known bool, p quantity.MicroUSDPerHour) string {
	switch {
	case known:
		return dollars(p)
	case p != 0:
		return "unpriced " + dollars(p)
	}
	return "unpriced"
}

func (p *printer) node(n *cluster.Node, waiting map[[2]string]*cluster.Pod) {
	p.line(0, "node", quote(n.Name), field("claim", n.Claim), poolField(n.Pool), field("machine", n.MachineID),
		priced("price", n.Price), timed("created", n.CreatedAt), timed("quiet-since", n.QuietSince), timed("changed", n.ChangedAt),
		flag("ready", n.Ready), flag("initialized", n.Initialized), flag("deleting", n.Deleting), flag("machine-ends", n.MachineEnds), timed("ends", n.EndsAt),
		flag("do-not-disrupt", n.DoNotDisrupt), flag("do-not-consolidate", n.DoNotConsolidate), field("rests", n.Rests), field("controller", string(n.Controller)), flag("grace", n.HasGrace),
		timed("expires", n.ExpiresAt), field("drifted", n.Drifted), timed("drifted-at", n.DriftedAt))
	p.ailments(n.Ailments)
	p.labels(1, n.Labels, nil)
	p.taints(n.Taints, n.StartupTaints)
	p.sizes(n.Allocatable, n.Capacity)
	p.attachable(n.Attachable)
	for i := range n.Pods {
		p.pod(1, "pod", &n.Pods[i])
	}
	p.launchedFor(n.LaunchedFor, waiting)
}

func (p *printer) machine(m *cluster.Machine, waiting map[[2]string]*cluster.Pod) {
	p.line(0, "machine", quote(m.Claim), poolField(m.Pool), timed("created", m.CreatedAt), flag("launched", m.Launched),
		flag("deleting", m.Deleting), flag("planned", m.Planned), flag("buying", m.Launching), flag("replacement", m.Replacement),
		flag("purpose-unknown", m.PurposeUnknown), flag("types-unknown", m.TypesUnknown))
	p.labels(1, m.Labels, nil)
	p.requirements("require", 1, m.Requirements)
	p.taints(m.Taints, m.StartupTaints)
	p.sizes(m.Allocatable, m.Capacity)
	p.attachable(m.Attachable)
	p.launchedFor(m.LaunchedFor, waiting)
}

func (p *printer) launchedFor(pods []cluster.Pod, waiting map[[2]string]*cluster.Pod) {
	for i := range pods {
		pod := &pods[i]
		if w := waiting[[2]string{pod.Namespace, pod.Name}]; w != nil && samePod(w, pod) {
			p.line(1, "for", slashed(pod.Namespace, pod.Name))
			continue
		}
		p.pod(1, "for", pod)
	}
}

func samePod(a, b *cluster.Pod) bool {
	x, y := *a, *b
	for _, p := range []*cluster.Pod{&x, &y} {
		p.CreatedAt, p.StartedAt, p.ProtectedUntil, p.MovedAt = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	}
	return x == y && a.CreatedAt.Equal(b.CreatedAt) && a.StartedAt.Equal(b.StartedAt) && a.ProtectedUntil.Equal(b.ProtectedUntil) && a.MovedAt.Equal(b.MovedAt)
}

// sizes writes capacity only where it differs, or else alone where the
// default would be wrong.
func (p *printer) sizes(allocatable, capacity quantity.Resources) {
	p.amounts(1, "allocatable", allocatable)
	if !capacity.Equal(allocatable) {
		p.line(1, append([]string{"capacity"}, amounts(capacity)...)...)
	}
}

func (p *printer) amounts(depth int, noun string, r quantity.Resources) {
	if !r.IsZero() {
		p.line(depth, append([]string{noun}, amounts(r)...)...)
	}
}

func (p *printer) labels(depth int, labels, usual constraint.Labels) {
	if slices.Equal(labels, usual) {
		return
	}
	words := []string{"labels"}
	for _, l := range labels {
		words = append(words, quote(l.Key)+"="+quote(l.Value))
	}
	p.line(depth, words...)
}

func (p *printer) requirements(noun string, depth int, list constraint.Requirements) {
	for _, r := range list {
		words := []string{noun, quote(r.Key)}
		for _, t := range r.Set.Terms() {
			words = append(words, string(t.Op))
			for _, v := range t.Values {
				words = append(words, quote(v))
			}
		}
		if r.MinValues != 0 {
			words = append(words, "minvalues", strconv.Itoa(r.MinValues))
		}
		p.line(depth, words...)
	}
}

func (p *printer) taints(taints, startup []constraint.Taint) {
	for _, t := range taints {
		p.line(1, "taint", taint(t))
	}
	for _, t := range startup {
		p.line(1, "startup-taint", taint(t))
	}
}

// shapeAmounts writes pod slots only where a shape does not ask for one.
func shapeAmounts(r quantity.Resources) []string {
	if r.Pods == 1 {
		r.Pods = 0
		return amounts(r)
	}
	return append(amounts(r.With(quantity.NamePods, 0)), amount(quantity.NamePods, r.Pods))
}

func instanceTypeLabels(k *cluster.InstanceType) constraint.Labels {
	return constraint.Labels{{Key: cluster.LabelInstanceType, Value: k.Name}}
}

func offeringLabels(o *cluster.Offering) constraint.Labels {
	return constraint.Labels{
		{Key: cluster.LabelCapacityType, Value: string(o.Option)},
		{Key: cluster.LabelZone, Value: o.Zone},
	}
}

func amounts(r quantity.Resources) []string {
	var out []string
	for _, name := range r.Names() {
		out = append(out, amount(name, r.Get(name)))
	}
	return out
}

func amount(name string, n int64) string { return quote(name) + "=" + quantity.FormatAmount(name, n) }

func taint(t constraint.Taint) string {
	out := quote(t.Key)
	if t.Value != "" {
		out += "=" + quote(t.Value)
	}
	return out + ":" + quote(string(t.Effect))
}

func toleration(t constraint.Toleration) string {
	out := star(t.Key)
	if !t.Exists || t.Value != "" {
		out += "=" + quote(t.Value)
	}
	out += ":" + star(string(t.Effect))
	if t.Exists && t.Value != "" {
		out += " exists"
	}
	return out
}

func star(s string) string {
	if s == "" {
		return "*"
	}
	return quote(s)
}

func poolID(id cluster.PoolID) string { return slashed(id.Kind, id.Name) }

func poolField(id cluster.PoolID) string {
	if id == (cluster.PoolID{}) {
		return ""
	}
	return field("pool", poolID(id))
}

// slashed writes two names as one word; one that has a slash itself is quoted.
func slashed(a, b string) string {
	first := quote(a)
	if strings.Contains(a, "/") {
		first = strconv.Quote(a)
	}
	return first + "/" + quote(b)
}

func field(name, value string) string {
	if value == "" {
		return ""
	}
	return name + "=" + quote(value)
}

func flag(name string, set bool) string {
	if !set {
		return ""
	}
	return name
}

func number(name string, n int64) string {
	if n == 0 {
		return ""
	}
	return name + "=" + strconv.FormatInt(n, 10)
}

func length(name string, d time.Duration) string {
	if d == 0 {
		return ""
	}
	return name + "=" + d.String()
}

func timed(name string, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return name + "=" + moment(t)
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func priced(name string, p quantity.MicroUSDPerHour) string {
	if p == 0 {
		return ""
	}
	return name + "=" + dollars(p)
}

func dollars(p quantity.MicroUSDPerHour) string {
	sign, n := "", uint64(p)
	if p < 0 {
		sign, n = "-", uint64(-p)
	}
	text := fmt.Sprintf("%s%d.%06d", sign, n/1e6, n%1e6)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
