package control_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/savingsplans"
	plantypes "github.com/aws/aws-sdk-go-v2/service/savingsplans/types"
	"github.com/aws/smithy-go"

	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/control"
	emulated "github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
	"github.com/daemok/daemok/test/market/clock"
)

// world is an emulator with both its ports: AWS on the one, orders on the other.
type world struct {
	*testing.T
	*clock.Virtual
	server *emulator.Server
	config aws.Config
	ec2    *ec2.Client
	orders *control.Client
	did    int
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, Virtual: clock.NewVirtual(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))}
	figures := market.DefaultFigures()
	figures.Visible = market.Spread{}
	w.server = emulator.New(emulated.Options{Seed: 7, Now: w.Now, Figures: figures, Lags: &emulated.Lags{}})
	first, second := httptest.NewServer(w.server), httptest.NewServer(control.Handler(w.server, func() { w.did++ }))
	t.Cleanup(func() { w.server.Close(); first.Close(); second.Close() })
	config := client.At(first.URL, "us-east-1", client.Key{ID: "key", Secret: "secret"})
	config.RetryMaxAttempts = 1
	w.config = config
	w.ec2, w.orders = ec2.NewFromConfig(config), control.At(second.URL)
	return w
}

// launch asks AWS for one instance, and returns its ID and the code of the error.
func (w *world) launch(kind, zone string, spot bool) (id, code string) {
	w.Helper()
	in := &ec2.RunInstancesInput{
		MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: types.InstanceType(kind), ImageId: aws.String(w.image()),
		Placement: &types.Placement{AvailabilityZone: aws.String(zone)},
	}
	if spot {
		in.InstanceMarketOptions = &types.InstanceMarketOptionsRequest{MarketType: types.MarketTypeSpot}
	}
	out, err := w.ec2.RunInstances(w.Context(), in)
	if err != nil {
		return "", codeOf(err)
	}
	w.server.Advance()
	return *out.Instances[0].InstanceId, ""
}

func (w *world) image() string {
	w.Helper()
	out, err := w.ec2.DescribeImages(w.Context(), &ec2.DescribeImagesInput{Filters: []types.Filter{
		{Name: aws.String("name"), Values: []string{"amazon-eks-node-al2023-x86_64-standard-1.36-*"}}}})
	if err != nil || len(out.Images) == 0 {
		w.Fatalf("no image: %v", err)
	}
	return *out.Images[0].ImageId
}

func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// Capacity runs out where the order says so, and there alone, until it is there again.
func TestIce(t *testing.T) {
	w := open(t)
	pools, err := w.orders.Ice(t.Context(), control.Ice{Kind: "m5.*", Zone: "us-east-1a", Option: "on-demand"})
	w.must(err)
	if pools < 5 || w.did != 1 {
		t.Errorf("%d pools changed, told of %d times; want a family's, once", pools, w.did)
	}
	for _, tt := range []struct{ kind, zone, want string }{
		{"m5.large", "us-east-1a", "InsufficientInstanceCapacity"}, {"m5.large", "us-east-1b", ""}, {"c5.large", "us-east-1a", ""},
	} {
		if _, got := w.launch(tt.kind, tt.zone, false); got != tt.want {
			t.Errorf("%s in %s: %q, want %q", tt.kind, tt.zone, got, tt.want)
		}
	}
	_, err = w.orders.Ice(t.Context(), control.Ice{Kind: "m5.*", Melt: true})
	w.must(err)
	if _, got := w.launch("m5.large", "us-east-1a", false); got != "" {
		t.Errorf("after --melt: %q, want a machine", got)
	}
}

// A slip of the pen is told, with what there is.
func TestOrdersThatMeanNothing(t *testing.T) {
	w := open(t)
	machine, code := w.launch("m5.large", "us-east-1a", false)
	if code != "" {
		t.Fatal(code)
	}
	tests := map[string]struct {
		give func() error
		want string
	}{
		"a type that is not offered": {func() error { _, err := w.orders.Ice(t.Context(), control.Ice{Kind: "x9.huge"}); return err }, "offers no x9.huge: see"},
		"a type's name mistyped": {func() error {
			_, err := w.orders.Ice(t.Context(), control.Ice{Kind: "m5.lrge", Option: "spot"})
			return err
		}, "offers no m5.lrge as spot, did you mean m5.large?"},
		"a zone's name mistyped": {func() error {
			_, err := w.orders.Ice(t.Context(), control.Ice{Kind: "m5.*", Zone: "us-east1a"})
			return err
		}, "in us-east1a, did you mean us-east-1a?"},
		"an unknown capacity type": {func() error {
			_, err := w.orders.Ice(t.Context(), control.Ice{Kind: "m5.*", Option: "od"})
			return err
		}, "m5.* as od: want one of on-demand, spot"},
		"a zone of another region's": {func() error {
			_, err := w.orders.Ice(t.Context(), control.Ice{Kind: "m5.*", Zone: "eu-north-1a"})
			return err
		}, "in eu-north-1a: want one of us-east-1a, us-east-1b"},
		"a pattern that is none":  {func() error { _, err := w.orders.Ice(t.Context(), control.Ice{Kind: "["}); return err }, `pattern "["`},
		"fewer than no instances": {func() error { _, err := w.orders.Ice(t.Context(), control.Ice{Kind: "*", Machines: -1}); return err }, "-1 instances left"},
		"two prices": {func() error {
			_, err := w.orders.Price(t.Context(), control.Price{Kind: "*", USD: 1, Times: 2})
			return err
		}, "want exactly one of a price"},
		"a zone's price on demand": {func() error {
			_, err := w.orders.Price(t.Context(), control.Price{Kind: "*", Zone: "us-east-1a", Option: "on-demand", USD: 1})
			return err
		}, "the same in all zones"},
		"an action AWS has not": {func() error {
			_, err := w.orders.Throttle(t.Context(), control.Throttle{Action: "MakeFleet", PerSecond: 1})
			return err
		}, `no service of the emulator has an action like "MakeFleet"`},
		"limits that are not known": {func() error {
			_, err := w.orders.Throttle(t.Context(), control.Throttle{Action: "GetParameter", PerSecond: 1})
			return err
		}, "GetParameter is no action of EC2"},
		"no rate": {func() error {
			_, err := w.orders.Throttle(t.Context(), control.Throttle{Action: "CreateFleet"})
			return err
		}, "want one of calls per second"},
		"a fault of no action": {func() error {
			_, err := w.orders.Fault(t.Context(), control.Fault{Action: "MakeFleet", Code: "X"})
			return err
		}, `no service of the emulator has an action "MakeFleet"`},
		"a fault of an action mistyped": {func() error {
			_, err := w.orders.Fault(t.Context(), control.Fault{Action: "CreateFlet", Code: "X"})
			return err
		}, "did you mean CreateFleet?"},
		"a call that is over": {func() error {
			_, err := w.orders.Fault(t.Context(), control.Fault{Action: "CreateFleet", Code: "X", Nth: -1})
			return err
		}, "want 1 for the next"},
		"a fault without a code": {func() error { _, err := w.orders.Fault(t.Context(), control.Fault{Action: "CreateFleet"}); return err }, "needs an error code"},
		"a share above all": {func() error {
			_, err := w.orders.Fault(t.Context(), control.Fault{Action: "CreateFleet", Code: "X", Share: 2})
			return err
		}, "want 0 to 1"},
		"the end of no fault": {func() error {
			_, err := w.orders.Fault(t.Context(), control.Fault{Action: "CreateFleet", End: true})
			return err
		}, "CreateFleet has no faults"},
		"rights of no action":      {func() error { _, err := w.orders.Rights(t.Context(), control.Rights{Action: "Fly*"}); return err }, `like "Fly*"`},
		"a zone of another region": {func() error { _, err := w.orders.Outage(t.Context(), control.Outage{Zone: "us-west-2a"}); return err }, `no zone "us-west-2a": want one of us-east-1a`},
		"a quota that is none":     {func() error { _, err := w.orders.Quota(t.Context(), control.Quota{Code: "L-0", VCPUs: 5}); return err }, "such as L-1216C47A"},
		"less than no vCPUs": {func() error {
			_, err := w.orders.Quota(t.Context(), control.Quota{Code: "L-1216C47A", VCPUs: -5})
			return err
		}, "want 0 or more"},
		"a clock that goes back": {func() error { _, err := w.orders.Forward(t.Context(), -time.Hour); return err }, "it cannot go back"},
		"an unknown instance": {func() error {
			_, err := w.orders.InterruptionMessage(t.Context(), control.InterruptionMessage{Instance: "i-0*0*0*9", Deed: control.Disruption})
			return err
		}, "is pending or running"},
		"a warning of yesterday": {func() error {
			_, err := w.orders.InterruptionMessage(t.Context(), control.InterruptionMessage{Instance: machine, Deed: control.Interrupt, Advised: true, In: -time.Hour})
			return err
		}, "in -1h0m0s is in the past"},
		"an end of what is no spot": {func() error {
			_, err := w.orders.InterruptionMessage(t.Context(), control.InterruptionMessage{Instance: machine, Deed: control.Interrupt})
			return err
		}, "is no spot instance, and AWS interrupts no other"},
		"a reservation of what there is not": {func() error {
			_, err := w.orders.Reserve(t.Context(), control.Reserve{Kind: "m5.large", Zone: "us-west-2a", Machines: 1})
			return err
		}, `m5.large is not offered in zone "us-west-2a": want one of us-east-1a`},
		"a reservation of nothing": {func() error {
			_, err := w.orders.Reserve(t.Context(), control.Reserve{Kind: "m5.large", Zone: "us-east-1a"})
			return err
		}, "a reservation of 0 instances: want one or more"},
		"a capacity block without an end": {func() error {
			_, err := w.orders.Reserve(t.Context(), control.Reserve{Kind: "m5.large", Zone: "us-east-1a", Machines: 1, Block: true})
			return err
		}, "want a positive duration"},
		"an unknown reservation": {func() error {
			_, err := w.orders.Reclaim(t.Context(), control.Reclaim{Reservation: "cr-1"})
			return err
		}, "cr-1 is no active interruptible capacity reservation: want one of none"},
		"Reserved Instances of no type": {func() error {
			_, err := w.orders.ReservedInstances(t.Context(), control.ReservedInstances{Kind: "m5.lage", Machines: 1})
			return err
		}, "region us-east-1 offers no m5.lage"},
		"Reserved Instances of another region's zone": {func() error {
			_, err := w.orders.ReservedInstances(t.Context(),
				control.ReservedInstances{Kind: "m5.large", Machines: 1, Zone: "us-west-2a"})
			return err
		}, `m5.large is not offered in zone "us-west-2a": want one of us-east-1a`},
		"no Reserved Instances": {func() error {
			_, err := w.orders.ReservedInstances(t.Context(), control.ReservedInstances{Kind: "m5.large"})
			return err
		}, "0 Reserved Instances: want one or more"},
		"Reserved Instances of the past": {func() error {
			_, err := w.orders.ReservedInstances(t.Context(),
				control.ReservedInstances{Kind: "m5.large", Machines: 1, For: -time.Hour})
			return err
		}, "want a positive duration"},
		"a plan of no type": {func() error {
			_, err := w.orders.SavingsPlan(t.Context(), control.SavingsPlan{Type: "compute", USD: 1})
			return err
		}, `no Savings Plans of type "compute": want one of Compute, EC2Instance, SageMaker`},
		"a plan of nothing": {func() error {
			_, err := w.orders.SavingsPlan(t.Context(), control.SavingsPlan{Type: "Compute"})
			return err
		}, "want more than nothing"},
		"a plan of a family without one": {func() error {
			_, err := w.orders.SavingsPlan(t.Context(), control.SavingsPlan{Type: "EC2Instance", USD: 1})
			return err
		}, "want a family for EC2Instance alone"},
		"a plan of a family that is not offered": {func() error {
			_, err := w.orders.SavingsPlan(t.Context(), control.SavingsPlan{Type: "EC2Instance", Family: "q9", USD: 1})
			return err
		}, `offers no types of family "q9"`},
		"a plan of all regions in one": {func() error {
			_, err := w.orders.SavingsPlan(t.Context(),
				control.SavingsPlan{Type: "Compute", Region: "us-east-1", USD: 1})
			return err
		}, "want a region for EC2Instance alone"},
		"a plan of an unknown region": {func() error {
			_, err := w.orders.SavingsPlan(t.Context(),
				control.SavingsPlan{Type: "EC2Instance", Family: "m5", Region: "mars-1", USD: 1})
			return err
		}, `the catalogue has no region "mars-1"`},
		"a plan for less than nothing": {func() error {
			_, err := w.orders.SavingsPlan(t.Context(), control.SavingsPlan{Type: "Compute", USD: 1, Discount: 1})
			return err
		}, "want a share of the price from 0 to less than 1"},
		"a plan of the past": {func() error {
			_, err := w.orders.SavingsPlan(t.Context(), control.SavingsPlan{Type: "Compute", USD: 1, For: -time.Hour})
			return err
		}, "the plan lasts -1h0m0s"},
		"a shift away from nowhere": {func() error {
			_, err := w.orders.Shift(t.Context(), control.Shift{Zone: "us-west-2a", For: time.Hour})
			return err
		}, `no zone "us-west-2a": want one of us-east-1a`},
		"a shift for ever": {func() error {
			_, err := w.orders.Shift(t.Context(), control.Shift{Zone: "us-east-1a"})
			return err
		}, "a minute at least and three days at most"},
		"an autoshift with an end": {func() error {
			_, err := w.orders.Shift(t.Context(), control.Shift{Zone: "us-east-1a", Auto: true, For: time.Hour})
			return err
		}, "leave the length out"},
		"the end of no shift": {func() error {
			_, err := w.orders.Shift(t.Context(), control.Shift{Zone: "us-east-1a", End: true})
			return err
		}, "no zonal shift moves traffic away from us-east-1a"},
		"a refusal without a code": {func() error { _, err := w.orders.Refuse(t.Context(), control.Refuse{Kind: "*"}); return err }, "such as UnfulfillableCapacity"},
		"an unknown failure":       {func() error { return w.orders.Boots(t.Context(), control.Boots{Fail: 1, Reason: "rain"}) }, "such as Client.VolumeLimitExceeded"},
		"more than all":            {func() error { return w.orders.Boots(t.Context(), control.Boots{NeverJoin: 2}) }, "want 0 to 1"},
		"two versions at once": {func() error {
			_, err := w.orders.Update(t.Context(), control.Update{Version: "1.38"})
			return err
		}, "unsupported Kubernetes version 1.38"},
		"something AWS never does": {func() error {
			_, err := w.orders.InterruptionMessage(t.Context(), control.InterruptionMessage{Instance: "*", Deed: "polish"})
			return err
		}, `unknown interruption "polish"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if err := tt.give(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// Prices that are set are what spot history and launches go by; the market makes them again in the end.
func TestPrice(t *testing.T) {
	w := open(t)
	spot := func() string {
		out, err := w.ec2.DescribeSpotPriceHistory(t.Context(), &ec2.DescribeSpotPriceHistoryInput{
			StartTime: aws.Time(w.Now()), InstanceTypes: []types.InstanceType{"m5.large"}, ProductDescriptions: []string{"Linux/UNIX"}, AvailabilityZone: aws.String("us-east-1a"),
		})
		w.must(err)
		if len(out.SpotPriceHistory) != 1 {
			t.Fatalf("%d prices, want the latest", len(out.SpotPriceHistory))
		}
		return *out.SpotPriceHistory[0].SpotPrice
	}
	usual := spot()
	pools, err := w.orders.Price(t.Context(), control.Price{Kind: "m5.large", Zone: "us-east-1a", USD: 0.0123})
	w.must(err)
	if got := spot(); pools != 1 || !strings.HasPrefix(got, "0.0123") {
		t.Errorf("%d pools changed, spot costs %s; want 1 and 0.0123", pools, got)
	}
	demand := market.Pool{Kind: "m5.large", Zone: "us-east-1b", Option: market.OnDemand}
	before := w.server.Market().PriceUSD(demand, w.Now())
	_, err = w.orders.Price(t.Context(), control.Price{Kind: "m5.large", Option: "on-demand", Times: 3})
	w.must(err)
	if got := w.server.Market().PriceUSD(demand, w.Now()); got != float64(3*before) {
		t.Errorf("on demand costs %v, want three times %v", got, before)
	}
	_, err = w.orders.Price(t.Context(), control.Price{Kind: "*", End: true})
	w.must(err)
	if got := spot(); got != usual || w.server.Market().PriceUSD(demand, w.Now()) != before {
		t.Errorf("in the end spot costs %s, want %s as before, and on demand likewise", got, usual)
	}
}

// A tenth of the usual rate is a tenth; the end of it is the ordinary day.
func TestThrottle(t *testing.T) {
	w := open(t)
	answered := func() (n int) {
		for range 60 {
			if _, err := w.ec2.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{}); codeOf(err) == "" {
				n++
			}
		}
		return n
	}
	actions, err := w.orders.Throttle(t.Context(), control.Throttle{Action: "Describe*", Times: 0.1})
	w.must(err)
	if !slices.Contains(actions, "DescribeVpcs") || slices.Contains(actions, "CreateFleet") {
		t.Errorf("throttled %v, want those that describe", actions)
	}
	if n := answered(); n != 10 {
		t.Errorf("%d of 60 calls at once were answered, want a tenth of the burst of 100", n)
	}
	_, err = w.orders.Throttle(t.Context(), control.Throttle{Action: "DescribeVpcs", PerSecond: 2})
	w.must(err)
	if n := answered(); n != 2 {
		t.Errorf("%d of 60 calls at once were answered, want a second's worth", n)
	}
	_, err = w.orders.Throttle(t.Context(), control.Throttle{Action: "*", End: true})
	w.must(err)
	if n := answered(); n != 60 {
		t.Errorf("%d of 60 calls were answered on an ordinary day, want all", n)
	}
}

// The nth call fails, or a share of them by the seed's chance, or a call is carried out and its answer is lost.
func TestFaults(t *testing.T) {
	w := open(t)
	regions := func() string {
		_, err := w.ec2.DescribeRegions(t.Context(), &ec2.DescribeRegionsInput{})
		return codeOf(err)
	}
	left, err := w.orders.Fault(t.Context(), control.Fault{Action: "DescribeRegions", Code: "InternalError", Nth: 2, Times: 2})
	w.must(err)
	if got := []string{regions(), regions(), regions(), regions()}; left != 1 || !slices.Equal(got, []string{"", "InternalError", "InternalError", ""}) {
		t.Errorf("calls end with %q, want the second and third to fail", got)
	}
	_, err = w.orders.Fault(t.Context(), control.Fault{Action: "DescribeRegions", Code: "Unavailable", Share: 0.3, Times: -1})
	w.must(err)
	failed := 0
	for range 100 {
		w.Advance(time.Second)
		if regions() == "Unavailable" {
			failed++
		}
	}
	if failed < 15 || failed > 45 {
		t.Errorf("%d of 100 calls failed, want about 30", failed)
	}
	_, err = w.orders.Fault(t.Context(), control.Fault{Action: "DescribeRegions", End: true})
	w.must(err)
	_, err = w.orders.Fault(t.Context(), control.Fault{Action: "RunInstances", Code: "InternalError", After: true})
	w.must(err)
	if _, got := w.launch("m5.large", "us-east-1a", false); got != "InternalError" || len(w.server.Instances()) != 1 {
		t.Errorf("a lost answer: %q with %d instances, want InternalError and the instance", got, len(w.server.Instances()))
	}
}

// A right that is taken away is missed by dry runs and calls alike, until it is terminated.
func TestRights(t *testing.T) {
	w := open(t)
	_, err := w.orders.Rights(t.Context(), control.Rights{Action: "RunInstances", Denied: true})
	w.must(err)
	if _, got := w.launch("m5.large", "us-east-1a", false); got != "UnauthorizedOperation" {
		t.Errorf("without the right: %q, want UnauthorizedOperation", got)
	}
	_, err = w.orders.Rights(t.Context(), control.Rights{Action: "*"})
	w.must(err)
	if _, got := w.launch("m5.large", "us-east-1a", false); got != "" {
		t.Errorf("with the right again: %q, want a machine", got)
	}
}

// A quota that is set is what launches are held to.
func TestQuota(t *testing.T) {
	w := open(t)
	name, err := w.orders.Quota(t.Context(), control.Quota{Code: "L-1216C47A", VCPUs: 1})
	w.must(err)
	if _, got := w.launch("m5.large", "us-east-1a", false); !strings.HasPrefix(name, "Running On-Demand Standard") || got != "VcpuLimitExceeded" {
		t.Errorf("under %s: %q, want VcpuLimitExceeded", name, got)
	}
}

// In an outage nothing can be launched in the zone, and its instances fail both checks and run on.
func TestOutage(t *testing.T) {
	w := open(t)
	id, _ := w.launch("m5.large", "us-east-1a", false)
	status := func() string {
		out, err := w.ec2.DescribeInstanceStatus(t.Context(), &ec2.DescribeInstanceStatusInput{InstanceIds: []string{id}})
		w.must(err)
		s := out.InstanceStatuses[0]
		return string(s.InstanceState.Name) + " " + string(s.InstanceStatus.Status) + " " + string(s.SystemStatus.Status)
	}
	zone := func() types.AvailabilityZoneState {
		out, err := w.ec2.DescribeAvailabilityZones(t.Context(), &ec2.DescribeAvailabilityZonesInput{ZoneNames: []string{"us-east-1a"}})
		w.must(err)
		return out.AvailabilityZones[0].State
	}
	var reported []bool
	w.server.Watch(func(e emulator.Event) {
		if e.Kind == market.Outage {
			reported = append(reported, e.Instance.Unreachable)
		}
	})
	concerned, err := w.orders.Outage(t.Context(), control.Outage{Zone: "us-east-1a"})
	w.must(err)
	w.server.Advance()
	if _, got := w.launch("m5.large", "us-east-1a", true); got != "InsufficientInstanceCapacity" {
		t.Errorf("a launch in the zone: %q, want InsufficientInstanceCapacity", got)
	}
	if _, got := w.launch("m5.large", "us-east-1b", false); got != "" {
		t.Errorf("a launch in another zone: %q, want a machine", got)
	}
	if got := status(); concerned != 1 || got != "running impaired impaired" || zone() != types.AvailabilityZoneStateImpaired {
		t.Errorf("%d instances, status %q, zone %s; want 1 that runs and fails both checks, and an impaired zone", concerned, got, zone())
	}
	_, err = w.orders.Outage(t.Context(), control.Outage{Zone: "us-east-1a", End: true})
	w.must(err)
	w.server.Advance()
	if got := status(); got != "running ok ok" || !slices.Equal(reported, []bool{true, false}) {
		t.Errorf("in the end status is %q and watchers heard %v; want all well, and both ends told", got, reported)
	}
}

// AWS takes spot instances back two minutes after its warning; its clock is what counts.
func TestInterruptionAndClock(t *testing.T) {
	w := open(t)
	id, _ := w.launch("m5.large", "us-east-1a", true)
	about, err := w.orders.InterruptionMessage(t.Context(), control.InterruptionMessage{Instance: "ip-10-*", Deed: control.Interrupt})
	w.must(err)
	if len(about) != 1 || about[0].ID != id {
		t.Fatalf("interrupted %v, want %s by its name", about, id)
	}
	state := func() string { return w.server.Instances()[0].State }
	if got := state(); got != "running" {
		t.Errorf("at the warning it is %s, want running", got)
	}
	now, err := w.orders.Forward(t.Context(), 3*time.Minute)
	w.must(err)
	w.server.Advance()
	if got := state(); got != "terminated" || !now.Equal(w.Now().Add(3*time.Minute)) {
		t.Errorf("three minutes later by AWS's clock, %v, it is %s; want terminated", now, got)
	}
}

// A clock that is set wrong stays so until it is set right, and lets no time pass in the account.
func TestSkew(t *testing.T) {
	w := open(t)
	for _, by := range []time.Duration{20 * time.Minute, -time.Hour, 0} {
		is, err := w.orders.Skew(t.Context(), by)
		w.must(err)
		s, err := w.orders.Status(t.Context())
		w.must(err)
		if is != by || s.Skewed != by || !s.Now.Equal(w.Now()) {
			t.Errorf("set %v wrong it is %v, by its state %v, at %v; want the same, at %v", by, is, s.Skewed, s.Now, w.Now())
		}
	}
}

// Reserved Instances and Savings Plans come into the account, and end by its clock.
func TestCommit(t *testing.T) {
	w := open(t)
	instances, err := w.orders.ReservedInstances(t.Context(), control.ReservedInstances{
		Kind: "m5.large", Machines: 4, Zone: "us-east-1a", Platform: "Windows", Dedicated: true, Convertible: true,
		For: time.Hour,
	})
	w.must(err)
	plan, err := w.orders.SavingsPlan(t.Context(),
		control.SavingsPlan{Type: "EC2Instance", Family: "m5", USD: 0.25, Discount: 0.5, For: time.Hour})
	w.must(err)
	shown := func() types.ReservedInstances {
		out, err := w.ec2.DescribeReservedInstances(t.Context(),
			&ec2.DescribeReservedInstancesInput{ReservedInstancesIds: []string{instances}})
		w.must(err)
		return out.ReservedInstances[0]
	}
	if r := shown(); *r.InstanceCount != 4 || r.Scope != types.ScopeAvailabilityZone ||
		r.ProductDescription != "Windows" ||
		r.InstanceTenancy != types.TenancyDedicated || r.OfferingClass != types.OfferingClassTypeConvertible ||
		r.State != types.ReservedInstanceStateActive {
		t.Errorf("the Reserved Instances are %+v", r)
	}
	plans := savingsplans.NewFromConfig(w.config)
	listed, err := plans.DescribeSavingsPlans(t.Context(), &savingsplans.DescribeSavingsPlansInput{})
	w.must(err)
	if p := listed.SavingsPlans[0]; len(listed.SavingsPlans) != 1 || *p.SavingsPlanId != plan ||
		*p.Ec2InstanceFamily != "m5" || *p.Commitment != "0.25" {
		t.Errorf("the plan is %+v", p)
	}
	rates, err := plans.DescribeSavingsPlanRates(t.Context(),
		&savingsplans.DescribeSavingsPlanRatesInput{SavingsPlanId: &plan,
			Filters: []plantypes.SavingsPlanRateFilter{{Name: "usageType", Values: []string{"BoxUsage:m5.large"}}}})
	w.must(err)
	if len(rates.SearchResults) != 1 || *rates.SearchResults[0].Rate != "0.0480000" {
		t.Errorf("rates of m5.large are %+v, want half its price", rates.SearchResults)
	}
	_, err = w.orders.Forward(t.Context(), 2*time.Hour)
	w.must(err)
	if r := shown(); r.State != "retired" {
		t.Errorf("after their term the Reserved Instances are %s", r.State)
	}
	listed, err = plans.DescribeSavingsPlans(t.Context(), &savingsplans.DescribeSavingsPlansInput{})
	w.must(err)
	if p := listed.SavingsPlans[0]; p.State != "retired" {
		t.Errorf("after its term the plan is %s", p.State)
	}
}

// Capacity is reserved for instances that ask for it, and an interruptible reservation is reclaimed by its owner.
func TestReserveAndReclaim(t *testing.T) {
	w := open(t)
	id, err := w.orders.Reserve(t.Context(), control.Reserve{Kind: "m5.large", Zone: "us-east-1a", Machines: 2, Interruptible: true, Tags: map[string]string{"team": "web"}})
	w.must(err)
	shown := func() types.CapacityReservation {
		out, err := w.ec2.DescribeCapacityReservations(t.Context(), &ec2.DescribeCapacityReservationsInput{
			Filters: []types.Filter{{Name: aws.String("tag:team"), Values: []string{"web"}}}})
		w.must(err)
		return out.CapacityReservations[0]
	}
	if r := shown(); *r.CapacityReservationId != id || *r.AvailableInstanceCount != 2 || !*r.Interruptible {
		t.Errorf("the reservation is %+v, want an interruptible one with room for two", r)
	}
	warned, err := w.orders.Reclaim(t.Context(), control.Reclaim{Reservation: id, Left: 1})
	w.must(err)
	if r := shown(); len(warned) > 0 || *r.AvailableInstanceCount != 1 || *r.TotalInstanceCount != 1 {
		t.Errorf("%v were warned and the reservation is %+v; want room for one, and nobody warned where nobody runs", warned, r)
	}
	_, err = w.orders.Reclaim(t.Context(), control.Reclaim{Reservation: id})
	w.must(err)
	if r := shown(); r.State != types.CapacityReservationStateCancelled {
		t.Errorf("the reservation is %s after all was reclaimed, want it cancelled", r.State)
	}
}

// Launches are refused where the order says so, with its code, until that is over.
func TestRefuse(t *testing.T) {
	w := open(t)
	pools, err := w.orders.Refuse(t.Context(), control.Refuse{Kind: "m5.large", Zone: "us-east-1a", Option: "spot", Code: "UnfulfillableCapacity"})
	w.must(err)
	_, spot := w.launch("m5.large", "us-east-1a", true)
	_, demand := w.launch("m5.large", "us-east-1a", false)
	if pools != 1 || spot != "UnfulfillableCapacity" || demand != "" {
		t.Errorf("%d pools: %q on spot and %q on demand; want spot alone refused", pools, spot, demand)
	}
	_, err = w.orders.Refuse(t.Context(), control.Refuse{Kind: "*", End: true})
	w.must(err)
	if _, got := w.launch("m5.large", "us-east-1a", true); got != "" {
		t.Errorf("in the end: %q, want a machine", got)
	}
}

// Of the instances that are launched next some end before they run, and say why, and a share never joins.
func TestBoots(t *testing.T) {
	w := open(t)
	w.must(w.orders.Boots(t.Context(), control.Boots{Fail: 1, Reason: "Client.VolumeLimitExceeded", NeverJoin: 1}))
	w.launch("m5.large", "us-east-1a", false)
	w.launch("m5.large", "us-east-1a", false)
	w.Advance(time.Minute)
	w.server.Advance()
	all := w.server.Instances()
	out, err := w.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{all[0].ID}})
	w.must(err)
	if why := *out.Reservations[0].Instances[0].StateReason.Code; all[0].State != "terminated" || why != "Client.VolumeLimitExceeded" {
		t.Errorf("the first is %s for %s, want it to have ended as told", all[0].State, why)
	}
	if all[1].State != "running" || !all[1].NeverJoins {
		t.Errorf("the second is %s, never joins %v; want it to run and never to join", all[1].State, all[1].NeverJoins)
	}
	w.must(w.orders.Boots(t.Context(), control.Boots{}))
	w.launch("m5.large", "us-east-1a", false)
	if all = w.server.Instances(); all[2].NeverJoins {
		t.Error("in the end machines never join still")
	}
}

// A zonal shift lasts as long as was said, an autoshift until it is ended.
func TestShift(t *testing.T) {
	w := open(t)
	arc, arn := arczonalshift.NewFromConfig(w.config), "arn:aws:eks:us-east-1:123456789012:cluster/lab"
	shifts := func() string {
		out, err := arc.GetManagedResource(t.Context(), &arczonalshift.GetManagedResourceInput{ResourceIdentifier: &arn})
		w.must(err)
		return fmt.Sprintf("%d by users, %d by AWS", len(out.ZonalShifts), len(out.Autoshifts))
	}
	_, err := w.orders.Shift(t.Context(), control.Shift{Zone: "us-east-1a", For: time.Hour})
	w.must(err)
	_, err = w.orders.Shift(t.Context(), control.Shift{Zone: "us-east-1b", Auto: true})
	w.must(err)
	if got := shifts(); got != "1 by users, 1 by AWS" {
		t.Errorf("%s, want one each", got)
	}
	w.Advance(time.Hour)
	if got := shifts(); got != "0 by users, 1 by AWS" {
		t.Errorf("%s an hour later, want the autoshift", got)
	}
	ended, err := w.orders.Shift(t.Context(), control.Shift{Zone: "us-east-1b", End: true})
	w.must(err)
	if got := shifts(); ended != 1 || got != "0 by users, 0 by AWS" {
		t.Errorf("%d ended, %s; want none left", ended, got)
	}
}

// The account tells how it is, for whoever wants to know what was ordered.
func TestStatus(t *testing.T) {
	w := open(t)
	w.launch("m5.large", "us-east-1a", false)
	_, err := w.orders.Outage(t.Context(), control.Outage{Zone: "us-east-1c"})
	w.must(err)
	_, err = w.orders.Forward(t.Context(), time.Hour)
	w.must(err)
	_, err = w.orders.Fault(t.Context(), control.Fault{Action: "CreateFleet", Code: "InternalError"})
	w.must(err)
	limited, err := w.orders.Ice(t.Context(), control.Ice{Kind: "m5.*"})
	w.must(err)
	priced, err := w.orders.Price(t.Context(), control.Price{Kind: "c5.large", Times: 2})
	w.must(err)
	refused, err := w.orders.Refuse(t.Context(), control.Refuse{Kind: "r5.large", Code: "UnfulfillableCapacity"})
	w.must(err)
	_, err = w.orders.Throttle(t.Context(), control.Throttle{Action: "*", Times: 0.1})
	w.must(err)
	_, err = w.orders.Throttle(t.Context(), control.Throttle{Action: "[^C]*", End: true})
	w.must(err)
	s, err := w.orders.Status(t.Context())
	w.must(err)
	if s.Limited != limited || s.Priced != priced || s.Refused != refused || !slices.Contains(s.Throttled, "CreateFleet") || slices.Contains(s.Throttled, "DescribeInstances") {
		t.Errorf("%d pools limited, %d priced, %d refused, %v throttled; want %d, %d, %d, and what begins with C",
			s.Limited, s.Priced, s.Refused, s.Throttled, limited, priced, refused)
	}
	if s.Seed != 7 || s.Instances != 1 || s.Ahead != time.Hour || s.CostUSD <= 0 || s.Calls["RunInstances"] != 1 ||
		!slices.Equal(s.Out, []string{"us-east-1c"}) || len(s.Faults) != 1 {
		t.Errorf("status = %+v", s)
	}
}
