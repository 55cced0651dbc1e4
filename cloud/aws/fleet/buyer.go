package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/capacity"
	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/network"
	"github.com/daemok/daemok/cloud/aws/reservation"
)

type api interface {
	CreateFleet(context.Context, *ec2.CreateFleetInput, ...func(*ec2.Options)) (*ec2.CreateFleetOutput, error)
}

// Launcher launches instances. Pause waits, or ends early with ctx's error.
type Launcher struct {
	API       api
	Templates *Templates
	Shortage  *capacity.Memory
	Addresses *network.Addresses
	Reserved  *reservation.Book
	Now       func() time.Time
	Pause     func(ctx context.Context, d time.Duration) error

	sent memory
}

// While EC2 does not see a launch template the fleet call is repeated, for
// templateTimeout at the most. Most templates are seen within a second, so
// the first repetitions come soon; the later ones spare the account's rate.
const (
	templateTimeout = 6500 * time.Millisecond
	soonFor         = 1500 * time.Millisecond
	soonAgain       = 75 * time.Millisecond
	laterAgain      = 400 * time.Millisecond
)

// Prepare makes the launch templates that the request's fleet would name.
func (b *Launcher) Prepare(ctx context.Context, r Request) error {
	o, err := build(r)
	if err != nil {
		return err
	}
	return b.Templates.ensureAll(ctx, o.templates)
}

// Launch does what the port's Machines.Launch promises for one request.
func (b *Launcher) Launch(ctx context.Context, r Request) ([]cloud.Instance, error) {
	o, err := b.sent.orderFor(r)
	if err != nil {
		return nil, err
	}
	done := b.Addresses.Reserve(o.subnets, max(1, o.podsMin)*int64(r.Launch.Count))
	counted := b.Reserved.Begin(r.Launch.Token, int64(r.Launch.Count), o.reservedCapacities()...)
	out, err := b.launch(ctx, o)
	if err != nil {
		done(nil)
		counted(nil)
		return nil, b.explain(r, o, err)
	}
	answer := read(o, out, b.Now(), allTags(r))
	done(answer.taken(o.podsMin))
	counted(answer.fromReservedCapacities(o))
	for _, m := range answer.instances {
		b.Reserved.Holds(m.ID, o.reservedCapacitiesOf(m.ReservedCapacity, m.Zone)...)
	}
	b.resolveZone(r, o, answer)
	b.remember(o, answer)
	return answer.instances, answer.outcome(r, o)
}

// launch makes the templates and calls for the fleet, again while EC2 says that
// a template is not there. A call that EC2 refused as a whole is repeated
// under its token; one that it answered needs another.
func (b *Launcher) launch(ctx context.Context, o order) (*ec2.CreateFleetOutput, error) {
	answered, waited := 0, time.Duration(0)
	for {
		if err := b.Templates.ensureAll(ctx, o.templates); err != nil {
			return nil, err
		}
		in := *o.fleet
		in.ClientToken = aws.String(retryToken(aws.ToString(o.fleet.ClientToken), answered))
		out, err := b.API.CreateFleet(ctx, &in)
		if len(o.templates) == 0 || !templatesMissing(out, err) || waited >= templateTimeout {
			return out, err
		}
		if err == nil {
			answered++
		}
		b.Templates.doubt(o.templates)
		again := soonAgain
		if waited >= soonFor {
			again = laterAgain
		}
		again = min(again, templateTimeout-waited)
		if err := b.Pause(ctx, again); err != nil {
			return nil, fmt.Errorf("wait for launch templates: %w", err)
		}
		waited += again
	}
}

// templatesMissing reports whether nothing was launched because of that alone.
func templatesMissing(out *ec2.CreateFleetOutput, err error) bool {
	if err != nil {
		return fault.TemplateNotFound(fault.Code(err))
	}
	if len(out.Instances) > 0 || len(out.Errors) == 0 {
		return false
	}
	for _, e := range out.Errors {
		if !fault.TemplateNotFound(aws.ToString(e.ErrorCode)) {
			return false
		}
	}
	return true
}

// NoSuchTemplate says that a user's own launch template does not exist.
func NoSuchTemplate(name string) *cloud.RefusedError {
	return &cloud.RefusedError{Reason: "LaunchTemplateNotFound", Cause: fmt.Sprintf(
		"no launch template is named %q in this account and region, as spec.launchTemplate says: make it, or name another", name)}
}

// explain turns the failure of the whole call into one of the port's errors.
func (b *Launcher) explain(r Request, o order, err error) error {
	switch code := fault.Code(err); {
	case len(o.templates) == 0 && fault.TemplateNotFound(code):
		return NoSuchTemplate(r.Class.Spec.LaunchTemplate)
	case code == "IdempotentParameterMismatch":
		return &cloud.TokenMismatchError{Token: r.Launch.Token}
	case o.calledShort(refusal{code: code, message: fault.Message(err)}):
		b.recordShort(o, refusal{code: code})
		return &cloud.NoCapacityError{Offerings: o.offerings, Cause: code + ": " + fault.Message(err)}
	case fault.NoSpotRole(code):
		b.Shortage.AddOption(r.option())
	}
	return fault.Wrap("ec2:CreateFleet", err)
}
