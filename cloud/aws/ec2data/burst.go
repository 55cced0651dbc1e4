package ec2data

import "strings"

// baselines are the shares of each vCPU, in thousandths, that burstable instances may use
// for ever: what their CPU credits are earned at. AWS publishes them in the EC2 user guide
// ("Key concepts for burstable performance instances"); its API does not return them.
var baselines = map[string]map[string]int64{
	"t2":  {"nano": 50, "micro": 100, "small": 200, "medium": 200, "large": 300, "xlarge": 225, "2xlarge": 170},
	"t3":  threeAndLater,
	"t3a": threeAndLater,
	"t4g": threeAndLater,
}

var threeAndLater = map[string]int64{
	"nano": 50, "micro": 100, "small": 200, "medium": 200, "large": 300, "xlarge": 400, "2xlarge": 400,
}

// baselineUnknown is the share of sizes that no known family has.
const baselineUnknown = 200

// Baseline is the share of each vCPU, in thousandths, that instances of a burstable type
// may use for ever at their price. A family that is newer than the table counts as the
// least that any known family gives to its size.
func Baseline(burstable string) int64 {
	family, size, _ := strings.Cut(burstable, ".")
	if share, known := baselines[family][size]; known {
		return share
	}
	least := int64(0)
	for _, sizes := range baselines { // the order does not matter to a minimum
		if share, known := sizes[size]; known && (least == 0 || share < least) {
			least = share
		}
	}
	if least == 0 {
		return baselineUnknown
	}
	return least
}

// Dollars for a vCPU-hour of surplus credits, by the price list of EC2
// ("T2/T3/T4g unlimited mode pricing" of the on-demand pricing page). They are
// the same in every region and under every capacity type.
const (
	surplusLinux    = 0.05
	surplusGraviton = 0.04
	surplusWindows  = 0.096
)

// SurplusUSD is what a vCPU-hour above the baseline of a burstable type costs,
// in dollars; 0 where the type is slowed down instead, as T2 is unless an
// account says otherwise.
func SurplusUSD(burstable string, windows bool) float64 {
	family, _, _ := strings.Cut(burstable, ".")
	switch {
	case family == "t2" || family == "t1":
		return 0
	case windows:
		return surplusWindows
	case family == "t4g":
		return surplusGraviton
	}
	return surplusLinux
}
