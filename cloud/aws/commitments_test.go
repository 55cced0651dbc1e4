package aws

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	emulated "github.com/daemok/daemok/test/emulator/commitment"
	"github.com/daemok/daemok/test/emulator/faults"
)

// committedAccount is an account whose provider reads commitments.
func committedAccount(t *testing.T) *account {
	t.Helper()
	a := openAccount(t)
	a.provider.options.Commitments = true
	return a
}

// refreshCommitments reads the account, and returns what is reported that could not be read.
func (a *account) refreshCommitments(t *testing.T) (read cloud.AccountCommitments, said []string) {
	t.Helper()
	a.provider.options.Warn = func(err error) { said = append(said, err.Error()) }
	if err := a.provider.RefreshCommitments(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a.provider.Commitments(), said
}

// SC-630: Reserved Instances count that pay for Linux instances of default tenancy, until they end.
func TestReservedInstancesAreReadFromTheAccount(t *testing.T) {
	a := committedAccount(t)
	type reserved = emulated.ReservedInstances
	want := map[string]commitment.ReservedInstances{}
	add := func(r reserved, is *commitment.ReservedInstances) {
		id := a.server.AddReservedInstances(r)
		if is != nil {
			is.ID, is.Account, is.Count = id, true, int64(r.Count)
			want[id] = *is
		}
	}
	add(reserved{Type: "m5.large", Count: 4}, &commitment.ReservedInstances{InstanceType: "m5.large", Flexible: true})
	add(reserved{Type: "m5.large", Count: 1, Platform: "Linux/UNIX (Amazon VPC)", Convertible: true},
		&commitment.ReservedInstances{InstanceType: "m5.large", Flexible: true})
	add(reserved{Type: "m5.large", Count: 2, Zone: "us-east-1a"},
		&commitment.ReservedInstances{InstanceType: "m5.large", Zone: "us-east-1a"})
	add(reserved{Type: "g5.xlarge", Count: 2}, &commitment.ReservedInstances{InstanceType: "g5.xlarge"})
	add(reserved{Type: "m5.metal", Count: 1, EndsAt: a.Now().Add(time.Hour)},
		&commitment.ReservedInstances{InstanceType: "m5.metal"})
	add(reserved{Type: "m5.large", Count: 8, Platform: "Windows"}, nil)
	add(reserved{Type: "m5.large", Count: 8, Dedicated: true}, nil)
	add(reserved{Type: "m5.large", Count: 8, StartsAt: a.Now().Add(time.Hour)}, nil)
	add(reserved{Type: "m5.large", Count: 8, EndsAt: a.Now().Add(-time.Minute), StartsAt: a.Now().Add(-time.Hour)}, nil)

	read, said := a.refreshCommitments(t)
	got := map[string]commitment.ReservedInstances{}
	for _, r := range read.Reserved {
		got[r.ID] = r
	}
	if !maps.Equal(got, want) || len(said) > 0 {
		t.Errorf("read are\n%+v\nwant\n%+v; reported: %v", got, want, said)
	}
	pay := func(in time.Duration) int { c := read.At(a.Now().Add(in)); return len(c.Reserved) }
	if pay(59*time.Minute) != len(want) || pay(time.Hour) != len(want)-1 {
		t.Errorf("%d pay before the end of one of them, and %d then; want one less than %d",
			pay(59*time.Minute), pay(time.Hour), len(want))
	}
}

// SC-630: Savings Plans count that pay for instances in the Region, at its rates for Linux with default tenancy.
func TestSavingsPlansAreReadFromTheAccount(t *testing.T) {
	a := committedAccount(t)
	compute := a.server.AddSavingsPlan(emulated.Plan{CommitmentUSD: 1.25, Discount: 0.25, EndsAt: a.Now().Add(time.Hour)})
	family := a.server.AddSavingsPlan(emulated.Plan{
		Type: emulated.EC2Instance, Family: "m5", CommitmentUSD: 0.5, Discount: 0.5})
	for _, p := range []emulated.Plan{
		{Type: emulated.EC2Instance, Family: "m5", Region: "eu-west-1", CommitmentUSD: 9},
		{Type: emulated.SageMaker, CommitmentUSD: 9},
		{CommitmentUSD: 9, StartsAt: a.Now().Add(time.Hour)},
	} {
		a.server.AddSavingsPlan(p)
	}
	read, said := a.refreshCommitments(t)
	if len(read.Plans) != 2 || len(said) > 0 {
		t.Fatalf("read are %+v, want two; reported: %v", read.Plans, said)
	}
	for _, p := range read.Plans {
		large, other, of := p.Rates["m5.large"], p.Rates["c5.large"], ""
		switch p.ID {
		case compute:
			of = fmt.Sprintf("%q %d %d %t", p.Family, p.Commitment, large, other > 0 && len(p.Rates) > 100)
		case family:
			of = fmt.Sprintf("%q %d %d %t", p.Family, p.Commitment, large, other == 0)
		}
		want := map[string]string{compute: `"" 1250000 72000 true`, family: `"m5" 500000 48000 true`}[p.ID]
		if of != want || p.Discount != 0 || !p.Account {
			t.Errorf("plan %+v is %s, want %s, with rates for all that it covers", p, of, want)
		}
	}
	if left := read.At(a.Now().Add(time.Hour)); len(left.Plans) != 1 || left.Plans[0].ID != family {
		t.Errorf("after an hour %+v pay, want the one that has not ended", left.Plans)
	}
}

// SC-632: Instances of the account use its commitments that run on demand and are none of the cluster's: not spot
// instances, and none that no commitment pays for. They are read without commitments of the account too: users may list
// some.
func TestOtherInstancesOfTheAccountAreCounted(t *testing.T) {
	a := committedAccount(t)
	run := func(kind types.InstanceType, change func(*ec2.RunInstancesInput), tags ...string) string {
		in := &ec2.RunInstancesInput{MinCount: sdk.Int32(1), MaxCount: sdk.Int32(1), InstanceType: kind,
			ImageId: sdk.String(a.class.Resolved.Images[0].ID), SubnetId: sdk.String(a.class.Resolved.Subnets[0].ID)}
		if change != nil {
			change(in)
		}
		spec := types.TagSpecification{ResourceType: types.ResourceTypeInstance}
		for i := 0; i < len(tags); i += 2 {
			spec.Tags = append(spec.Tags, types.Tag{Key: sdk.String(tags[i]), Value: sdk.String(tags[i+1])})
		}
		if len(tags) > 0 {
			in.TagSpecifications = []types.TagSpecification{spec}
		}
		out, err := a.admin.EC2.RunInstances(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return sdk.ToString(out.Instances[0].InstanceId)
	}
	spot := func(in *ec2.RunInstancesInput) {
		in.InstanceMarketOptions = &types.InstanceMarketOptionsRequest{MarketType: types.MarketTypeSpot}
	}
	alone := func(in *ec2.RunInstancesInput) { in.Placement = &types.Placement{Tenancy: types.TenancyDedicated} }
	other := run(types.InstanceTypeM5Xlarge, nil, "kubernetes.io/cluster/staging", "owned")
	stranger := run(types.InstanceTypeM5Large, nil, "kubernetes.io/cluster/prod", "owned",
		"daemok.sh/cluster-uid", "another")
	bastion := run(types.InstanceTypeM5Large, nil, "kubernetes.io/cluster/prod", "shared")
	run(types.InstanceTypeM5Large, nil, "kubernetes.io/cluster/prod", "owned")
	run(types.InstanceTypeM5Large, nil, "eks:cluster-name", "prod")
	run(types.InstanceTypeM5Large, spot)
	run(types.InstanceTypeM5Large, alone)
	c5 := run(types.InstanceTypeC5Large, nil)
	a.provider.options.ClusterUID = "ours"
	if _, err := a.provider.Launch(t.Context(), a.request(t, "own", cluster.OnDemand, "m5.large")); err != nil {
		t.Fatal(err)
	}
	a.Advance(5 * time.Minute)
	counted := func() (ids []string) {
		read, said := a.refreshCommitments(t)
		if len(said) > 0 {
			t.Errorf("reported: %v", said)
		}
		for _, r := range read.Running {
			ids = append(ids, r.ProviderID[strings.LastIndex(r.ProviderID, "/")+1:])
			if r.Zone == "" || r.OnDemand <= 0 || r.InstanceType == "" {
				t.Errorf("instance %+v lacks what commitments go by", r)
			}
		}
		slices.Sort(ids)
		return ids
	}
	want := []string{other, stranger, bastion, c5}
	slices.Sort(want)
	if got := counted(); !slices.Equal(got, want) {
		t.Errorf("counted are %v, want %v: those of other clusters, and a bastion", got, want)
	}
	a.server.AddReservedInstances(emulated.ReservedInstances{Type: "m5.large", Count: 4})
	if got := counted(); !slices.Equal(got, want) {
		t.Errorf("with Reserved Instances of one family counted are %v, want %v", got, want)
	}
}

// SC-634: What cannot be read stays as it was. That a right is missing is reported once, and again when it is lost
// again; trouble that may pass is an error, after which the caller tries again.
func TestCommitmentsThatCannotBeReadStay(t *testing.T) {
	a := committedAccount(t)
	a.server.AddReservedInstances(emulated.ReservedInstances{Type: "m5.large", Count: 4})
	a.server.AddSavingsPlan(emulated.Plan{CommitmentUSD: 1})
	a.refreshCommitments(t)
	a.server.AddReservedInstances(emulated.ReservedInstances{Type: "m5.large", Count: 1})
	a.server.AddSavingsPlan(emulated.Plan{CommitmentUSD: 2})
	a.server.Deny("DescribeSavingsPlans")
	read, said := a.refreshCommitments(t)
	if len(read.Reserved) != 2 || len(read.Plans) != 1 || len(said) != 1 ||
		!strings.Contains(said[0], "with what was read before of Savings Plans: ") {
		t.Errorf("without a right read are %d and %d, want two and the one of before; reported: %v",
			len(read.Reserved), len(read.Plans), said)
	}
	if _, again := a.refreshCommitments(t); len(again) > 0 {
		t.Errorf("it is reported again: %v", again)
	}
	a.server.Allow("DescribeSavingsPlans")
	if read, said := a.refreshCommitments(t); len(read.Plans) != 2 || len(said) > 0 {
		t.Errorf("with the right again %d plans are read, want two; reported: %v", len(read.Plans), said)
	}
	a.server.Deny("DescribeSavingsPlanRates")
	if _, said := a.refreshCommitments(t); len(said) != 1 {
		t.Errorf("the loss of another right is reported by %v", said)
	}
	throttled := faults.Fault{Action: "DescribeReservedInstances", Code: "RequestLimitExceeded", Times: 100}
	if err := a.server.AddFault(throttled); err != nil {
		t.Fatal(err)
	}
	err := a.provider.RefreshCommitments(t.Context())
	if err == nil || !strings.Contains(err.Error(), "read Reserved Instances of the account: ") {
		t.Errorf("calls are throttled, and the error is %v", err)
	}
	if read := a.provider.Commitments(); len(read.Reserved) != 2 || len(read.Plans) != 2 {
		t.Errorf("then %d and %d remain, want two each", len(read.Reserved), len(read.Plans))
	}
}

// SC-635: Where Savings Plans cannot be asked for, Reserved Instances are read all the same, and nothing is read
// without the option.
func TestWhereSavingsPlansCannotBeAskedFor(t *testing.T) {
	for name, cut := range map[string]func(*Provider){
		"an isolated VPC":   func(p *Provider) { p.options.IsolatedVPC = true },
		"another partition": func(p *Provider) { p.clients.Plans = nil },
	} {
		t.Run(name, func(t *testing.T) {
			a := committedAccount(t)
			a.server.AddReservedInstances(emulated.ReservedInstances{Type: "m5.large", Count: 4})
			a.server.AddSavingsPlan(emulated.Plan{CommitmentUSD: 1})
			cut(a.provider)
			read, said := a.refreshCommitments(t)
			if len(read.Reserved) != 1 || len(read.Plans) != 0 || len(said) != 1 ||
				!strings.Contains(said[0], "list them by hand") {
				t.Errorf("read are %+v; reported: %v", read.Commitments, said)
			}
			if _, again := a.refreshCommitments(t); len(again) > 0 {
				t.Errorf("it is reported again: %v", again)
			}
			calls := a.server.Calls()["DescribeReservedInstances"]
			a.provider.options.Commitments = false
			if a.refreshCommitments(t); a.server.Calls()["DescribeReservedInstances"] != calls {
				t.Error("the account is read without the option")
			}
		})
	}
}
