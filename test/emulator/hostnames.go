package emulator

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
	hostnameResource = "resource-name"
)

// hostnames is how instances are named inside their network, and which queries for names by ID are answered.
// What is absent is as the subnet has it.
type hostnames struct {
	Kind string `xml:"hostnameType,omitempty"`
	A    *bool  `xml:"enableResourceNameDnsARecord"`
	AAAA *bool  `xml:"enableResourceNameDnsAAAARecord"`
}

// hostnameXML is hostnames with nothing left open, as instances and subnets show it.
type hostnameXML struct {
	Kind string `xml:"hostnameType"`
	A    bool   `xml:"enableResourceNameDnsARecord"`
	AAAA bool   `xml:"enableResourceNameDnsAAAARecord"`
}

func readHostnames(n *wire.Node) *hostnames {
	if n == nil {
		return nil
	}
	return &hostnames{Kind: n.String("HostnameType"), A: n.BoolPtr("EnableResourceNameDnsARecord"), AAAA: n.BoolPtr("EnableResourceNameDnsAAAARecord")}
}

// check refuses a kind of names that EC2 does not have; h may be nil.
func (h *hostnames) check(parameter string) error {
	if h == nil || slices.Contains([]string{"", hostnameIP, hostnameResource}, h.Kind) {
		return nil
	}
	return wire.Errorf("InvalidParameterValue", "Value (%s) for parameter %s is invalid. Valid values are %s and %s.", h.Kind, parameter, hostnameIP, hostnameResource)
}

// over lays what a launch says over what its subnet does; either may be nil.
func (h *hostnames) over(sub *hostnames) *hostnames {
	merged := hostnames{Kind: hostnameIP}
	for _, says := range []*hostnames{sub, h} {
		if says != nil {
			world.Pick(&merged.Kind, says.Kind)
			world.Pick(&merged.A, says.A)
			world.Pick(&merged.AAAA, says.AAAA)
		}
	}
	return &merged
}

func (h *hostnames) answer() hostnameXML {
	whole := h.over(nil)
	return hostnameXML{Kind: whole.Kind, A: whole.A != nil && *whole.A, AAAA: whole.AAAA != nil && *whole.AAAA}
}

// hostnameFields are the filters by the names of instances, which begin with a prefix.
func hostnameFields[T any](prefix string, of func(T) hostnameXML) world.Fields[T] {
	return world.Fields[T]{
		prefix + ".hostname-type":                        world.One(func(item T) string { return of(item).Kind }),
		prefix + ".enable-resource-name-dns-a-record":    world.One(func(item T) string { return world.BoolText(of(item).A) }),
		prefix + ".enable-resource-name-dns-aaaa-record": world.One(func(item T) string { return world.BoolText(of(item).AAAA) }),
	}
}

// privateName is the name that an instance has inside its network, and that its node is called by; empty where it has
// no address.
func (s *Server) privateName(i *instance) string {
	if i.Address != "" && i.Data.Hostnames.answer().Kind == hostnameResource {
		return i.ID + s.domain()
	}
	return s.privateDNS(i.Address)
}

// privateDNS is the name of an address inside its network.
func (s *Server) privateDNS(address string) string {
	if address == "" {
		return ""
	}
	return "ip-" + strings.ReplaceAll(address, ".", "-") + s.domain()
}

// domain is what names inside the network end with.
func (s *Server) domain() string {
	if s.Settings.Region == "us-east-1" {
		return ".ec2.internal"
	}
	return fmt.Sprintf(".%s.compute.internal", s.Settings.Region)
}
