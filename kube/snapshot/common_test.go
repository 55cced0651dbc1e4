package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/device"
)

const fabricClass = `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: fabric}
spec:
  selectors:
  - cel: {expression: "device.driver == 'fabric.example.com'"}
`

// shares is a slice of so many devices of a driver that the nodes can use which the field says.
func shares(driver, nodes string, devices int) string {
	var list []string
	for i := range devices {
		list = append(list, fmt.Sprintf("{name: d-%d, attributes: {type: {string: gpu}}}", i))
	}
	return sharesThese(driver, nodes, strings.Join(list, ", "))
}

func sharesThese(driver, nodes, devices string) string {
	return fmt.Sprintf(`
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: %s-common}
spec:
  driver: %s
  %s
  pool: {name: common, generation: 1, resourceSliceCount: 1}
  devices: [%s]
`, driver, driver, nodes, devices)
}

// selects is a node selector for one label.
func selects(key, value string) string {
	return fmt.Sprintf("nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: %s, operator: In, "+
		"values: [%s]}]}]}", key, value)
}

// SC-660: A pod goes to any node, or a new one, that can use a device which several nodes can use; each device is
// taken once, and before one that a new node would have.
func TestDevicesThatSeveralNodesCanUse(t *testing.T) {
	const fabric, gpu, zone, rack = "fabric.example.com", "gpu.nvidia.com", "topology.kubernetes.io/zone", "rack"
	two := "snapshot 7 2026-11-21T04:00:00Z\ncatalogue c1 1\n" +
		"kind c.large cpu=8 memory=16Gi pods=50\n  labels node.kubernetes.io/instance-type=c.large\n" +
		"  offer a on-demand 0.2\n  offer b on-demand 0.3\n" + withGPUs("g.one", 8, 1, "l4", 23034, 1) +
		"pool NodePool/web catalogue=c1\n  labels karpenter.sh/nodepool=web\n" +
		"pool NodePool/yard catalogue=c1\n  labels karpenter.sh/nodepool=yard rack=r1\n"
	wants := strings.ReplaceAll(oneGPU, gpu, "fabric")
	in := func(pod, key, value string) string {
		return strings.Replace(pod, "spec:\n", fmt.Sprintf("spec:\n  nodeSelector: {%s: %q}\n", key, value), 1)
	}
	node := func(name, label string) string {
		return strings.Replace(gpuNode(name, "c.large"), "{kubernetes", "{"+label+", kubernetes", 1)
	}
	named := func(name string) string {
		return strings.Replace(claimant(name, "mine"), "resourceClaimTemplateName", "resourceClaimName", 1)
	}
	mine := strings.Replace(strings.Split(has("mine", "n", "d-0"), "status:")[0], gpu, "fabric", 1)
	allocated := strings.Replace(has("mine", "common", "d-0"), "matchFields: [{key: metadata.name, operator: In, "+
		`values: ["common"]}]`, "matchExpressions: [{key: rack, operator: In, values: [r1]}]", 1)
	taken := strings.ReplaceAll(allocated, gpu, fabric)
	both := "{requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}, " +
		"{name: fabric, exactly: {deviceClassName: fabric}}]}"
	part := "{name: d-%d, consumesCounters: [{counterSet: board, counters: {regions: {value: \"3\"}}}]}"
	parts := fmt.Sprintf(part+", "+part, 0, 1)
	counters := strings.NewReplacer("-common}", "-counters}", "Count: 1", "Count: 2", "devices: []",
		"sharedCounters: [{name: board, counters: {regions: {value: \"4\"}}}]").
		Replace(sharesThese(fabric, "allNodes: true", ""))
	none := "the devices fabric are taken, or other nodes can use them than those that the pod may run on"
	each := "{name: d-0, " + selects(zone, "b") + "}, {name: d-1, " + selects(rack, "r1") + "}, " +
		"{name: d-2, allNodes: true}, {name: d-3, nodeName: \"n\"}"
	big := func(name, template string) string {
		return strings.Replace(claimant(name, template), `cpu: "1"`, `cpu: "7"`, 1)
	}

	for name, c := range map[string]struct {
		objects []string
		want    string
	}{
		"of all nodes": {
			[]string{shares(fabric, "allNodes: true", 1), claimant("a", "fabric")}, "launch c.large for a in a"},
		"SC-661 each is taken once": {
			[]string{shares(fabric, "allNodes: true", 2), claimant("a", "fabric"), claimant("b", "fabric"),
				claimant("c", "fabric")},
			"c nowhere: " + none + "\nlaunch c.large for a b in a"},
		"SC-661 as far as the counters go that they share": {
			[]string{strings.NewReplacer("Count: 1", "Count: 2").Replace(sharesThese(fabric, "allNodes: true", parts)),
				counters, claimant("a", "fabric"), claimant("b", "fabric")},
			"b nowhere: " + none + "\nlaunch c.large for a in a"},
		"SC-662 of a zone": {
			[]string{shares(fabric, selects(zone, "b"), 1), claimant("a", "fabric")}, "launch c.large for a in b"},
		"SC-662 of a label of a pool": {
			[]string{shares(fabric, selects(rack, "r1"), 1), claimant("a", "fabric")},
			"launch c.large for a in a of yard"},
		"on nodes that there are": {
			[]string{shares(fabric, selects(rack, "r2"), 1), node("m", "x: z"),
				node("n", "rack: r2"), claimant("a", "fabric")},
			"a on n"},
		"SC-663 on no node that is not selected": {
			[]string{shares(fabric, selects(rack, "r2"), 1), node("n", "rack: r1"),
				claimant("a", "fabric")},
			"a nowhere: " + none},
		"SC-663 where the pod may not be": {
			[]string{shares(fabric, selects(zone, "b"), 1), in(claimant("a", "fabric"), zone, "a")},
			"a nowhere: " + none},
		"to another pod, which may be there": {
			[]string{shares(fabric, selects(zone, "b"), 1), in(claimant("a", "fabric"), zone, "a"),
				claimant("b", "fabric")},
			"a nowhere: " + none + "\nlaunch c.large for b in b"},
		"each of nodes of its own": {
			[]string{sharesThese(fabric, "perDeviceNodeSelection: true", each), in(claimant("a", "fabric"), zone, "b"),
				in(claimant("b", "fabric"), rack, "r1"), in(claimant("c", "fabric"), zone, "a")},
			"launch c.large for a in b\nlaunch c.large for b c in a of yard"},
		"beside one of a node itself": {
			[]string{sharesThese(fabric, "perDeviceNodeSelection: true", each), gpuNode("n", "c.large"),
				in(claimant("a", "fabric"), "kubernetes.io/hostname", "n"),
				in(claimant("b", "fabric"), "kubernetes.io/hostname", "n"),
				in(claimant("c", "fabric"), "kubernetes.io/hostname", "n")},
			"a on n\nb on n\nc nowhere: it may run on nodes of certain names alone, which new ones cannot have: " +
				"the nearest node is n: devices:fabric: need 1 more"},
		"SC-664 before a device of a new node": {
			[]string{shares(gpu, "allNodes: true", 1), big("a", "one"), big("b", "one")},
			"launch c.large for a in a\nlaunch g.one for b in a"},
		"not where no pool launches a node that can use it": {
			[]string{shares(gpu, selects(rack, "r2"), 1), claimant("a", "one")}, "launch g.one for a in a"},
		"together with a device of the node": {
			[]string{shares(fabric, "allNodes: true", 1), claimant("a", "both")}, "launch g.one for a in a"},
		"none is left": {
			[]string{shares(fabric, "allNodes: true", 1), taken, claimant("a", "fabric")},
			"a nowhere: " + none},
		"a pool that is not complete": {
			[]string{strings.Replace(shares(fabric, "allNodes: true", 1), "Count: 1", "Count: 2", 1),
				claimant("a", "fabric")},
			"a nowhere: no type has devices:fabric"},
		"SC-665 a claim that has one already": {
			[]string{shares(fabric, selects(rack, "r1"), 1), taken, named("a")}, "launch c.large for a in a of yard"},
		"SC-666 pods that share a claim need not be on one node": {
			[]string{shares(fabric, "allNodes: true", 1), mine, strings.Replace(named("a"), `cpu: "1"`, `cpu: "7"`, 1),
				strings.Replace(named("b"), `cpu: "1"`, `cpu: "7"`, 1)},
			"launch c.large for a in a\nlaunch c.large for b in a"},
		"SC-667 all devices, of which nodes have some and share some": {
			[]string{shares(gpu, "allNodes: true", 1), claimant("a", "all")},
			"a nowhere: a ResourceClaim of the pod requests all devices gpu.nvidia.com, and different nodes can use " +
				"some of these: request a number of them"},
	} {
		t.Run(name, func(t *testing.T) {
			claims := []string{gpuClass, fabricClass, template("one", oneGPU), template("fabric", wants),
				template("both", both), template("all", strings.Replace(oneGPU, "gpu.nvidia.com}",
					"gpu.nvidia.com, allocationMode: All}", 1))}
			k := devicesIn(t, two, append(slices.Clone(claims), c.objects...)...)
			if got := plannedIn(k); got != c.want {
				t.Errorf("planned:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// plannedIn is planned with the zones of launches, and with their pool where that is not web.
func plannedIn(k *ClusterState) string {
	s := k.Snapshot()
	p := decide.Decide(s, decide.Policy{}, decide.Usual(s))
	text := does(p)
	for _, l := range p.Launches {
		var pods []string
		for _, pod := range l.Pods {
			pods = append(pods, pod.Name)
		}
		what := fmt.Sprintf("launch %s for %s", l.Choice.Kind, strings.Join(pods, " "))
		where := " in " + l.Choice.Zone
		if l.Pool.Name != "web" {
			where += " of " + l.Pool.Name
		}
		text = strings.Replace(text, what, what+where, 1)
	}
	return text
}

// SC-665: A pod that has a device of its node and one that several nodes can use gets another node's device when it
// moves, and keeps the other one.
func TestWhatAMovedPodHasOfSeveralNodes(t *testing.T) {
	claim := strings.NewReplacer("name: mine", "name: both",
		`{request: gpu, driver: gpu.nvidia.com, pool: "n", device: gpu-0}`,
		`{request: gpu, driver: gpu.nvidia.com, pool: "n", device: gpu-0}, `+
			"{request: fabric, driver: fabric.example.com, pool: common, device: d-0}",
		oneGPU, "{requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}, "+
			"{name: fabric, exactly: {deviceClassName: fabric}}]}").Replace(has("mine", "n", "gpu-0"))
	pod := strings.Replace(claimant("a", "both"), "resourceClaimTemplateName", "resourceClaimName", 1)
	pod = strings.Replace(pod, "spec:\n", "spec:\n  nodeName: \"n\"\n", 1)
	k := devicesOf(t, gpuClass, fabricClass, shares("fabric.example.com", selects("rack", "r1"), 1),
		gpuNode("n", "g.four"), publishes("n", 4, 1), claim, pod)
	shape := k.Snapshot().Nodes[0].Pods[0].Shape
	got := fmt.Sprint(shape.VolumeTerms, device.Only(shape.Requests))
	if want := "[rack in r1] [{devices:gpu.nvidia.com 1}]"; got != want {
		t.Errorf("it requires %s, want %s", got, want)
	}
}

// SC-671: What the pods of a DaemonSet request beside a device that several nodes can use is left to them.
func TestDaemonPodsWithDevicesOfSeveralNodes(t *testing.T) {
	pod := func(name, cpu string) string {
		return strings.NewReplacer(`cpu: "1"}, claims: [{name: gpu}]`, `cpu: "`+cpu+`"}`,
			"  resourceClaims: [{name: gpu, resourceClaimTemplateName: none}]\n", "").Replace(claimant(name, "none"))
	}
	fabric := strings.ReplaceAll(oneGPU, "gpu.nvidia.com", "fabric")
	for name, c := range map[string]struct {
		objects []string
		want    string
	}{
		"on new nodes": {
			[]string{template("own", fabric), pod("a", "4"), pod("b", "4")},
			"launch c.large for a\nlaunch c.large for b"},
		"on nodes that exist": {
			[]string{template("own", fabric), gpuNode("n", "c.large"), pod("a", "32")}, "launch p.eight for a"},
		"not where a node has to have another device itself": {
			[]string{template("own", oneGPU), pod("a", "4"), pod("b", "4")}, "launch c.large for a b"},
	} {
		t.Run(name, func(t *testing.T) {
			k := devicesOf(t, slices.Concat(c.objects, []string{gpuClass, fabricClass, claimingAgent,
				shares("fabric.example.com", "allNodes: true", 4)})...)
			if got := planned(k); got != c.want {
				t.Errorf("planned:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// SC-661: Of many devices each is given to a pod, and further pods are not said to lack what they have no need of.
func TestManyDevicesOfSeveralNodes(t *testing.T) {
	const many = 500
	other := strings.ReplaceAll(fabricClass, "fabric", "other")
	wants := func(class string) string { return strings.ReplaceAll(oneGPU, "gpu.nvidia.com", class) }
	objects := []string{fabricClass, other, template("fabric", wants("fabric")), template("other", wants("other")),
		shares("fabric.example.com", "allNodes: true", many), shares("other.example.com", "allNodes: true", 1),
		claimant("z", "other")}
	for i := range many {
		objects = append(objects, claimant(fmt.Sprintf("p%03d", i), "fabric"))
	}
	s := devicesOf(t, objects...).Snapshot()
	if len(s.Waiting) == 0 {
		t.Fatal("no pod waits")
	}
	for _, p := range s.Waiting {
		if p.Shape.Unable != "" {
			t.Fatalf("pod %s: %s", p.Name, p.Shape.Unable)
		}
	}
}
