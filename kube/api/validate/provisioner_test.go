package validate_test

import (
	"slices"
	"strings"
	"testing"

	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/api/validate"
)

func TestProvisioner(t *testing.T) {
	requirement := func(r string) string { return "spec: {requirements: [{" + r + "}]}" }
	const at = "spec.requirements[0]"
	check(t, "spec: {}", map[string]finding{
		"nothing asked for is right":                      {``, ``},
		"a name of 64 letters is refused":                 {`metadata: {name: ` + strings.Repeat("n", 64) + `}`, `metadata.name: "` + strings.Repeat("n", 64) + `" has 64 characters, and nodes carry it as label karpenter.sh/provisioner-name`},
		"a mark that is none is refused":                  {`metadata: {annotations: {daemok.sh/machine-cost: "$1"}}`, `metadata.annotations[daemok.sh/machine-cost]: "$1" is no cost`},
		"labels are right":                                {`spec: {labels: {team: web, kubernetes.io/arch: arm64}}`, ``},
		"a label of Kubernetes is refused":                {`spec: {labels: {node-role.kubernetes.io/web: ""}}`, `spec.labels[node-role.kubernetes.io/web]: label node-role.kubernetes.io/web is restricted`},
		"the name of the Provisioner as label is refused": {`spec: {labels: {karpenter.sh/provisioner-name: a}}`, `spec.labels[karpenter.sh/provisioner-name]: label karpenter.sh/provisioner-name is restricted, Daemok sets it`},
		"the older name of an architecture is right":      {`spec: {labels: {beta.kubernetes.io/arch: arm64}}`, ``},
		"a label that a requirement excludes is refused": {`spec: {labels: {karpenter.sh/capacity-type: spot}, requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}`,
			`spec.requirements[0]: no node has karpenter.sh/capacity-type in on-demand and also in spot, as spec.labels[karpenter.sh/capacity-type] asks`},
		"labels without their s are told of":             {`spec: {label: {team: web}}`, `warning: spec.label[team]: is taken as one of spec.labels, write it there`},
		"labels without their s give way":                {`spec: {label: {team: web}, labels: {team: db}}`, `warning: spec.label[team]: is ignored, spec.labels has another value`},
		"a taint is right":                               {`spec: {taints: [{key: nvidia.com/gpu, value: "true", effect: NoSchedule}]}`, ``},
		"a taint without effect is refused":              {`spec: {taints: [{key: a, effect: ""}]}`, `spec.taints[0].effect: "" is unknown, use NoSchedule`},
		"a taint twice is refused":                       {`spec: {taints: [{key: a, effect: NoSchedule}], startupTaints: [{key: a, effect: NoSchedule}]}`, `spec.startupTaints[0]: a:NoSchedule is already in spec.taints[0]`},
		"the number of pods is a label":                  {requirement(`key: karpenter.k8s.aws/instance-pods, operator: Gt, values: ["20"]`), ``},
		"a pool of the newer generation is no label":     {requirement(`key: karpenter.sh/nodepool, operator: Exists`), at + `.key: label karpenter.sh/nodepool is restricted`},
		"a capacity reservation is no label":             {requirement(`key: karpenter.k8s.aws/capacity-reservation-id, operator: Exists`), at + `.key: label karpenter.k8s.aws/capacity-reservation-id is restricted`},
		"no known capacity type is refused":              {requirement(`key: karpenter.sh/capacity-type, operator: In, values: [ondemand]`), at + `.values: "ondemand" is no value of karpenter.sh/capacity-type, did you mean on-demand?`},
		"an operator of the newer generation is refused": {requirement(`key: a, operator: Gte, values: ["2"]`), at + `.operator: "Gte" is unknown, use In, NotIn, Exists, DoesNotExist, Gt, Lt`},
		"nodes that expire at once are told of":          {`spec: {ttlSecondsUntilExpired: 0}`, `warning: spec.ttlSecondsUntilExpired: 0 would replace every node as soon as it is there, so none is`},
		"a bound that is too large is refused":           {requirement(`key: a, operator: Gt, values: ["99999999999999999999"]`), at + `.values: operator Gt needs an integer`},

		"limits are right":                             {`spec: {limits: {resources: {cpu: 1000, memory: 1000Gi, nvidia.com/gpu: 2}}}`, ``},
		"a limit beside resources is told of":          {`spec: {limits: {cpu: 1000}}`, `warning: spec.limits.cpu: is taken as spec.limits.resources.cpu, write it there`},
		"another limit beside resources is told of":    {`spec: {limits: {nvidia.com/gpu: 8}}`, `warning: spec.limits.nvidia.com/gpu: is taken as spec.limits.resources.nvidia.com/gpu`},
		"a limit beside resources gives way":           {`spec: {limits: {cpu: 10, resources: {cpu: 20}}}`, `warning: spec.limits.cpu: is ignored, spec.limits.resources.cpu decides`},
		"a percentage beside resources is refused":     {`spec: {limits: {nvidia.com/gpu: 50%}}`, `spec.limits.nvidia.com/gpu: "50%" is no limit, write an amount such as 1000 or 1000Gi into spec.limits.resources; percentages are none`},
		"a limit that is an object is refused":         {`spec: {limits: {requests: {cpu: 5}}}`, `spec.limits.requests: {"cpu":5} is no limit`},
		"a limit of less than nothing is told of":      {`spec: {limits: {resources: {cpu: -1}}}`, `warning: spec.limits.resources.cpu: -1 is less than nothing`},
		"a kubelet is right":                           {`spec: {kubeletConfiguration: {clusterDNS: [10.0.0.10], containerRuntime: containerd, maxPods: 20}}`, ``},
		"a DNS server that is a name":                  {`spec: {kubeletConfiguration: {clusterDNS: [dns.local]}}`, `InvalidKubeletConfiguration: spec.kubeletConfiguration.clusterDNS[0]: "dns.local" is no IP address`},
		"a time that is none":                          {`spec: {kubeletConfiguration: {evictionSoftGracePeriod: {memory.available: soon}}}`, `InvalidKubeletConfiguration: spec.kubeletConfiguration.evictionSoftGracePeriod[memory.available]: "soon" is no length of time`},
		"a threshold of an amount of zero":             {`spec: {kubeletConfiguration: {evictionHard: {nodefs.available: "0"}}}`, `InvalidKubeletConfiguration: spec.kubeletConfiguration.evictionHard[nodefs.available]: 0 is not more than nothing`},
		"image thresholds that are equal":              {`spec: {kubeletConfiguration: {imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 80}}`, `InvalidKubeletConfiguration: spec.kubeletConfiguration.imageGCHighThresholdPercent: 80 must be greater`},
		"an image threshold below the other's default": {`spec: {kubeletConfiguration: {imageGCHighThresholdPercent: 80}}`, `InvalidKubeletConfiguration: spec.kubeletConfiguration.imageGCHighThresholdPercent: 80 must be greater than imageGCLowThresholdPercent, which is 80 where it is not set`},
		"budgets are right":                            {`metadata: {annotations: {daemok.sh/budgets: "30%"}}`, ``},
		"budgets that are none are told of":            {`metadata: {annotations: {daemok.sh/budgets: many}}`, `warning: metadata.annotations[daemok.sh/budgets]: has no effect, so nodes go one at a time, and any number of empty ones: "many" is no number of nodes`},
		"a budget whose schedule is none is told of":   {`metadata: {annotations: {daemok.sh/budgets: '[{"nodes": "1", "schedule": "nightly", "duration": "1h"}]'}}`, `warning: metadata.annotations[daemok.sh/budgets][0].schedule: "nightly" is no schedule`},
		"another way to delete is refused":             {`metadata: {annotations: {daemok.sh/delete: slow}}`, `metadata.annotations[daemok.sh/delete]: "slow" means nothing: want "fast"`},
		"a misspelt annotation has no effect":          {`metadata: {annotations: {daemok.sh/delte: fast}}`, `warning: metadata.annotations[daemok.sh/delte]: has no effect, Daemok knows no annotation of this name, did you mean daemok.sh/delete?`},
		"dockerd is told of":                           {`spec: {kubeletConfiguration: {containerRuntime: dockerd}}`, `warning: spec.kubeletConfiguration.containerRuntime: dockerd is no runtime of Kubernetes any more, nodes run containerd`},
		"a template by name is right":                  {`spec: {providerRef: {name: default}}`, ``},
		"a template by name, kind and version":         {`spec: {providerRef: {name: default, kind: AWSNodeTemplate, apiVersion: karpenter.k8s.aws/v1alpha1}}`, ``},
		"a class of the newer generation is refused":   {`spec: {providerRef: {name: default, kind: EC2NodeClass}}`, `spec.providerRef.kind: EC2NodeClass`},
		"a template of a version that is none":         {`spec: {providerRef: {name: default, apiVersion: karpenter.sh/v1alpha5}}`, `warning: spec.providerRef.apiVersion: "karpenter.sh/v1alpha5" is ignored, an AWSNodeTemplate is of karpenter.k8s.aws/v1alpha1`},
		"a node's time to live may be longer than all": {`spec: {ttlSecondsUntilExpired: 9223372036854775807}`, ``},
		"a limit on the cost is refused": {`spec: {limits: {cost: 5}}`,
			`spec.limits.cost: cost is no resource`},
	}, validate.Provisioner)
}

func TestProvider(t *testing.T) {
	check(t, "spec: {provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b}}}", map[string]finding{
		"a plain block is right":                    {``, ``},
		"a block with its kind is right":            {`spec: {provider: {apiVersion: extensions.karpenter.sh/v1alpha1, kind: AWS}}`, ``},
		"a field with a letter too few is refused":  {`spec: {provider: {instanceProfil: nodes}}`, `spec.provider.instanceProfil: is no field of provider, did you mean instanceProfile?`},
		"a field like none is refused":              {`spec: {provider: {colour: red}}`, `spec.provider.colour: is no field of provider, remove it`},
		"user data is refused":                      {`spec: {provider: {userData: "#!/bin/sh"}}`, `spec.provider.userData: only an AWSNodeTemplate has this field`},
		"a selector of images is refused":           {`spec: {provider: {amiSelector: {aws-ids: ami-1}}}`, `spec.provider.amiSelector: only an AWSNodeTemplate has this field`},
		"monitoring is refused":                     {`spec: {provider: {detailedMonitoring: true}}`, `spec.provider.detailedMonitoring: only an AWSNodeTemplate has this field`},
		"a number as a tag is told of":              {`spec: {provider: {tags: {cost-center: 42}}}`, `warning: spec.provider.tags[cost-center]: is taken as the text "42", put it into quotes`},
		"podsPerCore is ignored on Bottlerocket":    {`spec: {provider: {amiFamily: Bottlerocket}, kubeletConfiguration: {podsPerCore: 2}}`, `warning: spec.kubeletConfiguration.podsPerCore: is ignored, nodes of the family Bottlerocket`},
		"process IDs are not kept by Bottlerocket":  {`spec: {provider: {amiFamily: Bottlerocket}, kubeletConfiguration: {systemReserved: {pid: "100"}}}`, `warning: spec.kubeletConfiguration.systemReserved[pid]: is ignored, nodes of the family Bottlerocket reserve`},
		"podsPerCore is right on AL2, which is not": {`spec: {kubeletConfiguration: {podsPerCore: 2}}`, ``},
	}, validate.Provisioner)
}

// TestKubeletConfiguration: settings that a family's nodes do not take are reported.
func TestKubeletConfiguration(t *testing.T) {
	k := &v1alpha5.KubeletConfiguration{
		ClusterDNS: []string{"10.0.0.10", "10.0.0.11"}, PodsPerCore: new(int32), EvictionSoft: v1alpha5.EvictionThresholds{"memory.available": "5%"},
	}
	const dns, soft, pods = "spec.kubeletConfiguration.clusterDNS", "spec.kubeletConfiguration.evictionSoft", "spec.kubeletConfiguration.podsPerCore"
	for family, want := range map[awsv1alpha1.AMIFamily][]string{
		awsv1alpha1.FamilyAL2: {dns}, awsv1alpha1.FamilyUbuntu: {dns}, awsv1alpha1.FamilyBottlerocket: {dns, soft, pods}, awsv1alpha1.FamilyCustom: nil, "AL2023": nil,
	} {
		t.Run(string(family), func(t *testing.T) {
			p := &v1alpha5.Provisioner{Spec: v1alpha5.ProvisionerSpec{KubeletConfiguration: k}}
			var got []string
			for _, f := range validate.KubeletConfiguration(p, family) {
				if got = append(got, f.Field); !f.Warning {
					t.Errorf("%s forbids using the Provisioner, want a warning", f)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("warned of %q, want %q", got, want)
			}
		})
	}
}

func TestAWSNodeTemplate(t *testing.T) {
	check(t, "spec: {subnetSelector: {a: b}, securityGroupSelector: {a: b}}", map[string]finding{
		"a plain template is right":                 {``, ``},
		"ids and several values are right":          {`spec: {subnetSelector: {aws-ids: "subnet-1, subnet-2"}, securityGroupSelector: {Name: "*web*,*db*"}}`, ``},
		"no subnet named is refused":                {`spec: {subnetSelector: {a: null}}`, `spec.subnetSelector: selects nothing: name a tag, or subnets by aws-ids`},
		"no security group named is refused":        {`spec: {securityGroupSelector: {a: null}}`, `spec.securityGroupSelector: selects nothing: name a tag, or security groups by aws-ids`},
		"a tag of AWS is a tag":                     {`spec: {subnetSelector: {"aws:cloudformation:stack-name": net}}`, ``},
		"a key that selects nothing is refused":     {`spec: {subnetSelector: {"aws::id": subnet-1}}`, `spec.subnetSelector[aws::id]: is neither a tag nor one of aws-ids, aws::ids, did you mean aws::ids?`},
		"names are for images alone":                {`spec: {securityGroupSelector: {"aws::name": web}}`, `spec.securityGroupSelector[aws::name]: is neither a tag nor one of aws-ids, aws::ids`},
		"an empty value says how any is written":    {`spec: {subnetSelector: {Name: ""}}`, `spec.subnetSelector[Name]: is empty: write "*" for any value`},
		"a comma too many is refused":               {`spec: {subnetSelector: {Name: "a,"}}`, `spec.subnetSelector[Name]: "a," has nothing on one side of a comma`},
		"a number is told of":                       {`spec: {subnetSelector: {kubernetes.io/role/elb: 1}}`, `warning: spec.subnetSelector[kubernetes.io/role/elb]: is taken as the text "1", put it into quotes`},
		"a truth value is told of":                  {`spec: {tags: {backup: true}}`, `warning: spec.tags[backup]: is taken as the text "true", put it into quotes`},
		"two lists of ids are told of":              {`spec: {subnetSelector: {aws-ids: subnet-1, "aws::ids": subnet-2}}`, `warning: spec.subnetSelector: aws-ids and aws::ids mean the same`},
		"images by all keys there are":              {`spec: {amiSelector: {aws-ids: ami-1, "aws::owners": "self,123456789012", "aws::name": "my-*", env: prod}}`, ``},
		"no image named is doubtful":                {`spec: {amiSelector: {}}`, `warning: spec.amiSelector: is empty, so the images are those of the family`},
		"no image named of Custom is refused":       {`spec: {amiFamily: Custom, amiSelector: {}}`, `spec.amiSelector: selects nothing, and amiFamily Custom has no images of its own`},
		"tags are right":                            {`spec: {tags: {Name: "my nodes", team: web}}`, ``},
		"a tag of AWS cannot be set":                {`spec: {tags: {"aws:team": a}}`, `TagValidationFailed: spec.tags[aws:team]: tags that begin with aws:`},
		"a tag that Daemok sets is told of":         {`spec: {tags: {karpenter.sh/provisioner-name: other}}`, `warning: spec.tags[karpenter.sh/provisioner-name]: is ignored, Daemok sets this tag`},
		"the mark of a cluster is told of":          {`spec: {tags: {kubernetes.io/cluster/lab: owned}}`, `warning: spec.tags[kubernetes.io/cluster/lab]: is ignored`},
		"an empty instance profile is refused":      {`spec: {instanceProfile: ""}`, `spec.instanceProfile: is empty, give a name or remove the field`},
		"an empty launch template is refused":       {`spec: {launchTemplate: "", securityGroupSelector: null}`, `spec.launchTemplate: is empty`},
		"user data that is too long is refused":     {`spec: {userData: "` + strings.Repeat("x ", 9000) + `"}`, `UserDataSizeLimitExceeded: spec.userData: 18000 bytes`},
		"a launch template alone is right":          {`spec: {launchTemplate: mine, securityGroupSelector: null}`, ``},
		"an account as a tag loses nothing by this": {`spec: {tags: {account: 123456789012}}`, `warning: spec.tags[account]: is taken as the text "123456789012"`},
	}, validate.AWSNodeTemplate)
}
