package fleet

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/catalog"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/userdata"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// FormOf renders the launch template of a class for instances that are made up, in a cluster that is: each setting by
// its path, user data by its sections. It depends on the spec, on what nodes register with and on this
// build alone, so that the forms of two builds can be compared. It is nil with a launch template of the user's own.
// The values may hold what the user wrote into user data.
func FormOf(spec nodeclass.Spec, node cloud.NodeSetup) (*nodeclass.LaunchForm, error) {
	if spec.LaunchTemplate != "" {
		return nil, nil
	}
	plain, err := formOf(spec, node, plainSample(spec))
	if err != nil {
		return nil, fmt.Errorf("render the launch template for a made-up instance: %w", err)
	}
	out := &nodeclass.LaunchForm{Base: plain}
	for _, v := range variants {
		i := plainSample(spec)
		v.change(&i)
		if form, err := formOf(spec, node, i); err == nil { // else no such instance can be launched
			out.Vary(v.name, form)
		}
	}
	return out, nil
}

func formOf(spec nodeclass.Spec, node cloud.NodeSetup, i sample) (map[string]string, error) {
	o, err := build(madeUp(spec, node, i))
	if err != nil {
		return nil, err
	}
	data := *o.templates[0].data
	text, err := base64.StdEncoding.DecodeString(aws.ToString(data.UserData))
	if err != nil {
		return nil, fmt.Errorf("read user data that was written here: %w", err)
	}
	data.UserData = nil
	document, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("describe the launch template: %w", err)
	}
	var fields map[string]any
	if err := json.Unmarshal(document, &fields); err != nil {
		return nil, fmt.Errorf("describe the launch template: %w", err)
	}
	form := map[string]string{}
	userdata.Flatten(form, "", fields)
	for name, value := range userdata.Sections(spec.EffectiveFamily(), string(text)) {
		form["UserData "+name] = value
	}
	return form, nil
}

// Where the made-up instance is, what it is, and what it is taken from.
const (
	madeUpZone        = "zone-a"
	madeUpType        = "made-up.2xlarge"
	madeUpReservation = "reservation-1"
)

// sample is what varies of an instance that is made up.
type sample struct {
	kind        catalog.Type
	offering    cloud.OfferingChoice
	reservation nodeclass.Reservation // none without an ID
	placement   *nodeclass.PlacementGroup
	image       string   // its name
	extended    []string // resources that are asked for
}

// plainSample has what any class may ask for.
func plainSample(spec nodeclass.Spec) sample {
	i := sample{image: "image", offering: cloud.OfferingChoice{Kind: madeUpType, Zone: madeUpZone, Option: cluster.OnDemand}, kind: catalog.Type{
		Name: madeUpType, Arch: "amd64", CPUs: 8, MemoryMiB: 32 << 10, ENIs: 4, AddressesByENI: 15, LocalGB: 300, EFAs: 8, CardENIs: []int64{8, 8, 8, 8, 8, 8, 8, 8},
		Nitro: true, NestedVirtual: true, OnDemand: true, Spot: true, Placements: []string{nodeclass.Cluster, nodeclass.Partition}, Zones: []string{madeUpZone},
	}}
	if spec.Placement != nil {
		i.placement = &nodeclass.PlacementGroup{ID: "pg-1", Name: "group", Strategy: nodeclass.Cluster}
	}
	return i
}

// reserve has the instance be of a capacity reservation.
func (i *sample) reserve(r nodeclass.Reservation) {
	r.ID, r.Kind, r.Zone = madeUpReservation, madeUpType, madeUpZone
	i.reservation, i.offering.Option, i.offering.ReservedCapacity = r, cluster.Reserved, r.ID
}

// variants are all in which launch templates or user data may differ.
var variants = []struct {
	name   string
	change func(*sample)
}{
	{nodeclass.VariantSpot, func(i *sample) { i.offering.Option = cluster.Spot }},
	{nodeclass.VariantReserved, func(i *sample) { i.reserve(nodeclass.Reservation{}) }},
	{nodeclass.VariantBlock, func(i *sample) { i.reserve(nodeclass.Reservation{Block: true}) }},
	{nodeclass.VariantInterruptible, func(i *sample) { i.reserve(nodeclass.Reservation{Interruptible: true}) }},
	{nodeclass.VariantDedicated, func(i *sample) { i.offering.Dedicated = true }},
	{nodeclass.VariantPartition, func(i *sample) {
		if i.placement != nil {
			i.placement.Strategy, i.offering.Partition = nodeclass.Partition, "1"
		}
	}},
	{nodeclass.VariantArm, func(i *sample) { i.kind.Arch = "arm64" }},
	{nodeclass.VariantFewPods, func(i *sample) {
		i.kind.CPUs, i.kind.MemoryMiB, i.kind.ENIs, i.kind.AddressesByENI = 2, 2<<10, 3, 4
	}},
	{nodeclass.VariantManyPods, func(i *sample) {
		i.kind.CPUs, i.kind.MemoryMiB, i.kind.ENIs, i.kind.AddressesByENI = 96, 384<<10, 15, 50
	}},
	{nodeclass.VariantGPU, func(i *sample) {
		i.kind.GPU = catalog.Device{Name: "t4", Maker: "nvidia", Count: 4, MemoryMiB: 16 << 10}
	}},
	{nodeclass.VariantNeuron, func(i *sample) {
		i.kind.Accelerator, i.kind.AcceleratorCPU = catalog.Device{Name: "inferentia2", Maker: "aws", Count: 1, MemoryMiB: 32 << 10}, 2
	}},
	{nodeclass.VariantEFA, func(i *sample) {
		i.kind.EFAs, i.kind.CardENIs, i.extended = 1, []int64{8}, []string{catalog.ResourceEFA}
	}},
	{nodeclass.VariantEFAs, func(i *sample) { i.extended = []string{catalog.ResourceEFA} }},
	{nodeclass.VariantEnclaves, func(i *sample) { i.extended = []string{catalog.ResourceEnclaves} }},
	{nodeclass.VariantRelease, func(i *sample) { i.image = "bottlerocket-aws-k8s-1.36-x86_64-v1.46.0-5d2a1b8c" }},
}

// madeUp is a request for one such instance.
func madeUp(spec nodeclass.Spec, node cloud.NodeSetup, i sample) Request {
	subnet := nodeclass.Subnet{ID: "subnet-1", Zone: madeUpZone, ZoneID: "id-a"}
	class := nodeclass.Class{Name: "class", Spec: spec, Resolved: nodeclass.Resolved{
		Subnets: []nodeclass.Subnet{subnet}, Groups: []nodeclass.Group{{ID: "sg-1", Name: "nodes"}}, Images: []nodeclass.Image{{ID: "ami-1", Name: i.image}}, Profile: "profile", Placement: i.placement,
	}}
	if i.reservation.ID != "" {
		class.Resolved.Reservations = []nodeclass.Reservation{i.reservation}
	}
	i.kind.Labels = constraint.NewLabels(map[string]string{cluster.LabelInstanceType: madeUpType, cluster.LabelArch: i.kind.Arch})
	return Request{
		Class: class, Kinds: catalog.For([]catalog.Type{i.kind}, class, catalog.Settings{}), Subnets: class.Resolved.Subnets,
		Cluster: userdata.Cluster{Name: "cluster", UID: "uid", Endpoint: "https://cluster", CA: "Q0E=", CIDR: "10.100.0.0/16", DNS: "10.100.0.10"},
		Launch:  cloud.LaunchRequest{Count: 1, Node: node, Tags: map[string]string{nodeclass.TagPool: "pool"}, Options: []cloud.OfferingChoice{i.offering}, Extended: i.extended},
	}
}
