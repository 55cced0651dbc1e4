package commitment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/savingsplans"
	"github.com/aws/aws-sdk-go-v2/service/savingsplans/types"

	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/quantity"
)

// pageMost is how many results Savings Plans gives at a time, at most.
const pageMost = 1000

func (r Reader) results() *int32 { return aws.Int32(cmp.Or(r.perPage, pageMost)) }

// errNoEndpoint says that Savings Plans cannot be asked for.
var errNoEndpoint = errors.New("the endpoint of Savings Plans is used for commercial Regions alone, and not in an " +
	"isolated VPC; list them by hand, see docs/tasks/commitments.md")

// plans reads Savings Plans that pay, with their rates, sorted by ID.
func (r Reader) plans(ctx context.Context) ([]commitment.SavingsPlan, map[string]time.Time, error) {
	if r.Plans == nil {
		return nil, nil, errNoEndpoint
	}
	list, err := r.listed(ctx)
	if err != nil {
		return nil, nil, err
	}
	all, ends := make([]commitment.SavingsPlan, 0, len(list)), map[string]time.Time{}
	for i := range list {
		plan, end, err := r.plan(ctx, &list[i])
		if err != nil {
			return nil, nil, err
		}
		all, ends[plan.ID] = append(all, plan), end
	}
	slices.SortFunc(all, func(a, b commitment.SavingsPlan) int { return cmp.Compare(a.ID, b.ID) })
	return all, ends, nil
}

// listed are the plans that may pay for nodes of the cluster, in AWS's order.
func (r Reader) listed(ctx context.Context) (all []types.SavingsPlan, err error) {
	in := &savingsplans.DescribeSavingsPlansInput{
		States: []types.SavingsPlanState{types.SavingsPlanStateActive}, MaxResults: r.results(),
	}
	for {
		page, err := r.page(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, p := range page.SavingsPlans {
			if r.pays(&p) {
				all = append(all, p)
			}
		}
		if in.NextToken = page.NextToken; aws.ToString(in.NextToken) == "" {
			return all, nil
		}
	}
}

// answersWithin is how long a page of Savings Plans may take: their endpoint is on the internet, which a VPC may not
// reach, and a start waits for it.
const answersWithin = 10 * time.Second

func (r Reader) page(ctx context.Context, in *savingsplans.DescribeSavingsPlansInput) (
	*savingsplans.DescribeSavingsPlansOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	page, err := r.Plans.DescribeSavingsPlans(ctx, in)
	return page, fault.Wrap(ActionPlans, err)
}

// pays reports whether the plan may pay for nodes of the cluster. EC2 Instance Savings Plans are of one Region.
func (r Reader) pays(p *types.SavingsPlan) bool {
	if p.State != types.SavingsPlanStateActive || p.Currency != types.CurrencyCodeUsd {
		return false
	}
	return p.SavingsPlanType == types.SavingsPlanTypeCompute ||
		p.SavingsPlanType == types.SavingsPlanTypeEc2Instance && aws.ToString(p.Region) == r.Region
}

func (r Reader) plan(ctx context.Context, p *types.SavingsPlan) (out commitment.SavingsPlan, end time.Time, err error) {
	out = commitment.SavingsPlan{ID: aws.ToString(p.SavingsPlanId), Account: true}
	if p.SavingsPlanType == types.SavingsPlanTypeEc2Instance {
		if out.Family = aws.ToString(p.Ec2InstanceFamily); out.Family == "" {
			return out, end, fmt.Errorf("read Savings Plan %s: it names no instance family", out.ID)
		}
	}
	if out.Commitment, err = dollars(p.Commitment); err != nil {
		return out, end, fmt.Errorf("read the commitment of Savings Plan %s: %w", out.ID, err)
	}
	if end, err = time.Parse(time.RFC3339, aws.ToString(p.End)); err != nil {
		return out, end, fmt.Errorf("read when Savings Plan %s ends: %w", out.ID, err)
	}
	out.Rates, err = r.rates(ctx, out.ID)
	return out, end.UTC(), err
}

// dollars reads an amount of dollars an hour as AWS writes it, "0.126".
func dollars(text *string) (quantity.MicroUSDPerHour, error) {
	usd, err := strconv.ParseFloat(aws.ToString(text), 64)
	if err == nil && !(usd >= 0) {
		err = fmt.Errorf("%q is no amount of dollars", aws.ToString(text))
	}
	return quantity.USDPerHour(usd), err
}

// rates reads what an hour costs by the plan, by instance type, of instances on Linux with default tenancy in the
// Region.
func (r Reader) rates(ctx context.Context, plan string) (map[string]quantity.MicroUSDPerHour, error) {
	out := map[string]quantity.MicroUSDPerHour{}
	in := &savingsplans.DescribeSavingsPlanRatesInput{SavingsPlanId: &plan, MaxResults: r.results(),
		Filters: []types.SavingsPlanRateFilter{
			{Name: types.SavingsPlanRateFilterNameRegion, Values: []string{r.Region}},
			{Name: types.SavingsPlanRateFilterNameProductDescription, Values: []string{"Linux/UNIX"}},
			{Name: types.SavingsPlanRateFilterNameTenancy, Values: []string{"shared"}},
		}}
	for {
		page, err := r.Plans.DescribeSavingsPlanRates(ctx, in)
		if err != nil {
			return nil, fault.Wrap(ActionRates, err)
		}
		for i := range page.SearchResults {
			of := &page.SearchResults[i]
			instanceType, runs := runsOn(of)
			if !runs {
				continue
			}
			if out[instanceType], err = dollars(of.Rate); err != nil {
				return nil, fmt.Errorf("read the rate of Savings Plan %s for %s: %w", plan, instanceType, err)
			}
		}
		if in.NextToken = page.NextToken; aws.ToString(in.NextToken) == "" {
			return out, nil
		}
	}
}

// runsOn is the instance type whose hours a rate is for; ok is false for rates of something else, as unused capacity
// reservations. Usage of instances that run has a type such as BoxUsage:m5.large, with the Region before it in most:
// EUW1-BoxUsage:m5.large.
func runsOn(r *types.SavingsPlanRate) (instanceType string, ok bool) {
	for _, p := range r.Properties {
		if p.Name == types.SavingsPlanRatePropertyKeyInstanceType {
			instanceType = aws.ToString(p.Value)
		}
	}
	box := strings.Contains(aws.ToString(r.UsageType), "BoxUsage:") && r.Unit == types.SavingsPlanRateUnitHours
	return instanceType, box && instanceType != "" && r.Currency == types.CurrencyCodeUsd
}
