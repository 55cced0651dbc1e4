package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/provisioner"
)

// dice chooses what a random manifest says.
type dice struct{ *rand.Rand }

// some is each field with one of its values, or without it.
func (d dice) some(fields map[string][]string) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if d.IntN(3) > 0 {
			var value any
			if err := sigsyaml.Unmarshal([]byte(fields[name][d.IntN(len(fields[name]))]), &value); err != nil {
				panic(err)
			}
			out[name] = value
		}
	}
	return out
}

var selectors = []string{"{Name: a}", "{Name: 'a, b', env: 'x,y'}", "{num: 12}"}

var awsFields = map[string][]string{
	"instanceProfile":     {"nodes"},
	"amiFamily":           {"AL2", "Bottlerocket", "Ubuntu", "Windows2022"},
	"tags":                {"{a: b}", "{cost: 12, Name: mine}", "{karpenter.sh/nodepool: x}"},
	"metadataOptions":     {"{httpTokens: required}", "{httpPutResponseHopLimit: 3, httpEndpoint: disabled}", "{httpProtocolIPv6: enabled}"},
	"blockDeviceMappings": {"[{deviceName: /dev/xvda, ebs: {volumeSize: 20Gi, encrypted: true}}]", "[{deviceName: /dev/sda1, ebs: {snapshotID: s, iops: 3, throughput: 2, volumeType: io2, kmsKeyID: k, deleteOnTermination: false}}, {deviceName: /dev/b, ebs: {volumeSize: 1500M}}]"},
	"context":             {"abc"},
}

// manifests are a Provisioner and, for most, the template that it names.
func (d dice) manifests() []map[string]any {
	spec := d.some(map[string][]string{
		"annotations":            {"{a: b}", "{karpenter.sh/do-not-consolidate: 'true'}", "{karpenter.sh/do-not-consolidate: 'no'}"},
		"labels":                 {"{team: web}", "{karpenter.k8s.aws/instance-ami-id: ami-1}"},
		"label":                  {"{tier: a}"},
		"taints":                 {"[{key: a, effect: NoSchedule}]", "[{key: a, value: b, effect: NoExecute}]"},
		"startupTaints":          {"[{key: c, effect: NoSchedule}]"},
		"requirements":           {"[{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]", "[{key: karpenter.k8s.aws/instance-pods, operator: Gt, values: ['2']}, {key: beta.kubernetes.io/arch, operator: In, values: [arm64]}, {key: x, operator: Exists, values: [some]}]"},
		"ttlSecondsUntilExpired": {"300", "2592000", "0"},
		"limits":                 {"{resources: {cpu: 100}}", "{cpu: 5, memory: 1Gi}", "{nvidia.com/gpu: 3}"},
		"weight":                 {"50"},
		"kubeletConfiguration":   {"{maxPods: 20}", "{containerRuntime: dockerd, clusterDNS: [10.0.0.1, 10.0.0.2]}", "{podsPerCore: 2, cpuCFSQuota: false, evictionMaxPodGracePeriod: 30, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 70}", "{systemReserved: {cpu: 100m}, kubeReserved: {memory: 1Gi}, evictionHard: {memory.available: 5.1234%}, evictionSoft: {nodefs.available: 10%}, evictionSoftGracePeriod: {nodefs.available: 1m}}"},
	})
	maps.Copy(spec, d.some([]map[string][]string{{"ttlSecondsAfterEmpty": {"0", "30"}}, {"consolidation": {"{enabled: true}"}}}[d.IntN(2)]))
	aws := d.some(awsFields)
	maps.Copy(aws, map[string]any{"subnetSelector": d.one(append(selectors, "{aws-ids: 'subnet-1,subnet-2', Name: a}")), "securityGroupSelector": d.one(append(selectors, "{'aws::ids': sg-1}"))})
	p := map[string]any{"apiVersion": "karpenter.sh/v1alpha5", "kind": "Provisioner", "metadata": map[string]any{"name": "p"}, "spec": spec}
	if d.IntN(3) == 0 {
		spec["provider"] = aws
		return []map[string]any{p}
	}
	spec["providerRef"] = map[string]any{"name": "t"}
	maps.Copy(aws, d.some(map[string][]string{
		"userData": {"x"}, "detailedMonitoring": {"true"},
		"amiSelector": {"{Name: x}", "{aws-ids: 'ami-1,ami-2'}", "{'aws::name': 'a,b', 'aws::owners': 'self,amazon', kubernetes.io/arch: arm64}", "{'aws::owners': self}"},
	}))
	if d.IntN(5) == 0 {
		maps.Copy(aws, map[string]any{"amiFamily": "Custom", "amiSelector": d.one(selectors)})
	}
	return []map[string]any{p, {"apiVersion": "karpenter.k8s.aws/v1alpha1", "kind": "AWSNodeTemplate", "metadata": map[string]any{"name": "t"}, "spec": aws}}
}

func (d dice) one(of []string) any {
	var value any
	if err := sigsyaml.Unmarshal([]byte(of[d.IntN(len(of))]), &value); err != nil {
		panic(err)
	}
	return value
}

func converted(t *testing.T, c *Converter, manifests []map[string]any) (string, *Result) {
	t.Helper()
	var sources []Source
	for _, m := range manifests {
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, Source{Name: fmt.Sprint(m["kind"]), Data: data})
	}
	documents, err := Read(sources)
	if err != nil {
		t.Fatal(err)
	}
	r := c.Convert(documents, Options{Role: "nodes", Kubernetes: "1.27"})
	text, err := r.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return text, r
}

// same are the fields that may be left out without a difference: they say what holds
// without them.
func same(path string, value any) bool {
	return strings.HasSuffix(path, ".amiFamily") && value == "AL2" || strings.Contains(path, ".metadataOptions")
}

// Whatever manifests say that may be used is turned into what may be used, which is turned into
// itself; and what is set either shows in it, or is reported.
func FuzzConvert(f *testing.F) {
	c := converterFor(f)
	for seed := range uint64(16) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		manifests := dice{rand.New(rand.NewPCG(seed, 7))}.manifests()
		text, r := converted(t, c, manifests)
		if n := r.Refused(); n > 0 {
			t.Fatalf("refused: %v\n%v", r.Report, manifests)
		}
		documents, err := Read([]Source{{Name: "made", Data: []byte(text)}})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := c.Convert(documents, Options{}).YAML(); err != nil || again != text {
			t.Fatalf("got\n%s\nof itself (%v):\n%s", again, err, text)
		}
		for i, m := range manifests {
			leaving(t, m, func(path string, value any) {
				if other, _ := converted(t, c, manifests); other == text && !same(path, value) && !reported(r.Report[i], path) {
					t.Errorf("nothing shows that %s was %v:\n%v\n%s", path, value, r.Report[i], text)
				}
			})
		}
		means(t, manifests[0], r)
		makesTheSame(t, manifests, r)
	})
}

// reported reports whether an entry has a word on a field, on one around it or in it, that it
// is not as it was.
func reported(e Entry, path string) bool {
	return slices.ContainsFunc(e.Findings, func(f Finding) bool {
		plain := strings.NewReplacer("[", ".", "]", "").Replace(f.Field)
		return f.Weight != Maps && f.Field != "spec" && (path == plain || strings.HasPrefix(path, plain+".") || strings.HasPrefix(plain, path+".")) ||
			f.Weight == Maps && path == plain && strings.HasSuffix(path, "containerRuntime")
	})
}

// means holds the pool against what the Provisioner is to the core.
func means(t *testing.T, manifest map[string]any, r *Result) {
	t.Helper()
	p := decoded[v1alpha5.Provisioner](t, manifest)
	n := r.Objects[len(r.Objects)-1].(*karpv1.NodePool)
	condition.SetTrue(p, karpv1.NodePoolValidationSucceeded, time.Unix(0, 0))
	condition.SetTrue(n, karpv1.NodePoolValidationSucceeded, time.Unix(0, 0))
	was, is := core(t, provisioner.Pool(p)), core(t, translate.FromNodePool(n))
	if age, _ := n.Spec.Template.Spec.ExpireAfter.Value(); age != was.Policy.Renew {
		t.Errorf("nodes may live for %v, as those of a Provisioner for %v", age, was.Policy.Renew)
	}
	was.Policy.Renew = 0 // gracefully then, by force now: the report says so
	was.Policy.Lead = 0  // an empty node is closed that much sooner, so that it goes to the second: no more
	for key, value := range p.Spec.AllLabels() {
		if has, _ := is.Labels.Get(api.Normalise(key)); has != value && !reported(r.Report[0], "spec.labels."+key) {
			t.Errorf("label %s was %q and is %q", key, value, has)
		}
	}
	if slices.ContainsFunc(r.Report[0].Findings, func(f Finding) bool { return f.Weight == Loses && strings.HasPrefix(f.Field, "spec.requirements") }) {
		was.Requirements = is.Requirements
	}
	was.Requirements = slices.DeleteFunc(was.Requirements, func(q constraint.Requirement) bool {
		return api.IsOfOlderAPI(q.Key) // labels of the Provisioner are requirements too, and these have no counterpart
	})
	if was.ID, was.Labels = is.ID, is.Labels; !reflect.DeepEqual(was, is) {
		t.Errorf("the pool is %+v, as a Provisioner it was %+v", is, was)
	}
}

func core(t *testing.T, o translate.PoolObject) cluster.Pool {
	t.Helper()
	pool, err := translate.Pool(o, 10, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

// leaving visits a manifest without one field of its spec after another.
func leaving(t *testing.T, m map[string]any, visit func(path string, value any)) {
	t.Helper()
	var each func(path string, in map[string]any)
	each = func(path string, in map[string]any) {
		for _, key := range slices.Sorted(maps.Keys(in)) {
			at, value := path+"."+key, in[key]
			if skipped := []string{"spec.subnetSelector", "spec.securityGroupSelector", "spec.provider", "spec.providerRef"}; !slices.Contains(skipped, at) && path != "spec.provider" {
				delete(in, key)
				visit(at, value)
				in[key] = value
			}
			if below, is := value.(map[string]any); is && path == "spec" && key != "limits" && !strings.Contains(key, "Selector") {
				each(at, below)
			}
		}
	}
	spec, is := m["spec"].(map[string]any)
	if !is {
		t.Fatal("no spec")
	}
	each("spec", spec)
}
