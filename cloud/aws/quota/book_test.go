package quota

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/daemok/daemok/core/cluster"
)

var standard = Limit{"Standard", cluster.OnDemand}

func TestAInstanceIsBeyondALimit(t *testing.T) {
	tests := map[string]struct {
		limits map[Limit]int64
		used   int64
		vCPUs  int64
		option cluster.Option
		says   string // empty: it is not
	}{
		"nothing is known":               {nil, 100, 8, cluster.OnDemand, ""},
		"it just fits":                   {map[Limit]int64{standard: 32}, 24, 8, cluster.OnDemand, ""},
		"too few are left":               {map[Limit]int64{standard: 32}, 25, 8, cluster.OnDemand, "to 32 vCPUs of on-demand instances of the group Standard, and too few are left"},
		"more run than the limit allows": {map[Limit]int64{standard: 32}, 40, 1, cluster.OnDemand, "too few are left"},
		"it is larger than the limit":    {map[Limit]int64{standard: 4}, 0, 8, cluster.OnDemand, "and it has more: request more in Service Quotas"},
		"spot instances count apart":     {map[Limit]int64{standard: 4}, 4, 8, cluster.Spot, ""},
		"nothing of a group may run":     {map[Limit]int64{{"Standard", cluster.Spot}: 0}, 0, 2, cluster.Spot, "to 0 vCPUs of spot instances"},
		"not even the largest has room":  {map[Limit]int64{standard: 1919}, 0, 1920, cluster.OnDemand, "and it has more"},
		"there is room for a thousand":   {map[Limit]int64{standard: 5000}, 3000, 896, cluster.OnDemand, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var b Book
			b.Saw(tt.limits, map[string]Share{"i-1": {standard, tt.used}})
			if got := b.View().Beyond("Standard", tt.vCPUs, tt.option); !strings.Contains(got, tt.says) || got != "" && tt.says == "" {
				t.Errorf("got %q, want %q", got, tt.says)
			}
		})
	}
}

// Instances count from the launch until they are terminated; a view is another one only
// where that changes what may be launched.
func TestWhatIsLaunchedAndGivenBackCounts(t *testing.T) {
	var b Book
	b.Launched("i-0", Share{standard, 2}) // nothing was read yet
	b.Saw(map[Limit]int64{standard: 8}, map[string]Share{"i-1": {standard, 4}})
	may := func(vCPUs int64, want bool) {
		t.Helper()
		if got := b.View().Beyond("Standard", vCPUs, cluster.OnDemand) == ""; got != want {
			t.Errorf("a machine of %d may be bought: %v, want %v", vCPUs, got, want)
		}
	}
	may(4, true)
	before := b.View().Seq
	b.Launched("i-2", Share{standard, 2})
	b.Launched("i-2", Share{standard, 2}) // reported twice
	may(2, true)
	may(4, false)
	b.GaveBack("i-1", "i-3")
	may(6, true)
	may(8, false)
	if now := b.View().Seq; now == before {
		t.Error("the view's number is as before")
	}
	before = b.View().Seq
	b.Saw(map[Limit]int64{standard: 8}, map[string]Share{"i-2": {standard, 2}})
	b.Launched("i-4", Share{Limit{"P", cluster.OnDemand}, 96}) // no limit is known
	if now := b.View().Seq; now != before {
		t.Error("the view's number changes, though nothing else does")
	}
}

// Where nothing runs yet, the first instance counts too.
func TestTheFirstInstanceOfAnAccountCounts(t *testing.T) {
	var b Book
	running, err := API{EC2: nothingRuns{}}.Running(t.Context(), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Saw(map[Limit]int64{standard: 8}, running)
	b.Launched("i-1", Share{standard, 8})
	if b.View().Beyond("Standard", 2, cluster.OnDemand) == "" {
		t.Error("a machine may be bought though the first one took all that the account may run")
	}
}

type nothingRuns struct {
	ec2.DescribeCapacityReservationsAPIClient
}

func (nothingRuns) DescribeInstances(context.Context, *ec2.DescribeInstancesInput, ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	return &ec2.DescribeInstancesOutput{}, nil
}
