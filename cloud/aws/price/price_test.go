package price

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/pricing/types"

	"github.com/daemok/daemok/core/quantity"
)

// table holds on-demand prices; spot costs half.
type table map[string]float64

func (t table) OnDemandUSD(kind string) (float64, bool) { p, ok := t[kind]; return p, ok }
func (t table) SpotUSD(kind string) (float64, bool)     { p, ok := t[kind]; return p / 2, ok }

type products func(filters map[string]string, page string) (*pricing.GetProductsOutput, error)

func (f products) GetProducts(_ context.Context, in *pricing.GetProductsInput, _ ...func(*pricing.Options)) (*pricing.GetProductsOutput, error) {
	filters := map[string]string{}
	for _, x := range in.Filters {
		if x.Type != types.FilterTypeTermMatch {
			return nil, errors.New("only TERM_MATCH exists")
		}
		filters[aws.ToString(x.Field)] = aws.ToString(x.Value)
	}
	return f(filters, aws.ToString(in.NextToken))
}

type history func(*ec2.DescribeSpotPriceHistoryInput) (*ec2.DescribeSpotPriceHistoryOutput, error)

func (f history) DescribeSpotPriceHistory(_ context.Context, in *ec2.DescribeSpotPriceHistoryInput, _ ...func(*ec2.Options)) (*ec2.DescribeSpotPriceHistoryOutput, error) {
	return f(in)
}

func entry(kind, currency, amount string) string {
	return `{"product":{"attributes":{"instanceType":"` + kind + `"}},"terms":{"OnDemand":{"X.Y":{"priceDimensions":{"X.Y.Z":` +
		`{"unit":"Hrs","pricePerUnit":{"` + currency + `":"` + amount + `"}}}}}}}`
}

func wantOnDemand(t *testing.T, b *Book, kind string, want quantity.MicroUSDPerHour) {
	t.Helper()
	if got, ok := b.View().OnDemand(kind); got != want || ok != (want != 0) {
		t.Errorf("on-demand price of %s = %v, %v; want %v", kind, got, ok, want)
	}
}

func TestOnDemandComesFromBothStreams(t *testing.T) {
	b := New(table{"m5.large": 0.5, "old.type": 0.25})
	_, err := b.RefreshOnDemand(t.Context(), products(func(f map[string]string, page string) (*pricing.GetProductsOutput, error) {
		switch {
		case f["regionCode"] != "us-east-1" || f["operatingSystem"] != "Linux":
			return nil, errors.New("wrong filters")
		case f["tenancy"] == "Dedicated":
			return &pricing.GetProductsOutput{PriceList: []string{entry("m5.metal", "USD", "4.608")}}, nil
		case page == "":
			return &pricing.GetProductsOutput{PriceList: []string{entry("m5.large", "USD", "0.0960000000")}, NextToken: aws.String("2")}, nil
		}
		return &pricing.GetProductsOutput{PriceList: []string{entry("c5.large", "USD", "0.085"), entry("free.tier", "USD", "0.0")}}, nil
	}), "us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	wantOnDemand(t, b, "m5.large", 96000) // AWS's word counts before the table's
	wantOnDemand(t, b, "c5.large", 85000)
	wantOnDemand(t, b, "m5.metal", 4608000)
	wantOnDemand(t, b, "old.type", 250000) // the table fills in
	wantOnDemand(t, b, "free.tier", 0)     // unknown, not free
	wantOnDemand(t, b, "nobody.knows", 0)
}

func TestDedicatedInstancesHavePricesOfTheirOwn(t *testing.T) {
	b := New(table{"c5.large": 0.085})
	if _, err := b.RefreshOnDemand(t.Context(), products(func(f map[string]string, _ string) (*pricing.GetProductsOutput, error) {
		switch {
		case f["productFamily"] != "Compute Instance":
			return &pricing.GetProductsOutput{PriceList: []string{entry("m5.metal", "USD", "4.608")}}, nil
		case f["tenancy"] == "Dedicated":
			return &pricing.GetProductsOutput{PriceList: []string{entry("m5.large", "USD", "0.102"), entry("c5.large", "USD", "0.0")}}, nil
		}
		return &pricing.GetProductsOutput{PriceList: []string{entry("m5.large", "USD", "0.096")}}, nil
	}), "us-east-1"); err != nil {
		t.Fatal(err)
	}
	wantOnDemand(t, b, "m5.large", 96000)
	for kind, want := range map[string]quantity.MicroUSDPerHour{"m5.large": 102000, "c5.large": 85000, "m5.metal": 4608000, "nobody.knows": 0} {
		if got, known := b.View().Dedicated(kind); got != want || known != (want != 0) {
			t.Errorf("price of a dedicated %s = %v, %v; want %v", kind, got, known, want)
		}
	}
}

func TestChinaPaysInYuan(t *testing.T) {
	b := New(nil)
	_, err := b.RefreshOnDemand(t.Context(), products(func(map[string]string, string) (*pricing.GetProductsOutput, error) {
		return &pricing.GetProductsOutput{PriceList: []string{entry("m5.large", "CNY", "1.04")}}, nil
	}), "cn-north-1")
	if err != nil {
		t.Fatal(err)
	}
	wantOnDemand(t, b, "m5.large", 1040000)
}

func TestAFailureKeepsWhatIsKnown(t *testing.T) {
	b := New(table{"m5.large": 0.5})
	half := products(func(f map[string]string, page string) (*pricing.GetProductsOutput, error) {
		if page == "" && f["tenancy"] == "Shared" {
			return &pricing.GetProductsOutput{PriceList: []string{entry("c5.large", "USD", "0.085")}, NextToken: aws.String("2")}, nil
		}
		return nil, errors.New("connection reset")
	})
	if _, err := b.RefreshOnDemand(t.Context(), half, "us-east-1"); err == nil || !strings.Contains(err.Error(), "pricing:GetProducts") {
		t.Errorf("RefreshOnDemand = %v, want an error naming the call", err)
	}
	wantOnDemand(t, b, "c5.large", 85000)
	wantOnDemand(t, b, "m5.large", 500000)
	garbled := products(func(map[string]string, string) (*pricing.GetProductsOutput, error) {
		return &pricing.GetProductsOutput{PriceList: []string{"{"}}, nil
	})
	if _, err := b.RefreshOnDemand(t.Context(), garbled, "us-east-1"); err == nil {
		t.Error("a garbled answer was taken for none")
	}
	wantOnDemand(t, b, "c5.large", 85000)
}

func row(kind, zone, amount string, at time.Time) ec2types.SpotPrice {
	return ec2types.SpotPrice{InstanceType: ec2types.InstanceType(kind), AvailabilityZone: aws.String(zone),
		SpotPrice: aws.String(amount), Timestamp: aws.Time(at)}
}

func TestSpotTakesTheNewestRowOfEachPool(t *testing.T) {
	now := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	b := New(table{"m5.large": 0.096})
	if got, _ := b.View().Spot("m5.large", "us-east-1a"); got != 48000 {
		t.Errorf("before the history was read the price is %v, want the table's 48000", got)
	}
	before := b.View()
	err := b.RefreshSpot(t.Context(), history(func(in *ec2.DescribeSpotPriceHistoryInput) (*ec2.DescribeSpotPriceHistoryOutput, error) {
		if !aws.ToTime(in.StartTime).Equal(now) {
			return nil, errors.New("asked for more than the present")
		}
		if in.NextToken == nil {
			return &ec2.DescribeSpotPriceHistoryOutput{NextToken: aws.String("2"), SpotPriceHistory: []ec2types.SpotPrice{
				row("m5.large", "us-east-1a", "0.0300", now.Add(-time.Hour)), row("m5.large", "us-east-1b", "0.0400", now),
			}}, nil
		}
		return &ec2.DescribeSpotPriceHistoryOutput{SpotPriceHistory: []ec2types.SpotPrice{
			row("m5.large", "us-east-1a", "0.0310", now.Add(-time.Minute)), row("m5.large", "us-east-1a", "0.0290", now.Add(-2*time.Hour)),
		}}, nil
	}), now)
	if err != nil {
		t.Fatal(err)
	}
	for zone, want := range map[string]quantity.MicroUSDPerHour{"us-east-1a": 31000, "us-east-1b": 40000, "us-east-1c": 0} {
		if got, ok := b.View().Spot("m5.large", zone); got != want || ok != (want != 0) {
			t.Errorf("spot price in %s = %v, %v; want %v", zone, got, ok, want)
		}
	}
	if b.View().Seq == before.Seq {
		t.Error("the sequence number did not change with the prices")
	}
	if got, _ := before.Spot("m5.large", "us-east-1a"); got != 48000 {
		t.Errorf("a view taken before now says %v: it was written to", got)
	}
}

func TestTheSamePricesAreNoChange(t *testing.T) {
	b := New(nil)
	same := history(func(*ec2.DescribeSpotPriceHistoryInput) (*ec2.DescribeSpotPriceHistoryOutput, error) {
		return &ec2.DescribeSpotPriceHistoryOutput{SpotPriceHistory: []ec2types.SpotPrice{row("m5.large", "us-east-1a", "0.03", time.Time{})}}, nil
	})
	if err := b.RefreshSpot(t.Context(), same, time.Time{}); err != nil {
		t.Fatal(err)
	}
	seq := b.View().Seq
	if err := b.RefreshSpot(t.Context(), same, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if b.View().Seq != seq {
		t.Error("the sequence number changed though no price did")
	}
}

func TestAnEmptyHistoryIsNoAnswer(t *testing.T) {
	b := New(table{"m5.large": 0.096})
	err := b.RefreshSpot(t.Context(), history(func(*ec2.DescribeSpotPriceHistoryInput) (*ec2.DescribeSpotPriceHistoryOutput, error) {
		return &ec2.DescribeSpotPriceHistoryOutput{}, nil
	}), time.Time{})
	if err == nil {
		t.Error("an empty history was believed")
	}
	if _, ok := b.View().Spot("m5.large", "us-east-1a"); !ok {
		t.Error("an empty history made the table's price vanish")
	}
}

func TestEndpointRegion(t *testing.T) {
	for region, want := range map[string]string{"us-west-2": "us-east-1", "sa-east-1": "us-east-1", "ap-northeast-1": "ap-south-1",
		"eu-west-1": "eu-central-1", "cn-north-1": "cn-northwest-1", "us-gov-west-1": "", "us-iso-east-1": "",
		"eu-isoe-west-1": "", "eusc-de-east-1": "", "mx-central-1": "us-east-1"} {
		plans := "us-east-1"
		if want == "" || region == "cn-north-1" {
			plans = ""
		}
		if got := PlansRegion(region); got != plans {
			t.Errorf("PlansRegion(%s) = %q, want %q", region, got, plans)
		}
		if got := EndpointRegion(region); got != want {
			t.Errorf("EndpointRegion(%s) = %q, want %q", region, got, want)
		}
	}
}
