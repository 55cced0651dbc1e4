package autoscaler

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/cloud/nodegroup"
)

// plan is how the groups are emptied: a few nodes at a time, each drained before it goes.
// What is printed can be run step by step.
func (s *Settings) plan(groups []nodegroup.Group) string {
	if len(groups) == 0 {
		return ""
	}
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("# 1. Apply the manifests, and see that every NodePool is ready.")
	say("kubectl get nodepools")
	say("# 2. Stop the Cluster Autoscaler: two that scale would work against each other.")
	say("kubectl -n %s scale deployment %s --replicas=0", s.Namespace, s.Name)
	say("# 3. Empty each group, as many nodes at a time as the budget says. Drains respect PodDisruptionBudgets;")
	say("#    machines of the NodePools come for the pods. Go on when none is pending: kubectl get pods -A --field-selector=status.phase=Pending")
	for _, g := range groups {
		budget := max((g.Desired+9)/10, 1)
		say("")
		say("# %s: %d nodes, %d at a time, %d rounds", g.Name, g.Desired, budget, (g.Desired+budget-1)/budget)
		if g.Managed != "" {
			say("aws eks update-nodegroup-config --cluster-name %s --nodegroup-name %s --scaling-config minSize=0", g.Cluster, g.Managed)
		} else {
			say("aws autoscaling update-auto-scaling-group --auto-scaling-group-name '%s' --min-size 0", g.Name)
		}
		say("aws autoscaling suspend-processes --auto-scaling-group-name '%s' --scaling-processes AZRebalance", g.Name)
		say("# cordon all first, so that no pod moves from one of them to another")
		say("for id in $(aws autoscaling describe-auto-scaling-groups --auto-scaling-group-names '%s' --query 'AutoScalingGroups[].Instances[].InstanceId' --output text); do", g.Name)
		say("  kubectl get nodes -o jsonpath=\"{range .items[?(@.spec.providerID)]}{.metadata.name} {.spec.providerID}{'\\n'}{end}\" | awk -v id=\"/$id\" 'index($2, id) {print $1}' | xargs -r kubectl cordon")
		say("done")
		say("# one round; repeat it until the group has no instance")
		say("for id in $(aws autoscaling describe-auto-scaling-groups --auto-scaling-group-names '%s' --query 'AutoScalingGroups[].Instances[].InstanceId' --output text | tr '\\t' '\\n' | head -n %d); do", g.Name, budget)
		say("  kubectl get nodes -o jsonpath=\"{range .items[?(@.spec.providerID)]}{.metadata.name} {.spec.providerID}{'\\n'}{end}\" | awk -v id=\"/$id\" 'index($2, id) {print $1}' | xargs -r kubectl drain --ignore-daemonsets --delete-emptydir-data &&")
		say("    aws autoscaling terminate-instance-in-auto-scaling-group --instance-id \"$id\" --should-decrement-desired-capacity")
		say("done")
		say("# to go back: scale the group up, and start the Cluster Autoscaler again")
	}
	say("")
	say("# 4. When all are empty: delete the groups, and the Cluster Autoscaler.")
	return b.String()
}
