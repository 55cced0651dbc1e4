package world

import (
	"time"
)

// DedicatedSurcharge is what dedicated tenancy costs, in shared prices.
const DedicatedSurcharge = 1.06

// Instance is what the world outside AWS may know of an instance: enough to
// boot a pretend instance for it.
type Instance struct {
	ID         string
	Type       string
	Zone       string
	ZoneID     string
	State      string // pending, running, shutting-down, terminated, stopped
	Spot       bool
	LaunchedAt time.Time
	UserData   string // in the clear
	Network
	Image
	Role        string // of its instance profile; empty without one
	Profile     string
	Template    string // launch template ID
	Volumes     []Volume
	Tags        map[string]string
	JoinFor     time.Duration // from running to the node in the cluster
	NeverJoins  bool
	Unreachable bool // its zone is cut off
	Enclaves    bool // it may run Nitro Enclaves
}

// Network is where an instance is in the network.
type Network struct {
	Subnet     string
	PrivateDNS string
	PrivateIP  string
	PublicIP   string
	Interfaces int
	Adapters   int // interfaces with an Elastic Fabric Adapter
}

// Image is what an instance was launched from.
type Image struct {
	ImageID     string
	ImageName   string
	ImageFamily string // AL2023, AL2, Bottlerocket, Windows2022, Ubuntu …
	Arch        string // x86_64 or arm64
}

// Volume is one volume of an instance.
type Volume struct {
	Device  string
	SizeGiB int
}
