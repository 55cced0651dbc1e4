package disruption

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/core/cluster"
)

// Guards finds PodDisruptionBudgets by namespace and name. It is the one rule of
// what keeps a pod: whoever looks once more before a node goes asks it too.
type Guards map[[2]string]*cluster.Guard

// GuardsOf makes PodDisruptionBudgets ready to be asked; the list is not written.
func GuardsOf(list []cluster.Guard) Guards {
	out := Guards{}
	for i := range list {
		out[[2]string{list[i].Namespace, list[i].Name}] = &list[i]
	}
	return out
}

// Hold says why a pod must not be evicted now; empty: it may, or no drain
// waits for it.
func (g Guards) Hold(p *cluster.Pod) string {
	if p.Ending {
		return ""
	}
	if p.DoNotDisrupt {
		return fmt.Sprintf("pod %s/%s carries %s", p.Namespace, p.Name, wordOf(p))
	}
	if !p.Evictable() {
		return ""
	}
	if p.LastOf != "" {
		return fmt.Sprintf("pod %s/%s is the last ready one of Service %s, and is to stay until another is ready", p.Namespace, p.Name, p.LastOf)
	}
	if p.Guards == "" || p.Pending { // the eviction API asks no budget about a pod in that phase
		return ""
	}
	if strings.Contains(p.Guards, ",") {
		return fmt.Sprintf("pod %s/%s has several PodDisruptionBudgets (%s), with which the eviction API refuses every eviction; leave it one",
			p.Namespace, p.Name, p.Guards)
	}
	guard := g[[2]string{p.Namespace, p.Guards}]
	switch {
	case guard == nil || guard.Allowed > 0 || guard.UnreadyToo && p.Unready:
		return ""
	case guard.Never:
		why := ", as it is written"
		if guard.Why != "" {
			why = ": " + guard.Why
		}
		return fmt.Sprintf("PodDisruptionBudget %s/%s never allows an eviction%s; pod %s is one of its pods", p.Namespace, p.Guards, why, p.Name)
	}
	return fmt.Sprintf("PodDisruptionBudget %s/%s allows no eviction now; pod %s is one of its pods", p.Namespace, p.Guards, p.Name)
}

// wordOf is the annotation by which a pod is not to be disturbed.
func wordOf(p *cluster.Pod) string {
	if p.DoNotEvict {
		return "do-not-evict"
	}
	return "do-not-disrupt"
}
