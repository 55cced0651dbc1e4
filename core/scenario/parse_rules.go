package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// below makes the lines that follow part of one rule of a shape.
func (p *parser) below(requirements *constraint.Requirements, selector *cluster.Selector) {
	p.parent.requirements, p.parent.selector = requirements, selector
}

func (p *parser) term(w []string) error { return p.alternative(w, &p.parent.shape.NodeTerms) }

func (p *parser) volumeTerm(w []string) error { return p.alternative(w, &p.parent.shape.VolumeTerms) }

func (p *parser) alternative(w []string, list *[]constraint.Requirements) error {
	if len(w) > 0 {
		return fmt.Errorf("stands alone")
	}
	*list = append(*list, nil)
	p.below(&(*list)[len(*list)-1], nil)
	return nil
}

func (p *parser) prefer(w []string) (err error) {
	s, x := p.parent.shape, cluster.Preference{Weight: 1}
	for _, word := range w {
		key, value, _, err := pair(word)
		if err != nil {
			return err
		}
		if key != "weight" {
			return fmt.Errorf("no field %q", key)
		}
		if x.Weight, err = readInt32(key, value); err != nil {
			return err
		}
	}
	s.Preferences = append(s.Preferences, x)
	p.below(&s.Preferences[len(s.Preferences)-1].Term, nil)
	return nil
}

func (p *parser) spread(w []string) error {
	key, fields, err := named(w)
	if err != nil {
		return err
	}
	x := cluster.Spread{Key: key, MaxSkew: 1}
	for _, word := range fields {
		if err := readSpreadField(&x, word); err != nil {
			return err
		}
	}
	s := p.parent.shape
	s.Spread = append(s.Spread, x)
	p.below(nil, &s.Spread[len(s.Spread)-1].Selector)
	return nil
}

func readSpreadField(x *cluster.Spread, word string) error {
	key, value, _, err := pair(word)
	if err != nil {
		return err
	}
	switch key {
	case "skew":
		x.MaxSkew, err = readInt32(key, value)
	case "min-domains":
		x.MinDomains, err = readInt32(key, value)
	case "soft":
		x.Soft = true
	case "ignore-node-terms":
		x.IgnoreNodeTerms = true
	case "honour-taints":
		x.HonourTaints = true
	default:
		err = fmt.Errorf("no field %q", key)
	}
	return err
}

func (p *parser) near(w []string) error { return p.neighbours(w, false) }

func (p *parser) apart(w []string) error { return p.neighbours(w, true) }

func (p *parser) neighbours(w []string, apart bool) error {
	key, fields, err := named(w)
	if err != nil {
		return err
	}
	s := p.parent.shape
	x := cluster.Neighbours{Apart: apart, Key: key, Namespaces: []string{s.Namespace}}
	for _, word := range fields {
		field, value, _ := cut(word, '=')
		switch field {
		case "weight":
			x.Weight, err = readInt32(field, value)
		case "namespaces":
			x.Namespaces, x.AllNamespaces, err = readNamespaces(value)
		case "volume":
			x.Volume = true
		default:
			err = fmt.Errorf("no field %q", field)
		}
		if err != nil {
			return err
		}
	}
	s.Neighbours = append(s.Neighbours, x)
	p.below(nil, &s.Neighbours[len(s.Neighbours)-1].Selector)
	return nil
}

// readNamespaces reads names with commas between; "*" is all of them, and no
// name at all is none.
func readNamespaces(text string) (names []string, all bool, err error) {
	for more := text != ""; more; {
		var word string
		word, text, more = cut(text, ',')
		if word == "*" {
			all = true
			continue
		}
		name, err := unquote(word)
		if err != nil {
			return nil, false, err
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), all, nil
}

func (p *parser) selects(w []string) error {
	s := p.parent.selector
	if s == nil {
		return fmt.Errorf("want it below spread, near or apart")
	}
	if len(w) == 1 && w[0] == nothing {
		s.Nothing = true
		return nil
	}
	return readRequirement(&s.Requirements, w)
}

func (p *parser) port(w []string) error {
	if len(w) != 2 && len(w) != 3 {
		return fmt.Errorf("want a protocol and a number")
	}
	protocol, err := unquote(w[0])
	if err != nil {
		return err
	}
	x := cluster.Port{Protocol: protocol}
	if x.Number, err = readInt32("number", w[1]); err != nil {
		return err
	}
	if len(w) == 3 {
		key, value, _, err := pair(w[2])
		if err != nil || key != "address" {
			return fmt.Errorf("%s: want address=", w[2])
		}
		x.Address = value
	}
	s := p.parent.shape
	s.Ports = append(s.Ports, x)
	sortPorts(s.Ports)
	return nil
}

func sortPorts(list []cluster.Port) {
	slices.SortStableFunc(list, func(a, b cluster.Port) int {
		return cmp.Or(cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Address, b.Address))
	})
}

func (p *parser) volume(w []string) error {
	driver, fields, err := named(w)
	if err != nil {
		return err
	}
	x, count := cluster.Volume{Driver: driver}, 1
	for _, word := range fields {
		key, value, _, err := pair(word)
		if err != nil {
			return err
		}
		switch key {
		case "claim":
			x.Claim = value
		case "exclusive":
			x.Exclusive = true
		case "count":
			if count, err = readCount(value); err != nil {
				return err
			}
		default:
			return fmt.Errorf("no field %q", key)
		}
	}
	s := p.parent.shape
	s.Volumes = append(s.Volumes, slices.Repeat([]cluster.Volume{x}, count)...)
	sortVolumes(s.Volumes)
	return nil
}

func sortVolumes(list []cluster.Volume) {
	slices.SortStableFunc(list, func(a, b cluster.Volume) int {
		return cmp.Or(strings.Compare(a.Driver, b.Driver), strings.Compare(a.Claim, b.Claim))
	})
}

func (p *parser) attachable(w []string) error {
	list := p.parent.attachable
	if list == nil {
		return fmt.Errorf("want it below a kind, node or machine")
	}
	for _, word := range w {
		driver, value, _, err := pair(word)
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("%s: want driver=number", word)
		}
		*list = append(*list, cluster.Attachable{Driver: driver, Count: n})
	}
	slices.SortFunc(*list, func(a, b cluster.Attachable) int { return strings.Compare(a.Driver, b.Driver) })
	return unique("driver", *list, func(a cluster.Attachable) string { return a.Driver })
}

func readInt32(what, text string) (int32, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%s %s: want a whole number", what, text)
	}
	return int32(n), nil
}
