package disruption

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/core/cluster"
)

// PDBs finds PodDisruptionBudgets by namespace and name. It is the one rule of what keeps a pod:
// the last check before a node is removed asks it too.
type PDBs map[[2]string]*cluster.PodDisruptionBudget

// PDBsOf makes PodDisruptionBudgets ready to be asked; the list is not written.
func PDBsOf(list []cluster.PodDisruptionBudget) PDBs {
	out := PDBs{}
	for i := range list {
		out[[2]string{list[i].Namespace, list[i].Name}] = &list[i]
	}
	return out
}

// Hold says why a pod must not be evicted now; empty: it may, or no drain
// waits for it.
func (g PDBs) Hold(p *cluster.Pod) string {
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
	if p.PDBs == "" || p.Pending { // the eviction API asks no budget about a pod in that phase
		return ""
	}
	if strings.Contains(p.PDBs, ",") {
		return fmt.Sprintf("pod %s/%s has several PodDisruptionBudgets (%s), with which the eviction API refuses every eviction; leave it one",
			p.Namespace, p.Name, p.PDBs)
	}
	pdb := g[[2]string{p.Namespace, p.PDBs}]
	switch {
	case pdb == nil || pdb.Allowed > 0 || pdb.UnreadyToo && p.Unready:
		return ""
	case pdb.Never:
		why := ", as it is written"
		if pdb.Why != "" {
			why = ": " + pdb.Why
		}
		return fmt.Sprintf("PodDisruptionBudget %s/%s never allows an eviction%s; pod %s is one of its pods", p.Namespace, p.PDBs, why, p.Name)
	}
	return fmt.Sprintf("PodDisruptionBudget %s/%s allows no eviction now; pod %s is one of its pods", p.Namespace, p.PDBs, p.Name)
}

// wordOf is the annotation by which a pod is not to be disturbed.
func wordOf(p *cluster.Pod) string {
	switch {
	case p.DoNotEvict:
		return "do-not-evict"
	case p.NotSafeToEvict:
		return "safe-to-evict: false"
	}
	return "do-not-disrupt"
}
