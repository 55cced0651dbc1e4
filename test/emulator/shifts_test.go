package emulator_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
)

// "Zonal shifts that you start as a customer take precedence over autoshifts", a resource
// has one of these at a time, and one that was cancelled is over.
func TestAZonalShiftComesBeforeAnAutoshift(t *testing.T) {
	a := open(t)
	ctx, arc := context.Background(), arczonalshift.NewFromConfig(a.config)
	cluster := aws.String("arn:aws:eks:us-east-1:123456789012:cluster/lab")
	applied := func() string {
		out, err := arc.GetManagedResource(ctx, &arczonalshift.GetManagedResourceInput{ResourceIdentifier: cluster})
		a.must(err)
		got := ""
		for _, s := range out.ZonalShifts {
			got += "user " + *s.AwayFrom + " " + string(s.AppliedStatus) + "; "
		}
		for _, s := range out.Autoshifts {
			got += "AWS " + *s.AwayFrom + " " + string(s.AppliedStatus) + "; "
		}
		return got
	}
	zones := a.subnets()
	first, second := *zones["us-east-1a"].AvailabilityZoneId, *zones["us-east-1b"].AvailabilityZoneId
	if err := a.server.AutoShift("us-east-1a"); err != nil {
		t.Fatal(err)
	}
	if got, want := applied(), "AWS "+first+" APPLIED; "; got != want {
		t.Errorf("an autoshift: %q, want %q", got, want)
	}
	in := &arczonalshift.StartZonalShiftInput{ResourceIdentifier: cluster, AwayFrom: aws.String(second), ExpiresIn: aws.String("1h"), Comment: aws.String("trouble")}
	shift, err := arc.StartZonalShift(ctx, in)
	a.must(err)
	if got, want := applied(), "user "+second+" APPLIED; AWS "+first+" NOT_APPLIED; "; got != want {
		t.Errorf("both: %q, want %q", got, want)
	}
	if _, err := arc.StartZonalShift(ctx, in); code(err) != "ConflictException" {
		t.Errorf("a second shift: %v, want a conflict", err)
	}
	_, err = arc.CancelZonalShift(ctx, &arczonalshift.CancelZonalShiftInput{ZonalShiftId: shift.ZonalShiftId})
	a.must(err)
	if got, want := applied(), "AWS "+first+" APPLIED; "; got != want {
		t.Errorf("after it was cancelled: %q, want %q", got, want)
	}
}
