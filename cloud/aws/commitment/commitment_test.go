package commitment

import (
	"context"
	"net/http/httptest"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/savingsplans"

	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/test/emulator"
	emulated "github.com/daemok/daemok/test/emulator/commitment"
	"github.com/daemok/daemok/test/emulator/world"
)

// AWS excepts bare metal, families with accelerators and others from size flexibility.
func TestFlexible(t *testing.T) {
	for instanceType, want := range map[string]bool{
		"m5.large": true, "c7g.16xlarge": true, "t3.nano": true, "x2idn.16xlarge": true, "g3.4xlarge": true,
		"p3.2xlarge": true, "m5.metal": false, "c7i.metal-24xl": false, "g4dn.xlarge": false, "g6e.xlarge": false,
		"gr6.4xlarge": false, "p5.48xlarge": false, "inf1.xlarge": false, "trn1.2xlarge": false,
		"hpc7g.4xlarge": false, "u-6tb1.metal": false, "u7i-12tb.224xlarge": false, "dl1.24xlarge": false,
	} {
		if got := flexible(instanceType); got != want {
			t.Errorf("flexible(%s) = %v, want %v", instanceType, got, want)
		}
	}
}

// account has Reserved Instances, and an endpoint of Savings Plans that cannot be reached.
type account struct{ *savingsplans.Client }

func (account) DescribeReservedInstances(
	context.Context, *ec2.DescribeReservedInstancesInput, ...func(*ec2.Options),
) (*ec2.DescribeReservedInstancesOutput, error) {
	return &ec2.DescribeReservedInstancesOutput{ReservedInstances: []types.ReservedInstances{{
		ReservedInstancesId: aws.String("r-1"), InstanceType: types.InstanceTypeM5Large, InstanceCount: aws.Int32(2),
		State: types.ReservedInstanceStateActive, InstanceTenancy: types.TenancyDefault, Scope: types.ScopeRegional,
		ProductDescription: types.RIProductDescriptionLinuxUnix,
	}}}, nil
}

func (account) DescribeInstances(
	context.Context, *ec2.DescribeInstancesInput, ...func(*ec2.Options),
) (*ec2.DescribeInstancesOutput, error) {
	return &ec2.DescribeInstancesOutput{}, nil
}

func (account) DescribeSavingsPlans(
	ctx context.Context, _ *savingsplans.DescribeSavingsPlansInput, _ ...func(*savingsplans.Options),
) (*savingsplans.DescribeSavingsPlansOutput, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// SC-634: An endpoint that does not answer is waited for no longer than a start can, and the rest is read.
func TestAnEndpointThatDoesNotAnswerIsNotWaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, began := &Book{}, time.Now()
		err := b.Refresh(t.Context(), Reader{EC2: account{}, Plans: account{}, Region: "us-east-1",
			Own:   func(map[string]string) bool { return false },
			Price: func(string) quantity.MicroUSDPerHour { return 1 },
		}, func(err error) { t.Errorf("a warning: %v", err) })
		if took := time.Since(began); err == nil || took != answersWithin {
			t.Errorf("after %v: %v, want an error after %v", took, err, answersWithin)
		}
		if now := b.Now(); len(now.Reserved) != 1 || !now.Reserved[0].Flexible || !now.MayBeReadSoon() {
			t.Errorf("read are %+v, want the Reserved Instances, and that something is not read", now)
		}
	})
}

// SC-630: Savings Plans and their rates come in pages, and the rates of Compute Savings Plans are of all Regions.
func TestSavingsPlansComeInPages(t *testing.T) {
	server := emulator.New(world.Options{Account: world.Account{ClusterName: "prod"}, Seed: 1, Now: time.Now})
	web := httptest.NewServer(server)
	t.Cleanup(func() { server.Close(); web.Close() })
	for range 3 {
		server.AddSavingsPlan(emulated.Plan{
			Type: emulated.EC2Instance, Family: "m5", Region: "eu-west-1", CommitmentUSD: 1, Discount: 0.5})
	}
	server.AddSavingsPlan(emulated.Plan{CommitmentUSD: 1, Discount: 0.5})
	r := Reader{Region: "eu-west-1",
		Plans: savingsplans.NewFromConfig(client.At(web.URL, "us-east-1", client.Key{ID: "test", Secret: "secret"}))}
	whole, _, err := r.plans(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range whole {
		if got := p.Rates["m5.large"]; got != 53_500 { // half of what it costs there: in us-east-1 it is $0.096
			t.Errorf("the rate of a plan for m5.large is %v, want half of $0.107", got)
		}
	}
	r.perPage = 3
	whole = slices.DeleteFunc(whole, func(p commitment.SavingsPlan) bool { return p.Family == "" }) // of many pages
	before := server.Calls()
	var paged []commitment.SavingsPlan
	for _, p := range whole {
		rates, err := r.rates(t.Context(), p.ID)
		if err != nil {
			t.Fatal(err)
		}
		p.Rates = rates
		paged = append(paged, p)
	}
	if calls := server.Calls()["DescribeSavingsPlanRates"] - before["DescribeSavingsPlanRates"]; calls < 6 {
		t.Errorf("rates came in %d pages, want more than one of each of three plans", calls)
	}
	if len(paged) != 3 || !reflect.DeepEqual(paged, whole) {
		t.Errorf("in pages plans are\n%+v\nwant\n%+v", paged, whole)
	}
	r.perPage = 1
	all, err := r.listed(t.Context())
	if err != nil || len(all) != 4 {
		t.Errorf("one to a page there are %d plans, %v; want four", len(all), err)
	}
}
