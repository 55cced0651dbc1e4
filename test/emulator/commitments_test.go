package emulator_test

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/savingsplans"
	plantypes "github.com/aws/aws-sdk-go-v2/service/savingsplans/types"

	"github.com/daemok/daemok/test/emulator/commitment"
	"github.com/daemok/daemok/test/emulator/faults"
	"github.com/daemok/daemok/test/market"
)

// reserved are the IDs of the Reserved Instances that pass filters.
func (a *account) reserved(pairs ...string) (ids []string) {
	a.Helper()
	out, err := a.ec2.DescribeReservedInstances(context.Background(),
		&ec2.DescribeReservedInstancesInput{Filters: filters(pairs...)})
	a.must(err)
	for _, r := range out.ReservedInstances {
		ids = append(ids, *r.ReservedInstancesId)
	}
	return ids
}

// "When you purchase a Reserved Instance, you determine the scope: regional or zonal." "The offering class of a
// Reserved Instance is either Standard or Convertible."
func TestReservedInstances(t *testing.T) {
	a := open(t, noLags)
	if got := a.reserved(); len(got) != 0 {
		t.Fatalf("an account without any has %v", got)
	}
	regional := a.server.AddReservedInstances(commitment.ReservedInstances{Type: "m5.large", Count: 4})
	zonal := a.server.AddReservedInstances(commitment.ReservedInstances{
		Type: "c5.xlarge", Count: 1, Zone: "us-east-1a", Platform: "Windows", Dedicated: true, Convertible: true,
		EndsAt: a.Now().Add(48 * time.Hour),
	})
	queued := a.server.AddReservedInstances(commitment.ReservedInstances{Type: "m5.large", Count: 2,
		StartsAt: a.Now().Add(time.Hour)})
	out, err := a.ec2.DescribeReservedInstances(t.Context(),
		&ec2.DescribeReservedInstancesInput{ReservedInstancesIds: []string{regional, zonal}})
	a.must(err)
	one, other := out.ReservedInstances[0], out.ReservedInstances[1]
	if one.InstanceType != "m5.large" || *one.InstanceCount != 4 || one.AvailabilityZone != nil ||
		one.Scope != types.ScopeRegional ||
		one.State != types.ReservedInstanceStateActive || one.ProductDescription != "Linux/UNIX" ||
		one.InstanceTenancy != types.TenancyDefault ||
		one.OfferingClass != types.OfferingClassTypeStandard || one.CurrencyCode != types.CurrencyCodeValuesUsd ||
		!one.Start.Equal(a.Now()) || *one.Duration != 31536000 || !one.End.Equal(a.Now().Add(31536000*time.Second)) {
		t.Errorf("the regional ones are %+v", one)
	}
	if charge := *one.RecurringCharges[0].Amount; *one.FixedPrice != 0 || charge <= 0 || charge >= 0.096 {
		t.Errorf("they cost %v an hour, and %v at once; want less than the 0.096 on demand, and nothing at once",
			charge, *one.FixedPrice)
	}
	if *other.AvailabilityZone != "us-east-1a" || other.Scope != types.ScopeAvailabilityZone ||
		other.ProductDescription != "Windows" ||
		other.InstanceTenancy != types.TenancyDedicated ||
		other.OfferingClass != types.OfferingClassTypeConvertible || *other.Duration != 48*3600 {
		t.Errorf("the zonal ones are %+v", other)
	}
	for name, tt := range map[string]struct{ filter, want []string }{
		"by state":    {[]string{"state", "active"}, []string{regional, zonal}},
		"by platform": {[]string{"product-description", "Linux/UNIX"}, []string{regional, queued}},
		"by scope":    {[]string{"scope", "Availability Zone"}, []string{zonal}},
		"by type":     {[]string{"instance-type", "m5.*", "state", "queued"}, []string{queued}},
		"by zone":     {[]string{"availability-zone", "us-east-1b"}, nil},
	} {
		if got := a.reserved(tt.filter...); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	byClass, err := a.ec2.DescribeReservedInstances(t.Context(),
		&ec2.DescribeReservedInstancesInput{OfferingClass: types.OfferingClassTypeConvertible})
	a.must(err)
	if len(byClass.ReservedInstances) != 1 || *byClass.ReservedInstances[0].ReservedInstancesId != zonal {
		t.Errorf("convertible are %v, want %s alone", byClass.ReservedInstances, zonal)
	}

	a.must(a.server.Forward(49 * time.Hour))
	if got := a.reserved("state", "active"); !slices.Equal(got, []string{regional, queued}) {
		t.Errorf("two days later %v are active, want those that have not ended and those that were queued", got)
	}
	if got := a.reserved("state", "retired"); !slices.Equal(got, []string{zonal}) {
		t.Errorf("two days later %v are retired, want %s", got, zonal)
	}
}

// What calls for Reserved Instances are refused for.
func TestReservedInstancesAreRefused(t *testing.T) {
	a := open(t, noLags)
	describe := func(in *ec2.DescribeReservedInstancesInput) string {
		_, err := a.ec2.DescribeReservedInstances(t.Context(), in)
		return code(err)
	}
	unknown := []string{"f127bd27-edb7-44c9-a0eb-0d7e09259af0"}
	got := describe(&ec2.DescribeReservedInstancesInput{ReservedInstancesIds: unknown})
	if got != "InvalidReservedInstancesId" {
		t.Errorf("an unknown ID: %q", got)
	}
	colour := filters("colour", "blue")
	if got := describe(&ec2.DescribeReservedInstancesInput{Filters: colour}); got != "InvalidParameterValue" {
		t.Errorf("an unknown filter: %q", got)
	}
	if got := describe(&ec2.DescribeReservedInstancesInput{DryRun: aws.Bool(true)}); got != "DryRunOperation" {
		t.Errorf("a dry run: %q", got)
	}
	a.must(a.server.AddFault(faults.Fault{Action: "DescribeReservedInstances", Code: "RequestLimitExceeded"}))
	if got := describe(&ec2.DescribeReservedInstancesInput{}); got != "RequestLimitExceeded" {
		t.Errorf("a throttled call: %q", got)
	}
	a.server.Deny("DescribeReservedInstances")
	if got := describe(&ec2.DescribeReservedInstancesInput{}); got != "UnauthorizedOperation" {
		t.Errorf("without the right: %q", got)
	}
}

// plans lists the plans that a request asks for, and how many pages they came in.
func (a *account) plans(in savingsplans.DescribeSavingsPlansInput) (all []plantypes.SavingsPlan, pages int) {
	a.Helper()
	client := savingsplans.NewFromConfig(a.config)
	for {
		out, err := client.DescribeSavingsPlans(context.Background(), &in)
		a.must(err)
		all, pages = append(all, out.SavingsPlans...), pages+1
		if in.NextToken = out.NextToken; in.NextToken == nil {
			return all, pages
		}
	}
}

// rates lists the rates of a plan that pass filters, by region, type and tenancy, and how many pages they came in.
func (a *account) rates(
	plan string, size *int32, filters ...plantypes.SavingsPlanRateFilter,
) (byKey map[string]float64, pages int) {
	a.Helper()
	byKey = map[string]float64{}
	client := savingsplans.NewFromConfig(a.config)
	in := &savingsplans.DescribeSavingsPlanRatesInput{SavingsPlanId: &plan, Filters: filters, MaxResults: size}
	for {
		out, err := client.DescribeSavingsPlanRates(context.Background(), in)
		a.must(err)
		for _, r := range out.SearchResults {
			properties := map[string]string{}
			for _, p := range r.Properties {
				properties[string(p.Name)] = *p.Value
			}
			if r.Unit != plantypes.SavingsPlanRateUnitHours || r.ProductType != plantypes.SavingsPlanProductTypeEc2 ||
				r.Currency != plantypes.CurrencyCodeUsd ||
				properties["productDescription"] != "Linux/UNIX" {
				a.Fatalf("a rate is %+v of %v", r, properties)
			}
			key := properties["region"] + " " + properties["instanceType"] + " " + properties["tenancy"]
			usd, err := strconv.ParseFloat(*r.Rate, 64)
			a.must(err)
			if _, twice := byKey[key]; twice {
				a.Fatalf("%s came twice", key)
			}
			byKey[key] = usd
		}
		if pages++; out.NextToken == nil {
			return byKey, pages
		}
		in.NextToken = out.NextToken
	}
}

func rateFilter(name plantypes.SavingsPlanRateFilterName, values ...string) plantypes.SavingsPlanRateFilter {
	return plantypes.SavingsPlanRateFilter{Name: name, Values: values}
}

// "Compute Savings Plans apply regardless of instance family, size, zone, region, operating system or tenancy. EC2
// Instance Savings Plans apply to one instance family in a region."
func TestSavingsPlans(t *testing.T) {
	a := open(t, noLags)
	if got, _ := a.plans(savingsplans.DescribeSavingsPlansInput{}); len(got) != 0 {
		t.Fatalf("an account without any has %v", got)
	}
	compute := a.server.AddSavingsPlan(commitment.Plan{CommitmentUSD: 1.5})
	family := a.server.AddSavingsPlan(commitment.Plan{Type: commitment.EC2Instance, Family: "m5", CommitmentUSD: 0.25,
		EndsAt: a.Now().Add(48 * time.Hour)})
	learning := a.server.AddSavingsPlan(commitment.Plan{Type: commitment.SageMaker, CommitmentUSD: 2})
	queued := a.server.AddSavingsPlan(commitment.Plan{CommitmentUSD: 3, StartsAt: a.Now().Add(time.Hour)})
	shown := func(in savingsplans.DescribeSavingsPlansInput) map[string]plantypes.SavingsPlan {
		t.Helper()
		byID := map[string]plantypes.SavingsPlan{}
		all, _ := a.plans(in)
		for _, p := range all {
			byID[*p.SavingsPlanId] = p
		}
		return byID
	}
	all := shown(savingsplans.DescribeSavingsPlansInput{})
	if p := all[compute]; *p.SavingsPlanArn != "arn:aws:savingsplans::123456789012:savingsplan/"+compute ||
		p.State != plantypes.SavingsPlanStateActive ||
		p.SavingsPlanType != plantypes.SavingsPlanTypeCompute || *p.Commitment != "1.5" ||
		p.Currency != plantypes.CurrencyCodeUsd ||
		p.Region != nil || p.Ec2InstanceFamily != nil || p.TermDurationInSeconds != 31536000 ||
		*p.Start != "2026-11-21T12:00:00.000Z" || *p.End != "2027-11-21T12:00:00.000Z" {
		t.Errorf("the compute plan is %+v", p)
	}
	if p := all[family]; p.SavingsPlanType != plantypes.SavingsPlanTypeEc2Instance || *p.Region != "us-east-1" ||
		*p.Ec2InstanceFamily != "m5" {
		t.Errorf("the plan of a family is %+v", p)
	}
	states := func(s ...plantypes.SavingsPlanState) savingsplans.DescribeSavingsPlansInput {
		return savingsplans.DescribeSavingsPlansInput{States: s}
	}
	filtered := func(name plantypes.SavingsPlansFilterName, values ...string) savingsplans.DescribeSavingsPlansInput {
		by := []plantypes.SavingsPlanFilter{{Name: name, Values: values}}
		return savingsplans.DescribeSavingsPlansInput{Filters: by}
	}
	for name, tt := range map[string]struct {
		in   savingsplans.DescribeSavingsPlansInput
		want []string
	}{
		"active ones": {states(plantypes.SavingsPlanStateActive), []string{compute, family, learning}},
		"queued ones": {states(plantypes.SavingsPlanStateQueued, "retired"),
			[]string{queued}},
		"of a type": {filtered(plantypes.SavingsPlansFilterNameSavingsPlanType, "Compute", "SageMaker"),
			[]string{compute, learning, queued}},
		"of a region": {filtered(plantypes.SavingsPlansFilterNameRegion, "us-east-1"), []string{family}},
		"of a family": {filtered(plantypes.SavingsPlansFilterNameEc2InstanceFamily, "c5"), nil},
		"by their IDs": {savingsplans.DescribeSavingsPlansInput{SavingsPlanIds: []string{queued, "none"}},
			[]string{queued}},
		"by their ARNs": {savingsplans.DescribeSavingsPlansInput{SavingsPlanArns: []string{*all[family].SavingsPlanArn}},
			[]string{family}},
	} {
		got := shown(tt.in)
		if len(got) != len(tt.want) || slices.ContainsFunc(tt.want,
			func(id string) bool { return got[id].SavingsPlanId == nil }) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}

	a.must(a.server.Forward(49 * time.Hour))
	if got := shown(states("retired")); len(got) != 1 || got[family].End == nil {
		t.Errorf("two days later %v are retired, want %s", got, family)
	}
	if got := shown(states(plantypes.SavingsPlanStateActive)); len(got) != 3 || got[queued].End == nil {
		t.Errorf("two days later %v are active, want those that have not ended and the one that was queued", got)
	}
}

// The rates of a plan are for what it covers, and stay as they are when prices change.
func TestSavingsPlanRates(t *testing.T) {
	a := open(t, noLags)
	compute := a.server.AddSavingsPlan(commitment.Plan{CommitmentUSD: 1, Discount: 0.25})
	family := a.server.AddSavingsPlan(commitment.Plan{Type: commitment.EC2Instance, Family: "m5", CommitmentUSD: 1,
		Discount: 0.5})
	learning := a.server.AddSavingsPlan(commitment.Plan{Type: commitment.SageMaker, CommitmentUSD: 1})

	here := rateFilter(plantypes.SavingsPlanRateFilterNameRegion, "us-east-1")
	large := rateFilter(plantypes.SavingsPlanRateFilterNameInstanceType, "m5.large", "c5.large")
	shared := rateFilter(plantypes.SavingsPlanRateFilterNameTenancy, "shared")
	got, _ := a.rates(compute, nil, here, large, shared)
	if len(got) != 2 || math.Abs(got["us-east-1 m5.large shared"]-0.096*0.75) > 1e-6 ||
		math.Abs(got["us-east-1 c5.large shared"]-0.085*0.75) > 1e-6 {
		t.Errorf("a quarter off the prices on demand are %v", got)
	}
	a.server.Market().SetPrice(market.Pool{Kind: "m5.large", Zone: "us-east-1a", Option: market.OnDemand}, 5)
	later, _ := a.rates(compute, nil, here, large, shared)
	if !maps.Equal(later, got) {
		t.Errorf("when the price on demand has changed they are %v, want them as they were", later)
	}
	everywhere, _ := a.rates(compute, nil, rateFilter(plantypes.SavingsPlanRateFilterNameInstanceType, "m5.large"))
	if len(everywhere) < 10 || everywhere["eu-west-1 m5.large shared"] == 0 ||
		everywhere["us-east-1 m5.large dedicated"] <= got["us-east-1 m5.large shared"] {
		t.Errorf("rates of m5.large are %v, want those of all regions and tenancies", everywhere)
	}
	ofFamily, _ := a.rates(family, nil, shared)
	if len(ofFamily) < 8 || math.Abs(ofFamily["us-east-1 m5.large shared"]-0.048) > 1e-6 ||
		ofFamily["us-east-1 m5d.large shared"] != 0 || ofFamily["eu-west-1 m5.large shared"] != 0 {
		t.Errorf("rates of family m5 are %v, want those of its types in its region", ofFamily)
	}
	if none, _ := a.rates(learning, nil); len(none) != 0 {
		t.Errorf("a plan of SageMaker has rates of EC2: %v", none)
	}
	if none, _ := a.rates(compute, nil, here, large,
		rateFilter(plantypes.SavingsPlanRateFilterNameProductDescription, "Windows")); len(none) != 0 {
		t.Errorf("there are rates of Windows: %v", none)
	}

	whole, pages := a.rates(compute, aws.Int32(1000), here)
	unasked, more := a.rates(compute, nil, here)
	if len(whole) < 1000 || pages != (len(whole)+999)/1000 || len(unasked) != len(whole) ||
		more != (len(whole)+99)/100 {
		t.Errorf("%d rates came in %d pages, and %d in %d; want pages of a thousand, and of a hundred unless asked for",
			len(whole), pages, len(unasked), more)
	}
}

// "NextToken: the token for the next page of results."
func TestSavingsPlansComeInPages(t *testing.T) {
	a := open(t, noLags)
	var ids []string
	for range 25 {
		ids = append(ids, a.server.AddSavingsPlan(commitment.Plan{CommitmentUSD: 1}))
	}
	for size, want := range map[int32]int{0: 3, 7: 4, 1000: 1} {
		in := savingsplans.DescribeSavingsPlansInput{}
		if size > 0 {
			in.MaxResults = &size
		}
		all, pages := a.plans(in)
		seen := map[string]bool{}
		for _, p := range all {
			seen[*p.SavingsPlanId] = true
		}
		if len(all) != 25 || len(seen) != 25 || pages != want {
			t.Errorf("in pages of %d: %d plans, %d of them different, in %d pages; want 25 in %d", size, len(all),
				len(seen), pages, want)
		}
	}

	client := savingsplans.NewFromConfig(a.config)
	list := func(in savingsplans.DescribeSavingsPlansInput) (*savingsplans.DescribeSavingsPlansOutput, error) {
		return client.DescribeSavingsPlans(t.Context(), &in)
	}
	rates := func(plan string, token *string) (*savingsplans.DescribeSavingsPlanRatesOutput, error) {
		return client.DescribeSavingsPlanRates(t.Context(),
			&savingsplans.DescribeSavingsPlanRatesInput{SavingsPlanId: &plan, NextToken: token})
	}
	first, err := rates(ids[0], nil)
	a.must(err)
	_, invented := list(savingsplans.DescribeSavingsPlansInput{NextToken: aws.String("2")})
	_, many := list(savingsplans.DescribeSavingsPlansInput{MaxResults: aws.Int32(1001)})
	_, none := list(savingsplans.DescribeSavingsPlansInput{MaxResults: aws.Int32(0)})
	_, state := list(savingsplans.DescribeSavingsPlansInput{States: []plantypes.SavingsPlanState{"expired"}})
	colour := []plantypes.SavingsPlanFilter{{Name: "colour", Values: []string{"blue"}}}
	_, filter := list(savingsplans.DescribeSavingsPlansInput{Filters: colour})
	_, another := rates(ids[1], first.NextToken)
	_, unknown := rates("f127bd27-edb7-44c9-a0eb-0d7e09259af0", nil)
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"an invented token":       {invented, "ValidationException"},
		"a token of another plan": {another, "ValidationException"},
		"a page too large":        {many, "ValidationException"},
		"a page of nothing":       {none, "ValidationException"},
		"an unknown state":        {state, "ValidationException"},
		"an unknown filter":       {filter, "ValidationException"},
		"an unknown plan":         {unknown, "ResourceNotFoundException"},
	} {
		if code(tt.err) != tt.want {
			t.Errorf("%s: %q, want %s", name, code(tt.err), tt.want)
		}
	}
}

// Calls for Savings Plans fail as those of other services do.
func TestSavingsPlansFailAsOrdered(t *testing.T) {
	a := open(t, noLags)
	client := savingsplans.NewFromConfig(a.config)
	call := func() string {
		_, err := client.DescribeSavingsPlans(t.Context(), &savingsplans.DescribeSavingsPlansInput{})
		return code(err)
	}
	a.must(a.server.AddFault(faults.Fault{Action: "DescribeSavingsPlans", Code: "ThrottlingException"}))
	if got := call(); got != "ThrottlingException" {
		t.Errorf("a throttled call: %q", got)
	}
	if got := call(); got != "" {
		t.Errorf("the next call: %q", got)
	}
	a.server.Deny("DescribeSavingsPlans")
	if got := call(); got != "AccessDeniedException" {
		t.Errorf("without the right: %q", got)
	}
}

// An account that is exported keeps what it is committed to.
func TestCommitmentsSurviveARestart(t *testing.T) {
	a := open(t, noLags)
	id := a.server.AddReservedInstances(commitment.ReservedInstances{Type: "m5.large", Count: 4})
	plan := a.server.AddSavingsPlan(commitment.Plan{CommitmentUSD: 1.5})
	text, err := a.server.Export()
	a.must(err)
	b := open(t, noLags)
	a.must(b.server.Import(text))
	if got := b.reserved(); !slices.Equal(got, []string{id}) {
		t.Errorf("Reserved Instances are %v, want %s", got, id)
	}
	if got, _ := b.plans(savingsplans.DescribeSavingsPlansInput{}); len(got) != 1 || *got[0].SavingsPlanId != plan {
		t.Errorf("plans are %v, want %s", got, plan)
	}
}
