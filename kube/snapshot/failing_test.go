package snapshot

import (
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/feasibility"
)

const largeGPU = `{requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, selectors: [{cel: {expression: ` +
	`"device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('20Gi')) >= 0"}}]}}]}`

// withMemory is a slice with the memory of one of its devices.
func withMemory(slice, device string) string {
	name := "{name: " + device + ", "
	return strings.Replace(slice, name, name+"capacity: {memory: {value: 40Gi}}, ", 1)
}

func cannotEvaluate(device, node string) string {
	return "kube-scheduler cannot evaluate a selector of the pod's ResourceClaim for device " + device +
		" of gpu.nvidia.com on node " + node + ", and then places the pod nowhere: let the selector ask for the driver, " +
		"and whether the device has the attribute, first"
}

// SC-672: kube-scheduler places no pod whose selector it cannot evaluate for a free device of a node where the pod may
// run. So nothing is launched for it, and it says which device that is.
func TestSelectorsThatCannotBeEvaluated(t *testing.T) {
	pod := claimant("a", "large")
	why := func(device string) string { return "a nowhere: " + cannotEvaluate(device, "n") }
	tainted := strings.Replace(gpuNode("n", "c.large"), "status:",
		"spec: {taints: [{key: x, effect: NoSchedule}]}\nstatus:", 1)
	for name, c := range map[string]struct {
		objects []string
		want    string
	}{
		"for no device of the node": {[]string{gpuNode("n", "c.large"), publishes("n", 2, 1), pod}, why("gpu-0")},
		"for the last device of the node": {
			[]string{gpuNode("n", "c.large"), withMemory(publishes("n", 2, 1), "gpu-0"), pod}, "a on n"},
		"for the first one": {
			[]string{gpuNode("n", "c.large"), withMemory(publishes("n", 2, 1), "gpu-1"), pod}, why("gpu-0")},
		"for one that is taken": {[]string{gpuNode("n", "c.large"), publishes("n", 1, 1), has("x", "n", "gpu-0"), pod},
			"launch g.one for a"},
		"on a node that the pod does not tolerate": {
			[]string{tainted, publishes("n", 2, 1), pod}, "launch g.one for a"},
		"on a node where the pod may not run": {[]string{gpuNode("n", "c.large"), publishes("n", 2, 1),
			strings.Replace(pod, "spec:\n", "spec:\n  nodeSelector: {node.kubernetes.io/instance-type: g.four}\n", 1)},
			"launch g.four for a"},
		"for a device of another class": {[]string{gpuNode("n", "c.large"),
			strings.ReplaceAll(publishes("n", 2, 1), "string: gpu", "string: mig"), pod}, "launch g.one for a"},
		"the pod does not ask": {
			[]string{gpuNode("n", "c.large"), publishes("n", 2, 1), claimant("a", "one")}, "a on n"},
	} {
		t.Run(name, func(t *testing.T) {
			k := devicesOf(t, slices.Concat([]string{gpuClass, template("one", oneGPU), template("large", largeGPU)},
				c.objects)...)
			if got := planned(k); got != c.want {
				t.Errorf("planned:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// SC-672: A pod that has its devices keeps its node as long as the one in its place would be placed nowhere, though
// there is room for it. What is free on the node that it leaves does not count.
func TestAPodKeepsItsNodeWhileItsSelectorCannotBeEvaluated(t *testing.T) {
	claim := strings.Replace(has("mine", "a", "gpu-0"), oneGPU, largeGPU, 1)
	pod := strings.NewReplacer("resourceClaimTemplateName: large", "resourceClaimName: mine",
		"spec:\n", "spec:\n  nodeName: a\n").Replace(claimant("a", "large"))
	k := devicesOf(t, gpuClass, gpuNode("a", "g.one"), withMemory(publishes("a", 2, 1), "gpu-0"),
		gpuNode("b", "g.one"), withMemory(publishes("b", 1, 1), "gpu-0"), claim, pod)
	onB := func() string {
		s := k.Snapshot()
		a, b := &s.Nodes[0], &s.Nodes[1]
		return feasibility.OnNode(a.Pods[0].Shape, b, feasibility.Free(b, nil)).Text
	}
	if why := onB(); why != "" {
		t.Errorf("it may not move to node b: %s", why)
	}
	see(t, k, gpuNode("c", "g.one"), publishes("c", 1, 1))
	if why, want := onB(), cannotEvaluate("gpu-0", "c"); why != want {
		t.Errorf("beside node c, for which its selector cannot be evaluated: %q, want %q", why, want)
	}
}

// SC-672: Whether a pod is placed nowhere follows the labels and taints of the node, and whether it is cordoned.
func TestANodeWhoseSelectorsCannotBeEvaluatedChanges(t *testing.T) {
	node, pod := gpuNode("n", "c.large"), strings.Replace(claimant("a", "large"), "spec:\n",
		"spec:\n  nodeSelector: {node.kubernetes.io/instance-type: g.one}\n", 1)
	with := func(spec string) string { return strings.Replace(node, "status:", "spec: {"+spec+"}\nstatus:", 1) }
	tainted, cordoned := with("taints: [{key: x, effect: NoSchedule}]"), with("unschedulable: true")
	nowhere, launch := "a nowhere: "+cannotEvaluate("gpu-0", "n"), "launch g.one for a"
	for name, c := range map[string]struct {
		pod, before, after string
		first, then        string
	}{
		"its startup taint goes": {claimant("a", "large"), tainted, node, launch, nowhere},
		"it is cordoned":         {claimant("a", "large"), node, cordoned, nowhere, launch},
		"it gets a label":        {pod, node, strings.Replace(node, "c.large", "g.one", 1), launch, nowhere},
	} {
		t.Run(name, func(t *testing.T) {
			k := devicesOf(t, gpuClass, template("large", largeGPU), c.before, publishes("n", 2, 1), c.pod)
			if got := planned(k); got != c.first {
				t.Errorf("planned at first:\n%s\nwant:\n%s", got, c.first)
			}
			see(t, k, c.after)
			if got := planned(k); got != c.then {
				t.Errorf("planned then:\n%s\nwant:\n%s", got, c.then)
			}
		})
	}
}
