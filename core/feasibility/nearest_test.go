package feasibility_test

import (
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
)

// shop has instance types of two sizes in two zones, the large one with a device and on arm.
func shop() *cluster.Catalogue {
	offerings := func(zones ...string) (out []cluster.Offering) {
		for _, z := range zones {
			out = append(out, cluster.Offering{Zone: z, Option: cluster.OnDemand, Price: 1, Priced: true, Available: z != "sold-out",
				Labels: constraint.NewLabels(map[string]string{cluster.LabelZone: z, cluster.LabelCapacityType: "on-demand"})})
		}
		return out
	}
	instanceType := func(name, arch string, cpu quantity.MilliCPU, zones ...string) cluster.InstanceType {
		has := quantity.Resources{CPU: cpu, Memory: 8 * quantity.GiB, EphemeralStorage: 17 * quantity.GiB, Pods: 10}
		return cluster.InstanceType{Name: name, Allocatable: has, Capacity: has, Offerings: offerings(zones...),
			Labels: constraint.NewLabels(map[string]string{cluster.LabelInstanceType: name, cluster.LabelArch: arch})}
	}
	large := instanceType("large", "arm64", 8000, "a", "b")
	large.Allocatable = large.Allocatable.With("nvidia.com/gpu", 1)
	large.Attachable = []cluster.Attachable{{Driver: "ebs", Count: 3}}
	return &cluster.Catalogue{Revision: 1, InstanceTypes: []cluster.InstanceType{large, instanceType("old", "s390x", 4000, "sold-out"), instanceType("small", "amd64", 2000, "a")}}
}

func TestNearestNamesTheLeastThatMustChange(t *testing.T) {
	gpu := func(n int64) quantity.Resources {
		return quantity.Resources{CPU: 1000, Pods: 1}.With("nvidia.com/gpu", n)
	}
	dedicated := constraint.Taint{Key: "dedicated", Value: "db", Effect: constraint.NoSchedule}
	both := func(a, b constraint.Requirements) []constraint.Requirements {
		return []constraint.Requirements{a.AndAll(b)}
	}
	tests := map[string]struct {
		shape cluster.Shape
		edit  func(*cluster.Pool)
		want  string
	}{
		"nothing for a pod that fits":          {cluster.Shape{Requests: gpu(1)}, nil, ""},
		"as many devices as the best type has": {cluster.Shape{Requests: gpu(3)}, nil, "no type has room for nvidia.com/gpu 3 (most: 1)"},
		"a device that nobody has":             {cluster.Shape{Requests: quantity.Resources{}.With("example/fpga", 1)}, nil, "no type has example/fpga"},
		"more storage than the class gives nodes": {cluster.Shape{Requests: quantity.Resources{EphemeralStorage: 48 * quantity.GiB}}, nil,
			"no type has room for ephemeral-storage 48Gi (most: 17Gi): raise volumeSize in the class's blockDeviceMappings"},
		"one of two wishes that exclude each other": {cluster.Shape{Requests: gpu(1), NodeTerms: []constraint.Requirements{in(cluster.LabelArch, "amd64")}}, nil,
			"no type has kubernetes.io/arch=amd64 and nvidia.com/gpu 1 together: without kubernetes.io/arch=amd64, large would do"},
		"the wishes that matter and no others": {cluster.Shape{Requests: quantity.Resources{CPU: 3000, Memory: 1, Pods: 1},
			NodeTerms: both(in(cluster.LabelArch, "amd64"), in(cluster.LabelZone, "a", "b"))}, nil,
			"no type has kubernetes.io/arch=amd64 and cpu 3 together: without kubernetes.io/arch=amd64, large would do"},
		"the easier of two alternatives": {cluster.Shape{Requests: gpu(1), NodeTerms: []constraint.Requirements{
			in(cluster.LabelArch, "amd64").AndAll(in(cluster.LabelZone, "c")), in(cluster.LabelZone, "c")}}, nil,
			"no type in the pool has topology.kubernetes.io/zone=c (there are a, b, sold-out)"},
		"a value that is nearly right":   {cluster.Shape{NodeTerms: []constraint.Requirements{in(cluster.LabelArch, "amd46")}}, nil, "no type in the pool has kubernetes.io/arch=amd46 (did you mean amd64?)"},
		"what the pool itself rules out": {cluster.Shape{NodeTerms: []constraint.Requirements{in(cluster.LabelZone, "b")}}, func(p *cluster.Pool) { p.Requirements = in(cluster.LabelZone, "a") }, "no type in the pool has topology.kubernetes.io/zone=b (the pool allows a)"},
		"every taint": {cluster.Shape{Requests: gpu(2)}, func(p *cluster.Pool) {
			p.Taints = []constraint.Taint{dedicated, {Key: "gpu", Effect: constraint.NoExecute}}
		}, "tolerate dedicated=db:NoSchedule, and tolerate gpu:NoExecute, and no type has room for nvidia.com/gpu 2 (most: 1)"},
		"patience where all is sold out": {cluster.Shape{NodeTerms: []constraint.Requirements{in(cluster.LabelArch, "s390x")}}, nil,
			"insufficient capacity for the only offering that would do, old in sold-out, on-demand: it is retried"},
		"volumes that the type takes no more of": {cluster.Shape{Requests: gpu(1), Volumes: []cluster.Volume{{Driver: "ebs"}, {Driver: "ebs"}, {Driver: "ebs"}, {Driver: "ebs"}}}, nil,
			"no type that would do attaches 4 volumes of ebs (most: 3)"},
		"where a volume is": {cluster.Shape{VolumeTerms: []constraint.Requirements{in(cluster.LabelZone, "c")}}, nil,
			"no type in the pool has topology.kubernetes.io/zone=c (there are a, b, sold-out); its volume or device needs topology.kubernetes.io/zone=c"},
		"where a volume is, and nearly a zone": {cluster.Shape{VolumeTerms: []constraint.Requirements{in(cluster.LabelZone, "sold-oot")}}, nil,
			"no type in the pool has topology.kubernetes.io/zone=sold-oot (there are a, b, sold-out); its volume or device needs topology.kubernetes.io/zone=sold-oot"},
		"a wish that the volume does not allow": {cluster.Shape{NodeTerms: []constraint.Requirements{in(cluster.LabelZone, "a")}, VolumeTerms: []constraint.Requirements{in(cluster.LabelZone, "b")}}, nil,
			"it wants topology.kubernetes.io/zone=a, and its volume or device needs topology.kubernetes.io/zone=b"},
		"a label that the pool sets otherwise": {cluster.Shape{NodeTerms: []constraint.Requirements{in("team", "payments")}},
			func(p *cluster.Pool) { p.Labels = p.Labels.With("team", "payment") }, "pool label team is payment, want in payments (did you mean payment?)"},
		"a pool without a single type": {cluster.Shape{}, func(p *cluster.Pool) { p.Requirements = in(cluster.LabelZone, "z") }, "the pool's requirements leave no instance type: none has topology.kubernetes.io/zone=z"},
		"a pool that is not ready":     {cluster.Shape{}, func(p *cluster.Pool) { p.NotReady = "its class has no subnet" }, "pool is not ready: its class has no subnet"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := &cluster.Pool{ID: cluster.PoolID{Kind: "NodePool", Name: "default"}, Catalogue: shop()}
			if tt.edit != nil {
				tt.edit(p)
			}
			if got := feasibility.ForPool(p, nil).Nearest(&tt.shape).String(); got != tt.want {
				t.Errorf("Nearest(%+v) =\n%q, want\n%q", tt.shape, got, tt.want)
			}
		})
	}
}

func TestNearestOnNodeNamesAllThatIsInTheWay(t *testing.T) {
	n := node()
	n.Taints = []constraint.Taint{{Key: "dedicated", Value: "db", Effect: constraint.NoSchedule}}
	s := &cluster.Shape{NodeTerms: []constraint.Requirements{in("zone", "b").AndAll(in("team", "x")), in("zone", "b")}}
	want := "tolerate dedicated=db:NoSchedule, and node label zone is a, want in b"
	if got := feasibility.NearestOnNode(s, n).String(); got != want {
		t.Errorf("NearestOnNode() = %q, want %q", got, want)
	}
	if got := feasibility.NearestOnNode(&cluster.Shape{}, node()); len(got) > 0 {
		t.Errorf("NearestOnNode() = %q for a pod that fits, want nothing", got)
	}
}

func TestNearValueGuessesOnlyWhatIsLikely(t *testing.T) {
	known := []string{"default", "spot", "m5.large", "m6.large", "a", "web", "amd64"}
	for value, want := range map[string]string{
		"defalt": "default", "spott": "spot", "m5.lrage": "m5.large", "b": "", "wob": "web", "wbe": "web", "default": "", "production": "", "arm64": "",
	} {
		if got, _ := feasibility.NearValue(value, known); got != want {
			t.Errorf("NearValue(%q) = %q, want %q of %s", value, got, want, strings.Join(known, ", "))
		}
	}
}

// Of the rules of a pool that leave no type those are named that exclude each other.
func TestContradictionNamesTheRulesThatMatter(t *testing.T) {
	tests := map[string]struct {
		pool cluster.Pool
		want string
	}{
		"some type is left": {cluster.Pool{Requirements: in(cluster.LabelArch, "amd64")}, ""},
		"two of three": {cluster.Pool{Requirements: in(cluster.LabelArch, "amd64").AndAll(in(cluster.LabelInstanceType, "large")).AndAll(in(cluster.LabelZone, "a"))},
			"the pool's requirements leave no instance type: none has kubernetes.io/arch=amd64 and node.kubernetes.io/instance-type=large together"},
		"a label and a requirement": {cluster.Pool{Requirements: in(cluster.LabelArch, "amd64"), Labels: constraint.NewLabels(map[string]string{cluster.LabelZone: "b"})},
			"the pool's requirements leave no instance type: none has kubernetes.io/arch=amd64 and topology.kubernetes.io/zone=b together"},
		"the floor": {cluster.Pool{Requirements: in(cluster.LabelArch, "amd64"), Floor: cluster.Floor{Size: in(cluster.LabelInstanceType, "large")}},
			"the pool's requirements and its minimum instance size (node.kubernetes.io/instance-type in large) leave no instance type"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.pool.Catalogue = shop()
			if got := feasibility.Contradiction(&tt.pool); got != tt.want {
				t.Errorf("Contradiction() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestTheHardestRuleCounts(t *testing.T) {
	tests := map[string]struct {
		changes feasibility.Changes
		want    feasibility.Rule
	}{
		"none":                    {nil, feasibility.Yes},
		"one":                     {feasibility.Changes{feasibility.NewChange(feasibility.Limit, "cpu", 1, "")}, feasibility.Limit},
		"the harder of two":       {feasibility.Changes{feasibility.NewChange(feasibility.Limit, "cpu", 1, ""), feasibility.NewChange(feasibility.Resource, "cpu", 1, ""), feasibility.NewChange(feasibility.Taint, "x", 0, "")}, feasibility.Resource},
		"the first of equal ones": {feasibility.Changes{feasibility.NewChange(feasibility.Topology, "zone", 0, ""), feasibility.NewChange(feasibility.MinValues, "size", 1, "")}, feasibility.Topology},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.changes.Hardest(); got != tt.want {
				t.Errorf("Hardest() = %q, want %q", got, tt.want)
			}
		})
	}
}
