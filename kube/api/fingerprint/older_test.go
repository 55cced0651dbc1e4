package fingerprint_test

import (
	"testing"

	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/fingerprint"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
)

const provisioner = `
spec:
  labels: {team: web}
  annotations: {note: a}
  taints: [{key: a, value: b, effect: NoSchedule}, {key: c, effect: NoExecute}]
  requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
  kubeletConfiguration: {maxPods: 20, kubeReserved: {memory: 1Gi}, evictionSoftGracePeriod: {memory.available: 90s}}
  provider:
    subnetSelector: {a: b}
    securityGroupSelector: {a: b}
    tags: {cost-center: "42"}
    blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 1Ti}}]
`

const template = `
spec:
  subnetSelector: {a: b}
  securityGroupSelector: {a: b}
  tags: {cost-center: "42"}
  userData: "#!/bin/sh"
  blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 100Gi}}]
`

// TestOlderValuesAreKept: a fingerprint that changes without a new Version
// would have every node counted as made from an older spec.
func TestOlderValuesAreKept(t *testing.T) {
	if got, want := provisionerPrint(t, ""), "64b5c01af51321b1"; got != want {
		t.Errorf("Provisioner = %s, want %s; change Version together with the algorithm", got, want)
	}
	if got, want := templatePrint(t, ""), "7413a8f9029ee46a"; got != want {
		t.Errorf("AWSNodeTemplate = %s, want %s; change Version together with the algorithm", got, want)
	}
}

func TestProvisioner(t *testing.T) {
	tests := map[string]struct {
		patch   string
		differs bool
	}{
		"a label":                           {`spec: {labels: {team: db}}`, true},
		"an annotation":                     {`spec: {annotations: {note: b}}`, true},
		"a taint":                           {`spec: {taints: []}`, true},
		"a startup taint":                   {`spec: {startupTaints: [{key: a, effect: NoSchedule}]}`, true},
		"a kubelet setting":                 {`spec: {kubeletConfiguration: {maxPods: 21}}`, true},
		"a larger reserved amount":          {`spec: {kubeletConfiguration: {kubeReserved: {memory: 2Gi}}}`, true},
		"a tag":                             {`spec: {provider: {tags: {team: web}}}`, true},
		"a volume":                          {`spec: {provider: {blockDeviceMappings: []}}`, true},
		"a template in place of settings":   {`spec: {provider: null, providerRef: {name: default}}`, true},
		"requirements":                      {`spec: {requirements: []}`, false},
		"limits":                            {`spec: {limits: {resources: {cpu: 1}}}`, false},
		"the weight":                        {`spec: {weight: 1}`, false},
		"consolidation":                     {`spec: {consolidation: {enabled: true}}`, false},
		"a time to live":                    {`spec: {ttlSecondsUntilExpired: 30}`, false},
		"subnets":                           {`spec: {provider: {subnetSelector: {c: d}}}`, false},
		"security groups":                   {`spec: {provider: {securityGroupSelector: {c: d}}}`, false},
		"the order of taints":               {`spec: {taints: [{key: c, effect: NoExecute}, {key: a, value: b, effect: NoSchedule}]}`, false},
		"the field that labels are in":      {`spec: {labels: null, label: {team: web}}`, false},
		"the unit of a reserved amount":     {`spec: {kubeletConfiguration: {kubeReserved: {memory: 1024Mi}}}`, false},
		"the spelling of a length of time":  {`spec: {kubeletConfiguration: {evictionSoftGracePeriod: {memory.available: 1m30s}}}`, false},
		"the unit of a volume":              {`spec: {provider: {blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 1099511627776}}]}}`, false},
		"the quotes of a tag":               {`spec: {provider: {tags: {cost-center: 42}}}`, false},
		"the usual family, written":         {`spec: {provider: {amiFamily: AL2}}`, false},
		"the kind of the block, written":    {`spec: {provider: {kind: AWS}}`, false},
		"the status":                        {`status: {nodes: 3}`, false},
		"an empty list that is written":     {`spec: {startupTaints: []}`, false},
		"another family":                    {`spec: {provider: {amiFamily: Ubuntu}}`, true},
		"the instance profile of the block": {`spec: {provider: {instanceProfile: nodes}}`, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := provisionerPrint(t, tt.patch) != provisionerPrint(t, ""); got != tt.differs {
				t.Errorf("patch %s changes the fingerprint: %v, want %v", tt.patch, got, tt.differs)
			}
		})
	}
}

// TestTheTemplateDefaultIsTheSame: naming what is meant anyhow changes nothing.
func TestTheTemplateDefaultIsTheSame(t *testing.T) {
	const none = `spec: {provider: null}`
	if provisionerPrint(t, none) != provisionerPrint(t, `spec: {provider: null, providerRef: {name: default}}`) {
		t.Error("naming the AWSNodeTemplate default changes the fingerprint")
	}
	if provisionerPrint(t, none) == provisionerPrint(t, `spec: {provider: null, providerRef: {name: gpu}}`) {
		t.Error("another AWSNodeTemplate leaves the fingerprint as it is")
	}
}

func TestAWSNodeTemplate(t *testing.T) {
	tests := map[string]struct {
		patch   string
		differs bool
	}{
		"a tag":                        {`spec: {tags: {team: db}}`, true},
		"user data":                    {`spec: {userData: "#!/bin/bash"}`, true},
		"the family":                   {`spec: {amiFamily: Bottlerocket}`, true},
		"the instance profile":         {`spec: {instanceProfile: nodes}`, true},
		"a volume":                     {`spec: {blockDeviceMappings: []}`, true},
		"a metadata option":            {`spec: {metadataOptions: {httpTokens: optional}}`, true},
		"monitoring that is off":       {`spec: {detailedMonitoring: false}`, true},
		"the context":                  {`spec: {context: a}`, true},
		"a launch template":            {`spec: {launchTemplate: mine}`, true},
		"subnets":                      {`spec: {subnetSelector: {c: d}}`, false},
		"security groups":              {`spec: {securityGroupSelector: {c: d}}`, false},
		"images":                       {`spec: {amiSelector: {c: d}}`, false},
		"the usual family, written":    {`spec: {amiFamily: AL2}`, false},
		"the quotes of a tag":          {`spec: {tags: {cost-center: 42}}`, false},
		"the unit of a volume":         {`spec: {blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 102400Mi}}]}`, false},
		"the status":                   {`status: {instanceProfile: a}`, false},
		"tags with another number":     {`spec: {tags: {cost-center: 43}}`, true},
		"a second volume of that size": {`spec: {blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 100Gi}}, {deviceName: /dev/xvdb, ebs: {volumeSize: 100Gi}}]}`, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := templatePrint(t, tt.patch) != templatePrint(t, ""); got != tt.differs {
				t.Errorf("patch %s changes the fingerprint: %v, want %v", tt.patch, got, tt.differs)
			}
		})
	}
	var a awsv1alpha1.AWSNodeTemplate
	if fingerprint.AWSNodeTemplate(&a, fingerprint.Cluster{CABundle: "a"}) == fingerprint.AWSNodeTemplate(&a, fingerprint.Cluster{CABundle: "b"}) {
		t.Error("another certificate authority leaves the fingerprint as it is")
	}
}

func provisionerPrint(t *testing.T, patch string) string {
	var p v1alpha5.Provisioner
	read(t, &p, provisioner, patch)
	return fingerprint.Provisioner(&p)
}

func templatePrint(t *testing.T, patch string) string {
	var a awsv1alpha1.AWSNodeTemplate
	read(t, &a, template, patch)
	return fingerprint.AWSNodeTemplate(&a, fingerprint.Cluster{CABundle: "ca"})
}
