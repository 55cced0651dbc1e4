package emulator

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

// instance is AWS's record of one instance; its life is the market's.
type instance struct {
	ID            string
	Type          string
	Zone          world.Zone
	Subnet        string
	Spot          bool
	SpotRequest   string
	Reservation   string        // of the launch: r-…
	InReservation string        // capacity reservation that it was launched into; empty: none
	Placed        string        // placement group; empty: in none
	CountedAfter  time.Duration // how late the reservation's count sees it come and go
	ClientToken   string
	LaunchIndex   int
	LaunchedAt    time.Time
	VisibleAt     time.Time
	Address       string
	PublicIP      string
	Groups        []string
	Profile       string // name; empty without
	ProfileARN    string
	ProfileID     string
	Data          template.LaunchData // everything resolved
	Volumes       []volume
	Interfaces    []netInterface
	Tags          world.Tags
	SpotTags      world.Tags // of its spot request
	Fleet         string
	Template      string
	Version       int
	Health        health
}

// volume is one EBS volume of an instance.
type volume struct {
	ID, Device, Type, Snapshot, KMSKey string
	SizeGiB, IOPS, Throughput          int
	InitializationRate                 int // MiB a second; 0: no more than usual
	Encrypted, DeleteOnTermination     bool
	Deleted                            bool // by itself, after it outlived the instance
	Tags                               world.Tags
}

// netInterface is one network interface of an instance.
type netInterface struct {
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
func (i *instance) userData() string {
	text, err := base64.StdEncoding.DecodeString(i.Data.UserData)
	if err != nil {
		return ""
	}
	return string(text)
}

// adapters counts the interfaces that have an Elastic Fabric Adapter.
func (i *instance) adapters() (n int) {
	for _, x := range i.Interfaces {
		if x.Type == "efa" || x.Type == "efa-only" {
			n++
		}
	}
	return n
}

// lifecycle is how the wire names the capacity type.
func (i *instance) lifecycle() string {
	if i.Spot {
		return "spot"
	}
	return i.Data.ReservedMarket()
}

// live is a record with its instance's life at a moment.
type live struct {
	*instance
	machine market.Machine
	state   market.State
	cutOff  time.Time // since when none reaches it; zero: not so
}

// instances returns all that the market still remembers, sorted by ID;
// records of forgotten instances are dropped. The lock is held.
func (s *Server) instances(now time.Time) []live {
	s.advanceReservations(now)
	machines, out := s.Market().Machines(), s.Market().Outages()
	all := make([]live, 0, len(machines))
	for _, m := range machines {
		if i := s.Records[m.ID]; i != nil {
			all = append(all, live{i, m, m.At(now), out[i.Zone.Name]})
		}
	}
	if len(all) < len(s.Records) {
		kept := make(map[string]*instance, len(all))
		for _, l := range all {
			kept[l.ID] = l.instance
		}
		s.Records = kept
	}
	return all
}

// visible leaves out what AWS itself does not see yet.
func (s *Server) visible(now time.Time) []live {
	return slices.DeleteFunc(s.instances(now), func(l live) bool { return l.VisibleAt.After(now) })
}

// visibleByID returns the instances of a request in the order asked. Unknown
// ones are an error that names them all.
func (s *Server) visibleByID(ids []string, now time.Time) ([]live, error) {
	var found []live
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
		found = append(found, live{record, m, m.At(now), out[record.Zone.Name]})
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
func (l live) gone() bool { return l.state == market.Terminated }

// publicAddress makes up a public address for a private one.
func publicAddress(private netip.Addr) string {
	b := private.As4()
	return fmt.Sprintf("54.%d.%d.%d", 160+int(b[1])%64, b[2], b[3])
}

// Sees reports whether an instance is there, as far as AWS itself sees it. The lock is held.
func (s *Server) Sees(id string, now time.Time) bool {
	_, err := s.visibleByID([]string{id}, now)
	return err == nil
}

// Visible are the instances that AWS itself sees, sorted by ID. The lock is held.
func (s *Server) Visible(now time.Time) (all []world.Instance) {
	for _, l := range s.visible(now) {
		all = append(all, s.outside(l))
	}
	return all
}

// privateName is the name that an instance has inside its network, and that its node is called by; empty where it has
// no address.
func (s *Server) privateName(i *instance) string {
	if i.Address != "" && i.Data.Hostnames.Answer().Kind == network.HostnameResource {
		return i.ID + s.Domain()
	}
	return s.PrivateDNS(i.Address)
}

// InGroup reports whether a security group has instances that are not gone. The lock is held.
func (s *Server) InGroup(group string, now time.Time) bool {
	return slices.ContainsFunc(s.visible(now), func(l live) bool { return !l.gone() && slices.Contains(l.Groups, group) })
}
