package validate_test

import (
	"encoding/json"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	daemokv1alpha1 "github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/api/validate"
)

// finding is a patch of a good object and what must be found then: nothing,
// or one finding that begins with the text. A warning begins with "warning: ".
type finding struct{ patch, want string }

const poolBase = `
spec:
  template:
    spec:
      requirements: []
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
`

func TestNodePool(t *testing.T) {
	requirement := func(r string) string {
		return "spec: {template: {spec: {requirements: [{" + r + "}]}}}"
	}
	const at = "spec.template.spec.requirements[0]"
	check(t, poolBase, map[string]finding{
		"nothing asked for is right":                     {``, ``},
		"a name of 63 letters is right":                  {`metadata: {name: ` + strings.Repeat("n", 63) + `}`, ``},
		"a name of 64 letters is refused":                {`metadata: {name: ` + strings.Repeat("n", 64) + `}`, `metadata.name: "` + strings.Repeat("n", 64) + `" has 64 characters, and nodes carry it as label karpenter.sh/nodepool`},
		"a class with a name of 64 letters is refused":   {`spec: {template: {spec: {nodeClassRef: {name: ` + strings.Repeat("n", 64) + `}}}}`, `spec.template.spec.nodeClassRef.name: "nnn`},
		"a label of one's own is right":                  {requirement(`key: example.com/a, operator: In, values: [b]`), ``},
		"an older name of a label is right":              {requirement(`key: beta.kubernetes.io/os, operator: In, values: [linux]`), ``},
		"a key that is no label is refused":              {requirement(`key: a/b/c, operator: Exists`), at + `.key: "a/b/c" is no label`},
		"a restricted label is refused":                  {requirement(`key: karpenter.sh/initialized, operator: Exists`), at + `.key: label karpenter.sh/initialized is restricted`},
		"the pool is refused":                            {requirement(`key: karpenter.sh/nodepool, operator: Exists`), at + `.key: label karpenter.sh/nodepool is restricted`},
		"a pool of the older generation is refused":      {requirement(`key: karpenter.sh/provisioner-name, operator: Exists`), at + `.key: label karpenter.sh/provisioner-name is restricted`},
		"the host name is refused":                       {requirement(`key: kubernetes.io/hostname, operator: Exists`), at + `.key: label kubernetes.io/hostname is restricted`},
		"a value that is none is refused":                {requirement(`key: a, operator: In, values: ["b c"]`), at + `.values[0]: "b c" is no value of a label`},
		"a value that is none is refused of NotIn too":   {requirement(`key: a, operator: NotIn, values: ["b c"]`), at + `.values[0]: "b c" is no value of a label`},
		"a value of 64 letters is refused":               {requirement(`key: a, operator: In, values: [` + strings.Repeat("v", 64) + `]`), at + `.values[0]: "vvvv`},
		"In without values is refused":                   {requirement(`key: a, operator: In`), at + `.values: operator In needs at least one value`},
		"an unknown operator is refused":                 {requirement(`key: a, operator: Near`), at + `.operator: "Near" is unknown`},
		"values of Exists are warned of":                 {requirement(`key: a, operator: Exists, values: [b]`), `warning: ` + at + `.values: operator Exists has no use for values`},
		"a bound that is a number is right":              {requirement(`key: a, operator: Gte, values: ["4"]`), ``},
		"a bound that is a word is refused":              {requirement(`key: a, operator: Gte, values: [four]`), at + `.values: operator Gte needs an integer`},
		"a bound too large is refused":                   {requirement(`key: a, operator: Lt, values: ["99999999999999999999"]`), at + `.values: operator Lt needs an integer`},
		"two bounds in one are refused":                  {requirement(`key: a, operator: Lt, values: ["1", "2"]`), at + `.values: operator Lt needs exactly one value`},
		"known capacity types are right":                 {requirement(`key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand, reserved]`), ``},
		"no known capacity type is refused":              {requirement(`key: karpenter.sh/capacity-type, operator: In, values: [cheap]`), at + `.values: "cheap" is no value of karpenter.sh/capacity-type. It can only be on-demand, reserved, spot`},
		"an unknown capacity type among known is warned": {requirement(`key: karpenter.sh/capacity-type, operator: In, values: [spot, cheap]`), `warning: ` + at + `.values: "cheap" is ignored`},
		"no known tenancy is refused":                    {requirement(`key: karpenter.k8s.aws/instance-tenancy, operator: In, values: [host]`), at + `.values: "host" is no value of karpenter.k8s.aws/instance-tenancy. It can only be dedicated, default`},
		"an unknown capacity type of NotIn is right":     {requirement(`key: karpenter.sh/capacity-type, operator: NotIn, values: [cheap]`), ``},
		"as many values as asked for are right":          {requirement(`key: a, operator: In, values: [b, c], minValues: 2`), ``},
		"fewer different values than asked for":          {requirement(`key: a, operator: In, values: [b, b], minValues: 2`), at + `.minValues: 2 different values are asked for but only 1 can occur`},
		"minValues without values is right":              {requirement(`key: a, operator: Exists, minValues: 9`), ``},
		"on-demand nodes of spot alone are warned of": {
			"metadata: {annotations: {daemok.sh/on-demand-minimum: '30%'}}\n" +
				requirement(`key: karpenter.sh/capacity-type, operator: In, values: [spot]`),
			`warning: metadata.annotations[daemok.sh/on-demand-minimum]: 30% of its nodes are to be on demand, and`},
		"on-demand nodes beside spot are right": {
			"metadata: {annotations: {daemok.sh/on-demand-minimum: '2'}}\n" +
				requirement(`key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]`), ``},
		"no number of on-demand nodes is refused": {`metadata: {annotations: {daemok.sh/on-demand-minimum: few}}`,
			`metadata.annotations[daemok.sh/on-demand-minimum]: "few": want a number such as "2", or a share`},
		"spot and on-demand as two entries are refused": {`spec: {template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}, {key: karpenter.sh/capacity-type, operator: In, values: [spot]}]}}}`,
			`spec.template.spec.requirements[1]: no node has karpenter.sh/capacity-type in spot and also in on-demand, as spec.template.spec.requirements[0] asks: remove one of them, or list all values in one requirement`},
		"a label that a requirement rules out is refused": {`spec: {template: {metadata: {labels: {kubernetes.io/arch: arm64}}, spec: {requirements: [{key: beta.kubernetes.io/arch, operator: In, values: [amd64]}]}}}`,
			`spec.template.spec.requirements[0]: no node has beta.kubernetes.io/arch in amd64 and also in arm64, as spec.template.metadata.labels[kubernetes.io/arch] asks`},
		"bounds that leave a value are right":               {`spec: {template: {spec: {requirements: [{key: a, operator: Gt, values: ["4"]}, {key: a, operator: Lt, values: ["6"]}]}}}`, ``},
		"bounds that leave none are refused":                {`spec: {template: {spec: {requirements: [{key: a, operator: Gt, values: ["4"]}, {key: a, operator: Lt, values: ["5"]}]}}}`, `spec.template.spec.requirements[1]: no node has a lte 4 and also gte 5`},
		"three that exclude each other are refused":         {`spec: {template: {spec: {requirements: [{key: a, operator: In, values: [b, c]}, {key: a, operator: NotIn, values: [b]}, {key: a, operator: NotIn, values: [c]}]}}}`, `spec.template.spec.requirements[2]: no node has a notin c and also`},
		"a label that is misspelt hears which is meant":     {`spec: {template: {metadata: {labels: {karpenter.k8s.aws/instance-familly: m5}}}}`, `spec.template.metadata.labels[karpenter.k8s.aws/instance-familly]: label karpenter.k8s.aws/instance-familly is restricted and describes no instance, did you mean karpenter.k8s.aws/instance-family?`},
		"a limit on what no node has is warned of":          {`spec: {limits: {cpus: 10}}`, `warning: spec.limits.cpus: limits nothing unless nodes have a resource of this name, did you mean cpu?`},
		"a limit on nothing known is warned of":             {`spec: {limits: {machines: 10}}`, `warning: spec.limits.machines: limits nothing, no node has a resource of this name: use one of cpu, memory, nodes`},
		"a limit on a device misspelt is warned of":         {`spec: {limits: {nvidia.com/gpus: 10}}`, `warning: spec.limits.nvidia.com/gpus: limits nothing unless nodes have a resource of this name, did you mean nvidia.com/gpu?`},
		"a limit on a device of one's own is right":         {`spec: {limits: {example.com/fpga: 10, hugepages-2Mi: 1Gi, ephemeral-storage: 1Ti, nodes: 4}}`, ``},
		"the taint of new nodes is warned of":               {`spec: {template: {spec: {startupTaints: [{key: karpenter.sh/unregistered, effect: NoExecute}]}}}`, `warning: spec.template.spec.startupTaints[0]: Daemok puts karpenter.sh/unregistered on every node`},
		"the taint of nodes that go is refused":             {`spec: {template: {spec: {taints: [{key: karpenter.sh/disrupted, effect: NoSchedule}]}}}`, `spec.template.spec.taints[0].key: karpenter.sh/disrupted is what Daemok puts on nodes that are about to go`},
		"delete-first is right":                             {`metadata: {annotations: {daemok.sh/drift-at-limit: delete-first}}`, ``},
		"another way at a limit is refused":                 {`metadata: {annotations: {daemok.sh/drift-at-limit: always}}`, `metadata.annotations[daemok.sh/drift-at-limit]: "always" means nothing: want "delete-first"`},
		"the fast way to delete is right":                   {`metadata: {annotations: {daemok.sh/delete: fast}}`, ``},
		"another way to delete is refused":                  {`metadata: {annotations: {daemok.sh/delete: slow}}`, `metadata.annotations[daemok.sh/delete]: "slow" means nothing: want "fast"`},
		"a misspelt annotation has no effect":               {`metadata: {annotations: {daemok.sh/machine-costs: "0.01"}}`, `warning: metadata.annotations[daemok.sh/machine-costs]: has no effect, Daemok knows no annotation of this name, did you mean daemok.sh/machine-cost?`},
		"a cost of machines is right":                       {`metadata: {annotations: {daemok.sh/machine-cost: "0.01"}}`, ``},
		"a cost that is no number is refused":               {`metadata: {annotations: {daemok.sh/machine-cost: "$1"}}`, `metadata.annotations[daemok.sh/machine-cost]: "$1" is no cost: want US dollars an hour`},
		"a minimum instance size is right":                  {`metadata: {annotations: {daemok.sh/min-machine-cpu: "4", daemok.sh/min-machine-memory: 16Gi}}`, ``},
		"how pods leave is right":                           {`metadata: {annotations: {daemok.sh/deregistration-delay: 5m, daemok.sh/keep-one-ready: "true", daemok.sh/surge: "false"}}`, ``},
		"a delay without its unit is refused":               {`metadata: {annotations: {daemok.sh/deregistration-delay: "300"}}`, `metadata.annotations[daemok.sh/deregistration-delay]: "300" is no delay`},
		"a wish that is neither yes nor no is refused":      {`metadata: {annotations: {daemok.sh/surge: always}}`, `metadata.annotations[daemok.sh/surge]: "always" is neither "true" nor "false"`},
		"a floor that is no size is refused":                {`metadata: {annotations: {daemok.sh/min-machine-memory: big}}`, `metadata.annotations[daemok.sh/min-machine-memory]: "big" is no size`},
		"a label of the pool is right":                      {`spec: {template: {metadata: {labels: {team: web}}}}`, ``},
		"a restricted label of the pool is refused":         {`spec: {template: {metadata: {labels: {karpenter.sh/mine: a}}}}`, `spec.template.metadata.labels[karpenter.sh/mine]: label karpenter.sh/mine is restricted`},
		"a label of the pool with a bad value":              {`spec: {template: {metadata: {labels: {team: "a b"}}}}`, `spec.template.metadata.labels[team]: "a b" is no value of a label`},
		"a label of the pool that cannot be":                {`spec: {template: {metadata: {labels: {karpenter.sh/capacity-type: cheap}}}}`, `spec.template.metadata.labels[karpenter.sh/capacity-type]: karpenter.sh/capacity-type can only be`},
		"two names of one label that agree":                 {`spec: {template: {metadata: {labels: {beta.kubernetes.io/os: linux, kubernetes.io/os: linux}}}}`, ``},
		"two names of one label that do not agree":          {`spec: {template: {metadata: {labels: {beta.kubernetes.io/os: linux, kubernetes.io/os: windows}}}}`, `spec.template.metadata.labels[beta.kubernetes.io/os]: is an older name of kubernetes.io/os`},
		"one key with two effects is right":                 {`spec: {template: {spec: {taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoExecute}]}}}`, ``},
		"a taint twice is refused":                          {`spec: {template: {spec: {taints: [{key: a, effect: NoSchedule}, {key: a, value: b, effect: NoSchedule}]}}}`, `spec.template.spec.taints[1]: a:NoSchedule is already in spec.template.spec.taints[0]`},
		"a taint that is a startup taint too is refused":    {`spec: {template: {spec: {taints: [{key: a, effect: NoSchedule}], startupTaints: [{key: a, effect: NoSchedule}]}}}`, `spec.template.spec.startupTaints[0]: a:NoSchedule is already in spec.template.spec.taints[0]`},
		"a taint with an unknown effect is refused":         {`spec: {template: {spec: {taints: [{key: a, effect: Sometimes}]}}}`, `spec.template.spec.taints[0].effect: "Sometimes" is unknown`},
		"a taint with a bad key is refused":                 {`spec: {template: {spec: {taints: [{key: "a b", effect: NoSchedule}]}}}`, `spec.template.spec.taints[0].key: "a b" is no key of a taint`},
		"a lifetime that can be represented is right":       {`spec: {template: {spec: {expireAfter: 720h}}}`, ``},
		"a lifetime without end is right":                   {`spec: {template: {spec: {expireAfter: Never}}}`, ``},
		"a lifetime of a million years is refused":          {`spec: {template: {spec: {expireAfter: 9999999999h}}}`, `spec.template.spec.expireAfter: "9999999999h" is no length of time`},
		"a grace period of a million years is refused":      {`spec: {template: {spec: {terminationGracePeriod: 9999999999h}}}`, `spec.template.spec.terminationGracePeriod: "9999999999h"`},
		"a delay of a million years is refused":             {`spec: {disruption: {consolidateAfter: 9999999999h}}`, `spec.disruption.consolidateAfter: "9999999999h"`},
		"a schedule is right":                               {`spec: {disruption: {budgets: [{nodes: "0", schedule: "0 9 * * mon-fri", duration: 8h}]}}`, ``},
		"a short form of a schedule is right":               {`spec: {disruption: {budgets: [{nodes: "0", schedule: "@daily", duration: 8h}]}}`, ``},
		"a schedule that no clock meets is warned of":       {`spec: {disruption: {budgets: [{nodes: "0", schedule: "99 9 * * *", duration: 8h}]}}`, `warning: spec.disruption.budgets[0].schedule: "99 9 * * *" is no schedule`},
		"a schedule of a day that never comes is warned of": {`spec: {disruption: {budgets: [{nodes: "0", schedule: "0 0 31 2 *", duration: 8h}]}}`, `warning: spec.disruption.budgets[0].schedule: "0 0 31 2 *" names a day that no calendar has`},
		"a schedule of leap days is right":                  {`spec: {disruption: {budgets: [{nodes: "0", schedule: "0 0 29 2 *", duration: 8h}]}}`, ``},
		"a number of nodes is right":                        {`spec: {replicas: 3, limits: {nodes: 3}}`, ``},
		"more nodes than the limit are warned of":           {`spec: {replicas: 3, limits: {nodes: 2}}`, `warning: spec.replicas: 3 is more than spec.limits.nodes allows (2)`},
		"a schedule of six parts is warned of":              {`spec: {disruption: {budgets: [{nodes: "0", schedule: "0 0 9 * * *", duration: 8h}]}}`, `warning: spec.disruption.budgets[0].schedule: "0 0 9 * * *" is no schedule`},
		"a schedule in another time zone is warned of":      {`spec: {disruption: {budgets: [{nodes: "0", schedule: "TZ=Asia/Tokyo 0 9 * * *", duration: 8h}]}}`, `warning: spec.disruption.budgets[0].schedule: a time zone may not be named`},
		"a limit of nothing is right":                       {`spec: {limits: {cpu: 0}}`, ``},
		"a limit of less than nothing is warned of":         {`spec: {limits: {cpu: -1}}`, `warning: spec.limits.cpu: -1 is less than nothing`},
		"a label of the pool, below karpenter.k8s.aws":      {`spec: {template: {metadata: {labels: {sub.karpenter.k8s.aws/a: b}}}}`, `spec.template.metadata.labels[sub.karpenter.k8s.aws/a]: label sub.karpenter.k8s.aws/a is restricted`},
		"a class of any kind is right as far as this goes":  {`spec: {template: {spec: {nodeClassRef: {kind: Other}}}}`, ``},
		"a limit on the cost is refused": {`spec: {limits: {cost: 5}}`,
			`spec.limits.cost: cost is no resource, remove it: the annotation daemok.sh/cost-limit limits the cost`},
	}, validate.NodePool)
}

func TestNodeClaim(t *testing.T) {
	check(t, "spec: {requirements: []}", map[string]finding{
		"nothing asked for is right": {``, ``},
		"the pool is a label":        {`spec: {requirements: [{key: karpenter.sh/nodepool, operator: In, values: [a]}]}`, ``},
		"a restricted label":         {`spec: {requirements: [{key: karpenter.sh/mine, operator: Exists}]}`, `spec.requirements[0].key: label karpenter.sh/mine is restricted`},
		"a taint twice":              {`spec: {taints: [{key: a, effect: NoSchedule}], startupTaints: [{key: a, effect: NoSchedule}]}`, `spec.startupTaints[0]: a:NoSchedule is already in spec.taints[0]`},
		"a lifetime too long":        {`spec: {expireAfter: 9999999999h}`, `spec.expireAfter: "9999999999h"`},
		"a grace period too long":    {`spec: {terminationGracePeriod: 9999999999h}`, `spec.terminationGracePeriod: "9999999999h"`},
	}, validate.NodeClaim)
}

func TestNodeOverlay(t *testing.T) {
	check(t, `spec: {requirements: [], price: "1.5"}`, map[string]finding{
		"a price is right":                {``, ``},
		"nothing corrected is warned of":  {`spec: {price: null}`, `warning: spec: nothing is corrected`},
		"an adjustment is right":          {`spec: {price: null, priceAdjustment: "+1"}`, ``},
		"a capacity is right":             {`spec: {price: null, capacity: {example.com/a: 1}}`, ``},
		"a price beyond all numbers":      {`spec: {price: "` + strings.Repeat("9", 400) + `"}`, `spec.price: "999`},
		"a value that is none":            {`spec: {requirements: [{key: a, operator: In, values: ["b c"]}]}`, `spec.requirements[0].values[0]: "b c"`},
		"no capacity type that there is":  {`spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [cheap]}]}`, `spec.requirements[0].values: "cheap" is no value of karpenter.sh/capacity-type`},
		"the pool is a label to look for": {`spec: {requirements: [{key: karpenter.sh/nodepool, operator: In, values: [a]}]}`, ``},
	}, validate.NodeOverlay)
}

// check patches the base, validates it, and wants nothing or one finding.
func check[T karpv1.NodePool | karpv1.NodeClaim | v1alpha1.NodeOverlay | awsv1.EC2NodeClass | daemokv1alpha1.DisruptionPolicy |
	v1alpha5.Provisioner | awsv1alpha1.AWSNodeTemplate](
	t *testing.T, base string, tests map[string]finding, validator func(*T) []validate.Finding,
) {
	t.Helper()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			object := new(T)
			merged, err := jsonpatch.MergePatch(asJSON(t, base), asJSON(t, tt.patch))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(merged, object); err != nil {
				t.Fatal(err)
			}
			got := describe(validator(object))
			switch {
			case tt.want == "" && len(got) > 0:
				t.Errorf("found %q; want nothing", got)
			case tt.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], tt.want)):
				t.Errorf("found %q; want one that begins with %q", got, tt.want)
			}
		})
	}
}

func describe(found []validate.Finding) []string {
	var lines []string
	for _, f := range found {
		line := f.String()
		if f.Reason != "" {
			line = f.Reason + ": " + line
		}
		if f.Warning {
			line = "warning: " + line
		}
		lines = append(lines, line)
	}
	return lines
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
