package price_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/price"
	"github.com/daemok/daemok/core/quantity"
)

func TestVolumes(t *testing.T) {
	const gib = 1 << 30
	volume := func(v nodeclass.EBS) nodeclass.BlockDevice { return nodeclass.BlockDevice{EBS: &v} }
	tests := map[string]struct {
		region string
		list   []nodeclass.BlockDevice
		want   quantity.MicroUSDPerHour
	}{
		"cost by the GiB":                             {"us-east-1", []nodeclass.BlockDevice{volume(nodeclass.EBS{VolumeType: "gp3", VolumeBytes: 73 * gib})}, 8000},
		"add up":                                      {"us-east-1", nodeclass.Spec{Family: nodeclass.Bottlerocket}.Volumes(), 2630},
		"cost more in some regions":                   {"sa-east-1", []nodeclass.BlockDevice{volume(nodeclass.EBS{VolumeType: "gp3", VolumeBytes: 73 * gib})}, 15200},
		"cost as much where no price is known":        {"xx-moon-1", []nodeclass.BlockDevice{volume(nodeclass.EBS{VolumeType: "gp3", VolumeBytes: 73 * gib})}, 9600},
		"cost for what is asked beyond what comes":    {"us-east-1", []nodeclass.BlockDevice{volume(nodeclass.EBS{VolumeType: "gp3", VolumeBytes: 73 * gib, IOPS: aws.Int64(10300), Throughput: aws.Int64(855)})}, 98000},
		"cost for all operations where none come":     {"us-east-1", []nodeclass.BlockDevice{volume(nodeclass.EBS{VolumeType: "io1", VolumeBytes: 73 * gib, IOPS: aws.Int64(1000)})}, 101541},
		"without a type are of EC2's own":             {"us-east-1", []nodeclass.BlockDevice{volume(nodeclass.EBS{VolumeBytes: 73 * gib})}, 10000},
		"of the image are guessed where none is told": {"us-east-1", nil, 2740},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := price.Volumes(tt.region, tt.list); got != tt.want {
				t.Errorf("Volumes(%s, %+v) = %d, want %d micro dollars an hour", tt.region, tt.list, got, tt.want)
			}
		})
	}
}
