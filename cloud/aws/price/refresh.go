package price

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/pricing/types"

	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/core/quantity"
)

// commercial begins the names of the regions that AWS's usual price list has; those of
// other partitions, as GovCloud and the European Sovereign Cloud, it does not.
var commercial = []string{"us-", "ca-", "mx-", "sa-", "eu-", "af-", "il-", "me-", "ap-"}

// EndpointRegion is the region that answers the Pricing API for instances in the given one;
// only a few do. It is empty where prices cannot be asked for.
func EndpointRegion(region string) string {
	begins := func(with string) bool { return strings.HasPrefix(region, with) }
	switch {
	case begins("cn-"):
		return "cn-northwest-1"
	case begins("us-gov-"), begins("us-iso"), begins("eu-iso"), !slices.ContainsFunc(commercial, begins):
		return ""
	case begins("ap-"):
		return "ap-south-1"
	case begins("eu-"):
		return "eu-central-1"
	}
	return "us-east-1"
}

// PlansRegion is the region that answers for the Savings Plans of an account with a cluster in the given one: AWS has
// one global endpoint for them, savingsplans.amazonaws.com, whose calls are signed for us-east-1. It is empty outside
// of the partition of commercial Regions, where they are not asked for.
func PlansRegion(region string) string {
	if at := EndpointRegion(region); at == "" || strings.HasPrefix(at, "cn-") {
		return ""
	}
	return "us-east-1"
}

// RefreshOnDemand reads the on-demand prices of a region: shared instances, those of
// dedicated tenancy and bare metal in three streams. What one stream brought is kept if
// another fails, and entries that cannot be read are left out and counted: one that AWS
// wrote differently does not hide the prices of all the others. A stream of which nothing
// can be read is an error, as is a region without instances.
func (b *Book) RefreshOnDemand(ctx context.Context, api pricing.GetProductsAPIClient, region string) (Unread, error) {
	shared := filters("regionCode", region, "tenancy", "Shared", "productFamily", "Compute Instance")
	alone := filters("regionCode", region, "tenancy", "Dedicated", "productFamily", "Compute Instance")
	metal := filters("regionCode", region, "tenancy", "Dedicated", "productFamily", "Compute Instance (bare metal)")
	var unread Unread
	entries, err := b.readProducts(ctx, api, region, shared, b.setOnDemand, &unread)
	if err == nil && entries == 0 {
		err = errors.New("pricing:GetProducts returned no instance of shared tenancy; the prices known before are kept")
	}
	_, metalErr := b.readProducts(ctx, api, region, metal, b.setOnDemand, &unread) // a region may have none
	_, aloneErr := b.readProducts(ctx, api, region, alone, b.setDedicated, &unread)
	return unread, errors.Join(err, metalErr, aloneErr)
}

// readProducts reads one stream and returns how many entries it had.
func (b *Book) readProducts(ctx context.Context, api pricing.GetProductsAPIClient, region string, f []types.Filter, set func(map[string]quantity.MicroUSDPerHour), all *Unread) (entries int, err error) {
	var unread Unread
	prices := map[string]quantity.MicroUSDPerHour{}
	defer func() { // whatever happens, what was read counts
		set(prices)
		all.merge(unread)
	}()
	pages := pricing.NewGetProductsPaginator(api, &pricing.GetProductsInput{
		ServiceCode: aws.String("AmazonEC2"), Filters: f, MaxResults: aws.Int32(100),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return entries, fault.Wrap("pricing:GetProducts", err)
		}
		entries += len(page.PriceList)
		for _, text := range page.PriceList {
			kind, dollars, err := parseProduct(text, currency(region))
			if err != nil {
				unread.add(text, err)
				continue
			}
			if kind != "" && dollars > 0 {
				prices[kind] = quantity.USDPerHour(dollars)
			}
		}
	}
	if entries > 0 && unread.Entries == entries {
		return entries, fmt.Errorf("pricing:GetProducts: %w; the prices known before are kept", unread.Err())
	}
	return entries, nil
}

// RefreshSpot reads the present spot price of every pool: the last change before now, and none
// after, whatever AWS's clock says.
func (b *Book) RefreshSpot(ctx context.Context, api ec2.DescribeSpotPriceHistoryAPIClient, now time.Time) error {
	prices := map[pool]quantity.MicroUSDPerHour{}
	newest := map[pool]time.Time{}
	pages := ec2.NewDescribeSpotPriceHistoryPaginator(api, &ec2.DescribeSpotPriceHistoryInput{
		ProductDescriptions: []string{"Linux/UNIX", "Linux/UNIX (Amazon VPC)"}, StartTime: aws.Time(now), EndTime: aws.Time(now),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fault.Wrap("ec2:DescribeSpotPriceHistory", err)
		}
		for _, row := range page.SpotPriceHistory {
			takeSpot(prices, newest, row)
		}
	}
	if len(prices) == 0 {
		return errors.New("ec2:DescribeSpotPriceHistory answered without a single price; what was known is kept")
	}
	b.setSpot(prices)
	return nil
}

// takeSpot keeps the newest row of a pool.
func takeSpot(prices map[pool]quantity.MicroUSDPerHour, newest map[pool]time.Time, row ec2types.SpotPrice) {
	dollars, err := strconv.ParseFloat(aws.ToString(row.SpotPrice), 64)
	if err != nil || dollars <= 0 {
		return
	}
	p := pool{string(row.InstanceType), aws.ToString(row.AvailabilityZone)}
	at := aws.ToTime(row.Timestamp)
	if _, seen := prices[p]; seen && !at.After(newest[p]) {
		return
	}
	prices[p], newest[p] = quantity.USDPerHour(dollars), at
}

func currency(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return "CNY"
	}
	return "USD"
}

func filters(pairs ...string) []types.Filter {
	pairs = append(pairs, "preInstalledSw", "NA", "operatingSystem", "Linux",
		"capacitystatus", "Used", "marketoption", "OnDemand")
	var out []types.Filter
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, types.Filter{Type: types.FilterTypeTermMatch, Field: aws.String(pairs[i]), Value: aws.String(pairs[i+1])})
	}
	return out
}
