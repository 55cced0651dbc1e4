package emulator_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// "DescribeInstanceTypes: MaxResults 5 to 100; offerings 1000": every type and
// every offering comes once, in pages that keep to the caps.
func TestCatalogueComesInPages(t *testing.T) {
	a := open(t)
	seen := map[string]bool{}
	pages := ec2.NewDescribeInstanceTypesPaginator(a.ec2, &ec2.DescribeInstanceTypesInput{
		Filters: filters("supported-virtualization-type", "hvm", "processor-info.supported-architecture", "x86_64|arm64"),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		a.must(err)
		if len(page.InstanceTypes) > 100 {
			t.Errorf("a page of %d types, want at most 100", len(page.InstanceTypes))
		}
		for _, kind := range page.InstanceTypes {
			if seen[string(kind.InstanceType)] {
				t.Errorf("%s came twice", kind.InstanceType)
			}
			seen[string(kind.InstanceType)] = true
		}
	}
	zones := map[string]int{}
	offers := ec2.NewDescribeInstanceTypeOfferingsPaginator(a.ec2, &ec2.DescribeInstanceTypeOfferingsInput{LocationType: types.LocationTypeAvailabilityZone})
	for offers.HasMorePages() {
		page, err := offers.NextPage(context.Background())
		a.must(err)
		if len(page.InstanceTypeOfferings) > 1000 {
			t.Errorf("a page of %d offerings, want at most 1000", len(page.InstanceTypeOfferings))
		}
		for _, o := range page.InstanceTypeOfferings {
			zones[string(o.InstanceType)]++
		}
	}
	if len(seen) < 900 || zones["m5.large"] < 3 {
		t.Errorf("%d types, m5.large in %d zones; want the whole catalogue", len(seen), zones["m5.large"])
	}
}
