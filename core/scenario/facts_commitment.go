package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/commitment"
)

var reservedInstancesLine = line[commitment.ReservedInstances]{noun: "reserved-instances",
	means: "Reserved Instances of one id, which pay for instances of their type.",
	facts: []fact[commitment.ReservedInstances]{
		argument("an id", func(r *reservedInstances) *string { return &r.ID }, name("commitment"),
			"of the Reserved Instances"),
		field("type", func(r *reservedInstances) *string { return &r.InstanceType }, word, "the instance type"),
		field("zone", func(r *reservedInstances) *string { return &r.Zone }, word, "of zonal ones; left out: any zone"),
		field("count", func(r *reservedInstances) *int64 { return &r.Count }, number, "of instances"),
		field("elsewhere", func(r *reservedInstances) *int64 { return &r.Elsewhere }, number,
			"how many of them others use in the account"),
		flag("size-flexible", func(r *reservedInstances) *bool { return &r.Flexible },
			"they pay for other sizes of the family too, by normalization factors"),
		flag("account", func(r *reservedInstances) *bool { return &r.Account }, "AWS says so, and no user lists them"),
	}}

var otherInstancesLine = line[commitment.Usage]{noun: "other-instances",
	means: "Instances of the account that are no nodes of the cluster, and that commitments pay for too.",
	facts: []fact[commitment.Usage]{
		field("type", func(u *commitment.Usage) *string { return &u.InstanceType }, word, "the instance type"),
		field("zone", func(u *commitment.Usage) *string { return &u.Zone }, word, "where they run"),
		field("price", func(u *commitment.Usage) *price { return &u.OnDemand }, money,
			"of each on demand, dollars an hour; left out: not known, and no Savings Plan counts as paying for them"),
		field("count", func(u *commitment.Usage) *int64 { return &u.Count }, number, "of instances"),
	}}

type (
	reservedInstances = commitment.ReservedInstances
	savingsPlan       = commitment.SavingsPlan
)

var savingsPlanLine = line[savingsPlan]{noun: "savings-plan",
	means: "A Savings Plan, which pays for instances at its rates.",
	facts: []fact[savingsPlan]{
		argument("an id", func(p *savingsPlan) *string { return &p.ID }, name("commitment"), "of the plan"),
		field("family", func(p *savingsPlan) *string { return &p.Family }, word,
			"of an EC2 Instance Savings Plan; left out: of a Compute Savings Plan, which is for all"),
		field("commitment", func(p *savingsPlan) *price { return &p.Commitment }, money, "dollars an hour"),
		field("elsewhere", func(p *savingsPlan) *price { return &p.Elsewhere }, money,
			"how much of it others use in the account"),
		field("discount", func(p *savingsPlan) *float64 { return &p.Discount }, share,
			"of the price on demand, for types without a rate"),
		flag("account", func(p *savingsPlan) *bool { return &p.Account }, "AWS says so, and no user lists it"),
	},
	below: []part[savingsPlan]{&one[savingsPlan, map[string]price]{line: ratesLine,
		at:   func(p *savingsPlan) *map[string]price { return &p.Rates },
		when: func(p *savingsPlan) bool { return len(p.Rates) > 0 }}}}

var ratesLine = line[map[string]price]{noun: "rates", means: "What an hour costs by the plan.",
	facts: []fact[map[string]price]{{word: "type=dollars", place: each, means: "of an instance type",
		read: func(_ *parser, to *map[string]price, words []string) error {
			instanceType, text, hasRate, err := pair(words[0])
			if err == nil && !hasRate {
				err = fmt.Errorf("%s: want type=dollars", words[0])
			}
			if err != nil {
				return err
			}
			if *to == nil {
				*to = map[string]price{}
			}
			(*to)[instanceType], err = readDollars(text)
			return err
		},
		print: func(_ *printer, of *map[string]price) string {
			var out []string
			for _, instanceType := range slices.Sorted(maps.Keys(*of)) {
				out = append(out, quote(instanceType)+"="+dollars((*of)[instanceType]))
			}
			return strings.Join(out, " ")
		},
	}}}
