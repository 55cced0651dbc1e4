package disruption

import (
	"fmt"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// SavesMoney reports whether a node goes for this reason since money is saved by it, and
// not since its user, its age or its cloud asks for it.
func SavesMoney(reason plan.RemovalReason) bool {
	return reason == plan.Empty || reason == plan.Underutilized
}

// EndsWork says which work ends for good if the pods are evicted, so that they are not to
// save money; empty: none. It is the one rule for that: the check right before a node is
// deleted asks it too. Pods of one Job count together: each that is evicted counts
// as failed.
func EndsWork(pods []cluster.Pod) string {
	failing := map[job]int{}
	for i := range pods {
		p := &pods[i]
		if p.OneOff != "" && !p.Ending {
			return fmt.Sprintf("pod %s/%s would not be created again: %s. %s", p.Namespace, p.Name, p.OneOff, letGo)
		}
		countFailing(failing, p)
	}
	return fails(pods, failing)
}

// letGo is the way out.
const letGo = "To let it end, annotate it with karpenter.sh/do-not-disrupt=false"

func tooMany(p *cluster.Pod, n int) string {
	more := "one more failed pod"
	if p.Retries > 1 {
		more = fmt.Sprintf("%d more failed pods", p.Retries)
	}
	return fmt.Sprintf("%s in namespace %s fails after %s (backoffLimit), and %d of its pods would be evicted together. Raise backoffLimit, or have its podFailurePolicy ignore the condition DisruptionTarget",
		p.Owner, p.Namespace, more, n)
}

// job names the owner of pods.
type job struct{ namespace, owner string }

func jobOf(p *cluster.Pod) job { return job{p.Namespace, p.Owner} }

// failing counts, by Job, the pods that are evicted as things are: those of nodes that
// are being deleted, and of moves of this search.
func (x *safety) failing() map[job]int {
	if x.evicted == nil {
		x.evicted = map[job]int{}
		for i := range x.snapshot.Nodes {
			if n := &x.snapshot.Nodes[i]; n.Deleting {
				countAll(x.evicted, n)
			}
		}
	}
	return x.evicted
}

func countAll(failing map[job]int, n *cluster.Node) {
	for i := range n.Pods {
		countFailing(failing, &n.Pods[i])
	}
}

func countFailing(failing map[job]int, p *cluster.Pod) {
	if p.Retries > 0 && !p.Ending {
		failing[jobOf(p)]++
	}
}

// fails says which Job of the pods fails where so many of its pods are evicted; empty: none.
func fails(pods []cluster.Pod, failing map[job]int) string {
	for i := range pods {
		if p := &pods[i]; p.Retries > 0 && failing[jobOf(p)] > p.Retries {
			return tooMany(p, failing[jobOf(p)])
		}
	}
	return ""
}

// failsJob says which Job fails if the node goes beside what goes already; empty: none.
func (x *safety) failsJob(c *candidate) string {
	together := map[job]int{}
	countAll(together, c.Node)
	for of := range together {
		together[of] += x.failing()[of]
	}
	return fails(c.Pods, together)
}
