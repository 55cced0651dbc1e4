package nodeclaim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
)

// instanceType builds an instance types with offers "zone option price", in tenths of a
// cent an hour; "-" for an unknown price, a leading ! for not available.
func instanceType(name string, cpu quantity.MilliCPU, offerings ...string) cluster.InstanceType {
	k := cluster.InstanceType{Name: name, Allocatable: quantity.Resources{CPU: cpu, Memory: 8 * quantity.GiB}}
	k.Labels = constraint.NewLabels(map[string]string{api.LabelInstanceType: name, api.LabelArch: "amd64"})
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
		o.Labels = constraint.NewLabels(map[string]string{api.LabelZone: zone, api.LabelCapacityType: option})
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
	k.Labels = k.Labels.With(api.LabelGPUName, "l4").With(api.LabelGPUCount, "0")
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

func offered(asked []constraint.Requirement, requests quantity.Resources, instanceTypes []cluster.InstanceType) []cloud.OfferingChoice {
	all := constraint.NewRequirements(asked...)
	fitting, unavailable := fittingOfferings(all, requests, instanceTypes, machinesDefine)
	return choose(fitting, unavailable, all, requests)
}

func TestOfferings(t *testing.T) {
	small := instanceType("m5.large", 2000, "a on-demand 96", "b on-demand 96", "a spot 30")
	big := instanceType("m5.xlarge", 4000, "a on-demand 192", "a spot 60")
	tests := map[string]struct {
		instanceTypes []cluster.InstanceType
		want          []constraint.Requirement
		cpu           quantity.MilliCPU
		gpus          int64
		offering      string
	}{
		"spot comes before on-demand":                           {[]cluster.InstanceType{big, small}, nil, 1000, 0, "m5.large/a/spot m5.xlarge/a/spot"},
		"what is too small is left out":                         {[]cluster.InstanceType{big, small}, nil, 3000, 0, "m5.xlarge/a/spot"},
		"requirements choose zone and option":                   {[]cluster.InstanceType{small}, []constraint.Requirement{want(api.LabelZone, constraint.In, "b")}, 1000, 0, "m5.large/b/on-demand"},
		"SC-429 what is sold out is left out":                   {[]cluster.InstanceType{instanceType("m5.large", 2000, "!a spot 30", "a on-demand 96")}, nil, 1000, 0, "m5.large/a/on-demand"},
		"SC-425 spot more expensive than on-demand is left out": {[]cluster.InstanceType{instanceType("m5.large", 2000, "a spot 200", "a on-demand 96")}, nil, 1000, 0, "m5.large/a/on-demand"},
		"an unknown price comes last":                           {[]cluster.InstanceType{instanceType("a1.large", 2000, "a on-demand -"), instanceType("m5.large", 2000, "a on-demand 96")}, nil, 1000, 0, "m5.large/a/on-demand a1.large/a/on-demand"},
		"equal prices are ordered by type":                      {[]cluster.InstanceType{instanceType("m6i.large", 2000, "a on-demand 96"), instanceType("m5.large", 2000, "a on-demand 96")}, nil, 1000, 0, "m5.large/a/on-demand m6i.large/a/on-demand"},
		"SC-425 accelerators nobody asked for stay":             {[]cluster.InstanceType{gpu(instanceType("g5.large", 2000, "a on-demand 10")), small}, nil, 1000, 0, "m5.large/a/spot"},
		"SC-425 unless nothing else is left":                    {[]cluster.InstanceType{gpu(instanceType("g5.large", 2000, "a on-demand 10"))}, nil, 1000, 0, "g5.large/a/on-demand"},
		"a part of a GPU stays, too":                            {[]cluster.InstanceType{shared(instanceType("g6f.large", 2000, "a on-demand 10")), small}, nil, 1000, 0, "m5.large/a/spot"},
		"a part of a GPU that a label asks for":                 {[]cluster.InstanceType{shared(instanceType("g6f.large", 2000, "a on-demand 10")), small}, []constraint.Requirement{want(api.LabelGPUName, constraint.In, "l4")}, 1000, 0, "g6f.large/a/on-demand"},
		"a GPU that was asked for is bought":                    {[]cluster.InstanceType{gpu(instanceType("g5.large", 2000, "a on-demand 10")), small}, nil, 1000, 1, "g5.large/a/on-demand"},
		"bare metal is left out":                                {[]cluster.InstanceType{instanceType("m5.metal", 9000, "a on-demand 1"), small}, nil, 1000, 0, "m5.large/a/spot"},
		"bare metal counts where minValues is asked":            {[]cluster.InstanceType{instanceType("m5.metal", 9000, "a on-demand 100"), instanceType("m5.large", 2000, "a on-demand 96")}, []constraint.Requirement{several(api.LabelInstanceType, 2)}, 1000, 0, "m5.large/a/on-demand m5.metal/a/on-demand"},
		"labels of the pool's own do not matter":                {[]cluster.InstanceType{small}, []constraint.Requirement{want("team", constraint.In, "a")}, 1000, 0, "m5.large/a/spot"},
		"the pool's name says nothing about machines":           {[]cluster.InstanceType{small}, []constraint.Requirement{want(api.LabelNodePool, constraint.In, "default")}, 1000, 0, "m5.large/a/spot"},
		"a well-known label the kind lacks does":                {[]cluster.InstanceType{small}, []constraint.Requirement{want(api.LabelGPUName, constraint.Exists)}, 1000, 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			requests := quantity.Resources{CPU: tt.cpu}
			if tt.gpus > 0 {
				requests = requests.With("nvidia.com/gpu", tt.gpus)
			}
			var words []string
			for _, o := range offered(tt.want, requests, tt.instanceTypes) {
				words = append(words, o.Kind+"/"+o.Zone+"/"+string(o.Option))
			}
			if got := strings.Join(words, " "); got != tt.offering {
				t.Errorf("offers = %q, want %q", got, tt.offering)
			}
		})
	}
}

// TestClaimsThatMayFallBackAlikeShareALaunchRequest: two claims that are first to be
// launched the same must not be, where one of them may have less when that cannot be had.
func TestClaimsThatMayFallBackAlikeShareALaunchRequest(t *testing.T) {
	instanceTypes := []cluster.InstanceType{instanceType("m5.large", 2000, "a on-demand 96", "a spot 30", "!b spot 31"), instanceType("m5.xlarge", 4000, "a on-demand 192", "a spot 60")}
	any := []constraint.Requirement{want(api.LabelNodePool, constraint.In, "default")}
	tests := map[string]struct {
		want     []constraint.Requirement
		cpu      quantity.MilliCPU
		together bool
	}{
		"the same":                          {any, 1000, true},
		"less cpu, which changes nothing":   {any, 500, true},
		"spot alone":                        {append(any, want(api.LabelCapacityType, constraint.In, "spot")), 1000, false},
		"not where spot is sold out":        {append(any, want(api.LabelZone, constraint.NotIn, "b")), 1000, false},
		"several types, which is more":      {append(any, several(api.LabelInstanceType, 2)), 1000, false},
		"a label that machines do not have": {append(any, want("team", constraint.In, "a")), 1000, true},
	}
	asks := func(asked []constraint.Requirement, cpu quantity.MilliCPU) string {
		all := constraint.NewRequirements(asked...)
		fitting, unavailable := fittingOfferings(all, quantity.Resources{CPU: cpu}, instanceTypes, machinesDefine)
		text, err := sameRequest(Request{LaunchRequest: cloud.LaunchRequest{Options: choose(fitting, unavailable, all, quantity.Resources{CPU: cpu})}, Whole: wholeOf(fitting, unavailable, all)})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := asks(tt.want, tt.cpu) == asks(any, 1000); got != tt.together {
				t.Errorf("bought together: %v, want %v", got, tt.together)
			}
		})
	}
}

func TestAtMostSixtyTypes(t *testing.T) {
	var instanceTypes []cluster.InstanceType
	for i := range 70 {
		instanceTypes = append(instanceTypes, instanceType(fmt.Sprintf("t%02d", i), 2000, fmt.Sprintf("a on-demand %d", 100+i), fmt.Sprintf("b on-demand %d", 100+i)))
	}
	got := offered(nil, quantity.Resources{CPU: 1000}, instanceTypes)
	if len(got) != 120 || got[119].Kind != "t59" {
		t.Errorf("%d offers, the last %v; want two zones of the sixty cheapest types", len(got), got[len(got)-1])
	}
}
