package aws

import (
	"cmp"
	"slices"
	"sync"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/rights"
	emulated "github.com/daemok/daemok/test/emulator/commitment"
)

const shadowRole = "prod-shadow"

func shadowScope() rights.Scope {
	return rights.Scope{Partition: "aws", Account: "123456789012", Region: "us-east-1", Cluster: "prod",
		Features: rights.Features()}
}

// inShadow leaves who calls the rights of shadow mode.
func (a *account) inShadow(t *testing.T) {
	t.Helper()
	_, err := a.admin.IAM.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: sdk.String(shadowRole),
		AssumeRolePolicyDocument: sdk.String(`{"Statement": {"Effect": "Allow", "Principal": "*", "Action": "sts:AssumeRole"}}`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.server.Attach(shadowRole, "shadow", rights.Whole(rights.Shadow(shadowScope())).JSON()); err != nil {
		t.Fatal(err)
	}
	a.server.Enforce("test", shadowRole)
}

// called collects the actions that are called.
type called struct {
	mu      sync.Mutex
	actions []string
}

// Called implements client.Observer.
func (c *called) Called(call client.Call) {
	prefix := map[string]string{"EC2": "ec2", "EKS": "eks", "SSM": "ssm", "Pricing": "pricing",
		"Service Quotas": "servicequotas", "ARC Zonal Shift": "arc-zonal-shift"}[call.Service]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.actions = append(c.actions, cmp.Or(prefix, call.Service)+":"+call.Operation)
}

// Shadow mode does all that it does at AWS with the policy of shadow mode, which has no action that it does not call.
func TestThePolicyOfShadowModeIsWhatItNeeds(t *testing.T) {
	a, calls := openAccount(t), &called{}
	a.inShadow(t)
	a.server.AddSavingsPlan(emulated.Plan{CommitmentUSD: 1})
	group := sdk.String("web")
	if _, err := a.admin.EC2.CreatePlacementGroup(t.Context(),
		&ec2.CreatePlacementGroupInput{GroupName: group, Strategy: types.PlacementStrategySpread}); err != nil {
		t.Fatal(err)
	}
	p, err := New(t.Context(),
		Options{Cluster: "prod", Now: a.Now, Pause: a.Pause, ReadOnly: true, ZonalShift: true, Commitments: true,
			Observer: calls,
			Warn:     func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	class := nodeclass.Class{Name: "given", Spec: defaultSpec()}
	class.Spec.Reservations = []nodeclass.ReservationTerm{{Tags: map[string]string{"team": "web"}}}
	class.Spec.Placement = &nodeclass.PlacementTerm{Name: *group}
	for what, do := range map[string]func() error{
		"check":        func() error { return p.Check(t.Context()) },
		"refresh":      func() error { return p.Refresh(t.Context()) },
		"subnets":      func() error { _, err := p.Subnets(t.Context(), class); return err },
		"groups":       func() error { _, err := p.Groups(t.Context(), class); return err },
		"images":       func() error { _, err := p.Images(t.Context(), class); return err },
		"reservations": func() error { _, err := p.Reservations(t.Context(), class); return err },
		"placement":    func() error { _, err := p.Placement(t.Context(), class); return err },
	} {
		if err := do(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	var granted []string
	for _, s := range rights.Whole(rights.Shadow(shadowScope())).Statements {
		granted = append(granted, s.Actions...)
	}
	slices.Sort(granted)
	slices.Sort(calls.actions)
	if made := slices.Compact(calls.actions); !slices.Equal(made, granted) {
		t.Errorf("called are\n%v\nand the policy allows\n%v", made, granted)
	}
}
