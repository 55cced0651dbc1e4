package datacenter

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/daemok/daemok/cloud/aws/emulator"
	"github.com/daemok/daemok/lab/machine"
)

// cloud is what is followed of the pretend AWS.
type cloud interface {
	Watch(func(emulator.Event)) (stop func())
	Instances() []emulator.Instance
}

// Follow boots the instances that the cloud has and those to come, until stop
// is called. A machine that had joined before a restart of the lab boots at
// once.
func (c *Center) Follow(cloud cloud) (stop func()) {
	return follow(cloud, c.Handle, time.Now)
}

func follow(cloud cloud, handle func(machine.Instance), now func() time.Time) (stop func()) {
	var listed sync.Mutex // events wait until what was there before them is handled
	listed.Lock()
	defer listed.Unlock()
	stop = cloud.Watch(func(e emulator.Event) {
		listed.Lock()
		defer listed.Unlock()
		handle(asMachine(e.Instance, e.Instance.JoinFor))
	})
	for _, i := range cloud.Instances() {
		handle(asMachine(i, max(i.JoinFor-now().Sub(i.LaunchedAt), 0)))
	}
	return stop
}

// asMachine is an instance as its machine sees it, with the time from now to
// its registration.
func asMachine(i emulator.Instance, delay time.Duration) machine.Instance {
	return machine.Instance{
		ID:             i.ID,
		Type:           i.Type,
		Region:         strings.TrimRight(i.Zone, "abcdefghijklmnopqrstuvwxyz"),
		Zone:           i.Zone,
		ZoneID:         i.ZoneID,
		State:          i.State,
		ImageName:      i.ImageName,
		UserData:       []byte(i.UserData),
		PrivateDNS:     i.PrivateDNS,
		PrivateIP:      i.PrivateIP,
		Role:           i.Role,
		Tags:           i.Tags,
		DiskGiB:        kubeletDisk(i),
		NodeDelay:      delay,
		NeverRegisters: i.NeverJoins,
	}
}

// kubeletDisk is the size of the volume that holds the kubelet's files:
// Bottlerocket's second one, the root of every other image.
func kubeletDisk(i emulator.Instance) int64 {
	devices := []string{"/dev/xvda", "/dev/sda1"}
	if strings.HasPrefix(i.ImageFamily, "Bottlerocket") {
		devices = []string{"/dev/xvdb"}
	}
	for _, v := range i.Volumes {
		if slices.Contains(devices, v.Device) {
			return int64(v.SizeGiB)
		}
	}
	if len(i.Volumes) > 0 {
		return int64(i.Volumes[0].SizeGiB)
	}
	return 0
}
