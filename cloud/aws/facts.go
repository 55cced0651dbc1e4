package aws

import (
	"strings"

	"github.com/daemok/daemok/cloud/aws/ec2data"
)

// usualRegion is whose prices stand in, before those of others, for a region that the
// table lacks.
const usualRegion = "us-east-1"

// yuanADollar is roughly what a dollar is worth in China's regions, which are paid for in
// yuan.
const yuanADollar = 7

// facts answers from the embedded table what AWS does not say, or not yet.
type facts struct {
	data    *ec2data.Data
	regions []string // whose prices count: the first that has one
	dollar  float64  // what it is worth in what is paid with
}

// factsFor answers for a region. In one that the table lacks, as those of GovCloud,
// instances count as costing what they do elsewhere: which of two is cheaper is mostly the
// same.
func factsFor(region string) facts {
	f := facts{data: ec2data.Load(), regions: []string{region}, dollar: 1}
	if _, listed := f.data.Regions[region]; !listed {
		f.regions = append([]string{usualRegion}, f.data.RegionNames()...)
	}
	if strings.HasPrefix(region, "cn-") {
		f.dollar = yuanADollar
	}
	return f
}

// OnDemandUSD implements price.Table.
func (f facts) OnDemandUSD(kind string) (float64, bool) {
	return f.price(kind, (*ec2data.Type).OnDemandUSD)
}

// SpotUSD implements price.Table.
func (f facts) SpotUSD(kind string) (float64, bool) { return f.price(kind, (*ec2data.Type).SpotUSD) }

func (f facts) price(kind string, in func(t *ec2data.Type, region string) (price float64, estimated, ok bool)) (float64, bool) {
	t, ok := f.data.Type(kind)
	if !ok {
		return 0, false
	}
	for _, region := range f.regions {
		if dollars, _, ok := in(t, region); ok {
			return float64(dollars * f.dollar), true
		}
	}
	return 0, false
}

// BranchENIs implements catalog.Facts.
func (f facts) BranchENIs(kind string) int64 {
	t, ok := f.data.Type(kind)
	if !ok || !t.Trunking {
		return 0
	}
	return int64(t.BranchENIs)
}

// NetworkMbps implements catalog.Facts.
func (f facts) NetworkMbps(kind string) int64 {
	t, ok := f.data.Type(kind)
	if !ok {
		return 0
	}
	return t.NetworkBaseMbps
}
