package aws

// facts answers from built-in data what AWS does not tell, or not yet.
type facts struct{ region string }

func factsFor(region string) facts { return facts{region} }

// OnDemandUSD implements price.Table.
func (f facts) OnDemandUSD(string) (float64, bool) { return 0, false }

// SpotUSD implements price.Table.
func (f facts) SpotUSD(string) (float64, bool) { return 0, false }

// BranchENIs implements catalog.Facts.
func (f facts) BranchENIs(string) int64 { return 0 }

// NetworkMbps implements catalog.Facts.
func (f facts) NetworkMbps(string) int64 { return 0 }
