package fingerprint_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/fingerprint"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

const pool = `
spec:
  template:
    metadata: {labels: {team: web, tier: "1"}, annotations: {note: a}}
    spec:
      requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
      taints: [{key: a, value: b, effect: NoSchedule}, {key: c, effect: NoExecute}]
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      expireAfter: 720h
`

const class = `
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
  tags: {team: web}
  kubelet: {maxPods: 20, kubeReserved: {memory: 1Gi}, cpuManagerPolicy: static}
  blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 1024Gi}}, {deviceName: /dev/xvdb, ebs: {volumeSize: 1Gi}}]
`

// TestValuesAreKept: a fingerprint that changes without a new Version would make every instance of
// every cluster drift at once.
func TestValuesAreKept(t *testing.T) {
	if got, want := poolPrint(t, ""), "fa12598bcbcfcd5a"; got != want {
		t.Errorf("NodePool = %s, want %s; change Version together with the algorithm", got, want)
	}
	if got, want := classPrint(t, ""), "073f5ac9af967987"; got != want {
		t.Errorf("EC2NodeClass = %s, want %s; change Version together with the algorithm", got, want)
	}
}

func TestNodePool(t *testing.T) {
	tests := map[string]struct {
		patch   string
		differs bool
	}{
		"a label":                        {`spec: {template: {metadata: {labels: {team: db}}}}`, true},
		"an annotation":                  {`spec: {template: {metadata: {annotations: {note: b}}}}`, true},
		"a taint":                        {`spec: {template: {spec: {taints: []}}}`, true},
		"a startup taint":                {`spec: {template: {spec: {startupTaints: [{key: a, effect: NoSchedule}]}}}`, true},
		"the class":                      {`spec: {template: {spec: {nodeClassRef: {name: other}}}}`, true},
		"the lifetime":                   {`spec: {template: {spec: {expireAfter: 1h}}}`, true},
		"the grace period":               {`spec: {template: {spec: {terminationGracePeriod: 1h}}}`, true},
		"requirements":                   {`spec: {template: {spec: {requirements: []}}}`, false},
		"limits":                         {`spec: {limits: {cpu: 1}}`, false},
		"the weight":                     {`spec: {weight: 1}`, false},
		"replicas":                       {`spec: {replicas: 1}`, false},
		"disruption":                     {`spec: {disruption: {consolidateAfter: Never}}`, false},
		"the order of taints":            {`spec: {template: {spec: {taints: [{key: c, effect: NoExecute}, {key: a, value: b, effect: NoSchedule}]}}}`, false},
		"when a taint was added":         {`spec: {template: {spec: {taints: [{key: c, effect: NoExecute, timeAdded: "2026-01-01T00:00:00Z"}, {key: a, value: b, effect: NoSchedule}]}}}`, false},
		"the spelling of a lifetime":     {`spec: {template: {spec: {expireAfter: 43200m}}}`, false},
		"an empty list that is written":  {`spec: {template: {spec: {startupTaints: []}}}`, false},
		"a list moved to the other list": {`spec: {template: {spec: {taints: [], startupTaints: [{key: a, value: b, effect: NoSchedule}, {key: c, effect: NoExecute}]}}}`, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := poolPrint(t, tt.patch) != poolPrint(t, ""); got != tt.differs {
				t.Errorf("patch %s changes the fingerprint: %v, want %v", tt.patch, got, tt.differs)
			}
		})
	}
}

func TestEC2NodeClass(t *testing.T) {
	tests := map[string]struct {
		patch   string
		differs bool
	}{
		"the role":                           {`spec: {role: other}`, true},
		"a tag":                              {`spec: {tags: {team: db}}`, true},
		"user data":                          {`spec: {userData: "#!/bin/sh"}`, true},
		"the family":                         {`spec: {amiFamily: Custom}`, true},
		"a volume":                           {`spec: {blockDeviceMappings: []}`, true},
		"a metadata option":                  {`spec: {metadataOptions: {httpTokens: optional}}`, true},
		"monitoring":                         {`spec: {detailedMonitoring: true}`, true},
		"monitoring that is off":             {`spec: {detailedMonitoring: false}`, true},
		"a public address that is off":       {`spec: {associatePublicIPAddress: false}`, true},
		"the placement group":                {`spec: {placementGroupSelector: {name: a}}`, true},
		"the context":                        {`spec: {context: a}`, true},
		"connection tracking":                {`spec: {connectionTracking: {udpTimeout: 30}}`, true},
		"processor options":                  {`spec: {cpuOptions: {nestedVirtualization: enabled}}`, true},
		"network interfaces":                 {`spec: {networkInterfaces: [{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}]}`, true},
		"the instance store":                 {`spec: {instanceStorePolicy: RAID0}`, true},
		"a typed kubelet field":              {`spec: {kubelet: {maxPods: 21}}`, true},
		"a further kubelet field":            {`spec: {kubelet: {cpuManagerPolicy: none}}`, true},
		"subnets":                            {`spec: {subnetSelectorTerms: [{id: subnet-1}]}`, false},
		"security groups":                    {`spec: {securityGroupSelectorTerms: [{id: sg-1}]}`, false},
		"capacity reservations":              {`spec: {capacityReservationSelectorTerms: [{id: cr-1}]}`, false},
		"a version of the images":            {`spec: {amiSelectorTerms: [{alias: al2023@v20250101}]}`, false},
		"prefixes":                           {`spec: {ipPrefixCount: 1}`, false},
		"the family of the alias, written":   {`spec: {amiFamily: AL2023}`, false},
		"the order of volumes":               {`spec: {blockDeviceMappings: [{deviceName: /dev/xvdb, ebs: {volumeSize: 1Gi}}, {deviceName: /dev/xvda, ebs: {volumeSize: 1024Gi}}]}`, false},
		"the unit of a volume":               {`spec: {blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 1Ti}}, {deviceName: /dev/xvdb, ebs: {volumeSize: 1Gi}}]}`, false},
		"the unit of a reserved amount":      {`spec: {kubelet: {kubeReserved: {memory: 1024Mi}}}`, false},
		"another family, of another alias":   {`spec: {amiSelectorTerms: [{alias: bottlerocket@latest}]}`, true},
		"another image of the same family":   {`spec: {amiSelectorTerms: [{id: ami-1}], amiFamily: AL2023}`, false},
		"the status":                         {`status: {instanceProfile: a}`, false},
		"a larger reserved amount":           {`spec: {kubelet: {kubeReserved: {memory: 2Gi}}}`, true},
		"an expression in place of a number": {`spec: {kubelet: {kubeReserved: {memory: "11 * max_pods"}}}`, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := classPrint(t, tt.patch) != classPrint(t, ""); got != tt.differs {
				t.Errorf("patch %s changes the fingerprint: %v, want %v", tt.patch, got, tt.differs)
			}
		})
	}
}

func TestClusterCounts(t *testing.T) {
	var c awsv1.EC2NodeClass
	if fingerprint.EC2NodeClass(&c, fingerprint.Cluster{CABundle: "a"}) == fingerprint.EC2NodeClass(&c, fingerprint.Cluster{CABundle: "b"}) {
		t.Error("another certificate authority leaves the fingerprint as it is")
	}
}

// TestLabelsDoNotCollide: what differs in meaning differs in print, for many
// drawn sets of labels.
func TestLabelsDoNotCollide(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	prints := map[string]string{}
	for range 2000 {
		labels := map[string]string{}
		for range random.IntN(4) {
			labels[fmt.Sprint("k", random.IntN(3))] = fmt.Sprint("v", random.IntN(3))
		}
		var p karpv1.NodePool
		p.Spec.Template.Metadata.Labels = labels
		print, meaning := fingerprint.NodePool(&p), fmt.Sprint(labels)
		if other, seen := prints[print]; seen && other != meaning {
			t.Fatalf("%s and %s have the fingerprint %s", other, meaning, print)
		}
		prints[print] = meaning
	}
}

func poolPrint(t *testing.T, patch string) string {
	var p karpv1.NodePool
	read(t, &p, pool, patch)
	return fingerprint.NodePool(&p)
}

func classPrint(t *testing.T, patch string) string {
	var c awsv1.EC2NodeClass
	read(t, &c, class, patch)
	return fingerprint.EC2NodeClass(&c, fingerprint.Cluster{CABundle: "ca"})
}

// read decodes a document with a merge patch applied.
func read(t *testing.T, into any, document, patch string) {
	t.Helper()
	merged, err := jsonpatch.MergePatch(asJSON(t, document), asJSON(t, patch))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(merged, into); err != nil {
		t.Fatal(err)
	}
}

func asJSON(t *testing.T, document string) []byte {
	t.Helper()
	if document == "" {
		return []byte("{}")
	}
	data, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
