package instance

import "github.com/daemok/daemok/test/emulator/world"

// Instances returns all instances that AWS remembers, terminated ones too,
// sorted by ID, whether or not its own calls see them yet.
func (s *Inventory) Instances() []world.Instance {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	var all []world.Instance
	for _, l := range s.Remembered(s.Now()) {
		all = append(all, s.Outside(l))
	}
	return all
}

// Outside is a record as the outside world sees it; the lock is held.
func (s *Inventory) Outside(l Live) world.Instance {
	o := world.Instance{
		ID: l.ID, Type: l.Type, Zone: l.Zone.Name, ZoneID: l.Zone.ID, State: string(l.State), Spot: l.Spot, LaunchedAt: l.LaunchedAt,
		Network: world.Network{
			Subnet: l.Subnet, PrivateDNS: s.privateName(l.Instance), PrivateIP: l.Address, PublicIP: l.PublicIP,
			Interfaces: len(l.Interfaces), Adapters: l.adapters(),
		},
		UserData: l.userData(), Image: world.Image{ImageID: l.Data.ImageID},
		Profile: l.Profile, Template: l.Template, Tags: l.Tags.AsMap(), JoinFor: l.Machine.JoinFor, NeverJoins: l.Machine.NeverJoins,
	}
	if img, err := s.Image(l.Data.ImageID); err == nil {
		o.ImageName, o.ImageFamily, o.Arch = img.Name, img.Family, img.Architecture
	}
	if p := s.Profiles[l.Profile]; p != nil {
		o.Role = p.Role
	}
	o.Enclaves = l.Data.Enclave != nil && l.Data.Enclave.Enabled
	_, o.Unreachable = s.Market().Outages()[l.Zone.Name]
	for _, v := range l.Volumes {
		o.Volumes = append(o.Volumes, world.Volume{Device: v.Device, SizeGiB: v.SizeGiB})
	}
	return o
}
