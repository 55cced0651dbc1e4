package price

import (
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/quantity"
)

// hoursPerMonth is what AWS divides prices of a month by.
const hoursPerMonth = 730

// tariff is what a type of volume costs a month in us-east-1, in dollars, by the
// price list of Amazon EBS (https://aws.amazon.com/ebs/pricing).
type tariff struct {
	gib       float64
	iops      float64 // for each beyond iopsFree
	iopsFree  int64
	mibps     float64 // throughput, for each MiB/s beyond mibpsFree
	mibpsFree int64
}

var tariffs = map[string]tariff{
	"gp3":      {gib: 0.08, iops: 0.005, iopsFree: 3000, mibps: 0.04, mibpsFree: 125},
	"gp2":      {gib: 0.10},
	"io1":      {gib: 0.125, iops: 0.065},
	"io2":      {gib: 0.125, iops: 0.065}, // cheaper above 32,000, which is not counted
	"st1":      {gib: 0.045},
	"sc1":      {gib: 0.015},
	"standard": {gib: 0.05},
}

// usual is the type of volumes that name none: EC2's own default.
const usual = "gp2"

// imageGiB is how large a volume counts whose size is that of its snapshot or of
// the image: as the root volumes of Amazon's own images for nodes.
const imageGiB = 20

// regional is what a GiB of gp3 costs a month where it is not as in us-east-1,
// by the same list. Other types cost as much more there, within a few per cent.
var regional = map[string]float64{
	"af-south-1": 0.1047, "ap-east-1": 0.1056, "ap-northeast-1": 0.096, "ap-northeast-2": 0.0912, "ap-northeast-3": 0.096,
	"ap-south-1": 0.0912, "ap-southeast-1": 0.096, "ap-southeast-2": 0.096, "ca-central-1": 0.088, "eu-central-1": 0.0952,
	"eu-north-1": 0.0836, "eu-south-1": 0.0924, "eu-west-1": 0.088, "eu-west-2": 0.0928, "eu-west-3": 0.0928,
	"me-south-1": 0.0968, "sa-east-1": 0.152, "us-east-1": 0.08, "us-east-2": 0.08, "us-west-1": 0.096, "us-west-2": 0.08,
}

// elsewhere is what it costs in regions that are not listed.
const elsewhere = 0.096

// Volumes is what the volumes of one instance cost an hour in a region. None at all stand
// for the one of the image. A type that is not known costs as gp3.
func Volumes(region string, list []nodeclass.BlockDevice) quantity.MicroUSDPerHour {
	if len(list) == 0 {
		list = []nodeclass.BlockDevice{{}}
	}
	sum := 0.0
	for _, d := range list {
		sum += monthly(d.EBS)
	}
	level, listed := regional[region]
	if !listed {
		level = elsewhere
	}
	return quantity.USDPerHour(float64(float64(sum*level)/tariffs["gp3"].gib) / hoursPerMonth)
}

// monthly is what a volume costs a month in us-east-1.
func monthly(v *nodeclass.EBS) float64 {
	if v == nil {
		v = &nodeclass.EBS{}
	}
	kind := v.VolumeType
	if kind == "" {
		kind = usual
	}
	t, known := tariffs[kind]
	if !known {
		t = tariffs["gp3"]
	}
	gib := float64(imageGiB)
	if v.VolumeBytes > 0 {
		gib = float64(v.VolumeBytes) / float64(quantity.GiB)
	}
	return float64(gib*t.gib) + float64(above(v.IOPS, t.iopsFree)*t.iops) + float64(above(v.Throughput, t.mibpsFree)*t.mibps)
}

// above is how much more is asked for than comes with the volume.
func above(asked *int64, free int64) float64 {
	if asked == nil {
		return 0
	}
	return float64(max(0, *asked-free))
}
