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
	offerings := ec2.NewDescribeInstanceTypeOfferingsPaginator(a.ec2, &ec2.DescribeInstanceTypeOfferingsInput{LocationType: types.LocationTypeAvailabilityZone})
	for offerings.HasMorePages() {
		page, err := offerings.NextPage(context.Background())
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

// Figures are what EC2 answered on the day of the record.
func TestTypesReportWhatTheyTakeAndWhetherTheyBurst(t *testing.T) {
	tests := map[string]struct {
		kind    types.InstanceType
		volumes int32
		limit   types.AttachmentLimitType
		bursts  bool
	}{
		"28 places less the interface":      {"m5.large", 27, types.AttachmentLimitTypeShared, false},
		"local disks take places":           {"c5d.24xlarge", 23, types.AttachmentLimitTypeShared, false},
		"later types count volumes alone":   {"m7i.large", 32, types.AttachmentLimitTypeDedicated, false},
		"large ones of them take more":      {"m7i.48xlarge", 128, types.AttachmentLimitTypeDedicated, false},
		"burstable on Nitro":                {"t3.nano", 27, types.AttachmentLimitTypeShared, true},
		"burstable of the first generation": {"t2.micro", 40, types.AttachmentLimitTypeShared, true},
	}
	a := open(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			answer, err := a.ec2.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{tt.kind}})
			a.must(err)
			got := answer.InstanceTypes[0]
			if *got.EbsInfo.MaximumEbsAttachments != tt.volumes || got.EbsInfo.AttachmentLimitType != tt.limit || *got.BurstablePerformanceSupported != tt.bursts {
				t.Errorf("%s: %d volumes (%s), bursts %v; want %d (%s), %v", tt.kind, *got.EbsInfo.MaximumEbsAttachments,
					got.EbsInfo.AttachmentLimitType, *got.BurstablePerformanceSupported, tt.volumes, tt.limit, tt.bursts)
			}
		})
	}
	// "Amazon EBS encryption is available on all current generation instance types and the following previous generation
	// instance types: A1, C3, cr1.8xlarge, G2, I2, M3, and R3" (user guide, requirements for Amazon EBS encryption).
	for kind, want := range map[types.InstanceType]types.EbsEncryptionSupport{"m5.large": "supported", "m3.large": "supported", "m1.small": "unsupported", "t1.micro": "unsupported"} {
		answer, err := a.ec2.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{kind}})
		a.must(err)
		if got := answer.InstanceTypes[0].EbsInfo.EncryptionSupport; got != want {
			t.Errorf("encryption of volumes of %s: %s, want %s", kind, got, want)
		}
	}
	few, err := a.ec2.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{
		Filters: filters("ebs-info.maximum-ebs-attachments", "3", "ebs-info.attachment-limit-type", "shared"),
	})
	a.must(err)
	if len(few.InstanceTypes) != 2 {
		t.Errorf("%d types take three volumes, want d3.8xlarge and d3en.12xlarge", len(few.InstanceTypes))
	}
}
