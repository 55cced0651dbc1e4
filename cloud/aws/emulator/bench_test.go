package emulator_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/cloud/aws/emulator"
)

// BenchmarkNew is the cost of opening an account, the catalogue decoded.
func BenchmarkNew(b *testing.B) {
	ec2data.Load()
	for b.Loop() {
		emulator.New(emulator.Options{})
	}
}

// BenchmarkList is one full DescribeInstances of a thousand machines, with
// the SDK's share.
func BenchmarkList(b *testing.B) {
	a := open(b, noLags)
	out, err := a.fleet(a.template("web"), 1000, overrides(a.override("m5.large", "us-east-1a")))
	a.must(err)
	if n := len(out.Instances[0].InstanceIds); n != 1000 {
		b.Fatalf("bought %d, want 1000", n)
	}
	for b.Loop() {
		a.Advance(1e9) // refills the call's token bucket
		_, err := a.ec2.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{Filters: filters("tag:claim", "one")})
		a.must(err)
	}
}
