// Package nodeclass is a user's AWS settings for instances as plain values: what the EC2NodeClass
// requests (Spec) and what was found for it (Resolved).
//
// It promises to hold neither SDK nor Kubernetes types, so that controllers can convert API objects to
// it without knowing AWS, and the adapter can read it without knowing Kubernetes. It resolves nothing
// itself.
package nodeclass

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/daemok/daemok/core/constraint"
)

// Class is one class. It is what cloud.Class.Settings holds, by value or by
// pointer. A Class is not written once it was passed on.
type Class struct {
	Kind     string // of the API object; empty: EC2NodeClass
	Name     string // of the API object: "default"
	UID      string // of the API object; part of the path of its instance profile
	Spec     Spec
	Resolved Resolved
}

// ID names the class: its Kind and name.
func (c *Class) ID() string { return cmp.Or(c.Kind, "EC2NodeClass") + "/" + c.Name }

// Booting is the position of the first image that instances with these labels boot; false
// where there is none. What a launch template of the user's own names all of them boot.
func (c *Class) Booting(labels constraint.Labels) (at int, boots bool) {
	if c.Spec.LaunchTemplate != "" {
		return 0, true
	}
	for i, image := range c.Resolved.Images {
		if _, boots := image.Requirements.Allow(labels); boots {
			return i, true
		}
	}
	return 0, false
}

// Image is the image at a position that Booting returned; the zero value where a launch
// template of the user's own names it.
func (c *Class) Image(at int) Image {
	if c.Spec.LaunchTemplate != "" {
		return Image{}
	}
	return c.Resolved.Images[at]
}

// Spec is what the user asks for. Defaults of the API are already filled in.
type Spec struct {
	Subnets           []SubnetTerm      // any may match
	Groups            []GroupTerm       // any may match
	Images            []ImageTerm       // any may match
	Reservations      []ReservationTerm // any may match; none: no reserved capacity is used
	Placement         *PlacementTerm    // nil: instances are put nowhere in particular
	Family            Family            // empty: that of the alias
	UserData          string
	Role              string // exactly one of Role and InstanceProfile
	InstanceProfile   string
	Tags              map[string]string
	Kubelet           Kubelet
	ImageTagsAsked    bool          // tags of images that are labels of instances say which instances boot them
	OlderLabels       bool          // instances have labels too that are of the older API generation alone
	NoPodInterfaces   bool          // instances offer pods no interfaces of their own, whatever their type has
	PodPrefixes       bool          // pods get addresses by prefixes of 16
	MemoryOverhead    *float64      // share of memory that hypervisor and kernel keep where no instance showed it; nil: as the controller says
	BlockDevices      []BlockDevice // none: those of the family
	InstanceStore     InstanceStore
	Interfaces        []Interface
	PublicIP          *bool // nil: as the subnet says
	IPPrefixes        *int32
	DetailedMonitored bool
	Metadata          Metadata
	Tracking          *Tracking
	NestedVirtual     string // enabled, disabled or empty
	Context           string // EC2's launch context; empty for none

	// LaunchTemplate names one of the user's own: instances are launched from its latest
	// version, which says all but type, subnet and tags. Empty: one is made of the rest.
	LaunchTemplate string
}

// SubnetTerm selects subnets: by ID, by all of Tags, or by both. The tag value "*"
// means that the tag exists.
type SubnetTerm struct {
	ID     string
	Tags   map[string]string
	Commas bool // values of tags are several that commas part, any of which will do
}

// GroupTerm selects security groups by ID, by all of Tags or by both; or by group name.
type GroupTerm struct {
	ID, Name string
	Tags     map[string]string
	Commas   bool // the same
}

// PartedByCommas are the texts that commas part, without the spaces round them.
func PartedByCommas(text string) []string {
	var out []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			out = append(out, word)
		}
	}
	return out
}

// ImageTerm selects images. Alias stands alone; the other fields of one term
// must hold together.
type ImageTerm struct {
	Alias        string // family@version: "al2023@latest"
	ID           string
	Name         string
	Owner        string // account id, "self" or "amazon"; empty: self and amazon
	SSMParameter string // name or ARN of a parameter that holds an image id
	Tags         map[string]string
	Commas       bool // values of tags are several that commas part, any of which will do
}

// ReservationTerm selects capacity reservations: by ID, or by all of the other
// fields. The tag value "*" means that the tag exists.
type ReservationTerm struct {
	ID       string
	Owner    string // account that has it
	Criteria string // how instances come into it: open or targeted
	Tags     map[string]string
}

// PlacementTerm selects a placement group, by one of the two.
type PlacementTerm struct{ ID, Name string }

// Family says how an instance's operating system reads its user data.
type Family string

// The families.
const (
	AL2          Family = "AL2"
	AL2023       Family = "AL2023"
	Bottlerocket Family = "Bottlerocket"
	Custom       Family = "Custom"
	Windows2019  Family = "Windows2019"
	Windows2022  Family = "Windows2022"
	Windows2025  Family = "Windows2025"
	Ubuntu       Family = "Ubuntu" // of the older API generation alone
)

// Windows reports whether the family is one of Windows.
func (f Family) Windows() bool {
	return f == Windows2019 || f == Windows2022 || f == Windows2025
}

// BlockDevice is one volume of an instance.
type BlockDevice struct {
	DeviceName string
	Root       bool // the device that the kubelet uses
	EBS        *EBS
}

// EBS is a network volume. Nil and zero mean EC2's own default.
type EBS struct {
	DeleteOnTermination *bool
	Encrypted           *bool
	IOPS                *int64
	Throughput          *int64
	InitializationRate  *int32 // MiB/s
	KMSKeyID            string
	SnapshotID          string
	VolumeType          string
	VolumeBytes         int64
}

// InstanceStore says what is done with an instance's local disks.
type InstanceStore string

// RAID0 joins all local disks to one for the kubelet and containers.
const RAID0 InstanceStore = "RAID0"

// Interface is one network interface given explicitly.
type Interface struct {
	Card, Device int32
	Type         string // interface or efa-only
}

// Metadata is how processes reach the instance metadata service.
type Metadata struct {
	Endpoint, IPv6, Tokens string
	HopLimit               int32
}

// DefaultMetadata is what the API fills in where nothing is said.
func DefaultMetadata() Metadata {
	return Metadata{Endpoint: "enabled", IPv6: "disabled", Tokens: "required", HopLimit: 1}
}

// Tracking holds idle timeouts of tracked connections, in seconds.
type Tracking struct{ TCPEstablished, UDPStream, UDP *int32 }

// Resolved is what was found for a Spec.
type Resolved struct {
	Subnets []Subnet // most free addresses first, then by ID
	Groups  []Group  // by ID
	Images  []Image  // those in use first: not deprecated, newest
	Profile string   // name of the instance profile

	Reservations []Reservation // by ID
	Placement    *PlacementGroup
}

// PlacementGroup says how the instances of a class are put on hardware.
type PlacementGroup struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Strategy   string `json:"strategy"`
	Partitions int    `json:"partitions,omitempty"` // of a partition group
}

// The strategies of placement groups.
const (
	Cluster   = "cluster"   // near each other, in one zone
	Spread    = "spread"    // on hardware apart from each other's, so many in a zone
	Partition = "partition" // in groups that share no hardware
)

// ReservedCapacity names what the instances of the group in a zone are counted under.
func (g *PlacementGroup) ReservedCapacity(zone string) string { return g.ID + "/" + zone }

// Counts reports whether the group takes only so many instances in a zone.
func (g *PlacementGroup) Counts() bool { return g != nil && g.Strategy != Partition }

// Parts are the numbers of the group's partitions, as labels have them; one empty name
// where instances are in none.
func (g *PlacementGroup) Parts() []string {
	if g == nil || g.Strategy != Partition {
		return []string{""}
	}
	out := make([]string, g.Partitions)
	for i := range out {
		out[i] = strconv.Itoa(i + 1)
	}
	return out
}

// Place names the hardware that shortages of the group's partition are about; empty
// without a group. Dedicated hardware is apart from all other.
func (g *PlacementGroup) Place(part string, dedicated bool) string {
	place := ""
	if dedicated {
		place = TenancyDedicated
	}
	switch {
	case g == nil:
		return place
	case part == "":
		return place + g.ID
	}
	return place + g.ID + "/" + part
}

// TakesDedicated reports whether EC2 puts instances of dedicated tenancy into the group: not
// into spread groups, and not into those of more than two partitions
// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-groups.html).
func (g *PlacementGroup) TakesDedicated() bool {
	return g == nil || g.Strategy == Cluster || g.Strategy == Partition && g.Partitions <= 2
}

// Reservation is a capacity reservation that instances may be launched into.
type Reservation struct {
	ID, Kind, Zone string // Kind is the type of instance
	Owner          string
	Criteria       string    // open or targeted
	Block          bool      // it is a capacity block
	Interruptible  bool      // its owner may reclaim it
	Dedicated      bool      // its instances are of dedicated tenancy
	EndsAt         time.Time // zero: it lasts until it is cancelled
	Expiring       bool      // its instances are about to be ended: see IsExpiring
	Idle           int64     // instances that it had room for when it was looked up; set only by the call that found it
}

// A capacity block's instances are ended from blockEnds before its end on. None is launched
// into it any more, and those that run go, so much before that.
const (
	blockEnds  = 30 * time.Minute
	blockGrace = 10 * time.Minute
)

// InstancesEndAt is when EC2 begins to end the instances of a capacity block; zero for
// reservations whose instances go on.
func (r Reservation) InstancesEndAt() time.Time {
	if !r.Block || r.EndsAt.IsZero() {
		return time.Time{}
	}
	return r.EndsAt.Add(-blockEnds)
}

// IsExpiring reports whether it is a capacity block whose instances are about to be ended.
func (r Reservation) IsExpiring(now time.Time) bool {
	ends := r.InstancesEndAt()
	return !ends.IsZero() && !now.Before(ends.Add(-blockGrace))
}

// Subnet is a subnet that instances may be launched into.
type Subnet struct {
	ID, Zone, ZoneID string
	Free             int64 // addresses, when it was looked up
}

// Group is a security group.
type Group struct {
	ID, Name string
	Owned    bool // it carries the tag of this cluster; set only by the call that found it
	EKS      bool // EKS made it for this cluster; likewise
}

// Image is an instance image. Kinds whose labels meet Requirements can boot it.
type Image struct {
	ID, Name     string
	Deprecated   bool
	CreatedAt    time.Time
	Requirements constraint.Requirements
}

// Release is the release of Bottlerocket that the image's name says: "1.46.0" of
// "bottlerocket-aws-k8s-1.36-x86_64-v1.46.0-5d2a1b8c". It is empty for names that say none.
func (i Image) Release() string {
	for _, word := range slices.Backward(strings.Split(i.Name, "-")) {
		if strings.HasPrefix(word, "v") && strings.Count(word, ".") == 2 {
			return strings.TrimPrefix(word, "v")
		}
	}
	return ""
}

// EffectiveFamily is the family that counts: the one named, else the alias'.
func (s Spec) EffectiveFamily() Family {
	if s.Family != "" {
		return s.Family
	}
	for _, term := range s.Images {
		if alias, err := ParseAlias(term.Alias); err == nil {
			return alias.Family
		}
	}
	return Custom
}
