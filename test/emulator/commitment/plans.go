package commitment

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/daemok/daemok/test/emulator/world"
)

// The types of plans.
const (
	Compute     = "Compute"     // instances of all families and regions, Fargate and Lambda
	EC2Instance = "EC2Instance" // instances of one family in one region
	SageMaker   = "SageMaker"   // no instances of EC2
)

// Plan is one Savings Plan: an hourly commitment, for which AWS charges less than on demand. Zero fields are as the
// comments beside them say.
type Plan struct {
	ID            string // AddSavingsPlan draws it
	Type          string // Compute
	Family        string // of an EC2Instance plan, such as m5; other types have none
	Region        string // of an EC2Instance plan: the account's; other types have none
	CommitmentUSD float64
	Discount      float64   // from 0 to 1, off on-demand list prices: the usual one of its type
	StartsAt      time.Time // now
	EndsAt        time.Time // a year after the start
}

// usualDiscounts are about those of plans for a year without upfront payment.
var usualDiscounts = map[string]float64{Compute: 0.28, EC2Instance: 0.38, SageMaker: 0.28}

// AddSavingsPlan puts a plan into the account and returns its ID. Its rates stay as they are until it ends, whatever
// becomes of prices.
func (s *Commitments) AddSavingsPlan(p Plan) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	p.ID = s.MessageID()
	p.Type = cmp.Or(p.Type, Compute)
	p.Discount = cmp.Or(p.Discount, usualDiscounts[p.Type])
	if p.Type == EC2Instance {
		p.Region = cmp.Or(p.Region, s.Settings.Region)
	}
	lasts := termOf(p.StartsAt, p.EndsAt, s.Now())
	p.StartsAt, p.EndsAt = lasts.from, lasts.to
	s.Plans = append(s.Plans, p)
	return p.ID
}

// states are all that AWS knows.
var states = []string{
	active, "payment-failed", "payment-pending", "pending-return", queued, "queued-deleted", ended, "returned",
}

func (p Plan) term() term { return term{p.StartsAt, p.EndsAt} }

// productTypes are what the plan is for.
func (p Plan) productTypes() []string {
	switch p.Type {
	case Compute:
		return []string{"EC2", "Fargate", "Lambda"}
	case EC2Instance:
		return []string{"EC2"}
	}
	return []string{"SageMaker"}
}

func (p Plan) commitment() string { return strconv.FormatFloat(p.CommitmentUSD, 'f', -1, 64) }

// How all plans of the account are paid for.
const (
	paymentOption = "No Upfront"
	upfront       = "0.0"
)

// planFields are what plans are filtered by.
var planFields = world.Fields[Plan]{
	"commitment":          world.One(Plan.commitment),
	"ec2-instance-family": familyOf,
	"end":                 world.One(func(p Plan) string { return world.ImageTime(p.EndsAt) }),
	"instance-family":     familyOf,
	"payment-option":      world.One(func(Plan) string { return paymentOption }),
	"region":              func(p Plan) []string { return world.UnlessEmpty(p.Region) },
	"savings-plan-type":   world.One(func(p Plan) string { return p.Type }),
	"start":               world.One(func(p Plan) string { return world.ImageTime(p.StartsAt) }),
	"term":                world.One(func(p Plan) string { return strconv.Itoa(p.term().seconds()) }),
	"upfront":             world.One(func(Plan) string { return upfront }),
}

func familyOf(p Plan) []string { return world.UnlessEmpty(p.Family) }

func describeSavingsPlans(c *call) (any, error) {
	var in struct {
		SavingsPlanArns, SavingsPlanIDs, States []string
		Filters                                 []filter
		paging
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	for _, state := range in.States {
		if !slices.Contains(states, state) {
			return nil, invalid("The state %q is none of %s.", state, world.Listed(slices.Values(states)))
		}
	}
	wanted := func(names []string, name string) bool { return len(names) == 0 || slices.Contains(names, name) }
	chosen := slices.DeleteFunc(slices.Clone(c.server.Plans), func(p Plan) bool {
		return !wanted(in.SavingsPlanIDs, p.ID) || !wanted(in.SavingsPlanArns, c.server.arn(p)) ||
			!wanted(in.States, p.term().state(c.At))
	})
	found, err := matching(chosen, in.Filters, planFields)
	if err != nil {
		return nil, err
	}
	page, next, err := paged(in.paging, plansUnasked, c.Action, found, func(p Plan) string { return p.ID })
	if err != nil {
		return nil, err
	}
	list := []any{}
	for _, p := range page {
		list = append(list, c.server.answer(p, c.At))
	}
	return withNext(map[string]any{"savingsPlans": list}, next), nil
}

func withNext(answer map[string]any, next string) map[string]any {
	if next != "" {
		answer["nextToken"] = next
	}
	return answer
}

// arn names a plan, which is of no region.
func (s *Commitments) arn(p Plan) string {
	return s.Settings.ARN("savingsplans", "", "savingsplan/"+p.ID)
}

func (s *Commitments) answer(p Plan, now time.Time) map[string]any {
	shown := map[string]any{
		"savingsPlanId": p.ID, "savingsPlanArn": s.arn(p), "savingsPlanType": p.Type, "productTypes": p.productTypes(),
		"commitment": p.commitment(), "currency": "USD", "start": world.ImageTime(p.StartsAt),
		"end":   world.ImageTime(p.EndsAt),
		"state": p.term().state(now), "termDurationInSeconds": p.term().seconds(),
		"paymentOption": paymentOption, "upfrontPaymentAmount": upfront,
		"recurringPaymentAmount": p.commitment(),
	}
	if p.Family != "" {
		shown["ec2InstanceFamily"] = p.Family
	}
	if p.Region != "" {
		shown["region"] = p.Region
	}
	return shown
}
