package fleet

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/capacity"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
)

func TestLaunchReturnsWhatWasLaunched(t *testing.T) {
	a := newAccount(delivers(3))
	got, err := launcher(a).Launch(t.Context(), request(t, func(r *Request) { r.Launch.Count = 3 }))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got[0].ID != "i-1" || got[2].ID != "i-3" {
		t.Fatalf("machines = %+v, want three sorted by ID", got)
	}
	m := got[0]
	if m.Kind != "m5.large" || m.Zone != "us-east-1a" || m.ZoneID != "use1-az1" || m.ProviderID != "aws:///us-east-1a/i-1" ||
		m.Option != cluster.Spot || m.Image != "ami-x86" || m.Class != "default" || m.Batch != "batch-1" || m.State != cloud.Pending ||
		!m.LaunchedAt.Equal(start) || m.Tags["team"] != "web" || m.Tags["daemok.sh/batch"] != "batch-1" {
		t.Errorf("machine = %+v", m)
	}
	if len(a.templates) != 3 {
		t.Errorf("made %d templates, want one for each image and number of pods", len(a.templates))
	}
}

func TestARepeatedRequestIsSentAsItWas(t *testing.T) {
	a := newAccount(delivers(1))
	b := launcher(a)
	first := request(t, nil)
	again := request(t, func(r *Request) { r.Subnets[0].ID = "subnet-other"; r.Class.Resolved.Subnets = nil })
	for _, r := range []Request{first, again} {
		if _, err := b.Launch(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if x, y := indent(t, a.fleets[0]), indent(t, a.fleets[1]); x != y {
		t.Errorf("the second call differs:\n%s\n%s", x, y)
	}
	if len(a.templates) != 3 {
		t.Errorf("%d templates, want those of the first call alone", len(a.templates))
	}
	changed := request(t, func(r *Request) { r.Launch.Count = 2 })
	if _, err := b.Launch(t.Context(), changed); err == nil {
		t.Error("one machine of two was called a success")
	}
	if *a.fleets[2].TargetCapacitySpecification.TotalTargetCapacity != 2 {
		t.Error("a request with other parameters was not sent as it is: EC2 must tell")
	}
}

func TestMismatchedTokens(t *testing.T) {
	a := newAccount(func(int, *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		return nil, &smithy.GenericAPIError{Code: "IdempotentParameterMismatch"}
	})
	_, err := launcher(a).Launch(t.Context(), request(t, nil))
	if mismatch, ok := errors.AsType[*cloud.TokenMismatchError](err); !ok || mismatch.Token != "token-1" {
		t.Errorf("Launch = %v, want a mismatch of token-1", err)
	}
}

func TestShortageIsAnAnswerAndRemembered(t *testing.T) {
	for _, code := range []string{"InsufficientInstanceCapacity", "MaxSpotInstanceCountExceeded", "VcpuLimitExceeded", "UnfulfillableCapacity",
		"Unsupported", "MaxFleetCountExceeded", "ReservationCapacityExceeded"} {
		b := launcher(newAccount(refuses(code)))
		got, err := b.Launch(t.Context(), request(t, nil))
		short, ok := errors.AsType[*cloud.NoCapacityError](err)
		if !ok || len(got) != 0 || len(short.Offerings) != 4 || short.Offerings[0].Kind != "m5.large" || !strings.Contains(short.Cause, code) {
			t.Errorf("%s: Launch = %v, %v; want all four offerings short, in the order of the request", code, got, err)
		}
		v := b.Shortage.View()
		remembered := func(option cluster.Option) bool {
			return v.Offering("m5.large", "us-east-1b", option, "") || v.Quota("Standard", 2, option)
		}
		if !remembered(cluster.Spot) || remembered(cluster.OnDemand) {
			t.Errorf("%s is not remembered, or for on-demand too", code)
		}
	}
}

// A limit of vCPUs is no shortage of one type: other types that count against it are
// not asked for either, and those of other limits are; no family is doubtful for it.
func TestALimitOfTheAccountIsRememberedForAllThatCountAgainstIt(t *testing.T) {
	for code, want := range map[string]bool{"VcpuLimitExceeded": true, "MaxSpotInstanceCountExceeded": true, "InsufficientInstanceCapacity": false} {
		b := launcher(newAccount(refuses(code)))
		if _, err := b.Launch(t.Context(), request(t, nil)); err == nil {
			t.Fatal("something was bought")
		}
		v := b.Shortage.View()
		if got := v.Quota("Standard", 2, cluster.Spot); got != want {
			t.Errorf("%s: the account's limit is reached = %v, want %v", code, got, want)
		}
		if v.Quota("G and VT", 2, cluster.Spot) || v.Quota("Standard", 2, cluster.OnDemand) || v.Quota("Standard", 1, cluster.Spot) {
			t.Errorf("%s: remembered for what it says nothing of", code)
		}
		if v.Offering("m5.large", "us-east-1a", cluster.Spot, "") == want || v.Doubtful("m5.2xlarge", "us-east-1a", cluster.Spot, "") == want {
			t.Errorf("%s: kept in mind for the account as a whole is %v, and for single offers or their families too", code, want)
		}
	}
}

// What EC2 says of a launch into one reservation says nothing of another of its type and zone.
func TestAShortageInAReservationIsOfNoOther(t *testing.T) {
	for _, code := range []string{"InsufficientInstanceCapacity", "UnfulfillableCapacity", "VcpuLimitExceeded"} {
		b := launcher(newAccount(refuses(code)))
		_, err := b.Launch(t.Context(), request(t, func(r *Request) {
			r.Launch.Options = []cloud.OfferingChoice{{Kind: "m5.large", Zone: "us-east-1a", Option: cluster.Reserved, ReservedCapacity: "cr-1"}}
		}))
		if short, ok := errors.AsType[*cloud.NoCapacityError](err); !ok || len(short.Offerings) != 1 || short.Offerings[0].ReservedCapacity != "cr-1" {
			t.Errorf("%s: Launch = %v, want the offer of the reservation short", code, err)
		}
		v := b.Shortage.View()
		if !v.Reservation("cr-1") || v.Reservation("cr-2") || v.Offering("m5.large", "us-east-1a", cluster.Reserved, "") {
			t.Errorf("SC-416 %s: it must be kept in mind of the reservation, and of nothing else", code)
		}
	}
}

// What was had is not doubted for having been short before.
func TestWhatIsHadIsDoubtedNoMore(t *testing.T) {
	a := newAccount(refuses("InsufficientInstanceCapacity"))
	b := launcher(a)
	for _, token := range []string{"token-1", "token-2"} {
		if _, err := b.Launch(t.Context(), request(t, func(r *Request) { r.Launch.Token = token })); err == nil {
			t.Fatal("something was bought")
		}
		_ = b.Pause(t.Context(), capacity.Keep)
	}
	doubtful := func() bool { return b.Shortage.View().Doubtful("m6g.large", "us-east-1b", cluster.Spot, "") }
	if !doubtful() {
		t.Error("an offer that was short twice in a row is not doubtful")
	}
	a.answer = delivers(1)
	got, err := b.Launch(t.Context(), request(t, func(r *Request) { r.Launch.Token, r.Launch.Options = "token-3", r.Launch.Options[2:3] }))
	if err != nil || got[0].Kind != "m6g.large" {
		t.Fatalf("Launch = %+v, %v", got, err)
	}
	if doubtful() {
		t.Error("it is doubtful though a machine was had")
	}
}

func TestPartialDelivery(t *testing.T) {
	a := newAccount(func(_ int, in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		c := in.LaunchTemplateConfigs[1]
		return &ec2.CreateFleetOutput{Instances: instances(in, 2), Errors: []types.CreateFleetError{{
			ErrorCode: aws.String("InsufficientInstanceCapacity"), LaunchTemplateAndOverrides: placed(c, c.Overrides[0])}}}, nil
	})
	b := launcher(a)
	got, err := b.Launch(t.Context(), request(t, func(r *Request) { r.Launch.Count = 3 }))
	short, ok := errors.AsType[*cloud.NoCapacityError](err)
	if len(got) != 2 || !ok || len(short.Offerings) != 1 || short.Offerings[0].Kind != "m5.xlarge" {
		t.Errorf("Launch = %d machines, %v; want two machines and m5.xlarge short", len(got), err)
	}
	if v := b.Shortage.View(); v.Offering("m5.large", "us-east-1a", cluster.Spot, "") || !v.Offering("m5.xlarge", "us-east-1a", cluster.Spot, "") {
		t.Error("the offers remembered are not those that were short")
	}
}

func TestEnoughInstancesAreASuccessWhateverElseWasShort(t *testing.T) {
	a := newAccount(func(n int, in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		out, err := refuses("InsufficientInstanceCapacity")(n, in)
		out.Instances = instances(in, 1)
		return out, err
	})
	b := launcher(a)
	if got, err := b.Launch(t.Context(), request(t, nil)); err != nil || len(got) != 1 {
		t.Errorf("Launch = %v, %v", got, err)
	}
	if !b.Shortage.View().Offering("m6g.large", "us-east-1b", cluster.Spot, "") {
		t.Error("what was short is not remembered")
	}
}

// Where EC2 does not say which subnet is full, those that were asked for are.
func TestAFullSubnetIsNotAShortType(t *testing.T) {
	for name, answer := range map[string]func(int, *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error){
		"EC2 names the subnets": refuses("InsufficientFreeAddressesInSubnet"),
		"EC2 names none": func(int, *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
			return nil, &smithy.GenericAPIError{Code: "InsufficientFreeAddressesInSubnet"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := launcher(newAccount(answer))
			_, err := b.Launch(t.Context(), request(t, nil))
			if _, ok := errors.AsType[*cloud.NoCapacityError](err); !ok {
				t.Errorf("Launch = %v, want no capacity", err)
			}
			v := b.Shortage.View()
			if !v.Subnet("subnet-a") || !v.Subnet("subnet-b") || v.Offering("m5.large", "us-east-1a", cluster.Spot, "") {
				t.Error("the subnets must be remembered as full, and no type as short")
			}
		})
	}
}

func TestAMissingSpotRoleStopsSpotAlone(t *testing.T) {
	b := launcher(newAccount(refuses("AuthFailure.ServiceLinkedRoleCreationNotPermitted")))
	_, err := b.Launch(t.Context(), request(t, nil))
	if refused, ok := errors.AsType[*cloud.RefusedError](err); !ok || refused.Reason != "SpotSLRCreationFailed" {
		t.Errorf("Launch = %v, want SpotSLRCreationFailed", err)
	}
	if v := b.Shortage.View(); !v.Offering("any", "where", cluster.Spot, "") || v.Offering("any", "where", cluster.OnDemand, "") {
		t.Error("spot, and spot alone, must count as short")
	}
}

func TestNoInstancesAndNoReason(t *testing.T) {
	b := launcher(newAccount(delivers(0)))
	_, err := b.Launch(t.Context(), request(t, nil))
	if short, ok := errors.AsType[*cloud.NoCapacityError](err); !ok || len(short.Offerings) != 4 {
		t.Errorf("Launch = %v, want all offers short", err)
	}
	if !b.Shortage.View().Offering("m5.large", "us-east-1a", cluster.Spot, "") {
		t.Error("the offers are not remembered, so the next plan would ask again at once")
	}
}

func TestRefusals(t *testing.T) {
	tests := map[string]struct{ code, message, want string }{
		"no rights":                  {"UnauthorizedOperation", "You are not authorized", "Unauthorized"},
		"an unknown profile":         {"InvalidParameterValue", "Value (x) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", "InstanceProfileNameInvalid"},
		"groups of another network":  {"InvalidParameter", "Security group sg-1 and subnet subnet-1 belong to different networks.", "SecurityGroupSubnetVPCMismatch"},
		"an image that is not there": {"InvalidAMIID.NotFound", "The image id does not exist", "AMINotFound"},
		"an image of another CPU":    {"InvalidParameterValue", "The architecture 'arm64' of the specified instance type does not match", "LaunchFailed"},
		"an account not verified":    {"PendingVerification", "Your request is being validated", "AccountPendingVerification"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			whole := func(int, *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
				return nil, &smithy.GenericAPIError{Code: tt.code, Message: tt.message}
			}
			single := func(_ int, in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
				return &ec2.CreateFleetOutput{Errors: []types.CreateFleetError{{ErrorCode: &tt.code, ErrorMessage: &tt.message}}}, nil
			}
			for _, answer := range []func(int, *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error){whole, single} {
				_, err := launcher(newAccount(answer)).Launch(t.Context(), request(t, nil))
				refused, ok := errors.AsType[*cloud.RefusedError](err)
				if !ok || refused.Reason != tt.want || !strings.Contains(refused.Cause, tt.message) {
					t.Errorf("Launch = %v, want %s", err, tt.want)
				}
			}
		})
	}
}

func TestThrottling(t *testing.T) {
	a := newAccount(func(int, *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		return nil, &smithy.GenericAPIError{Code: "RequestLimitExceeded"}
	})
	_, err := launcher(a).Launch(t.Context(), request(t, nil))
	if _, ok := errors.AsType[*cloud.ThrottledError](err); !ok {
		t.Errorf("Launch = %v, want throttled", err)
	}
}

// EC2 may ask for timeout for one combination alone. That says nothing of what it has.
func TestThrottlingIsNoShortage(t *testing.T) {
	b := launcher(newAccount(refuses("RequestLimitExceeded")))
	_, err := b.Launch(t.Context(), request(t, nil))
	if refused, ok := errors.AsType[*cloud.RefusedError](err); !ok || refused.Reason != "RequestLimitExceeded" {
		t.Errorf("Launch = %v, want RequestLimitExceeded", err)
	}
	if b.Shortage.View().Offering("m5.large", "us-east-1a", cluster.Spot, "") {
		t.Error("SC-416: what was not asked for counts as short")
	}
}

func TestTroubleThatMayPassIsNoRefusal(t *testing.T) {
	for _, cause := range []error{errors.New("connection reset"), &smithy.GenericAPIError{Code: "InternalError"}} {
		a := newAccount(func(int, *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) { return nil, cause })
		_, err := launcher(a).Launch(t.Context(), request(t, nil))
		if _, refused := errors.AsType[*cloud.RefusedError](err); refused || !errors.Is(err, cause) {
			t.Errorf("Launch = %v; the outcome is unknown, and the cause must be kept", err)
		}
	}
}

// Someone has deleted the templates: they are made again and the call repeated
// under its token, since EC2 has not taken it.
func TestDeletedTemplatesAreMadeAgain(t *testing.T) {
	a := newAccount(delivers(1))
	b := launcher(a)
	if _, err := b.Launch(t.Context(), request(t, nil)); err != nil {
		t.Fatal(err)
	}
	clear(a.templates)
	_ = b.Pause(t.Context(), time.Minute) // long enough that EC2 would see them
	if _, err := b.Launch(t.Context(), request(t, func(r *Request) { r.Launch.Token = "token-2" })); err != nil {
		t.Fatal(err)
	}
	if len(a.templates) != 3 || len(a.fleets) != 3 || *a.fleets[1].ClientToken != "token-2" || *a.fleets[2].ClientToken != "token-2" {
		t.Errorf("%d calls; want the second repeated under its own token", len(a.fleets))
	}
}

// EC2 answered that it does not see the templates yet. An equal call would get
// an equal answer, so the next ones need tokens of their own.
func TestTemplatesNotSeenYetAreWaitedFor(t *testing.T) {
	a := newAccount(func(n int, in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		if n < 3 {
			return refuses("InvalidLaunchTemplateName.NotFoundException")(n, in)
		}
		return delivers(1)(n, in)
	})
	b := launcher(a)
	if got, err := b.Launch(t.Context(), request(t, nil)); err != nil || len(got) != 1 {
		t.Fatalf("Launch = %v, %v", got, err)
	}
	var tokens []string
	for _, f := range a.fleets {
		tokens = append(tokens, *f.ClientToken)
	}
	if !slices.Equal(tokens, []string{"token-1", "token-1-1", "token-1-2"}) {
		t.Errorf("tokens %v", tokens)
	}
}

// EC2 does not see one of several templates yet, whichever: those that are there
// are asked for once more at most, since an account may make few a second.
func TestTemplatesThatAreThereAreNotMadeAgainAndAgain(t *testing.T) {
	a := newAccount(func(n int, in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		if n > 1 && n < 9 {
			return refuses("InvalidLaunchTemplateName.NotFoundException")(n, in)
		}
		return delivers(1)(n, in)
	})
	b := launcher(a)
	if _, err := b.Launch(t.Context(), request(t, nil)); err != nil {
		t.Fatal(err)
	}
	_ = b.Pause(t.Context(), time.Minute)
	delete(a.templates, a.created[0])
	if _, err := b.Launch(t.Context(), request(t, func(r *Request) { r.Launch.Token = "token-2" })); err != nil {
		t.Fatal(err)
	}
	if len(a.fleets) != 9 || len(a.created) != 2*len(a.templates) {
		t.Errorf("%d templates were asked for %d times in %d calls; want each twice", len(a.templates), len(a.created), len(a.fleets))
	}
}

// A fleet that launched some and did not see a template for the others has launched: asked
// for again it would launch these twice.
func TestAFleetThatLaunchedSomeIsNotAskedForAgain(t *testing.T) {
	a := newAccount(func(n int, in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
		out, err := delivers(1)(n, in)
		missing, _ := refuses("InvalidLaunchTemplateName.NotFoundException")(n, in)
		out.Errors = missing.Errors
		return out, err
	})
	got, _ := launcher(a).Launch(t.Context(), request(t, func(r *Request) { r.Launch.Count = 2 }))
	if len(a.fleets) != 1 || len(got) != 1 {
		t.Errorf("%d calls for a fleet, with %d machines told of; want one, and the machine that it launched", len(a.fleets), len(got))
	}
}

func TestTemplatesNeverSeenAreReportedAfterAWhile(t *testing.T) {
	a := newAccount(refuses("InvalidLaunchTemplateName.NotFoundException"))
	b := launcher(a)
	_, err := b.Launch(t.Context(), request(t, nil))
	if refused, ok := errors.AsType[*cloud.RefusedError](err); !ok || refused.Reason != "LaunchTemplateNotFound" || b.Now().Sub(start) != templateTimeout {
		t.Errorf("Launch = %v after %v, want LaunchTemplateNotFound after %v", err, b.Now().Sub(start), templateTimeout)
	}
	a.fleets = nil
	b.Pause = func(context.Context, time.Duration) error { return context.Canceled }
	if _, err := b.Launch(t.Context(), request(t, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("Launch = %v, want the end of the context", err)
	}
}

func TestUnusedTemplatesGo(t *testing.T) {
	a := newAccount(delivers(1))
	now := start
	b := launcher(a)
	b.Templates = NewTemplates(a, "prod", func() time.Time { return now })
	if _, err := b.Launch(t.Context(), request(t, nil)); err != nil {
		t.Fatal(err)
	}
	a.templates["somebody-elses"] = &ec2.CreateLaunchTemplateInput{TagSpecifications: []types.TagSpecification{{
		Tags: []types.Tag{{Key: aws.String("kubernetes.io/cluster/prod"), Value: aws.String("owned")}}}}}
	a.templates["daemok.sh/another-clusters"] = &ec2.CreateLaunchTemplateInput{TagSpecifications: []types.TagSpecification{{
		Tags: []types.Tag{{Key: aws.String("kubernetes.io/cluster/test"), Value: aws.String("owned")}}}}}
	a.templates["daemok.sh/another-clusters-of-the-name"] = &ec2.CreateLaunchTemplateInput{TagSpecifications: []types.TagSpecification{{
		Tags: []types.Tag{{Key: aws.String("kubernetes.io/cluster/prod"), Value: aws.String("owned")}, {Key: aws.String("daemok.sh/cluster-uid"), Value: aws.String("uid-2")}}}}}
	refresh := func(kept int) {
		t.Helper()
		b.Templates.UID = "uid-1"
		if err := b.Templates.Refresh(t.Context()); err != nil || len(a.templates) != kept+3 {
			t.Errorf("after Refresh: %d templates, %v; want %d and those of others", len(a.templates), err, kept)
		}
	}
	now = now.Add(keepUnused)
	refresh(3)
	if _, err := b.Launch(t.Context(), request(t, func(r *Request) { r.Launch.Options = r.Launch.Options[:1] })); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	refresh(1)
	restarted := NewTemplates(a, "prod", func() time.Time { return now })
	b.Templates = restarted
	refresh(1)
	now = now.Add(2 * keepUnused)
	refresh(0)
}

func TestDeleteOfRemovesAClassesTemplates(t *testing.T) {
	a := newAccount(delivers(1))
	b := launcher(a)
	for _, class := range []string{"default", "other"} {
		if _, err := b.Launch(t.Context(), request(t, func(r *Request) { r.Class.Name = class; r.Launch.Token = class })); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Templates.DeleteOf(t.Context(), "default"); err != nil || len(a.templates) != 3 || len(a.deleted) != 3 {
		t.Errorf("DeleteOf = %v; left %d, deleted %d; want 3 and 3", err, len(a.templates), len(a.deleted))
	}
}

func TestAddressesOfInstancesJustLaunchedCount(t *testing.T) {
	a := newAccount(delivers(2))
	b := launcher(a)
	subnets := []nodeclass.Subnet{{ID: "subnet-a", Zone: "us-east-1a", Free: 70}, {ID: "subnet-c", Zone: "us-east-1a", Free: 20}}
	b.Addresses.Saw(subnets)
	if _, err := b.Launch(t.Context(), request(t, func(r *Request) { r.Launch.Count = 2 })); err != nil {
		t.Fatal(err)
	}
	got := b.Addresses.Choose(subnets, func(string) bool { return true })
	if got[0].ID != "subnet-c" {
		t.Errorf("chose %s though two machines with 29 pods each have just been put there", got[0].ID)
	}
	a.answer = refuses("InsufficientInstanceCapacity")
	b.Addresses.Saw(subnets)
	if _, err := b.Launch(t.Context(), request(t, func(r *Request) { r.Launch.Count, r.Launch.Token = 2, "token-2" })); err == nil {
		t.Fatal("something was bought")
	}
	if got := b.Addresses.Choose(subnets, func(string) bool { return true }); got[0].ID != "subnet-a" {
		t.Errorf("SC-415: chose %s though nothing was put into the other", got[0].ID)
	}
}
