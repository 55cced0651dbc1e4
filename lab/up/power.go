package up

import (
	"github.com/daemok/daemok/lab/datacenter"
	"github.com/daemok/daemok/lab/machine"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// connectPower boots an instance for every instance that the cloud runs, and takes its power when
// the cloud does, and cuts it off with its zone; then time passes in the cloud.
func (l *Lab) connectPower(center *datacenter.Center) {
	region := l.identity.Region
	l.cloud.Watch(func(e emulator.Event) {
		center.Cut(e.Instance.ID, e.Instance.Unreachable)
		if e.Kind == market.Changed {
			center.Handle(machineOf(e.Instance, region))
		}
	})
	if l.cloud.imported {
		for _, i := range l.cloud.Instances() {
			m := machineOf(i, region)
			m.NodeDelay = 0 // its kubelet ran before, or its time is up anyhow
			center.Cut(i.ID, i.Unreachable)
			center.Handle(m)
		}
	}
	l.cloud.run(l.options.Say)
}

// instanceOf is what an instance knows of the instance it runs as.
func machineOf(i world.Instance, region string) machine.Instance {
	return machine.Instance{
		ID: i.ID, Type: i.Type, Region: region, Zone: i.Zone, ZoneID: i.ZoneID, State: i.State,
		ImageName: i.ImageName, UserData: []byte(i.UserData), PrivateDNS: i.PrivateDNS, PrivateIP: i.PrivateIP,
		Role: i.Role, Tags: i.Tags, DiskGiB: kubeletDisk(i), Volumes: len(i.Volumes), Interfaces: i.Interfaces, Adapters: i.Adapters,
		Enclaves:  i.Enclaves,
		NodeDelay: i.JoinFor, NeverRegisters: i.NeverJoins,
	}
}

// kubeletDisk is the size of the volume with the kubelet's files: Bottlerocket
// keeps them on its second, the others on the root volume.
func kubeletDisk(i world.Instance) int64 {
	n := 0
	if i.ImageFamily == "Bottlerocket" {
		n = 1
	}
	if n >= len(i.Volumes) {
		return 0
	}
	return int64(i.Volumes[n].SizeGiB)
}
