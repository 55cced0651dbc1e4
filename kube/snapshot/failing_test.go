package snapshot

import (
	"slices"
	"strings"
	"testing"
)

// SC-672: kube-scheduler places no pod whose selector it cannot evaluate for a free device of a node where the pod may
// run. So nothing is launched for it, and it says which device that is.
func TestSelectorsThatCannotBeEvaluated(t *testing.T) {
	large := `{requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, selectors: [{cel: {expression: ` +
		`"device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('20Gi')) >= 0"}}]}}]}`
	with := func(slice, device string) string {
		name := "{name: " + device + ", "
		return strings.Replace(slice, name, name+"capacity: {memory: {value: 40Gi}}, ", 1)
	}
	pod := claimant("a", "large")
	why := func(device string) string {
		return "a nowhere: kube-scheduler cannot evaluate a selector of the pod's ResourceClaim for device " + device +
			" of gpu.nvidia.com on node n, and then places the pod nowhere: let the selector ask for the driver, and " +
			"whether the device has the attribute, first"
	}
	tainted := strings.Replace(gpuNode("n", "c.large"), "status:",
		"spec: {taints: [{key: x, effect: NoSchedule}]}\nstatus:", 1)
	for name, c := range map[string]struct {
		objects []string
		want    string
	}{
		"for no device of the node": {[]string{gpuNode("n", "c.large"), publishes("n", 2, 1), pod}, why("gpu-0")},
		"for the last device of the node": {
			[]string{gpuNode("n", "c.large"), with(publishes("n", 2, 1), "gpu-0"), pod}, "a on n"},
		"for the first one": {
			[]string{gpuNode("n", "c.large"), with(publishes("n", 2, 1), "gpu-1"), pod}, why("gpu-0")},
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
			k := devicesOf(t, slices.Concat([]string{gpuClass, template("one", oneGPU), template("large", large)},
				c.objects)...)
			if got := planned(k); got != c.want {
				t.Errorf("planned:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}
