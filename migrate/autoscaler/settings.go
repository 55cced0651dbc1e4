package autoscaler

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/daemok/daemok/migrate/convert"
)

// Settings are those of a Cluster Autoscaler.
type Settings struct {
	Namespace, Name string              // of its Deployment
	Flags           map[string][]string // by name, without dashes; a flag may be given several times
	Kept            []string            // groups that stay as they are, by the names of Auto Scaling groups or of EKS
	order           []string
}

// Read reads the settings of the Cluster Autoscaler among Deployments. Several, or none, are
// an error.
func Read(deployments []appsv1.Deployment) (*Settings, error) {
	var found []*Settings
	for i := range deployments {
		d := &deployments[i]
		for _, c := range d.Spec.Template.Spec.Containers {
			words := slices.Concat(c.Command, c.Args)
			if !strings.Contains(c.Image, "cluster-autoscaler") && (len(words) == 0 || !strings.HasSuffix(words[0], "cluster-autoscaler")) {
				continue
			}
			s := &Settings{Namespace: d.Namespace, Name: d.Name, Flags: map[string][]string{}}
			s.parse(words)
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("there is no Deployment of a Cluster Autoscaler: give its manifest with -f")
	case len(found) > 1:
		return nil, fmt.Errorf("there are %d Deployments of a Cluster Autoscaler, such as %s/%s and %s/%s: give the manifest of one with -f",
			len(found), found[0].Namespace, found[0].Name, found[1].Namespace, found[1].Name)
	}
	return found[0], nil
}

// parse takes in words of a command line. Flags have one dash or two.
func (s *Settings) parse(words []string) {
	for i := 0; i < len(words); i++ {
		word := strings.TrimLeft(words[i], "-")
		if word == words[i] {
			continue
		}
		name, value, given := strings.Cut(word, "=")
		if !given && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") && name != "" {
			i++
			value, given = words[i], true
		}
		if !given {
			value = "true"
		}
		if s.Flags[name] == nil {
			s.order = append(s.order, name)
		}
		s.Flags[name] = append(s.Flags[name], value)
	}
}

// last is what a flag says, or what holds without it.
func (s *Settings) last(name, usual string) string {
	if all := s.Flags[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	return usual
}

// Wants reports whether a group is one that the Cluster Autoscaler scales: it is named by
// --nodes, or has all the tags of a --node-group-auto-discovery.
func (s *Settings) Wants(name string, tags map[string]string) bool {
	for _, n := range s.Flags["nodes"] {
		if parts := strings.SplitN(n, ":", 3); len(parts) == 3 && parts[2] == name {
			return true
		}
	}
	for _, d := range s.Flags["node-group-auto-discovery"] {
		text, is := strings.CutPrefix(d, "asg:tag=")
		if !is {
			continue
		}
		all := true
		for pair := range strings.SplitSeq(text, ",") {
			key, value, valued := strings.Cut(pair, "=")
			have, there := tags[key]
			all = all && there && (!valued || have == value)
		}
		if all {
			return true
		}
	}
	return false
}

// bounds are what --nodes says of a group's size, in place of its own; false: nothing.
func (s *Settings) bounds(name string) (low, high int, said bool) {
	for _, n := range s.Flags["nodes"] {
		if parts := strings.SplitN(n, ":", 3); len(parts) == 3 && parts[2] == name {
			if _, err := fmt.Sscan(parts[0], &low); err != nil {
				return 0, 0, false
			}
			_, err := fmt.Sscan(parts[1], &high)
			return low, high, err == nil
		}
	}
	return 0, 0, false
}

// meaning is what becomes of a flag.
type meaning struct {
	weight convert.Weight
	text   string
}

// What the meanings of several flags have in common.
const (
	quotaFor      = "a CapacityQuota without a selector limits all nodes together: set its spec.limits.resources."
	requestsActed = "ProvisioningRequests are served unless the feature gate ProvisioningRequest is off"
	buffersActed  = "CapacityBuffers act unless the feature gate CapacityBuffer is off"
)

// meanings are those of the flags that say how nodes come and go.
var meanings = map[string]meaning{
	"nodes":                                  {convert.Maps, "the groups are these; their bounds are limits of the NodePools"},
	"node-group-auto-discovery":              {convert.Maps, "the groups that have these tags are these"},
	"scale-down-enabled":                     {convert.Maps, "consolidateAfter of every NodePool: Never where it is false"},
	"scale-down-unneeded-time":               {convert.Maps, "consolidateAfter of every NodePool"},
	"max-empty-bulk-delete":                  {convert.Maps, "a budget for Empty of every NodePool; it holds for each pool, not for all together"},
	"max-scale-down-parallelism":             {convert.Maps, "a budget for Empty of every NodePool; it holds for each pool, not for all together"},
	"max-drain-parallelism":                  {convert.Maps, "a budget for Underutilized of every NodePool; it holds for each pool, not for all together"},
	"cloud-provider":                         {convert.Maps, "is AWS always"},
	"expander":                               {convert.Changes, "what costs least is launched, over all NodePools of the same weight: set spec.weight for another order"},
	"balance-similar-node-groups":            {convert.Changes, "instances are launched where they are cheapest: spread pods over zones by topologySpreadConstraints"},
	"balancing-ignore-label":                 {convert.Loses, "groups are not balanced: see balance-similar-node-groups"},
	"scale-down-utilization-threshold":       {convert.Changes, "a node goes when its pods fit elsewhere and that saves money, however full it is"},
	"scale-down-gpu-utilization-threshold":   {convert.Changes, "a node goes when its pods fit elsewhere and that saves money, however full it is"},
	"scale-down-delay-after-add":             {convert.Changes, "each node counts for itself: consolidateAfter counts from the last pod that came to it or left"},
	"scale-down-delay-after-delete":          {convert.Loses, "nodes go one after the other as budgets allow"},
	"scale-down-delay-after-failure":         {convert.Loses, "what failed is retried automatically"},
	"scale-down-unready-time":                {convert.Changes, "node repair replaces unhealthy nodes where it is switched on"},
	"scale-down-unready-enabled":             {convert.Changes, "node repair replaces unhealthy nodes where it is switched on"},
	"skip-nodes-with-local-storage":          {convert.Changes, "pods with an emptyDir or hostPath may be moved: give those that may not the annotation karpenter.sh/do-not-disrupt"},
	"skip-nodes-with-system-pods":            {convert.Changes, "pods of kube-system may be moved: protect them by PodDisruptionBudgets, or by the annotation karpenter.sh/do-not-disrupt"},
	"skip-nodes-with-custom-controller-pods": {convert.Changes, "such pods may be moved: give those that may not the annotation karpenter.sh/do-not-disrupt"},
	"max-nodes-total":                        {convert.Changes, quotaFor + "nodes"},
	"cores-total":                            {convert.Changes, quotaFor + "cpu"},
	"memory-total":                           {convert.Changes, quotaFor + "memory"},
	"gpu-total":                              {convert.Changes, quotaFor + "nvidia.com/gpu"},
	"max-graceful-termination-sec":           {convert.Changes, "pods have the time that they ask for: to bound a drain, set spec.template.spec.terminationGracePeriod"},
	"max-node-provision-time":                {convert.Changes, "an instance whose node has not registered after 15 minutes is replaced"},
	"ignore-daemonsets-utilization":          {convert.Changes, "what pods of DaemonSets need is counted on every node"},
	"new-pod-scale-up-delay":                 {convert.Changes, "--batch-idle-duration and --batch-max-duration of the controller"},
	"scan-interval":                          {convert.Changes, "pods are seen at once: --batch-idle-duration and --batch-max-duration of the controller say how long more are waited for"},
	"expendable-pods-priority-cutoff":        {convert.Loses, "nodes are launched for pods of every priority"},
	"enable-provisioning-requests":           {convert.Maps, requestsActed},
	"check-capacity-batch-processing":        {convert.Maps, requestsActed},
	"check-capacity-processor-instance":      {convert.Changes, "--processor-instance of the controller (value settings.processorInstance)"},
	"capacity-buffer-controller-enabled":     {convert.Maps, buffersActed},
	"capacity-buffer-pod-injection-enabled":  {convert.Maps, buffersActed},
	"aws-use-static-instance-list":           {convert.Maps, "types are asked for and built in"},
}

// ofTheProgram are flags of the program, and not of what it decides.
var ofTheProgram = []string{"v", "logtostderr", "alsologtostderr", "stderrthreshold", "leader-elect", "namespace", "kubeconfig", "address", "profiling",
	"write-status-configmap", "status-config-map-name", "cluster-name", "kube-client-qps", "kube-client-burst", "record-duplicated-events", "one-output"}
