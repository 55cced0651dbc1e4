package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cmd/daemok/commandtest"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/cmd/daemok/plancmd"
)

// A snapshot of a live cluster holds what keeps, limits and prices capacity: the plan from the text is that of the
// cluster, and has something of each kind of object.
func TestASavedSnapshotIsPlannedForAsTheLiveCluster(t *testing.T) {
	account := commandtest.EmulatedAccount(t)
	t.Setenv("IGNORE_DRA_REQUESTS", "false")
	tests := map[string]struct{ manifests, shows string }{
		"a static NodePool":               {staticPool, "NodePool/fixed keeps 2 nodes (spec.replicas)"},
		"a NodePool with hours":           {poolWithHours, "NodePool/office keeps 3 nodes (daemok.sh/hours"},
		"a minimum of on-demand nodes":    {poolWithMinimum + pendingPod, "on demand for the on-demand minimum"},
		"a NodePool with a limit on cost": {poolWithCostLimit + pendingPod, "cost limit reached"},
		"a CapacityBuffer":                {openPool + buffer, "CapacityBuffer default/spare"},
		"a CapacityBuffer with headroom":  {openPool + bufferWithHeadroom, "CapacityBuffer default/spare"},
		"a NodeOverlay":                   {openPool + overlay + pendingPod, "NodeOverlay savings sets its price"},
		"a CapacityQuota": {openPool + capacityQuota + pendingPod,
			"CapacityQuota/team: cpu limit reached"},
		"a ProvisioningRequest":      {openPool + request, "ProvisioningRequest default/train"},
		"Reserved Instances":         {openPool + commitments + pendingPod, "covered by web"},
		"a pod with a ResourceClaim": {openPool + claimedDevice, "devices:gpu.nvidia.com=1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			objects := objectsOf(t, defaultClass+tt.manifests)
			found, err := liveCluster(t, account, objects...)(t.Context(), inspect.NewTarget())
			if err != nil {
				t.Fatal(err)
			}
			read := func(context.Context, *inspect.Target) (inspect.Situation, error) { return found, nil }
			live := printedOf(t, read, "plan", "-v")
			file := filepath.Join(t.TempDir(), "saved.txt")
			text := printedOf(t, read, "snapshot")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			replayed, err := run(t, "plan", "-v", "--snapshot", file)
			if err != nil {
				t.Fatal(err)
			}
			if replayed != live || !strings.Contains(live, tt.shows) {
				t.Errorf("got\n%s\nwant that of the live cluster, with %q:\n%s", replayed, tt.shows, live)
			}
		})
	}
}

// printedOf is what a command prints of a live cluster.
func printedOf(t *testing.T, read inspect.Reader, args ...string) string {
	t.Helper()
	cmd := snapshotCommand(read)
	if args[0] == "plan" {
		cmd = plancmd.New(plancmd.Cluster{Read: read})
	}
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs(args[1:])
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func objectsOf(t *testing.T, manifests string) (out []client.Object) {
	t.Helper()
	scheme, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	decode := serializer.NewCodecFactory(scheme).UniversalDeserializer().Decode
	for _, text := range strings.Split(manifests, "---\n") {
		o, _, err := decode([]byte(text), nil, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		out = append(out, o.(client.Object))
	}
	return out
}

const defaultClass = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: KarpenterNodeRole-prod
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
status:
  subnets: [{id: subnet-1, zone: us-east-1a, zoneID: use1-az1}]
  securityGroups: [{id: sg-1}]
  amis: [{id: ami-1, name: al2023, requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}]
  conditions: [{type: Ready, status: "True", reason: Ready}]
`

// poolHead and poolTail are a NodePool between which its metadata and spec go.
const (
	poolHead = `---
apiVersion: karpenter.sh/v1
kind: NodePool
status:
  conditions:
    - {type: ValidationSucceeded, status: "True", reason: ValidationSucceeded}
    - {type: NodeClassReady, status: "True", reason: NodeClassReady}
    - {type: Ready, status: "True", reason: Ready}
`
	poolTail = `  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      expireAfter: 720h
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.xlarge, m7i.large, g5.xlarge]}
`
	onDemandAlone = "        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}\n"
	spotToo       = "        - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}\n"

	openPool = poolHead + "metadata: {name: default}\nspec:\n" + poolTail + onDemandAlone

	staticPool    = poolHead + "metadata: {name: fixed}\nspec:\n  replicas: 2\n" + poolTail + onDemandAlone
	poolWithHours = poolHead + `metadata:
  name: office
  annotations: {daemok.sh/hours: '{changes: [{at: "0 0 * * *", nodes: 3}]}'}
spec:
  replicas: 1
` + poolTail + onDemandAlone
	poolWithMinimum = poolHead + `metadata: {name: default, annotations: {daemok.sh/on-demand-minimum: "1"}}
spec:
` + poolTail + spotToo
	poolWithCostLimit = poolHead + `metadata: {name: default, annotations: {daemok.sh/cost-limit: "0.001"}}
spec:
` + poolTail + onDemandAlone
)

const pendingPod = `---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default, uid: u1}
spec:
  containers: [{name: main, image: web, resources: {requests: {cpu: "1", memory: 1Gi}}}]
status:
  phase: Pending
  conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]
`

const template = `---
apiVersion: v1
kind: PodTemplate
metadata: {name: worker, namespace: default}
template:
  spec:
    containers: [{name: main, image: web, resources: {requests: {cpu: "1", memory: 1Gi}}}]
`

const buffer = template + `---
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: spare, namespace: default}
spec: {podTemplateRef: {name: worker}, replicas: 3}
`

const bufferWithHeadroom = template + `---
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: spare, namespace: default, annotations: {daemok.sh/headroom: 10%}}
spec: {podTemplateRef: {name: worker}, replicas: 2}
`

const overlay = `---
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: savings}
spec:
  requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [m7i]}]
  priceAdjustment: "-90%"
  capacity: {example.com/fuse: "8"}
`

const capacityQuota = `---
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityQuota
metadata: {name: team, annotations: {daemok.sh/cost-limit: "12.50"}}
spec: {limits: {resources: {cpu: "1"}}}
`

const request = template + `---
apiVersion: autoscaling.x-k8s.io/v1
kind: ProvisioningRequest
metadata: {name: train, namespace: default}
spec:
  provisioningClassName: best-effort-atomic-scale-up.autoscaling.x-k8s.io
  podSets: [{podTemplateRef: {name: worker}, count: 4}]
`

const commitments = `---
apiVersion: v1
kind: ConfigMap
metadata: {name: daemok-commitments, namespace: kube-system}
data:
  commitments.yaml: |
    reservedInstances: [{id: web, instanceType: m5.large, count: 4, sizeFlexible: true}]
`

const claimedDevice = `---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.nvidia.com'"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu, namespace: default, uid: c1}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: train, namespace: default, uid: u1}
spec:
  resourceClaims: [{name: gpu, resourceClaimName: gpu}]
  containers: [{name: main, image: web, resources: {requests: {cpu: "1"}, claims: [{name: gpu}]}}]
status:
  phase: Pending
  conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]
`
