package aws

import (
	"cmp"
	"strings"

	"github.com/daemok/daemok/cloud/aws/ec2data"
)

// ListPrices are the built-in list prices for Linux, for those who may not ask AWS.
type ListPrices struct{ Region string }

// Price is what an instance costs in dollars an hour. The zone says in which Region, else the Region that is set. A
// capacity type that is neither spot nor on-demand is paid as on-demand; ok is false for types and Regions that the
// table does not have.
func (l ListPrices) Price(instanceType, zone, capacityType string) (dollars float64, ok bool) {
	t, known := ec2data.Load().Type(instanceType)
	if !known {
		return 0, false
	}
	region := cmp.Or(regionOf(zone), l.Region)
	if capacityType == "spot" {
		if dollars, _, ok = t.SpotUSD(region); ok {
			return dollars, true
		}
	}
	dollars, _, ok = t.OnDemandUSD(region)
	return dollars, ok
}

// regionOf is the Region of a zone: "us-west-2" of "us-west-2a" and of "us-west-2-lax-1a".
func regionOf(zone string) string {
	words := strings.SplitN(zone, "-", 4)
	if len(words) < 3 {
		return ""
	}
	return words[0] + "-" + words[1] + "-" + strings.TrimRight(words[2], "abcdefghijklmnopqrstuvwxyz")
}
