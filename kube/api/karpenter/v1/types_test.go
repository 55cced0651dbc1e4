package v1_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	autoscalingv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	autoscalingv1beta1 "github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/crds"
	daemokv1alpha1 "github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
)

func TestDuration(t *testing.T) {
	tests := map[string]struct {
		text karpv1.DurationOrNever
		want time.Duration
		set  bool
		bad  bool
	}{
		"hours":              {"720h", 720 * time.Hour, true, false},
		"hours and minutes":  {"1h30m", 90 * time.Minute, true, false},
		"zero":               {"0s", 0, true, false},
		"never":              {karpv1.Never, 0, false, false},
		"unset":              {"", 0, false, false},
		"longer than all":    {"9999999999h", 0, false, true},
		"minutes then hours": {"30m1h", 90 * time.Minute, true, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, set := tt.text.Value()
			if got != tt.want || set != tt.set {
				t.Errorf("Value(%q) = %v, %v; want %v, %v", tt.text, got, set, tt.want, tt.set)
			}
			if err := tt.text.Check(); (err != nil) != tt.bad {
				t.Errorf("Check(%q) = %v; want an error: %v", tt.text, err, tt.bad)
			}
		})
	}
}

// TestManifestsSurvive: reading and writing a manifest changes nothing in it,
// spelling included, so that a controller's write never differs from what the
// user wrote.
func TestManifestsSurvive(t *testing.T) {
	tests := map[string]struct {
		into any
		text string
	}{
		"a pool": {new(karpv1.NodePool), `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  weight: 10
  limits: {cpu: 1k, nodes: "5"}
  disruption: {consolidateAfter: 60m, consolidationPolicy: WhenEmpty, budgets: [{nodes: 10%, reasons: [Empty], schedule: "@daily", duration: 8h}]}
  template:
    metadata: {labels: {team: web}, annotations: {note: a}}
    spec:
      requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64], minValues: 1}]
      taints: [{key: a, value: b, effect: NoSchedule}]
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      expireAfter: 720h
      terminationGracePeriod: 90m
status: {nodes: 0}
`},
		"a claim": {new(karpv1.NodeClaim), `
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: a}
spec:
  requirements: []
  resources: {requests: {cpu: 100m}}
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
  expireAfter: Never
status: {}
`},
		"a pool without budgets, which is not one that says nothing of them": {new(karpv1.NodePool), `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  disruption: {budgets: []}
  template: {spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}}
status: {nodes: 0}
`},
		"a class that selects by no tag": {new(awsv1.EC2NodeClass), `
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec: {amiSelectorTerms: [{tags: {}}], subnetSelectorTerms: [{tags: {}}], securityGroupSelectorTerms: [{tags: {}}]}
status: {}
`},
		"an overlay": {new(v1alpha1.NodeOverlay), `
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: a}
spec: {requirements: [], priceAdjustment: "+10%", capacity: {example.com/a: "1"}, weight: 1}
status: {}
`},
		"a buffer": {new(autoscalingv1beta1.CapacityBuffer), `
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: a, namespace: b}
spec: {provisioningStrategy: buffer.x-k8s.io/active-capacity, scalableRef: {apiGroup: apps, kind: Deployment, name: web}, percentage: 20}
status: {}
`},
		"a request": {new(autoscalingv1.ProvisioningRequest), `
apiVersion: autoscaling.x-k8s.io/v1
kind: ProvisioningRequest
metadata: {name: a, namespace: b}
spec:
  provisioningClassName: check-capacity.autoscaling.x-k8s.io
  podSets: [{podTemplateRef: {name: web}, count: 2}]
  parameters: {ValidUntilSeconds: "60"}
status: {}
`},
		"a Provisioner": {new(v1alpha5.Provisioner), `
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: a}
spec:
  labels: {team: web}
  label: {tier: "1"}
  taints: [{key: a, value: b, effect: NoSchedule}]
  requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
  kubeletConfiguration: {maxPods: 20, kubeReserved: {cpu: 100m}, evictionHard: {memory.available: 5%}}
  ttlSecondsAfterEmpty: 0
  ttlSecondsUntilExpired: 2592000
  consolidation: {enabled: false}
  weight: 50
  limits: {resources: {cpu: 1k}, cpu: "10", nvidia.com/gpu: 2, requests: {cpu: 5}}
  provider:
    apiVersion: extensions.karpenter.sh/v1alpha1
    kind: AWS
    subnetSelector: {aws-ids: "subnet-1,subnet-2"}
    securityGroupSelector: {kubernetes.io/cluster/lab: "*"}
    tags: {cost-center: 42, team: web}
    colour: red
status: {}
`},
		"a template": {new(awsv1alpha1.AWSNodeTemplate), `
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: a}
spec:
  amiFamily: Bottlerocket
  subnetSelector: {kubernetes.io/role/elb: 1}
  securityGroupSelector: {a: b}
  amiSelector: {"aws::owners": self}
  metadataOptions: {httpTokens: optional}
  blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 100Gi}}]
  detailedMonitoring: false
  userData: "[settings]"
status: {}
`},
		"a class": {new(awsv1.EC2NodeClass), `
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{name: c}]
  associatePublicIPAddress: false
  kubelet: {maxPods: 20, cpuManagerPolicy: static}
  blockDeviceMappings: [{deviceName: /dev/xvda, rootVolume: true, ebs: {volumeSize: 1024Gi, encrypted: false}}]
  metadataOptions: {httpPutResponseHopLimit: 1}
status: {}
`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if err := yaml.UnmarshalStrict([]byte(tt.text), tt.into); err != nil {
				t.Fatal(err)
			}
			written, err := json.Marshal(tt.into)
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			if err := json.Unmarshal(written, &got); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal([]byte(tt.text), &want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("wrote %s\nwant %s", written, tt.text)
			}
		})
	}
}

// TestSchemeKnowsEveryDefinition: each CRD has its Go type, list included.
func TestSchemeKnowsEveryDefinition(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		karpv1.AddToScheme, v1alpha1.AddToScheme, awsv1.AddToScheme, autoscalingv1.AddToScheme,
		autoscalingv1beta1.AddToScheme, daemokv1alpha1.AddToScheme,
		v1alpha5.AddToScheme, awsv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	definitions, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range definitions {
		for _, kind := range []string{d.Spec.Names.Kind, d.Spec.Names.ListKind} {
			gvk := karpv1.GroupVersion.WithKind(kind)
			gvk.Group, gvk.Version = d.Spec.Group, d.Spec.Versions[0].Name
			if !scheme.Recognizes(gvk) {
				t.Errorf("no Go type for %s", gvk)
			}
		}
	}
}
