package instance

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
)

// impaired is a emulated EC2 that fails for calls that name one of the instances.
type impaired struct {
	*account
	ids []string
}

func (a *impaired) TerminateInstances(ctx context.Context, in *ec2.TerminateInstancesInput, o ...func(*ec2.Options)) (*ec2.TerminateInstancesOutput, error) {
	if slices.ContainsFunc(in.InstanceIds, func(id string) bool { return slices.Contains(a.ids, id) }) {
		return nil, &smithy.GenericAPIError{Code: "InternalError", Message: "an internal error has occurred"}
	}
	return a.account.TerminateInstances(ctx, in, o...)
}

// SC-422: EC2 that fails where work is shifted away from keeps no instance elsewhere, and
// is no trouble.
func TestInstancesInAShiftedZoneKeepNoOtherFromEnding(t *testing.T) {
	for name, shifted := range map[string]bool{"while the zone is shifted away from": true, "at any other time": false} {
		t.Run(name, func(t *testing.T) {
			a := &impaired{standing(), []string{"i-3"}}
			i := slices.IndexFunc(a.instances, func(m types.Instance) bool { return *m.InstanceId == "i-3" })
			a.instances[i].Placement.AvailabilityZoneId = aws.String("use1-az2")
			s := open(a, func() time.Time { return start })
			s.Shifted = func(zoneID string) bool { return shifted && zoneID == "use1-az2" }
			gone, err := s.Terminate(t.Context(), "i-1", "i-3")
			if len(gone) > 0 || (err == nil) != shifted || slices.Contains(a.terminated, "i-1") != shifted {
				t.Errorf("Terminate = %v, %v; terminated %v", gone, err, a.terminated)
			}
		})
	}
}

// An instance in such a zone goes like any other where EC2 does not fail.
func TestInstancesInAShiftedZoneAreGivenBack(t *testing.T) {
	a := standing()
	s := open(a, func() time.Time { return start })
	s.Shifted = func(string) bool { return true }
	if gone, err := s.Terminate(t.Context(), "i-1", "i-gone"); err != nil || !slices.Equal(gone, []string{"i-gone"}) || !slices.Equal(a.terminated, []string{"i-1"}) {
		t.Errorf("Terminate = %v, %v; terminated %v", gone, err, a.terminated)
	}
}
