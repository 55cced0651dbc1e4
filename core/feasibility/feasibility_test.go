package feasibility_test

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
)

func in(key string, values ...string) constraint.Requirements {
	return constraint.NewRequirements(constraint.Requirement{Key: key, Set: constraint.Values(values...)})
}

func node() *cluster.Node {
	return &cluster.Node{Name: "n", Claim: "c", Ready: true, Initialized: true, Labels: constraint.NewLabels(map[string]string{"zone": "a", "odd": ""}),
		Allocatable: quantity.Resources{CPU: 2000, Memory: 4 * quantity.GiB, Pods: 10}}
}

func TestOnNodeSaysWhyNotInTheUsersWords(t *testing.T) {
	tests := map[string]struct {
		shape cluster.Shape
		edit  func(*cluster.Node)
		rule  feasibility.Rule
		want  string
	}{
		"a pod that fits exactly": {cluster.Shape{Requests: quantity.Resources{CPU: 2000, Memory: 4 * quantity.GiB, Pods: 1}}, nil, feasibility.Yes, "fits"},
		"too much cpu":            {cluster.Shape{Requests: quantity.Resources{CPU: 9000}}, nil, feasibility.Resource, "cpu: need 7 more"},
		"too much memory":         {cluster.Shape{Requests: quantity.Resources{Memory: 5 * quantity.GiB}}, nil, feasibility.Resource, "memory: need 1Gi more"},
		"a device it has not":     {cluster.Shape{Requests: quantity.Resources{}.With("nvidia.com/gpu", 1)}, nil, feasibility.Resource, "nvidia.com/gpu: need 1 more"},
		"another zone":            {cluster.Shape{NodeTerms: []constraint.Requirements{in("zone", "b", "c")}}, nil, feasibility.Label, "node label zone is a, want in b,c"},
		"an empty value":          {cluster.Shape{NodeTerms: []constraint.Requirements{in("odd", "x")}}, nil, feasibility.Label, `node label odd is "", want in x`},
		"a label it has not":      {cluster.Shape{NodeTerms: []constraint.Requirements{in("team", "x")}}, nil, feasibility.Label, "node has no label team, want in x"},
		"one alternative of two":  {cluster.Shape{NodeTerms: []constraint.Requirements{in("zone", "b"), in("zone", "a")}}, nil, feasibility.Yes, "fits"},
		"the first of two noes":   {cluster.Shape{NodeTerms: []constraint.Requirements{in("zone", "b"), in("team", "a")}}, nil, feasibility.Label, "node label zone is a, want in b"},
		"a taint": {cluster.Shape{}, func(n *cluster.Node) {
			n.Taints = []constraint.Taint{{Key: "dedicated", Value: "db", Effect: constraint.NoSchedule}}
		}, feasibility.Taint, "no toleration for dedicated=db:NoSchedule"},
		"a node that goes":         {cluster.Shape{}, func(n *cluster.Node) { n.Deleting = true }, feasibility.Deleting, "node is being deleted"},
		"a rule that is not there": {cluster.Shape{Unable: "host ports are not supported yet"}, nil, feasibility.Unable, "host ports are not supported yet"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			n := node()
			if tt.edit != nil {
				tt.edit(n)
			}
			got := feasibility.OnNode(&tt.shape, n, feasibility.Free(n, nil))
			if got.Rule != tt.rule || got.String() != tt.want {
				t.Errorf("OnNode(%+v) = %q %s, want %q %s", tt.shape, got.Rule, got, tt.rule, tt.want)
			}
		})
	}
}

func TestWhatAnOrderedInstanceMayBecomeMustFitInEveryCase(t *testing.T) {
	either := constraint.NewRequirements(constraint.Requirement{Key: "zone", Set: constraint.Values("a", "b")})
	tests := map[string]struct {
		instance cluster.Instance
		term     constraint.Requirements
		want     string
	}{
		"a label that is known":           {cluster.Instance{Labels: constraint.NewLabels(map[string]string{"zone": "a"})}, in("zone", "a"), "fits"},
		"a label that is known and wrong": {cluster.Instance{Labels: constraint.NewLabels(map[string]string{"zone": "a"})}, in("zone", "b"), "instance label zone is a, want in b"},
		"all that is open is fine":        {cluster.Instance{Requirements: either}, in("zone", "a", "b", "c"), "fits"},
		"some of what is open is not":     {cluster.Instance{Requirements: either}, in("zone", "a"), "instance label zone may be in a,b, want in a"},
		"nothing is known of the label":   {cluster.Instance{Requirements: either}, in("team", "x"), "instance has no label team, want in x"},
		"a name it cannot have":           {cluster.Instance{}, in(cluster.LabelHostname, "n1"), "a new node cannot have label kubernetes.io/hostname in n1"},
		"one that goes":                   {cluster.Instance{Deleting: true}, nil, "instance is being deleted"},
		"one that will be initialized":    {cluster.Instance{}, in("karpenter.sh/initialized", "true"), "fits"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			shape := &cluster.Shape{NodeTerms: []constraint.Requirements{tt.term}}
			if got := feasibility.ForInstance(&tt.instance, nil, nil).Admits(shape); got.String() != tt.want {
				t.Errorf("Admits(%s) = %s, want %s", tt.term, got, tt.want)
			}
		})
	}
}

func TestTaintsThatVanishByThemselves(t *testing.T) {
	tests := map[string]struct {
		taint constraint.Taint
		want  bool
	}{
		"not ready":               {constraint.Taint{Key: "node.kubernetes.io/not-ready", Effect: constraint.NoExecute}, true},
		"unreachable":             {constraint.Taint{Key: "node.kubernetes.io/unreachable", Effect: constraint.NoSchedule}, true},
		"unreachable for running": {constraint.Taint{Key: "node.kubernetes.io/unreachable", Effect: constraint.NoExecute}, false},
		"known to no cloud yet":   {constraint.Taint{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: constraint.NoSchedule}, true},
		"that with another value": {constraint.Taint{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "x", Effect: constraint.NoSchedule}, false},
		"not registered":          {constraint.Taint{Key: "karpenter.sh/unregistered", Effect: constraint.NoExecute}, true},
		"any readiness gate":      {constraint.Taint{Key: "readiness.k8s.io/net", Effect: constraint.NoSchedule}, true},
		"disrupted":               {constraint.Taint{Key: "karpenter.sh/disrupted", Effect: constraint.NoSchedule}, false},
		"a taint of the user's":   {constraint.Taint{Key: "dedicated", Effect: constraint.NoSchedule}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := feasibility.Ephemeral(tt.taint); got != tt.want {
				t.Errorf("Ephemeral(%s) = %v, want %v", tt.taint, got, tt.want)
			}
		})
	}
}

func TestOptionsAreInTheOrderOfLaunching(t *testing.T) {
	offering := func(zone string, option cluster.Option, price quantity.MicroUSDPerHour, priced bool) cluster.Offering {
		return cluster.Offering{Zone: zone, Option: option, Price: price, Priced: priced, Available: true}
	}
	catalogue := &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{
		{Name: "a", Offerings: []cluster.Offering{offering("z2", cluster.OnDemand, 5, true), offering("z1", cluster.OnDemand, 5, true), offering("z1", cluster.Spot, 0, false)}},
		{Name: "b", Offerings: []cluster.Offering{offering("z1", cluster.OnDemand, 4, true), offering("z1", cluster.Reserved, 9, true)}},
	}}
	p := feasibility.ForPool(&cluster.Pool{Catalogue: catalogue}, nil)
	got := ""
	for _, o := range p.Options {
		got += p.InstanceType(o).Name + "/" + p.Offering(o).Zone + "/" + string(p.Offering(o).Option) + " "
	}
	if want := "b/z1/reserved b/z1/on-demand a/z1/on-demand a/z2/on-demand a/z1/spot "; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
