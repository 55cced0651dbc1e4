package autoscaler

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/cloud/nodegroup"
)

// words are what the plan's commands are made of. An instance ends only after its node was found
// and drained: where kubectl or AWS does not answer nothing goes.
const words = `# Functions for the commands below: run them first.
instances_of() { # of a group, without those that are terminating
  aws autoscaling describe-auto-scaling-groups --auto-scaling-group-names "$1" --query 'AutoScalingGroups[].Instances[?LifecycleState==` + "`InService`" + `][].InstanceId' --output text | tr '\t' '\n'
}
node_of() { # of an instance
  kubectl get nodes -o jsonpath='{range .items[?(@.spec.providerID)]}{.metadata.name} {.spec.providerID}{"\n"}{end}' | awk -v id="/$1" 'index($2, id) {print $1}'
}
cordon_all() { # of a group
  for id in $(instances_of "$1"); do
    node=$(node_of "$id")
    [ -z "$node" ] || kubectl cordon "$node"
  done
}
uncordon_all() { # of a group
  for id in $(instances_of "$1"); do
    node=$(node_of "$id")
    [ -z "$node" ] || kubectl uncordon "$node"
  done
}
empty_some() { # of a group, as many nodes
  for id in $(instances_of "$1" | head -n "$2"); do
    node=$(node_of "$id")
    if [ -z "$node" ]; then
      echo "$id of $1 has no node, and stays: see why, and terminate it yourself"
      continue
    fi
    kubectl drain "$node" --ignore-daemonsets --delete-emptydir-data &&
      aws autoscaling terminate-instance-in-auto-scaling-group --instance-id "$id" --should-decrement-desired-capacity
  done
}
`

// replaced is a group, with the NodePool that takes its place.
type replaced struct {
	nodegroup.Group
	pool string
}

// plan is how the groups are emptied: a few nodes at a time, each drained before it goes.
// What is printed can be run step by step; the last step only defines how to go back.
func (s *Settings) plan(groups []replaced) string {
	if len(groups) == 0 {
		return ""
	}
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	b.WriteString(words)
	say("")
	say("# 1. Apply the manifests, and check that every NodePool is ready.")
	say("kubectl get nodepools")
	say("# 2. Stop the Cluster Autoscaler: two autoscalers would work against each other.")
	say("kubectl %sscale deployment %s --replicas=0", s.inNamespace(), s.Name)
	say("# 3. Empty each group, as many nodes at a time as the budget says. Drains respect PodDisruptionBudgets;")
	say("#    nodes of the NodePools are launched for the pods. Continue when none is pending: kubectl get pods -A --field-selector=status.phase=Pending")
	for _, g := range groups {
		budget := max((g.Desired+9)/10, 1)
		say("")
		say("# %s: %d nodes, %d at a time, %d rounds", g.Name, g.Desired, budget, (g.Desired+budget-1)/budget)
		if g.Managed != "" {
			say("aws eks update-nodegroup-config --cluster-name %s --nodegroup-name %s --scaling-config minSize=0", g.Cluster, g.Managed)
			say("aws eks wait nodegroup-active --cluster-name %s --nodegroup-name %s", g.Cluster, g.Managed)
		} else {
			say("aws autoscaling update-auto-scaling-group --auto-scaling-group-name '%s' --min-size 0", g.Name)
		}
		say("aws autoscaling suspend-processes --auto-scaling-group-name '%s' --scaling-processes AZRebalance", g.Name)
		say("# all first, so that no pod moves from one of them to another")
		say("cordon_all '%s'", g.Name)
		say("# one round; repeat it until the group has no instance")
		say("empty_some '%s' %d", g.Name, budget)
	}
	say("")
	s.back(groups, say)
	say("")
	say("# 4. When all are empty, and there is no going back: delete the groups, and the Cluster Autoscaler.")
	return b.String()
}

// back defines how all groups get the sizes that they had, and the NodePools go.
func (s *Settings) back(groups []replaced, say func(string, ...any)) {
	say("# To go back, from any step: go_back. Nodes of the NodePools go as their pods find room in the groups.")
	say("go_back() {")
	for _, g := range groups {
		if g.Managed != "" {
			say("  aws eks update-nodegroup-config --cluster-name %s --nodegroup-name %s --scaling-config minSize=%d,desiredSize=%d", g.Cluster, g.Managed, g.Min, g.Desired)
		} else {
			say("  aws autoscaling update-auto-scaling-group --auto-scaling-group-name '%s' --min-size %d --desired-capacity %d", g.Name, g.Min, g.Desired)
		}
		say("  aws autoscaling resume-processes --auto-scaling-group-name '%s' --scaling-processes AZRebalance", g.Name)
		say("  uncordon_all '%s'", g.Name)
	}
	say("  kubectl %sscale deployment %s --replicas=1", s.inNamespace(), s.Name)
	for _, g := range groups { // nodes of a deleted NodePool go by the budget for Drifted, which is 0
		say("  kubectl patch nodepool %s --type=merge --patch '{\"spec\": {\"disruption\": {\"budgets\": [{\"nodes\": \"10%%\"}]}}}'", g.pool)
		say("  kubectl delete nodepool %s --wait=false", g.pool)
	}
	say("}")
}

// inNamespace is the flag by which kubectl finds the Deployment; a manifest may leave it to
// kubectl's context.
func (s *Settings) inNamespace() string {
	if s.Namespace == "" {
		return ""
	}
	return "-n " + s.Namespace + " "
}
