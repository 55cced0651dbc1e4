package aws

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/audit"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/rights"
	"github.com/daemok/daemok/core/cluster"
	emulated "github.com/daemok/daemok/test/emulator/commitment"
)

// deny takes one action away from the controller's role, whatever else allows it.
func (a *account) deny(t *testing.T, action string) {
	t.Helper()
	if err := a.server.Attach(controllerRole, "deny",
		fmt.Sprintf(`{"Statement": {"Effect": "Deny", "Action": %q, "Resource": "*"}}`, action)); err != nil {
		t.Fatal(err)
	}
}

// task is what the controller does by one action, and begun what it has done before
// that (nil: nothing).
type task struct {
	begun func(t *testing.T, a *account)
	do    func(ctx context.Context, a *account) error
}

// launch is a launch of one instance.
func launch(t *testing.T, a *account) []cloud.Instance {
	t.Helper()
	got, err := a.provider.Launch(t.Context(), a.request(t, "t1", cluster.OnDemand, "m5.large"))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// tasks are what each action is for, and for which launches missing rights are reported
// before any.
func tasks() map[string]task {
	verify := task{do: func(ctx context.Context, a *account) error { return a.provider.Verify(ctx, a.class) }}
	another := func(ctx context.Context, a *account) error { // class, which makes its profile
		_, err := a.provider.Profile(ctx, nodeclass.Class{Name: "another", UID: "uid-2", Spec: defaultSpec()})
		return err
	}
	forget := task{
		begun: func(t *testing.T, a *account) { launch(t, a) },
		do:    func(ctx context.Context, a *account) error { return a.provider.Forget(ctx, a.class) },
	}
	types := task{do: func(ctx context.Context, a *account) error { return a.provider.RefreshTypes(ctx) }}
	images := task{do: func(ctx context.Context, a *account) error {
		class := a.class
		class.Spec.Images = []nodeclass.ImageTerm{{Alias: "bottlerocket@latest"}} // which was not looked up yet
		_, err := a.provider.Images(ctx, class)
		return err
	}}
	receive := func(ctx context.Context, a *account) error {
		_, err := a.provider.InterruptionMessages("prod").Next(ctx)
		return err
	}
	return map[string]task{
		"ec2:CreateFleet": verify, "ec2:CreateLaunchTemplate": verify, "ec2:CreateTags": verify, "ec2:RunInstances": verify, "iam:PassRole": verify,
		"ec2:DeleteLaunchTemplate": forget, "iam:RemoveRoleFromInstanceProfile": forget, "iam:DeleteInstanceProfile": forget,
		"ec2:TerminateInstances": {
			begun: func(t *testing.T, a *account) { a.launched = launch(t, a)[0].ID },
			do: func(ctx context.Context, a *account) error {
				_, err := a.provider.Terminate(ctx, a.launched)
				return err
			},
		},
		"ec2:DescribeImages": images, "ssm:GetParameter": images,
		"ec2:DescribeInstanceTypes": types, "ec2:DescribeInstanceTypeOfferings": types,
		"ec2:DescribeInstances": {do: func(ctx context.Context, a *account) error {
			_, err := a.provider.List(ctx, cloud.Filter{})
			return err
		}},
		"ec2:DescribeInstanceStatus": {
			begun: func(t *testing.T, a *account) { launch(t, a) },
			do: func(ctx context.Context, a *account) error {
				_, err := a.provider.Troubles(ctx)
				return err
			},
		},
		"ec2:DescribeLaunchTemplates": {do: func(ctx context.Context,
			a *account) error {
			return a.provider.RefreshTemplates(ctx)
		}},
		"ec2:DescribeSpotPriceHistory": {do: func(ctx context.Context,
			a *account) error {
			return a.provider.RefreshSpot(ctx)
		}},
		"ec2:DescribeSecurityGroups": {do: func(ctx context.Context, a *account) error {
			class := a.class
			class.Spec.Groups = []nodeclass.GroupTerm{{Name: "another"}}
			_, err := a.provider.Groups(ctx, class)
			return err
		}},
		"ec2:DescribeSubnets": {do: func(ctx context.Context, a *account) error {
			class := a.class
			class.Spec.Subnets = []nodeclass.SubnetTerm{{Tags: map[string]string{"another": "*"}}}
			_, err := a.provider.Subnets(ctx, class)
			return err
		}},
		"ec2:DescribeCapacityReservations": {do: func(ctx context.Context, a *account) error {
			class := a.class
			class.Spec.Reservations = []nodeclass.ReservationTerm{{Tags: map[string]string{"team": "web"}}}
			_, err := a.provider.Reservations(ctx, class)
			return err
		}},
		"ec2:DescribePlacementGroups": {do: func(ctx context.Context, a *account) error {
			class := a.class
			class.Spec.Placement = &nodeclass.PlacementTerm{Name: "web"}
			_, err := a.provider.Placement(ctx, class)
			return err
		}},
		"eks:DescribeCluster": {do: func(ctx context.Context, a *account) error {
			p, err := New(ctx, Options{Cluster: "prod", Now: a.Now, Pause: a.Pause}) // as at a start
			if err != nil {
				return err
			}
			return p.Check(ctx)
		}},
		"iam:CreateInstanceProfile": {do: another}, "iam:AddRoleToInstanceProfile": {do: another}, "iam:TagInstanceProfile": {do: another}, "iam:GetInstanceProfile": {do: another},
		"iam:ListInstanceProfiles": {do: func(ctx context.Context, a *account) error {
			_, err := a.provider.CollectProfiles(ctx, nil)
			return err
		}},
		"pricing:GetProducts": {do: func(ctx context.Context,
			a *account) error {
			return a.provider.RefreshOnDemand(ctx)
		}},
		"servicequotas:ListServiceQuotas": {do: func(ctx context.Context,
			a *account) error { // the log says it, and all goes on
			var said []error
			a.provider.options.Warn = func(err error) { said = append(said, err) }
			err := a.provider.RefreshQuotas(ctx)
			return errors.Join(append(said, err)...)
		}},
		"ec2:DescribeReservedInstances":         {begun: committed, do: readCommitments},
		"savingsplans:DescribeSavingsPlans":     {begun: committed, do: readCommitments},
		"savingsplans:DescribeSavingsPlanRates": {begun: committed, do: readCommitments},
		"arc-zonal-shift:GetManagedResource": {
			begun: func(_ *testing.T, a *account) { a.provider.options.ZonalShift = true },
			do: func(ctx context.Context, a *account) error {
				_, err := a.provider.Shifts(ctx)
				return err
			},
		},
		"sqs:ListQueueTags": {begun: interrupted, do: func(ctx context.Context, a *account) error {
			var said []error
			a.provider.options.Warn = func(err error) { said = append(said, err) }
			err := receive(ctx, a)
			return errors.Join(append(said, err)...)
		}},
		"sqs:GetQueueUrl": {do: receive}, "sqs:ReceiveMessage": {do: receive},
		"sqs:DeleteMessage": {do: func(ctx context.Context, a *account) error {
			q := a.provider.InterruptionMessages("prod")
			found, err := q.Next(ctx)
			if err != nil {
				return err
			}
			return q.Done(ctx, found...)
		}, begun: interrupted},
	}
}

// committed has the provider read commitments of an account that has a Savings Plan.
func committed(_ *testing.T, a *account) {
	a.provider.options.Commitments = true
	a.server.AddSavingsPlan(emulated.Plan{CommitmentUSD: 1})
}

// readCommitments reads them: what may not be read is reported, and is no error.
func readCommitments(ctx context.Context, a *account) error {
	var said []error
	a.provider.options.Warn = func(err error) { said = append(said, err) }
	err := a.provider.RefreshCommitments(ctx)
	return errors.Join(append(said, err)...)
}

// interrupted puts an interruption message into the queue.
func interrupted(t *testing.T, a *account) {
	t.Helper()
	url, err := a.admin.SQS.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: sdk.String("prod")})
	if err == nil {
		_, err = a.admin.SQS.SendMessage(t.Context(),
			&sqs.SendMessageInput{QueueUrl: url.QueueUrl, MessageBody: sdk.String(
				`{"version": "0", "id": "1", "source": "aws.ec2", "detail-type": "EC2 Spot Instance Interruption Warning", "time": "2026-11-21T02:00:00Z", "region": "us-east-1",
				"resources": [], "detail": {"instance-id": "i-0123456789abcdef0", "instance-action": "terminate"}}`)})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A role that lacks one action of the controller's policies: what fails names the action, in
// the condition, the event or the log, and says that the role lacks it. It works with the
// action.
func TestEachRightThatIsMissingIsNamed(t *testing.T) {
	all := tasks()
	for _, action := range rights.Actions() {
		t.Run(action, func(t *testing.T) {
			w, known := all[action]
			if !known {
				t.Fatal("no task is known that needs it")
			}
			a := openAccount(t)
			if w.begun != nil {
				w.begun(t, a)
			}
			a.deny(t, action)
			err := w.do(t.Context(), a)
			if err == nil || !strings.Contains(err.Error(), action) {
				t.Errorf("without %s: %v; want an error that names it", action, err)
			}
			if err != nil && !strings.Contains(err.Error(), "role") {
				t.Errorf("without %s: %v; want that the role lacks it", action, err)
			}
		})
	}
}

// daemok iam check names each action that the role lacks, alone, and says what fails without it.
func TestTheCheckNamesEachRightThatIsMissing(t *testing.T) {
	a := openAccount(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "admin")
	auditor, err := audit.Open(t.Context(), "us-east-1", "daemok/test")
	if err != nil {
		t.Fatal(err)
	}
	for _, action := range rights.Actions() {
		a.deny(t, action)
		found, err := auditor.Simulate(t.Context(), "arn:aws:iam::123456789012:role/"+controllerRole, policies(),
			"123456789012")
		if err != nil {
			t.Fatal(err)
		}
		missing := 0
		for _, f := range found {
			switch {
			case f.State == audit.Missing && f.Action == action && f.Without != "":
				missing++
			case f.State != audit.Allowed:
				t.Errorf("without %s it says that %s of %s is %s; without it: %s", action, f.Action, f.Statement,
					f.State, f.Without)
			}
		}
		if missing == 0 {
			t.Errorf("it does not say that %s is missing", action)
		}
	}
}
