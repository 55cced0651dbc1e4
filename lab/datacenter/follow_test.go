package datacenter

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud/aws/emulator"
	"github.com/daemok/daemok/lab/machine"
)

// pretend is a cloud of a few instances whose events the test sends.
type pretend struct {
	instances []emulator.Instance
	send      func(emulator.Event)
	stopped   bool
}

func (p *pretend) Instances() []emulator.Instance { return p.instances }
func (p *pretend) Watch(f func(emulator.Event)) (stop func()) {
	p.send = f
	return func() { p.stopped = true }
}

// What was there is handled once and what happens then in order; a machine
// that should have joined already does so at once.
func TestFollow(t *testing.T) {
	noon := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	cloud := &pretend{instances: []emulator.Instance{
		{ID: "i-old", State: "running", LaunchedAt: noon.Add(-time.Hour), JoinFor: 40 * time.Second},
		{ID: "i-new", State: "running", LaunchedAt: noon.Add(-30 * time.Second), JoinFor: 40 * time.Second},
	}}
	var got []string
	stop := follow(cloud, func(i machine.Instance) {
		got = append(got, fmt.Sprintf("%s %s in %v", i.ID, i.State, i.NodeDelay))
	}, func() time.Time { return noon })
	cloud.send(emulator.Event{Instance: emulator.Instance{ID: "i-next", State: "running", LaunchedAt: noon, JoinFor: 40 * time.Second}})
	cloud.send(emulator.Event{Instance: emulator.Instance{ID: "i-old", State: "shutting-down"}})
	want := []string{"i-old running in 0s", "i-new running in 10s", "i-next running in 40s", "i-old shutting-down in 0s"}
	if !slices.Equal(got, want) {
		t.Errorf("handled %q, want %q", got, want)
	}
	if stop(); !cloud.stopped {
		t.Error("the cloud is still watched")
	}
}

func TestAsMachine(t *testing.T) {
	volumes := func(v ...emulator.Volume) emulator.Instance {
		return emulator.Instance{Zone: "eu-central-1c", Volumes: v, ImageFamily: "AL2023"}
	}
	bottlerocket := volumes(emulator.Volume{Device: "/dev/xvda", SizeGiB: 4}, emulator.Volume{Device: "/dev/xvdb", SizeGiB: 80})
	bottlerocket.ImageFamily = "Bottlerocket"
	tests := map[string]struct {
		instance emulator.Instance
		disk     int64
	}{
		"the root holds the kubelet's files":         {volumes(emulator.Volume{Device: "/dev/xvda", SizeGiB: 50}, emulator.Volume{Device: "/dev/sdf", SizeGiB: 900}), 50},
		"Bottlerocket keeps them on its second disk": {bottlerocket, 80},
		"Windows calls its root otherwise":           {volumes(emulator.Volume{Device: "/dev/sda1", SizeGiB: 60}), 60},
		"an unknown device is taken as the root":     {volumes(emulator.Volume{Device: "/dev/nvme0n1", SizeGiB: 30}), 30},
		"no volume at all is left open":              {volumes(), 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := asMachine(tt.instance, time.Second)
			if got.DiskGiB != tt.disk || got.Region != "eu-central-1" {
				t.Errorf("asMachine = disk %d in %s, want %d in eu-central-1", got.DiskGiB, got.Region, tt.disk)
			}
		})
	}
}
