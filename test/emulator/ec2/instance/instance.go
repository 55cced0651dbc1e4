package instance

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/ec2/network"
	"github.com/daemok/daemok/test/emulator/ec2/template"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// Instance is AWS's record of one instance; its life is the market's.
type Instance struct {
	ID   string
	Type string
	Zone world.Zone
	Spot bool
	Origin
	Connection
	SpotRequest   string
	SpotTags      world.Tags    // of its spot request
	InReservation string        // capacity reservation that it was launched into; empty: none
	Placed        string        // placement group; empty: in none
	CountedAfter  time.Duration // how late the reservation's count sees it come and go
	Profile       string        // name; empty without
	ProfileARN    string
	ProfileID     string
	Data          template.LaunchData // everything resolved
	Volumes       []Volume
	Tags          world.Tags
	Health        health
}

// Origin is what an instance was launched by, and when.
type Origin struct {
	Reservation string // of the launch: r-…
	ClientToken string
	LaunchIndex int
	LaunchedAt  time.Time
	VisibleAt   time.Time
	Fleet       string
	Template    string
	Version     int
}

// Connection is how an instance is connected to its network.
type Connection struct {
	Subnet     string
	Address    string
	PublicIP   string
	Groups     []string
	Interfaces []NetInterface
}

// Volume is one EBS volume of an instance.
type Volume struct {
	ID, Device, Type, Snapshot, KMSKey string
	SizeGiB, IOPS, Throughput          int
	InitializationRate                 int // MiB a second; 0: no more than usual
	Encrypted, DeleteOnTermination     bool
	Deleted                            bool // by itself, after it outlived the instance
	Tags                               world.Tags
}

// NetInterface is one network interface of an instance.
type NetInterface struct {
	ID, Attachment, Address, MAC, Type string
	Description                        string
	DeviceIndex, Card                  int
	Secondary                          []string // addresses beside the first
	Prefixes                           []string // blocks of 16 addresses each
	Tracking                           *template.Tracking
	Groups                             []string
	Tags                               world.Tags
}

// userData is the instance's user data in the clear; launchData.check has
// made sure that it decodes.
func (i *Instance) userData() string {
	text, err := base64.StdEncoding.DecodeString(i.Data.UserData)
	if err != nil {
		return ""
	}
	return string(text)
}

// adapters counts the interfaces that have an Elastic Fabric Adapter.
func (i *Instance) adapters() (n int) {
	for _, x := range i.Interfaces {
		if x.Type == "efa" || x.Type == "efa-only" {
			n++
		}
	}
	return n
}

// lifecycle is how the wire names the capacity type.
func (i *Instance) lifecycle() string {
	if i.Spot {
		return "spot"
	}
	return i.Data.ReservedMarket()
}

// Live is a record with its instance's life at a moment.
type Live struct {
	*Instance
	Machine market.Machine
	State   market.State
	cutOff  time.Time // since when none reaches it; zero: not so
}

// Remembered returns all that the market still remembers, sorted by ID;
// records of forgotten instances are dropped. The lock is held.
func (s *Inventory) Remembered(now time.Time) []Live {
	s.reserved.AdvanceReservations(now)
	machines, out := s.Market().Machines(), s.Market().Outages()
	all := make([]Live, 0, len(machines))
	for _, m := range machines {
		if i := s.Records[m.ID]; i != nil {
			all = append(all, Live{i, m, m.At(now), out[i.Zone.Name]})
		}
	}
	if len(all) < len(s.Records) {
		kept := make(map[string]*Instance, len(all))
		for _, l := range all {
			kept[l.ID] = l.Instance
		}
		s.Records = kept
	}
	return all
}

// Seen leaves out what AWS itself does not see yet.
func (s *Inventory) Seen(now time.Time) []Live {
	return slices.DeleteFunc(s.Remembered(now), func(l Live) bool { return l.VisibleAt.After(now) })
}

// visibleByID returns the instances of a request in the order asked. Unknown
// ones are an error that names them all.
func (s *Inventory) visibleByID(ids []string, now time.Time) ([]Live, error) {
	var found []Live
	var unknown []string
	out := s.Market().Outages()
	for _, id := range ids {
		if !strings.HasPrefix(id, "i-") {
			return nil, wire.Errorf("InvalidInstanceID.Malformed", "Invalid id: \"%s\"", id)
		}
		record := s.Records[id]
		m, known := s.Market().Machine(id)
		if record == nil || !known || record.VisibleAt.After(now) {
			unknown = append(unknown, id)
			continue
		}
		found = append(found, Live{record, m, m.At(now), out[record.Zone.Name]})
	}
	switch len(unknown) {
	case 0:
		return found, nil
	case 1:
		return nil, wire.Errorf("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", unknown[0])
	}
	return nil, wire.Errorf("InvalidInstanceID.NotFound", "The instance IDs '%s' do not exist", strings.Join(unknown, ", "))
}

// gone tells whether the instance holds no addresses and devices any more.
func (l Live) gone() bool { return l.State == market.Terminated }

// PublicAddress makes up a public address for a private one.
func PublicAddress(private netip.Addr) string {
	b := private.As4()
	return fmt.Sprintf("54.%d.%d.%d", 160+int(b[1])%64, b[2], b[3])
}

// Sees reports whether an instance is there, as far as AWS itself sees it. The lock is held.
func (s *Inventory) Sees(id string, now time.Time) bool {
	_, err := s.visibleByID([]string{id}, now)
	return err == nil
}

// Visible are the instances that AWS itself sees, sorted by ID. The lock is held.
func (s *Inventory) Visible(now time.Time) (all []world.Instance) {
	for _, l := range s.Seen(now) {
		all = append(all, s.Outside(l))
	}
	return all
}

// privateName is the name that an instance has inside its network, and that its node is called by; empty where it has
// no address.
func (s *Inventory) privateName(i *Instance) string {
	if i.Address != "" && i.Data.Hostnames.Answer().Kind == network.HostnameResource {
		return i.ID + s.Domain()
	}
	return s.PrivateDNS(i.Address)
}

// InGroup reports whether a security group has instances that are not gone. The lock is held.
func (s *Inventory) InGroup(group string, now time.Time) bool {
	return slices.ContainsFunc(s.Seen(now), func(l Live) bool { return !l.gone() && slices.Contains(l.Groups, group) })
}
