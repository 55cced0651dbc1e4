package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/observe/record"
)

// explainQuota explains a CapacityQuota: what it allows, and what counts against it.
func (k *known) explainQuota(card *Card, name string) bool {
	at := slices.IndexFunc(k.Snapshot.Quotas, func(q cluster.Quota) bool { return q.Name == name })
	if at < 0 {
		return false
	}
	q := &k.Snapshot.Quotas[at]
	coming := 0
	for i := range k.Snapshot.Instances {
		if k.Snapshot.MayCount(q, &k.Snapshot.Instances[i]) {
			coming++
		}
	}
	selects := "all nodes"
	if len(q.Selector) > 0 {
		selects = "nodes with " + q.Selector.String()
	}
	card.State = "limits " + selects
	counts := k.counting(q)
	card.Facts = append(card.Facts, Fact{"nodes", fmt.Sprint(counts.Nodes)})
	if coming > 0 {
		card.Facts = append(card.Facts, Fact{"of them being launched", fmt.Sprint(coming)})
	}
	for _, l := range q.Limits.List() {
		used := counts.Of(l.Name)
		text := fmt.Sprintf("%s of %s used", Amount(l.Name, used), Amount(l.Name, l.Amount))
		card.Facts = append(card.Facts, Fact{"limit " + l.Name, text})
		if used >= l.Amount {
			card.Blocks = append(card.Blocks, Block{What: "limit " + l.Name, Text: "it is reached: " + text})
		}
	}
	switch {
	case q.Unreadable != "":
		card.State, card.Bad = "lets no node be launched that it may select: "+q.Unreadable, true
	case counts.Unpriced != "":
		card.Bad = true
		card.State += ", and lets none be launched: the price of node or NodeClaim " + counts.Unpriced + " is not known"
	case len(card.Blocks) > 0:
		card.State += ", and a limit is reached"
	}
	return true
}

// counting is what counts against a quota. Costs that the snapshot does not know, as where nobody asked AWS for prices,
// are those that the screens show.
func (k *known) counting(q *cluster.Quota) cluster.Used {
	out := q.Used
	if q.Limits.Cost == nil || out.Unpriced == "" {
		out.Unpriced = ""
		return out
	}
	out.Cost, out.Unpriced = 0, ""
	add := func(n Node, name string) {
		out.Cost += quantity.USDPerHour(n.Cost.PerHour)
		if !n.Cost.Known && (out.Unpriced == "" || name < out.Unpriced) {
			out.Unpriced = name
		}
	}
	for i := range k.Snapshot.Nodes {
		if n := &k.Snapshot.Nodes[i]; q.Selects(n.Labels) {
			add(k.node(n), n.Name)
		}
	}
	for i := range k.Snapshot.Instances {
		if m := &k.Snapshot.Instances[i]; k.Snapshot.MayCount(q, m) {
			add(k.instance(m), m.Claim)
		}
	}
	return out
}

// namesOf names the objects of a kind about which nothing is on record.
func namesOf(s *cluster.Snapshot, kind record.Kind) string {
	var names []string
	none := "no CapacityQuotas, or they have no effect"
	if kind == record.Overlay {
		none = "no NodeOverlays, or they have no effect"
		for i := range s.Overlays {
			names = append(names, s.Overlays[i].Name)
		}
	} else {
		for i := range s.Quotas {
			names = append(names, s.Quotas[i].Name)
		}
	}
	if len(names) == 0 {
		return none
	}
	return brief.List(names, namedMost)
}

// explainBuffer explains a CapacityBuffer: for what it keeps capacity, and where.
func (k *known) explainBuffer(card *Card, name string) bool {
	at := slices.IndexFunc(k.Snapshot.Buffers,
		func(b cluster.Buffer) bool { return b.Namespace+"/"+b.Name == name })
	if at < 0 {
		return false
	}
	b := &k.Snapshot.Buffers[at]
	lacks := k.says(record.Buffer, name, record.TopicBuffer)
	switch {
	case b.NotReady != "":
		card.State, card.Bad = "keeps no capacity: "+b.NotReady, true
	case lacks != nil:
		card.State, card.Since, card.Bad = lacks.Said, lacks.From, true
		card.Why = append(card.Why, Cause{What: lacks.Why})
	default:
		card.State = "keeps capacity for " + brief.Counted(int(b.Pods), "pod") + " that may come"
	}
	if b.Shape != nil {
		card.Facts = append(card.Facts, Fact{"requests of each", b.Shape.Requests.String()})
	}
	k.capacityOn(card, b.String())
	return true
}

// explainRequest explains a ProvisioningRequest: for what it asks capacity, how far it is, and where capacity is kept.
func (k *known) explainRequest(card *Card, name string) bool {
	at := slices.IndexFunc(k.Snapshot.Requested,
		func(r cluster.ProvisioningRequest) bool { return r.Namespace+"/"+r.Name == name })
	if at < 0 {
		return false
	}
	r, now := &k.Snapshot.Requested[at], k.Snapshot.Now
	pods := brief.Counted(int(r.Total()), "pod")
	lacks := k.says(record.Request, name, record.TopicBuffer)
	switch {
	case r.NotReady != "":
		card.State, card.Bad = "waits: "+r.NotReady, true
	case r.Books(now):
		card.State = "has capacity for " + pods + ", which is kept"
		card.Blocks = append(card.Blocks,
			Block{What: "booking", Text: "no other pod may count on the capacity", Until: r.BookedUntil})
	case r.Provisioned:
		card.State = "had capacity for " + pods + ", which is kept no longer"
	case lacks != nil:
		card.State, card.Since, card.Bad = lacks.Said+", so none is taken", lacks.From, true
		card.Why = append(card.Why, Cause{What: lacks.Why})
	default:
		card.State = "waits for capacity for " + pods
	}
	class := "check-capacity: nothing is launched for it"
	if r.Launches {
		class = "best-effort-atomic: what it lacks is launched"
	}
	card.Facts = append(card.Facts, Fact{"class", class})
	for i := range r.Sets {
		set := &r.Sets[i]
		text := brief.Counted(int(set.Pods), "pod")
		if set.Shape != nil {
			text += " of " + set.Shape.Requests.String()
		}
		if set.Come > 0 {
			text += fmt.Sprintf(", %d of them came", set.Come)
		}
		card.Facts = append(card.Facts, Fact{fmt.Sprintf("pod set %d", i+1), text})
	}
	if !r.Provisioned && r.RetryAt.After(now) {
		card.Blocks = append(card.Blocks, Block{"back-off", "no plan seeks its capacity before", r.RetryAt})
	}
	k.capacityOn(card, r.String())
	return true
}

// capacityOn adds the nodes on which capacity is kept for a buffer or request, and the NodeClaims on whose nodes it will
// be, by what is on record of them.
func (k *known) capacityOn(card *Card, name string) {
	var on []string
	add := func(kind record.Kind, holder, shown string) {
		s := k.says(kind, holder, record.TopicBuffer)
		if s == nil {
			return
		}
		for part := range strings.SplitSeq(s.Why, ", ") {
			if pods, is := strings.CutSuffix(part, " of "+name); is {
				on = append(on, fmt.Sprintf("%s (%s)", shown, pods))
			}
		}
	}
	for i := range k.Snapshot.Nodes {
		add(record.Node, k.Snapshot.Nodes[i].Name, k.Snapshot.Nodes[i].Name)
	}
	for i := range k.Snapshot.Instances {
		claim := k.Snapshot.Instances[i].Claim
		add(record.Claim, claim, "NodeClaim "+claim+", which starts")
	}
	if len(on) > 0 {
		card.Facts = append(card.Facts, Fact{"capacity on", brief.List(on, namedMost)})
	}
}

// namedMost is how many nodes, quotas or overlays are named.
const namedMost = 20
