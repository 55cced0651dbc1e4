package network

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// The kinds of names that instances have inside their network: by their address, or by their ID.
const (
	hostnameIP       = "ip-name"
	HostnameResource = "resource-name"
)

// Hostnames is how instances are named inside their network, and which queries for names by ID are answered.
// What is absent is as the subnet has it.
type Hostnames struct {
	Kind string `xml:"hostnameType,omitempty"`
	A    *bool  `xml:"enableResourceNameDnsARecord"`
	AAAA *bool  `xml:"enableResourceNameDnsAAAARecord"`
}

// HostnameXML is hostnames with nothing left open, as instances and subnets show it.
type HostnameXML struct {
	Kind string `xml:"hostnameType"`
	A    bool   `xml:"enableResourceNameDnsARecord"`
	AAAA bool   `xml:"enableResourceNameDnsAAAARecord"`
}

// ReadHostnames reads what a request says of names; nil where it says nothing.
func ReadHostnames(n *wire.Node) *Hostnames {
	if n == nil {
		return nil
	}
	return &Hostnames{Kind: n.String("HostnameType"), A: n.BoolPtr("EnableResourceNameDnsARecord"), AAAA: n.BoolPtr("EnableResourceNameDnsAAAARecord")}
}

// Check refuses a kind of names that EC2 does not have; h may be nil.
func (h *Hostnames) Check(parameter string) error {
	if h == nil || slices.Contains([]string{"", hostnameIP, HostnameResource}, h.Kind) {
		return nil
	}
	return wire.Errorf("InvalidParameterValue", "Value (%s) for parameter %s is invalid. Valid values are %s and %s.", h.Kind, parameter, hostnameIP, HostnameResource)
}

// Over lays what a launch says over what its subnet does; either may be nil.
func (h *Hostnames) Over(sub *Hostnames) *Hostnames {
	merged := Hostnames{Kind: hostnameIP}
	for _, says := range []*Hostnames{sub, h} {
		if says != nil {
			world.Pick(&merged.Kind, says.Kind)
			world.Pick(&merged.A, says.A)
			world.Pick(&merged.AAAA, says.AAAA)
		}
	}
	return &merged
}

// Answer is how EC2 shows them.
func (h *Hostnames) Answer() HostnameXML {
	whole := h.Over(nil)
	return HostnameXML{Kind: whole.Kind, A: whole.A != nil && *whole.A, AAAA: whole.AAAA != nil && *whole.AAAA}
}

// HostnameFields are the filters by the names of instances, which begin with a prefix.
func HostnameFields[T any](prefix string, of func(T) HostnameXML) world.Fields[T] {
	return world.Fields[T]{
		prefix + ".hostname-type":                        world.One(func(item T) string { return of(item).Kind }),
		prefix + ".enable-resource-name-dns-a-record":    world.One(func(item T) string { return world.BoolText(of(item).A) }),
		prefix + ".enable-resource-name-dns-aaaa-record": world.One(func(item T) string { return world.BoolText(of(item).AAAA) }),
	}
}

// PrivateDNS is the name of an address inside its network.
func (s *Network) PrivateDNS(address string) string {
	if address == "" {
		return ""
	}
	return "ip-" + strings.ReplaceAll(address, ".", "-") + s.Domain()
}

// Domain is what names inside the network end with.
func (s *Network) Domain() string {
	if s.Settings.Region == "us-east-1" {
		return ".ec2.internal"
	}
	return fmt.Sprintf(".%s.compute.internal", s.Settings.Region)
}
