package validate_test

import (
	"fmt"
	"strings"
	"testing"

	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/validate"
)

const classBase = `
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
`

func TestEC2NodeClass(t *testing.T) {
	check(t, classBase, map[string]finding{
		"a plain class is right":                   {``, ``},
		"a density of pods":                        {`metadata: {annotations: {daemok.sh/pod-density: prefix-delegation}}`, ``},
		"a share of memory":                        {`metadata: {annotations: {daemok.sh/memory-overhead: "0.03"}}`, ``},
		"a share of memory in hundreds":            {`metadata: {annotations: {daemok.sh/memory-overhead: "3"}}`, `warning: metadata.annotations[daemok.sh/memory-overhead]: "3" is no share of memory: want 0 or more and less than 1, such as "0.03" for 3 %; it is ignored`},
		"a density of pods that is none":           {`metadata: {annotations: {daemok.sh/pod-density: prefixes}}`, `warning: metadata.annotations[daemok.sh/pod-density]: "prefixes" says nothing and is ignored, write prefix-delegation`},
		"a misspelt annotation has no effect":      {`metadata: {annotations: {daemok.sh/pod-densities: prefix-delegation}}`, `warning: metadata.annotations[daemok.sh/pod-densities]: has no effect, Daemok knows no annotation of this name, did you mean daemok.sh/pod-density?`},
		"a subnet by id beside tags":               {`spec: {subnetSelectorTerms: [{id: subnet-1}, {id: subnet-2, tags: {a: b}}]}`, `warning: spec.subnetSelectorTerms[1]: id decides`},
		"a subnet by no tag":                       {`spec: {subnetSelectorTerms: [{tags: {}}]}`, `warning: spec.subnetSelectorTerms[0].tags: no tag is named, so every subnet is selected`},
		"a security group by id beside a name":     {`spec: {securityGroupSelectorTerms: [{id: sg-1, name: a}]}`, `warning: spec.securityGroupSelectorTerms[0]: id decides`},
		"a security group by name beside tags":     {`spec: {securityGroupSelectorTerms: [{name: a, tags: {a: b}}]}`, `warning: spec.securityGroupSelectorTerms[0]: name decides`},
		"a security group by no tag":               {`spec: {securityGroupSelectorTerms: [{tags: {}}]}`, `warning: spec.securityGroupSelectorTerms[0].tags: no tag is named`},
		"a reservation by id beside an owner":      {`spec: {capacityReservationSelectorTerms: [{id: cr-1, ownerID: "012345678901"}]}`, `warning: spec.capacityReservationSelectorTerms[0]: id decides`},
		"a reservation by no tag":                  {`spec: {capacityReservationSelectorTerms: [{tags: {}}]}`, `warning: spec.capacityReservationSelectorTerms[0].tags: no tag is named`},
		"an image by id beside a parameter":        {`spec: {amiFamily: AL2023, amiSelectorTerms: [{id: ami-1, ssmParameter: /a}]}`, `warning: spec.amiSelectorTerms[0]: id decides`},
		"an image by a parameter beside a name":    {`spec: {amiFamily: AL2023, amiSelectorTerms: [{ssmParameter: /a, name: b}]}`, `warning: spec.amiSelectorTerms[0]: ssmParameter decides`},
		"an image by no tag":                       {`spec: {amiFamily: AL2023, amiSelectorTerms: [{tags: {}}]}`, `warning: spec.amiSelectorTerms[0].tags: no tag is named`},
		"terms of one kind each are right":         {`spec: {securityGroupSelectorTerms: [{id: sg-1}, {name: a}, {tags: {a: b}}]}`, ``},
		"a tag is right":                           {`spec: {tags: {"Cost Center": "a/b=c+d-e@f:g_h."}}`, ``},
		"a tag with signs":                         {`spec: {tags: {team: "a;b"}}`, `TagValidationFailed: spec.tags[team]: keys and values of tags may have`},
		"a tag of AWS":                             {`spec: {tags: {"AWS:team": a}}`, `TagValidationFailed: spec.tags[AWS:team]: tags that begin with aws:`},
		"a tag with a long key":                    {`spec: {tags: {` + strings.Repeat("k", 129) + `: a}}`, `TagValidationFailed: spec.tags[kkk`},
		"a tag with a long value":                  {`spec: {tags: {team: ` + strings.Repeat("v", 257) + `}}`, `TagValidationFailed: spec.tags[team]: the value has more than 256 letters`},
		"as many tags as there is room for":        {`spec: {tags: {` + numbered(43) + `}}`, ``},
		"more tags than there is room for":         {`spec: {tags: {` + numbered(44) + `}}`, `TagValidationFailed: spec.tags: 44 tags leave no room`},
		"local disks of Windows":                   {`spec: {amiSelectorTerms: [{alias: windows2022@latest}], instanceStorePolicy: RAID0}`, `warning: spec.instanceStorePolicy: nodes of the family Windows2022 join no local disks`},
		"local disks of AL2023 are right":          {`spec: {instanceStorePolicy: RAID0}`, ``},
		"user data is right":                       {`spec: {userData: "#!/bin/sh"}`, ``},
		"user data that is too long":               {`spec: {userData: "` + strings.Repeat("x", 16385) + `"}`, `UserDataSizeLimitExceeded: spec.userData: 16385 bytes`},
		"user data that is short once decoded":     {`spec: {userData: "` + strings.Repeat("xxxx", 5000) + `"}`, ``},
		"user data in base64 that is too long too": {`spec: {userData: "` + strings.Repeat("xxxx", 6000) + `"}`, `UserDataSizeLimitExceeded: spec.userData: 18000 bytes`},
	}, withoutExpressions)
}

func TestKubelet(t *testing.T) {
	kubelet := func(fields string) string { return "spec: {kubelet: {" + fields + "}}" }
	family := func(family, fields string) string {
		return "spec: {amiFamily: " + family + ", amiSelectorTerms: [{id: ami-1}], kubelet: {" + fields + "}}"
	}
	check(t, classBase, map[string]finding{
		"nothing said is right":                     {kubelet(``), ``},
		"typed fields are right":                    {kubelet(`maxPods: 20, kubeReserved: {cpu: 100m}, evictionSoft: {memory.available: 5%}, evictionSoftGracePeriod: {memory.available: 1m30s}`), ``},
		"a DNS server that is a name":               {kubelet(`clusterDNS: [dns.local]`), `InvalidKubeletConfiguration: spec.kubelet.clusterDNS[0]: "dns.local" is no IP address`},
		"DNS servers of both kinds are right":       {kubelet(`clusterDNS: [10.0.0.10, "fd00::10"]`), ``},
		"a threshold below zero":                    {kubelet(`evictionHard: {memory.available: -5Mi}`), `InvalidKubeletConfiguration: spec.kubelet.evictionHard[memory.available]: -5Mi is not more than nothing`},
		"a soft threshold of an amount of zero":     {kubelet(`evictionSoft: {memory.available: "0"}, evictionSoftGracePeriod: {memory.available: 1m}`), `InvalidKubeletConfiguration: spec.kubelet.evictionSoft[memory.available]: 0 is not more than nothing`},
		"thresholds of zero percent are right":      {kubelet(`evictionHard: {memory.available: 0%, nodefs.available: 100%}`), ``},
		"a soft threshold without a time":           {kubelet(`evictionSoft: {memory.available: 5%}`), `InvalidKubeletConfiguration: spec.kubelet.evictionSoft[memory.available]: needs a length of time`},
		"a time without a soft threshold":           {kubelet(`evictionSoftGracePeriod: {memory.available: 1m}`), `InvalidKubeletConfiguration: spec.kubelet.evictionSoftGracePeriod[memory.available]: needs a threshold`},
		"a time that is none":                       {kubelet(`evictionSoft: {memory.available: 5%}, evictionSoftGracePeriod: {memory.available: soon}`), `InvalidKubeletConfiguration: spec.kubelet.evictionSoftGracePeriod[memory.available]: "soon" is no length of time`},
		"a grace period of pods below zero":         {kubelet(`evictionMaxPodGracePeriod: -1`), `InvalidKubeletConfiguration: spec.kubelet.evictionMaxPodGracePeriod: -1`},
		"image thresholds in the wrong order":       {kubelet(`imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 60`), `InvalidKubeletConfiguration: spec.kubelet.imageGCHighThresholdPercent: 50 must be greater`},
		"image thresholds that are equal":           {kubelet(`imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 80`), `InvalidKubeletConfiguration: spec.kubelet.imageGCHighThresholdPercent: 80 must be greater`},
		"a high one below the default of the low":   {kubelet(`imageGCHighThresholdPercent: 50`), `InvalidKubeletConfiguration: spec.kubelet.imageGCHighThresholdPercent: 50 must be greater than imageGCLowThresholdPercent, which is 80 where it is not set: set it below 50`},
		"a low one above the default of the high":   {kubelet(`imageGCLowThresholdPercent: 90`), `InvalidKubeletConfiguration: spec.kubelet.imageGCLowThresholdPercent: 90 must be less than imageGCHighThresholdPercent, which is 85 where it is not set: set it above 90`},
		"a low one alone is right":                  {kubelet(`imageGCLowThresholdPercent: 65`), ``},
		"process IDs that Bottlerocket keeps":       {family("Bottlerocket", `kubeReserved: {pid: "100"}`), `UnsupportedKubeletConfiguration: spec.kubelet.kubeReserved[pid]: nodes of the family Bottlerocket reserve cpu, memory and ephemeral-storage only`},
		"a negative reserved amount":                {kubelet(`kubeReserved: {cpu: -100m}`), `InvalidKubeletConfiguration: spec.kubelet.kubeReserved[cpu]: -100m is less than nothing`},
		"a reserved expression while that is off":   {kubelet(`systemReserved: {cpu: "vcpus * 10"}`), `KubeletExpressionsDisabled: spec.kubelet.systemReserved[cpu]: "vcpus * 10" is no amount`},
		"an expression of pods while that is off":   {kubelet(`maxPods: "max_pods"`), `KubeletExpressionsDisabled: spec.kubelet.maxPods: "max_pods" is no amount`},
		"a further field is right":                  {kubelet(`cpuManagerPolicy: static`), ``},
		"a further field with an object is right":   {kubelet(`memorySwap: {swapBehavior: LimitedSwap}`), ``},
		"a field that no kubelet has":               {kubelet(`cpuManagerPolice: static`), `InvalidKubeletConfiguration: spec.kubelet.cpuManagerPolice: is not what KubeletConfiguration`},
		"a field that no object of a kubelet has":   {kubelet(`memorySwap: {behaviour: LimitedSwap}`), `InvalidKubeletConfiguration: spec.kubelet.memorySwap: is not what KubeletConfiguration`},
		"a further field of another type":           {kubelet(`cpuManagerPolicy: 1`), `InvalidKubeletConfiguration: spec.kubelet.cpuManagerPolicy: is not what KubeletConfiguration`},
		"a field in another case":                   {kubelet(`CPUManagerPolicy: static`), `InvalidKubeletConfiguration: spec.kubelet.CPUManagerPolicy: is not what KubeletConfiguration`},
		"taints of a kubelet":                       {kubelet(`registerWithTaints: []`), `InvalidKubeletConfiguration: spec.kubelet.registerWithTaints: nodes are tainted by their NodePool`},
		"a further field on AL2":                    {family("AL2", `cpuManagerPolicy: static`), `UnsupportedKubeletConfiguration: spec.kubelet: nodes of the family AL2 do not support cpuManagerPolicy`},
		"a further field on Bottlerocket":           {family("Bottlerocket", `cpuManagerPolicy: static`), `UnsupportedKubeletConfiguration: spec.kubelet: nodes of the family Bottlerocket`},
		"a further field on images of one's own":    {family("Custom", `cpuManagerPolicy: static`), ``},
		"two DNS servers on AL2":                    {family("AL2", `clusterDNS: [10.0.0.10, 10.0.0.11]`), `UnsupportedKubeletConfiguration: spec.kubelet.clusterDNS: nodes of the family AL2 take one address`},
		"two DNS servers on AL2023 are right":       {kubelet(`clusterDNS: [10.0.0.10, 10.0.0.11]`), ``},
		"two DNS servers on images of one's own":    {family("Custom", `clusterDNS: [10.0.0.10, 10.0.0.11]`), ``},
		"pods by core on Bottlerocket":              {family("Bottlerocket", `podsPerCore: 2`), `UnsupportedKubeletConfiguration: spec.kubelet.podsPerCore: nodes of the family Bottlerocket`},
		"pods by core on AL2 are right":             {family("AL2", `podsPerCore: 2`), ``},
		"a number of pods in quotes is right":       {kubelet(`maxPods: "110"`), ``},
		"the six signals of eviction are all right": {kubelet(`evictionHard: {memory.available: 5%, nodefs.available: 1Gi, nodefs.inodesFree: 5%, imagefs.available: 5%, imagefs.inodesFree: 5%, pid.available: 5%}`), ``},
	}, withoutExpressions)
}

func TestKubeletExpressions(t *testing.T) {
	kubelet := func(fields string) string { return "spec: {kubelet: {" + fields + "}}" }
	check(t, classBase, map[string]finding{
		"a reserved expression is right":     {kubelet(`kubeReserved: {memory: "11 * max_pods + 255"}`), ``},
		"an expression of pods is right":     {kubelet(`maxPods: "min(max_pods, 110)"`), ``},
		"a quantity is no expression":        {kubelet(`kubeReserved: {memory: 1Gi}`), ``},
		"a variable that there is not":       {kubelet(`kubeReserved: {memory: "pods * 11"}`), `KubeletExpressionInvalid: spec.kubelet.kubeReserved[memory]: expression "pods * 11"`},
		"a result that is no number":         {kubelet(`maxPods: "instance_type"`), `KubeletExpressionInvalid: spec.kubelet.maxPods: expression "instance_type"`},
		"an expression that is not complete": {kubelet(`maxPods: "1 +"`), `KubeletExpressionInvalid: spec.kubelet.maxPods: expression "1 +"`},
	}, func(c *awsv1.EC2NodeClass) []validate.Finding {
		return validate.EC2NodeClass(c, validate.ClassOptions{Expressions: true})
	})
}

func withoutExpressions(c *awsv1.EC2NodeClass) []validate.Finding {
	return validate.EC2NodeClass(c, validate.ClassOptions{})
}

func numbered(n int) string {
	tags := make([]string, n)
	for i := range tags {
		tags[i] = fmt.Sprintf("k%d: v", i)
	}
	return strings.Join(tags, ", ")
}

func TestErrorsAndWarnings(t *testing.T) {
	all := []validate.Finding{{Field: "a", Warning: true}, {Field: "b"}, {Field: "c", Warning: true}}
	if got := validate.Errors(all); len(got) != 1 || got[0].Field != "b" {
		t.Errorf("Errors = %v, want b alone", got)
	}
	if got := validate.Warnings(all); len(got) != 2 || got[0].Field != "a" || got[1].Field != "c" {
		t.Errorf("Warnings = %v, want a and c", got)
	}
}
