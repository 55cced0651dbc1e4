package view

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/explanation"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/observe/record"
)

// Card explains one object: what it is doing, why, and what would change that.
type Card struct {
	About  string             `json:"about"`            // "pod shop/web-1"
	State  string             `json:"state"`            // in a sentence without its subject: "waits for a node"
	Since  time.Time          `json:"since,omitzero"`   // when that began; zero: not known
	Bad    bool               `json:"bad,omitempty"`    // it needs somebody
	Facts  []Fact             `json:"facts,omitempty"`  // what it is
	Why    []Cause            `json:"why,omitempty"`    // the rules that say no, those with the fewest objects first
	Change []Cause            `json:"change,omitempty"` // what would change it, the least change first
	Blocks []Block            `json:"blocks,omitempty"` // what keeps it as it is
	Lately []Event            `json:"lately,omitempty"` // the newest first
	Record []record.Statement `json:"record,omitempty"` // all that is on record about it
}

// Fact is a property with its value.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Cause is what says no and why, or what would say yes and with which change.
type Cause struct {
	About string `json:"about,omitempty"` // what says no: "8 of 11 nodes", "NodePool/default"
	What  string `json:"what"`            // by which rule: "cpu", "taint dedicated"; or what it lacks
}

// Block is what keeps an object as it is.
type Block struct {
	What  string    `json:"what"` // "budget", "pod shop/db-0", "consolidateAfter"
	Text  string    `json:"text"`
	Until time.Time `json:"until,omitzero"` // it ends by itself then; zero: it does not, or it is not known when
}

// ErrUnknown is wrapped by errors of Explain about objects that neither the cluster nor the record has.
var ErrUnknown = errors.New("nothing is known")

// latelyMost is how many events a card has.
const latelyMost = 8

// Explain makes the card of an object of any kind of the record; the name of a pod, CapacityBuffer or
// ProvisioningRequest begins with its namespace: "shop/web-1".
// about is what is on record about it.
//
// Cost: linear in nodes, for each shape of pods that is concerned.
func Explain(in Input, o record.Object, about []record.Statement) (Card, error) {
	k := newKnown(&in)
	card := Card{About: strings.Replace(o.String(), "/", " ", 1), Record: about, Lately: eventsOf(about)}
	card.Lately = card.Lately[:min(len(card.Lately), latelyMost)]
	var known bool
	switch o.Kind {
	case record.Pod:
		known = k.explainPod(&card, o.Name)
	case record.Pool, record.Provisioner:
		known = k.explainPool(&card, o)
	case record.Quota:
		known = k.explainQuota(&card, o.Name)
	case record.Overlay:
		known = explainOverlay(k.Snapshot, &card, o.Name)
	case record.Buffer:
		known = k.explainBuffer(&card, o.Name)
	case record.Request:
		known = k.explainRequest(&card, o.Name)
	default:
		known = k.explainNode(&card, o)
	}
	if !known && !o.Kind.Recorded() {
		return card, fmt.Errorf("%w about %s: the cluster has %s", ErrUnknown, card.About, namesOf(k.Snapshot, o.Kind))
	}
	if !known && len(about) == 0 {
		return card, fmt.Errorf("%w about %s: neither the cluster nor the record has it", ErrUnknown, card.About)
	}
	if !known {
		k.gone(&card)
	}
	return card, nil
}

// gone is the state of what only the record has.
func (k *known) gone(card *Card) {
	last := &card.Record[0]
	card.State = "is not in the cluster; the last that is on record: " + because(last)
	card.Since = last.From
}

// ExplainOwner makes the card of all pods of an owner, such as "Deployment/web" of a namespace.
func ExplainOwner(in Input, namespace, owner string) (Card, error) {
	k := newKnown(&in)
	card := Card{About: strings.Replace(owner, "/", " ", 1) + " in namespace " + namespace}
	on, unready, keeping := map[string]int{}, 0, map[string]int{}
	running := 0
	for i := range in.Snapshot.Nodes {
		n := &in.Snapshot.Nodes[i]
		for j := range n.Pods {
			p := &n.Pods[j]
			if p.Namespace != namespace || p.Owner != owner {
				continue
			}
			running++
			on[n.Name]++
			if p.Unready {
				unready++
			}
			if why := keeps(p); why != "" {
				keeping[why]++
			}
		}
	}
	waiting := k.ownedWaiting(namespace, owner)
	if running+len(waiting) == 0 {
		return card, fmt.Errorf("%w about %s: no pod in the cluster has this owner", ErrUnknown, card.About)
	}
	card.State = fmt.Sprintf("has %s on %s", brief.Counted(running, "pod"), brief.Counted(len(on), "node"))
	if unready > 0 {
		card.State += fmt.Sprintf(", %d of them not ready", unready)
	}
	if len(waiting) > 0 {
		card.State += fmt.Sprintf(", and %s for a node", brief.Counted(len(waiting), "pod waits", "pods wait"))
		k.explainWaiting(&card, waiting)
	}
	for why, n := range keeping {
		card.Blocks = append(card.Blocks, Block{What: brief.Counted(n, "pod"), Text: "keep their nodes by " + why})
	}
	slices.SortFunc(card.Blocks, func(a, b Block) int { return cmp.Compare(a.Text, b.Text) })
	return card, nil
}

func (k *known) ownedWaiting(namespace, owner string) (out []cluster.Pod) {
	for i := range k.Snapshot.Waiting {
		if p := &k.Snapshot.Waiting[i]; p.Namespace == namespace && p.Owner == owner {
			out = append(out, *p)
		}
	}
	return out
}

func (k *known) explainPod(card *Card, name string) bool {
	namespace, short, _ := strings.Cut(name, "/")
	is := func(p *cluster.Pod) bool { return p.Namespace == namespace && p.Name == short }
	for i := range k.Snapshot.Waiting {
		if p := &k.Snapshot.Waiting[i]; is(p) {
			card.State, card.Since = "waits for a node", p.CreatedAt
			k.podFacts(card, p)
			k.explainWaiting(card, []cluster.Pod{*p})
			return true
		}
	}
	for i := range k.Snapshot.Nodes {
		n := &k.Snapshot.Nodes[i]
		for j := range n.Pods {
			if p := &n.Pods[j]; is(p) {
				k.explainRunning(card, n, p)
				return true
			}
		}
	}
	return false
}

func (k *known) podFacts(card *Card, p *cluster.Pod) {
	card.Facts = append(card.Facts, Fact{"requests", p.Takes().String()})
	if p.Owner != "" {
		card.Facts = append(card.Facts, Fact{"owner", p.Owner})
	}
}

// explainRunning explains a pod on a node.
func (k *known) explainRunning(card *Card, n *cluster.Node, p *cluster.Pod) {
	row := k.node(n)
	card.State, card.Since = "runs on node "+n.Name, p.StartedAt
	switch {
	case p.Ending:
		card.State = "is ending on node " + n.Name
	case p.Pending:
		card.State = "is starting on node " + n.Name
	case p.Unready:
		card.State, card.Bad = "runs on node "+n.Name+" and is not ready", true
	}
	if row.Status != Ready {
		card.State += ", which is " + string(row.Status) + brief.After(": ", row.Reason)
	}
	k.podFacts(card, p)
	card.Facts = append(card.Facts, Fact{"node", fmt.Sprintf("%s in %s, %s", row.Type, row.Zone, row.CapacityType)})
	if why := keeps(p); why != "" {
		card.Blocks = append(card.Blocks,
			Block{What: "node " + n.Name, Text: "stays because of " + why, Until: p.ProtectedUntil})
	}
	if place := k.says(record.Pod, p.Namespace+"/"+p.Name, record.TopicPlace); place != nil {
		card.State += "; it " + because(place)
	}
}

// placeless ends the state of pods for which no plan has a place.
const placeless = ": there is no place"

// explainWaiting explains pods that wait, group by group of equal shapes.
func (k *known) explainWaiting(card *Card, pods []cluster.Pod) {
	elsewhere := explanation.NewElsewhere(k.Snapshot)
	var order []*cluster.Shape
	byShape := map[*cluster.Shape][]cluster.Pod{}
	for _, p := range pods {
		if byShape[p.Shape] == nil {
			order = append(order, p.Shape)
		}
		byShape[p.Shape] = append(byShape[p.Shape], p)
	}
	for _, shape := range order {
		group := byShape[shape]
		reason, placed := k.placeOf(&group[0])
		if placed || !looked(reason) {
			card.State += "; it " + reason
			continue
		}
		card.Bad = true
		if !strings.HasSuffix(card.State, placeless) {
			card.State += placeless
		}
		tried := elsewhere.ForWaiting(group)
		k.causes(card, &tried, strings.TrimPrefix(reason, "has no place: "))
	}
}

// causes adds why pods have no place, and what would change that.
func (k *known) causes(card *Card, t *explanation.Tried, ofPools string) {
	if t.Nodes > 0 {
		for _, b := range slices.Backward(t.Barred) {
			card.Why = append(card.Why, Cause{About: fmt.Sprintf("%d of %d nodes", b.Nodes, t.Nodes), What: b.By})
		}
	}
	last := -1 // the cause that the part before belongs to
	for part := range strings.SplitSeq(ofPools, "; ") {
		about, text, of := strings.Cut(part, ": ")
		of = of && strings.Contains(about, "/") && !strings.Contains(about, " ")
		switch {
		case of:
			card.Why = append(card.Why, Cause{What: text, About: about})
		case last < 0:
			card.Why = append(card.Why, Cause{What: part})
		default: // a reason with a semicolon of its own
			card.Why[last].What += "; " + part
			continue
		}
		last = len(card.Why) - 1
	}
	for _, c := range t.Nearest {
		card.Change = append(card.Change, Cause{About: "node " + c.Node, What: c.Changes.String()})
	}
}

func (k *known) explainNode(card *Card, o record.Object) bool {
	for i := range k.Snapshot.Nodes {
		if n := &k.Snapshot.Nodes[i]; o.Kind == record.Node && n.Name == o.Name || o.Kind == record.Claim && n.Claim == o.Name {
			k.nodeCard(card, n, i)
			return true
		}
	}
	for i := range k.Snapshot.Instances {
		if m := &k.Snapshot.Instances[i]; o.Kind == record.Claim && m.Claim == o.Name {
			row := k.instance(m)
			card.State, card.Since = "is "+string(row.Status)+brief.After(": ", row.Reason), row.Created
			card.Bad = row.Status == Pending && strings.HasPrefix(row.Reason, "has no instance yet")
			nodeFacts(card, &row)
			return true
		}
	}
	return false
}

func nodeFacts(card *Card, n *Node) {
	add := func(name, value string) {
		if value != "" {
			card.Facts = append(card.Facts, Fact{name, value})
		}
	}
	add("instance", strings.Join(brief.NonEmpty(n.Type, n.Zone, n.CapacityType, n.Instance), ", "))
	add("of", strings.TrimPrefix(n.Owner.String(), "-"))
	if n.Cost.Known {
		add("cost", fmt.Sprintf("$%.3f/h ($%.0f a month)", n.Cost.PerHour, n.Cost.PerMonth()))
	}
	var used []string
	for _, u := range n.Use {
		if u.Requested > 0 {
			used = append(used,
				fmt.Sprintf("%s %s of %s", u.Resource, Amount(u.Resource, u.Requested),
					Amount(u.Resource, u.Allocatable)))
		}
	}
	add("requested", strings.Join(used, ", "))
}

func (k *known) nodeCard(card *Card, n *cluster.Node, at int) {
	row := k.node(n)
	card.State, card.Since = "is "+string(row.Status)+brief.After(": ", row.Reason), time.Time{}
	card.Bad = row.Status == NotReady
	nodeFacts(card, &row)
	if kept := k.says(record.Node, n.Name, record.TopicBuffer); kept != nil {
		card.Facts = append(card.Facts, Fact{"keeps capacity", "for " + kept.Why})
	}
	k.overlayFacts(card, n, row.Cost.Known)
	if stay := k.says(record.Node, n.Name, record.TopicStay); stay != nil {
		card.State += ", and " + because(stay)
		card.Since = stay.From
	}
	k.nodeBlocks(card, n)
	if !n.Deleting {
		elsewhere := explanation.NewElsewhere(k.Snapshot)
		for _, t := range elsewhere.Of(at) {
			k.movesNot(card, &t)
		}
	}
}

// overlayFacts name the NodeOverlays that set the price of a node, where it is known, and its resources. A node that is
// older than an overlay may not have them.
func (k *known) overlayFacts(card *Card, n *cluster.Node, priced bool) {
	if by := overlay.PriceBy(k.Snapshot, n.Labels); by != nil && priced {
		card.Facts = append(card.Facts, Fact{"price", "set by NodeOverlay " + by.Name})
	}
	pool, known := k.Snapshot.Pool(n.Pool)
	if !known {
		return
	}
	kind, _ := n.Labels.Get(cluster.LabelInstanceType)
	if t := pool.Catalogue.InstanceType(kind); t != nil {
		for _, x := range overlay.CapacityBy(k.Snapshot, pool, t) {
			text := fmt.Sprintf("%s, set by NodeOverlay %s", Amount(x.Name, x.Amount), x.By)
			if has := n.Allocatable.Get(x.Name); has != x.Amount {
				text = fmt.Sprintf("%s; new nodes have %s", Amount(x.Name, has), text)
			}
			card.Facts = append(card.Facts, Fact{x.Name, text})
		}
	}
}

// movesNot adds what keeps pods of a node from other nodes.
func (k *known) movesNot(card *Card, t *explanation.Tried) {
	name := t.Pods[0].Namespace + "/" + t.Pods[0].Name
	if more := len(t.Pods) - 1; more > 0 {
		name += fmt.Sprintf(" and %d like it", more)
	}
	if len(t.Roomy) > 0 || t.Nodes == 0 {
		return
	}
	var ways []string
	for _, b := range slices.Backward(t.Barred) {
		ways = append(ways, fmt.Sprintf("%s on %d", b.By, b.Nodes))
	}
	card.Why = append(card.Why,
		Cause{About: "pod " + name,
			What: fmt.Sprintf("no room on %s: %s", brief.Counted(t.Nodes, "other node"), strings.Join(ways, ", "))})
	if len(t.Nearest) > 0 {
		nearest := t.Nearest[0]
		card.Change = append(card.Change,
			Cause{About: "pod " + name, What: "to node " + nearest.Node + ": " + nearest.Changes.String()})
	}
}

// nodeBlocks adds what keeps a node.
func (k *known) nodeBlocks(card *Card, n *cluster.Node) {
	add := func(what, text string, until time.Time) { card.Blocks = append(card.Blocks, Block{what, text, until}) }
	if n.DoNotDisrupt {
		add("node", "annotation karpenter.sh/do-not-disrupt", time.Time{})
	}
	for i := range n.Pods {
		if p := &n.Pods[i]; keeps(p) != "" && !p.Daemon && !p.Mirror {
			add("pod "+p.Namespace+"/"+p.Name, keeps(p), p.ProtectedUntil)
		}
	}
	if pool, has := k.Snapshot.Pool(n.Pool); has {
		row := k.pool(pool, nil)
		if row.Allowed == 0 {
			add(pool.ID.String(), "no more nodes may be disrupted now: "+row.Because, pool.Policy.BudgetsChange)
		}
		if after := n.QuietSince.Add(pool.Policy.After); !n.QuietSince.IsZero() && after.After(k.Snapshot.Now) {
			add("consolidateAfter", "pods came or went lately", after)
		}
	}
	if n.Rests != "" {
		add("node", n.Rests, time.Time{})
	}
	if !n.ExpiresAt.IsZero() {
		add("expireAfter", "it is replaced by then", n.ExpiresAt)
	}
}

func (k *known) explainPool(card *Card, o record.Object) bool {
	at := slices.IndexFunc(k.Snapshot.Pools,
		func(p cluster.Pool) bool { return recordKind(p.ID) == o.Kind && p.ID.Name == o.Name })
	if at < 0 {
		return false
	}
	p := &k.Snapshot.Pools[at]
	var nodes []Node
	for i := range k.Snapshot.Nodes {
		if k.Snapshot.Nodes[i].Pool == p.ID {
			nodes = append(nodes, k.node(&k.Snapshot.Nodes[i]))
		}
	}
	for i := range k.Snapshot.Instances {
		if k.Snapshot.Instances[i].Pool == p.ID {
			nodes = append(nodes, k.instance(&k.Snapshot.Instances[i]))
		}
	}
	row := k.pool(p, nodes)
	has := brief.Counted(row.Nodes, "node")
	if row.Replicas != nil {
		has = fmt.Sprintf("%d of %s that it keeps", row.Nodes, brief.Counted(int(*row.Replicas), "node"))
	}
	card.State = fmt.Sprintf("may launch instances, and has %s for %s", has,
		fmt.Sprintf("$%.3f/h", row.Cost.PerHour))
	if !row.Ready {
		card.State, card.Bad = "may launch nothing: "+row.Reason, true
	}
	card.Facts = []Fact{{"consolidation", row.Policies}}
	if row.Weight != 0 {
		card.Facts = append(card.Facts, Fact{"weight", fmt.Sprint(row.Weight)})
	}
	if p.OnDemand.Any() {
		has := k.Snapshot.Balance(p.ID)
		text := fmt.Sprintf("%s: %d of %d nodes", p.OnDemand, has.OnDemand, has.OnDemand+has.Spot)
		card.Facts = append(card.Facts, Fact{cluster.LimitOnDemand, text})
	}
	if p.Hours.Nodes != nil {
		until := ""
		if !p.Hours.Until.IsZero() {
			until = " until " + p.Hours.Until.UTC().Format(time.RFC3339)
		}
		nodes := brief.Counted(int(*p.Hours.Nodes), "node")
		card.Facts = append(card.Facts, Fact{"hours", nodes + until})
	}
	var names []string
	for _, o := range overlay.Concern(k.Snapshot, p) {
		names = append(names, o.Name)
	}
	if len(names) > 0 {
		card.Facts = append(card.Facts, Fact{"overlays", strings.Join(names, ", ")})
	}
	for _, l := range row.Limits {
		text := fmt.Sprintf("%s of %s used", Amount(l.Resource, l.Used), Amount(l.Resource, l.Limit))
		card.Facts = append(card.Facts, Fact{"limit " + l.Resource, text})
		if l.Reached() {
			card.Blocks = append(card.Blocks, Block{What: "limit " + l.Resource, Text: "it is reached: " + text})
		}
	}
	if want := k.says(o.Kind, o.Name, record.TopicWanting); want != nil {
		card.Bad = true
		card.State += "; it has no instance for some pods"
		for _, line := range append([]string{want.Why}, want.More...) {
			pods, why, _ := strings.Cut(line, ": ")
			card.Why = append(card.Why, Cause{About: pods, What: why})
		}
	}
	if row.Allowed == 0 && row.Nodes > 0 {
		card.Blocks = append(card.Blocks,
			Block{"disruption", "no more nodes may be disrupted now: " + row.Because, p.Policy.BudgetsChange})
	} else {
		card.Facts = append(card.Facts, Fact{"may go now", brief.Counted(int(row.Allowed), "node")})
	}
	return true
}
