// Package emulator is an emulated AWS account that the real AWS SDK connects to. It is an http.Handler
// over package market. It speaks the wire protocols of EC2, IAM, STS, SSM, SQS, EventBridge, EKS, EKS
// Auth, Pricing, Service Quotas, Savings Plans and FIS. Tests, the lab and demos point AWS_ENDPOINT_URL at it.
//
// It promises AWS's documented behaviour where clients depend on it: paging with its caps, filters and
// their errors, dry runs, idempotency by client token, partial fulfilment of fleets, throttling, and
// the lag between a change and its visibility. It does not check signatures, except for their dates
// where STS is called. Callers have all permissions until Deny takes them away, except for temporary
// credentials and for access keys that Enforce names: for these the policies of their role decide.
// Temporary credentials are issued as AWS issues them to pods: see SetIssuerKeys and PodIdentityAgent.
// The emulator runs no instances: a caller that follows Watch may boot something for them.
//
// Each service is a package of its own, and so is each part of EC2: with its state, its actions, and small interfaces to what it uses
// of the others. All share package world. The server composes them and passes each call to the action that answers it.
package emulator

import (
	"maps"
	"sync"

	"github.com/daemok/daemok/test/emulator/arc"
	"github.com/daemok/daemok/test/emulator/autoscaling"
	"github.com/daemok/daemok/test/emulator/commitment"
	"github.com/daemok/daemok/test/emulator/ec2/catalogue"
	"github.com/daemok/daemok/test/emulator/ec2/image"
	"github.com/daemok/daemok/test/emulator/ec2/instance"
	"github.com/daemok/daemok/test/emulator/ec2/launch"
	"github.com/daemok/daemok/test/emulator/ec2/network"
	"github.com/daemok/daemok/test/emulator/ec2/placement"
	"github.com/daemok/daemok/test/emulator/ec2/reservation"
	"github.com/daemok/daemok/test/emulator/ec2/tagging"
	"github.com/daemok/daemok/test/emulator/ec2/template"
	"github.com/daemok/daemok/test/emulator/eks"
	"github.com/daemok/daemok/test/emulator/elb"
	"github.com/daemok/daemok/test/emulator/eventbridge"
	"github.com/daemok/daemok/test/emulator/faults"
	"github.com/daemok/daemok/test/emulator/fis"
	"github.com/daemok/daemok/test/emulator/iam"
	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/pricing"
	"github.com/daemok/daemok/test/emulator/servicequotas"
	"github.com/daemok/daemok/test/emulator/sqs"
	"github.com/daemok/daemok/test/emulator/ssm"
	"github.com/daemok/daemok/test/emulator/sts"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// Server is the pretend account. It is safe for concurrent use.
type Server struct {
	*world.World
	*identity.Identity
	*faults.Injector
	*sqs.SQS
	*eventbridge.Bus
	*eks.EKS
	*arc.ARC
	*commitment.Commitments
	*network.Network
	*image.Registry
	*template.Store
	*instance.Inventory
	*reservation.Ledger
	*launch.Launcher

	scaling *autoscaling.Scaling
	fis     *fis.FIS
	elb     *elb.ELB

	tables map[string]map[string]world.Action // by service

	advancing sync.Mutex // one Advance at a time, so that events stay in order
	watchers  watchers
}

// New opens an account.
func New(o world.Options) *Server {
	w := world.New(o)
	s := &Server{
		World: w, Identity: identity.New(w), Injector: faults.New(w), SQS: sqs.New(w), ARC: arc.New(w), scaling: autoscaling.New(w),
		Commitments: commitment.New(w), Registry: image.New(w), Store: template.New(w),
	}
	s.Network = network.New(w, s)
	s.Bus = eventbridge.New(w, s.SQS)
	s.Inventory = instance.New(s.Identity, s.Network, s.Registry, s, s.Bus)
	s.Ledger = reservation.New(placement.New(s.Inventory))
	s.Launcher = launch.New(s.Ledger, s.Store, s.Injector)
	s.EKS = eks.New(s.Identity, s, s.scaling, o.TimeScale)
	s.fis, s.elb = fis.New(w, s), elb.New(w, s)
	s.tables = s.services()
	s.Answered = s.Actions()
	return s
}

// services are the actions that the account answers, by service.
func (s *Server) services() map[string]map[string]world.Action {
	ec2 := catalogue.New(s.World).Actions()
	for _, part := range []map[string]world.Action{
		s.Network.Actions(), s.Registry.Actions(), s.Store.Actions(), s.Inventory.Actions(), s.Layout.Actions(), s.Ledger.Actions(),
		s.ReservedActions(), s.Launcher.Actions(), tagging.New(s.Launcher).Actions(),
	} {
		maps.Copy(ec2, part)
	}
	return map[string]map[string]world.Action{
		wire.EC2:     ec2,
		wire.IAM:     iam.New(s.Identity, s.Injector).Actions(),
		wire.STS:     sts.New(s.Identity).Actions(),
		wire.SSM:     ssm.New(s.World, s).Actions(),
		wire.SQS:     s.SQS.Actions(),
		wire.EKS:     s.EKS.Actions(),
		wire.EKSAuth: s.AuthActions(),
		wire.Pricing: pricing.New(s.World).Actions(),
		wire.Quotas:  servicequotas.New(s.World).Actions(),
		wire.Events:  s.Bus.Actions(),
		wire.FIS:     s.fis.Actions(),
		wire.ELB:     s.elb.Actions(),
		wire.ARC:     s.ARC.Actions(),
		wire.Scaling: s.scaling.Actions(),
		wire.Savings: s.PlanActions(),
	}
}
