package disruption

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/daemok/daemok/core/plan"
)

// Instances that replace nodes which grow too old are launched so long before the end as instances of the
// pool take to come, by what was seen, and these where nothing was; and up to a tenth of the node's life
// or an hour earlier, each node by another length, so that nodes which were born together do not all go
// together. All that together is at most a tenth of the node's life, so that one that may live for no
// longer than its replacement takes to come is not replaced over and over: its pods wait then.
const (
	bootUnseen    = 2 * time.Minute
	spreadShare   = 10 // of the life, one part
	spreadMost    = time.Hour
	bootAllowance = 30 * time.Second // for the second check and draining
)

// orderAt is when the replacement of a node that will be too old is launched.
func orderAt(c *candidate) time.Time {
	boot := c.pool.Boot
	if boot == 0 {
		boot = bootUnseen
	}
	most := c.ExpiresAt.Sub(c.CreatedAt) / spreadShare
	spread := time.Duration(float64(float64(min(most, spreadMost)) * spot(c.Claim)))
	return c.ExpiresAt.Add(-min(most, boot+bootAllowance+spread))
}

// spot is a number from 0 to 1 that is always the same for a name.
func spot(name string) float64 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return float64(h.Sum32()) / float64(1<<32)
}

// expiry lets nodes go that are too old, or will be when their replacement has
// come: the oldest first. Budgets do not stop it, and neither do pods that must
// not be disturbed: those are left alone while the node drains. From the moment
// that a node is too old it goes whether there is a place for its pods or not, and
// whether its drain would end or not; neither does it go before. Only a clock in doubt
// holds it, by which no age is certain.
func (x *Search) expiry(all []*candidate) task {
	var due []*candidate
	for _, c := range all {
		if !c.ExpiresAt.IsZero() && !orderAt(c).After(x.snapshot.Now) {
			due = append(due, c)
		}
	}
	slices.SortStableFunc(due, func(a, b *candidate) int {
		return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), cmp.Compare(a.Name, b.Name))
	})
	return func() bool {
		if len(due) == 0 {
			return false
		}
		c := due[0]
		due = due[1:]
		x.expire(c)
		return len(due) > 0
	}
}

// inAnyEvent is what is said of a node whose drain would not end.
const inAnyEvent = "; it goes at its age in any event"

// neverEvicted says which PodDisruptionBudget never lets the drain of the node end, so
// that a replacement would stand idle beside it; empty: none does, or pods are given a term.
func (x *safety) neverEvicted(c *candidate) string {
	if c.HasGrace {
		return ""
	}
	for i := range c.Pods {
		if p := &c.Pods[i]; p.Kept && !p.Uprooted && !p.DoNotDisrupt {
			return x.pdbs.Hold(p)
		}
	}
	return ""
}

func (x *Search) expire(c *candidate) {
	past := !c.ExpiresAt.After(x.snapshot.Now)
	if x.snapshot.Freeze != "" && (!past || x.snapshot.FreezeAll) {
		x.keepBy(c, plan.Expired, plan.KeptByRule, x.snapshot.Freeze)
		return
	}
	if c.Rests != "" {
		x.keepBy(c, plan.Expired, plan.KeptByTime, c.Rests)
		return
	}
	if why := x.safety.leaderless(c, true); why != "" && !past {
		x.keepBy(c, plan.Expired, plan.KeptByRule, why)
		return
	}
	note := fmt.Sprintf("it may live for %s", c.ExpiresAt.Sub(c.CreatedAt))
	if why := x.safety.neverEvicted(c); why != "" && !past {
		x.keepBy(c, plan.Expired, plan.KeptByRule, why+inAnyEvent)
		return
	} else if why != "" {
		note += "; its drain waits: " + why
	}
	if c.succeeded() {
		if !past {
			x.succession.succeed(c, plan.Expired, note)
			return
		}
		answer, lacks := x.succession.successor(c)
		if answer == nil {
			note += "; " + lacks
		}
		x.let(c, plan.Expired, note, answer)
		return
	}
	if len(c.moving) == 0 {
		switch {
		case !past && (!IsEmpty(c.Node) || x.needed[c.Name] || len(c.LaunchedFor) > 0):
			return
		case x.safety.lacksOnDemand(c, nil) == "":
			x.let(c, plan.Expired, note, nil)
			return
		}
	}
	if x.takes[c.Name] && !past {
		x.keepBy(c, plan.Expired, plan.KeptByTime, "pods of nodes that go are on their way to it")
		return
	}
	answer, preferences := x.homes(c)
	if !no(answer) {
		kept, lacks := x.succession.keepingOnDemand(c, answer)
		switch {
		case lacks == "":
			answer = kept
		case past:
			note += "; " + lacks
		default:
			x.keep(c, plan.Expired, lacks+inAnyEvent)
			return
		}
	}
	stall := ""
	if !no(answer) && !c.HasGrace {
		stall = x.safety.neverDrains(c, answer)
	}
	switch {
	case stall != "" && !past:
		x.keep(c, plan.Expired, stall+inAnyEvent)
	case !no(answer):
		if stall != "" {
			note += "; " + stall
		}
		x.let(c, plan.Expired, note, answer)
		x.economy.setAside(c, preferences)
	case past:
		x.let(c, plan.Expired, note+"; no place was found for its pods: "+why(answer), nil)
	default:
		x.keep(c, plan.Expired, "no place for its pods yet: "+why(answer))
	}
}
