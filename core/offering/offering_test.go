package offering

import (
	"fmt"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// kind builds an instance types with offers "zone option price", in tenths of a
// cent an hour; "-" for an unknown price, a leading ! for not available.
func kind(name string, cpu quantity.MilliCPU, offerings ...string) cluster.InstanceType {
	k := cluster.InstanceType{Name: name, Allocatable: quantity.Resources{CPU: cpu, Memory: 8 * quantity.GiB}}
	k.Labels = constraint.NewLabels(map[string]string{cluster.LabelInstanceType: name, cluster.LabelArch: "amd64"})
	for _, text := range offerings {
		var zone, option, price string
		text, offered := strings.CutPrefix(text, "!")
		fmt.Sscan(text, &zone, &option, &price)
		o := cluster.Offering{Zone: zone, Option: cluster.Option(option), Available: !offered}
		if price != "-" {
			var tenths int64
			fmt.Sscan(price, &tenths)
			o.Price, o.Priced = quantity.MicroUSDPerHour(tenths*1000), true
		}
		o.Labels = constraint.NewLabels(map[string]string{cluster.LabelZone: zone, cluster.LabelCapacityType: option})
		k.Offerings = append(k.Offerings, o)
	}
	return k
}

func gpu(k cluster.InstanceType) cluster.InstanceType {
	k.Capacity = k.Capacity.With("nvidia.com/gpu", 1)
	k.Allocatable = k.Allocatable.With("nvidia.com/gpu", 1)
	return k
}

// shared has a part of a GPU.
func shared(k cluster.InstanceType) cluster.InstanceType {
	k.Labels = k.Labels.With(labelGPUName, "l4").With(labelGPUCount, "0")
	return k
}

func want(key string, op constraint.Operator, values ...string) constraint.Requirement {
	set, err := constraint.NewSet(op, values...)
	if err != nil {
		panic(err)
	}
	return constraint.Requirement{Key: key, Set: set}
}

// several is any value of a key, of which so many must stay open.
func several(key string, n int) constraint.Requirement {
	r := want(key, constraint.Exists)
	r.MinValues = n
	return r
}

// labels of the tests' own.
const (
	labelGPUName        = "karpenter.k8s.aws/instance-gpu-name"
	labelFamily         = "karpenter.k8s.aws/instance-family"
	labelCPU            = "karpenter.k8s.aws/instance-cpu"
	labelPlacementGroup = "karpenter.k8s.aws/placement-group-id"
	labelNodePool       = "karpenter.sh/nodepool"
	labelTeam           = "team"
)

func ask(asked []constraint.Requirement, requests quantity.Resources) Ask {
	return Ask{Requirements: constraint.NewRequirements(asked...), NotOfTypes: []string{labelNodePool, labelTeam}, Requests: requests}
}

func named(asked []constraint.Requirement, requests quantity.Resources, kinds []cluster.InstanceType) []Named {
	return Choose(kinds, ask(asked, requests)).Named
}

func TestOffers(t *testing.T) {
	small := kind("m5.large", 2000, "a on-demand 96", "b on-demand 96", "a spot 30")
	big := kind("m5.xlarge", 4000, "a on-demand 192", "a spot 60")
	tests := map[string]struct {
		kinds    []cluster.InstanceType
		want     []constraint.Requirement
		cpu      quantity.MilliCPU
		gpus     int64
		offering string
	}{
		"spot comes before on-demand":                           {[]cluster.InstanceType{big, small}, nil, 1000, 0, "m5.large/a/spot m5.xlarge/a/spot"},
		"what is too small is left out":                         {[]cluster.InstanceType{big, small}, nil, 3000, 0, "m5.xlarge/a/spot"},
		"requirements choose zone and option":                   {[]cluster.InstanceType{small}, []constraint.Requirement{want(cluster.LabelZone, constraint.In, "b")}, 1000, 0, "m5.large/b/on-demand"},
		"SC-429 what is sold out is left out":                   {[]cluster.InstanceType{kind("m5.large", 2000, "!a spot 30", "a on-demand 96")}, nil, 1000, 0, "m5.large/a/on-demand"},
		"SC-425 spot more expensive than on-demand is left out": {[]cluster.InstanceType{kind("m5.large", 2000, "a spot 200", "a on-demand 96")}, nil, 1000, 0, "m5.large/a/on-demand"},
		"an unknown price is named first":                       {[]cluster.InstanceType{kind("z1.large", 2000, "a on-demand -"), kind("m5.large", 2000, "a on-demand 96")}, nil, 1000, 0, "z1.large/a/on-demand m5.large/a/on-demand"},
		"equal prices are ordered by type":                      {[]cluster.InstanceType{kind("m6i.large", 2000, "a on-demand 96"), kind("m5.large", 2000, "a on-demand 96")}, nil, 1000, 0, "m5.large/a/on-demand m6i.large/a/on-demand"},
		"SC-425 accelerators nobody asked for stay":             {[]cluster.InstanceType{gpu(kind("g5.large", 2000, "a on-demand 10")), small}, nil, 1000, 0, "m5.large/a/spot"},
		"SC-425 unless nothing else is left":                    {[]cluster.InstanceType{gpu(kind("g5.large", 2000, "a on-demand 10"))}, nil, 1000, 0, "g5.large/a/on-demand"},
		"a part of a GPU stays, too":                            {[]cluster.InstanceType{shared(kind("g6f.large", 2000, "a on-demand 10")), small}, nil, 1000, 0, "m5.large/a/spot"},
		"a part of a GPU that a label asks for":                 {[]cluster.InstanceType{shared(kind("g6f.large", 2000, "a on-demand 10")), small}, []constraint.Requirement{want(labelGPUName, constraint.In, "l4")}, 1000, 0, "g6f.large/a/on-demand"},
		"a GPU that was asked for is bought":                    {[]cluster.InstanceType{gpu(kind("g5.large", 2000, "a on-demand 10")), small}, nil, 1000, 1, "g5.large/a/on-demand"},
		"bare metal is left out":                                {[]cluster.InstanceType{kind("m5.metal", 9000, "a on-demand 1"), small}, nil, 1000, 0, "m5.large/a/spot"},
		"bare metal counts where minValues is asked":            {[]cluster.InstanceType{kind("m5.metal", 9000, "a on-demand 100"), kind("m5.large", 2000, "a on-demand 96")}, []constraint.Requirement{several(cluster.LabelInstanceType, 2)}, 1000, 0, "m5.large/a/on-demand m5.metal/a/on-demand"},
		"labels of the pool's own do not matter":                {[]cluster.InstanceType{small}, []constraint.Requirement{want(labelTeam, constraint.In, "a")}, 1000, 0, "m5.large/a/spot"},
		"the pool's name says nothing about machines":           {[]cluster.InstanceType{small}, []constraint.Requirement{want(labelNodePool, constraint.In, "default")}, 1000, 0, "m5.large/a/spot"},
		"a well-known label the kind lacks does":                {[]cluster.InstanceType{small}, []constraint.Requirement{want(labelGPUName, constraint.Exists)}, 1000, 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			requests := quantity.Resources{CPU: tt.cpu}
			if tt.gpus > 0 {
				requests = requests.With("nvidia.com/gpu", tt.gpus)
			}
			var words []string
			for _, o := range named(tt.want, requests, tt.kinds) {
				words = append(words, o.Type.Name+"/"+o.Offering.Zone+"/"+string(o.Offering.Option))
			}
			if got := strings.Join(words, " "); got != tt.offering {
				t.Errorf("offers = %q, want %q", got, tt.offering)
			}
		})
	}
}

// TestWholeTellsAsksApartThatNameTheSame: two NodeClaims that are first launched as the same
// must not share a request where one of them may have less when that cannot be had.
func TestWholeTellsAsksApartThatNameTheSame(t *testing.T) {
	kinds := []cluster.InstanceType{kind("m5.large", 2000, "a on-demand 96", "a spot 30", "!b spot 31"), kind("m5.xlarge", 4000, "a on-demand 192", "a spot 60")}
	any := []constraint.Requirement{want(labelNodePool, constraint.In, "default")}
	tests := map[string]struct {
		want     []constraint.Requirement
		cpu      quantity.MilliCPU
		together bool
	}{
		"the same":                          {any, 1000, true},
		"less cpu, which changes nothing":   {any, 500, true},
		"spot alone":                        {append(any, want(cluster.LabelCapacityType, constraint.In, "spot")), 1000, false},
		"not where spot is sold out":        {append(any, want(cluster.LabelZone, constraint.NotIn, "b")), 1000, false},
		"several types, which is more":      {append(any, several(cluster.LabelInstanceType, 2)), 1000, false},
		"a label that machines do not have": {append(any, want(labelTeam, constraint.In, "a")), 1000, true},
	}
	whole := func(asked []constraint.Requirement, cpu quantity.MilliCPU) uint64 {
		return Choose(kinds, ask(asked, quantity.Resources{CPU: cpu})).Whole
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := whole(tt.want, tt.cpu) == whole(any, 1000); got != tt.together {
				t.Errorf("launched together: %v, want %v", got, tt.together)
			}
		})
	}
}

func TestAtMostSixtyTypes(t *testing.T) {
	var kinds []cluster.InstanceType
	for i := range 70 {
		kinds = append(kinds, kind(fmt.Sprintf("t%02d", i), 2000, fmt.Sprintf("a on-demand %d", 100+i), fmt.Sprintf("b on-demand %d", 100+i)))
	}
	got := named(nil, quantity.Resources{CPU: 1000}, kinds)
	if len(got) != 120 || got[119].Type.Name != "t59" {
		t.Errorf("%d offers, the last %v; want two zones of the sixty cheapest types", len(got), got[len(got)-1])
	}
}
