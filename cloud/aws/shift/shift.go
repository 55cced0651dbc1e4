// Package shift asks Amazon Application Recovery Controller from which zones traffic of the cluster is
// shifted away, by a user's zonal shift or by an autoshift of AWS.
//
// It promises to report what is in effect now and nothing that is over. It starts no shift.
package shift

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/fault"
)

type api interface {
	GetManagedResource(context.Context, *arczonalshift.GetManagedResourceInput, ...func(*arczonalshift.Options)) (*arczonalshift.GetManagedResourceOutput, error)
}

// Finder asks for the shifts of one resource.
type Finder struct {
	API api
	Now func() time.Time
}

// Find returns the shifts of the resource of that ARN that are in effect, by zone. A
// resource that was never registered has none, which is a *cloud.RefusedError with the
// reason cloud.ShiftsNotRegistered.
func (f Finder) Find(ctx context.Context, arn string) ([]cloud.Shift, error) {
	out, err := f.API.GetManagedResource(ctx, &arczonalshift.GetManagedResourceInput{ResourceIdentifier: aws.String(arn)})
	if fault.NotFound(err) {
		return nil, &cloud.RefusedError{Reason: cloud.ShiftsNotRegistered, Cause: fmt.Sprintf(
			"cluster %s is not registered with Amazon Application Recovery Controller: enable zonal shift for it in EKS, or leave --enable-zonal-shift out", arn)}
	}
	if err != nil {
		return nil, fault.Wrap("arc-zonal-shift:GetManagedResource", err)
	}
	until := map[string]time.Time{}
	for _, s := range out.ZonalShifts {
		if ends := aws.ToTime(s.ExpiryTime); s.AppliedStatus == types.AppliedStatusApplied && ends.After(f.Now()) {
			until[aws.ToString(s.AwayFrom)] = ends.UTC()
		}
	}
	for _, s := range out.Autoshifts {
		if s.AppliedStatus == types.AutoshiftAppliedStatusApplied {
			until[aws.ToString(s.AwayFrom)] = time.Time{}
		}
	}
	var shifts []cloud.Shift
	for zone, ends := range until {
		shifts = append(shifts, cloud.Shift{ZoneID: zone, EndsAt: ends})
	}
	slices.SortFunc(shifts, func(a, b cloud.Shift) int { return cmp.Compare(a.ZoneID, b.ZoneID) })
	return shifts, nil
}
