package world

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/test/emulator/wire"
)

// ZoneOf finds a zone by its name, its ID or both; empty ones say nothing.
func (s *World) ZoneOf(name, id string) (Zone, error) {
	i := slices.IndexFunc(s.Zones, func(z Zone) bool { return (name == "" || z.Name == name) && (id == "" || z.ID == id) })
	if i < 0 {
		return Zone{}, wire.Errorf("InvalidParameterValue", "Value (%s%s) for parameter availabilityZone is invalid.", name, id)
	}
	return s.Zones[i], nil
}

// ZoneCalled finds a zone by its name, or says which there are.
func (s *World) ZoneCalled(name string) (Zone, error) {
	var names []string
	for _, z := range s.Zones {
		if z.Name == name {
			return z, nil
		}
		names = append(names, z.Name)
	}
	return Zone{}, fmt.Errorf("the account has no zone %q: want one of %s", name, strings.Join(names, ", "))
}

// ZoneNamed finds a zone by its name; one without an ID where there is none.
func (s *World) ZoneNamed(name string) Zone {
	i := slices.IndexFunc(s.Zones, func(z Zone) bool { return z.Name == name })
	if i < 0 {
		return Zone{Name: name}
	}
	return s.Zones[i]
}
