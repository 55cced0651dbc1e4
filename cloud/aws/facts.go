package aws

import "github.com/daemok/daemok/cloud/aws/ec2data"

// facts answers from the embedded table what AWS does not tell, or not yet.
type facts struct {
	data   *ec2data.Data
	region string
}

func factsFor(region string) facts { return facts{ec2data.Load(), region} }

// OnDemandUSD implements price.Table.
func (f facts) OnDemandUSD(kind string) (float64, bool) {
	t, ok := f.data.Type(kind)
	if !ok {
		return 0, false
	}
	dollars, _, ok := t.OnDemandUSD(f.region)
	return dollars, ok
}

// SpotUSD implements price.Table.
func (f facts) SpotUSD(kind string) (float64, bool) {
	t, ok := f.data.Type(kind)
	if !ok {
		return 0, false
	}
	dollars, _, ok := t.SpotUSD(f.region)
	return dollars, ok
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
