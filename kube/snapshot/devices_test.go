package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scenario"
)

// gpus is instance types with one, four and eight GPUs, and one without.
var gpus = "snapshot 7 2026-11-21T04:00:00Z\ncatalogue c1 1\n" +
	"kind c.large cpu=8 memory=16Gi pods=50\n  labels node.kubernetes.io/instance-type=c.large\n" +
	"  offer a on-demand 0.2\n" +
	withGPUs("g.one", 8, 1, "l4", 23034, 1) + withGPUs("g.four", 32, 4, "l4", 23034, 3) +
	withGPUs("p.eight", 96, 8, "h100", 81920, 50) +
	"pool NodePool/web catalogue=c1\n  labels karpenter.sh/nodepool=web\n"

// withGPUs is an instance type with GPUs of so many MiB each.
func withGPUs(name string, cpu, gpus int, model string, memory, price int) string {
	const of = "karpenter.k8s.aws/instance-gpu-"
	return fmt.Sprintf("kind %s cpu=%d memory=128Gi pods=50\n  labels node.kubernetes.io/instance-type=%s "+
		of+"name=%s "+of+"manufacturer=nvidia "+of+"count=%d "+of+"memory=%d\n  offer a on-demand %d\n",
		name, cpu, name, model, gpus, memory, price)
}

const gpuClass = `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec:
  selectors:
  - cel: {expression: "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"}
`

// template is a ResourceClaimTemplate with these requests, in the form of YAML's flow.
func template(name, devices string) string {
	return fmt.Sprintf(`
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: %s, namespace: default}
spec: {spec: {devices: %s}}
`, name, devices)
}

const oneGPU = `{requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}`

// claimant is a pod that waits, with a claim of a template.
func claimant(name, template string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: default, uid: %s}
spec:
  containers: [{name: main, resources: {requests: {cpu: "1"}, claims: [{name: gpu}]}}]
  resourceClaims: [{name: gpu, resourceClaimTemplateName: %s}]
status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}
`, name, name, template)
}

// publishes is the slice of a node with so many GPUs, one of so many slices of its pool.
func publishes(node string, gpus, slices int) string {
	var devices []string
	for i := range gpus {
		attributes := fmt.Sprintf("{type: {string: gpu}, uuid: {string: %s-%d}}", node, i)
		devices = append(devices, fmt.Sprintf("{name: gpu-%d, attributes: %s}", i, attributes))
	}
	return fmt.Sprintf(`
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: %s-gpu}
spec:
  driver: gpu.nvidia.com
  nodeName: "%s"
  pool: {name: "%s", generation: 1, resourceSliceCount: %d}
  devices: [%s]
`, node, node, node, slices, strings.Join(devices, ", "))
}

// gpuNode is a node that is not ours, with room for many pods.
func gpuNode(name, instanceType string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Node
metadata: {name: "%s", labels: {kubernetes.io/hostname: "%s", node.kubernetes.io/instance-type: %s}}
status:
  allocatable: {cpu: "32", memory: 128Gi, pods: "50"}
  capacity: {cpu: "32", memory: 128Gi, pods: "50"}
  conditions: [{type: Ready, status: "True"}]
`, name, name, instanceType)
}

// has is a claim that has a device of a node.
func has(name, node, device string) string {
	return fmt.Sprintf(`
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: %s, namespace: default}
spec: {devices: %s}
status:
  allocation:
    devices: {results: [{request: gpu, driver: gpu.nvidia.com, pool: "%s", device: %s}]}
    nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: ["%s"]}]}]}
`, name, oneGPU, node, device, node)
}

// devicesOf is a cluster state that plans for devices and has seen these objects.
func devicesOf(t *testing.T, manifests ...string) *ClusterState {
	t.Helper()
	return devicesIn(t, gpus, manifests...)
}

// devicesIn is devicesOf that begins with a saved snapshot.
func devicesIn(t *testing.T, text string, manifests ...string) *ClusterState {
	t.Helper()
	saved, err := scenario.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	k := Recall(saved)
	k.Configure(func(s *Settings) { s.PlanDevices = true })
	see(t, k, manifests...)
	return k
}

func see(t *testing.T, k *ClusterState, manifests ...string) {
	t.Helper()
	for _, o := range objectsOf(t, manifests...) {
		k.Seen(o)
	}
}

func objectsOf(t *testing.T, manifests ...string) (out []client.Object) {
	t.Helper()
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	if err := resourcev1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	if err := appsv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(s).UniversalDeserializer()
	for _, text := range manifests {
		o, _, err := decoder.Decode([]byte(text), nil, nil)
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		out = append(out, o.(client.Object))
	}
	return out
}

// planned says what a plan does: "launch g.one for a", "a on n", "a nowhere: reason".
func planned(k *ClusterState) string {
	s := k.Snapshot()
	return does(decide.Decide(s, decide.Policy{}, decide.Usual(s)))
}

func does(p plan.Plan) string {
	var out []string
	for _, l := range p.Launches {
		var pods []string
		for _, pod := range l.Pods {
			pods = append(pods, pod.Name)
		}
		out = append(out, fmt.Sprintf("launch %s for %s", l.Choice.Kind, strings.Join(pods, " ")))
	}
	for _, x := range p.Placements {
		if x.On == plan.OnNode {
			out = append(out, x.Pod.Name+" on "+x.Target)
		}
	}
	for _, x := range p.Unplaced {
		out = append(out, fmt.Sprintf("%s nowhere: %s", x.Pods[0].Name, x.Reasons[0].Text))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// Pods with ResourceClaims go where the devices are that they request, and nodes with these are launched for the rest.
func TestPodsGoWhereTheirDevicesAre(t *testing.T) {
	requests := func(fields string) string {
		return "{requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, " + fields + "}}]}"
	}
	large := requests(`selectors: [{cel: {expression: "device.capacity['gpu.nvidia.com'].memory` +
		`.compareTo(quantity('40Gi')) >= 0"}}]`)
	first := "{requests: [{name: gpu, firstAvailable: [{name: many, deviceClassName: gpu.nvidia.com, count: 9}, " +
		"{name: few, deviceClassName: gpu.nvidia.com, count: 2}]}]}"
	admin := "{name: watch, exactly: {deviceClassName: gpu.nvidia.com, count: 30, adminAccess: true}}"
	sum := strings.Replace(requests("count: 3"), "}]}", "}, "+admin+"]}", 1)
	rest := strings.Replace(requests("count: 2"), "}]}", "}, "+admin+"]}", 1)
	named := strings.Replace(claimant("a", "one"), "resourceClaimTemplateName: one", "resourceClaimName: mine", 1)
	other := strings.ReplaceAll(named, "{name: a, namespace: default, uid: a}", "{name: b, namespace: default, uid: b}")
	mine := strings.Split(has("mine", "n", "gpu-0"), "status:")[0]
	claims := []string{gpuClass, template("one", oneGPU), template("large", large), template("first", first),
		template("four", requests("count: 4")), template("nine", requests("count: 9")),
		template("many", requests("count: 33")), template("sum", sum), template("rest", rest),
		template("all", requests("allocationMode: All")),
		template("odd", strings.ReplaceAll(oneGPU, "gpu.nvidia.com", "odd.example.com"))}
	four4 := []string{gpuNode("n", "g.four"), publishes("n", 4, 1)}

	for name, c := range map[string]struct {
		objects []string
		want    string
	}{
		"SC-210 a pod with a claim template, on the cheapest type": {
			[]string{claimant("a", "one")}, "launch g.one for a"},
		"SC-211 pods that share an instance, each with GPUs of its own": {
			[]string{claimant("a", "one"), claimant("b", "one"), claimant("c", "one"), claimant("d", "one")},
			"launch g.four for a b c d"},
		"SC-209 a pod whose selector only one type meets": {[]string{claimant("a", "large")}, "launch p.eight for a"},
		"a pod with four GPUs beside one with one, each on the cheapest": {
			[]string{claimant("a", "four"), claimant("b", "one")}, "launch g.four for a\nlaunch g.one for b"},
		"pods with all GPUs of their nodes": {
			[]string{claimant("a", "all"), claimant("b", "all")}, "launch g.one for a\nlaunch g.one for b"},
		"the second alternative where no type has the first": {[]string{claimant("a", "first")}, "launch g.four for a"},
		"SC-219 a node with free devices":                    {append(four4, claimant("a", "one")), "a on n"},
		"not a node whose devices are taken": {
			append(four4, has("x", "n", "gpu-0"), claimant("a", "four")), "launch g.four for a"},
		"SC-212 what is left of a node's devices": {
			append(four4, has("x", "n", "gpu-0"), has("v", "n", "gpu-1"), has("z", "n", "gpu-2"),
				claimant("a", "one"), claimant("b", "one")),
			"a on n\nlaunch g.one for b"},
		"not a node whose pool is not complete": {
			[]string{gpuNode("n", "g.four"), publishes("n", 4, 2), claimant("a", "one")}, "launch g.one for a"},
		"not a node that publishes nothing": {
			[]string{gpuNode("n", "g.four"), claimant("a", "one")}, "launch g.one for a"},
		"a pod whose claim has devices, to their node": {append(four4, has("mine", "n", "gpu-3"), named), "a on n"},
		"SC-620 pods that share a claim, together":     {[]string{mine, named, other}, "launch g.one for a b"},
		"SC-620 pods that share a claim that nothing can have": {
			[]string{strings.Replace(mine, "gpu.nvidia.com", "gpu.nvidia.com, count: 9", 1), named, other},
			"a nowhere: no type has room for devices:gpu.nvidia.com 9 (most: 8)\nb nowhere: affinity over " +
				"kubernetes.io/hostname to pods with resourceclaim!mine in first, of which none has a place"},
		"a template that does not exist": {[]string{claimant("a", "none")},
			"a nowhere: ResourceClaimTemplate default/none of the pod does not exist; create it"},
		"SC-217 a claim that does not exist": {
			[]string{named}, "a nowhere: ResourceClaim default/mine of the pod does not exist; create it"},
		"a class that does not exist": {[]string{claimant("a", "odd")},
			"a nowhere: ResourceClaim of the pod: DeviceClass odd.example.com does not exist; create it, " +
				"or name another class"},
		"more devices than any type has": {[]string{claimant("a", "nine")},
			"a nowhere: no type has room for devices:gpu.nvidia.com 9 (most: 8)"},
		"more devices than one claim can have": {[]string{claimant("a", "many")},
			"a nowhere: ResourceClaim of the pod: it requests 33 devices, and kube-scheduler allocates at most 32 " +
				"for one claim; divide it into several claims"},
		"more devices than one claim can have, those for administrators included": {[]string{claimant("a", "sum")},
			"a nowhere: ResourceClaim of the pod: it requests 33 devices, and kube-scheduler allocates at most 32 " +
				"for one claim; divide it into several claims"},
		"devices for administrators need not be free": {[]string{claimant("a", "rest")}, "launch g.four for a"},
	} {
		t.Run(name, func(t *testing.T) {
			k := devicesOf(t, append(slices.Clone(claims), c.objects...)...)
			got := planned(k)
			if got != c.want {
				t.Errorf("planned:\n%s\nwant:\n%s", got, c.want)
			}
			text := scenario.Print(k.Snapshot())
			again, err := scenario.Parse(text)
			if err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if p := decide.Decide(again, decide.Policy{}, decide.Usual(again)); does(p) != got {
				t.Errorf("the snapshot read again gives another plan: %s", does(p))
			}
		})
	}
}

// SC-621: What a driver publishes of a node of a type says what the next one will have: of its name, of attributes that
// nothing else knows of, and of how many there are.
func TestATypeHasWhatItsNodesPublish(t *testing.T) {
	fpga := strings.NewReplacer("gpu.nvidia.com", "fpga.example.com", "gpu", "fpga").Replace(gpuClass)
	wants := strings.ReplaceAll(oneGPU, "gpu.nvidia.com", "fpga.example.com")
	slice := strings.NewReplacer("gpu.nvidia.com", "fpga.example.com", "gpu", "fpga").Replace(publishes("n", 2, 1))
	k := devicesOf(t, fpga, template("fpga", wants),
		claimant("a", "fpga"), claimant("b", "fpga"), claimant("c", "fpga"))
	if got, want := planned(k), "a nowhere: no type has devices:fpga.example.com"; got != want {
		t.Errorf("before any node has shown it:\n%s\nwant:\n%s", got, want)
	}
	starting := strings.Replace(gpuNode("n", "c.large"), "{kubernetes",
		`{karpenter.sh/registered: "true", kubernetes`, 1)
	see(t, k, starting, slice)
	if got, want := planned(k), "a on n\nb on n\nc nowhere: no type has devices:fpga.example.com"; got != want {
		t.Errorf("while the node is not initialized:\n%s\nwant:\n%s", got, want)
	}
	see(t, k, strings.Replace(starting, "{karp", `{karpenter.sh/initialized: "true", karp`, 1))
	if got, want := planned(k), "a on n\nb on n\nlaunch c.large for c"; got != want {
		t.Errorf("once a node has:\n%s\nwant:\n%s", got, want)
	}
}

// A node that is going says what its type has only as long as no other node does, and nothing once its driver has
// withdrawn all devices; neither says anything a pool whose newest generation is not complete.
func TestATypeHasWhatNodesThatStayPublish(t *testing.T) {
	fpga := strings.NewReplacer("gpu.nvidia.com", "fpga.example.com", "gpu", "fpga")
	wants := strings.ReplaceAll(oneGPU, "gpu.nvidia.com", "fpga.example.com")
	slice := func(node string, devices, slices int) string { return fpga.Replace(publishes(node, devices, slices)) }
	full := strings.Replace(gpuNode("n", "c.large"), `cpu: "32"`, `cpu: "0"`, 1)
	newer := strings.Replace(strings.ReplaceAll(full, `"n"`, `"o"`), "{name",
		`{creationTimestamp: "2026-11-21T03:00:00Z", name`, 1)
	going := strings.Replace(newer, "{creation",
		`{deletionTimestamp: "2026-11-21T04:00:00Z", finalizers: [x], creation`, 1)
	next := strings.Replace(slice("n", 2, 2), "generation: 1", "generation: 2", 1)
	for name, c := range map[string]struct {
		objects []string
		want    string
	}{
		"the newest": {[]string{full, newer, slice("n", 2, 1), slice("o", 1, 1)},
			"launch c.large for a\nlaunch c.large for b"},
		"not one that is going": {[]string{full, going, slice("n", 2, 1), slice("o", 1, 1)},
			"launch c.large for a b"},
		"not one that is to go": {
			[]string{full, strings.Replace(newer, "status:\n", "spec: {taints: [{key: karpenter.sh/disrupted, "+
				"effect: NoSchedule}]}\nstatus:\n", 1), slice("n", 2, 1), slice("o", 1, 1)},
			"launch c.large for a b"},
		"one that is going where no other is": {[]string{going, slice("o", 2, 1)}, "launch c.large for a b"},
		"not one that is going and has withdrawn all": {[]string{strings.Replace(going, "c.large", "g.one", 1),
			publishes("o", 0, 1), gpuClass, template("gpu", oneGPU), claimant("c", "gpu")},
			"a nowhere: no type has devices:fpga.example.com\nlaunch g.one for c"},
		"not a newest generation that is not complete": {
			[]string{full, strings.Replace(next, "n-fpga", "n-fpga-2", 1), slice("n", 2, 1)},
			"a nowhere: no type has devices:fpga.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			k := devicesOf(t, append([]string{fpga.Replace(gpuClass), template("fpga", wants),
				claimant("a", "fpga"), claimant("b", "fpga")}, c.objects...)...)
			if got := planned(k); got != c.want {
				t.Errorf("planned:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// SC-622: Devices of one root are allocated together, as far as the node's roots go, and another node of its type has
// such.
func TestDevicesOfOneRootGoTogether(t *testing.T) {
	pair := `{requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}], ` +
		`constraints: [{matchAttribute: gpu.nvidia.com/root}]}`
	slice := publishes("n", 4, 1)
	for i, root := range []string{"a", "a", "b", "c"} {
		of := fmt.Sprintf("uuid: {string: n-%d}", i)
		slice = strings.Replace(slice, of, of+", root: {string: "+root+"}", 1)
	}
	k := devicesOf(t, gpuClass, template("pair", pair), template("one", oneGPU), gpuNode("n", "g.four"), slice,
		claimant("a", "pair"), claimant("b", "pair"), claimant("v", "one"), claimant("w", "one"))
	want := "a on n\nlaunch g.four for b\nv on n\nw on n"
	if got := planned(k); got != want {
		t.Errorf("planned:\n%s\nwant:\n%s", got, want)
	}
}

// SC-623: A pod that requests GPUs as an extended resource goes to the node whose driver serves it, though the node
// does not say that it has any; and to none whose devices are taken: a node is launched of a type that has them.
func TestExtendedResourcesThatDriversServe(t *testing.T) {
	class := gpuClass + "  extendedResourceName: example.com/gpu\n"
	asks := func(name, resource string) string {
		text := strings.Replace(claimant(name, ""), "claims: [{name: gpu}]", "limits: {"+resource+": \"1\"}", 1)
		text = strings.Replace(text, "  resourceClaims: [{name: gpu, resourceClaimTemplateName: }]\n", "", 1)
		return strings.Replace(text, "requests: {cpu: \"1\"}", "requests: {cpu: \"1\", "+resource+": \"1\"}", 1)
	}
	wants := func(name string) string { return asks(name, "example.com/gpu") }
	k := devicesOf(t, class, gpuNode("n", "g.four"), publishes("n", 2, 1), has("x", "n", "gpu-0"), wants("a"), wants("b"))
	if got, want := planned(k), "a on n\nlaunch g.one for b"; got != want {
		t.Errorf("planned:\n%s\nwant:\n%s", got, want)
	}
	k = devicesOf(t, class, wants("a"), wants("b"), asks("c", "example.com/other"))
	const two = "c nowhere: no type has example.com/other\nlaunch g.one for a\nlaunch g.one for b"
	if got := planned(k); got != two {
		t.Errorf("without a node, planned:\n%s\nwant:\n%s", got, two)
	}
	k = devicesOf(t, class, gpuNode("n", "g.four"), publishes("n", 2, 1), wants("a"))
	if k.Devices.Serves("n", "example.com/other") || !k.Devices.Serves("n", "example.com/gpu") ||
		k.Devices.Serves("m", "example.com/gpu") {
		t.Error("example.com/gpu is not served on n alone")
	}
}

// A pod that requests an extended resource that is named after a DeviceClass gets devices of the class as if by a
// claim, on nodes that exist and on new ones, and counts there by the claim that kube-scheduler has made for it.
func TestExtendedResourcesOfClasses(t *testing.T) {
	wants := func(name, class string, count int) string {
		text := strings.Replace(claimant(name, ""), "claims: [{name: gpu}]", "", 1)
		text = strings.Replace(text, "  resourceClaims: [{name: gpu, resourceClaimTemplateName: }]\n", "", 1)
		return strings.Replace(text, `requests: {cpu: "1"},`,
			fmt.Sprintf(`requests: {cpu: "1", deviceclass.resource.kubernetes.io/%s: "%d"}`, class, count), 1)
	}
	runs := strings.Replace(wants("r", "gpu.nvidia.com", 1), "spec:\n", "spec:\n  nodeName: m\n", 1)
	runs = runs[:strings.Index(runs, "status:")] +
		"status: {phase: Running, extendedResourceClaimStatus: {resourceClaimName: its, requestMappings: []}}\n"
	for name, c := range map[string]struct {
		objects []string
		want    string
	}{
		"beside claims": {[]string{template("one", oneGPU), has("x", "n", "gpu-0"), wants("a", "gpu.nvidia.com", 2),
			wants("b", "gpu.nvidia.com", 2), claimant("c", "one")}, "a on n\nc on n\nlaunch g.four for b"},
		"of a node whose other devices a pod has": {[]string{gpuNode("m", "g.four"), publishes("m", 4, 1), runs,
			has("its", "m", "gpu-0"), has("x", "n", "gpu-0"), wants("a", "gpu.nvidia.com", 4)}, "launch g.four for a"},
		"more than any type has": {[]string{wants("a", "gpu.nvidia.com", 9)},
			"a nowhere: no type has room for devices:gpu.nvidia.com 9 (most: 8)"},
		"of a class that does not exist": {[]string{wants("a", "odd", 1)}, "a nowhere: ResourceClaim of the pod: " +
			"DeviceClass odd does not exist; create it, or name another class"},
	} {
		t.Run(name, func(t *testing.T) {
			k := devicesOf(t, append([]string{gpuClass, gpuNode("n", "g.four"), publishes("n", 4, 1)}, c.objects...)...)
			if got := planned(k); got != c.want {
				t.Errorf("planned:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// The claim that kube-scheduler has made for extended resources of several classes counts once.
func TestTheClaimForSeveralClassesCountsOnce(t *testing.T) {
	const both = "{requests: [{name: a, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}, " +
		"{name: b, exactly: {deviceClassName: other}}]}"
	const asked = `requests: {cpu: "1", deviceclass.resource.kubernetes.io/gpu.nvidia.com: "2", ` +
		`deviceclass.resource.kubernetes.io/other: "1"}`
	pod := strings.NewReplacer("claims: [{name: gpu}]", "", `requests: {cpu: "1"}`, asked,
		"  resourceClaims: [{name: gpu, resourceClaimTemplateName: }]\n", "  nodeName: m\n").Replace(claimant("r", ""))
	pod = pod[:strings.Index(pod, "status:")] +
		"status: {phase: Running, extendedResourceClaimStatus: {resourceClaimName: its, requestMappings: []}}\n"
	k := devicesOf(t, gpuClass, strings.Replace(gpuClass, "{name: gpu.nvidia.com}", "{name: other}", 1),
		gpuNode("m", "g.four"), publishes("m", 4, 1), strings.Replace(has("its", "m", "gpu-0"), oneGPU, both, 1), pod)
	requests := k.Snapshot().Nodes[0].Pods[0].Shape.Requests
	for _, name := range []string{"devices:gpu.nvidia.com", "devices:other"} { // the same devices serve both
		if got := requests.Get(name); got != 3 {
			t.Errorf("it has %d of %s, want 3", got, name)
		}
	}
}

// SC-215 A pod whose ResourceClaimTemplate is missing waits, and is planned for once it is there, or another class is.
func TestAPodWaitsForItsClaimTemplate(t *testing.T) {
	k := devicesOf(t, claimant("a", "one"))
	steps := []struct{ seen, want string }{
		{"", "a nowhere: ResourceClaimTemplate default/one of the pod does not exist; create it"},
		{template("one", oneGPU), "a nowhere: ResourceClaim of the pod: DeviceClass gpu.nvidia.com does not exist; " +
			"create it, or name another class"},
		{gpuClass, "launch g.one for a"},
		{strings.Replace(gpuClass, "== 'gpu'", "== 'mig'", 1), "a nowhere: no type has devices:gpu.nvidia.com"},
	}
	for _, step := range steps {
		if step.seen != "" {
			see(t, k, step.seen)
		}
		if got := planned(k); got != step.want {
			t.Errorf("planned:\n%s\nwant:\n%s", got, step.want)
		}
	}
	for _, o := range objectsOf(t, template("one", oneGPU)) {
		k.Gone(o)
	}
	if got := planned(k); got != steps[0].want {
		t.Errorf("once it is gone again:\n%s\nwant:\n%s", got, steps[0].want)
	}
}

// SC-620 Of pods that share a claim the first that can have a place stands for all, and another one as soon as that
// changes: one that is gated, ends, or waits for something else keeps no other waiting.
func TestPodsThatShareAClaimDoNotWaitForOneThatHasNoPlace(t *testing.T) {
	shares := func(name string) string {
		return strings.Replace(claimant(name, "mine"), "resourceClaimTemplateName", "resourceClaimName", 1)
	}
	spec := func(name, field string) string {
		return strings.Replace(shares(name), "spec:\n", "spec:\n  "+field+"\n", 1)
	}
	metadata := func(name, field string) string {
		return strings.Replace(shares(name), "uid: "+name, "uid: "+name+", "+field, 1)
	}
	gated := strings.Replace(spec("a", "schedulingGates: [{name: example.com/hold}]"), "reason: Unschedulable",
		"reason: SchedulingGated", 1)
	other := strings.Replace(spec("a", "schedulerName: other"), ", conditions: [{type: PodScheduled, "+
		`status: "False", reason: Unschedulable}]`, "", 1)
	alsoNone := strings.Replace(shares("a"), "resourceClaims: [",
		"resourceClaims: [{name: x, resourceClaimName: none}, ", 1)

	for name, c := range map[string]struct{ first, want string }{
		"gated":             {gated, "launch g.one for b"},
		"another scheduler": {other, "launch g.one for b"},
		"ends": {metadata("a", `deletionTimestamp: "2026-11-21T03:59:00Z", finalizers: [example.com/x]`),
			"launch g.one for b"},
		"another claim that does not exist": {alsoNone, "a nowhere: ResourceClaim default/none of the pod does not " +
			"exist; create it\nlaunch g.one for b"},
		"a volume that does not exist": {spec("a", "volumes: [{name: v, persistentVolumeClaim: {claimName: none}}]"),
			"a nowhere: volume claim default/none of the pod does not exist; create it\nlaunch g.one for b"},
		"a rule that is not supported": {spec("a", "hostNetwork: true\n  hostUsers: false"),
			"a nowhere: the pod uses hostNetwork together with hostUsers: false, for which a node must declare " +
				"the feature UserNamespacesHostNetworkSupport, for which this version does not launch instances " +
				"yet; it waits for room on nodes that exist\nlaunch g.one for b"},
		"SC-670 more CPU than any type has": {strings.Replace(shares("a"), `cpu: "1"`, `cpu: "1k"`, 1),
			"a nowhere: no type has room for cpu 1000 (most: 96)\nlaunch g.one for b"},
		"SC-670 a node that no pool launches": {spec("a", "nodeSelector: {rack: r1}"),
			"a nowhere: label rack is set by neither the pool nor its instance types, want in r1\nlaunch g.one for b"},
		"SC-670 an instance type without the device": {spec("a", "nodeSelector: "+
			"{node.kubernetes.io/instance-type: c.large}"),
			"a nowhere: it must share a host with default/b: together they need devices:gpu.nvidia.com 1, and the " +
				"largest instance type for them, c.large, has devices:gpu.nvidia.com 0\nlaunch g.one for b"},
	} {
		t.Run(name, func(t *testing.T) {
			mine := strings.Split(has("mine", "n", "gpu-0"), "status:")[0]
			k := devicesOf(t, gpuClass, mine, c.first, shares("b"))
			if got := planned(k); got != c.want {
				t.Errorf("planned:\n%s\nwant:\n%s", got, c.want)
			}
			see(t, k, shares("a"))
			if got, want := planned(k), "launch g.one for a b"; got != want {
				t.Errorf("once it waits as the other:\n%s\nwant:\n%s", got, want)
			}
			see(t, k, c.first)
			if got := planned(k); got != c.want {
				t.Errorf("once it is as before:\n%s\nwant:\n%s", got, c.want)
			}
			see(t, k, shares("a"))
			planned(k)
			k.Gone(objectsOf(t, shares("a"))[0])
			if got, want := planned(k), "launch g.one for b"; got != want {
				t.Errorf("once it is gone:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// claimingAgent is a DaemonSet whose pods have devices by claims of their own.
const claimingAgent = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: default, uid: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: main, resources: {requests: {cpu: "1"}, claims: [{name: gpu}]}}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: own}]
`

// SC-671 What the pods of a DaemonSet request by claims is left to them, on nodes that exist and on new ones; not where
// their claims cannot be read, and not where there are no such devices.
func TestDevicesOfDaemonPods(t *testing.T) {
	for name, c := range map[string]struct {
		objects []string
		want    string
	}{
		"on new nodes": {[]string{template("own", oneGPU)}, "launch g.four for a b c\nlaunch g.four for d"},
		"on nodes that exist": {
			[]string{template("own", oneGPU), gpuNode("n", "g.four"), publishes("n", 3, 1)},
			"a on n\nb on n\nlaunch g.four for c d"},
		"without its template": {nil, "launch g.four for a b c d"},
	} {
		t.Run(name, func(t *testing.T) {
			k := devicesOf(t, slices.Concat(c.objects, []string{gpuClass, template("one", oneGPU), claimingAgent,
				claimant("a", "one"), claimant("b", "one"), claimant("c", "one"), claimant("d", "one")})...)
			if got := planned(k); got != c.want {
				t.Errorf("planned:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}
