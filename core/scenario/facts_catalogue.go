package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

type (
	catalogue    = cluster.Catalogue
	instanceType = cluster.InstanceType
	offering     = cluster.Offering
)

// catalogues are what classes offer.
var catalogues = &named[catalogue]{prefix: "c", from: 1,
	clone: func(c *catalogue) *catalogue {
		return &catalogue{Revision: c.Revision, Disk: c.Disk, InstanceTypes: c.InstanceTypes}
	},
	line: line[catalogue]{noun: "catalogue", means: "The instance types that a class offers.", flat: true,
		facts: []fact[catalogue]{
			given[catalogue]("by which pools name it"),
			option("a revision", func(c *catalogue) *uint64 { return &c.Revision }, revision, "grows with every change"),
			field("disk", func(c *catalogue) *price { return &c.Disk }, money, "cost of the volumes of an instance"),
		},
		below: []part[catalogue]{&list[catalogue, instanceType]{at: func(c *catalogue) *[]instanceType { return &c.InstanceTypes }, line: instanceTypeLine}}}}

var instanceTypeLine = line[instanceType]{noun: "kind", means: "An instance type, as configured by the class.",
	facts: []fact[instanceType]{
		argument("a name", func(k *instanceType) *string { return &k.Name }, word, "of the instance type"),
		amounts(func(k *instanceType) *quantity.Resources { return &k.Capacity }, printAmounts, "the total capacity of an instance"),
	},
	ends: func(k *instanceType) error {
		k.Allocatable, k.Labels = k.Capacity, instanceTypeLabels(k)
		return nil
	},
	below: []part[instanceType]{
		&one[instanceType, quantity.Resources]{at: func(k *instanceType) *quantity.Resources { return &k.Allocatable }, anew: true,
			when: func(k *instanceType) bool { return !k.Allocatable.Equal(k.Capacity) }, line: resourcesLine("allocatable", forPods)},
		&one[instanceType, instanceType]{at: func(k *instanceType) *instanceType { return k }, when: func(k *instanceType) bool { return k.Sustained != 0 || k.Surplus != 0 },
			line: line[instanceType]{noun: "sustained", means: "CPU that an instance can use all the time at its price; all of its CPU if left out.", facts: []fact[instanceType]{
				argument("an amount", func(k *instanceType) *quantity.MilliCPU { return &k.Sustained }, cpu, "of CPU"),
				field("surplus", func(k *instanceType) *price { return &k.Surplus }, money, "price of one core beyond that; if left out, no more is used"),
			}}},
		&one[instanceType, instanceType]{at: func(k *instanceType) *instanceType { return k }, when: func(k *instanceType) bool { return k.LastResort },
			line: line[instanceType]{noun: "last-resort", means: "It is launched only if nothing else fits: bare metal.",
				ends: func(k *instanceType) error { k.LastResort = true; return nil }}},
		attachable(func(k *instanceType) *[]cluster.Attachable { return &k.Attachable }),
		&one[instanceType, []string]{at: func(k *instanceType) *[]string { return &k.OnRequest }, when: func(k *instanceType) bool { return len(k.OnRequest) > 0 },
			line: line[[]string]{noun: "on-request", means: "Resources that an instance has only if it is launched for pods that request them.",
				facts: []fact[[]string]{several("resource", each, func(l *[]string) *[]string { return l }, word, "its name")},
				ends:  func(list *[]string) error { slices.Sort(*list); return nil }}},
		labelsOf(func(k *instanceType) *constraint.Labels { return &k.Labels }, instanceTypeLabels, (*redactor).value, ""),
		&list[instanceType, offering]{at: func(k *instanceType) *[]offering { return &k.Offerings }, line: offeringLine},
	}}

// instanceTypeLabels and offeringLabels are what they have where no line says otherwise.
func instanceTypeLabels(k *instanceType) constraint.Labels {
	return constraint.Labels{{Key: cluster.LabelInstanceType, Value: k.Name}}
}

func offeringLabels(o *offering) constraint.Labels {
	return constraint.Labels{{Key: cluster.LabelCapacityType, Value: string(o.Option)}, {Key: cluster.LabelZone, Value: o.Zone}}
}

var offeringLine = line[offering]{noun: "offer", means: "An offering: the instance type in one zone with one capacity type.", starts: offering{Available: true},
	facts: []fact[offering]{
		argument("a zone", func(o *offering) *string { return &o.Zone }, word, "such as us-west-2a"),
		argument("a capacity type", func(o *offering) *cluster.Option { return &o.Option }, word, "on-demand, spot or reserved"),
		{word: "a price", place: first, means: "dollars an hour, or `unpriced`",
			read: func(_ *parser, to *offering, words []string) (err error) {
				if to.Priced = words[0] != unpriced; to.Priced {
					to.Price, err = money().parse("price", words[0])
				}
				return err
			},
			print: func(_ *printer, of *offering) string {
				switch {
				case of.Priced:
					return dollars(of.Price)
				case of.Price != 0:
					return unpriced + " " + dollars(of.Price)
				}
				return unpriced
			}},
		silent(option("a former price", func(o *offering) *price { return &o.Price }, money, "of an `unpriced` offering; it is not used")),
		flagged("unavailable", func(o *offering) *bool { return &o.Available }, false, "it cannot be launched"),
		flag("doubtful", func(o *offering) *bool { return &o.Doubtful }, "several types of its family had insufficient capacity lately"),
		field("why", func(o *offering) *string { return &o.Why }, word, "why it cannot be launched, if that is not insufficient capacity"),
		several("stock", byWord, func(o *offering) *[]cluster.ReservedCapacity { return &o.ReservedCapacities }, reservation, "a capacity reservation or placement group that it uses; there may be several"),
		{word: "left", place: byWord, form: "number", means: "how many instances are left of the reservation or group before it", read: readLeft},
		field("risk", func(o *offering) *float64 { return &o.Risk }, share, "expected interruptions per hour of an instance"),
		field("unless", func(o *offering) *constraint.Label { return &o.Unless }, label, "it is launched only for pods and pools that exclude the label"),
	},
	ends: func(o *offering) error {
		slices.SortFunc(o.ReservedCapacities, func(a, b cluster.ReservedCapacity) int { return cmp.Compare(a.Name, b.Name) })
		o.Labels = offeringLabels(o)
		return nil
	},
	below: []part[offering]{labelsOf(func(o *offering) *constraint.Labels { return &o.Labels }, offeringLabels, (*redactor).value, "")}}

const unpriced = "unpriced"

func reservation() codec[cluster.ReservedCapacity] {
	return codec[cluster.ReservedCapacity]{form: "name", hides: replaced,
		read: func(text string) (cluster.ReservedCapacity, error) { return cluster.ReservedCapacity{Name: text}, nil },
		print: func(s cluster.ReservedCapacity) string {
			if s.Left == 0 {
				return quote(s.Name)
			}
			return quote(s.Name) + " left=" + strconv.FormatInt(s.Left, 10)
		},
		redact: func(r *redactor, s cluster.ReservedCapacity) cluster.ReservedCapacity {
			s.Name = r.name("stock", s.Name)
			return s
		}}
}

func readLeft(_ *parser, to *offering, words []string) (err error) {
	if len(to.ReservedCapacities) == 0 {
		return fmt.Errorf("left: want it behind what so many are left of: stock=cr-1 left=2")
	}
	to.ReservedCapacities[len(to.ReservedCapacities)-1].Left, err = number[int64]().parse("left", words[0])
	return err
}
