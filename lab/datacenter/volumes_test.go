package datacenter_test

import (
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/daemok/daemok/cloud/aws/catalog"
	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/lab/datacenter"
	"github.com/daemok/daemok/lab/machine"
	"github.com/daemok/daemok/lab/volume"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
)

// What a type is expected to take before its node is there, by what EC2
// answers, is what the node's driver says of it afterwards: for every type
// that is offered, under every set-up of volumes and interfaces.
func TestDriversSayWhatWasExpected(t *testing.T) {
	types := offered(t)
	extra := func(n int) (list []nodeclass.BlockDevice) {
		for i := range n {
			list = append(list, nodeclass.BlockDevice{DeviceName: "/dev/xvd" + string(rune('f'+i)), EBS: &nodeclass.EBS{VolumeBytes: 1 << 30}})
		}
		return list
	}
	setups := map[string]struct {
		spec     nodeclass.Spec
		instance machine.Instance
	}{
		"a root volume alone":  {nodeclass.Spec{Family: nodeclass.AL2023}, machine.Instance{Volumes: 1, Interfaces: 1}},
		"Bottlerocket has two": {nodeclass.Spec{Family: nodeclass.Bottlerocket}, machine.Instance{Volumes: 2, Interfaces: 1}},
		"two further volumes":  {nodeclass.Spec{Family: nodeclass.AL2023, BlockDevices: extra(2)}, machine.Instance{Volumes: 3, Interfaces: 1}},
		"a second interface": {
			nodeclass.Spec{Family: nodeclass.AL2023, Interfaces: []nodeclass.Interface{{Type: "interface"}, {Device: 1, Type: "interface"}}},
			machine.Instance{Volumes: 1, Interfaces: 2},
		},
	}
	for name, tt := range setups {
		t.Run(name, func(t *testing.T) {
			class := nodeclass.Class{Spec: tt.spec, Resolved: nodeclass.Resolved{Images: []nodeclass.Image{{ID: "ami-any"}}}}
			instanceTypes := catalog.For(types, class, catalog.Settings{}).InstanceTypes
			if len(instanceTypes) < 900 {
				t.Fatalf("%d kinds, want the whole catalogue", len(instanceTypes))
			}
			for _, k := range instanceTypes {
				i := tt.instance
				i.Type = k.Name
				facts, err := datacenter.Facts(i)
				if err != nil {
					t.Fatal(err)
				}
				if len(k.Attachable) != 1 || k.Attachable[0].Driver != volume.DriverName || atLeastOne(k.Attachable[0].Count) != facts.VolumesMax {
					t.Errorf("%s is expected to take %v, its driver says %d", k.Name, k.Attachable, facts.VolumesMax)
				}
			}
		})
	}
}

// atLeastOne is how a driver words it that there is no place: for a kubelet
// zero would be no limit.
func atLeastOne(n int64) int32 { return int32(max(1, n)) }

// offered reads the types as the controller does, from the emulated EC2.
func offered(t *testing.T) []catalog.Type {
	t.Helper()
	server := emulator.New(world.Options{Seed: 1})
	t.Cleanup(server.Close)
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	account := ec2.NewFromConfig(client.At(web.URL, "us-east-1", client.Key{ID: "key", Secret: "secret"}))
	types, err := catalog.Read(t.Context(), account, "us-east-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	return types
}
