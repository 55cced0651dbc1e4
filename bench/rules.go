package bench

import (
	"fmt"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// ledger counts pods by domain, in the plainest way that can be: one tally
// for each different rule, and every pod is added to all tallies that count
// it. It shares nothing with core/topology, so that both can be wrong only
// independently of each other.
type ledger struct {
	hosts   []*host
	tallies map[string]*tally
	order   []*tally
	counted map[*cluster.Shape][]*tally // that count pods of the shape
	rules   map[*cluster.Shape]*rules
	pdbs    map[*cluster.Shape][]*tally // of owners that keep pods of the shape away
}

// rules is what one shape requires of other pods.
type rules struct {
	spread []*tally
	near   []*tally
	apart  []*tally
	owned  []*tally // who owns the same preference to be apart, by domain
	first  bool     // may be the first of those it wants to be near
}

// tally counts some pods in each domain of one key.
type tally struct {
	question
	domain []int // by host
	pods   []int // by domain
	all    int   // pods anywhere, whether or not the host is in a domain
}

// question is what a tally counts.
type question struct {
	text   string // equal for equal questions
	key    string
	counts func(*cluster.Shape) bool // the pods; of owners: the pods that they keep away
	looks  func(*host) bool          // nil: at every host
	owners bool                      // counts the pods that ask to be apart, not those chosen
	spread bool                      // pods that are terminating do not count
}

// outside is the domain of hosts that have no such label, or that the rule does not check.
const outside = -1

func newLedger(s *cluster.Snapshot, hosts []*host) *ledger {
	l := &ledger{hosts: hosts, tallies: map[string]*tally{}, counted: map[*cluster.Shape][]*tally{},
		rules: map[*cluster.Shape]*rules{}, pdbs: map[*cluster.Shape][]*tally{}}
	for i := range s.Waiting {
		l.read(s.Waiting[i].Shape)
	}
	for i := range s.Instances {
		for j := range s.Instances[i].LaunchedFor {
			l.read(s.Instances[i].LaunchedFor[j].Shape)
		}
	}
	for _, h := range hosts {
		for i := range h.pods {
			l.read(h.pods[i].Shape)
		}
	}
	for _, h := range hosts {
		for i := range h.pods {
			l.put(h.pods[i].Shape, h, h.pods[i].Ending)
		}
	}
	return l
}

// read makes the tallies that a shape's rules need.
func (l *ledger) read(s *cluster.Shape) {
	if l.rules[s] != nil {
		return
	}
	out := &rules{first: true}
	l.rules[s] = out
	for i := range s.Spread {
		if !s.Spread[i].Soft {
			out.spread = append(out.spread, l.spreadTally(s, &s.Spread[i]))
		}
	}
	var near []*cluster.Neighbours
	for i := range s.Neighbours {
		switch n := &s.Neighbours[i]; {
		case n.Weight > 0:
		case n.Apart:
			q := question{text: "chosen " + neighbourText(n), key: n.Key, counts: func(x *cluster.Shape) bool { return chooses(n, x) }}
			out.apart = append(out.apart, l.tally(q))
			q.text, q.owners = "owner "+neighbourText(n), true
			out.owned = append(out.owned, l.tally(q))
		default:
			near, out.first = append(near, n), out.first && chooses(n, s)
		}
	}
	for _, n := range near {
		out.near = append(out.near, l.nearTally(near, n.Key))
	}
}

// nearTally counts the pods that all the preferences to be near choose at once:
// only these count, as for kube-scheduler.
func (l *ledger) nearTally(all []*cluster.Neighbours, key string) *tally {
	var names []string
	for _, n := range all {
		names = append(names, neighbourText(n))
	}
	return l.tally(question{text: fmt.Sprint("near ", key, names), key: key, counts: func(x *cluster.Shape) bool {
		for _, n := range all {
			if !chooses(n, x) {
				return false
			}
		}
		return true
	}})
}

func (l *ledger) spreadTally(s *cluster.Shape, x *cluster.Spread) *tally {
	var keys []string
	for i := range s.Spread {
		if !s.Spread[i].Soft {
			keys = append(keys, s.Spread[i].Key)
		}
	}
	var terms []constraint.Requirements
	if !x.IgnoreNodeTerms {
		terms = s.NodeTerms
	}
	text := fmt.Sprint("spread ", s.Namespace, x.Key, keys, selectorText(x.Selector), terms, x.HonourTaints)
	if x.HonourTaints {
		text += fmt.Sprint(s.Tolerations)
	}
	return l.tally(question{
		text: text, key: x.Key, spread: true,
		counts: func(p *cluster.Shape) bool { return p.Namespace == s.Namespace && x.Selector.Matches(p.Labels) },
		looks:  func(h *host) bool { return looksAt(h, keys, terms, x.HonourTaints, s.Tolerations) },
	})
}

func looksAt(h *host, keys []string, terms []constraint.Requirements, honour bool, tolerations []constraint.Toleration) bool {
	for _, key := range keys {
		if _, known := h.value(key); !known {
			return false
		}
	}
	if _, found := constraint.Untolerated(h.taints, tolerations); honour && found {
		return false
	}
	for _, t := range terms {
		if h.meets(t) {
			return true
		}
	}
	return len(terms) == 0
}

// value returns the host's label. Where a launch leaves it open, that is the
// value of what is launched first.
func (h *host) value(key string) (string, bool) {
	value, known := h.labels.Get(key)
	switch {
	case known || h.launch == nil:
		return value, known
	case key == cluster.LabelZone:
		return h.launch.Choice.Zone, true
	case key == cluster.LabelCapacityType:
		return string(h.launch.Choice.Option), true
	}
	for _, k := range h.instanceTypes {
		if k.Name == h.launch.Choice.Kind {
			return k.Labels.Get(key)
		}
	}
	return "", false
}

// open reports whether the host may turn out to have another value.
func (h *host) open(key string) bool {
	_, decided := h.labels.Get(key)
	_, known := h.value(key)
	return known && !decided
}

// tally returns the answer to a question, made when it is first asked.
func (l *ledger) tally(q question) *tally {
	if t := l.tallies[q.text]; t != nil {
		return t
	}
	t := &tally{question: q, domain: make([]int, len(l.hosts))}
	numbers := map[string]int{}
	for i, h := range l.hosts {
		value, known := h.value(t.key)
		if t.domain[i] = outside; !known || t.looks != nil && !t.looks(h) {
			continue
		}
		n, met := numbers[value]
		if !met {
			n = len(t.pods)
			numbers[value], t.pods = n, append(t.pods, 0)
		}
		t.domain[i] = n
	}
	l.tallies[q.text], l.order = t, append(l.order, t)
	return t
}

// judge says which rule about other pods speaks against the host, if any.
func (l *ledger) judge(s *cluster.Shape, h *host) error {
	r := l.rules[s]
	if r == nil {
		l.read(s)
		r = l.rules[s]
	}
	hard := 0
	for i := range s.Spread {
		if s.Spread[i].Soft {
			continue
		}
		if err := r.spread[hard].skewed(s, &s.Spread[i], h); err != nil {
			return err
		}
		hard++
	}
	if err := r.nearby(h); err != nil {
		return err
	}
	for _, t := range append(l.pdbsOf(s), r.apart...) {
		d := t.domain[h.number]
		if d >= 0 && h.open(t.key) {
			return fmt.Errorf("its %s is not decided, but pods are to be apart by it", t.key)
		}
		if d >= 0 && t.pods[d] > 0 {
			return fmt.Errorf("%d pods are there that it must be apart from by %s", t.pods[d], t.key)
		}
	}
	return nil
}

func (t *tally) skewed(s *cluster.Shape, x *cluster.Spread, h *host) error {
	if _, known := h.value(x.Key); !known || h.open(x.Key) {
		return fmt.Errorf("it has no certain %s, but the pod is spread by it", x.Key)
	}
	least := 0
	if len(t.pods) > 0 && len(t.pods) >= int(x.MinDomains) {
		least = t.pods[0]
	}
	for _, n := range t.pods {
		least = min(least, n)
	}
	there := 0
	if d := t.domain[h.number]; d >= 0 {
		there = t.pods[d]
	}
	if t.counts(s) {
		there++
	}
	if there-least > int(x.MaxSkew) {
		return fmt.Errorf("skew by %s would be %d, not %d at most", x.Key, there-least, x.MaxSkew)
	}
	return nil
}

// nearby checks the preferences to be near others. The first pod of those that
// choose themselves may go anywhere.
func (r *rules) nearby(h *host) error {
	anywhere, missing := 0, ""
	for _, t := range r.near {
		anywhere += t.all
		d := t.domain[h.number]
		if d < 0 || h.open(t.key) {
			return fmt.Errorf("it has no certain %s, but the pod is to be near others by it", t.key)
		}
		if t.pods[d] == 0 {
			missing = t.key
		}
	}
	if missing != "" && (anywhere > 0 || !r.first) {
		return fmt.Errorf("there is no pod that the pod must be near by %s", missing)
	}
	return nil
}

// pdbsOf lists the tallies of owners that keep pods of the shape away.
func (l *ledger) pdbsOf(s *cluster.Shape) []*tally {
	out, known := l.pdbs[s]
	if known {
		return out[:len(out):len(out)]
	}
	for _, t := range l.order {
		if t.owners && t.counts(s) {
			out = append(out, t)
		}
	}
	l.pdbs[s] = out
	return out[:len(out):len(out)]
}

// put adds a pod on the host to all tallies that count it.
func (l *ledger) put(s *cluster.Shape, h *host, ending bool) {
	list, known := l.counted[s]
	if !known {
		for _, t := range l.order {
			if !t.owners && t.counts(s) {
				list = append(list, t)
			}
		}
		list = append(list, l.rules[s].owned...)
		l.counted[s] = list
	}
	for _, t := range list {
		if ending && t.spread {
			continue
		}
		if d := t.domain[h.number]; d >= 0 {
			t.pods[d]++
		}
		t.all++
	}
}

func chooses(n *cluster.Neighbours, s *cluster.Shape) bool {
	if !n.Selector.Matches(s.Labels) {
		return false
	}
	for _, namespace := range n.Namespaces {
		if namespace == s.Namespace {
			return true
		}
	}
	return n.AllNamespaces
}

func neighbourText(n *cluster.Neighbours) string {
	return fmt.Sprint(n.Key, n.Namespaces, n.AllNamespaces, selectorText(n.Selector))
}

func selectorText(s cluster.Selector) string { return fmt.Sprint(s.Nothing, s.Requirements.String()) }
