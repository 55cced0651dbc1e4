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

// FormOf renders the launch template of a class for an instance that is made up, in a cluster that is: each setting by
// its path, user data by its sections. It depends on the spec, on what nodes register with and on this
// build alone, so that the forms of two builds can be compared. It is nil with a launch template of the user's own.
// The values may hold what the user wrote into user data.
func FormOf(spec nodeclass.Spec, node cloud.NodeSetup) (map[string]string, error) {
	if spec.LaunchTemplate != "" {
		return nil, nil
	}
	o, err := build(madeUp(spec, node))
	if err != nil {
		return nil, fmt.Errorf("render the launch template for a made-up instance: %w", err)
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

// Where the made-up instance is, and what it is.
const (
	madeUpZone = "zone-a"
	madeUpType = "made-up.2xlarge"
)

// madeUp is a request for one instance that has what any class may ask for.
func madeUp(spec nodeclass.Spec, node cloud.NodeSetup) Request {
	subnet := nodeclass.Subnet{ID: "subnet-1", Zone: madeUpZone, ZoneID: "id-a"}
	class := nodeclass.Class{Name: "class", Spec: spec, Resolved: nodeclass.Resolved{
		Subnets: []nodeclass.Subnet{subnet}, Groups: []nodeclass.Group{{ID: "sg-1", Name: "nodes"}}, Images: []nodeclass.Image{{ID: "ami-1", Name: "image"}}, Profile: "profile",
	}}
	if spec.Placement != nil {
		class.Resolved.Placement = &nodeclass.PlacementGroup{ID: "pg-1", Name: "group", Strategy: nodeclass.Cluster}
	}
	kind := catalog.Type{
		Name: madeUpType, Arch: "amd64", CPUs: 8, MemoryMiB: 32 << 10, ENIs: 4, AddressesByENI: 15, LocalGB: 300, EFAs: 8, CardENIs: []int64{8, 8, 8, 8, 8, 8, 8, 8},
		Nitro: true, NestedVirtual: true, OnDemand: true, Placements: []string{nodeclass.Cluster}, Zones: []string{madeUpZone},
		Labels: constraint.NewLabels(map[string]string{cluster.LabelInstanceType: madeUpType, cluster.LabelArch: "amd64"}),
	}
	return Request{
		Class: class, Kinds: catalog.For([]catalog.Type{kind}, class, catalog.Settings{}), Subnets: class.Resolved.Subnets,
		Cluster: userdata.Cluster{Name: "cluster", UID: "uid", Endpoint: "https://cluster", CA: "Q0E=", CIDR: "10.100.0.0/16", DNS: "10.100.0.10"},
		Launch: cloud.LaunchRequest{Count: 1, Node: node, Tags: map[string]string{nodeclass.TagPool: "pool"},
			Options: []cloud.OfferChoice{{Kind: madeUpType, Zone: madeUpZone, Option: cluster.OnDemand}}},
	}
}
