package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/observe/record"
)

// Severity says how much a problem matters.
type Severity int

// The severities.
const (
	Notice  Severity = iota // somebody asked for it, or it ends by itself
	Warning                 // it may need somebody
	Failure                 // pods wait because of it, or something that was asked for does not happen
)

// Problem is something that is wrong.
type Problem struct {
	Severity Severity `json:"severity"` // 0 to 2, the worst
	About    string   `json:"about"`    // "NodePool/default", "shop/Deployment/web"; empty: the cluster
	Text     string   `json:"text"`
}

// problems lists what is wrong, the worst first.
func (k *known) problems(c *Cluster) []Problem {
	out := []Problem{}
	add := func(s Severity, about, format string, args ...any) {
		out = append(out, Problem{s, about, fmt.Sprintf(format, args...)})
	}
	if c.Controller != nil && c.Controller.Standing == Idle {
		add(Failure, "", "no controller acts, so no instance is launched or removed: %s", c.Controller.Why)
	}
	for i := range c.Waiting {
		if w := &c.Waiting[i]; w.Stuck() {
			add(Failure, w.Name(), "%s without a place: %s", brief.Counted(w.Count, "pod"),
				pointing(c, strings.TrimPrefix(w.Reason, "has no place: ")))
		}
	}
	for i := range c.Pools {
		p := &c.Pools[i]
		if !p.Ready {
			add(Failure, p.ID(), "it may launch nothing: %s", p.Reason)
		}
		if p.Missing > 0 && p.Ready {
			add(Failure, p.ID(), "%d of %d nodes (%s) are missing: limits, or what AWS has, allow no more", p.Missing, *p.Replicas, p.SaidBy)
		}
		for _, l := range p.Limits {
			if l.Reached() {
				add(Warning, p.ID(), "limit %s is reached: %s of %s", l.Resource, Amount(l.Resource, l.Used),
					Amount(l.Resource, l.Limit))
			}
		}
	}
	for i := range k.Snapshot.Quotas {
		q := &k.Snapshot.Quotas[i]
		if q.Unreadable != "" {
			add(Failure, q.String(), "no node is launched that it selects: %s", q.Unreadable)
		}
		counts := k.counting(q)
		if counts.Unpriced != "" {
			add(Failure, q.String(), "no node is launched that it selects: the price of node or NodeClaim %s is not known",
				counts.Unpriced)
		}
		for _, l := range q.Limits.List() {
			if used := counts.Of(l.Name); used >= l.Amount {
				add(Warning, q.String(), "limit %s is reached: %s of %s", l.Name, Amount(l.Name, used),
					Amount(l.Name, l.Amount))
			}
		}
	}
	for i := range k.Snapshot.Buffers {
		b := &k.Snapshot.Buffers[i]
		if lacks := k.says(record.Buffer, b.Namespace+"/"+b.Name, record.TopicBuffer); lacks != nil {
			add(Warning, "CapacityBuffer/"+b.Namespace+"/"+b.Name, "it %s: %s", lacks.Said, lacks.Why)
		}
	}
	for i := range k.Snapshot.Requested {
		r := &k.Snapshot.Requested[i]
		if lacks := k.says(record.Request, r.Namespace+"/"+r.Name, record.TopicBuffer); lacks != nil {
			add(Warning, "ProvisioningRequest/"+r.Namespace+"/"+r.Name, "it %s: %s", lacks.Said, lacks.Why)
		}
	}
	for i := range c.Nodes {
		k.problemOf(&c.Nodes[i], add)
	}
	for i := range k.Snapshot.Breakers {
		if b := &k.Snapshot.Breakers[i]; b.Gone >= b.Most {
			add(Warning, "DisruptionPolicy/"+b.Name,
				"its breaker stops all voluntary disruption: %d of %d nodes have gone", b.Gone, b.Most)
		}
	}
	if k.Snapshot.Freeze != "" {
		text := "no node is disrupted: " + k.Snapshot.Freeze
		if until := k.Snapshot.FreezeUntil; !until.IsZero() {
			text += ", until " + until.UTC().Format(time.RFC3339)
		}
		add(Notice, "", "%s", text)
	}
	for _, p := range stuckBudgets(k.Snapshot.PDBs) {
		add(Notice, "PodDisruptionBudget/"+p.Namespace+"/"+p.Name, "it allows no eviction: %s", p.Why)
	}
	slices.SortStableFunc(out, func(a, b Problem) int { return cmp.Compare(b.Severity, a.Severity) })
	return out
}

// pointing is the reason with a word in place of what is said of the pools themselves.
func pointing(c *Cluster, reason string) string {
	for i := range c.Pools {
		if p := &c.Pools[i]; p.Reason != "" {
			reason = strings.ReplaceAll(reason, "pool is not ready: "+p.Reason,
				"the pool is not ready (see "+p.ID()+")")
		}
	}
	return reason
}

// drainTooLong is how long a drain may take before it is a problem that it has not ended: the default grace period of a
// pod is half a minute, and replacements start within minutes.
const drainTooLong = 15 * time.Minute

func (k *known) problemOf(n *Node, add func(Severity, string, string, ...any)) {
	about := "Node/" + n.Name
	if n.Name == "" {
		about = "NodeClaim/" + n.Claim
	}
	switch {
	case n.Status == NotReady:
		add(Warning, about, "the node is not ready%s", brief.After(": ", n.Reason))
	case n.Status == Pending && strings.HasPrefix(n.Reason, "has no instance yet"):
		add(Failure, about, "%s", n.Reason)
	case n.Status == Joining && !n.Created.IsZero() && k.Snapshot.Now.Sub(n.Created) > drainTooLong:
		add(Warning, about, "its instance has not joined the cluster for %s",
			k.Snapshot.Now.Sub(n.Created).Round(time.Minute))
	case n.Status == Draining && strings.Contains(n.Reason, " stays: "):
		add(Warning, about, "the drain waits%s", brief.After(": ", n.Reason))
	}
}

// stuckBudgets are budgets that never allow an eviction.
func stuckBudgets(all []cluster.PodDisruptionBudget) (out []cluster.PodDisruptionBudget) {
	for _, b := range all {
		if b.Never && b.Why != "" {
			out = append(out, b)
		}
	}
	return out
}
